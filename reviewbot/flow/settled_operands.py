"""Operands that a written one leaves unread: `("a" or "b") in rows` asks for "a" alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, last_name, literal, walk

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_OF_LANGUAGE = pattern(
    r"(?i)(^|_)(eval|exec|ast)(_|$)|evaluate|compil|jit|interpret|simplif|lambdif|bytecode|short_?circuit|bool_?op|and_or"
    r"|or_and|precedence"
)
_OPERATION = pattern(r"\b(and|or)\b")
_WRITTEN = (cst.SimpleString, cst.ConcatenatedString, cst.Integer, cst.Float)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """`node` is always `kept`, or is as if `kept` stood there alone; `dropped` is looked at by nothing.
    `within` is the comparison that it is a side of."""

    node: cst.BooleanOperation
    kept: cst.BaseExpression
    dropped: cst.BaseExpression
    within: cst.Comparison | None = None

    @property
    def is_looked_for(self) -> bool:
        """Whether it is asked whether something holds it: `("a" or "b") in rows`."""
        return self.within is not None and isinstance(
            self.within.comparisons[0].operator, (cst.In, cst.NotIn)
        )

    @property
    def is_written_out(self) -> bool:
        """Whether every operand is: then it may be there to say what Python makes of it."""
        return all(literal(one) is not UNKNOWN for one in _operands(self.node))

    @property
    def others(self) -> tuple[cst.BaseExpression, ...]:
        """What it is compared with."""
        if self.within is None:
            return ()
        sides = (self.within.left, *(target.comparator for target in self.within.comparisons))
        return tuple(side for side in sides if side is not self.node)


def is_of_language(unit: Unit, one: Settled) -> bool:
    """Whether a name, or a text beside the operation, suggests that the operation itself is what is tested:
    `run("2 and 3") == (2 and 3)`."""
    parts = [below for other in one.others for below in walk(other)]
    if any(isinstance(below, cst.SimpleString) and _OPERATION.search(below.value) for below in parts):
        return True
    if one.within is None or one.is_looked_for:
        return False
    stem = unit.file.path.rpartition("/")[2].removesuffix(".py")
    called = (last_name(below) for below in parts if isinstance(below, cst.Call))
    return any(map(_OF_LANGUAGE.search, (unit.name, stem, *called))) or _has_operation_to_hand_over(unit)


def _has_operation_to_hand_over(unit: Unit) -> bool:
    """Whether a function inside the unit answers with such an operation, as one that is handed over does."""
    inner: list[ast.FunctionDef | ast.AsyncFunctionDef] = [
        *unit.asts(ast.FunctionDef),
        *unit.asts(ast.AsyncFunctionDef),
    ]
    bodies: list[ast.AST | None] = [
        statement.value
        for function in inner
        if function is not unit.tree
        for statement in function.body
        if isinstance(statement, ast.Return)
    ]
    bodies += [one.body for one in unit.asts(ast.Lambda)]
    return any(isinstance(body, ast.BoolOp) for body in bodies)


def _operands(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, cst.BooleanOperation):
            stack += (one.left, one.right)
        else:
            yield one


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
                found = _settled_value(side, node)
                if found is not None:
                    yield found
        elif isinstance(node, cst.BooleanOperation) and _is_left_alone(node):
            yield Settled(node, node.right, node.left)


def _settled_value(node: cst.BaseExpression, within: cst.Comparison) -> Settled | None:
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
        return Settled(node, lowest.left, lowest.right, within)
    return Settled(node, node.right, lowest.left, within)


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
    value = literal(node) if isinstance(node, _WRITTEN) else UNKNOWN
    return value is not UNKNOWN and bool(value)
