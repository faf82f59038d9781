"""Differences that a helper puts into a list which it is given, and which nothing reads afterwards.

`compare(left, right, [])`, or a list of its own of which the caller makes nothing. Reads `ast` only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.judging import function_names
from reviewbot.flow.summaries import Summaries, collecting, dotted_name, own_nodes
from reviewbot.flow.tallies import PUTS, TELLS
from reviewbot.source.units import once, root_of

if TYPE_CHECKING:
    from reviewbot.source.units import File, FunctionTree, Unit


@dataclass(frozen=True, slots=True, eq=False)
class Handed:
    """`call` hands `given` to `function`, whose `parameter` gets what differs: `put` is where."""

    call: ast.Call
    given: ast.expr
    function: str
    parameter: str
    put: ast.Call


@once
def handed_away(unit: Unit) -> tuple[Handed, ...]:
    """The calls of functions of the file that are given a list for differences which nothing reads."""
    takers = _takers(unit.file)
    if not unit.is_function or takers.isdisjoint(unit.facts.calls):
        return ()
    return tuple(_handed(unit, takers))


def _handed(unit: Unit, takers: frozenset[str]) -> Iterator[Handed]:
    calls = [
        node.value if isinstance(node.value, ast.Call) else None
        for node in own_nodes(unit.tree)
        if isinstance(node, ast.Expr)
    ]
    for call in calls:
        name = dotted_name(call.func) if call is not None else ""
        if call is None or name.rpartition(".")[2] not in takers:
            continue
        function = Summaries.of(unit.file).resolve(name, unit)
        for parameter, put in _tallies(function) if function is not None else ():
            given = _given_to(call, function, parameter) if function is not None else None
            if given is not None and _is_dropped(unit, call, given):
                yield Handed(call, given, name, parameter, put)


@once
def _takers(file: File) -> frozenset[str]:
    """The last names of the functions of a file that put what differs into what they are given."""
    if not any(unit.calls(*PUTS) for unit in file.units):
        return frozenset()
    named = frozenset().union(*(unit.facts.calls for unit in file.units)) & function_names(file)
    return frozenset(
        unit.name.rpartition(".")[2]
        for unit in file.units
        if unit.is_function and unit.name.rpartition(".")[2] in named and _may_put(unit)
        if any(True for _ in _tallies(unit.tree))
    )


def _may_put(unit: Unit) -> bool:
    """Whether a function puts something into one of its parameters."""
    calls = unit.calls_of(PUTS)
    if not calls or not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    given = unit.tree.args
    names = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return any(root_of(call.func) in names for call in calls)


def _tallies(function: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """The parameters that get what differs and of which the function itself makes nothing."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.decorator_list:
        return
    nodes = list(own_nodes(function))
    grown = collecting(nodes)
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == argument.arg]
        puts = [
            n
            for n in nodes
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and isinstance(n.func.value, ast.Name)
            and n.func.value.id == argument.arg
            and n.func.attr in PUTS
        ]
        if argument.arg in grown and puts and len(reads) == len(puts):
            yield argument.arg, puts[0]


def _given_to(call: ast.Call, function: FunctionTree, parameter: str) -> ast.expr | None:
    """What a call gives a parameter, where it can be read off."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    places = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if places[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        places = places[1:]
    place = places.index(parameter) if parameter in places else len(call.args)
    return call.args[place] if place < len(call.args) else None


def _is_dropped(unit: Unit, call: ast.Call, given: ast.expr) -> bool:
    """Whether nothing reads what a list holds after the call: it has no name, or its name is only shown."""
    if _is_fresh(given):
        return True
    if not isinstance(given, ast.Name) or any(given.id in node.names for node in _shared(unit)):
        return False
    nodes = list(own_nodes(unit.tree))
    made = [
        node
        for node in nodes
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and node.value is not None
        and _is_fresh(node.value)
        and any(_is_named(one, given.id) for one in _targets(node))
    ]
    stored = [node for node in unit.facts.stored.get(given.id, ()) if isinstance(node.ctx, ast.Store)]
    if len(made) != 1 or len(stored) != 1:
        return False
    read = {id(n) for n in ast.walk(unit.tree) if _is_named(n, given.id) and n is not stored[0]}
    takers = _takers(unit.file)
    harmless = {
        id(arg)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if TELLS.match(dotted_name(node.value.func))
        or dotted_name(node.value.func).rpartition(".")[2] in takers
        for arg in ast.walk(node.value)
    }
    return read <= harmless


def _shared(unit: Unit) -> list[ast.Global | ast.Nonlocal]:
    return [*unit.asts(ast.Global), *unit.asts(ast.Nonlocal)]


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_fresh(node: ast.expr) -> bool:
    """`[]`, `set()`, `list()`."""
    if isinstance(node, (ast.List, ast.Set)):
        return not node.elts
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "set")
    return made and not node.args  # type: ignore[attr-defined]
