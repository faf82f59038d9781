"""Stretches of statements that stand several times in one file, equal but for the names of variables."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from reviewbot.source.shape import own_body, words_of
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST = 12  # statements of one idiom


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Consecutive statements of a function. `nodes` counts what they are made of; `whole`: they are all that
    the function consists of."""

    unit: Unit
    statements: tuple[ast.stmt, ...]
    nodes: int
    whole: bool

    @property
    def line(self) -> int:
        """Its first line."""
        return self.statements[0].lineno

    @property
    def end_line(self) -> int:
        """Its last line."""
        return self.statements[-1].end_lineno or self.statements[-1].lineno


def repeated(file: File, least: int, nodes: int, times: int) -> list[list[Stretch]]:
    """Groups of stretches of at least `least` statements and `nodes` nodes that stand in at least `times`
    functions, the longest first; no statement is in two groups."""
    blocks = [(unit, body) for unit in file.units if unit.is_function for body in _bodies(unit.tree)]
    outlines = Counter(_outline(statement) for _, body in blocks for statement in body)
    known = {
        id(statement): _blank(statement)
        for _, body in blocks
        for statement in body
        if outlines[_outline(statement)] >= times
    }
    count = Counter(blank for blank, _ in known.values())
    common = {place for place, (blank, _) in known.items() if count[blank] >= times}
    blocks = [(unit, run) for unit, body in blocks for run in _runs(body, common) if len(run) >= least]
    taken: set[int] = set()
    out = []
    longest = max((len(body) for _, body in blocks), default=0)
    for size in range(min(LONGEST, longest), least - 1, -1):
        groups: dict[tuple[str, ...], list[Stretch]] = {}
        for unit, body in blocks:
            for start in range(len(body) - size + 1):
                part = body[start : start + size]
                weight = sum(known[id(one)][1] for one in part)
                if weight < nodes or any(id(one) in taken for one in part):
                    continue
                whole = len(own_body(unit.tree)) == size and part[0] in unit.tree.body  # type: ignore[arg-type]
                made = Stretch(unit, tuple(part), weight, whole)
                groups.setdefault(_exact(unit, part), []).append(made)
        for group in groups.values():
            apart = _apart(group, taken)
            if len({one.unit.name for one in apart}) >= times:
                out.append(apart)
                taken.update(id(below) for one in apart for top in one.statements for below in ast.walk(top))
    return out


def _runs(body: list[ast.stmt], common: set[int]) -> Iterator[list[ast.stmt]]:
    """The longest stretches of a block that consist of statements in `common` alone."""
    for is_common, run in groupby(body, lambda statement: id(statement) in common):
        if is_common:
            yield list(run)


def _outline(statement: ast.stmt) -> tuple[object, ...]:
    """What statements share that are equal but for names, and most others do not: cheap to tell."""
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call):
        return (type(statement), type(value))
    called = value.func.attr if isinstance(value.func, ast.Attribute) else ""
    return (type(statement), type(value.func), called, len(value.args), len(value.keywords))


def _apart(group: list[Stretch], taken: set[int]) -> list[Stretch]:
    """Those of a group that share no statement."""
    seen: set[int] = set(taken)
    out = []
    for stretch in group:
        ids = {id(statement) for statement in stretch.statements}
        if not ids & seen:
            seen |= ids
            out.append(stretch)
    return out


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a function, its docstring and the functions in it left out."""
    stack: list[list[ast.stmt]] = [own_body(tree)] if isinstance(tree, _FUNCTIONS) else []
    while stack:
        body = stack.pop()
        yield body
        for statement in body:
            if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
                continue
            for field in ("body", "orelse", "finalbody"):
                stack.append(getattr(statement, field, []))
            stack.extend(handler.body for handler in getattr(statement, "handlers", []))


def _blank(statement: ast.stmt) -> tuple[str, int]:
    """A digest of a statement with all its variables' names left out, and the number of its nodes."""
    words, _, nodes = words_of([statement])
    text = "\0".join("" if isinstance(word, tuple) else word for word in words)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(), nodes


def _exact(unit: Unit, part: list[ast.stmt]) -> tuple[str, ...]:
    """The words of a stretch, with the names of the function's own variables numbered in their order."""
    own = _own_names(unit)
    numbers: dict[str, int] = {}
    words, _, _ = words_of(part)
    return tuple(
        (f"${numbers.setdefault(word[0], len(numbers))}" if word[0] in own else word[0])
        if isinstance(word, tuple)
        else word
        for word in words
    )


@once
def _own_names(unit: Unit) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return frozenset(found)
