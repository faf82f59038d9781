"""Comparisons of a field that are passed over where a side lacks it: `if "wind" in a and "wind" in b`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.control import guards
from reviewbot.flow.guards import same_keys
from reviewbot.flow.judgements import Judgement, judgements
from reviewbot.flow.judging import side
from reviewbot.flow.presence import there_together
from reviewbot.flow.syntax import canonical, literal, root_name, subscript
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True, eq=False)
class PassedOver:
    """`condition` leads around `judgement`, which compares `key` of two rows, where one of them lacks it."""

    condition: cst.BaseExpression
    judgement: Judgement
    key: str
    left: cst.BaseExpression
    right: cst.BaseExpression


@once
def may_pass_over(unit: Unit) -> bool:
    """Whether a unit asks whether a key that is written out is in something; never no wrongly."""
    return any(
        isinstance(node.ops[0], (ast.In, ast.NotIn))
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
        and not isinstance(node.comparators[0], (ast.Constant, ast.Name))
        for node in unit.asts(ast.Compare)
    )


def passed_over(unit: Unit) -> Iterator[PassedOver]:
    """The comparisons of one field of two rows that are passed over where a row lacks it: either of them, or
    the side under test alone."""
    for one in judgements(unit):
        left, right = subscript(one.left), subscript(one.right)
        if left is None or right is None or left[1] != right[1] or not isinstance(left[1], str):
            continue
        holders = {canonical(holder): holder for holder in (left[0], right[0])}
        if len(holders) < 2 or root_name(left[0]) == root_name(right[0]):
            continue
        for guard in guards(unit, one.node):
            asked = _asked(guard.condition, left[1], there=guard.outcome)
            if not asked or not asked <= set(holders) or there_together(unit, guard.condition):
                continue
            if len(asked) == 1 and not all(side(root_name(holders[text])) == "other" for text in asked):
                continue
            if not same_keys(unit, one.node, left[0], right[0]):
                yield PassedOver(guard.condition, one, left[1], left[0], right[0])
                break


def _asked(condition: cst.BaseExpression, key: str, *, there: bool) -> frozenset[str]:
    """What a condition asks to hold a key where it has an outcome, as text; nothing where it asks anything
    else."""
    if isinstance(condition, cst.UnaryOperation) and isinstance(condition.operator, cst.Not):
        return _asked(condition.expression, key, there=not there)
    if isinstance(condition, cst.BooleanOperation):
        if isinstance(condition.operator, cst.And) is not there:
            return frozenset()
        left, right = (_asked(one, key, there=there) for one in (condition.left, condition.right))
        return left | right if left and right else frozenset()
    if not isinstance(condition, cst.Comparison) or len(condition.comparisons) != 1:
        return frozenset()
    target = condition.comparisons[0]
    wanted = cst.In if there else cst.NotIn
    if not isinstance(target.operator, wanted) or literal(condition.left) != key:
        return frozenset()
    return frozenset((canonical(target.comparator),))
