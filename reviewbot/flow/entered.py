"""`while` loops that are never entered: with what their names are given before, the condition is false."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.suspects import may_check_in
from reviewbot.flow.syntax import literal
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_Number = int | float


@dataclass(frozen=True, slots=True, eq=False)
class NeverEntered:
    """`node` is the loop, `given` the place that gives its name the value with which it starts."""

    node: cst.While
    given: cst.CSTNode


def may_never_enter(unit: Unit) -> bool:
    """Whether a `while` with a check in it could start with numbers alone; never no wrongly."""
    stored = unit.facts.stored
    for node in unit.asts(ast.While):
        test = node.test
        sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
        if len(sides) > 2 or not all(isinstance(side, (ast.Name, ast.Constant)) for side in sides):
            continue
        if any(isinstance(side, ast.Name) and side.id in stored for side in sides) and may_check_in(
            unit, node.body
        ):
            return True
    return False


def never_entered(unit: Unit) -> Iterator[NeverEntered]:
    """The loops of a function whose condition is false at the first turn, on every path to them."""
    for node in unit.find(cst.While) if unit.is_function else ():
        sides = _sides(node.test)
        if sides is None or _is_reached_again(unit, node):
            continue
        given = [_given(unit, side, node) for side in sides]
        numbers = [one[0] for one in given if one is not None]
        if len(numbers) < len(sides) or _holds(node.test, numbers):
            continue
        places = [one[1] for one in given if one is not None and one[1] is not None]
        if places:
            yield NeverEntered(node, places[0])


def _sides(test: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        return [test.left, test.comparisons[0].comparator]
    return [test] if isinstance(test, cst.Name) else None


def _is_reached_again(unit: Unit, node: cst.While) -> bool:
    """Whether the loop stands in another, or in a function of its own: it may find other values there."""
    for above in unit.ancestors(node):
        if isinstance(above, (cst.For, cst.While)):
            return True
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return above is not unit.node
    return False


def _given(
    unit: Unit, side: cst.BaseExpression, loop: cst.While
) -> tuple[_Number, cst.CSTNode | None] | None:
    """The number that a side of the condition is at the first turn, and where it is given."""
    place: cst.CSTNode | None = None
    if isinstance(side, cst.Name):
        flow = values(unit)
        before = [b for b in flow.reaching(side) if b is UNBOUND or not unit.holds(loop, b.node)]
        if len(before) != 1 or before[0].kind != "assign" or before[0].role != "whole":
            return None
        if before[0].value is None:
            return None
        place, side = before[0].node, flow.resolve(before[0].value)
    number = literal(side)
    plain = isinstance(number, (int, float)) and not isinstance(number, bool)
    return (number, place) if plain and isinstance(number, (int, float)) else None


def _holds(test: cst.BaseExpression, numbers: list[_Number]) -> bool:
    """Whether the condition holds of these numbers; taken to where it asks for anything but an order."""
    if isinstance(test, cst.Comparison):
        compare = _COMPARED.get(type(test.comparisons[0].operator))
        return compare is None or compare(*numbers)
    return bool(numbers[0])


_COMPARED: dict[type[cst.BaseCompOp], Callable[[_Number, _Number], bool]] = {
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
}
