"""Who calls whom inside one file, and which argument becomes which parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import dotted
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit


@dataclass(frozen=True, slots=True, eq=False)
class CallSite:
    """One call of a function of the same file."""

    caller: Unit
    call: cst.Call
    callee: Unit


def callee(unit: Unit, call: cst.Call) -> Unit | None:
    """The function of the same file that a call runs, where its name leaves no doubt.

    `helper(...)`, `self.helper(...)`, `cls.helper(...)`, `Class.helper(...)`; not through a name that the
    unit rebinds, and not a method that a subclass elsewhere may override by another file's hand.
    """
    name = dotted(call.func)
    if not name:
        return None
    first, _, rest = name.partition(".")
    if first in ("self", "cls") and rest and "." not in rest and unit.kind == "method":
        owner = unit.name.rpartition(".")[0]
        return unit.file.unit(f"{owner}.{rest}")
    if rest and type(call.func) is cst.Attribute:
        found = unit.file.unit(name)
        return found if found is not None and found.is_function and not _local(unit, call.func) else None
    if type(call.func) is not cst.Name or _local(unit, call.func):
        return None
    found = unit.file.unit(name)
    return found if found is not None and found.kind == "function" else None


def _local(unit: Unit, node: cst.BaseExpression) -> bool:
    while type(node) is cst.Attribute:
        node = node.value
    if unit.kind in ("module", "class") or type(node) is not cst.Name:
        return False
    return bool(values(unit).reaching(node))


@once
def call_sites(unit: Unit) -> list[CallSite]:
    """The calls of same-file functions in a unit, in source order."""
    called = ((call, callee(unit, call)) for call in unit.find(cst.Call))
    return [CallSite(unit, call, function) for call, function in called if function is not None]


def callers(unit: Unit) -> list[CallSite]:
    """The calls of a function by other units of its file, in source order."""
    name = unit.name.rpartition(".")[2]
    return [
        site
        for other in unit.file.calling(name)
        if other is not unit
        for site in (_module_sites(other) if other.kind in ("module", "class") else call_sites(other))
        if site.callee is unit
    ]


def _module_sites(unit: Unit) -> Iterator[CallSite]:
    """The calls in a module's or class's own statements, without those of its functions."""
    for site in call_sites(unit):
        if not any(type(above) is cst.FunctionDef for above in unit.ancestors(site.call)):
            yield site


def bind(call: cst.Call, function: Unit) -> dict[str, cst.BaseExpression]:
    """Which parameter gets which argument; a parameter hidden by a star, or left to its default, is absent.

    The `self` or `cls` of a method that is called through an attribute gets nothing.
    """
    node = function.node
    if type(node) is not cst.FunctionDef:
        return {}
    return given(call, node, itself=function.kind == "method" and _is_bound(call, node))


def given(call: cst.Call, node: cst.FunctionDef, *, itself: bool) -> dict[str, cst.BaseExpression]:
    """As `bind` for a function that is no unit; with `itself` the first parameter gets no argument."""
    positional = [p.name.value for p in (*node.params.posonly_params, *node.params.params)][itself:]
    names = {*positional, *(p.name.value for p in node.params.kwonly_params)}
    bound: dict[str, cst.BaseExpression] = {}
    place = 0
    for arg in call.args:
        if arg.star == "*":
            place = len(positional)
        elif arg.keyword is not None:
            if arg.keyword.value in names:
                bound[arg.keyword.value] = arg.value
        elif not arg.star:
            if place < len(positional):
                bound[positional[place]] = arg.value
            place += 1
    return bound


def _is_bound(call: cst.Call, function: cst.FunctionDef) -> bool:
    """Whether the call gives a method its first parameter by itself."""
    kinds = {dotted(decorator.decorator) for decorator in function.decorators}
    through_instance = dotted(call.func).partition(".")[0] in ("self", "cls")
    return "staticmethod" not in kinds and (through_instance or "classmethod" in kinds)


def defaults(function: Unit) -> dict[str, cst.BaseExpression]:
    """The default of each parameter that has one."""
    node = function.node
    if type(node) is not cst.FunctionDef:
        return {}
    params = node.params
    every = (*params.posonly_params, *params.params, *params.kwonly_params)
    return {p.name.value: p.default for p in every if p.default is not None}


def module_value(file: File, name: str) -> ast.expr | None:
    """What a module's own statements assign to a name, if they do so exactly once and nothing rebinds it, or
    fills it: `seen = []`, to which a function of the file appends, is no value.

    An `ast` node: constants such as `EXACT = ("token_ids", "reward")` are read without parsing the file.
    """
    found = _module_values(file).get(name, ())
    if len(found) != 1:
        return None
    filled = isinstance(found[0], (ast.List, ast.Dict, ast.Set, ast.Call)) and name in _filled(file)
    return None if filled else found[0]


_FILLS = frozenset({
    "append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard",
    "clear",
})  # fmt: skip


@once
def _filled(file: File) -> frozenset[str]:
    """The names whose lists, mappings or sets something in a file changes, in whatever scope."""
    found = {
        node.func.value.id
        for node in file.asts(ast.Call)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
        if node.func.attr in _FILLS
    }
    found |= {
        node.value.id
        for node in file.asts(ast.Subscript)
        if isinstance(node.ctx, (ast.Store, ast.Del)) and isinstance(node.value, ast.Name)
    }
    return frozenset(found | {name for node in file.asts(ast.Global) for name in node.names})


@once
def _module_values(file: File) -> dict[str, list[ast.expr | None]]:
    """What a module's own statements assign to each name, in source order; None for what is no value."""
    found: dict[str, list[ast.expr | None]] = {}
    for statement in file.tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in _stored(target):
                    found.setdefault(name.id, []).append(statement.value if name is target else None)
        elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
            if isinstance(statement.target, ast.Name):
                value = statement.value if isinstance(statement, ast.AnnAssign) else None
                found.setdefault(statement.target.id, []).append(value)
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Expr)):
            for name in _stored(statement):
                found.setdefault(name.id, []).append(None)
    return found


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    for below in ast.walk(node):
        if isinstance(below, ast.Name) and isinstance(below.ctx, ast.Store):
            yield below
