"""Branches that ask whether two values are there, where a check demands that both are or neither is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import comparisons
from reviewbot.flow.syntax import canonical, literal

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def there_together(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition asks of two values whether they are there and nothing else, and a check of the unit
    that they are there together: `assert (a is None) == (b is None)`."""
    asked = {_asked(part) for part in _parts(condition)}
    if "" in asked or len(asked) != 2:
        return False
    return any(
        one.relation == "equal" and {_asked(one.left), _asked(one.right)} == asked
        for one in comparisons(unit)
    )


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation):
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _parts(node.expression)
    return [node]


def _asked(node: cst.BaseExpression) -> str:
    """What is asked to be there, as text: a value, or a key in something; "" for all else."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return ""
    target = node.comparisons[0]
    if isinstance(target.operator, (cst.Is, cst.IsNot)) and literal(target.comparator) is None:
        return canonical(node.left)
    if isinstance(target.operator, (cst.In, cst.NotIn)):
        return f"{canonical(node.left)} in {canonical(target.comparator)}"
    return ""
