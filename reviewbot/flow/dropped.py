"""What is lost with a branch that leads around a check: comparisons that nothing else makes, and what
it notes for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.judgements import Judgement, compared_in, records
from reviewbot.flow.left_out import fields_of, kept_by, short
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import every_judgement

if TYPE_CHECKING:
    from reviewbot.flow.detours import Detour
    from reviewbot.source.units import Unit

_SHOW = frozenset({"print", "warn", "info", "debug", "log", "echo", "secho", "warning"})


def lost_with(unit: Unit, detour: Detour) -> str | None:
    """What goes when the branch of a detour is deleted, as a clause; None where all it does is to lead around
    the check."""
    inside = {id(below) for below in walk(detour.node)}
    reached = [one for one in every_judgement(unit) if id(one.node) not in inside]
    for one in (*_asked(unit, detour), *kept_by(unit, detour)):
        if not _is_compared(unit, one, reached):
            left, right = short(canonical(one.left)), short(canonical(one.right))
            return f"without the branch nothing compares `{left}` with `{right}`"
    noted = sorted(_noted(unit, detour, inside))
    if noted:
        return f"what the branch notes in `{noted[0]}` is read further on"
    called = next(_called(unit, detour), None)
    return f"the branch itself calls `{called}`" if called else None


def _asked(unit: Unit, detour: Detour) -> Iterator[Judgement]:
    """The pairs of values that the condition itself compares. What opens it from elsewhere stays there."""
    condition = values(unit).resolve(detour.condition)
    for one in compared_in(unit, detour.node, condition):
        if all(values(unit).reads(side) for side in (one.left, one.right)):
            yield one


def _is_compared(unit: Unit, one: Judgement, reached: list[Judgement]) -> bool:
    """Whether another judgement compares the same two values, what they are read from, or the same fields."""
    left, right = _spellings(unit, one.left), _spellings(unit, one.right)
    fields: set[str] = set()
    for other in reached:
        mine, theirs = canonical(other.left), canonical(other.right)
        if (mine in left and theirs in right) or (mine in right and theirs in left):
            return True
        fields.update(fields_of(unit, other))
    wanted = fields_of(unit, one)
    return bool(wanted) and fields.issuperset(wanted)


def _spellings(unit: Unit, node: cst.BaseExpression) -> set[str]:
    """The code of a value and of all that it is read from, through names that were given to them."""
    found: set[str] = set()
    flow = values(unit)
    nodes: list[cst.CSTNode] = [node]
    nodes += [b.value for b in flow.slice(node, mutations=False) if b.value is not None]
    for below in (below for one in nodes for below in walk(one)):
        if isinstance(below, cst.BaseExpression):
            found.add(canonical(below))
    return found


def _noted(unit: Unit, detour: Detour, inside: set[int]) -> Iterator[str]:
    """The names that the branch changes and that something outside of it reads: here, or where the caller
    looks at what was handed in."""
    flow = values(unit)
    changed = frozenset().union(*(records(unit, statement) for statement in detour.body))
    read = {name.value for name in flow.reads(unit.node) if id(name) not in inside}
    given = {binding.name for binding in flow.all if binding.kind == "parameter"}
    yield from changed & (read | given | {"self", "cls"})


def _called(unit: Unit, detour: Detour) -> Iterator[str]:
    """What the branch calls for its effect, other than to say something."""
    for statement in detour.body:
        for below in walk(statement):
            if type(below) is cst.Expr:
                call = below.value.expression if isinstance(below.value, cst.Await) else below.value
                if isinstance(call, cst.Call) and last_name(call) not in _SHOW:
                    yield short(canonical(call.func))
                elif isinstance(call, cst.Yield):
                    yield "yield"
