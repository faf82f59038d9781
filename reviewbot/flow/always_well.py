"""Comparison scripts that end with 0 whatever they find: a difference is only told. Reads `ast` only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import may_assert_by_name
from reviewbot.flow.exit_status import EXITS, exit_with_0, given_to, is_only_told, tells, well_when
from reviewbot.flow.judging import judges
from reviewbot.flow.summaries import Summaries, dotted_name, own_nodes
from reviewbot.flow.tallies import may_tally
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_DEEPEST = 3  # names that a status is followed through


@dataclass(frozen=True, slots=True, eq=False)
class AlwaysWell:
    """`asked` is where a difference is only told, `ends` what then says that all is well. `name`: the
    variable that holds the status, which `given` gives 0 and nothing anything else."""

    asked: ast.expr
    ends: ast.stmt
    name: str = ""
    given: ast.stmt | None = None


@once
def always_well(unit: Unit) -> AlwaysWell | None:
    """Where a script or its `main` says by 0 that all is well, after differences that it has only told."""
    if unit.is_test or unit.kind not in ("function", "module") or not _may_end_well(unit):
        return None
    nodes = list(own_nodes(unit.tree))
    ends = _ends(unit, nodes)
    if ends is None or any(_fails(node, unit) for node in nodes):
        return None
    asked = next(filter(None, (_only_told(node, unit) for node in nodes)), None)
    if asked is None:
        return None
    status = ends.value if isinstance(ends, ast.Return) else None
    name = _named(status)
    given = given_to(name, unit.tree) if name else []
    return AlwaysWell(asked, ends, name, given[0][1] if given else None)


def _may_end_well(unit: Unit) -> bool:
    exits = unit.calls("exit", "_exit", "quit", "SystemExit")
    returns = unit.kind == "function" and unit.has(ast.Return) and bool(_exiting(unit))
    return (exits or returns) and unit.has(ast.If) and judges(unit)


def _exiting(unit: Unit) -> list[Unit]:
    """The module's block where it hands what a function returns to an exit."""
    module = unit.file.units[0]
    return [module] if module.calls("exit", "_exit", "quit", "SystemExit") else []


def _ends(unit: Unit, nodes: list[ast.AST]) -> ast.stmt | None:
    """The statement by which the unit always ends with 0; None where it may end otherwise."""
    returned = [node for node in nodes if isinstance(node, ast.Return)]
    if unit.kind == "function" and _is_status(unit):
        said = [node for node in returned if node.value is not None]
        return said[-1] if said and all(_is_0(node.value, unit, _DEEPEST) for node in said) else None
    for body in _bodies(unit):
        if body and exit_with_0(body[-1]) is not None:
            return body[-1]
    return None


def _bodies(unit: Unit) -> Iterator[list[ast.stmt]]:
    body = getattr(unit.tree, "body", [])
    yield body
    for statement in body if unit.kind == "module" else ():
        if isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test):
            yield statement.body


def _is_status(unit: Unit) -> bool:
    """Whether the module ends with what the function returns."""
    return any(
        isinstance(node, ast.Call)
        and dotted_name(node.func) in EXITS
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Call)
        and dotted_name(node.args[0].func) == unit.name
        for module in _exiting(unit)
        for node in own_nodes(module.tree)
    )


def _is_0(value: ast.expr | None, unit: Unit, depth: int) -> bool:
    """Whether a status is 0 on every path."""
    if value is None:
        return True
    if isinstance(value, ast.Constant):
        return value.value in (0, None)
    if isinstance(value, ast.IfExp):
        if _is_0(value.test, unit, depth):
            return _is_0(value.orelse, unit, depth)
        return _is_0(value.body, unit, depth) and _is_0(value.orelse, unit, depth)
    if isinstance(value, ast.Call) and dotted_name(value.func) in ("int", "bool") and len(value.args) == 1:
        return _is_0(value.args[0], unit, depth)
    if isinstance(value, ast.Name) and depth and not unit.has(ast.Global, ast.Nonlocal):
        given = given_to(value.id, unit.tree)
        return bool(given) and all(_is_0(one, unit, depth - 1) for one, _ in given)
    return False


def _named(status: ast.expr | None) -> str:
    """The variable that a status is read from."""
    node = status.test if isinstance(status, ast.IfExp) else status
    node = node.args[0] if isinstance(node, ast.Call) and node.args else node
    return node.id if isinstance(node, ast.Name) else ""


def _fails(node: ast.AST, unit: Unit) -> bool:
    """Whether a statement may end the script otherwise: it raises, exits, or calls what may."""
    if isinstance(node, (ast.Raise, ast.Assert)):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = dotted_name(node.func)
    if name in EXITS:
        code = node.args[0] if node.args else None
        return not _is_0(code, unit, _DEEPEST)
    if may_assert_by_name(name.rpartition(".")[2]):
        own = Summaries.of(unit.file).called(name, unit)
        return own is None or own.asserts or own.may_assert or own.raises
    own = Summaries.of(unit.file).called(name, unit)
    return own is not None and (own.asserts or own.raises)


def _only_told(node: ast.AST, unit: Unit) -> ast.expr | None:
    """The condition of a branch that two values open by differing, and that only tells of it."""
    if not isinstance(node, ast.If):
        return None
    well = well_when(node.test, unit.tree, unit, _DEEPEST)
    if well is None or not well.sure:
        return None
    arm = node.orelse if well.value else node.body
    told = any(map(tells, arm))
    return node.test if told and all(_is_harmless(one, unit) for one in arm) else None


def _is_harmless(statement: ast.stmt, unit: Unit) -> bool:
    """Whether a statement tells, goes on, or notes something of which nothing comes."""
    if tells(statement) or isinstance(statement, (ast.Pass, ast.Continue, ast.Break)):
        return True
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(isinstance(one, ast.Name) and _comes_to_nothing(one.id, unit) for one in targets)
    tally = may_tally(statement)
    return bool(tally) and _comes_to_nothing(tally, unit)


def _comes_to_nothing(name: str, unit: Unit) -> bool:
    read = any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
        for one in own_nodes(unit.tree)
    )
    return not read or is_only_told(name, unit)
