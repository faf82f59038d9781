"""Work that is done again over the same rows: indexes built at several places, or on every turn of a loop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import called_elsewhere, calls_of
from reviewbot.flow.calls import bind, callee
from reviewbot.flow.control import enclosing, guards
from reviewbot.flow.indexes import Build, moved, reached
from reviewbot.flow.syntax import walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_DEPTH = 3


def sites(found: Collection[Build]) -> set[int]:
    """The places that decided to build, by identity."""
    return {id(build.site[1]) for build in found}


def built_again(unit: Unit) -> list[Build]:
    """The builds over those rows of a unit that are indexed at several sites by one key and in one shape,
    in a single call of it; builds of other shapes over the same rows are among them."""
    return _again(unit, reached(unit))


def built_for_callers(functions: Iterable[Unit], repo: Repo) -> Iterator[tuple[Unit, list[Build]]]:
    """The functions of other files that have the same rows indexed at several sites by functions of one file,
    each with the builds as it sees them."""
    every: dict[int, tuple[Unit, list[Build]]] = {}
    for function in functions:
        own = [build for build in reached(function) if build.rows.kind == "parameter"]
        for caller, call in calls_of(repo, function) if own and function.kind == "function" else ():
            # Of a method nothing says that it is this class's.
            called = called_elsewhere(repo, caller, call) if caller.is_function else None
            if called is not None and (called.file.path, called.name) == (function.file.path, function.name):
                given = bind(call, function)
                seen = (moved(caller, call, build, given) for build in own)
                every.setdefault(id(caller), (caller, []))[1].extend(one for one in seen if one is not None)
    for caller, builds in every.values():
        found = _again(caller, builds)
        if found:
            yield caller, found


def _again(unit: Unit, every: list[Build]) -> list[Build]:
    found: list[Build] = []
    for rows in dict.fromkeys(build.rows for build in every):
        own = [build for build in every if build.rows is rows]
        shapes: dict[str, list[Build]] = {}
        for build in own:
            shapes.setdefault(build.shape, []).append(build)
        again = any(len(sites(same)) > 1 and not _exclusive(unit, same) for same in shapes.values())
        if again and not values(unit).mutations(rows.name) and not _done_between(unit, rows.name, own):
            found.extend(own)
    return found


def built_each_turn(unit: Unit) -> list[tuple[Build, cst.For | cst.While]]:
    """The builds that a loop of the unit makes on every turn from what does not change with the turn."""
    found = []
    for build in reached(unit):
        loop = enclosing(unit, build.node, cst.For, cst.While)
        if isinstance(loop, (cst.For, cst.While)) and _stays(unit, build, loop):
            found.append((build, loop))
    return found


def may_change(unit: Unit, build: Build) -> bool:
    """Whether a call that is given the rows might change them: something unknown whose result is dropped, or
    a function of the file that changes its parameter."""
    for call in values(unit).escapes(build.rows.name):
        function = callee(unit, call)
        if function is None:
            if isinstance(unit.parent(call), cst.Expr):
                return True
            continue
        if _changes(function, call, build.rows.name, _DEPTH):
            return True
    return False


def _done_between(unit: Unit, name: str, own: list[Build]) -> bool:
    """Whether something is done to what a name holds between two of its builds: `store.put(row)` between two
    indexes of `store.rows()`."""
    rank = unit.index.rank
    places = [rank(build.node) for build in own]
    return any(min(places) < rank(call) < max(places) for call in _deeds(unit, name))


def _deeds(unit: Unit, name: str) -> list[cst.Call]:
    """The calls of methods of what a name holds whose result is dropped: `optimizer.step()` is there for what
    it does to it."""
    return [
        call
        for call in unit.find(cst.Call)
        if isinstance(call.func, cst.Attribute)
        and isinstance(call.func.value, cst.Name)
        and call.func.value.value == name
        and isinstance(unit.parent(call), cst.Expr)
    ]


def _changes(function: Unit, call: cst.Call, name: str, depth: int) -> bool:
    flow = values(function)
    for parameter, given in bind(call, function).items():
        if type(given) is not cst.Name or given.value != name:
            continue
        if flow.mutations(parameter):
            return True
        for inner in flow.escapes(parameter) if depth else ():
            further = callee(function, inner)
            if further is None:
                if isinstance(function.parent(inner), cst.Expr):
                    return True
            elif _changes(further, inner, parameter, depth - 1):
                return True
    return False


def _exclusive(unit: Unit, group: list[Build]) -> bool:
    """Whether no two builds of a group can run in one call: they stand in different arms of one `if`, there
    or where they are decided on, or one of them leaves before the other is reached."""
    ways = [
        {
            (id(g.node), g.outcome)
            for where, node in ((unit, build.node), build.site)
            for g in guards(where, node)
        }
        for build in group
    ]
    return all(
        any((branch, not outcome) in two for branch, outcome in one)
        for place, one in enumerate(ways)
        for two in ways[place + 1 :]
    )


def _stays(unit: Unit, build: Build, loop: cst.For | cst.While) -> bool:
    """Whether neither the rows nor what the build reads beside them depend on the loop's turn."""
    flow = values(unit)
    inside = {id(below) for below in walk(loop)}
    own = {id(below) for below in walk(build.node)}
    if type(loop) is cst.For and id(build.node) in {id(below) for below in walk(loop.iter)}:
        return False
    if id(build.rows.node) in inside:
        return False
    if any(id(mutation.node) in inside for mutation in flow.mutations(build.rows.name)):
        return False
    if any(id(call) in inside for call in _deeds(unit, build.rows.name)):
        return False
    return not any(
        id(binding.node) in inside and id(binding.node) not in own
        for name in flow.reads(build.node)
        for binding in flow.reaching(name)
    )
