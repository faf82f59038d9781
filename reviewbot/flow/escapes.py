"""Alternatives under which a check passes: the operands of its `or`, or of the `and` before it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import call_of, checks, operand
from reviewbot.flow.control import statements
from reviewbot.flow.judgements import judged_names, records
from reviewbot.flow.syntax import last_name, literal, walk

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
    for listed in unit.find(cst.Assign) if judged else ():
        target, made = listed.targets[0].target, listed.value
        if type(target) is not cst.Name or not isinstance(made, (cst.ListComp, cst.SetComp)):
            continue
        if target.value in judged and _must_be_empty(unit, target.value):
            for part in walk(made.for_in):
                if type(part) is cst.CompIf:
                    yield from _of(listed, part.test, False)


def _must_be_empty(unit: Unit, name: str) -> bool:
    """Whether a check fails where a collection holds anything: `assert not bad`, `if len(bad) > 0: raise`."""
    return any(
        check.condition is not None and _asks_for(check.condition, name) is check.fails_when
        for check in checks(unit)
    )


def _asks_for(condition: cst.BaseExpression, name: str) -> bool | None:
    """Whether a condition holds where a collection has something in it (False: where it is empty); None for
    another condition."""
    if type(condition) is cst.UnaryOperation and type(condition.operator) is cst.Not:
        found = _asks_for(condition.expression, name)
        return None if found is None else not found
    if type(condition) is cst.Comparison and len(condition.comparisons) == 1:
        target = condition.comparisons[0]
        if _asks_for(condition.left, name) is None or literal(target.comparator) not in (0, []):
            return None
        equal = isinstance(target.operator, cst.Equal)
        return not equal if equal or isinstance(target.operator, (cst.NotEqual, cst.GreaterThan)) else None
    if type(condition) is cst.Call and last_name(condition) in ("len", "bool") and len(condition.args) == 1:
        return _asks_for(condition.args[0].value, name)
    return True if type(condition) is cst.Name and condition.value == name else None


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
    elif type(node) is cst.Call and last_name(node) == ("all" if holds else "any") and len(node.args) == 1:
        # Each element has these ways to pass.
        each = node.args[0].value
        if isinstance(each, (cst.GeneratorExp, cst.ListComp)) and type(each.elt) is cst.BooleanOperation:
            yield from _ways(each.elt, holds)
        else:
            yield node, holds
    else:
        yield node, holds
