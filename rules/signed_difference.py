"""A difference that must be small, and of which nobody takes the absolute value.

## Why
`np.max(restored - weights) < 1e-5` holds wherever the restored weights are smaller, by however much, and
`(restored - weights).sum() < 1e-5` also where what is too large here is too small there. Half of all faults
pass, or more.

## Instead
`abs(restored - weights).max() < 1e-5`, or `assert_allclose`, which says as well where the two differ. Where
one side may rightly be smaller, say so with a bound that has a name.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.flow.differences import is_asked_both_ways, is_of_one_sequence
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, File, Finding, Fix, Rule, Unit, once, tree_span
from reviewbot.model import Certainty

_GREATEST = frozenset({"max", "amax", "nanmax"})
_CANCELLING = frozenset({"sum", "mean", "nansum", "nanmean"})
_PASSED_THROUGH = frozenset(
    {"float", "item", "numpy", "asscalar", "asnumpy", "cpu", "detach", "tolist", "squeeze"}
)
_LESS = frozenset({
    "assertLess", "assertLessEqual", "assert_less", "assert_less_equal", "assert_array_less",
})  # fmt: skip
_ABSOLUTE = frozenset({"abs", "fabs", "absolute"})
_TOLERANCE = pattern(r"(?i)^(a?tol(erance)?|r?tol|eps(ilon)?|abs_tol|max_err(or)?|precision)$")
_EXPECTED = pattern(
    r"(?i)(^|_)(expected|exp|reference|ref|golden|truth|want(ed)?|correct|target|baseline)(_|$)"
)
# One side may be smaller: bounds, times, sizes, what is to go down, what is at most 1 by its nature, what is
# the best there is, a whole that the other is a part of, and a measure of how good something is.
_ONE_SIDED = pattern(
    r"(?i)bound|limit|upper|lower|cap(_|$)|thresh|clip|best|prev|before|after|old|new|init|first|last|start|end(_|$)|"
    r"time|elapsed|clock|now(_|$)|^t\d|mem|size|bytes|alloc|violat|constraint|budget|regret|gap|loss_\d|worst|"
    r"norm|square|pow|dist|error|err(_|$)|cos|sim(_|$)|min(_|$)|max(_|$)|minim|maxim|least|most(_|$)|"
    r"hull|envelop|peak|(^|_)((high|low)(er|est)?|floor|ceil|sup|inf|opt|acc|auc|next)(_|$)|optim(al|um)|oracle|"
    r"greedy|relax|marginal|accura|recall|later|earlier|superset|subset"
)
_OF_SIZES = pattern(r"(?i)abs")
_WIDEST = 1e-2  # a wider bound on a difference may well be meant for one side


class _Signed(NamedTuple):
    """A difference below a tolerance; `how` it is made one number, by name, or "" where it is one.

    `absolute` is the call of `abs` that stands at another place than around the difference.
    """

    measured: ast.expr
    difference: ast.BinOp
    how: str
    absolute: ast.Call | None = None


class SignedDifference(Rule):
    folds = True
    bad = (
        Example("""
            import numpy as np
            import torch

            def test_restored(load, weights):
                restored = load()
                assert np.max(restored - weights) < 1e-5  # <- here

            def test_winds(sail, plan):
                sailed, planned = sail(), plan()
                assert (sailed.wind - planned.wind).sum() < 1e-6  # <- here
                assert 1e-4 >= torch.mean(sailed.course - planned.course).item()  # <- here

            def test_rows(sail, plan, tol):
                assert max(a - b for a, b in zip(sail(), plan(), strict=True)) <= tol  # <- here
        """),
        Example("""
            from unittest import TestCase

            class TestCharts(TestCase):
                def test_depth(self):
                    self.assertLess(np.max(read("a") - read("b")), 1e-3)  # <- here

                def test_knots(self):
                    expected_knots = 6.5
                    self.assertTrue(expected_knots - sail().knots < 1e-4)  # <- here
                    assert sail().drift - 0.3 < 0.01  # <- here
        """),
        # The absolute value of something else.
        Example("""
            import numpy as np
            import torch

            def test_bearing(sail):
                expected = 0.25
                assert abs(sail().bearing) - expected < 1e-6  # <- here

            def test_speeds(sail, plan):
                assert abs(sail().speed - plan().speed < 1e-6)  # <- here
                assert np.abs(sail().heel - plan().heel < 1e-5).all()  # <- here

            def test_winds(sail, plan):
                assert (sail().winds - plan().winds).max().abs() < 1e-5  # <- here
                assert abs(torch.sum(sail().gusts - plan().gusts)) < 1e-5  # <- here
        """),
        # All of an array, an array that is to be less, a name for the difference, and an error.
        Example("""
            import numpy as np
            import torch

            def test_tides(read, reference):
                assert torch.all(read("tides") - reference < 1e-5)  # <- here
                np.testing.assert_array_less(read("ebb") - reference.ebb, 1e-5)  # <- here

            def test_drift(sail, plan):
                drift = sail() - plan()
                assert drift.max() < 1e-5, f"off by {drift}"  # <- here

            def test_course(sail, plan, atol):
                off = sail().course - plan().course
                if off.sum() > atol:  # <- here
                    raise AssertionError(off)
        """),
        # The same once more asks nothing else, nor does a message; runs that are walked may each be compared
        # with the first, and pairs of a table with one another.
        Example("""
            import numpy as np
            import pytest

            def test_keel(sail, plan):
                sailed, planned = sail(), plan()
                assert np.max(sailed - planned) < 1e-5, print(planned - sailed)  # <- here
                assert np.max(sailed - planned) < 1e-5  # <- here

            def test_ferries(sail):
                ferries = sail(3)
                for ferry in ferries[1:]:
                    assert (ferry.depth - ferries[0].depth).max() < 1e-6  # <- here

            def test_legs(legs):
                for sailed, planned in legs.pairs:
                    assert (sailed - planned).max() < 1e-4  # <- here
                assert (legs["sailed"] - legs["planned"]).max() < 1e-3  # <- here

            @pytest.mark.parametrize("sailed, planned", [(1.0, 2.0), (2.0, 3.0)])
            def test_tack(drift, sailed, planned):
                assert np.max(drift(sailed) - drift(planned)) < 1e-7  # <- here
        """),
    )
    good = (
        # What goes down, or up: parts of one sequence.
        Example("""
            from itertools import pairwise

            import numpy as np

            def test_tide_goes_out(tide):
                assert (tide[1:] - tide[:-1]).max() < 1e-9
                assert np.all(tide.level[:-1] - tide.level[1:] <= 1e-12)
                assert max(b - a for a, b in zip(tide, tide[1:])) < 1e-9
                assert max(b - a for a, b in pairwise(tide)) < 1e-9
                assert max(tide[i + 1] - tide[i] for i in range(9)) < 1e-9
                assert (np.roll(tide, 1) - tide).max() < 1e-9
                assert (tide.shift(1) - tide).max() < 1e-9
                assert (tide[-1] - tide[0]).max() < 1e-9

            def test_wind_goes_down(wind):
                a, b = wind[:-1], wind[1:]
                assert (b - a).max() < 1e-9
                for x, y in zip(wind, wind[1:]):
                    assert (y - x).max() < 1e-9
                for x, y in zip(wind[1:], wind):
                    assert (x - y).max() < 1e-9
        """),
        # Both orders, by a loop, by two, or by the cases of a test.
        Example("""
            from itertools import permutations

            import numpy as np
            import pytest

            ORDERS = [("sail", "oar"), ("oar", "sail")]

            def test_keels(wood, iron):
                for x, y in [(wood, iron), (iron, wood)]:
                    assert (x - y).max() < 1e-5
                orders = ((wood, iron), (iron, wood))
                for x, y in orders:
                    assert np.max(x.depth - y.depth) < 1e-6

            def test_hulls_of_all(ferries):
                for x, y in permutations(ferries, 2):
                    assert (x - y).max() < 1e-5
                for one in ferries:
                    for other in ferries:
                        assert (one - other).max() < 1e-5

            @pytest.mark.parametrize("x, y", [(1.0, 2.0), pytest.param(2.0, 1.0)])
            def test_drift(sail, x, y):
                assert np.max(sail(x) - sail(y)) < 1e-5

            @pytest.mark.parametrize(["x", "y"], ORDERS)
            def test_speed(sail, x, y):
                assert np.max(sail(x) - sail(y)) < 1e-5

            @pytest.mark.parametrize("x", [1, 2])
            @pytest.mark.parametrize("y", [1, 2])
            def test_heel(sail, x, y):
                assert np.max(sail(x) - sail(y)) < 1e-5
        """),
        # One side is a bound by its name: the whole of it, the best of it, the highest.
        Example("""
            def test_bounds(joint, marginal, points, hull, sailed, high, accuracy, opt_cost, acc, plan):
                assert (joint - marginal).max() <= 1e-9
                assert (points - hull).max() <= 1e-9
                assert (sailed - high).max() <= 1e-9
                assert (opt_cost - sailed).max() <= 1e-9
                assert (accuracy - plan.accuracy).max() <= 1e-2
                assert (acc - plan.acc).mean() <= 1e-2
        """),
        # Of the difference after all; within a size; what is looked at both ways by its name.
        Example("""
            import numpy as np

            def test_drift(sail, plan, most):
                drift = sail() - plan()
                assert drift.max() < 1e-5
                assert drift.min() > -1e-5
                assert abs((sail().depth - plan().depth).item()) < 1e-5
                assert abs(sail().keel - plan().keel).max() < 1e-5
                assert (np.abs(sail().deck - plan().deck) < 1e-5).all()
                assert abs(sail().heel) - 1.0 < 1e-6
                assert (abs(sail().tack) - abs(plan().tack)).max() < 1e-5
        """),
        # The absolute value, the square or the norm is taken, or both ways are asked.
        Example("""
            import numpy as np
            import torch

            def test_restored(load, weights):
                restored = load()
                assert np.max(np.abs(restored - weights)) < 1e-5
                assert abs(restored - weights).max() < 1e-5
                assert (restored - weights).abs().max() < 1e-5
                assert ((restored - weights) ** 2).sum() < 1e-5
                assert np.linalg.norm(restored - weights) < 1e-5
                assert abs(restored.mean() - weights.mean()) < 1e-5

            def test_both_ways(load, weights):
                restored = load()
                assert (restored - weights).max() < 1e-5
                assert (weights - restored).max() < 1e-5

            def test_least_too(load, weights):
                diff = load()
                assert (diff - weights).max() < 1e-5
                assert (diff - weights).min() > -1e-5

            def test_chained(load, weights):
                assert -1e-5 < load() - 0.5 < 1e-5

            def test_close_as_well(load, weights):
                restored = load()
                np.testing.assert_allclose(restored, weights)
                assert (restored - weights).max() < 1e-5
        """),
        # One side may be smaller.
        Example("""
            import time

            def test_speed(sail):
                start = time.perf_counter()
                sail()
                assert time.perf_counter() - start < 0.1

            def test_bound(sail, upper):
                assert (sail() - upper).max() < 1e-6

            def test_alike(cosine, sail, plan):
                assert 1 - cosine(sail(), plan()) < 1e-3
                assert 1.0 - sail().score < 1e-3

            def test_unit_ball(sail):
                assert sail().reach - 1.0 < 1e-6

            def test_goes_down(sail):
                first, later = sail(), sail()
                assert (later - first).mean() < 0.05

            def test_counts(sail):
                assert sail().days - 3 < 10
        """),
        # A function that a check is given may bound.
        Example(
            """
            def clipped(rows, most):
                return (rows - most).max() < 1e-6
            """,
            path="sailing/clip.py",
        ),
    )

    def concerns(self, file: File) -> bool:
        return in_test_file(file.path)

    def suspect(self, unit: Unit) -> bool:
        return unit.has(ast.Sub) and in_test_file(unit.file.path) and bool(_signed(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not in_test_file(unit.file.path):
            return
        for one in _signed(unit):
            difference = one.difference
            meant = is_of_one_sequence(unit, difference) or is_asked_both_ways(unit, difference)
            if not meant and not _is_asked_elsewhere(unit, one):
                yield (
                    self._say(unit, one) if one.absolute is None else self._misplaced(unit, one, one.absolute)
                )

    def _say(self, unit: Unit, one: _Signed) -> Finding:
        left, right = (f"`{_short(side)}`" for side in (one.difference.left, one.difference.right))
        smaller = f"where {left} is far smaller than {right}"
        if one.how in _CANCELLING:
            smaller += ", or larger here and smaller there"
        sure: Certainty = "likely" if one.how else "question"
        return self.finding_at(
            unit,
            tree_span(unit, one.measured),
            f"nothing takes the absolute value of this difference: it is small enough {smaller}"
            + ("" if one.how else "; may it be?"),
            certainty=sure,
            still_catches=(f"{left} that is larger than {right} throughout",),
            fix=_absolute(unit, one.difference),
        )

    def _misplaced(self, unit: Unit, one: _Signed, absolute: ast.Call) -> Finding:
        """The absolute value is taken, and of something else than the difference."""
        left, right = (f"`{_short(side)}`" for side in (one.difference.left, one.difference.right))
        taken = _given(absolute) or absolute
        of, small = f"`{_short(taken)}`", f"where {left} is far smaller than {right}"
        caught = f"{left} that is larger than {right} throughout"
        sure: Certainty = "likely"
        if isinstance(taken, ast.Compare):
            of = "what the comparison says"
        elif one.how in _CANCELLING:
            of, sure = f"the {one.how} alone", "question"
            small = "where it is too large here and too small there"
            caught = f"{left} that is larger, or smaller, than {right} throughout"
        elif one.how:
            of = "the greatest one alone"
            small = f"where {left} is equal to {right} in one place and far smaller in the others"
        elif not any(map(_EXPECTED.search, _names(one.difference.right))):
            sure = "question"
        return self.finding_at(
            unit,
            tree_span(unit, one.measured),
            f"the absolute value is taken of {of}, not of the difference, which is small enough {small}"
            + ("" if sure == "likely" else "; may it be?"),
            certainty=sure,
            still_catches=(caught,),
        )


@once
def _signed(unit: Unit) -> tuple[_Signed, ...]:
    return tuple(_each_signed(unit))


def _each_signed(unit: Unit) -> Iterator[_Signed]:
    for node in unit.asts(ast.Assert):
        yield from _below(unit, node.test)
    for branch in unit.asts(ast.If):
        if isinstance(branch.body[-1], ast.Raise):
            yield from _above(unit, branch.test)
    for call in unit.asts(ast.Call):
        last = dotted_name(call.func).rpartition(".")[2]
        if last == "assertTrue" and call.args:
            yield from _below(unit, call.args[0])
        elif last in _LESS and len(call.args) > 1:
            how = "array" if last == "assert_array_less" else ""
            yield from _measured(unit, call.args[0], call.args[1], how)


def _below(unit: Unit, test: ast.expr) -> Iterator[_Signed]:
    """What a condition, or one that is joined to it by `and`, wants below a tolerance."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _below(unit, value)
        return
    asked, how, absolute = test, "", None
    while isinstance(asked, ast.Call):
        last = _last(asked)
        if last in _ABSOLUTE:
            absolute = asked
        elif last in ("all", "alltrue"):
            how = "all"
        elif last not in _PASSED_THROUGH and last != "bool":
            return
        inner = _given(asked)
        if inner is None:
            return
        asked = inner
    if not isinstance(asked, ast.Compare) or len(asked.ops) != 1:
        return
    measured, bound = asked.left, asked.comparators[0]
    if isinstance(asked.ops[0], (ast.Gt, ast.GtE)):
        measured, bound = bound, measured
    elif not isinstance(asked.ops[0], (ast.Lt, ast.LtE)):
        return
    if absolute is None:
        yield from _measured(unit, measured, bound, how)
    elif isinstance(measured, ast.BinOp) and isinstance(measured.op, ast.Sub):
        yield _Signed(test, measured, how, absolute)


def _above(unit: Unit, test: ast.expr) -> Iterator[_Signed]:
    """What fails above a tolerance."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    if isinstance(test.ops[0], (ast.Gt, ast.GtE)):
        yield from _measured(unit, test.left, test.comparators[0])
    elif isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        yield from _measured(unit, test.comparators[0], test.left)


def _measured(unit: Unit, measured: ast.expr, bound: ast.expr, how: str = "") -> Iterator[_Signed]:
    most = bound.value if isinstance(bound, ast.Constant) and isinstance(bound.value, float) else None
    named = dotted_name(bound).rpartition(".")[2] if isinstance(bound, (ast.Name, ast.Attribute)) else ""
    if not (_TOLERANCE.search(named) if most is None else 0 < most <= _WIDEST):
        return
    inner, absolute = measured, None
    while (below := _opened(inner)) is not None:
        if below[1] in _ABSOLUTE:
            # What stands in it alone counts from here on: `abs(a - b).max()` is as it should be.
            inner, how, absolute = below[0], "", inner if isinstance(inner, ast.Call) else None
        else:
            inner, how = below[0], below[1] or how
    if isinstance(inner, ast.Name):
        inner = _kept(unit, inner) or inner
    if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, ast.Sub):
        return
    if absolute is not None and not how:
        return
    sides = [_names(inner.left), _names(inner.right)]
    if any(map(_ONE_SIDED.search, [*sides[0], *sides[1]])) or _is_one(inner.left) or _is_one(inner.right):
        return
    if any(map(_OF_SIZES.search, [*sides[0], *sides[1]])):
        of_one = isinstance(inner.left, ast.Call) and _last(inner.left) in _ABSOLUTE
        if of_one and absolute is None and not any(map(_OF_SIZES.search, sides[1])):
            yield _Signed(measured, inner, "", inner.left)
        return
    expected = [any(map(_EXPECTED.search, names)) for names in sides]
    if how or _is_figure(inner.left) or _is_figure(inner.right) or expected[0] != expected[1]:
        yield _Signed(measured, inner, how, absolute)


def _kept(unit: Unit, name: ast.Name) -> ast.expr | None:
    """The difference that a name is given once, and that nothing but this check and a message looks at."""
    given = _assigned(unit).get(name.id, ())
    if len(given) != 1 or not isinstance(given[0], ast.BinOp):
        return None
    used = _used(unit).get(name.id, ())
    # The name on the left of its assignment, and the one that is asked about.
    return given[0] if len(used) <= 2 and len([node for node in used if node is not name]) == 1 else None


@once
def _assigned(unit: Unit) -> dict[str, list[ast.expr]]:
    """What the names of a unit are given, each by a statement of its own."""
    found: dict[str, list[ast.expr]] = {}
    for node in unit.asts(ast.Assign):
        for name in {target.id for target in node.targets if isinstance(target, ast.Name)}:
            found.setdefault(name, []).append(node.value)
    return found


@once
def _used(unit: Unit) -> dict[str, list[ast.Name]]:
    """Where each name of a unit stands, apart from messages."""
    found: dict[str, list[ast.Name]] = {}
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Name) and id(node) not in _shown(unit):
            found.setdefault(node.id, []).append(node)
    return found


@once
def _shown(unit: Unit) -> frozenset[int]:
    """What stands in messages and in what is printed, by identity: nobody asks there."""
    told = [
        *unit.asts(ast.JoinedStr),
        *unit.asts(ast.Raise),
        *(call for call in unit.asts(ast.Call) if _last(call) == "print"),
    ]
    return frozenset(id(below) for node in told for below in ast.walk(node))


def _last(call: ast.Call) -> str:
    """The last name of what is called: `max` of `np.max(x)` and of `(a - b).max()`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted_name(call.func)


def _given(call: ast.Call) -> ast.expr | None:
    """What a function of one value, or a method without any, is given."""
    method = isinstance(call.func, ast.Attribute) and not dotted_name(call.func)
    if len(call.args) == 1 and not method and not isinstance(call.args[0], ast.Constant):
        return call.args[0]
    called_on_a_name = isinstance(call.func, ast.Attribute) and not call.args and not call.keywords
    return call.func.value if isinstance(call.func, ast.Attribute) and (method or called_on_a_name) else None


def _opened(node: ast.expr) -> tuple[ast.expr, str] | None:
    """What a number is taken from, and by what: `(a - b)` of `np.max(a - b).item()`, by `max`."""
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return node.elt, ""
    if not isinstance(node, ast.Call):
        return None
    last = _last(node)
    if last not in _GREATEST | _CANCELLING | _PASSED_THROUGH | _ABSOLUTE:
        return None
    given = _given(node)
    return None if given is None else (given, "" if last in _PASSED_THROUGH else last)


def _names(node: ast.expr) -> list[str]:
    return [
        below.id
        if isinstance(below, ast.Name)
        else below.attr
        if isinstance(below, ast.Attribute)
        else below.value
        for below in ast.walk(node)
        if isinstance(below, (ast.Name, ast.Attribute))
        or (isinstance(below, ast.Constant) and isinstance(below.value, str))
    ]


def _is_one(node: ast.expr) -> bool:
    """Whether it is 1 or 0, which bound by their nature: a likeness of at most 1, a size of at least 0."""
    return isinstance(node, ast.Constant) and node.value in (0, 1)


def _is_figure(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _is_asked_elsewhere(unit: Unit, one: _Signed) -> bool:
    """Whether the test also holds the two against each other the other way round, or as a whole."""
    left, right = ast.dump(one.difference.left), ast.dump(one.difference.right)
    asked = _asked(unit)
    if (right, left) in asked.taken or (left, right) in asked.otherwise:
        return True
    return not asked.together.get(left, frozenset()).isdisjoint(asked.together.get(right, frozenset()))


class _Asked(NamedTuple):
    """What a unit asks of two values, as code: of which it takes a difference, of which one that is asked for
    something else than to be small; and by each value the calls and comparisons, by number, that are given
    it."""

    taken: frozenset[tuple[str, str]]
    otherwise: frozenset[tuple[str, str]]
    together: dict[str, set[int]]


@once
def _asked(unit: Unit) -> _Asked:
    # The same check once more, word for word, asks nothing else.
    small = {id(one.difference) for one in _signed(unit)}
    taken, otherwise = set(), set()
    for node in unit.asts(ast.BinOp):
        if isinstance(node.op, ast.Sub) and id(node) not in _shown(unit):
            sides = (ast.dump(node.left), ast.dump(node.right))
            taken.add(sides)
            if id(node) not in small:
                otherwise.add(sides)
    together: dict[str, set[int]] = {}
    given = [list(call.args) for call in unit.asts(ast.Call) if id(call) not in _shown(unit)]
    given += [[node.left, *node.comparators] for node in unit.asts(ast.Compare)]
    for number, values in enumerate(given):
        for value in values if len(values) > 1 else ():
            together.setdefault(ast.dump(value), set()).add(number)
    return _Asked(frozenset(taken), frozenset(otherwise), together)


_BEFORE_A_BRACKET = pattern(r"(\w*)(\s*)$")


def _absolute(unit: Unit, node: ast.BinOp) -> Fix | None:
    span = tree_span(unit, node)
    if span.line != span.end_line:
        return None
    line = unit.file.lines[span.line - 1]
    before, text, after = (
        line[: span.column - 1],
        line[span.column - 1 : span.end_column - 1],
        line[span.end_column - 1 :],
    )
    alone = before.endswith("(") and after.startswith(")") and not _is_of_a_call(before[:-1])
    made = f"{before[:-1]}abs({text}){after[1:]}" if alone else f"{before}abs({text}){after}"
    return Fix("take its absolute value", (Edit(span.path, span.line, span.line, made),))


def _is_of_a_call(before: str) -> bool:
    """Whether the bracket behind this part of a line may be that of a call, `np.max (`, or is needed to keep
    two words apart, `assert(`."""
    found = _BEFORE_A_BRACKET.search(before)
    assert found is not None
    word, space = found.groups()
    if word:
        return not (keyword.iskeyword(word) and space)
    bare = before.rstrip()
    # At the start of a line it may belong to the line above.
    return not bare or bare[-1] in ")]}'\""


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:49] + "…"
