"""A walk over LibCST nodes that leaves out white space and punctuation.

Visiting through LibCST's own visitors costs as much as parsing; a table of the fields that can hold
meaning, made once from the node classes themselves, makes the walk cheap.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

import libcst as cst

_TRIVIA = frozenset({
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Comment,
    cst.Newline,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
    cst.Comma,
    cst.Semicolon,
    cst.Colon,
    cst.Dot,
    cst.AssignEqual,
})  # fmt: skip


def _classes(annotation: object, names: Mapping[str, object]) -> Iterator[type]:
    """The classes that an annotation names; `names` are those of its module."""
    if isinstance(annotation, type):
        yield annotation
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        for word in _WORD.findall(annotation):
            yield from _classes(names.get(word), names)
        return
    for argument in typing.get_args(annotation):
        yield from _classes(argument, names)


_WORD = re.compile(r"\w+")


@cache
def _has_meaning(kind: type) -> bool:
    # Asked of abstract classes `issubclass` takes longer than all else.
    return cst.CSTNode in kind.__mro__ and _TRIVIA.isdisjoint(kind.__mro__)


@cache
def child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node class that can hold nodes with meaning, in source order."""
    # `typing.get_type_hints` compiles and copies each: that takes ten times as long.
    where: dict[str, Mapping[str, object]] = {}
    for base in reversed(kind.__mro__):
        where |= dict.fromkeys(vars(base).get("__annotations__", ()), vars(sys.modules[base.__module__]))
    names = [
        field.name
        for field in dataclasses.fields(kind)
        if any(_has_meaning(held) for held in _classes(field.type, where[field.name]))
    ]
    if kind in (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp) or "lpar" in names:
        names = [name for name in names if name not in ("lpar", "rpar")]
    return tuple(names)


class _Held(dict[type, "Callable[[Any], tuple[Any, ...]] | None"]):
    """What reads all fields of a node that can hold nodes with meaning; None for a class that has none."""

    def __missing__(self, kind: type[cst.CSTNode]) -> Callable[[Any], tuple[Any, ...]] | None:
        fields = child_fields(kind)
        if len(fields) == 1:
            (field,) = fields
            # `attrgetter` of one name gives no tuple.
            one = attrgetter(field)
            self[kind] = lambda node: (one(node),)
        else:
            self[kind] = attrgetter(*fields) if fields else None
        return self[kind]


class _Kinds(dict[type, bool]):
    """Which classes are those of nodes. `isinstance` over an abstract class takes longer than all else."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = found = cst.CSTNode in kind.__mro__
        return found


_HELD = _Held()
_IS_NODE = _Kinds()


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The child nodes that carry meaning, in source order."""
    found: list[cst.CSTNode] = []
    held = _HELD[type(node)]
    if held is not None:
        for value in held(node):
            kind = type(value)
            if kind is tuple or kind is list:
                found += value
            elif _IS_NODE[kind]:
                found.append(value)
    return found


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`node` and every node under it that carries meaning, each before its children, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        held = _HELD[type(current)]
        if held is not None:
            # As `children`, without a call for each node, and the last one first.
            for value in reversed(held(current)):
                kind = type(value)
                if kind is tuple or kind is list:
                    stack += value[::-1]
                elif _IS_NODE[kind]:
                    stack.append(value)


_DEFINITIONS = frozenset({cst.FunctionDef, cst.ClassDef})


class Index:
    """Every node under a root, by class, with parents; `order` has them in source order. Built in one walk.

    Without `nested`, a function or class under the root is there as a node and is not entered.
    """

    def __init__(self, root: cst.CSTNode, *, nested: bool = True) -> None:
        self.root = root
        self.order: list[cst.CSTNode] = []
        # By the identity of a node its rank, and by rank that of the node above, -1 for the root.
        self._rank: dict[int, int] = {}
        self._above: list[int] = []
        self._by_class: dict[type, list[cst.CSTNode]] = {}
        order, ranks, above, by_class = self.order, self._rank, self._above, self._by_class
        stack, under = [root], [-1]
        rank = -1
        while stack:
            current = stack.pop()
            rank += 1
            ranks[id(current)] = rank
            above.append(under.pop())
            order.append(current)
            kind = type(current)
            if kind in by_class:
                by_class[kind].append(current)
            else:
                by_class[kind] = [current]
            held = _HELD[kind]
            if held is None or (not nested and kind in _DEFINITIONS and current is not root):
                continue
            # As `children`, without a call for each node, and the last one first.
            for value in reversed(held(current)):
                holds = type(value)
                if holds is tuple or holds is list:
                    stack += value[::-1]
                    under += [rank] * len(value)
                elif _IS_NODE[holds]:
                    stack.append(value)
                    under.append(rank)

    def find(self, *kinds: type[cst.CSTNode]) -> list[cst.CSTNode]:
        """All nodes of exactly these classes, in source order."""
        every = [found for kind in kinds if (found := self._by_class.get(kind))]
        together = list(chain.from_iterable(every))
        if len(every) > 1:
            together.sort(key=self.rank)
        return together

    def rank(self, node: cst.CSTNode) -> int:
        """The node's place in source order."""
        return self._rank[id(node)]

    def reach(self, node: cst.CSTNode) -> tuple[int, int]:
        """The ranks of a node and of what stands under it: from the first up to, and without, the second."""
        rank = self._rank[id(node)]
        return rank, rank + self._sizes[rank]

    def holds(self, outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
        """Whether one node is the other or stands above it; False for nodes that are not here."""
        at, rank = self._rank.get(id(outer)), self._rank.get(id(inner))
        return at is not None and rank is not None and at <= rank < at + self._sizes[at]

    def __contains__(self, node: cst.CSTNode) -> bool:
        return id(node) in self._rank

    @cached_property
    def _sizes(self) -> list[int]:
        """For each rank how many nodes stand under that node, itself included."""
        above = self._above
        sizes = [1] * len(above)
        for rank in range(len(above) - 1, 0, -1):
            sizes[above[rank]] += sizes[rank]
        return sizes

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node above, or None for the root."""
        above = self._above[self._rank[id(node)]] if id(node) in self._rank else -1
        return None if above < 0 else self.order[above]

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above, nearest first, the root last."""
        order, ranks = self.order, self._above
        rank = self._rank.get(id(node))
        while rank and (rank := ranks[rank]) >= 0:
            yield order[rank]
