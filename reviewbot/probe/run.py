"""A whole probe: inputs, search, matrix, evidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from reviewbot.errors import NoSandbox, ProbeError
from reviewbot.probe import apart, jointly, mine, pairs
from reviewbot.probe.again import Unwatched
from reviewbot.probe.base import Base, base_of
from reviewbot.probe.changes import Change, of_sides
from reviewbot.probe.constants import compared, with_constants
from reviewbot.probe.derive import Derived, derive
from reviewbot.probe.evidence import Checked, Dead, Kill, Passed, Place, Reduced, Result, SetAside, Witness
from reviewbot.probe.grouped import grouped
from reviewbot.probe.harvest import Call, classes_of
from reviewbot.probe.held_against import OF_AN_ITEM
from reviewbot.probe.inside.edits import Edit
from reviewbot.probe.inside.switchboard import Key
from reviewbot.probe.matrix import Attempt, Liveness, Matrix, liveness, matrix, place, survivors
from reviewbot.probe.search import Aside, Passing, Search, Tried, search, unread
from reviewbot.probe.session import Run, Session
from reviewbot.probe.suite import Measured, Twins, measure, twins
from reviewbot.probe.target import Target
from reviewbot.probe.vacuous import vacuous
from reviewbot.probe.witness import edit_text, witness
from reviewbot.source.test_files import in_test_file

MOST_WITNESSES = 4
MOST_LOOKED_AT = 12  # kinds that pass, of which the target is run again as it is written
MOST_BASES = 20
# Of a budget: what a test notices of the code that it runs, and of the rest where each stage ends.
OF_CODE = 0.4
SEARCHED, SHOWN, ASKED, SWITCHED = 0.65, 0.8, 0.92, 1.0
LEAST = 0.5  # seconds that a stage has in any case
Progress = Callable[[str, int, int], None]

_PROTOCOLS = {
    "raises": "it raises",
    "truth": "it returns something false",
    "empty": "it returns something that is not empty",
    "first": "the first of what it returns is false",
    "last": "the last of what it returns is false",
    "value": "it returns another value than for the unchanged arguments",
}


@dataclass(frozen=True)
class Wish:
    """What is asked for. `drop`: ranges of lines whose checks are switched off; `patched`: files as a patch
    leaves them. `producers` with the recorded calls of each write derived fields again. `labels` and `files`
    say which arguments are values of a test's calls, or files of a command line; `absent` packages get
    stand-ins."""

    witnesses: bool = True
    checks: bool = True
    drop: tuple[tuple[int, int], ...] = ()
    patched: Mapping[str, str] = field(default_factory=dict)
    patch: str = ""
    producers: tuple[Target, ...] = ()
    producer_calls: tuple[tuple[Call, ...], ...] = ()
    seconds: float = 5.0
    python: str | None = None
    labels: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def nothing(says: str, done: int, of: int) -> None:
    """A progress that shows nothing."""


@contextmanager
def opened(target: Target, calls: Sequence[Call], wish: Wish) -> Iterator[tuple[Session, Base]]:
    """The target loaded in a sandbox, with arguments on which it passes. Raises ProbeError."""
    module = next((call.module for call in calls if call.module), target.module)
    with Session(
        target,
        module=module,
        also=classes_of(calls, module),
        python=wish.python,
        worlds=[call.arguments for call in calls[:8]],
        calls=wish.labels,
        files=wish.files,
        absent=wish.absent,
        seconds=wish.seconds,
    ) as session:
        yield session, base_of(session, calls, reduce=not wish.producers)


def probe(
    target: Target,
    calls: Sequence[Call],
    wish: Wish = Wish(),
    *,
    inputs: str = "",
    progress: Progress = nothing,
) -> Result:
    """Searches for differences that pass, from recorded or given calls. Raises ProbeError."""
    start = time.monotonic()
    judged = target.kind == "test" and wish.checks
    in_code = of_code(target, calls, wish, OF_CODE * wish.seconds) if judged else None
    with opened(target, calls, wish) as (session, base):
        clock = Clock(time.monotonic(), wish.seconds * (1 - OF_CODE if judged else 1))
        found = look(session, base, until=clock.at(SEARCHED, least=0), progress=progress)
        nothing_to_change = _refuse_unknown(found, target, calls, in_code)
        listed = [Attempt(one.change, (one.change.edit,), one.run) for one in found.tried]
        both, cancel_out = paired(session, base, found, until=clock.at(SEARCHED, least=0))
        listed += both
        together, opening = opened_by_two(session, base, found, until=clock.at(SEARCHED, least=0))
        passing, found = standing(session, base, [*opening, *found.passing, *cancel_out], found)
        unseen = tuple(vacuous(target, calls, base.sides))
        if unseen:
            passing, found = _without_unread(passing, found)
        shown = grouped(passing)[:MOST_WITNESSES] if wish.witnesses else ()
        with clock.stage(SHOWN, "the witnesses are as small as they can be", bool(shown)) as until:
            witnesses = tuple(witness(session, base, one, until=until) for one in shown)
        with clock.stage(ASKED, "every check was asked about every change") as until:
            made = matrix(session, base.number, listed, until=until)
        caught = kills(session, base, made)
        derived = derived_of(session, base, wish, found)
        with clock.stage(SWITCHED, "every check was switched off once", wish.checks) as until:
            alive = alive_of(session, base, wish, made, derived, until=until)
        if judged and in_code is None:
            clock.cut.append("it was known what it notices of the code that it runs")
        return Result(
            target=target.name,
            kind=target.kind,
            sha256=target.sha256,
            layers=tuple(session.held.names),
            edits_tried=len(listed) + len(together),
            passed=sum(run.passes for run in (*(one.run for one in found.tried), *together)),
            witnesses=witnesses,
            dead=_with_unrun(target, calls, alive.dead),
            kills=caught,
            checks=checked(session, made),
            not_run=(
                *unseen,
                *nothing_to_change,
                *_not_run(found),
                *clock.said,
                *derived.not_run,
            ),
            inputs=inputs or base.source,
            loaded=loaded(session),
            verdict_by=_verdict_by(target, session.how.protocol),
            never_compared=found.never_compared,
            unread_values=tuple(name for name in unread(found.tried) if name in wish.labels),
            excuses_taken=excuses_taken(session, calls),
            sufficient=alive.sufficient,
            all_checks=alive.all_checks,
            joint=alive.joint,
            joint_survive=alive.survive,
            reduced=_reduced(session, base, wish, made),
            questions=mine.questions(base.call.arguments, base.sides, found.never_compared),
            derivations=tuple(one.says for one in derived.derivations),
            seconds=time.monotonic() - start,
            module=session.module,
            labels=wish.labels,
            files=wish.files,
            sought=wish.witnesses,
            escaped=bool(passing),
            unmissed=in_code[0].unmissed if in_code else (),
            twins=in_code[1].names if in_code else (),
            noticed_in_code=len(in_code[0].kills) if in_code else 0,
            let_through=_let_through(found, base, sided=target.kind != "test"),
            complete=found.complete,
            set_aside=_set_aside(found, base),
            judges=_judges(target, caught, witnesses) if target.kind == "test" else (),
            vacuous=unseen,
        )


def _without_unread(passing: list[Passing], found: Search) -> tuple[list[Passing], Search]:
    """The same without fields that are never compared: inputs that show nothing do not show that either."""
    kept = [one for one in passing if one.why != "unread"]
    aside = [(tried, Aside.UNREAD) for one in passing if one.why == "unread" for tried in one.examples]
    return kept, replace(found, aside=(*found.aside, *aside))


def of_code(
    target: Target, calls: Sequence[Call], wish: Wish, seconds: float
) -> tuple[Measured, Twins] | None:
    """What a test notices of the code that it runs, and which tests beside it notice the same; None where the
    time does not suffice."""
    given = [
        replace(call, arguments={k: v for k, v in call.arguments.items() if k not in wish.labels})
        for call in calls
    ]
    left = seconds
    for figures in (True, False):
        start = time.monotonic()
        try:
            # Its constants and operations are too many, perhaps: without these it may be done.
            part = max(LEAST, left / 2 if figures else left)
            own = measure(
                target, given, seconds=part, python=wish.python, absent=wish.absent, figures=figures
            )
            left = max(LEAST, left - (time.monotonic() - start))
            return own, twins(target, own.kills, seconds=left, python=wish.python, figures=figures)
        except NoSandbox:
            raise
        except ProbeError:
            left -= time.monotonic() - start
    return None


class Clock:
    """The budget of a probe from `start` on. `cut` is what the time did not suffice for, as in "before …"."""

    def __init__(self, start: float, seconds: float) -> None:
        self._start, self._seconds = start, seconds
        self.cut: list[str] = []

    def at(self, share: float, least: float = LEAST) -> float:
        """When a stage ends that has the budget up to that share, and `least` seconds in any case."""
        return max(self._start + share * self._seconds, time.monotonic() + least)

    @contextmanager
    def stage(self, share: float, done: str, wanted: bool = True) -> Iterator[float]:
        """A stage and its end, on the clock `time.monotonic`; one that gets there is told as cut."""
        until = self.at(share)
        yield until
        if wanted and time.monotonic() > until:
            self.cut.append(done)

    @property
    def said(self) -> tuple[str, ...]:
        """What was cut, in words."""
        return tuple(f"the time was up before {one}" for one in self.cut)


def look(session: Session, base: Base, *, until: float, progress: Progress = nothing) -> Search:
    """Tries every change on its own."""
    kinds = apart.kinds(session, base.number, base.world, base.sides, until=until)
    listed = of_sides(base.world, base.sides, kinds, inputs=base.call.handed_on)
    listed = [one for one in listed if not _of_its_calls(session, one.edit)]
    return search(
        session,
        base.number,
        with_constants(base.world, listed, compared(session.target)),
        until=until,
        sided=session.target.kind != "test",
        compares=bool(base.sides),
        progress=lambda done, of: progress("trying changes", done, of),
    )


def _of_its_calls(session: Session, edit: Edit) -> bool:
    """Whether an edit gives a call that runs several times fewer values, or more: it is called as often, so
    that this is no other value that it could return."""
    whole = edit.path[:-1] if edit.operation in OF_AN_ITEM else edit.path
    return len(whole) == 1 and session.calls.get(str(whole[0]), (0, False))[1]


def paired(
    session: Session, base: Base, found: Search, *, until: float
) -> tuple[list[Attempt], list[Passing]]:
    """Pairs for the matrix, and those of two caught changes that pass together."""
    behind = list(pairs.behind(found.passing, found.tried))
    cancelling = list(pairs.cancelling(base.world, found.tried))
    good = [pair for pair in [*behind, *cancelling] if pairs.differs(base.world, pair)]
    listed = [(pairs.joined(pair), (pair[0].edit, pair[1].edit)) for pair in good]
    runs = session.judge(base.number, [list(made) for _, made in listed], until=until)
    attempts = [Attempt(change, made, run) for (change, made), run in zip(listed, runs, strict=False) if run]
    passing = [
        Passing("gap", (Tried(one.change, one.run),), (), 0, 0, edits=one.edits)
        for one, pair in zip(attempts, good, strict=False)
        if one.run and one.run.passes and pair in cancelling and not pair[0].beside
    ]
    return attempts, passing[:1]


def standing(
    session: Session, base: Base, passing: Sequence[Passing], found: Search
) -> tuple[list[Passing], Search]:
    """What passes when the target runs as it is written, too; the rest is set aside in the search."""
    if not passing:
        return [], found
    first = list(passing[:MOST_LOOKED_AT])
    with Unwatched(session, base.world, base.call.test) as unwatched:
        stand = unwatched.stand([one.made for one in first])
    fallen = [example for one, good in zip(first, stand, strict=True) if not good for example in one.examples]
    kept = [one for one, good in zip(first, stand, strict=True) if good]
    aside = [(example, Aside.WATCHED) for example in fallen]
    if fallen:
        # Something is noticed after all, so that what is left is no sign of a check that notices nothing.
        aside += [(example, Aside.UNLIKE) for one in kept if one.why == "blind" for example in one.examples]
        kept = [one for one in kept if one.why != "blind"]
    noticed = {one.change.field for one in fallen}
    ignored = tuple(field for field in found.never_compared if field not in noticed)
    return kept, replace(found, aside=(*found.aside, *aside), never_compared=ignored)


def opened_by_two(
    session: Session, base: Base, found: Search, *, until: float
) -> tuple[list[Run], list[Passing]]:
    """Pairs of changes that open a branch together, and the runs of all that were tried."""
    roots = [path for pair in base.sides for path in (pair.other, pair.baseline)]
    if not roots and session.target.kind == "test":
        roots = [(name,) for name in base.world]
    tested = [pair.other for pair in base.sides]
    return jointly.opened(session, base.number, found, roots, tested, until=until)


def _refuse_unknown(
    found: Search, target: Target, calls: Sequence[Call], in_code: tuple[Measured, Twins] | None
) -> tuple[str, ...]:
    """Raises ProbeError where no run has a verdict: then nothing was learnt. Says so where only the code that
    a test runs could be changed."""
    if not found.tried and not found.complete:
        raise ProbeError("the time was up before a change was tried; a larger budget leaves more")
    if not found.tried and target.kind == "test":
        says = _no_data(target, calls)
        if in_code and (in_code[0].kills or in_code[0].unmissed):
            return (says,)
        raise ProbeError(says)
    if not found.tried:
        raise ProbeError("there is nothing in the arguments to change")
    if all(one.run.verdict in ("unknown", "timeout") for one in found.tried):
        raise ProbeError(f"no run has a verdict: {found.tried[0].run.says}")
    return ()


def _no_data(target: Target, calls: Sequence[Call]) -> str:
    """That a test gets nothing that could be changed, what it gets instead, and the way out."""
    made = dict.fromkeys(value.label for call in calls for value in call.values if value.values is None)
    named = ", ".join(f"`{label}`" for label in list(made)[:2]) + (", …" if len(made) > 2 else "")
    out = (
        "put the comparison into a function of its own that takes the rows of both sides, such as "
        "`compare(baseline, other)`, and probe that"
    )
    if not made:
        return f"no call in {target.unit} returns plain data that could be changed; {out}"
    kind = "objects that cannot be built again from data"
    return (
        f"{target.unit} gets {kind} from its calls ({named}), so that nothing can be changed in them; {out}"
    )


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


def _verdict_by(target: Target, protocol: str) -> str:
    """How the target says no, as a clause. A command line that raises ends with a code, too."""
    if target.kind == "command" and protocol == "raises":
        return "it ends with an exit code other than 0"
    return _PROTOCOLS[protocol]


# ---- checks -----------------------------------------------------------------------------------------------


def kills(session: Session, base: Base, made: Matrix) -> tuple[Kill, ...]:
    """Every change that is noticed and all the checks that notice it."""
    out = []
    for row in made.rows:
        if not row.noticed:
            continue
        places = dict.fromkeys(place(session, key) for key in row.fires if session.known(int(key[0])))
        if not places and row.where:
            places[Place(*row.where)] = None
        if not places:
            places[Place(session.target.path, session.target.line)] = None
        side = _side(base, row.change)
        out.append(Kill(edit_text(base.world, row.change), tuple(places), row.crash, side))
    return tuple(out)


def _side(base: Base, change: Change) -> str:
    """The argument of a comparison that a change was made in."""
    return str(change.edit.path[0]) if base.sides and not change.beside else ""


def _let_through(found: Search, base: Base, *, sided: bool) -> tuple[Passed, ...]:
    """The changes that passed in fields of which others are noticed; of a test, those that are witnesses."""
    aside = {id(one) for one, _ in found.aside} if not sided else set()
    return tuple(
        Passed(edit_text(base.world, one.change), _side(base, one.change))
        for one in found.tried
        if one.run.passes
        and not one.change.beside
        and one.change.field not in found.never_compared
        and id(one) not in aside
    )


def _set_aside(found: Search, base: Base) -> tuple[SetAside, ...]:
    """The changes that passed and are no witnesses, with the reason of each."""
    return tuple(
        SetAside(edit_text(base.world, one.change), why.value, _side(base, one.change))
        for one, why in found.aside
    )


def _judges(target: Target, caught: Sequence[Kill], witnesses: Sequence[Witness]) -> tuple[str, ...]:
    """The functions of test files whose checks notice what a test notices, or let through what it does."""
    places = [place for one in witnesses for place in one.escapes]
    places += [place for one in caught for place in one.caught_by]
    return tuple(
        dict.fromkeys(
            f"{one.path}::{one.function}"
            for one in places
            if one.function
            and (one.function.partition(".")[0] != target.unit or one.path != target.path)
            and not one.function.rpartition(".")[2].startswith("test")
            and in_test_file(one.path)
        )
    )


def checked(session: Session, made: Matrix) -> tuple[Checked, ...]:
    """Each check that ran: how many changes it notices, and how many of these nothing else does."""
    fires: dict[Key, int] = {}
    alone: dict[Key, int] = {}
    for row in made.rows:
        for key in row.fires:
            fires[key] = fires.get(key, 0) + 1
            if row.fires == (key,):
                alone[key] = alone.get(key, 0) + 1
    keys = sorted(
        {*made.reached, *fires} - made.silent, key=lambda key: (session.sites[int(key[0])].line, str(key))
    )
    return tuple(
        Checked(place(session, key), made.reached.get(key, 0), fires.get(key, 0), alone.get(key, 0))
        for key in keys
    )


def excuses_taken(session: Session, calls: Sequence[Call]) -> tuple[tuple[Place, int], ...]:
    """Branches that can lead around a check, and how often the recorded passing calls took them."""
    taken: dict[int, int] = {}
    for call in [call for call in calls if not call.raised][:MOST_BASES]:
        run = session.one(session.add(call.arguments))
        if not run.passes:
            continue
        for (number, outcome), times in run.times.items():
            site = session.known(number)
            if site is not None and site.escape == "true" and site.form == "if":
                taken.setdefault(number, 0)
                taken[number] += times * outcome
    return tuple((place(session, (number,)), times) for number, times in sorted(taken.items()))


def derived_of(session: Session, base: Base, wish: Wish, found: Search) -> Derived:
    if not wish.producers:
        return Derived((), (), ())
    free = [one.change for one in found.tried]
    return derive(session, base.world, wish.producers, wish.producer_calls, free)


def alive_of(
    session: Session, base: Base, wish: Wish, free: Matrix, derived: Derived, *, until: float
) -> Liveness:
    """Liveness on free changes; on coherent ones where a producer was run."""

    def what(change: Change) -> str:
        return edit_text(base.world, change)

    if not wish.checks:
        return Liveness((), "", (), (), 0)
    if not derived.tried:
        return liveness(session, free, until=until, what=what)
    coherent = matrix(session, base.number, [Attempt(c, made) for c, made in derived.tried], until=until)
    alive = liveness(session, coherent, until=until, what=lambda change: change.says)
    dead = tuple(_third(one, free, session, derived, len(coherent.rows)) for one in alive.dead)
    return Liveness(dead, alive.joint, alive.survive, alive.sufficient, alive.all_checks)


def _with_unrun(target: Target, calls: Sequence[Call], dead: tuple[Dead, ...]) -> tuple[Dead, ...]:
    """Of a test: its assertions that no recorded run of it reached, in place of what changed values reach.

    A check of the product that says no to nothing is none of the test's own.
    """
    ran: dict[int, bool] = {}
    texts: dict[int, str] = {}
    for call in calls:
        for line, text, reached in call.checks:
            ran[line] = ran.get(line, False) or reached
            texts[line] = text
    unrun = [line for line, reached in ran.items() if not reached]
    any_file = target.kind != "test"
    kept = tuple(
        one
        for one in dead
        if one.place.line not in unrun and (any_file or one.tier > 1 or in_test_file(one.place.path))
    )
    found = (
        Dead(Place(target.path, line, texts[line], target.unit), 0, "never reached here") for line in unrun
    )
    return (*found, *kept)


def _third(dead: Dead, free: Matrix, session: Session, derived: Derived, count: int) -> Dead:
    """Tier 1 on coherent changes is tier 3 where free changes of derived fields make the check fire, and all
    of these fields are written by the product's own code."""
    if dead.tier != 1:
        return dead
    makes = [row for row in free.rows if any(place(session, key) == dead.place for key in row.fires)]
    writers = {
        one.name: one for one in derived.derivations if any(one.writes(row.change.edit.path) for row in makes)
    }
    if not writers or any(one.status == "stated" for one in writers.values()):
        return dead
    names = ", ".join(f"`{name}`" for name in writers)
    says = f"can't fire on what {names} writes: {count} edits with that code re-run"
    return Dead(dead.place, 3, says, dead.key)


def _ranged(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"L{first}" if first == last else f"L{first}-{last}"


def _reduced(session: Session, base: Base, wish: Wish, made: Matrix) -> Reduced | None:
    """What survives with checks dropped or a patch applied, on the changes that are noticed today."""

    def names(numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(edit_text(base.world, made.rows[number].change) for number in numbers)

    killed = made.killed
    if wish.drop:
        mine = {
            number: site.line
            for number, site in enumerate(session.sites)
            if site.kind == "check" and site.path == session.target.path
        }
        off = [
            number for number, line in mine.items() if any(first <= line <= last for first, last in wish.drop)
        ]
        said = ", ".join(map(_ranged, wish.drop))
        none = [one for one in wish.drop if not any(one[0] <= line <= one[1] for line in mine.values())]
        if none:
            raise ProbeError(
                f"no check of {session.target.path} that was loaded stands at {', '.join(map(_ranged, none))}"
            )
        unchanged = session.one(base.number, off=off).passes
        return Reduced(f"without {said}", len(killed), names(survivors(session, made, off)), unchanged)
    if not wish.patched:
        return None
    with Session(
        session.target,
        module=session.module,
        also=session.also,
        python=session.python,
        worlds=[base.world],
        instead=wish.patched,
        calls=wish.labels,
        files=wish.files,
        absent=wish.absent,
        seconds=wish.seconds,
    ) as patched:
        patched.how = session.how
        number = patched.add(base.world)
        listed: list[tuple[Edit, ...]] = [*made.listed, ()]
        runs = patched.judge(number, listed)
        passes = [run is not None and run.passes for run in runs]
        survive = names([n for n in killed if passes[n]])
        now = names([n for n, row in enumerate(made.rows) if not row.noticed and not passes[n]])
        return Reduced(f"with {wish.patch}", len(killed), survive, passes[-1], now)
