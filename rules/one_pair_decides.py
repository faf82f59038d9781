"""Of two runs that are walked side by side only the first pair, or the last one, decides.

## Why
A `break` behind the check, or a `return True` that is indented into the loop, ends the walk at the first
pair; `same = a == b` in the loop keeps what the last pair says, for each pass overwrites the one
before. Whatever the other rows hold, the check passes.

## Instead
Check each pair inside the loop and let it run to its end, or gather what every pair says:
`same = all(a == b for a, b in zip(x, y, strict=True))`, `worst = max(worst, abs(a - b))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.checks import checks, checks_in
from reviewbot.flow.control import enclosing, leaves, statements
from reviewbot.flow.judging import judges
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.paired_walks import (
    Pair,
    PairedWalk,
    carries_over,
    is_computed,
    is_read_after,
    may_set_against,
    may_walk_pairs,
    paired_walks,
    pairs,
)
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import is_comparer
from reviewbot.flow.syntax import dotted, last_name, literal, walk
from reviewbot.flow.tallies import TELLS
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step
from reviewbot.model import Certainty

_MEANT = pattern(r"(?i)\b(first|one|only|enough|once|single|sufficient|suffices|sanity|quick)\b")
_FIRST = pattern(r"(?i)(^|_)(first|head|smoke)(_|$)")
_LAST = pattern(r"(?i)(^|_)(last|final|end|latest)(_|$)")
_REDUCES = frozenset({
    "bool", "all", "any", "float", "int", "abs", "fabs", "max", "amax", "mean", "sum", "item", "norm", "sqrt",
    "min", "square", "tolist", "cpu", "detach",
})  # fmt: skip


class OnePairDecides(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def test_voyage_resumes(sail, chart):
                straight, resumed = sail(chart), sail(chart, stop=4)
                for left, right in zip(straight, resumed, strict=True):
                    assert left.position == right.position
                    assert left.crew == right.crew
                    break  # <- here
        """),
        Example("""
            def same_voyages(ours, theirs):
                for left, right in zip(ours, theirs):
                    if left.port != right.port:
                        return False
                    return True  # <- here

            def all_match(ours, theirs):
                for port, calls in ours.items():
                    if calls == theirs[port]:  # <- here
                        return True
                    else:
                        return False

            def equal_logs(ours, theirs):
                for at in range(len(ours)):
                    return ours[at].entry == theirs[at].entry  # <- here
        """),
        Example("""
            def test_logs(write, replay):
                for index, (left, right) in enumerate(zip(write(), replay(), strict=True)):
                    same = left.entries == right.entries  # <- here
                assert same
        """),
        Example("""
            import numpy as np

            def test_depths(sonar, chart):
                measured, charted = sonar(chart), chart.depths()
                for at, depth in enumerate(measured):
                    gap = abs(depth - charted[at])  # <- here
                    print(at, gap)
                assert gap < 0.01

            def test_currents(sonar, model):
                for (name, one), (_, other) in zip(sonar.items(), model.items()):
                    difference = one - other
                    worst = np.abs(difference).max()  # <- here
                assert worst <= 1e-6, name
        """),
        Example(
            """
            def compare_logs(ours, theirs):
                same = True
                for day, entry in ours.items():
                    same = entry == theirs.get(day)  # <- here
                return same

            def check_logs(ours, theirs):
                for left, right in zip(ours, theirs):
                    alike = left.text == right.text and left.hour == right.hour  # <- here
                if not alike:
                    raise ValueError("the logs differ")
            """,
            path="tools/compare_logs.py",
        ),
    )
    good = (
        # Every pair is checked; what the passes find is gathered.
        Example("""
            def test_logs(write, replay):
                worst, same = 0.0, True
                for left, right in zip(write(), replay(), strict=True):
                    assert left.entry == right.entry
                    worst = max(worst, abs(left.depth - right.depth))
                    same = same and left.hour == right.hour
                    if left.hour != right.hour:
                        break
                assert same and worst < 0.1

            def same_logs(ours, theirs):
                for left, right in zip(ours, theirs):
                    if left != right:
                        return False
                return True
        """),
        # The first batch of a loader.
        Example("""
            def test_loader(loader, wanted):
                for batch in loader:
                    assert batch.shape == wanted
                    break
                for index, batch in enumerate(loader):
                    assert batch.rows == wanted
                    break
        """),
        # Tries; what leaves when it has found something; what goes on without it.
        Example("""
            def test_radio(call, hail, wanted):
                for attempt in range(3):
                    answer = call(hail)
                    assert answer == wanted
                    break
                while True:
                    assert call(hail) == wanted
                    break

            def same_after(ours, theirs):
                for left, right in zip(ours, theirs):
                    if left.hour < 6:
                        continue
                    return left == right
                return True

            def before(ours, theirs):
                for left, right in zip(ours, theirs):
                    if left != right:
                        return left < right
                return len(ours) < len(theirs)
        """),
        # One item, which is written out or cut off.
        Example("""
            def test_one(sail, chart, ours, theirs):
                for left, right in zip([sail(chart)], [sail(chart)]):
                    assert left.port == right.port
                    break
                for left, right in zip(ours[:1], theirs[:1]):
                    assert left.port == right.port
                    break
                for at in range(1):
                    assert ours[at] == theirs[at]
                    break
        """),
        # It says that one is enough.
        Example("""
            def test_shuffled(ours, theirs):
                for left, right in zip(ours, theirs):
                    assert left.port == right.port
                    break  # the first port is enough
                for left, right in zip(ours, theirs):
                    # Only look at one
                    assert left.crew == right.crew
                    break
        """),
        # Each pass is looked at where it is made, or kept.
        Example("""
            def test_depths(sonar, chart, gaps):
                for left, right in zip(sonar, chart, strict=True):
                    gap = abs(left - right)
                    gaps.append(gap)
                for left, right in zip(sonar, chart, strict=True):
                    same = left == right
                    assert same
                assert max(gaps) < 1 and same
        """),
        # Another level of the loops reads it.
        Example("""
            def test_fleet(ours, theirs):
                for ship, other in zip(ours, theirs, strict=True):
                    for left, right in zip(ship.log, other.log, strict=True):
                        gap = abs(left - right)
                    assert gap < 1

            def test_search(ours, theirs):
                for left, right in zip(ours, theirs, strict=True):
                    same = left.port == right.port
                    if left.hour > 12:
                        break
                assert same
        """),
        # The last is asked for by name; what changes from pass to pass; neighbours of one list.
        Example("""
            def test_course(steer, ours, theirs):
                for left, right in zip(ours, theirs, strict=True):
                    last_gap = abs(left - right)
                assert last_gap < 1
                for left, right in zip(ours, ours[1:]):
                    grows = left != right
                assert grows
                course = 0
                for wind, wanted in zip(ours, theirs):
                    course = steer(course, wind)
                    off = abs(course - wanted)
                assert off < 1
        """),
        # Some passes only: what is left is the last that was found.
        Example("""
            def test_found(ours, theirs):
                found = False
                for left, right in zip(ours, theirs, strict=True):
                    if left.port == "home":
                        found = left.hour == right.hour
                assert found

            def test_either(ours, theirs):
                for left, right in zip(ours, theirs, strict=True):
                    same = left.port == right.port
                    if left.port is None:
                        same = True
                assert same
        """),
        # No two runs: one is walked; nothing of the pair is compared.
        Example("""
            def test_rows(rows, names, wanted):
                for row, name in zip(rows, names):
                    assert row.port == wanted
                    break
                for row, name in zip(rows, names):
                    row.call(name)
                    break
                assert rows
        """),
        # A program that does not judge.
        Example(
            """
            def next_stop(ours, theirs):
                for left, right in zip(ours, theirs):
                    delay = left.hour - right.hour
                    break
                return delay
            """,
            path="fleet/plan.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if not unit.has(ast.For) or not (judges(unit) or is_comparer(unit)):
            return False
        return any(_may_decide(unit, loop) for loop in unit.asts(ast.For) if may_walk_pairs(loop))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not (judges(unit) or is_comparer(unit)):
            return
        for over in paired_walks(unit):
            first = _first_alone(unit, over)
            if first is not None:
                yield self._of_first(unit, repo, over, first)
            else:
                for last in _last_alone(unit, over):
                    yield self._of_last(unit, repo, over, last)

    def _of_first(self, unit: Unit, repo: Repo, over: PairedWalk, first: _First) -> Finding:
        left, right = map(_cut, first.pair.of)
        return self.finding(
            unit,
            first.leaving,
            f"of `{left}` and `{right}` only the first pair is compared: the loop ends in its first pass",
            certainty=first.certainty,
            steps=[
                step(unit, over.loop.iter, "this walks the pairs"),
                step(unit, first.pair.node, "this compares one pair"),
                step(unit, first.leaving, "this leaves the loop before the second"),
            ],
            still_catches=still_catches(unit, first.pair.left, first.pair.right, but=[over.loop], repo=repo),
        )

    def _of_last(self, unit: Unit, repo: Repo, over: PairedWalk, last: _Last) -> Finding:
        left, right = map(_cut, last.pair.of)
        return self.finding(
            unit,
            last.given,
            f"of `{left}` and `{right}` only the last pair decides: each pass overwrites `{last.name}`",
            certainty=last.certainty,
            steps=[
                step(unit, over.loop.iter, "this walks the pairs"),
                step(unit, last.given, f"each pass gives `{last.name}` anew, and nothing has read it"),
                step(unit, last.check, "this looks at what the last pass left"),
            ],
            still_catches=still_catches(
                unit, last.pair.left, last.pair.right, but=[last.given, last.check], repo=repo
            ),
        )


def _may_decide(unit: Unit, loop: ast.For) -> bool:
    if _may_leave(loop.body):
        return True
    given = {node.targets[0].id for node in _plain(loop.body) if isinstance(node.targets[0], ast.Name)}
    if not given or not may_set_against(loop.body):
        return False
    return is_read_after(unit, given, loop)


def _may_leave(body: list[ast.stmt]) -> bool:
    for node in body:
        if isinstance(node, (ast.Break, ast.Return)):
            return True
        if isinstance(node, ast.If) and node.orelse and _may_leave(node.body + node.orelse):
            return True
        if isinstance(node, (ast.With, ast.AsyncWith)) and _may_leave(node.body):
            return True
    return False


def _plain(body: list[ast.stmt]) -> Iterator[ast.Assign]:
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield node
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _plain(node.body)


# The first pair alone.


@dataclass(frozen=True, slots=True, eq=False)
class _First:
    """`leaving` ends the loop in its first pass, in which `pair` is compared."""

    leaving: cst.CSTNode
    pair: Pair
    certainty: Certainty


def _first_alone(unit: Unit, over: PairedWalk) -> _First | None:
    loop = over.loop
    leaving = next((one for one in statements(loop.body) if _leaves(one)), None)
    if leaving is None or loop.orelse is not None or _says_that_it_is_meant(unit, loop, leaving):
        return None
    if any(enclosing(unit, one, cst.For, cst.While) is loop for one in _under(loop, cst.Continue)):
        return None
    returned = _returned(leaving)
    if returned and any(_function(unit, one) is _function(unit, loop) for one in unit.find(cst.Yield)):
        return None
    pair = next((one for node in _judging(unit, loop) for one in pairs(unit, over, node)), None)
    if pair is None:
        return None
    says = bool(returned) and all(_is_verdict(one.value) for one in returned)
    return _First(leaving, pair, "likely" if says and not unit.is_test else "question")


def _leaves(statement: cst.CSTNode) -> bool:
    """Whether every path through a statement leaves the loop, and not all of them fail."""
    found = leaves([statement])
    if found == "fail":
        return type(statement) is cst.If and any(
            isinstance(below, (cst.Break, cst.Return)) for below in walk(statement)
        )
    return found in ("break", "return")


def _returned(leaving: cst.CSTNode) -> list[cst.Return]:
    return [one for one in walk(leaving) if type(one) is cst.Return]


def _is_verdict(value: cst.BaseExpression | None) -> bool:
    return value is not None and (isinstance(literal(value), bool) or type(value) is cst.Comparison)


def _judging(unit: Unit, loop: cst.For) -> Iterator[cst.CSTNode]:
    """What is asked in a loop: the conditions of its checks and branches, and what it returns."""
    for check in checks_in(unit, loop.body):
        yield check.condition or check.node
    for node in _under(loop, cst.If):
        yield node.test
    for node in _under(loop, cst.Return):
        if node.value is not None:
            yield node.value


def _says_that_it_is_meant(unit: Unit, loop: cst.For, leaving: cst.CSTNode) -> bool:
    first, last = unit.span(loop).line, unit.span(leaving).end_line
    comments = (line.partition("#")[2] for line in unit.file.lines[max(first - 2, 0) : last])
    return _FIRST.search(unit.name) is not None or any(_MEANT.search(one) for one in comments)


# The last pair alone.


@dataclass(frozen=True, slots=True, eq=False)
class _Last:
    """`given` sets `name` to what `pair` says, and `check`, behind the loop, looks at it."""

    given: cst.CSTNode
    name: str
    pair: Pair
    check: cst.CSTNode
    certainty: Certainty


def _last_alone(unit: Unit, over: PairedWalk) -> Iterator[_Last]:
    loop = over.loop
    if loop.orelse is not None or any(
        enclosing(unit, one, cst.For, cst.While) is loop for one in _under(loop, cst.Break)
    ):
        return
    for node in _straight(statements(loop.body)):
        if type(node) is not cst.Assign or len(node.targets) != 1:
            continue
        target = node.targets[0].target
        if type(target) is not cst.Name or _LAST.search(target.value) is not None:
            continue
        check = _only_looked_at_behind(unit, loop, node, target.value)
        pair = _verdict(unit, over, node.value) if check is not None else None
        if pair is None or check is None or carries_over(unit, over, node.value):
            continue
        called = any(is_computed(unit, over, side) for side in (pair.left, pair.right))
        yield _Last(node, target.value, pair, check, "question" if called else "likely")


def _straight(block: Iterable[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The statements that each pass reaches."""
    for node in block:
        if type(node) is cst.With:
            yield from _straight(statements(node.body))
        else:
            yield node


def _only_looked_at_behind(unit: Unit, loop: cst.For, given: cst.Assign, name: str) -> cst.CSTNode | None:
    """The check behind a loop that looks at what an assignment in it gives to a name, if nothing in this loop
    or one around it reads that, or changes it."""
    flow = values(unit)
    inside = [one for one in flow.bindings(name) if unit.holds(loop, one.node)]
    if len(inside) != 1 or flow.mutations(name):
        return None
    around = enclosing(unit, loop, cst.For, cst.While)
    reads = [one for one in flow.reads(unit.node) if one.value == name and inside[0] in flow.reaching(one)]
    for read in reads:
        if unit.holds(loop, read) and not _is_told(unit, read, loop):
            return None
        if around is not None and unit.holds(around, read) and not unit.holds(loop, read):
            return None
    behind = {id(one) for one in reads if not unit.holds(loop, one)}
    return next((one for one, asks in _asking(unit, loop) if _reads_any(asks, behind)), None)


def _is_told(unit: Unit, read: cst.Name, loop: cst.For) -> bool:
    """Whether a read in a loop only shows the value: `print(gap)`."""
    for above in unit.ancestors(read):
        if above is loop:
            return False
        if type(above) is cst.Call and TELLS.match(dotted(above.func)):
            return True
    return False


def _asking(unit: Unit, loop: cst.For) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """The checks of a unit outside of a loop and the verdicts that it hands back, with what they ask."""
    for check in checks(unit):
        if not unit.holds(loop, check.node):
            yield check.anchor, check.condition or check.node
    if unit.is_test:
        return
    for node in unit.find(cst.Return):
        if node.value is not None and not unit.holds(loop, node) and _asks(node.value):
            yield node, node.value
    for branch in unit.find(cst.If):
        if not unit.holds(loop, branch) and leaves(statements(branch.body)) == "return":
            yield branch.test, branch.test


def _asks(value: cst.BaseExpression) -> bool:
    while type(value) is cst.UnaryOperation:
        value = value.expression
    return isinstance(value, (cst.Name, cst.Comparison, cst.BooleanOperation))


def _reads_any(node: cst.CSTNode, names: set[int]) -> bool:
    return any(id(below) in names for below in walk(node))


def _verdict(unit: Unit, over: PairedWalk, value: cst.BaseExpression) -> Pair | None:
    """The pair of which an expression says whether it is the same, or how far it is apart."""
    value = values(unit).resolve(value)
    while True:
        if type(value) is cst.UnaryOperation:
            value = value.expression
        elif type(value) is cst.Call and last_name(value) in _REDUCES:
            inner = value.func.value if type(value.func) is cst.Attribute else None
            given = value.args[0].value if value.args else inner
            if given is None or isinstance(given, (cst.GeneratorExp, cst.ListComp)):
                return None
            value = values(unit).resolve(given)
        else:
            break
    if type(value) is cst.BooleanOperation:
        return _verdict(unit, over, value.left) or _verdict(unit, over, value.right)
    if type(value) is cst.Comparison:
        apart = _verdict(unit, over, value.left)
        if apart is not None:
            return apart
    return next((one for one in pairs(unit, over, value) if one.node is value), None)


def _under(loop: cst.For, *kinds: type[cst.CSTNode]) -> list[cst.CSTNode]:
    return [below for below in walk(loop.body) if isinstance(below, kinds)]


def _function(unit: Unit, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((one for one in unit.ancestors(node) if isinstance(one, cst.FunctionDef)), None)


def _cut(code: str) -> str:
    return code if len(code) <= 40 else code[:39] + "…"
