"""What the nodes of an `ast` hold: all fields of a class that matter to a walk, read in one step."""

from __future__ import annotations

import ast
from collections.abc import Callable
from operator import attrgetter
from typing import Any


class Held(dict[type, Callable[[Any], tuple[Any, ...]]]):
    """What reads a node's fields, without those left out, worked out for a class at the first look: nodes,
    lists of nodes, None, and plain values.

    `last_first` reads them in the order in which a stack wants them.
    """

    def __init__(self, left_out: frozenset[str], *, last_first: bool = False) -> None:
        self._left_out, self._last_first = left_out, last_first

    def __missing__(self, kind: type[ast.AST]) -> Callable[[Any], tuple[Any, ...]]:
        fields = [name for name in kind._fields if name not in self._left_out]
        if self._last_first:
            fields.reverse()
        if len(fields) == 1:
            # `attrgetter` of one name gives no tuple.
            one = attrgetter(*fields)
            self[kind] = lambda node: (one(node),)
        else:
            self[kind] = attrgetter(*fields) if fields else lambda _: ()
        return self[kind]
