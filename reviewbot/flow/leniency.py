"""Branches around a check that the code itself shows to be meant: they are asked about, and not claimed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.collection import decorator_name
from reviewbot.flow.detours import Detour
from reviewbot.flow.syntax import canonical, conjuncts
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def is_meant(unit: Unit, detour: Detour) -> bool:
    """Whether the test is expected to fail, so that nothing hangs on the check; whether what is missing from
    one side, which opens the branch, is demanded elsewhere in the function; or whether the caller says by a
    parameter what must be on both sides."""
    return is_expected_to_fail(unit) or _is_demanded(unit, detour) or _is_asked_for(unit, detour)


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


def _held(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The collection of `key in collection`."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    target = node.comparisons[0]
    return target.comparator if isinstance(target.operator, cst.In) else None
