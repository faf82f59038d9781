"""A comparison of two sequences that silently leaves out what the longer one has beyond the shorter.

## Why
`zip` stops at the shorter side, and so does a slice to the shorter length. A run that lost its last rows, or
all of them, or that wrote some twice, then equals the baseline as far as the loop looks.

## Instead
`zip(left, right, strict=True)`, or compare the lengths first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import bind, callee, callers
from reviewbot.flow.checks import checks
from reviewbot.flow.cuts import Cut, cuts
from reviewbot.flow.guards import is_strict, length_is_checked, pairs, same_length
from reviewbot.flow.iteration import parametrized
from reviewbot.flow.judging import judges, may_check, side
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.terms import counted_by, terms
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite, step
from reviewbot.model import Certainty

_WEIGHTS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers", "modules", "leaves"})
_ENDLESS = frozenset({"count", "cycle", "repeat", "itertools.count", "itertools.cycle", "itertools.repeat"})


class ZipTruncates(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            def test_rows(run):
                for left, right in zip(run(1), run(2)[1:]):  # <- here
                    assert left == right
        """),
        Example(
            """
            def compare(reference_rows, restored_rows):
                for index, (a, b) in enumerate(zip(reference_rows, restored_rows)):  # <- here
                    if a["token_ids"] != b["token_ids"]:
                        raise AssertionError(index)
            """,
            path="tools/parity.py",
        ),
        Example("""
            def test_all(run, baseline):
                assert all(a == b for a, b in zip(run(1), baseline))  # <- here
        """),
        Example("""
            def test_worst(run, baseline):
                worst = max(abs(a - b) for a, b in zip(run(1), baseline))  # <- here
                assert worst < 1e-3
        """),
        Example("""
            def test_tables(run):
                for given, wanted in zip([1, 2, 3], [4, 5]):  # <- here
                    assert run(given) == wanted
        """),
        Example("""
            import pytest

            @pytest.mark.parametrize("times, rates", [(["0ep", "1ep"], [0.0, 0.1]), (["2ep", "3ep"], [1.0])])
            def test_rates(run, times, rates):
                for time, rate in zip(times, rates):  # <- here
                    assert run(time) == rate
        """),
        # The differences are noted in the loop, and what becomes of them is decided after it.
        Example(
            """
            def compare_frames(original, replayed):
                failures = []
                for number, (left, right) in enumerate(zip(original, replayed)):  # <- here
                    if left["units"] != right["units"]:
                        failures.append(number)
                return failures

            def check_frames(original, replayed):
                failures = []
                for left, right in zip(original, replayed):  # <- here
                    if left["units"] != right["units"]:
                        failures.append(left)
                assert not failures
            """,
            path="tools/compare_replays.py",
        ),
        Example("""
            def test_shorter(run, baseline):
                rows = run(1)
                for i in range(min(len(rows), len(baseline))):  # <- here
                    assert rows[i] == baseline[i]
        """),
        Example("""
            def test_slices(run, baseline):
                rows = run(1)
                n = min(len(rows), len(baseline))  # <- here
                assert rows[:n] == baseline[:n]
        """),
        Example(
            """
            def differences(reference, restored):
                return [i for i, (a, b) in enumerate(zip(reference, restored)) if a != b]

            def test_restored(run):
                bad = [i for i, (a, b) in enumerate(zip(run(1), run(2))) if a != b]  # <- here
                assert not bad
            """
        ),
    )
    good = (
        Example("""
            def test_rows(run, baseline):
                rows = run(1)
                assert len(rows) == len(baseline)
                for left, right in zip(rows, baseline):
                    assert left == right
        """),
        Example("""
            def test_strict(run, baseline):
                for left, right in zip(run(1), baseline, strict=True):
                    assert left == right
        """),
        Example("""
            def test_derived(model, inputs):
                outputs = [model(x) for x in inputs]
                for x, y in zip(inputs, outputs):
                    assert y.shape == x.shape
        """),
        Example("""
            def test_sorted(run):
                rows = run(1)
                for earlier, later in zip(rows, rows[1:]):
                    assert earlier < later

            def test_offsets(self):
                for earlier, later in zip(self.offsets, self.offsets[1:]):
                    assert earlier < later
        """),
        # A loop outside of tests that compares nothing of the two.
        Example(
            """
            def check_named(names, values):
                for name, value in zip(names, values):
                    if not name:
                        raise TypeError("a name is missing")
                    setattr(names, name, value)
            """,
            path="tests/helpers.py",
        ),
        Example("""
            def test_first_three(run, reference):
                grads, wanted = run(1), reference(1)
                for name, a, b in zip(("q", "k", "v"), grads[:3], wanted[:3]):
                    assert a == b, name
        """),
        Example("""
            import itertools

            def test_endless(run):
                for n, row in zip(itertools.count(), run(1)):
                    assert row.index == n
        """),
        Example("""
            def test_plots(run):
                for row, colour in zip(run(1), run(2)):
                    print(row, colour)
                assert run(3)
        """),
        Example(
            """
            def compare(reference, restored):
                if len(reference) != len(restored):
                    raise AssertionError("rows were lost")
                for a, b in zip(reference, restored):
                    if a != b:
                        raise AssertionError("a row differs")
            """,
            path="tools/parity.py",
        ),
        Example("""
            def first_difference(left, right):
                for index, (a, b) in enumerate(zip(left, right)):
                    if a != b:
                        return index
                return None if len(left) == len(right) else min(len(left), len(right))
        """),
        Example("""
            def test_lengths_in_a_helper(run, same_rows, baseline):
                rows = run(1)
                check_lengths(rows, baseline)
                for left, right in zip(rows, baseline):
                    assert left == right

            def check_lengths(a, b):
                assert len(a) == len(b), "lengths"
        """),
        Example("""
            def test_filled(run, rows):
                expected = []
                for row in rows:
                    expected.append(row * 2)
                for row, wanted in zip(rows, expected):
                    assert run(row) == wanted
        """),
        Example("""
            def assert_trees_equal(actual, desired):
                leaves, structure = flatten(actual)
                wanted, wanted_structure = flatten(desired)
                if structure != wanted_structure:
                    raise AssertionError("structure")
                for x, y in zip(leaves, wanted):
                    assert x == y
        """),
        Example("""
            def test_columns(run):
                table = run(1)
                for left, right in zip(table["passage"], table["negative"]):
                    assert left == right
        """),
        Example("""
            def test_same_mapping(run):
                rows = run(1)
                for name, row in zip(rows.keys(), rows.values()):
                    assert row.name == name
        """),
        # Every caller has compared the lengths before.
        Example(
            """
            def same_lengths(original, replayed):
                if len(original) != len(replayed):
                    raise SystemExit("frame counts differ")

            def compare_frames(original, replayed):
                failures = []
                for left, right in zip(original, replayed):
                    if left["units"] != right["units"]:
                        failures.append(left)
                return failures

            def main(original, replayed):
                same_lengths(original, replayed)
                assert not compare_frames(original, replayed)
            """,
            path="tools/compare_replays.py",
        ),
        # An item for each of the same inputs, by one function of the file; as many in each row of a table.
        Example("""
            import pytest

            def forward(module, inputs):
                outputs = []
                for one in inputs:
                    outputs.append(module(one))
                return outputs

            def test_kernels(slow, fast, inputs):
                for left, right in zip(forward(slow, inputs), forward(fast, inputs)):
                    assert left == right

            @pytest.mark.parametrize("times, rates", [(["0ep", "1ep"], [0.0, 0.1]), (["2ep"], [1.0])])
            def test_rates(run, times, rates):
                for time, rate in zip(times, rates):
                    assert run(time) == rate
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return (
            unit.calls("zip", "min")
            and unit.has(ast.For, ast.comprehension, ast.Slice)
            and may_check(unit)
            and judges(unit)
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        seen: set[int] = set()
        for cut in cuts(unit):
            if id(cut.call) not in seen and _may_differ(unit, cut):
                seen.add(id(cut.call))
                yield self._report(unit, repo, cut)

    def _report(self, unit: Unit, repo: Repo, cut: Cut) -> Finding:
        sides = " and ".join(f"`{_short(unit, side)}`" for side in cut.sides)
        how = "zip" if dotted(cut.call.func) == "zip" else "this"
        return self.finding(
            unit,
            cut.call,
            f"{how} stops at the shorter of {sides}, and nothing compares their lengths; what one side lacks"
            " is not looked at",
            certainty=_certainty(unit, cut),
            steps=(step(unit, cut.check, "this check never sees what lies beyond the shorter side"),),
            still_catches=still_catches(unit, *cut.sides, but=(cut.check, cut.loop)),
            fix=_strict(unit, repo, cut.call),
        )


def _may_differ(unit: Unit, cut: Cut) -> bool:
    if len(cut.sides) < 2 or is_strict(cut.call) or any(map(_is_endless, cut.sides)):
        return False
    first = cut.sides[0]
    if not unit.is_test and not _looks_at_two(unit, cut):
        return False
    lengths = {_length(side) for side in cut.sides}
    if len(lengths) == 1 and None not in lengths:
        return False
    if all(same_length(unit, _around(cut), first, other) for other in cut.sides[1:]):
        return False
    if _made_alike(unit, cut.sides) or _tabled(unit, cut.sides) is True:
        return False
    if _callers_compare(unit, cut.sides):
        return False
    return not _of_one_object(unit, cut.sides)


def _callers_compare(unit: Unit, sides: tuple[cst.BaseExpression, ...], depth: int = 3) -> bool:
    """Whether the sides are parameters of whose lengths every caller in the file, or its own, makes sure."""
    names = [one.value for one in sides if isinstance(one, cst.Name)]
    sites = callers(unit) if unit.is_function and len(names) == len(sides) else []
    for site in sites:
        given = bind(site.call, unit)
        handed = [given[name] for name in names if name in given]
        if len(handed) < len(names):
            return False
        made_sure = all(same_length(site.caller, site.call, handed[0], other) for other in handed[1:])
        if not made_sure and not (depth and _callers_compare(site.caller, tuple(handed), depth - 1)):
            return False
    return bool(sites)


def _made_alike(unit: Unit, sides: tuple[cst.BaseExpression, ...]) -> bool:
    """Whether one function of the file made all sides, an item for each item of the same thing."""
    own = terms(unit)
    over = set()
    for one in sides:
        call = values(unit).resolve(one)
        function = callee(unit, call) if isinstance(call, cst.Call) else None
        if function is None or function is unit or not isinstance(call, cst.Call):
            return False
        returns = [node.value for node in function.find(cst.Return) if node.value is not None]
        sizes = terms(function).sizes(returns[0]) if len(returns) == 1 else []
        given = [own.text(value) for name, value in bind(call, function).items() if name in sizes]
        if not given:
            return False
        over.add((function.name, *given))
    return len(over) == 1


def _tabled(unit: Unit, sides: tuple[cst.BaseExpression, ...]) -> bool | None:
    """Whether all sides are written out side by side in one `parametrize`, each time as long as each other;
    None where the lengths are not written there."""
    tables = {parametrized(unit, one.value) if isinstance(one, cst.Name) else None for one in sides}
    table = tables.pop()
    if tables or table is None or not isinstance(table.decorator, cst.Call) or len(table.decorator.args) < 2:
        return None
    names = literal(table.decorator.args[0].value)
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rows = table.decorator.args[1].value
    if not isinstance(listed, (list, tuple)) or not isinstance(rows, (cst.List, cst.Tuple)):
        return None
    places = [listed.index(one.value) for one in sides if isinstance(one, cst.Name)]
    alike = True
    for element in rows.elements:
        row = element.value
        if isinstance(row, cst.Call) and last_name(row) == "param":
            cells = [arg.value for arg in row.args if arg.keyword is None and not arg.star]
        elif isinstance(row, (cst.Tuple, cst.List)):
            cells = [cell.value for cell in row.elements]
        else:
            return None
        if len(cells) <= max(places):
            return None
        lengths = {_length(cells[place]) for place in places}
        if None in lengths:
            return None
        alike = alike and len(lengths) == 1
    return alike


def _length(node: cst.BaseExpression) -> int | None:
    """How many items an expression says that it has: a display's, or the constant that it is cut to."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return len(node.elements)
    place = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    if not isinstance(place, cst.Slice) or place.upper is None or place.step is not None:
        return None
    lower = 0 if place.lower is None else literal(place.lower)
    upper = literal(place.upper)
    if not isinstance(lower, int) or not isinstance(upper, int) or not 0 <= lower <= upper:
        return None
    return upper - lower


def _around(cut: Cut) -> cst.CSTNode:
    return cut.loop if isinstance(cut.loop, (cst.For, cst.GeneratorExp, cst.ListComp)) else cut.call


def _is_endless(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and dotted(node.func) in _ENDLESS


def _of_one_object(unit: Unit, sides: tuple[cst.BaseExpression, ...]) -> bool:
    """Whether the sides are parts of one thing: neighbours `rows` and `rows[1:]`, columns of one table,
    what `setUp` left in `self`. Their lengths are that thing's own affair."""
    own = terms(unit)
    return len({own.text(_owner(side)) for side in sides}) == 1


def _owner(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.Subscript) and _is_slice(node):
        node = node.value
    if isinstance(node, cst.Attribute) and dotted(node.value) in ("self", "cls"):
        return node.value
    while (inner := _inner(node)) is not None and dotted(inner) not in ("self", "cls"):
        node = inner
    return node


def _inner(node: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(node, cst.Attribute):
        return node.value
    if isinstance(node, cst.Subscript) and (_is_slice(node) or isinstance(_key(node), str)):
        return node.value
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value
    return None


def _is_slice(node: cst.Subscript) -> bool:
    return isinstance(node.slice[0].slice, cst.Slice)


def _key(node: cst.Subscript) -> object:
    place = node.slice[0].slice
    return literal(place.value) if isinstance(place, cst.Index) else None


def _certainty(unit: Unit, cut: Cut) -> Certainty:
    own = terms(unit)
    sizes = [
        {size for size in own.sizes(side) if size.startswith("#") and size[1:].isdigit()}
        for side in cut.sides
    ]
    if all(sizes) and len(set.union(*sizes)) > 1:
        return "proved"
    pinned = any(length_is_checked(unit, _around(cut), side) for side in cut.sides)
    weights = all(isinstance(side, cst.Call) and last_name(side) in _WEIGHTS for side in cut.sides)
    if not _looks_at_two(unit, cut) or _is_known_by_hand(unit, cut):
        return "question"
    if _may_be_endless(unit, cut.sides) or any(map(_is_shape, cut.sides)) or _measured(unit, cut.sides):
        return "question"
    # `zip(range(n), rows)` takes n of them on purpose.
    ranged = any(isinstance(side, cst.Call) and dotted(side.func) == "range" for side in cut.sides)
    return (
        "question"
        if pinned or weights or ranged or _alike(unit, cut) or _filled_by_hand(unit, cut)
        else "likely"
    )


def _may_be_endless(unit: Unit, sides: tuple[cst.BaseExpression, ...]) -> bool:
    """Whether a side is `itertools.repeat(x)` on one way: then it is meant to be as long as the other."""
    flow = values(unit)
    for one in sides:
        made = [binding.value for name in flow.reads(one) for binding in flow.reaching(name)]
        parts = [part for value in made if value is not None for part in walk(value)]
        if isinstance(one, cst.Name) and any(isinstance(p, cst.Call) and _is_endless(p) for p in parts):
            return True
    return False


def _measured(unit: Unit, sides: tuple[cst.BaseExpression, ...]) -> bool:
    """Whether one function made the sides of two things that a check demands to be as large as each other."""
    flow = values(unit)
    made = [flow.resolve(one) for one in sides]
    calls = [one for one in made if isinstance(one, cst.Call) and one.args]
    if len(calls) != len(sides) or len({canonical(call.func) for call in calls}) > 1:
        return False
    given = {canonical(call.args[0].value) for call in calls}
    for pair in pairs(unit):
        counted = [counted_by(one) for one in (pair.left, pair.right)]
        if pair.ordered or None in counted:
            continue
        of = {root_name(_last_argument(flow.resolve(one))) for one in counted if one is not None}
        if of == given and len(of) == len(sides):
            return True
    return False


def _last_argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a conversion such as `list(graph.edges())` is given."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.args:
        node = node.args[0].value
    return node


def _is_shape(node: cst.BaseExpression) -> bool:
    """Whether a side says how large an array is in each of its dimensions."""
    return re.search(r"(^|_)(shape|shapes|strides|chunksize|ndim)$", last_name(node)) is not None


def _is_known_by_hand(unit: Unit, cut: Cut) -> bool:
    """Whether the lengths are compared under some condition, or whoever wrote the call saw them: one side is
    cut to a number, or is written out beside a parameter."""
    flow = values(unit)
    made = [flow.resolve(side) for side in cut.sides]
    if any(isinstance(one, cst.Subscript) and _length(one) is not None for one in made):
        return True
    sides = {canonical(side) for side in cut.sides}
    for pair in pairs(unit):
        counted = [counted_by(one) for one in (pair.left, pair.right)]
        if not pair.ordered and {canonical(one) for one in counted if one is not None} == sides:
            return True
    written = any(isinstance(side, (cst.List, cst.Tuple)) for side in cut.sides)
    return written and any(
        isinstance(side, cst.Name) and any(b.kind == "parameter" for b in flow.reaching(side))
        for side in cut.sides
    )


def _looks_at_two(unit: Unit, cut: Cut) -> bool:
    """Whether a check behind the cut looks at what comes from two of the sides, and so compares them."""
    loop = cut.loop
    target: cst.BaseExpression | None = loop.target if isinstance(loop, cst.For) else None
    if isinstance(target, cst.Tuple) and isinstance(target.elements[-1].value, cst.Tuple):
        target = target.elements[-1].value  # the second of `for n, (a, b) in enumerate(zip(...))`
    if not isinstance(target, cst.Tuple) or len(target.elements) != len(cut.sides):
        return True
    parts = [{b.value for b in walk(e.value) if isinstance(b, cst.Name)} for e in target.elements]
    flow = values(unit)
    for place in [*(check.node for check in checks(unit)), cut.check]:
        above = list(unit.ancestors(place))
        if loop not in above:
            continue
        around = above[: above.index(loop)]
        nodes = [place, *(one.test for one in around if isinstance(one, cst.If))]
        nodes += [one.iter for one in around if isinstance(one, cst.For)]
        names = {read.value for node in nodes for read in flow.reads(node)}
        names |= {binding.name for binding in flow.slice(*nodes)}
        if sum(not part.isdisjoint(names) for part in parts) > 1:
            return True
    return False


def _alike(unit: Unit, cut: Cut) -> bool:
    """Whether all sides are made of one value of the unit and none is named as the baseline of another:
    reductions of one tensor, gradients with respect to the same inputs."""
    named = {side(_root(one)) for one in cut.sides}
    if "baseline" in named or len(named) > 1:
        return False
    flow = values(unit)
    sources = [
        {binding for binding in flow.slice(one, mutations=False) if binding.kind == "assign"}
        for one in cut.sides
    ]
    # The values that are paired themselves are no common source of theirs.
    roots = [root_name(one) for one in cut.sides]
    own = [flow.reaching(n) for one in cut.sides for n in flow.reads(one) if n.value in roots]
    return bool(set.intersection(*sources).difference(*own))


def _root(node: cst.BaseExpression) -> str:
    return dotted(node) or root_name(node)


def _filled_by_hand(unit: Unit, cut: Cut) -> bool:
    """Whether the test itself puts every side together, item by item."""
    flow = values(unit)
    for one in cut.sides:
        changes = flow.mutations(one.value) if isinstance(one, cst.Name) else []
        calls = [change.node for change in changes if isinstance(change.node, cst.Call)]
        bindings = flow.bindings(one.value) if isinstance(one, cst.Name) else []
        if len(bindings) != 1 or not isinstance(bindings[0].value, cst.List):
            return False
        if not calls or any(last_name(call) != "append" for call in calls):
            return False
    return True


def _strict(unit: Unit, repo: Repo, call: cst.Call) -> Fix | None:
    python = repo.requires_python
    if dotted(call.func) != "zip" or python is None or python < (3, 10):
        return None
    inside = unit.text(call)[:-1].rstrip().rstrip(",")
    return Fix(
        "let zip refuse sides of unequal length", (rewrite(unit, call, f"{inside}, strict=True)"),), safe=True
    )


def _short(unit: Unit, node: cst.CSTNode) -> str:
    text = " ".join(unit.text(node).split())
    return text if len(text) <= 40 else text[:39] + "…"
