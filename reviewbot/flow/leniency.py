"""Branches around a check that the code itself shows to be meant: they are asked about, and not claimed."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.collection import decorator_name
from reviewbot.flow.detours import Detour
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, conjuncts, literal, walk
from reviewbot.flow.values import values
from reviewbot.source.units import once

_VERSION = pattern(r"v?\d+(\.\d+)+\.?([ab.]|rc|dev|$)")

if TYPE_CHECKING:
    from reviewbot.flow.values import Binding
    from reviewbot.source.units import Unit


def is_meant(unit: Unit, detour: Detour) -> bool:
    """Whether the test is expected to fail, so that nothing hangs on the check; whether what is missing from
    one side, which opens the branch, is demanded elsewhere in the function; whether the caller says by a
    parameter what must be on both sides, or may leave out what is expected; whether a handler waits for an
    event of many; or whether the check says how far two sizes are apart that the branch has found to be; or
    whether the branch is taken for some versions of a dependency alone."""
    return (
        is_expected_to_fail(unit)
        or _is_demanded(unit, detour)
        or _is_asked_for(unit, detour)
        or _may_be_left_out(unit, detour)
        or _waits(unit, detour)
        or _is_distance(detour)
        or _is_of_a_version(unit, detour)
    )


def _is_distance(detour: Detour) -> bool:
    """`if short < long: assert long - short == 1`: where they are equal there is no distance to look at."""
    node = detour.condition
    if detour.outcome or not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return False
    target = node.comparisons[0]
    apart = {canonical(node.left), canonical(target.comparator)}
    return isinstance(target.operator, (cst.LessThan, cst.GreaterThan)) and all(
        {canonical(one.left), canonical(one.right)} == apart
        and any(
            isinstance(below, cst.BinaryOperation)
            and isinstance(below.operator, cst.Subtract)
            and {canonical(below.left), canonical(below.right)} == apart
            for below in walk(one.node)
        )
        for one in detour.missed
    )


def _is_of_a_version(unit: Unit, detour: Detour) -> bool:
    """Whether a branch stands under a condition that picks a version: `if release.startswith("1.4."):`."""
    return any(
        isinstance(above, cst.If)
        and unit.holds(above.body, detour.condition)
        and any(
            isinstance(below, cst.SimpleString) and _VERSION.match(below.raw_value)
            for below in walk(above.test)
        )
        for above in unit.ancestors(detour.condition)
    )


def _waits(unit: Unit, detour: Detour) -> bool:
    """Whether a branch stands in a function of the unit that a decorator such as `@engine.on(STARTED)` hands
    to what is run: that calls it at each event, and the condition picks one."""
    for above in unit.ancestors(detour.condition):
        if isinstance(above, cst.FunctionDef):
            return above is not unit.node and any(
                isinstance(one.decorator, cst.Call) and isinstance(one.decorator.func, cst.Attribute)
                for one in above.decorators
            )
    return False


@once
def is_expected_to_fail(unit: Unit) -> bool:
    """Whether a function is marked `xfail` or `expectedFailure`."""
    node = unit.tree
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    last = {decorator_name(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return not last.isdisjoint({"xfail", "expectedFailure"})


def _is_demanded(unit: Unit, detour: Detour) -> bool:
    """`if wanted is not None and row["name"]: assert row["name"] == wanted` in a function that asserts
    `row["name"]` where its caller asks for one."""
    asked = {canonical(part) for part in conjuncts(detour.condition)}
    return not detour.outcome and any(
        check.kind == "assert" and check.condition is not None and canonical(check.condition) in asked
        for check in checks(unit)
    )


def _is_asked_for(unit: Unit, detour: Detour) -> bool:
    """`if key in required or (key in left and key in right)` with `required` a parameter."""
    node = detour.condition
    if detour.outcome or not isinstance(node, cst.BooleanOperation) or not isinstance(node.operator, cst.Or):
        return False
    flow = values(unit)
    for one, other in ((node.left, node.right), (node.right, node.left)):
        held = _held(one)
        if held is None or not all(_held(part) is not None for part in conjuncts(other)):
            continue
        kinds = {binding.kind for name in flow.reads(held) for binding in flow.reaching(name)}
        if kinds == {"parameter"}:
            return True
    return False


def _may_be_left_out(unit: Unit, detour: Detour) -> bool:
    """`if key == name and wanted is not None: assert value == wanted` in a helper whose `wanted` is made of
    a parameter that may be None: its caller has then said that any value will do."""
    if unit.is_test or detour.outcome:
        return False
    flow = values(unit)
    judged = {canonical(side) for one in detour.missed for side in (one.left, one.right)}
    for part in conjuncts(detour.condition):
        if type(part) is not cst.Comparison or canonical(part.left) not in judged:
            continue
        target = part.comparisons[0]
        if not isinstance(target.operator, cst.IsNot) or literal(target.comparator) is not None:
            continue
        made_of = flow.slice(part.left)
        given = [binding for binding in made_of if binding.kind == "parameter"]
        rest = [binding.value for binding in made_of if binding.kind != "parameter"]
        if given and all(map(_is_optional, given)) and None not in rest:
            return True
    return False


def _is_optional(binding: Binding) -> bool:
    """Whether a parameter is None where its caller does not give it, or may be given None."""
    if binding.value is not None and literal(binding.value) is None:
        return True
    said = binding.node.annotation if isinstance(binding.node, cst.Param) else None
    return said is not None and re.search(r"\bNone\b|\bOptional\b", canonical(said.annotation)) is not None


def _held(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The collection of `key in collection`."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    target = node.comparisons[0]
    return target.comparator if isinstance(target.operator, cst.In) else None
