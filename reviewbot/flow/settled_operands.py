"""Operands that a written one leaves unread: `("a" or "b") in rows` asks for "a" alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import literal, walk

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_WRITTEN = (cst.SimpleString, cst.ConcatenatedString, cst.Integer, cst.Float)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """`node` is always `kept`, or is as if `kept` stood there alone; `dropped` is looked at by nothing."""

    node: cst.BooleanOperation
    kept: cst.BaseExpression
    dropped: cst.BaseExpression


def may_drop_an_operand(unit: Unit) -> bool:
    """Whether an operand that is not the last of its operation is written out, by `ast`."""
    return any(
        isinstance(operand, ast.Constant) and isinstance(operand.value, (str, bytes, int, float))
        for operation in unit.asts(ast.BoolOp)
        for operand in operation.values[:-1]
    )


def settled(condition: cst.BaseExpression) -> Iterator[Settled]:
    """The operations in a condition whose value a written operand decides, where that value is compared, and
    those where a text stands before `and` as if it were: `"a" and "b" in rows`."""
    for node in walk(condition):
        if isinstance(node, cst.Comparison):
            for side in (node.left, *(target.comparator for target in node.comparisons)):
                found = _settled_value(side)
                if found is not None:
                    yield found
        elif isinstance(node, cst.BooleanOperation) and _is_left_alone(node):
            yield Settled(node, node.right, node.left)


def _settled_value(node: cst.BaseExpression) -> Settled | None:
    """The operation whose value a written operand decides, if that is what is compared."""
    if not isinstance(node, cst.BooleanOperation):
        return None
    lowest = node
    while isinstance(lowest.left, cst.BooleanOperation):
        lowest = lowest.left
        if type(lowest.operator) is not type(node.operator):
            return None
    if not _is_written(lowest.left):
        return None
    if isinstance(node.operator, cst.Or):
        return Settled(node, lowest.left, lowest.right)
    return Settled(node, node.right, lowest.left)


def _is_left_alone(node: cst.BooleanOperation) -> bool:
    """Whether a text stands before `and`, and the same question is asked of another text after it."""
    asked = node.right
    return (
        isinstance(node.operator, cst.And)
        and _is_text(node.left)
        and isinstance(asked, cst.Comparison)
        and _is_text(asked.left)
    )


def _is_text(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) and _is_written(node)


def _is_written(node: cst.BaseExpression) -> bool:
    """Whether a value is written out, and true."""
    return isinstance(node, _WRITTEN) and bool(literal(node))
