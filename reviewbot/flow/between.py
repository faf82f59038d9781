"""What may run between two places of a function, and whether it could change a value on the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import last_name
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_HARMLESS = frozenset({
    "len", "sum", "print", "str", "repr", "int", "float", "bool", "round", "abs", "min", "max", "format",
    "set", "sorted", "list", "tuple", "info", "debug", "warning", "append", "join", "isinstance", "enumerate",
    "zip", "range", "items", "keys", "values", "all", "any", "frozenset", "type",
})  # fmt: skip


def between(unit: Unit, since: Iterable[cst.CSTNode], place: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes that may run after the first of `since` and before `place`; of a loop around `place` that is
    not around them too, all that is in it, for it comes round again."""
    index, starts = unit.index, list(since)
    outer = {id(above) for node in starts for above in (node, *unit.ancestors(node))}
    first = min(index.reach(node)[1] for node in starts)
    loops = [
        above
        for above in unit.ancestors(place)
        if isinstance(above, (cst.For, cst.While)) and id(above) not in outer
    ]
    last = max((index.reach(loop)[1] for loop in loops), default=index.rank(place))
    return index.order[first:last]


def is_quiet(nodes: Iterable[cst.CSTNode]) -> bool:
    """Whether these call nothing unknown and delete nothing."""
    return not any(isinstance(node, (cst.Call, cst.Del)) and not _is_harmless(node) for node in nodes)


def _is_harmless(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and is_harmless(last_name(node))


def is_harmless(name: str) -> bool:
    """Whether what is called by that last name changes nothing that it is given."""
    return name in _HARMLESS or name.startswith("assert")


def are_bound(unit: Unit, names: Iterable[str], nodes: Iterable[cst.CSTNode]) -> bool:
    """Whether any of these names is bound, or what it holds visibly changed, at one of the nodes."""
    flow, inside = values(unit), {id(node) for node in nodes}
    changes = [binding.node for name in names for binding in flow.bindings(name)]
    changes += [mutation.node for name in names for mutation in flow.mutations(name)]
    return any(id(node) in inside for node in changes)
