"""Tolerances that the compared rows widen themselves: `atol = 1e9 if row["near_tie"] else 0`.

A branch that leads around a check excuses a row; so does a tolerance that no difference exceeds, where the
row says so. What is read of the type, the shape or the device of a value says how exact it can be.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import callee
from reviewbot.flow.checks import checks
from reviewbot.flow.control import guards
from reviewbot.flow.judgements import is_distance
from reviewbot.flow.self_excuses import asks_state, is_tested
from reviewbot.flow.sides import condition_trace, sides
from reviewbot.flow.syntax import last_name, literal, subscript, walk
from reviewbot.flow.tolerances import KEYWORDS, NAMED_ONLY, POSITIONS, number
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import every_judgement
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.flow.judgements import Judgement
    from reviewbot.flow.sides import Sides
    from reviewbot.model import Certainty
    from reviewbot.source.units import Unit

_FAR_WIDER = 100.0
_FAR = 0.1  # below it, a wider tolerance may be what the arithmetic loses
_ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


@dataclass(frozen=True, slots=True, eq=False)
class RowTolerance:
    """A tolerance `written` at a judgement, which `condition` widens to `wide`, beside `narrow`; of one that
    is a field of a row, `condition` is the field and the numbers are None. `unit` holds the condition."""

    judgement: Judgement
    written: cst.BaseExpression
    unit: Unit
    condition: cst.BaseExpression
    wide: float | None
    narrow: float | None
    certainty: Certainty


@once
def row_tolerances(unit: Unit) -> list[RowTolerance]:
    """The tolerances of a unit that a compared row widens by far, one for each place."""
    found: dict[int, RowTolerance] = {}
    for one in every_judgement(unit) if _may_choose(unit) else ():
        for written in _written(unit, one):
            if id(written) in found or (literal(written) is not None and number(unit, written) is not None):
                continue
            between = sides(unit, [one], up=False)
            made = None if between is None else _widened(unit, one, written, between)
            if made is not None:
                found[id(written)] = made
    return list(found.values())


def _may_choose(unit: Unit) -> bool:
    """Whether a tolerance of the unit might be anything but a number that is written out."""
    for call in unit.asts(ast.Call):
        places = POSITIONS.get(called_last(call), {})
        given = [one.value for one in call.keywords if one.arg in KEYWORDS]
        given += call.args[min(places) :] if places else []
        if any(not isinstance(one, ast.Constant) for one in given):
            return True
    for node in unit.asts(ast.Compare):
        sides = (node.left, node.comparators[0])
        if type(node.ops[0]) in _ORDERS and not any(isinstance(one, ast.Constant) for one in sides):
            return True
    return False


_ORDERS = frozenset({ast.Lt, ast.LtE, ast.Gt, ast.GtE})


def _widened(unit: Unit, one: Judgement, written: cst.BaseExpression, between: Sides) -> RowTolerance | None:
    for where, asked, condition, wide, narrow in _choices(unit, written):
        if wide is not None and (wide < _FAR or (narrow is not None and wide < _FAR_WIDER * narrow)):
            continue
        certainty = _decided_by_rows(unit, asked, between)
        if certainty is None or not asks_state(where, condition):
            continue
        if (wide is None or narrow is None) and certainty == "likely":
            certainty = "question"
        return RowTolerance(one, written, where, condition, wide, narrow, certainty)
    node = values(unit).resolve(written)
    if isinstance(node, cst.Attribute) or subscript(node) is not None:
        certainty = _decided_by_rows(unit, node, between)
        if certainty == "likely" and asks_state(unit, node):
            return RowTolerance(one, written, unit, node, None, None, "likely")
    return None


def _decided_by_rows(unit: Unit, asked: cst.CSTNode, between: Sides) -> Certainty | None:
    """How sure it is that what a condition asks is up to the side that is put to the test."""
    read = condition_trace(unit, asked, between, control=False, up=False).bindings
    left, right = (not own.isdisjoint(read) for own in (between.left, between.right))
    if left and right:
        return "likely"
    if not left and not right:
        return None
    mine, other = (between.left, between.right) if left else (between.right, between.left)
    return is_tested(mine, other) or "question"


def _choices(
    unit: Unit, written: cst.BaseExpression
) -> Iterator[tuple[Unit, cst.CSTNode, cst.BaseExpression, float | None, float | None]]:
    """Every condition that chooses between two values of a tolerance: the unit it stands in, what in `unit`
    it asks, the condition, the wider and the narrower value."""
    flow = values(unit)
    node = flow.resolve(written)
    for below in walk(node):
        if type(below) is cst.IfExp:
            yield unit, below.test, below.test, *_sorted(number(unit, below.body), number(unit, below.orelse))
        function = callee(unit, below) if type(below) is cst.Call else None
        if function is not None and function is not unit:
            for test, wide, narrow in _returned(function):
                yield function, below, test, wide, narrow
    if type(node) is cst.Name:
        held = [b for b in flow.reaching(node) if b.value is not None and b.role == "whole"]
        numbers = {id(b): number(unit, b.value) for b in held if b.value is not None}
        for binding in held:
            for guard in guards(unit, binding.node)[-1:]:
                others = [numbers[id(b)] for b in held if b is not binding]
                if others:
                    yield unit, guard.condition, guard.condition, *_sorted(numbers[id(binding)], others[0])


def _returned(function: Unit) -> Iterator[tuple[cst.BaseExpression, float | None, float | None]]:
    """The conditions that choose between two numbers that a function returns."""
    returns = [node for node in function.find(cst.Return) if node.value is not None]
    for node in returns:
        if type(node.value) is cst.IfExp:
            chosen = number(function, node.value.body), number(function, node.value.orelse)
            yield node.value.test, *_sorted(*chosen)
    given = [number(function, node.value) for node in returns if node.value is not None]
    if len(given) == 2 and None not in given:
        for guard in guards(function, returns[0]):
            yield guard.condition, *_sorted(*given)


def _sorted(one: float | None, other: float | None) -> tuple[float | None, float | None]:
    if one is None or other is None:
        known = one if other is None else other
        return (known, None) if known is not None and math.isinf(known) else (None, None)
    return max(one, other), min(one, other)


def _written(unit: Unit, one: Judgement) -> Iterator[cst.BaseExpression]:
    """The expressions that say how far the two values of a judgement may be apart."""
    condition = next((c.condition for c in checks(unit) if c.node is one.node), None)
    if type(one.node) is cst.If:
        condition = one.node.test
    whole = condition if condition is not None else one.node
    for below in walk(whole):
        if type(below) is cst.Call:
            places = POSITIONS.get(last_name(below), {})
            for position, arg in enumerate(below.args):
                keyword = arg.keyword.value if arg.keyword is not None else places.get(position, "")
                if keyword in KEYWORDS and (keyword not in NAMED_ONLY or last_name(below) in POSITIONS):
                    yield arg.value
        elif type(below) is cst.Comparison and len(below.comparisons) == 1:
            left, right = below.left, below.comparisons[0].comparator
            if isinstance(below.comparisons[0].operator, _ORDER):
                apart = [is_distance(values(unit).resolve(operand)) for operand in (left, right)]
                if apart[0] is not apart[1]:
                    yield right if apart[0] else left
