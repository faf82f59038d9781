"""What else in the same unit would still catch a fault that a check lets pass, or at least looks at its
values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, call_of, checks
from reviewbot.flow.foreign import foreign_names, summary_elsewhere
from reviewbot.flow.noticing import Fault, Notice, notice, roots_demanded, subjects_of
from reviewbot.flow.reached import Reached, swallowed
from reviewbot.flow.syntax import dotted
from reviewbot.flow.values import UNBOUND, Binding, Values, values
from reviewbot.source.tree import walk
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_SHOWN = 3
_WEAKER = 2
_OF_VALUES = ("value", "length", "keys")
_WIDTH = 70
_RECEIVERS = frozenset({"self", "cls"})


def still_catches(
    unit: Unit,
    *nodes: cst.CSTNode,
    but: Iterable[cst.CSTNode] = (),
    cut: Iterable[cst.CSTNode] = (),
    ends: Iterable[cst.CSTNode] = (),
    blind: Callable[[Unit, Check], bool] | None = None,
    fault: Fault = "value",
    repo: Repo | None = None,
) -> tuple[str, ...]:
    """The other checks of `unit` that are sure to fail over a fault in what `nodes` read, as clauses; where
    there is none, one that begins with `nothing` and says which checks see a part of it, or look at it.

    A check reads the same if the same binding of a local name reaches both, or if both call or read the
    same global name. Checks in `but`, and those that overlap `nodes`, do not count; nor do those whose
    failure is swallowed, that are not reached where the fault occurs (those in `cut`, and those behind
    `ends`, the statements with which it then leaves), that cannot fail, and that are `blind` to it.
    With `repo` a function of another file is known by what it demands of what it is given.
    """
    looking = _looking(unit)
    wanted = _read(unit, values(unit), nodes)
    apart = {id(below) for node in (*nodes, *but) for below in walk(node)}
    # A check whose condition holds one of the nodes overlaps them too.
    around = {id(above) for node in nodes for above in (node, *unit.ancestors(node))}
    others = set().union(*(looking.by_key.get(key, ()) for key in wanted))
    others.difference_update(*(looking.by_node.get(one, ()) for one in apart))
    others.difference_update(*(looking.by_condition.get(one, ()) for one in around))
    others = {at for at in others if at < looking.own or _fails_elsewhere(unit, looking.checks[at], repo)}
    gone, leaving = {id(below) for node in cut for below in walk(node)}, tuple(ends)
    strong = others & _may_fail(unit, nodes) if fault in _OF_VALUES else others

    def seen(places: Iterable[int]) -> Iterator[tuple[int, Notice]]:
        for at in _seeing(unit, nodes, places, gone, leaving, blind):
            told = notice(unit, looking.checks[at], nodes, fault, repo)
            if told != "vacuous":
                yield at, told

    notices = dict(seen(sorted(strong)))
    failing = [at for at, one in notices.items() if one == "fails"]
    where = f"`{unit.name}`" if unit.name else "this module"
    if failing:
        clauses = [_clause(unit, looking, at, wanted, "fails") for at in failing[:_SHOWN]]
        if len(failing) > _SHOWN:
            clauses.append(f"{len(failing) - _SHOWN} more checks in {where}")
        return tuple(clauses)
    # Of those that only look the first ones are told: the rest need not be asked.
    notices.update(islice(seen(sorted(others - strong)), _WEAKER))
    if notices:
        # What sees a part of it says more than what may look at anything.
        best = nsmallest(_WEAKER, notices, key=lambda at: (not isinstance(notices[at], tuple), at))
        weaker = "; ".join(_clause(unit, looking, at, wanted, notices[at]) for at in sorted(best))
        return (f"nothing in {where} for sure; {weaker}",)
    return (f"nothing else in {where}",)


def _clause(unit: Unit, looking: _Looking, at: int, wanted: set[Binding | str], how: Notice) -> str:
    check = looking.checks[at]
    line = f"line {unit.span(check.node).line}"
    if isinstance(how, tuple):
        return f"{line} only checks {' and '.join(f'`{_cut(code)}`' for code in how[:2])}"
    name = min(map(_name, wanted & looking.reads[at]))
    code = f"`{_cut(unit.text(check.node))}`"
    return f"{line} checks `{name}`: {code}" if how == "fails" else f"{line} also looks at `{name}`: {code}"


def _seeing(
    unit: Unit,
    nodes: tuple[cst.CSTNode, ...],
    places: Iterable[int],
    cut: set[int],
    ends: tuple[cst.CSTNode, ...],
    blind: Callable[[Unit, Check], bool] | None,
) -> Iterator[int]:
    """Those of the checks, by their places, that a fault at `nodes` can fail."""
    every, swallowing = _looking(unit).checks, swallowed(unit)
    reached: list[Reached] | None = None
    for at in places:
        check = every[at]
        if id(check.node) in swallowing or id(check.node) in cut:
            continue
        if reached is None:
            reached = [Reached(unit, node, ends) for node in nodes]
        if reached and not any(check.anchor in one for one in reached):
            continue
        if blind is None or not blind(unit, check):
            yield at


def _may_fail(unit: Unit, nodes: tuple[cst.CSTNode, ...]) -> set[int]:
    """The checks, by their places, that may do more than look at a fault of value in what nodes look at."""
    by_root, unknown = _by_root(unit)
    return unknown.union(*(by_root.get(one.root, ()) for one in subjects_of(unit, nodes)))


@once
def _by_root(unit: Unit) -> tuple[dict[object, set[int]], set[int]]:
    """The checks by the roots of what they hold together, and those of which that is not known."""
    found: dict[object, set[int]] = {}
    unknown: set[int] = set()
    for at, check in enumerate(_looking(unit).checks):
        roots = roots_demanded(unit, check)
        if roots is None:
            unknown.add(at)
        for root in roots or ():
            found.setdefault(root, set()).add(at)
    return found, unknown


@dataclass(frozen=True, slots=True)
class _Looking:
    """The checks of a unit and what each of them reads, with their places by what they read, by their own
    node and by their condition (nodes by identity). From `own` on they are calls of imported functions, which
    are checks if those are."""

    checks: list[Check]
    own: int
    reads: list[set[Binding | str]]
    by_key: dict[Binding | str, set[int]]
    by_node: dict[int, set[int]]
    by_condition: dict[int, set[int]]


@once
def _looking(unit: Unit) -> _Looking:
    flow, own = values(unit), checks(unit)
    every = [*own, *_handed_on(unit, own)]
    found = _Looking(every, len(own), [_read(unit, flow, _decides(check)) for check in every], {}, {}, {})
    for at, (check, reads) in enumerate(zip(every, found.reads, strict=True)):
        found.by_node.setdefault(id(check.node), set()).add(at)
        for key in reads:
            found.by_key.setdefault(key, set()).add(at)
        for node in _decides(check):
            found.by_condition.setdefault(id(node), set()).add(at)
    return found


def _handed_on(unit: Unit, own: list[Check]) -> Iterator[Check]:
    """The statements that call an imported function which does not say by its name that it checks."""
    known = {id(check.node) for check in own}
    names = foreign_names(unit.file)
    for line in unit.find(cst.Expr) if names else ():
        call = call_of(line)
        if call is None or not known.isdisjoint((id(line), id(call))):
            continue
        if dotted(call.func).partition(".")[0] in names:
            yield Check("helper", line)


def _fails_elsewhere(unit: Unit, check: Check, repo: Repo | None) -> bool:
    """Whether a function of another file of the repository is called that asserts something."""
    call = call_of(check.node)
    if repo is None or call is None:
        return False
    summary = summary_elsewhere(unit, call, repo)
    return summary is not None and summary.asserts


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


def _cut(code: str) -> str:
    text = " ".join(code.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
