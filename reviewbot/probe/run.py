"""A whole probe: inputs, search, shrinking, evidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reviewbot.errors import ProbeError
from reviewbot.probe import shape
from reviewbot.probe.changes import ODD, Change, changes
from reviewbot.probe.evidence import Altered, Kill, Place, Result, Strip, Witness
from reviewbot.probe.harvest import Call
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Array, Plain
from reviewbot.probe.search import Passing, Search, newly_taken, search
from reviewbot.probe.session import How, Run, Session
from reviewbot.probe.shrink import Small, keep_rows, row_lists, shrink
from reviewbot.probe.target import Target

MOST_WITNESSES = 3
Progress = Callable[[str, int, int], None]

_PROTOCOLS = {
    "raises": "it raises",
    "truth": "it returns something false",
    "empty": "it returns something that is not empty",
    "first": "the first of what it returns is false",
    "value": "it returns another value than for the unchanged arguments",
}


@dataclass(frozen=True)
class Base:
    """Arguments on which the check passes, reduced; `number` names them in the session."""

    call: Call
    world: dict[str, Plain]
    number: int
    sides: tuple[shape.Sides, ...]
    source: str


def nothing(says: str, done: int, of: int) -> None:
    """A progress that shows nothing."""


def base_of(session: Session, calls: Sequence[Call]) -> Base:
    """The most telling call that passes here too. Raises ProbeError where none does, saying why."""
    ranked = sorted(
        (call for call in calls if not call.raised), key=lambda call: _value_of(call.arguments), reverse=True
    )
    if not ranked:
        raise ProbeError(_no_base(calls))
    why = ""
    for call in ranked[:8]:
        number = session.add(call.arguments)
        run = first_run(session, call, number)
        if run.passes:
            world = _reduced(session, call.arguments, number)
            if world is not call.arguments:
                number = session.add(world)
            where = f"recorded in {call.test}" if call.test else "given"
            return Base(call, world, number, shape.sides(world), where)
        why = why or f"{run.verdict}: {run.says}"
    raise ProbeError(f"no recorded call of {session.target.unit or session.target.path} passes here ({why})")


def _no_base(calls: Sequence[Call]) -> str:
    if not calls:
        return "no call with plain arguments was recorded; give inputs with --example FILE or --dump A B"
    return f"every recorded call failed ({calls[0].raised}); a passing one is needed to start from"


def _value_of(arguments: World) -> tuple[int, int]:
    """How much there is to change: sides first, then size, up to what one run should hold."""
    size = len(plain.dumps(dict(arguments)))
    equal = sum(
        plain.same(plain.at(dict(arguments), pair.baseline), plain.at(dict(arguments), pair.other))
        for pair in shape.sides(arguments)
    )
    empty = any(value in ([], {}, ()) for value in arguments.values())
    return (2 * equal - empty, min(size, 20_000))


def first_run(session: Session, call: Call, number: int) -> Run:
    """The unchanged run; reads from it how the target says no."""
    session.how = How("raises")
    start = time.monotonic()
    run = session.one(number, watch=True)
    took = time.monotonic() - start
    seconds = min(10.0, max(1.0, 30 * took))
    session.how = replace(_protocol(run), seconds=seconds)
    return session.one(number, watch=True) if run.verdict == "pass" else run


def _protocol(run: Run) -> How:
    value = run.returned
    if not run.is_plain or value is None:
        return How("raises")
    if value is True:
        return How("truth")
    if type(value) is Array and value.shape == () and value.data is True:
        return How("truth")
    if type(value) in (list, dict, tuple, set, str) and not value:
        return How("empty")
    if type(value) is tuple and value and type(value[0]) is bool and value[0]:
        return How("first")
    return How("value", value)


def _reduced(session: Session, world: dict[str, Plain], number: int) -> dict[str, Plain]:
    """One row for each structure, if the check passes on these alone and takes the same branches."""
    pairs = shape.sides(world)
    lists = row_lists(world, pairs)
    if not lists:
        return world
    rows = plain.at(world, lists[0])
    if len(rows) <= 3:
        return world
    marks = [
        any(index in value for name, value in world.items() if type(value) is dict and name != lists[0][0])
        for index in range(len(rows))
    ]
    kept = shape.representatives(rows, marks)
    smaller = keep_rows(world, pairs, kept)
    if smaller is None or len(kept) == len(rows):
        return world
    before = session.one(number)
    after = session.one(session.add(smaller))
    return smaller if after.passes and before.outcomes <= after.outcomes else world


def probe(
    target: Target,
    calls: Sequence[Call],
    *,
    seconds: float = 5.0,
    inputs: str = "",
    python: str | None = None,
    progress: Progress = nothing,
) -> Result:
    """Searches for differences that pass, from recorded or given calls. Raises ProbeError."""
    start = time.monotonic()
    module = next((call.module for call in calls if call.module), target.module)
    classes = classes_of(calls, module)
    worlds = [call.arguments for call in calls[:8]]
    with Session(target, module=module, also=classes, python=python, worlds=worlds) as session:
        base = base_of(session, calls)
        until = start + seconds
        found = look(session, base, until=until, progress=progress)
        witnesses = [
            witness(session, base, passing, until=max(until, time.monotonic() + 1.0))
            for passing in found.passing[:MOST_WITNESSES]
        ]
        return Result(
            target=target.name,
            sha256=target.sha256,
            layers=tuple(session.held.names),
            edits_tried=len(found.tried),
            passed=sum(one.run.passes for one in found.tried),
            witnesses=tuple(witnesses),
            kills=kills(session, base, found, until=max(until, time.monotonic() + 2.0)),
            not_run=_not_run(found),
            inputs=inputs or base.source,
            loaded=loaded(session),
            verdict_by=_PROTOCOLS[session.how.protocol],
            never_compared=found.never_compared,
            seconds=time.monotonic() - start,
            module=module,
        )


def look(session: Session, base: Base, *, until: float, progress: Progress = nothing) -> Search:
    """Tries every change of the sides, the other one first; of all arguments where there are no sides."""
    roots = [pair.other for pair in base.sides] + [pair.baseline for pair in base.sides]
    listed = changes(base.world, roots or [(name,) for name in base.world])
    return search(
        session,
        base.number,
        listed,
        until=until,
        progress=lambda done, of: progress("trying changes", done, of),
    )


def classes_of(calls: Sequence[Call], module: str) -> list[str]:
    """Top-level names of the target's own module of which recorded objects are made."""
    found: dict[str, None] = {}
    for call in calls[:8]:
        for _, part in shape.walk(dict(call.arguments)):
            cls = getattr(part, "cls", None)
            if type(cls) is str and cls.partition(":")[0] == module:
                found[cls.partition(":")[2].partition(".")[0]] = None
    return list(found)


def _not_run(found: Search) -> tuple[str, ...]:
    said = [] if found.complete else ["the time was up before every change was tried"]
    unknown = [one for one in found.tried if one.run.verdict == "unknown"]
    if unknown:
        said.append(f"{len(unknown)} changes have no verdict: {unknown[0].run.says}")
    late = sum(one.run.verdict == "timeout" for one in found.tried)
    if late:
        said.append(f"{late} changes made it run too long")
    return tuple(said)


def loaded(session: Session) -> str:
    """How the target came in."""
    lines, of = session.loaded.get("lines"), session.loaded.get("of")
    stubs = [str(name) for name in session.loaded.get("stubs", [])][:8]
    part = "the whole file" if session.loaded.get("whole") else f"cut out of its file: {lines} of {of} lines"
    return part + (f"; stood in for: {', '.join(stubs)}" if stubs else "")


# ---- witnesses --------------------------------------------------------------------------------------------


def witness(session: Session, base: Base, passing: Passing, *, until: float) -> Witness:
    """The best example of a kind of change that passes, shrunk and described."""
    best = passing.best
    kept = set(passing.escapes)

    def same(before: Run, after: Run) -> bool:
        return not kept or kept <= set(newly_taken(session, before, after))

    small = shrink(session, base.world, [best.change.edit], base.sides, same=same, until=until)
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
    )


def place(session: Session, number: int) -> Place:
    """Where a check or branch stands."""
    site = session.sites[number]
    return Place(site.path, site.line, site.text, site.unit)


def altered(world: World, edit: Edit, change: Change) -> Altered:
    """One change as it shows, worked out here from the arguments and never taken from the child."""
    after = edits.apply(world, [edit])
    name = shape.where(edit.path, world)
    old = _part(world, edit)
    new = None if edit.operation in ("remove", "empty") or after is None else _part(after, edit)
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
        f"changes pass ({what.before} before); unchanged arguments {still}"
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
    """What the inputs say was restored: a prefix's start and length in the row, or its length by row number,
    counted from the start of the last trained turn."""
    fields = shape.fields(row)
    length = next(
        (v for n, v in fields.items() if "prefix" in n and type(v) is int and "start" not in n), None
    )
    start = next((v for n, v in fields.items() if "prefix" in n and type(v) is int and "start" in n), None)
    if length is None and len(tail) == 2 and type(tail[0]) is int:
        for name, value in world.items():
            if "prefix" in name and type(value) in (dict, list):
                try:
                    found = plain.at(value, (tail[0],))
                except LookupError:
                    continue
                length = found if type(found) is int else length
    if start is None:
        start = next((a for a, _, one in reversed(shape.stretches(mask)) if one), None)
    return (start, start + length) if start is not None and length is not None else None


# ---- kills ------------------------------------------------------------------------------------------------


def kills(session: Session, base: Base, found: Search, *, until: float) -> tuple[Kill, ...]:
    """Every change that was noticed and all the checks that notice it, from runs in which none raises."""
    caught = found.caught
    runs = session.judge(base.number, [[one.change.edit] for one in caught], observing=True, until=until)
    out = []
    for index, one in enumerate(caught):
        run = runs[index] if index < len(runs) else None
        fired = run.fired if run is not None else one.run.fired
        places = dict.fromkeys(place(session, int(key[0])) for key in fired if session.known(int(key[0])))
        crash = one.run.says if one.run.verdict == "crash" else ""
        if not places and one.run.where:
            places[Place(*one.run.where)] = None
        if not places:
            places[Place(session.target.path, session.target.line)] = None
        out.append(Kill(edit_text(base.world, one.change), tuple(places), crash))
    return tuple(out)


def edit_text(world: World, change: Change) -> str:
    """`token 4 changed: restored_rows[0].token_ids[4] 30 -> 77`."""
    shown = altered(world, change.edit, change)
    text = f"{change.says}: {shown.where}"
    if change.edit.operation == "set":
        text += f" {_short(shown.before)} -> {_short(shown.after)}"
    return text


def _short(value: Plain) -> str:
    text = repr(value.data if type(value) is Array else value)
    return text if len(text) <= 60 else text[:57] + "..."
