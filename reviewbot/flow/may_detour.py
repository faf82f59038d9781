"""Whether a branch of a unit could lead around a comparison, asked of its `ast`: yes too often, never no
wrongly.

A branch does so where a comparison stands in one of its arms, or after it where an arm leaves.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import may_assert_by_name
from reviewbot.flow.judgements import CONSTANTS, names_distance
from reviewbot.flow.judging import function_names
from reviewbot.flow.summaries import Summaries
from reviewbot.flow.suspects import COMPARING, LEAVING, compares, may_depend, measures
from reviewbot.flow.verdicts import answers
from reviewbot.source.units import below, called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def may_lead_around(unit: Unit) -> bool:
    """Whether a branch, a filter or keys taken away could depend on what the unit compares, and lead around
    a comparison."""
    return _may_open_any(unit) and _may_judge(unit) and _compares_named(unit)


def _may_open_any(unit: Unit) -> bool:
    if any(_may_open(unit, node.test) and _splits(unit, node) for node in unit.asts(ast.If)):
        return True
    if any(_may_open(unit, test) for node in unit.asts(ast.comprehension) for test in node.ifs):
        return True
    return any(_takes_away(node.iter) for node in unit.asts(ast.For))


def _may_judge(unit: Unit) -> bool:
    """Whether the unit might hold a check, call a function of its file that does, or hand back a verdict."""
    if unit.has(ast.Assert, ast.Raise) or unit.calls(*LEAVING) or unit.calls_any(may_assert_by_name):
        return True
    if not function_names(unit.file).isdisjoint(unit.facts.calls) or answers(unit):
        return True
    if not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    summary = Summaries.of(unit.file).summary(unit.tree, unit)
    return summary is not None and summary.returns == "verdict"


def _compares_named(unit: Unit) -> bool:
    """Whether the unit might ask whether two values are the same, neither of which is made of literals alone,
    or how far they are apart."""
    if _distances(unit) or measures(unit):
        return True
    for node in unit.asts(ast.Compare):
        sides = pairwise([node.left, *node.comparators])
        for operator, (left, right) in zip(node.ops, sides, strict=True):
            if isinstance(operator, _SAMENESS) and _names_any(left) and _names_any(right):
                return True
    calls = filter(compares, unit.calls_of(COMPARING))
    return any(call.keywords or len(call.args) < 2 or all(map(_names_any, call.args[:2])) for call in calls)


_SAMENESS = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def _names_any(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) and one.id not in CONSTANTS for one in ast.walk(node))


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
    if distances := _distances(unit):
        # A check may know the distance by a name.
        found += [*distances, *unit.asts(ast.Assert), *unit.asts(ast.Expr)]
    return sorted(node.lineno for node in found)


@once
def _distances(unit: Unit) -> list[ast.expr]:
    """What says how far two values are apart."""
    named = unit.asts(ast.Call) if unit.calls_any(names_distance) else []
    return [
        *(node for node in unit.asts(ast.BinOp) if isinstance(node.op, ast.Sub)),
        *(call for call in named if names_distance(called_last(call))),
    ]


@once
def _leading(unit: Unit) -> set[int]:
    """The branches of a unit that compare and then leave, by identity: what comes after them is judged by
    what they compare."""
    return {id(node) for node in unit.asts(ast.If) if _compares(unit, node.test) and _may_leave(node)}


def _compares(unit: Unit, test: ast.expr) -> bool:
    return bool(_distances(unit)) or any(
        isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and compares(node))
        for node in ast.walk(test)
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
