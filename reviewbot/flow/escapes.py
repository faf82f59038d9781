"""Alternatives under which a check passes: the operands of its `or`, or of the `and` before it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import call_of, checks, operand
from reviewbot.flow.control import statements
from reviewbot.flow.judgements import judged_names, records
from reviewbot.flow.syntax import last_name

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """A check that passes if any of `ways` (an expression and the truth value that it must have) does."""

    node: cst.CSTNode
    condition: cst.BaseExpression
    ways: tuple[tuple[cst.BaseExpression, bool], ...]


def alternatives(unit: Unit) -> Iterator[Alternatives]:
    """The checks of a unit that have more than one way to pass, and the records that a check reads."""
    for check in checks(unit):
        condition, passes_when = check.condition, not check.fails_when
        call = call_of(check.node)
        if condition is None and call is not None and last_name(call) in ("assertTrue", "assertFalse"):
            condition, passes_when = operand(call, 0), last_name(call) == "assertTrue"
        if condition is not None:
            yield from _of(check.node, condition, passes_when)
    judged = judged_names(unit)
    for node in unit.find(cst.If):
        if any(records(unit, one) & judged for one in statements(node.body) if type(one) is not cst.If):
            yield from _of(node, node.test, False)


def _of(node: cst.CSTNode, condition: cst.BaseExpression, passes_when: bool) -> Iterator[Alternatives]:
    ways = tuple(_ways(condition, passes_when))
    if len(ways) > 1:
        yield Alternatives(node, condition, ways)


def _ways(node: cst.BaseExpression, holds: bool) -> Iterator[tuple[cst.BaseExpression, bool]]:
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        yield from _ways(node.expression, not holds)
    elif type(node) is cst.BooleanOperation and isinstance(node.operator, cst.Or) is holds:
        yield from _ways(node.left, holds)
        yield from _ways(node.right, holds)
    else:
        yield node, holds
