"""Fields of a result that only tests looked at which a change deletes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.demands import Demand, demands
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Unlooked:
    """A function outside of tests, as (path, line, name). `keys` of its results were compared by `tests` that
    are gone, as (test, line, last line), and are by none any more, although its file still has them."""

    function: tuple[str, int, str]
    keys: tuple[str, ...]
    tests: tuple[tuple[str, int, int], ...]


def unlooked(
    old: File, new: File | None, repo: Repo, base: Repo, paired: frozenset[str]
) -> Iterator[Unlooked]:
    """What the deleted tests of a file compared of results, and no other test does. `paired` are the tests
    that only go by another name now."""
    names = {unit.name for unit in new.units} if new is not None else frozenset()
    gone = [unit for unit in old.units if unit.is_test and unit.name not in names | paired]
    seen: dict[str, dict[str, list[Unit]]] = {}
    for test in gone:
        for function, key in _compared(test, old.imports):
            seen.setdefault(function, {}).setdefault(key, []).append(test)
    for function, keys in seen.items():
        was = base.index.definition(function, old.path, old.imports)
        if was is None or was[1].kind == "class" or in_test_file(was[0]):
            continue
        now = [one for path, one in repo.index.definitions(was[1].name) if path == was[0]]
        content = repo.read(was[0]) or b""
        left = [key for key in keys if key.encode() in content] if now else []
        looked = _looked(was[1].name, was[0], repo) if left else None
        lost = [key for key in left if looked is not None and key not in looked]
        if lost:
            tests = dict.fromkeys(test for key in lost for test in keys[key])
            yield Unlooked(
                (was[0], now[0].line, was[1].name),
                tuple(lost),
                tuple((test.name, test.line, test.end_line) for test in tests),
            )


def _compared(test: Unit, imports: object) -> Iterator[tuple[str, str]]:
    """The functions that a test calls, each with a key or attribute of its result that the test demands
    something of."""
    results = {
        name: function
        for name, function in _results(test.tree.body)
        if function.partition(".")[0] in imports  # type: ignore[operator]
    }
    wanted = [one for one in demands(test.tree.body) if one.relation != "raises"]
    read = {name for one in wanted for name in one.names}
    nodes: list[ast.AST] = [one.node for one in wanted]
    called = {id(call.func) for call in test.asts(ast.Call)}
    # What was taken out of a result first and is compared then.
    nodes += [node.value for node in test.asts(ast.Assign) if _target(node) in read]
    for node in (below for one in nodes for below in ast.walk(one)):
        key = _key(node)
        if key is not None and key[0] in results and id(node) not in called:
            yield results[key[0]], key[1]


def _results(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Each name that is given what a call returns, and the name of what is called."""
    for node in (below for one in body for below in ast.walk(one)):
        if isinstance(node, ast.Assign):
            value = node.value.value if isinstance(node.value, ast.Await) else node.value
            if isinstance(value, ast.Call) and dotted_name(value.func) and _target(node):
                yield _target(node), dotted_name(value.func)


def _target(node: ast.Assign) -> str:
    target = node.targets[0]
    return target.id if len(node.targets) == 1 and isinstance(target, ast.Name) else ""


def _key(node: ast.AST) -> tuple[str, str] | None:
    """The name and the key of `name["key"]`, `name.key`."""
    if not isinstance(node, (ast.Subscript, ast.Attribute)) or not isinstance(node.value, ast.Name):
        return None
    if isinstance(node, ast.Attribute):
        return node.value.id, node.attr
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return (node.value.id, key) if isinstance(key, str) else None


def _looked(function: str, path: str, repo: Repo) -> frozenset[str] | None:
    """The keys and attributes that tests look at that call a function; None where none calls it, or where one
    compares what it returns as a whole or hands it on."""
    defined = [one for at, one in repo.index.definitions(function) if at == path]
    found: set[str] = set()
    calls = [(at, call.caller) for at, call in repo.index.callers(path, defined[0])] if defined else []
    calls = [(at, caller) for at, caller in calls if in_test_file(at)]
    if not calls:
        return None
    for at in sorted({at for at, _ in calls}):
        file = repo.file(at)
        if file is None:
            return None
        for unit in (one for one in file.units if one.is_function):
            keys = _looks(unit, function.rpartition(".")[2])
            if keys is None:
                return None
            found |= keys
    return frozenset(found)


def _looks(unit: Unit, function: str) -> set[str] | None:
    wanted = demands(unit.tree.body)
    results = {name for name, called in _results(unit.tree.body) if called.rpartition(".")[2] == function}
    if any(_is_whole(one, results, function) for one in wanted) or _hands_on(unit, results):
        return None
    nodes: list[ast.AST] = [one.node for one in wanted]
    nodes += [loop.iter for loop in unit.asts(ast.For)] + list(unit.tree.decorator_list)  # type: ignore[union-attr]
    read = {name for one in wanted for name in one.names}
    nodes += [node.value for node in unit.asts(ast.Assign) if _target(node) in read]
    found: set[str] = set()
    for node in (below for one in nodes for below in ast.walk(one)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def _is_whole(demand: Demand, results: set[str], function: str) -> bool:
    """Whether a demand compares a result as a whole."""
    sides = (demand.subject, demand.other)
    return demand.relation in ("equal", "close", "helper") and any(
        side in results or side.partition("(")[0].rpartition(".")[2] == function for side in sides
    )


def _hands_on(unit: Unit, results: set[str]) -> bool:
    """Whether a result goes into a call, a loop, or out of the function, where more may be looked at."""
    for call in unit.asts(ast.Call):
        given = [*call.args, *(one.value for one in call.keywords)]
        if any(isinstance(one, ast.Name) and one.id in results for one in given):
            name = dotted_name(call.func).rpartition(".")[2]
            if name not in ("len", "isinstance", "type", "print") or asserts_by_name(name):
                return name not in ("assertIsNone", "assertIsNotNone", "assertIsInstance", "assertTrue")
    loops = [loop.iter for loop in unit.asts(ast.For)]
    return any(
        isinstance(one, ast.Name) and one.id in results
        for one in [*loops, *(node.value for node in unit.asts(ast.Return) if node.value is not None)]
    )
