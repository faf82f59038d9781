"""Which check notices which change, which checks decide nothing here, and which ones would do.

One observing run for each change fills its whole row, because no check raises in it. Such a run goes past
a failure, so nothing is said of a check before it was switched off with the others raising.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reviewbot.probe.changes import Change
from reviewbot.probe.evidence import Dead, Place
from reviewbot.probe.inside.edits import Edit
from reviewbot.probe.inside.switchboard import Key
from reviewbot.probe.session import Run, Session

NAMED = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One change: the checks that it makes fire (all of them), and whether the check as a whole notices.

    `crash` is the error where it is noticed by falling over.
    """

    change: Change
    fires: tuple[Key, ...]
    noticed: bool
    crash: str = ""
    where: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A change, the edits that make it, and its run with raising checks if there was one."""

    change: Change
    edits: tuple[Edit, ...]
    run: Run | None = None


@dataclass(frozen=True)
class Matrix:
    """`world` names the arguments in the session; `listed` holds the edits of each row.

    `silent`: checks that fire on the unchanged arguments too, and so are none.
    """

    world: int
    rows: tuple[Row, ...]
    listed: tuple[tuple[Edit, ...], ...]
    reached: dict[Key, int]
    silent: frozenset[Key]

    @property
    def killed(self) -> list[int]:
        """Rows that are noticed."""
        return [number for number, row in enumerate(self.rows) if row.noticed]


@dataclass(frozen=True)
class Liveness:
    """`dead`: what decided nothing; `joint` says what happens when all of that goes at once; `sufficient`
    are the checks that notice by themselves all that is noticed now, of `all_checks` that fire at all."""

    dead: tuple[Dead, ...]
    joint: str
    survive: tuple[str, ...]
    sufficient: tuple[Place, ...]
    all_checks: int


def matrix(
    session: Session,
    world: int,
    tried: Sequence[Attempt],
    *,
    until: float,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Matrix:
    """One row for each change that has a place. Changes that the time did not suffice for have none."""
    base = session.one(world, observing=True)
    silent = frozenset(base.fired)
    rows: list[Row] = []
    listed: list[tuple[Edit, ...]] = []
    step = 400
    for start in range(0, len(tried), step):
        part = tried[start : start + step]
        observed = session.judge(world, [list(one.edits) for one in part], observing=True, until=until)
        unrun = [list(one.edits) for one in part[: len(observed)] if one.run is None]
        fresh = iter(session.judge(world, unrun))
        for one, seen in zip(part, observed, strict=False):
            real = one.run or next(fresh)
            if real is None or seen is None:
                continue
            crash = real.says if real.verdict == "crash" else ""
            fires = tuple(key for key in seen.fired if key not in silent)
            rows.append(Row(one.change, fires, real.noticed, crash, real.where))
            listed.append(one.edits)
        progress(start + len(part), len(tried))
        if len(observed) < len(part):
            break
    return Matrix(world, tuple(rows), tuple(listed), session.counts(), silent)


def liveness(session: Session, made: Matrix, *, until: float, what: Callable[[Change], str]) -> Liveness:
    """Tiers 0 to 2, each confirmed with the check off and the others raising."""
    firing = _firing(made)
    dead = _unreached(session, made) + _never_fired(session, made)
    doubled: list[tuple[Key, Dead]] = []
    for key in firing:
        found = _never_alone(session, made, key)
        if found is not None:
            doubled.append((key, found))
        if time.monotonic() > until:
            break
    off = [key for key, _ in doubled]
    survive = survivors(session, made, off) if len(off) > 1 else []
    joint = ""
    if off:
        killed = len(made.killed)
        joint = (
            f"all {len(off)} of them off together: {len(survive)} of {killed} noticed changes pass"
            if len(off) > 1
            else ""
        )
    enough = sufficient(session, made, firing)
    return Liveness(
        tuple(dead + [one for _, one in doubled]),
        joint,
        tuple(what(made.rows[number].change) for number in survive[:50]),
        tuple(place(session, key) for key in enough),
        len(firing),
    )


def _firing(made: Matrix) -> list[Key]:
    found: dict[Key, None] = {}
    for row in made.rows:
        if row.noticed:
            found.update(dict.fromkeys(row.fires))
    return list(found)


def place(session: Session, key: Key) -> Place:
    """Where a check stands; its condition, with the field that a loop around it was at."""
    site = session.sites[int(key[0])]
    text = site.text + "".join(f" [{part}]" for part in key[1:])
    return Place(site.path, site.line, text, site.unit)


def _checks(session: Session) -> Iterable[int]:
    return (number for number, site in enumerate(session.sites) if site.kind == "check")


def _unreached(session: Session, made: Matrix) -> list[Dead]:
    """Tier 0, in functions that were entered."""
    reached = {int(key[0]) for key in made.reached}
    units = {(session.sites[number].path, session.sites[number].unit) for number in reached}
    units.add((session.target.path, session.target.unit))
    out = []
    for number in _checks(session):
        site = session.sites[number]
        if number not in reached and (site.path, site.unit) in units:
            out.append(Dead(place(session, (number,)), 0, "never reached here"))
    return out


def _never_fired(session: Session, made: Matrix) -> list[Dead]:
    """Tier 1, where anything was tried."""
    if not made.rows:
        return []
    fired = {key for row in made.rows for key in row.fires}
    # Of a table not every key is changed: one whose value never was says nothing of the check.
    changed = {part for row in made.rows for part in (*row.change.edit.path, *row.change.edit.along)}
    out = []
    for key in made.reached:
        site = session.known(int(key[0]))
        # What stands outside of every function was checked when its file was imported.
        outside = site is not None and not site.unit and session.target.kind != "command"
        if outside or not changed.issuperset(key[1:]):
            continue
        if key not in fired and key not in made.silent and int(key[0]) < len(session.sites):
            says = f"did not fire on any of {len(made.rows)} edits"
            out.append(Dead(place(session, key), 1, says, _words(key)))
    return out


def _never_alone(session: Session, made: Matrix, key: Key) -> Dead | None:
    """Tier 2: with it off, every change that it notices is still noticed."""
    fires = [number for number in made.killed if key in made.rows[number].fires]
    others: dict[Key, int] = {}
    for number in fires:
        row = made.rows[number]
        if row.fires == (key,) and not row.crash:
            return None
        for other in row.fires:
            if other != key:
                others[other] = others.get(other, 0) + 1
    runs = session.judge(made.world, [made.listed[number] for number in fires], off=[key])
    if not fires or not all(run is not None and run.noticed for run in runs):
        return None
    crashes = [run for run in runs if run is not None and run.verdict == "crash"]
    named = [_name(session, other) for other in sorted(others, key=lambda one: -others[one])[:NAMED]]
    if crashes:
        named.append(f"falling over with {crashes[0].says.partition(':')[0]} ({len(crashes)})")
    says = f"never alone: {', '.join(named)} still catches each of the {len(fires)} edits it catches"
    return Dead(place(session, key), 2, says, _words(key))


def _name(session: Session, key: Key) -> str:
    site = session.sites[int(key[0])]
    return f"L{site.line}" + "".join(f" [{part}]" for part in key[1:])


def _words(key: Key) -> tuple[str, ...]:
    return tuple(str(part) for part in key[1:])


def survivors(session: Session, made: Matrix, off: Sequence[int | Key]) -> list[int]:
    """The noticed rows that pass when these checks are off."""
    killed = made.killed
    runs = session.judge(made.world, [made.listed[number] for number in killed], off=off)
    return [number for number, run in zip(killed, runs, strict=False) if run is None or run.passes]


def sufficient(session: Session, made: Matrix, firing: Sequence[Key]) -> list[Key]:
    """Checks that notice by themselves all that is noticed, really run with the rest off.

    Taken away from the last line up, for what stands later checks again more often than it decides.
    """
    rows = [made.rows[number].fires for number in made.killed if made.rows[number].fires]
    chosen = sorted(
        firing, key=lambda key: (session.sites[int(key[0])].line, [str(part) for part in key[1:]])
    )
    for key in reversed(list(chosen)):
        rest = set(chosen) - {key}
        if all(rest.intersection(fires) for fires in rows):
            chosen.remove(key)
    for _ in range(len(firing)):
        off = [key for key in firing if key not in chosen]
        lost = survivors(session, made, off) if off else []
        more = next((key for number in lost for key in made.rows[number].fires if key not in chosen), None)
        if more is None:
            break
        chosen.append(more)
    return chosen
