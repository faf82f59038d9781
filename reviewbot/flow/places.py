"""Things that belong to nodes of a unit, by where those nodes stand: which of them lie under another node."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import libcst as cst

    from reviewbot.source.units import Unit

_Thing = TypeVar("_Thing")


class Places(Generic[_Thing]):
    """Things of a unit, each at a node. To ask what lies under one costs what is found, not what there is."""

    def __init__(
        self, unit: Unit, things: Iterable[_Thing], node_of: Callable[[_Thing], cst.CSTNode]
    ) -> None:
        self._index = unit.index
        placed = [
            (self._index.rank(node), order, thing)
            for order, thing in enumerate(things)
            if (node := node_of(thing)) in self._index
        ]
        placed.sort(key=lambda one: one[:2])
        self._ranks = [rank for rank, _, _ in placed]
        self._placed = [(order, thing) for _, order, thing in placed]

    def under(self, node: cst.CSTNode) -> list[_Thing]:
        """What stands at a node or under it, in the order in which it was given."""
        if node not in self._index:
            return []
        first, end = self._index.reach(node)
        found = self._placed[bisect_left(self._ranks, first) : bisect_left(self._ranks, end)]
        return [thing for _, thing in sorted(found, key=lambda one: one[0])]
