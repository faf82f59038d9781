"""Tests that are coroutines in a class whose runner awaits none: `unittest.TestCase` calls the method, gets a
coroutine, and counts it as passed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reviewbot.flow.collection import decorator_name
from reviewbot.flow.own_modules import own_module
from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_PLAIN = frozenset({"unittest.TestCase", "unittest.case.TestCase"})
_OBJECT = frozenset({"object", "abc.ABC"})
# What would run a test in another way.
_RUNS = frozenset({
    "run", "debug", "__call__", "__init__", "__new__", "__init_subclass__", "__getattribute__", "__getattr__",
    "_callTestMethod",
})  # fmt: skip
_DEEPEST = 8  # classes above one another


def is_never_awaited(unit: Unit, repo: Repo) -> bool:
    """Whether a method is a coroutine that its class, surely a plain `unittest.TestCase`, calls and never
    awaits. False where a decorator or a base that is not known may."""
    tree, owner = unit.tree, unit.owner
    if owner is None or not isinstance(tree, ast.AsyncFunctionDef) or not tree.name.startswith("test"):
        return False
    if owner.decorator_list or not all(map(_only_replaces, map(decorator_name, tree.decorator_list))):
        return False
    return _runs_plainly(owner, unit.file, repo, _DEEPEST) is True


def _only_replaces(decorator: str) -> bool:
    return decorator.startswith(("patch", "mock.", "unittest.mock."))


def _runs_plainly(owner: ast.ClassDef, file: File, repo: Repo, depth: int) -> bool | None:
    """True for a class that runs its tests as `unittest.TestCase` does, None for one that runs none, False
    where that is not known."""
    made = {one.name for one in owner.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}
    given = {name.id for one in owner.body if isinstance(one, ast.Assign) for name in _names(one)}
    if owner.keywords or owner.decorator_list or depth == 0 or not _RUNS.isdisjoint(made | given):
        return False
    found = [_base(base, file, repo, depth) for base in owner.bases]
    if False in found:
        return False
    return True if True in found else None


def _base(base: ast.expr, file: File, repo: Repo, depth: int) -> bool | None:
    name = dotted_name(base)
    if not name:
        return False
    if name in file.classes:
        return _runs_plainly(file.classes[name], file, repo, depth - 1)
    first, _, rest = name.partition(".")
    target = file.imports.get(first, first) + (f".{rest}" if rest else "")
    if target in _OBJECT:
        return None
    if target in _PLAIN:
        return first in file.imports
    owner, _, last = target.rpartition(".")
    path = own_module(owner, file.path, repo) if owner.strip(".") else None
    other = repo.file(path) if path is not None else None
    there = other.classes.get(last) if other is not None else None
    return _runs_plainly(there, other, repo, depth - 1) if other is not None and there is not None else False


def _names(statement: ast.Assign) -> list[ast.Name]:
    return [one for target in statement.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
