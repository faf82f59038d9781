"""What else in the same unit looks at the values of a check: what would still catch a fault without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, checks
from reviewbot.flow.reached import Reached, swallowed
from reviewbot.flow.values import UNBOUND, Binding, Values, values
from reviewbot.source.tree import walk
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_SHOWN = 3
_WIDTH = 70
_RECEIVERS = frozenset({"self", "cls"})


def still_catches(
    unit: Unit,
    *nodes: cst.CSTNode,
    but: Iterable[cst.CSTNode] = (),
    cut: Iterable[cst.CSTNode] = (),
    ends: Iterable[cst.CSTNode] = (),
    blind: Callable[[Unit, Check], bool] | None = None,
) -> tuple[str, ...]:
    """The other checks of `unit` that read what `nodes` read, as clauses; one that begins with `nothing`
    where there is none.

    A check reads the same if the same binding of a local name reaches both, or if both call or read the
    same global name. Checks in `but`, and those that overlap `nodes`, do not count; nor do those whose
    failure is swallowed, that are not reached where the fault occurs (those in `cut`, and those behind
    `ends`, the statements with which it then leaves), and that are `blind` to it.
    """
    looking = _looking(unit)
    wanted = _read(unit, values(unit), nodes)
    apart = {id(below) for node in (*nodes, *but) for below in walk(node)}
    # A check whose condition holds one of the nodes overlaps them too.
    around = {id(above) for node in nodes for above in (node, *unit.ancestors(node))}
    others = set().union(*(looking.by_key.get(key, ()) for key in wanted))
    others.difference_update(*(looking.by_node.get(one, ()) for one in apart))
    others.difference_update(*(looking.by_condition.get(one, ()) for one in around))
    kept = _seeing(
        unit, nodes, others, {id(below) for node in cut for below in walk(node)}, tuple(ends), blind
    )
    found = [(looking.checks[at], wanted & looking.reads[at]) for at in nsmallest(_SHOWN, kept)]
    where = f"`{unit.name}`" if unit.name else "this module"
    if not found:
        # Values rather than the functions that made them, where there are any.
        local = {_name(key) for key in wanted if not isinstance(key, str)}
        names = sorted(local or {_name(key) for key in wanted})
        about = " or ".join(f"`{name}`" for name in names[:_SHOWN])
        about = about or "these values"
        if others:
            return (f"nothing: no other check in {where} that looks at {about} fails over this",)
        return (f"nothing: no other check in {where} looks at {about}",)
    clauses = [
        f"line {unit.span(check.node).line} checks `{min(map(_name, shared))}`: `{_short(unit, check)}`"
        for check, shared in found
    ]
    if len(kept) > _SHOWN:
        clauses.append(f"{len(kept) - _SHOWN} more checks in {where}")
    return tuple(clauses)


def _seeing(
    unit: Unit,
    nodes: tuple[cst.CSTNode, ...],
    places: set[int],
    cut: set[int],
    ends: tuple[cst.CSTNode, ...],
    blind: Callable[[Unit, Check], bool] | None,
) -> set[int]:
    """Those of the checks, by their places, that a fault at `nodes` can fail."""
    if not places:
        return places
    every, lost = _looking(unit).checks, swallowed(unit) | cut
    reached = [Reached(unit, node, ends) for node in nodes]
    return {
        at
        for at in places
        if id(every[at].node) not in lost
        and (not reached or any(every[at].anchor in one for one in reached))
        and (blind is None or not blind(unit, every[at]))
    }


@dataclass(frozen=True, slots=True)
class _Looking:
    """The checks of a unit and what each of them reads, with their places by what they read, by their own
    node and by their condition (nodes by identity)."""

    checks: list[Check]
    reads: list[set[Binding | str]]
    by_key: dict[Binding | str, set[int]]
    by_node: dict[int, set[int]]
    by_condition: dict[int, set[int]]


@once
def _looking(unit: Unit) -> _Looking:
    flow, every = values(unit), checks(unit)
    found = _Looking(every, [_read(unit, flow, _decides(check)) for check in every], {}, {}, {})
    for at, (check, reads) in enumerate(zip(every, found.reads, strict=True)):
        found.by_node.setdefault(id(check.node), set()).add(at)
        for key in reads:
            found.by_key.setdefault(key, set()).add(at)
        for node in _decides(check):
            found.by_condition.setdefault(id(node), set()).add(at)
    return found


def _decides(check: Check) -> tuple[cst.CSTNode, ...]:
    if check.kind == "context":
        return ()
    return (check.condition,) if check.condition is not None else (check.node,)


def _read(unit: Unit, flow: Values, nodes: Iterable[cst.CSTNode]) -> set[Binding | str]:
    """Local bindings and names of globals that nodes read, without modules, builtins and `self`."""
    import builtins

    found: set[Binding | str] = set()
    for node in nodes:
        for name in flow.reads(node):
            reaching = flow.reaching(name) - {UNBOUND}
            if name.value in _RECEIVERS:
                continue
            if reaching:
                found |= reaching
            elif name.value not in unit.file.imports and not hasattr(builtins, name.value):
                found.add(name.value)
    return found


def _name(key: Binding | str) -> str:
    return key if isinstance(key, str) else key.name


def _short(unit: Unit, check: Check) -> str:
    text = " ".join(unit.text(check.node).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
