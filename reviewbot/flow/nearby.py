"""What else in the same unit looks at the values of a check: what would still catch a fault without it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, checks
from reviewbot.flow.values import UNBOUND, Binding, Values, values
from reviewbot.source.tree import walk

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_SHOWN = 3
_WIDTH = 70
_RECEIVERS = frozenset({"self", "cls"})


def still_catches(unit: Unit, *nodes: cst.CSTNode, but: Iterable[cst.CSTNode] = ()) -> tuple[str, ...]:
    """The other checks of `unit` that read what `nodes` read, as clauses; one that begins with `nothing`
    where there is none.

    A check reads the same if the same binding of a local name reaches both, or if both call or read the
    same global name. Checks in `but`, and those that overlap `nodes`, do not count.
    """
    apart = {id(below) for node in (*nodes, *but) for below in walk(node)}
    flow = values(unit)
    wanted = _read(unit, flow, nodes)
    found = []
    for check in checks(unit):
        if id(check.node) in apart or any(id(above) in apart for above in unit.ancestors(check.node)):
            continue
        decides = _decides(check)
        if any(below in nodes for node in decides for below in walk(node)):
            continue
        shared = sorted({_name(key) for key in wanted & _read(unit, flow, decides)})
        if shared:
            found.append((check, shared))
    where = f"`{unit.name}`" if unit.name else "this module"
    if not found:
        names = sorted({_name(key) for key in wanted})
        about = " or ".join(f"`{name}`" for name in names[:_SHOWN])
        return (f"nothing: no other check in {where} looks at {about or 'these values'}",)
    clauses = [
        f"line {unit.span(check.node).line} checks `{shared[0]}`: `{_short(unit, check)}`"
        for check, shared in found[:_SHOWN]
    ]
    if len(found) > _SHOWN:
        clauses.append(f"{len(found) - _SHOWN} more checks in {where}")
    return tuple(clauses)


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
