"""Tolerances that are infinite unless a caller gives them: `def check(a, b, atol=float("inf"))`.

Reads `ast` only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.demands import demands
from reviewbot.flow.patterns import pattern
from reviewbot.flow.tolerances import KEYWORDS
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_TOLERANCE = pattern(
    r"(?i)(^|_)([ar]?tol|abs_?tol|rel_?tol|tolerance|eps|epsilon|delta)(_|$)"
    r"|(^|_)(max|allowed)_(\w+_)?(diff|difference|gap|drift|deviation|delta)$"
)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, eq=False)
class InfiniteDefault:
    """A parameter whose `default` is infinite, and the one `used` as the tolerance of every check of a
    function; `position` is its place among the arguments, None where it is given by name only."""

    name: str
    default: ast.expr
    used: ast.stmt | ast.expr
    position: int | None


@once
def infinite_defaults(unit: Unit) -> tuple[InfiniteDefault, ...]:
    """The tolerances of a function that are infinite by default, if no check of it is without one."""
    given = list(_given(unit.tree)) if isinstance(unit.tree, _FUNCTION) else []
    if not given or not isinstance(unit.tree, _FUNCTION):
        return ()
    names, checked = {one.name for one in given}, demands(unit.tree.body)
    loose = [one for one in checked if names & _tolerances(one.node)]
    if not loose or len(loose) < len(checked) or _is_asked(unit, names):
        return ()
    return tuple(
        InfiniteDefault(one.name, one.default, used, one.position)
        for one in given
        if (used := next((each.node for each in loose if one.name in _tolerances(each.node)), None))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    name: str
    default: ast.expr
    position: int | None


def _given(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Given]:
    """The parameters that are tolerances by name, and infinite by default."""
    places = [*tree.args.posonlyargs, *tree.args.args]
    first = len(places) - len(tree.args.defaults)
    bound = 1 if places and places[0].arg in ("self", "cls") else 0
    for number, default in enumerate(tree.args.defaults, first):
        if _is_infinite(default) and _TOLERANCE.search(places[number].arg):
            yield _Given(places[number].arg, default, number - bound)
    for arg, value in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
        if value is not None and _is_infinite(value) and _TOLERANCE.search(arg.arg):
            yield _Given(arg.arg, value, None)


def _is_infinite(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        text = node.args[0] if len(node.args) == 1 else None
        said = text.value if isinstance(text, ast.Constant) else None
        return called_last(node) == "float" and isinstance(said, str) and said.lower() in ("inf", "infinity")
    if isinstance(node, ast.Attribute):
        return node.attr in _INFINITE and isinstance(node.value, ast.Name)
    return isinstance(node, ast.Name) and node.id == "inf"


def may_be_infinite(file: File) -> bool:
    """Whether anything in a file could be written as infinite."""
    return file.names(*_INFINITE) or file.calls("float")


_INFINITE = ("inf", "Inf", "infty")


def _tolerances(node: ast.AST) -> frozenset[str]:
    """The names that a check reads as what may differ: `atol=tol`, `gap <= tol`."""
    found: set[str] = set()
    for below in ast.walk(node):
        if isinstance(below, ast.keyword) and below.arg in KEYWORDS and isinstance(below.value, ast.Name):
            found.add(below.value.id)
        elif isinstance(below, ast.Compare) and len(below.ops) == 1:
            sides = (below.left, below.comparators[0])
            ordered = isinstance(below.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
            found.update(side.id for side in sides if ordered and isinstance(side, ast.Name))
    return frozenset(found)


def _is_asked(unit: Unit, names: set[str]) -> bool:
    """Whether the function sets one of them, or asks whether it was given."""
    if not names.isdisjoint(unit.facts.stored):
        return True
    return any(
        isinstance(below, ast.Name) and below.id in names
        for node in unit.asts(ast.Call)
        if called_last(node) in ("isinf", "isfinite")
        for below in ast.walk(node)
    )


def without(unit: Unit, one: InfiniteDefault, repo: Repo) -> tuple[str, ast.Call] | None:
    """A call of the function that leaves a tolerance as it is, with its file."""
    last = unit.name.rpartition(".")[2]
    files = [unit.file]
    for path, definition in repo.index.definitions(last):
        if path == unit.file.path:
            paths = {at for at, _ in repo.index.callers(path, definition)} - {path}
            files += [file for at in sorted(paths) if (file := repo.file(at)) is not None]
    for file in files:
        for call in file.asts(ast.Call):
            if called_last(call) == last and not _gives(call, one):
                return file.path, call
    return None


def _gives(call: ast.Call, one: InfiniteDefault) -> bool:
    starred = any(isinstance(arg, ast.Starred) for arg in call.args)
    by_name = any(word.arg in (one.name, None) for word in call.keywords)
    return starred or by_name or (one.position is not None and len(call.args) > one.position)
