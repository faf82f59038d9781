"""Stretches of statements that stand several times in one file, equal but for the names of variables."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

from reviewbot.source.shape import own_body, words_of
from reviewbot.source.units import once, walked

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST = 24  # statements of one idiom


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
    blocks = [
        (unit, body)
        for unit in file.units
        if unit.is_function and unit.facts.size >= nodes
        for body in _bodies(unit)
        if len(body) >= least
    ]
    words = _Words()
    # What is told cheaply first: the like of most statements stands nowhere else.
    for told in (_outline, words.blank):
        blocks = list(_runs(blocks, _alike(_told(blocks, told), least, times), least))
    known = _told(blocks, words.blank)
    taken: set[int] = set()
    out = []
    longest = max((len(body) for _, body in blocks), default=0)
    for size in range(min(LONGEST, longest), least - 1, -1):
        groups: dict[tuple[str, ...], list[Stretch]] = {}
        for unit, part in _alike(known, size, times):
            weight = sum(words.nodes(one) for one in part)
            if weight < nodes or any(id(one) in taken for one in part):
                continue
            whole = len(own_body(unit.tree)) == size and part[0] in unit.tree.body  # type: ignore[arg-type]
            made = Stretch(unit, tuple(part), weight, whole)
            groups.setdefault(_exact(unit, part, words), []).append(made)
        for group in groups.values():
            apart = _apart(group, taken)
            if len({one.unit.name for one in apart}) >= times:
                out.append(apart)
                taken.update(id(below) for one in apart for top in one.statements for below in walked(top))
    return out


@dataclass(frozen=True, slots=True)
class Shorter:
    """What one function in the place of a stretch would take and give: names of variables, in order."""

    takes: tuple[str, ...]
    gives: tuple[str, ...]


def shorter(stretch: Stretch) -> Shorter | None:
    """The function that could stand for a stretch; None where it leaves the stretch by another way than its
    end, or waits in it."""
    below = [node for statement in stretch.statements for node in walked(statement)]
    if any(isinstance(node, _LEAVES) for node in below):
        return None
    inner = {
        name.id
        for node in below
        if isinstance(node, ast.comprehension)
        for name in walked(node.target)
        if isinstance(name, ast.Name)
    }
    inner |= {node.arg for node in below if isinstance(node, ast.arg)}
    own = _own_names(stretch.unit) - inner
    names = [node for node in below if isinstance(node, ast.Name) and node.id in own]
    names.sort(key=lambda node: (node.lineno, isinstance(node.ctx, ast.Store), node.col_offset))
    made: dict[str, None] = {}
    takes: dict[str, None] = {}
    for name in names:
        if not isinstance(name.ctx, ast.Load):
            made[name.id] = None
        elif name.id not in made:
            takes[name.id] = None
    later = {
        node.id
        for node in walked(stretch.unit.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno > stretch.end_line
    }
    return Shorter(tuple(takes), tuple(name for name in made if name in later))


_Block = tuple["Unit", list[ast.stmt]]


class _Words:
    """The words of statements, each worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, list[str | tuple[str]], int]] = {}

    def of(self, statement: ast.stmt) -> tuple[str, list[str | tuple[str]], int]:
        """A statement's text without the names of variables, its words, and the number of its nodes."""
        found = self._known.get(id(statement))
        if found is None:
            words, _, nodes = words_of([statement])
            blank = "\0".join(["" if isinstance(word, tuple) else word for word in words])
            found = self._known[id(statement)] = blank, words, nodes
        return found

    def blank(self, statement: ast.stmt) -> str:
        """A statement's text without the names of variables."""
        return self.of(statement)[0]

    def nodes(self, statement: ast.stmt) -> int:
        """The number of its nodes."""
        return self.of(statement)[2]


def _told(blocks: list[_Block], told: Callable[[ast.stmt], object]) -> list[tuple[_Block, list[int]]]:
    """Blocks with what is told of each of their statements, as numbers: stretches of these are told apart
    faster."""
    numbers: dict[object, int] = {}
    return [(block, [numbers.setdefault(told(one), len(numbers)) for one in block[1]]) for block in blocks]


def _alike(known: list[tuple[_Block, list[int]]], size: int, times: int) -> Iterator[_Block]:
    """The stretches of that many statements that are, by what is told of each, at least `times` there."""
    long = [(block, words) for block, words in known if len(words) >= size]
    counts = Counter(chain.from_iterable(words for _, words in long))
    often = {number for number, count in counts.items() if count >= times}
    places: list[tuple[Unit, list[ast.stmt], int, tuple[int, ...]]] = []
    for (unit, body), words in long:
        run = 0  # how many statements up to here are all there often enough
        for end, number in enumerate(words, 1):
            run = run + 1 if number in often else 0
            if run >= size:
                places.append((unit, body, end - size, tuple(words[end - size : end])))
    count = Counter(key for *_, key in places)
    return ((unit, body[start : start + size]) for unit, body, start, key in places if count[key] >= times)


def _runs(blocks: list[_Block], stretches: Iterable[_Block], least: int) -> Iterator[_Block]:
    """The longest runs of at least `least` statements of each block that stand in the stretches."""
    inside = {id(statement) for _, part in stretches for statement in part}
    for unit, body in blocks:
        for stays, run in groupby(body, lambda statement: id(statement) in inside):
            if stays and len(kept := list(run)) >= least:
                yield unit, kept


def _outline(statement: ast.stmt) -> tuple[object, ...]:
    """What statements share that are equal but for names, and most others do not: cheap to tell."""
    kind = type(statement)
    if kind is ast.Expr or kind is ast.Assign or kind is ast.Return:
        value = statement.value  # type: ignore[attr-defined]
        if type(value) is not ast.Call:
            return kind, value and _mark(value)
        function = value.func
        named = function.attr if type(function) is ast.Attribute else None
        return kind, named, len(value.keywords), *[_mark(arg) for arg in value.args]
    if kind is ast.Assert:
        test = statement.test  # type: ignore[attr-defined]
        if type(test) is ast.Compare:
            return kind, _mark(test.left), *map(_mark, test.comparators)
        return kind, _mark(test)
    body = getattr(statement, "body", None)
    if not body:
        return (kind,)
    head: object = None
    if kind is ast.With:
        head = _mark(statement.items[0].context_expr)  # type: ignore[attr-defined]
    elif kind is ast.For:
        head = _mark(statement.iter)  # type: ignore[attr-defined]
    elif kind is ast.FunctionDef or kind is ast.ClassDef:
        head = statement.name  # type: ignore[attr-defined]
    return kind, len(body), head, _outline(body[0]), _outline(body[-1])


def _mark(node: ast.expr) -> object:
    """What an expression shares with those that are equal but for names."""
    kind = type(node)
    if kind is ast.Constant:
        return node.value  # type: ignore[attr-defined]
    if kind is ast.Attribute:
        return node.attr  # type: ignore[attr-defined]
    if kind is ast.Call:
        function = node.func  # type: ignore[attr-defined]
        named = function.attr if type(function) is ast.Attribute else type(function)
        return named, len(node.args)  # type: ignore[attr-defined]
    if kind is ast.List or kind is ast.Tuple or kind is ast.Set:
        return kind, len(node.elts)  # type: ignore[attr-defined]
    if kind is ast.BinOp:
        return type(node.op)  # type: ignore[attr-defined]
    return type(node.ops[0]) if kind is ast.Compare else kind  # type: ignore[attr-defined]


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


def _bodies(unit: Unit) -> Iterator[list[ast.stmt]]:
    """The blocks of a function, its docstring and the functions in it left out."""
    tree = unit.tree
    stack: list[list[ast.stmt]] = [own_body(tree)] if isinstance(tree, _FUNCTIONS) else []
    if _BLOCKS.isdisjoint(unit.facts.kinds):
        yield from stack
        return
    while stack:
        body = stack.pop()
        yield body
        for statement in body:
            if type(statement) in _BLOCKS:
                for field in ("body", "orelse", "finalbody"):
                    stack.append(getattr(statement, field, []))
                stack.extend(handler.body for handler in getattr(statement, "handlers", []))


_BLOCKS: frozenset[type[ast.AST]] = frozenset({
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar),
})  # fmt: skip


def _exact(unit: Unit, part: list[ast.stmt], known: _Words) -> tuple[str, ...]:
    """The words of a stretch, with the names of the function's own variables numbered in their order."""
    own = _own_names(unit)
    numbers: dict[str, int] = {}
    return tuple(
        (f"${numbers.setdefault(word[0], len(numbers))}" if word[0] in own else word[0])
        if isinstance(word, tuple)
        else word
        for statement in part
        for word in known.of(statement)[1]
    )


@once
def _own_names(unit: Unit) -> frozenset[str]:
    return frozenset(unit.facts.stored).union(node.arg for node in unit.asts(ast.arg))
