"""From one file of the repository to another: a function's unit, its calls, the function behind a call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import dotted

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit


def unit_of(file: File | None, function: str) -> Unit | None:
    """The unit that a function of the index stands in: itself, what it is nested in, or the module."""
    while file is not None and function:
        found = file.unit(function)
        if found is not None:
            return found
        function = function.rpartition(".")[0]
    return None if file is None else file.units[0]


def calls_of(repo: Repo, unit: Unit) -> Iterator[tuple[Unit, cst.Call]]:
    """The calls in the repository that may run a function or, of an `__init__`, make its class."""
    is_init = unit.kind == "method" and unit.name.endswith(".__init__")
    name = unit.name.removesuffix(".__init__")
    last = name.rpartition(".")[2]
    here = repo.index.of_file(unit.file.path)
    defined = [one for _, one in here.definitions(last) if one.name == name]
    if not defined or (is_init and defined[0].kind != "class"):
        return
    for path, caller in sorted({(p, c.caller) for p, c in repo.index.callers(unit.file.path, defined[0])}):
        where = unit_of(repo.file(path), caller)
        for call in where.find(cst.Call) if where is not None else ():
            assert where is not None
            if dotted(call.func).rpartition(".")[2] == last:
                yield where, call


def called_elsewhere(repo: Repo, unit: Unit, call: cst.Call) -> Unit | None:
    """The function of another file of the repository that a call runs, by its imported name."""
    name = dotted(call.func)
    if name.partition(".")[0] not in unit.file.imports:
        return None
    defined = repo.index.definition(name, unit.file.path, unit.file.imports)
    if defined is None or defined[0] == unit.file.path or defined[1].kind == "class":
        return None
    file = repo.file(defined[0])
    return None if file is None else file.unit(defined[1].name)
