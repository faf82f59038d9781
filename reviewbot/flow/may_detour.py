"""Whether a branch of a unit could lead around a comparison, asked of its `ast`: yes too often, never no
wrongly.

A branch does so where a comparison stands in one of its arms, or after it where an arm leaves.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from typing import TYPE_CHECKING

from reviewbot.flow.may_judge import compares_named, distances, may_demand
from reviewbot.flow.suspects import COMPARING, LEAVING, compares, may_depend
from reviewbot.flow.verdicts import answers
from reviewbot.source.units import below, called_last, once, walked

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def may_lead_around(unit: Unit) -> bool:
    """Whether a branch, a filter or keys taken away could depend on what the unit compares, and lead around
    a comparison."""
    return _may_open_any(unit) and (may_demand(unit) or answers(unit)) and compares_named(unit)


def _may_open_any(unit: Unit) -> bool:
    if any(_may_open(unit, node.test) and _splits(unit, node) for node in unit.asts(ast.If)):
        return True
    if any(_may_open(unit, test) for node in unit.asts(ast.comprehension) for test in node.ifs):
        return True
    return any(_takes_away(node.iter) for node in unit.asts(ast.For))


def _may_open(unit: Unit, test: ast.expr) -> bool:
    return (unit.has(ast.For) and _is_setting(test)) or may_depend(unit, test)


def _splits(unit: Unit, node: ast.If) -> bool:
    """Whether what judges could be reached on one way through an `if` and not on the other."""
    lines = _judging(unit)
    before = _leading(unit)
    if id(node) in _chained(unit) or (before and before != {id(node)}):
        # What an earlier branch compares, a statement in this one or after it may be judged by.
        return True
    at = bisect_left(lines, node.body[0].lineno)
    if at == len(lines):
        return False
    return lines[at] <= (node.end_lineno or node.lineno) or _may_leave(node)


def _may_leave(node: ast.If) -> bool:
    stack: list[ast.AST] = [*node.body, *node.orelse]
    while stack:
        one = stack.pop()
        if isinstance(one, (ast.Return, ast.Continue, ast.Break)):
            return True
        if isinstance(one, (ast.stmt, ast.ExceptHandler)):
            stack += below(one)
    return False


@once
def _judging(unit: Unit) -> list[int]:
    """The lines of what compares, and of what fails by an earlier comparison, in order."""
    calls = [*filter(compares, unit.calls_of(COMPARING)), *unit.calls_of(LEAVING)]
    found: list[ast.expr | ast.stmt] = [*unit.asts(ast.Compare), *unit.asts(ast.Raise), *calls]
    if apart := distances(unit):
        # A check may know the distance by a name.
        found += [*apart, *unit.asts(ast.Assert), *unit.asts(ast.Expr)]
    return sorted(node.lineno for node in found)


@once
def _leading(unit: Unit) -> set[int]:
    """The branches of a unit that compare and then leave, by identity: what comes after them is judged by
    what they compare."""
    return {id(node) for node in unit.asts(ast.If) if _compares(unit, node.test) and _may_leave(node)}


def _compares(unit: Unit, test: ast.expr) -> bool:
    return bool(distances(unit)) or any(
        isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and compares(node))
        for node in walked(test)
    )


@once
def _chained(unit: Unit) -> set[int]:
    """The `elif` branches of a unit, by identity."""
    return {id(node.orelse[0]) for node in unit.asts(ast.If) if len(node.orelse) == 1}


def _takes_away(keys: ast.expr) -> bool:
    while isinstance(keys, ast.Call) and isinstance(keys.func, ast.Name) and keys.args:
        keys = keys.args[0]
    if isinstance(keys, ast.Call):
        return called_last(keys) == "difference"
    return isinstance(keys, ast.BinOp) and isinstance(keys.op, ast.Sub)


def _is_setting(test: ast.expr) -> bool:
    while isinstance(test, ast.UnaryOp):
        test = test.operand
    return isinstance(test, (ast.Name, ast.Attribute))
