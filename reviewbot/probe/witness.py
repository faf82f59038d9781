"""A kind of change that passes, made small and described."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reviewbot.errors import ProbeError
from reviewbot.probe import shape
from reviewbot.probe.base import Base
from reviewbot.probe.changes import ODD, Change
from reviewbot.probe.evidence import Altered, Place, Strip, Witness
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Array, Plain
from reviewbot.probe.search import Passing, newly_taken, told_in_vain
from reviewbot.probe.session import Run, Session
from reviewbot.probe.shrink import Small, shrink

# What tells in the inputs how much of a row was restored, and where in the row that begins.
_RESTORED = re.compile(r"(^|_)(prefix(es)?|restored?|resumed?|saved|kept)(_|$)")
_BEGINS = re.compile(r"(^|_)(start|begin|offset|from|at)(_|$)")


def witness(session: Session, base: Base, passing: Passing, *, until: float) -> Witness:
    """The best example of a kind of change that passes, shrunk and described."""
    best = passing.best
    kept = set(passing.escapes)

    def same(before: Run, after: Run) -> bool:
        taken = {*newly_taken(session, before, after), *told_in_vain(session, before, after)}
        return not kept or kept <= taken

    small = shrink(session, base.world, passing.made, base.sides, same=same, until=until)
    if edits.apply(small.world, small.edits) is None:
        small = Small(dict(base.world), passing.made, small.calls)  # as it was tried, if not as small
    number = session.add(small.world)
    run = session.one(number, list(small.edits), watch=True)
    if not run.passes:
        raise ProbeError(f"{best.change.says} passed once and did not when run again")
    changed = tuple(altered(small.world, edit, best.change) for edit in small.edits)
    return Witness(
        why=passing.why,
        changes=changed,
        escapes=tuple(place(session, number) for number in passing.escapes),
        values=run.seen,
        caught_elsewhere=passing.caught_elsewhere,
        passed_elsewhere=passing.passed_elsewhere,
        what_if=_what_if(passing),
        input=small.world,
        source=base.source,
        calls=small.calls,
        strip=strip(session, number, small, base.sides),
        role=best.change.role,
        numbers_caught=passing.numbers_caught,
        like=passing.like,
    )


def place(session: Session, number: int) -> Place:
    """Where a check or branch stands."""
    site = session.sites[number]
    return Place(site.path, site.line, site.text, site.unit)


def altered(world: World, edit: Edit, change: Change) -> Altered:
    """One change as it shows, worked out here from the arguments and never taken from the child."""
    after = edits.apply(world, [edit])
    if edit.path != change.edit.path and edit.path[-1] != change.edit.path[-1] and type(edit.path[-1]) is str:
        change = replace(change, says=f"{edit.path[-1]} changed")
    name = shape.where(edit.path, world)
    old = _part(world, edit)
    new = None if edit.operation in ("remove", "empty") or after is None else _part(after, edit)
    if edit.operation == "double":
        new = [old, old]
    says = change.says
    position = edit.path[-1]
    moved = change.edit.path[-1]
    if type(position) is int and type(moved) is int and position != moved:
        says = says.replace(f" {moved} ", f" {position} ").replace(f"[{moved}]", f"[{position}]")
    return Altered(name, old, new, says, edit)


def _part(world: World, edit: Edit) -> Plain:
    try:
        return plain.at(dict(world), edit.path)
    except LookupError:
        return None


def _what_if(passing: Passing) -> str:
    if passing.what_if is None:
        return ""
    what = passing.what_if
    still = "still pass" if what.unchanged_passes else "no longer pass"
    return (
        f"with the branch at {what.branch.path}:{what.branch.line} off, {what.after} of {what.of} such "
        f"changes of {passing.best.change.field or 'a row'}, in all arguments, pass ({what.before} before); "
        f"unchanged arguments {still}"
    )


def strip(session: Session, number: int, small: Small, sides: Sequence[shape.Sides]) -> Strip | None:
    """The row of a witness as a strip, with the range in which the same edit passes."""
    edit = small.edits[0]
    pair = next((p for p in sides if edit.path[: len(p.other)] == p.other), None) or next(
        (p for p in sides if edit.path[: len(p.baseline)] == p.baseline), None
    )
    at = edit.path[-1]
    if pair is None or type(at) is not int or len(edit.path) < len(pair.other) + 1:
        return None
    mine = pair.other if edit.path[: len(pair.other)] == pair.other else pair.baseline
    tail = edit.path[len(mine) : -1]
    changed = edits.apply(small.world, small.edits)
    try:
        baseline = shape.numbers(plain.at(dict(small.world), (*pair.baseline, *tail)))
        before = shape.numbers(plain.at(dict(small.world), (*mine, *tail)))
        other = shape.numbers(plain.at(changed, (*pair.other, *tail))) if changed else None
        left = shape.numbers(plain.at(changed, (*pair.baseline, *tail))) if changed else None
        row = plain.at(dict(small.world), (*mine, *tail[:-1])) if tail else None
    except LookupError:
        return None
    if baseline is None or before is None or other is None or left is None or len(before) > 24 or not tail:
        return None
    mask = shape.mask_of(row) or []
    mask = mask if len(mask) == len(before) else []
    scan = [replace(edit, path=(*edit.path[:-1], index)) for index in range(len(before))]
    if edit.operation == "set" and type(edit.value) is int and edit.value in before:
        scan = [replace(one, value=ODD) for one in scan]
    runs = session.judge(number, [[one] for one in scan])
    passes = [run is not None and run.passes for run in runs]
    return Strip(
        field=str(tail[-1]),
        baseline=tuple(left),
        other=tuple(other),
        sides=(str(pair.baseline[-1]), str(pair.other[-1])),
        mask=tuple(mask),
        roles=tuple(shape.role(mask, index) for index in range(len(before))) if mask else (),
        at=at,
        let_through=_around(passes, at),
        restored=_restored(small.world, row, mask, tail),
    )


def _around(passes: Sequence[bool], at: int) -> tuple[int, int] | None:
    """The unbroken range of passing positions that holds `at`."""
    if at >= len(passes) or not passes[at]:
        return None
    start = end = at
    while start > 0 and passes[start - 1]:
        start -= 1
    while end + 1 < len(passes) and passes[end + 1]:
        end += 1
    return (start, end + 1)


def _restored(
    world: World, row: Plain, mask: Sequence[int], tail: tuple[object, ...]
) -> tuple[int, int] | None:
    """What the inputs say was restored: a prefix's start and length in the row, or its length by the row's
    number or key, counted from the start of the last trained turn."""
    told = {
        name: value
        for name, value in shape.fields(row).items()
        if _RESTORED.search(name) and type(value) is int
    }
    length = next((value for name, value in told.items() if not _BEGINS.search(name)), None)
    start = next((value for name, value in told.items() if _BEGINS.search(name)), None)
    if length is None and len(tail) == 2:
        for name, value in world.items():
            if _RESTORED.search(name) and type(value) in (dict, list):
                try:
                    found = plain.at(value, (tail[0],))
                except (LookupError, TypeError):
                    continue
                length = found if type(found) is int else length
    if start is None:
        start = next((a for a, _, one in reversed(shape.stretches(mask)) if one), None)
    return (start, start + length) if start is not None and length is not None else None


def edit_text(world: World, change: Change) -> str:
    """`token 4 changed: restored_rows[0].token_ids[4] 30 -> 77`."""
    shown = altered(world, change.edit, change)
    text = f"{change.says}: {shown.where}"
    if change.edit.operation == "set":
        text += f" {short(shown.before)} -> {short(shown.after)}"
    return text


def short(value: Plain) -> str:
    """A value in one clause."""
    text = repr(value.data if type(value) is Array else value)
    return text if len(text) <= 60 else text[:57] + "..."
