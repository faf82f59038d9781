"""Equalities between the two sides that do not say that what is compared is equal.

`left["at"] == right["back"]` holds two fields of different names against each other, and
`left.tokens[:cut] == right.tokens[:cut]` only the first of what is compared: the rest may differ where
these hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import canonical, conjuncts, literal, root_name
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.flow.judgements import Judgement
    from reviewbot.source.units import Unit


def equal_elsewhere(unit: Unit, condition: cst.BaseExpression, one: Judgement) -> bool:
    """Whether all that a condition asks to be equal of the two sides leaves open what is judged."""
    judged = [canonical(one.left), canonical(one.right)]
    asked = [
        (part.left, part.comparisons[0].comparator)
        for part in conjuncts(values(unit).resolve(condition))
        if type(part) is cst.Comparison
        and len(part.comparisons) == 1
        and isinstance(part.comparisons[0].operator, (cst.Equal, cst.Is))
        and literal(part.comparisons[0].comparator) is not None
        and root_name(part.left) != root_name(part.comparisons[0].comparator)
    ]
    return bool(asked) and all(
        _other_fields(left, right) or _first_of(left, right, judged) for left, right in asked
    )


def _other_fields(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """`left["at"]` and `right["back"]`: fields of one owner each, of different names."""
    mine, other = _field(left), _field(right)
    return mine != "" and other != "" and mine != other


def _field(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        return node.attr.value
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name) and len(node.slice) == 1:
        part = node.slice[0].slice
        key = literal(part.value) if isinstance(part, cst.Index) else None
        return key if isinstance(key, str) else ""
    return ""


def _first_of(left: cst.BaseExpression, right: cst.BaseExpression, judged: list[str]) -> bool:
    """Whether two stretches are part of the two values that are judged."""
    parts = [node.value for node in (left, right) if isinstance(node, cst.Subscript) and _is_stretch(node)]
    found = sorted(canonical(part) for part in parts)
    return len(found) == 2 and found == sorted(judged)


def _is_stretch(node: cst.Subscript) -> bool:
    """`tokens[:cut]`, and not `tokens[:]`."""
    part = node.slice[0].slice
    return isinstance(part, cst.Slice) and (part.lower is not None or part.upper is not None)
