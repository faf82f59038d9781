"""Ranges that conditions set: `low <= at < high`, `at in range(low, high)`, two guards before a return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.control import guards
from reviewbot.flow.provenance import Trace
from reviewbot.flow.syntax import canonical, dotted, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_LOWER = (cst.GreaterThan, cst.GreaterThanEqual)
_UPPER = (cst.LessThan, cst.LessThanEqual)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """A range of one subject whose two ends come from different things: its end is something plus a length,
    and that something is not its begin. `low_from` and `high_from` are the expressions behind the ends."""

    unit: Unit
    subject: cst.BaseExpression
    low: cst.BaseExpression
    high: cst.BaseExpression
    low_from: cst.BaseExpression
    high_from: cst.BaseExpression


def intervals(found: Trace) -> list[Interval]:
    """The ranges with unlike ends among the conditions that a trace read, one for each function."""
    out: list[Interval] = []
    seen: set[int] = set()
    for unit, node in found.read:
        for bounds in (_within(unit, node), _before(unit, node)):
            for subject, low, high in bounds:
                interval = _unlike(unit, subject, low, high)
                if interval is not None and id(unit) not in seen:
                    seen.add(id(unit))
                    out.append(interval)
    return out


Bounds = list[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression]]


def _within(unit: Unit, node: cst.CSTNode) -> Bounds:
    """Ranges written out in one expression."""
    bounds: Bounds = []
    for below in walk(node):
        if type(below) is cst.Comparison:
            bounds.extend(_chained(below))
        elif type(below) is cst.BooleanOperation and type(below.operator) is cst.And:
            lows, highs = _collect([(below.left, True), (below.right, True)])
            bounds.extend(_pair(lows, highs))
    return bounds


def _chained(node: cst.Comparison) -> Bounds:
    if len(node.comparisons) == 2:
        first, second = node.comparisons
        if isinstance(first.operator, _UPPER) and isinstance(second.operator, _UPPER):
            return [(first.comparator, node.left, second.comparator)]
    if len(node.comparisons) == 1 and type(node.comparisons[0].operator) is cst.In:
        call = node.comparisons[0].comparator
        if type(call) is cst.Call and dotted(call.func) == "range" and len(call.args) == 2:
            return [(node.left, call.args[0].value, call.args[1].value)]
    return []


def _before(unit: Unit, node: cst.CSTNode) -> Bounds:
    """The range in which a returned value is reached."""
    parent = unit.parent(node)
    if type(parent) is not cst.Return:
        return []
    lows, highs = _collect([(guard.condition, guard.outcome) for guard in guards(unit, parent)])
    return _pair(lows, highs)


Ends = list[tuple[cst.BaseExpression, cst.BaseExpression]]


def _collect(conditions: list[tuple[cst.BaseExpression, bool]]) -> tuple[Ends, Ends]:
    lows: Ends = []
    highs: Ends = []
    for condition, outcome in conditions:
        if type(condition) is cst.BooleanOperation:
            if isinstance(condition.operator, cst.And) is outcome:
                inner = _collect([(condition.left, outcome), (condition.right, outcome)])
                lows.extend(inner[0])
                highs.extend(inner[1])
            continue
        if type(condition) is not cst.Comparison or len(condition.comparisons) != 1:
            continue
        left, target = condition.left, condition.comparisons[0]
        if isinstance(target.operator, _LOWER) is outcome and isinstance(target.operator, (*_LOWER, *_UPPER)):
            lows.append((left, target.comparator))
            highs.append((target.comparator, left))
        elif isinstance(target.operator, (*_LOWER, *_UPPER)):
            highs.append((left, target.comparator))
            lows.append((target.comparator, left))
    return lows, highs


def _pair(lows: Ends, highs: Ends) -> Bounds:
    return [
        (subject, low, high)
        for subject, low in lows
        for other, high in highs
        if canonical(subject) == canonical(other) and low is not high and low is not other
    ]


def _unlike(
    unit: Unit, subject: cst.BaseExpression, low: cst.BaseExpression, high: cst.BaseExpression
) -> Interval | None:
    flow = values(unit)
    low_from, high_from = flow.resolve(low), flow.resolve(high)
    if type(high_from) is not cst.BinaryOperation or type(high_from.operator) is not cst.Add:
        return None
    begins = {canonical(flow.resolve(part)) for part in (high_from.left, high_from.right)}
    begins |= {canonical(part) for part in (high_from.left, high_from.right)}
    if canonical(low_from) in begins or canonical(low) in begins:
        return None
    return Interval(unit, subject, low, high, low_from, high_from)
