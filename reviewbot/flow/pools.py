"""Figures pooled over rows (a mean, a maximum, a total), and the rows that never reach them.

A row is left out where the turn of a loop that would add it goes another way: past a `continue`, by the arm
of an `if` without it, through an `except`; or by the `if` of a comprehension.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.control import guards, leaves, statements
from reviewbot.flow.judgements import records
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, root_name, same, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

FIGURES = frozenset({
    "mean", "fmean", "average", "median", "max", "min", "sum", "fsum", "amax", "amin", "std", "stdev",
    "quantile", "percentile", "nanmean", "nanmax",
})  # fmt: skip
_SAYS = pattern(r"(?i)^(print|log|debug|info|warn|warning|error|exception|critical|write|echo|fail|skip)$")
Why = Literal["nothing", "empty", "not finite", "raised", "other"]
_FINITE = frozenset({"isnan", "isfinite", "isinf", "is_nan", "is_finite"})
_SOMETHING = (cst.NotEqual, cst.GreaterThan)


@dataclass(frozen=True, slots=True, eq=False)
class Dropped:
    """Rows left out of `figure` (an expression). `condition` is what sends them past `pool`, where they would
    be added (an `except` handler for `raised`); `why` is what it asks of the row, in `subject`."""

    figure: cst.BaseExpression
    pool: cst.CSTNode
    condition: cst.CSTNode
    why: Why
    subject: cst.BaseExpression | None


def dropped(unit: Unit) -> Iterator[Dropped]:
    """The rows that a unit leaves out of figures, counted nowhere, in source order."""
    for loop in unit.find(cst.For):
        yield from _of_loop(unit, loop)
    for call in unit.find(cst.Call):
        yield from _of_comprehension(unit, call)


# Loops.


def _of_loop(unit: Unit, loop: cst.For) -> Iterator[Dropped]:
    flow = values(unit)
    inside = {id(below) for below in walk(loop.body)}
    names = {b.name for b in flow.all if b.kind in ("assign", "augmented") and id(b.node) not in inside}
    adds = {
        name: [m.node for m in flow.mutations(name) if id(m.node) in inside and _adds(m.node)]
        for name in sorted(names)
    }
    seen: set[int] = set()
    for name, nodes in adds.items():
        if len(nodes) != 1:
            continue
        figures = [one for one in _figures(unit, loop, name) if not _over_all(unit, loop, one, adds)]
        if not figures or _counted(unit, loop, name):
            continue
        for condition, why, subject in _ways_past(unit, loop, nodes[0], inside):
            if id(condition) not in seen and not _counted_apart(unit, loop, condition):
                seen.add(id(condition))
                yield Dropped(figures[0], nodes[0], condition, why, subject)


def _adds(node: cst.CSTNode) -> bool:
    if type(node) is cst.AugAssign:
        return type(node.operator) is cst.AddAssign and type(node.target) is cst.Name
    return type(node) is cst.Call and last_name(node) in ("append", "extend") and bool(node.args)


def _ways_past(
    unit: Unit, loop: cst.For, node: cst.CSTNode, inside: set[int]
) -> Iterator[tuple[cst.CSTNode, Why, cst.BaseExpression | None]]:
    for guard in guards(unit, node):
        if id(guard.node) not in inside or type(guard.node) is not cst.If:
            continue
        arm = _other_arm(guard.node, guard.outcome)
        if arm is None or _tells(unit, arm):
            continue
        why, subject = asks(unit, guard.condition, guard.outcome)
        yield guard.condition, why, subject
    below: cst.CSTNode = node
    for above in unit.ancestors(node):
        if above is loop:
            return
        if type(above) is cst.Try and below is above.body:
            for handler in above.handlers:
                if not _tells(unit, statements(handler.body)):
                    yield handler, "raised", None
        if type(above) is cst.IndentedBlock:
            for earlier in above.body:
                if earlier is below:
                    break
                if type(earlier) is cst.Try:
                    for handler in earlier.handlers:
                        body = statements(handler.body)
                        if leaves(body) == "continue" and not _tells(unit, body):
                            yield handler, "raised", None
        below = above


def _other_arm(node: cst.If, outcome: bool) -> list[cst.CSTNode] | None:
    """The statements that run where the row is left out; None where that is another `if`."""
    if not outcome:
        return statements(node.body)
    if type(node.orelse) is cst.If:
        return None
    return statements(node.orelse) if node.orelse is not None else []


def _tells(unit: Unit, arm: list[cst.CSTNode]) -> bool:
    """Whether an arm counts the row, says something of it, or fails."""
    if leaves(arm) in ("fail", "break", "return"):
        return True
    if any(records(unit, statement) for statement in arm):
        return True
    for below in (inner for statement in arm for inner in walk(statement)):
        if isinstance(below, (cst.Raise, cst.Assert, cst.Yield)):
            return True
        if type(below) is cst.Call and (_SAYS.match(last_name(below)) or "warn" in last_name(below)):
            return True
    return False


def _figures(unit: Unit, loop: cst.For, name: str) -> Iterator[cst.BaseExpression]:
    """The figures over what a loop collected, as far as something depends on them."""
    rank = unit.index.rank
    after = rank(loop)
    inside = {id(below) for below in walk(loop)}
    flow = values(unit)
    for node in unit.find(cst.Call, cst.BinaryOperation):
        if rank(node) < after or id(node) in inside:
            continue
        if type(node) is cst.Call:
            pooled = last_name(node) in FIGURES and any(read.value == name for read in flow.reads(node))
        else:
            assert isinstance(node, cst.BinaryOperation)
            pooled = type(node.operator) is cst.Divide and root_name(node.left) == name
        if pooled and decides(unit, node):
            yield node


def decides(unit: Unit, figure: cst.BaseExpression) -> bool:
    """Whether a check of the unit, or what it returns, depends on a figure."""
    flow = values(unit)
    ends: list[cst.CSTNode] = [c.node if c.condition is None else c.condition for c in checks(unit)]
    if not unit.is_test:
        ends.extend(node.value for node in unit.find(cst.Return) if node.value is not None)
    sources = [*ends, *(b.value for b in flow.slice(*ends) if b.value is not None)]
    return any(below is figure for source in sources for below in walk(source))


def _over_all(
    unit: Unit, loop: cst.For, figure: cst.BaseExpression, adds: dict[str, list[cst.CSTNode]]
) -> bool:
    """Whether a figure is divided by a number that the left-out rows are in."""
    above = unit.parent(figure)
    whole = above if type(above) is cst.BinaryOperation else figure
    if type(whole) is not cst.BinaryOperation or type(whole.operator) is not cst.Divide:
        return type(figure) is cst.Call and last_name(figure) in ("sum", "fsum")
    flow = values(unit)
    under = [whole.right, flow.resolve(whole.right)]
    iterated = {read.value for read in flow.reads(loop.iter)}
    for node in under:
        for below in walk(node):
            if type(below) is cst.Name:
                if below.value in iterated:
                    return True
                added = adds.get(below.value, [])
                if any(not _conditional(unit, loop, one) for one in added):
                    return True
                if not added and below is node:
                    return True
    return False


def _conditional(unit: Unit, loop: cst.For, node: cst.CSTNode) -> bool:
    inside = {id(below) for below in walk(loop.body)}
    if any(id(guard.node) in inside for guard in guards(unit, node)):
        return True
    return any(type(above) is cst.Try and id(above) in inside for above in unit.ancestors(node))


def _counted(unit: Unit, loop: cst.For, name: str) -> bool:
    """Whether the number of rows that were added is looked at, shown or handed on after the loop."""
    inside = {id(below) for below in walk(loop)}
    flow = values(unit)
    for call in unit.find(cst.Call):
        if id(call) in inside or dotted(call.func) != "len" or not call.args:
            continue
        if root_name(call.args[0].value) == name and not _divides(unit, call):
            return True
    for node in unit.find(cst.Name):
        if id(node) in inside or not flow.reaching(node):
            continue
        above = unit.parent(node)
        if node.value == name and type(above) is cst.Arg:
            called = unit.parent(above)
            if type(called) is cst.Call and last_name(called) not in FIGURES | {"len"}:
                return True
        if node.value == name and isinstance(above, (cst.Return, cst.Element, cst.FormattedStringExpression)):
            return True
    return _counter_shown(unit, loop)


def _counted_apart(unit: Unit, loop: cst.For, condition: cst.CSTNode) -> bool:
    """Whether another loop counts the rows of which the same is true, and that number is shown."""
    if not isinstance(condition, cst.BaseExpression):
        return False
    asked = _of_row(loop, condition)
    for other in unit.find(cst.For):
        if other is loop or not _counter_shown(unit, other):
            continue
        for node in walk(other.body):
            counts = type(node) is cst.If and any(
                type(one) is cst.AugAssign and literal(one.value) == 1 for one in walk(node.body)
            )
            if type(node) is cst.If and counts and _of_row(other, node.test) == asked:
                return True
    return False


def _of_row(loop: cst.For, condition: cst.BaseExpression) -> str:
    """A condition as code, with one name for all that a loop binds."""
    text = canonical(condition)
    for name in walk(loop.target):
        if type(name) is cst.Name:
            text = re.sub(rf"\b{re.escape(name.value)}\b", "row", text)
    return text


def _counter_shown(unit: Unit, loop: cst.For) -> bool:
    """Whether a counter that the loop keeps by ones is shown, returned or checked as it is."""
    counters = {
        node.target.value
        for node in walk(loop.body)
        if type(node) is cst.AugAssign and type(node.target) is cst.Name and literal(node.value) == 1
    }
    inside = {id(below) for below in walk(loop)}
    return any(
        node.value in counters
        and id(node) not in inside
        and isinstance(
            unit.parent(node),
            (cst.Arg, cst.Return, cst.Element, cst.FormattedStringExpression, cst.DictElement),
        )
        for node in unit.find(cst.Name)
    ) or any(
        read.value in counters
        for check in checks(unit)
        if check.condition is not None
        for read in values(unit).reads(check.condition)
    )


def _divides(unit: Unit, node: cst.BaseExpression) -> bool:
    above = unit.parent(node)
    if type(above) is cst.Arg:  # max(len(rows), 1)
        above = unit.parent(unit.parent(above) or above)
    return type(above) is cst.BinaryOperation and type(above.operator) is cst.Divide


# Comprehensions.


def _of_comprehension(unit: Unit, call: cst.Call) -> Iterator[Dropped]:
    if last_name(call) not in FIGURES or not call.args:
        return
    given = call.args[0].value
    node = values(unit).resolve(given)
    if last_name(call) in ("sum", "fsum") and not _is_share(unit, call, given):
        return
    if not isinstance(node, (cst.ListComp, cst.GeneratorExp)) or not decides(unit, call):
        return
    if type(given) is cst.Name and _counted_list(unit, given):
        return
    clause: cst.CompFor | None = node.for_in
    while clause is not None:
        for condition in clause.ifs:
            why, subject = asks(unit, condition.test, True)
            yield Dropped(call, node, condition.test, why, subject)
        clause = clause.inner_for_in


def _is_share(unit: Unit, call: cst.Call, given: cst.BaseExpression) -> bool:
    """Whether a total is divided by how many were added up: `sum(kept) / len(kept)`."""
    above = unit.parent(call)
    if type(above) is not cst.BinaryOperation or type(above.operator) is not cst.Divide:
        return False
    return any(
        type(below) is cst.Call and dotted(below.func) == "len" and same(below.args[0].value, given)
        for below in walk(above.right)
        if type(below) is not cst.Call or below.args
    )


def _counted_list(unit: Unit, name: cst.Name) -> bool:
    for node in unit.find(cst.Name):
        if node.value != name.value or node is name or not values(unit).reaching(node):
            continue
        above = unit.parent(node)
        called = unit.parent(above) if type(above) is cst.Arg else None
        if type(called) is cst.Call and dotted(called.func) == "len" and _divides(unit, called):
            continue
        if type(called) is not cst.Call or last_name(called) not in FIGURES | {"bool"}:
            return True
    return False


def asks(unit: Unit, condition: cst.BaseExpression, kept: bool) -> tuple[Why, cst.BaseExpression | None]:
    """What a condition asks of a row, if only where it has the outcome `kept` the row is kept."""
    if type(condition) is cst.UnaryOperation and type(condition.operator) is cst.Not:
        return asks(unit, condition.expression, not kept)
    if type(condition) is cst.BooleanOperation:
        if isinstance(condition.operator, cst.And) is kept:
            for side in (condition.left, condition.right):
                why, subject = asks(unit, side, kept)
                if why != "other":
                    return why, subject
        return "other", None
    if type(condition) is cst.Call:
        name = last_name(condition)
        if name in _FINITE and condition.args and (name in ("isfinite", "is_finite")) is kept:
            return "not finite", condition.args[0].value
        return "other", None
    if type(condition) is cst.Comparison and len(condition.comparisons) == 1:
        operator, other = condition.comparisons[0].operator, condition.comparisons[0].comparator
        if literal(other) is None and isinstance(operator, cst.IsNot if kept else cst.Is):
            return "nothing", condition.left
        if literal(other) in (0, "") and isinstance(operator, _SOMETHING if kept else cst.Equal):
            return "empty", condition.left
        return "other", None
    if isinstance(condition, (cst.Name, cst.Attribute, cst.Subscript)) and kept:
        return "nothing", condition
    return "other", None
