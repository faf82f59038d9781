"""Which changes pass, and why: an excuse was taken, a NaN compares false, nothing looks there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from reviewbot.probe import shape
from reviewbot.probe.changes import Change
from reviewbot.probe.held_against import HeldAgainst
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import Edit
from reviewbot.probe.inside.sites import Site, differs
from reviewbot.probe.session import Run, Session
from reviewbot.probe.subject import names_another
from reviewbot.probe.volatile import is_volatile
from reviewbot.source.test_files import in_test_file

# excuse: a branch that the unchanged run did not take led around the check. nan: the same place is caught
# when it holds another number. gap: like changes are caught elsewhere. blind: nothing at all is caught.
# missing: a key that both sides lack. empty: nothing is left to look at. swallowed: a comparison tells of it,
# and its failure is caught again, only printed or leads on to the next row. unread: no change of that field
# is noticed, in rows that are compared.
Why = Literal["excuse", "swallowed", "nan", "gap", "blind", "missing", "empty", "unread"]
_ORDER: dict[Why, int] = {
    "excuse": 0,
    "swallowed": 1,
    "blind": 2,
    "nan": 3,
    "gap": 4,
    "missing": 5,
    "empty": 6,
    "unread": 7,
}


class Aside(Enum):
    """Why a change that passes is no witness, as a clause."""

    SMALL = "a difference in size or spelling, which a tolerance may let through"
    UNREAD = "no change of that field is noticed: it is not compared, or nothing comes of the comparison"
    VOLATILE = "it is not compared, and by its name it may differ between equal runs"
    NAMED = "it is not compared, and by its name the check is about another field"
    NUMBER = "no other value there is noticed, either"
    ABSENT = "a changed value there is not noticed, either"
    UNLIKE = "no such change is noticed anywhere in that field"
    ORDER = "the rows are told apart by what they hold, in whatever order they stand"
    ROLE = "it lies where the comparison does not count"
    ALONE = "the test compares that list with no other one, item by item"
    WATCHED = "run as it is written, without a counter, the check notices it"
    BESIDE = "it is made beside the two sides, and is no difference between them"


MOST_ROWS = 6  # in which a branch is looked for that lets a change through
MOST_EXCHANGED = 8  # fields of two rows that change places
# A position that nobody sampled can differ for no reason of sampling.
_ROLES = {"tool result": 0, "prompt": 1}
_ANY_ERROR = re.compile(r"\b(Base)?Exception\b|\bAssertionError\b")
_FAR = ("far", "infinite")
_REAL = ("real", "structure")
_WHOLE = ("row", "item")  # what changes when one is lost, doubled or in another place
_LENGTHS = ("shortened", "lengthened", "dropped", "doubled", "cut", "emptied")
_VALUES = ("changed", "flipped", "missing", "None")
_VERBS = ("changed", "flipped", "dropped", "doubled", "swapped", "missing")


@dataclass(frozen=True, slots=True)
class Tried:
    """A change and what the check made of it."""

    change: Change
    run: Run


@dataclass(frozen=True, slots=True)
class WhatIf:
    """How many of the passing changes of one kind still pass with a branch switched off, and whether the
    unchanged arguments still do."""

    branch: Site
    before: int
    after: int
    of: int
    unchanged_passes: bool


@dataclass(frozen=True)
class Passing:
    """A kind of change that passes: its best example first, the branches that let it through, how many
    changes of the same family are caught and pass elsewhere. `numbers_caught`: of what is no number, how many
    other numbers in that field are caught. `like`: other kinds that pass for the same cause, in words."""

    why: Why
    examples: tuple[Tried, ...]
    escapes: tuple[int, ...]
    caught_elsewhere: int
    passed_elsewhere: int
    what_if: WhatIf | None = None
    edits: tuple[Edit, ...] = ()
    numbers_caught: int = 0
    like: tuple[str, ...] = ()

    @property
    def made(self) -> tuple[Edit, ...]:
        """The edits of the best example: more than one for a pair."""
        return self.edits or (self.best.change.edit,)

    @property
    def best(self) -> Tried:
        """The one to show."""
        return self.examples[0]


@dataclass(frozen=True)
class Search:
    """`base`: the unchanged run. `never_compared`: fields in which no change of any kind was noticed.
    `aside`: what passes and is no witness, and why."""

    base: Run
    tried: tuple[Tried, ...]
    passing: tuple[Passing, ...]
    never_compared: tuple[str, ...]
    complete: bool = True
    aside: tuple[tuple[Tried, Aside], ...] = ()

    @property
    def caught(self) -> list[Tried]:
        """What a check, or a crash, noticed."""
        return [tried for tried in self.tried if tried.run.noticed]


def search(
    session: Session,
    world: int,
    candidates: Sequence[Change],
    *,
    until: float,
    sided: bool = True,
    compares: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Search:
    """Runs every change on its own until the time is up, and sorts what passes.

    Without sides (a test's own values) a place that no assertion reads is no hole: only an excuse, a NaN
    and a test that notices nothing are, and a row lost or doubled where rows are held against other ones.
    A target that `compares` has its two sides in its arguments: a field that it never looks at is one, too.
    """
    base = session.one(world, watch=True)
    tried: list[Tried] = []
    step = 200
    for start in range(0, len(candidates), step):
        part = candidates[start : start + step]
        runs = session.judge(world, [[change.edit] for change in part], until=until)
        tried += [Tried(change, run) for change, run in zip(part, runs, strict=False) if run is not None]
        progress(start + len(part), len(candidates))
        if len(runs) < len(part):
            break
    complete = start + len(part) >= len(candidates) and len(runs) == len(part) if candidates else True
    noticed = {one.change.field for one in tried if one.run.noticed}
    held = None if sided else HeldAgainst(session, world, session.world(world), noticed, until=until)
    passing, aside = _sorted(session, world, base, tried, held, compares=compares)
    complete = complete and not (held and held.cut)
    compared = {
        one.change.field
        for one in tried
        if one.run.passes and not one.change.beside and told_in_vain(session, base, one.run)
    }
    # What a branch lets through is looked at, in that branch.
    compared |= {one.change.field for kind in passing if kind.why == "excuse" for one in kind.examples}
    ignored = tuple(field for field in _never_compared(tried) if field not in compared)
    return Search(base, tuple(tried), tuple(passing), ignored, complete, tuple(aside))


def _never_compared(tried: Sequence[Tried]) -> tuple[str, ...]:
    noticed: dict[str, bool] = defaultdict(bool)
    for one in tried:
        if one.change.beside:
            continue
        if one.change.size in ("nan", "infinite"):
            # Where it only falls over, nothing is compared.
            noticed[one.change.field] |= one.run.verdict == "fail"
        elif one.change.size in ("real", "far", "structure") and one.change.verb not in (
            "emptied",
            "shortened",
            "cut",
        ):
            noticed[one.change.field] |= one.run.noticed
    for one in tried:
        # Of what stands under other keys each time, it is the values that are compared.
        key = (one.change.verb, one.change.size) == ("missing", "structure")
        if key and not noticed.get(one.change.field, True):
            noticed[one.change.field] = _noticed_below(one, tried)
    return tuple(field for field, seen in noticed.items() if not seen and field not in _WHOLE)


def _noticed_below(whole: Tried, tried: Sequence[Tried]) -> bool:
    """Whether a change is noticed inside of what another one takes away."""
    path = whole.change.edit.path
    return any(
        one.run.noticed
        and len(one.change.edit.path) > len(path)
        and one.change.edit.path[: len(path)] == path
        for one in tried
    )


def unread(tried: Sequence[Tried]) -> tuple[str, ...]:
    """The arguments in which no change at all was noticed."""
    noticed: dict[str, bool] = {}
    for one in tried:
        name = str(one.change.edit.path[0])
        noticed[name] = noticed.get(name, False) or one.run.noticed
    return tuple(name for name, seen in noticed.items() if not seen)


def _sorted(
    session: Session,
    world: int,
    base: Run,
    tried: Sequence[Tried],
    held: HeldAgainst | None,
    *,
    compares: bool,
) -> tuple[list[Passing], list[tuple[Tried, Aside]]]:
    """The kinds of change that pass, best first, and what passes and is no witness. `held` tells of a test's
    values which of them it compares."""
    caught: dict[tuple[str, str], int] = defaultdict(int)
    for one in tried:
        caught[one.change.family] += one.run.noticed
    nothing_caught = not any(one.run.noticed for one in tried if not one.change.beside)
    failing = {one.change.field for one in tried if one.run.verdict == "fail"}
    name, read = session.target.unit, {one.change.field for one in tried if one.run.noticed}
    roots = list(dict.fromkeys(one.change.edit.path[0] for one in tried))
    groups: dict[tuple[tuple[int, ...], tuple[int, ...], str, str], list[Tried]] = defaultdict(list)
    ignored = set(_never_compared(tried)) if not nothing_caught else set()
    aside = [(one, Aside.BESIDE) for one in tried if one.run.passes and one.change.beside]
    for one in tried:
        if one.run.passes and not one.change.beside:
            around = any(session.sites[at].escape for at in newly_taken(session, base, one.run))
            if not around and told_apart(session, world, one.change):
                aside.append((one, Aside.ORDER))
                continue
            escapes = newly_taken(session, base, one.run)
            told = told_in_vain(session, base, one.run, anything=not failing)
            groups[(escapes, told, one.change.field, _class(one.change))].append(one)
    found = []
    for (escapes, told, field, _), members in groups.items():
        # A difference in what is judged says more than one in what it is held against.
        members = sorted(members, key=lambda one: (roots.index(one.change.edit.path[0]), _readable(one)))
        effective, what_if = _what_if(session, world, base, escapes, members, tried)
        for one in () if effective or escapes else _of_other_rows(members):
            # Of rows that share a key the last one alone is compared, and the first is the plainest example.
            effective, what_if = _what_if(session, world, base, escapes, [one], tried)
            if effective:
                members = [one, *(other for other in members if other is not one)]
                break

        # A branch that the unchanged run takes too may leave out what does not count.
        anyway = bool(effective) and not set(effective) & set(escapes)

        def why_of(
            one: Tried, effective: Sequence[int] = effective, field: str = field, anyway: bool = anyway
        ) -> Why | Aside:
            if anyway and _does_not_count(one.change, tried):
                return Aside.ROLE
            why = _why(one.change, effective, field in ignored, nothing_caught, caught, tried)
            if why is Aside.UNREAD and field in ignored and compares and one.change.size in _REAL:
                if is_volatile(field):
                    return Aside.VOLATILE
                return Aside.NAMED if names_another(name, field, read) else "unread"
            return why

        unnoticed = nothing_caught or field in ignored or (field in _WHOLE and field not in failing)
        if told and not effective and unnoticed:
            why: Why | Aside = "swallowed"
            handlers = [number for number in escapes if session.sites[number].form == "except"]
            effective = tuple(handlers) or told
        else:
            why = why_of(members[0])
        if isinstance(why, Aside):
            reasons = [(one, why_of(one)) for one in members]
            aside += [(one, said if isinstance(said, Aside) else why) for one, said in reasons]
            continue
        if held is not None and why == "gap":
            compared = [one for one in members if _loses(one.change) and held(one.change.edit)]
            aside += [(one, Aside.ALONE) for one in members if one not in compared]
            members = compared
        if members:
            elsewhere, passed = _like(members[0], tried)
            numbers = _numbers_caught(members[0], tried)
            found.append(
                Passing(
                    why, tuple(members), effective, elsewhere, passed - 1, what_if, numbers_caught=numbers
                )
            )

    def rank(one: Passing) -> tuple[object, ...]:
        change = one.best.change
        # What a branch lets through is shown on a value that could be, before one that is no number.
        odd = one.why in ("excuse", "swallowed") and change.size in ("nan", "infinite")
        return (_ORDER[one.why], odd, roots.index(change.edit.path[0]), _readable(one.best))

    found.sort(key=rank)
    return _one_for_each(found), aside


def _of_other_rows(members: Sequence[Tried]) -> list[Tried]:
    """An example of each row but that of the first."""
    rows: dict[object, Tried] = {}
    for one in members:
        path = one.change.edit.path
        at = next((index for index, part in enumerate(path) if type(part) is int), len(path))
        rows.setdefault(path[: at + 1], one)
    return list(rows.values())[1:MOST_ROWS]


def told_apart(session: Session, world: int, change: Change) -> bool:
    """Of two rows that changed places: whether the check notices when they exchange a single field, such as
    the key that it matches them by. Then it knows them by what they hold, and their order says nothing."""
    if change.verb != "swapped" or change.field != "row":
        return False
    path, at = change.edit.path[:-1], change.edit.path[-1]
    rows = plain.at(session.world(world), path)
    left, right = shape.fields(rows[at]), shape.fields(rows[at + 1])
    listed = [
        [Edit("set", (*path, at, name), right[name]), Edit("set", (*path, at + 1, name), left[name])]
        for name in left.keys() & right.keys()
        if not plain.same(left[name], right[name])
    ]
    # With one field in all, they would be the same rows in the other order.
    runs = session.judge(world, listed[:MOST_EXCHANGED]) if len(listed) > 1 else []
    return any(run is not None and run.verdict == "fail" for run in runs)


def _loses(change: Change) -> bool:
    """Whether items or keys are lost, doubled or in another place."""
    return change.size == "structure" or change.edit.operation == "remove"


def _like(best: Tried, tried: Sequence[Tried]) -> tuple[int, int]:
    """How many changes of the same family, on the same side, are caught and pass."""
    change = best.change
    mine = [one for one in tried if one.change.edit.path[0] == change.edit.path[0]]
    like = [one for one in mine if one.change.family == change.family]
    return sum(one.run.noticed for one in like), sum(one.run.passes for one in like)


def _numbers_caught(best: Tried, tried: Sequence[Tried]) -> int:
    """How many other numbers in the field of one that is none are caught, on the same side."""
    change = best.change
    if change.size not in ("nan", "infinite"):
        return 0
    numbers = {"changed", "far off", "infinite"} - {change.verb}
    return sum(
        one.run.noticed
        for one in tried
        if one.change.edit.path[0] == change.edit.path[0]
        and one.change.field == change.field
        and one.change.verb in numbers
    )


def _class(change: Change) -> str:
    return change.size if change.size in ("nan", "infinite", "nudge", "far", "absent") else "real"


def _readable(one: Tried) -> tuple[int, int, int]:
    """Best example first: what nobody sampled, the plainest verb, the simplest value."""
    change = one.change
    verb = _VERBS.index(change.verb) if change.verb in _VERBS else len(_VERBS)
    unsampled = _ROLES.get(change.role, len(_ROLES))
    # A number that is none says most where numbers count.
    role = -unsampled if change.size in ("nan", "infinite") else unsampled
    return (role, verb, len(str(change.edit.value)))


def _one_for_each(found: Sequence[Passing]) -> list[Passing]:
    """One a cause and field: the same branch with other verbs is one story."""
    seen = set()
    out = []
    for one in found:
        change = one.best.change
        # One side longer and the other shorter are the same hole; rows lost and rows cut are two.
        # A value that nothing reads may as well be missing.
        verb = "length" if change.verb in _LENGTHS else "value" if change.verb in _VALUES else change.verb
        # A side that is one list or tensor is the field itself, under two names.
        whole = change.field == change.edit.path[0]
        field = "" if whole else change.field
        if verb == "length" and not whole:
            field = "row" if change.field == "row" else "within a row"
        key = (one.why if one.why != "gap" else verb, one.escapes, field)
        if key not in seen:
            seen.add(key)
            out.append(one)
    return out


def newly_taken(session: Session, base: Run, run: Run) -> tuple[int, ...]:
    """The branches of a run that the unchanged run took the other way only, those around a check first."""
    numbers = {number for number, outcome in run.outcomes - base.outcomes if session.known(number)}
    taken = dict(run.outcomes - base.outcomes)

    def rank(number: int) -> tuple[int, int]:
        site = session.sites[number]
        outcome = taken[number]
        around = site.escape == ("true" if outcome else "false")
        return (0 if around else 1 if site.escape == "either" else 2, number)

    return tuple(sorted(numbers, key=rank))


def told_in_vain(session: Session, base: Run, run: Run, *, anything: bool = False) -> tuple[int, ...]:
    """The comparisons that tell of a difference in a run that passes all the same: assertions that failed,
    and what is only printed, or leads on, where two sides differ.

    Of the product's own code none counts, as it may raise and catch for reasons of its own. With `anything`
    no check says no to any change, so that what the target catches counts if that is any error whatever.
    """
    if not run.passes:
        return ()
    fired = {int(key[0]) for key in run.fired} - {int(key[0]) for key in base.fired}
    taken = {number for number, outcome in run.outcomes - base.outcomes if outcome}
    caught = {number for number in taken if _catches(session, number)}
    said = {number for number in fired if caught and _refuses(session, number)}
    told = {number for number in fired | taken if _tells(session, number)}
    whatever = {number for number in caught if anything and _ANY_ERROR.search(session.sites[number].text)}
    return tuple(sorted(told | said | whatever))


def _catches(session: Session, number: int) -> bool:
    """Whether a branch is one of the target itself by which an error is caught and nothing comes of it."""
    site = session.known(number)
    return site is not None and site.form == "except" and site.escape == "true" and _is_own(session, site)


def _refuses(session: Session, number: int) -> bool:
    """Whether an error is raised by the tests' code, or the target's file, where it is what a check says."""
    site = session.known(number)
    ours = site is not None and (site.path == session.target.path or in_test_file(site.path))
    return ours and site is not None and site.form == "raise"


def _is_own(session: Session, site: Site) -> bool:
    return site.path == session.target.path and site.unit == session.target.unit


def _tells(session: Session, number: int) -> bool:
    site = session.known(number)
    if site is None or not (site.path == session.target.path or in_test_file(site.path)):
        return False
    # An error of another kind is raised and caught for other reasons too.
    return site.form in ("assert", "call", "told") or (
        (site.form == "raise" or (site.escape == "true" and differs(site.text))) and _is_own(session, site)
    )


def taken_anyway(session: Session, base: Run, run: Run) -> list[tuple[int, bool]]:
    """The branches around a check that a run takes as the unchanged one does."""
    found = []
    for number, outcome in sorted(run.outcomes & base.outcomes):
        site = session.known(number)
        if site is not None and site.escape == ("true" if outcome else "false"):
            found.append((number, outcome))
    return found


def _what_if(
    session: Session,
    world: int,
    base: Run,
    escapes: Sequence[int],
    members: Sequence[Tried],
    tried: Sequence[Tried],
) -> tuple[tuple[int, ...], WhatIf | None]:
    """The escapes without which the best example is caught, and the count with the first of them off."""
    best = members[0]
    outcomes = dict(best.run.outcomes - base.outcomes)
    effective = []
    for number in escapes:
        if session.one(world, [best.change.edit], forced={number: not outcomes[number]}).noticed:
            effective.append(number)
    if not effective:
        # A branch that the unchanged run takes too, as where rows are excused by what is recorded of them.
        for number, outcome in taken_anyway(session, base, best.run):
            forced = {number: not outcome}
            caught = session.one(world, [best.change.edit], forced=forced).noticed
            if caught and session.one(world, forced=forced).passes:
                effective.append(number)
                outcomes[number] = outcome
    if not effective:
        return (), None
    around = [n for n in effective if session.sites[n].escape in ("true", "false")]
    kept = around + [n for n in effective if session.sites[n].escape == "either"] or effective
    off = {kept[0]: not outcomes[kept[0]]}
    family = [
        one for one in tried if one.change.field == best.change.field and one.change.size == best.change.size
    ]
    listed: list[list[Edit]] = [[one.change.edit] for one in family]
    again = session.judge(world, [*listed, []], forced=off)
    after = sum(run is not None and run.passes for run in again[:-1])
    unchanged = again[-1] is not None and again[-1].passes
    before = sum(one.run.passes for one in family)
    return tuple(kept), WhatIf(session.sites[kept[0]], before, after, len(family), unchanged)


def _why(
    change: Change,
    effective: Sequence[int],
    ignored: bool,
    nothing_caught: bool,
    caught: dict[tuple[str, str], int],
    tried: Sequence[Tried],
) -> Why | Aside:
    """What kind of hole it is, or why it is none: it is let through on purpose or never looked at."""
    if change.size == "far" and effective and not nothing_caught:
        return "excuse"  # what is taken for an outlier, say
    if change.size in ("nudge", "far"):
        return Aside.UNREAD if ignored or nothing_caught else Aside.SMALL
    if nothing_caught:
        return "blind" if change.size in _REAL else Aside.UNREAD
    if effective:
        return "excuse"
    if ignored:
        return Aside.UNREAD
    if change.size in ("nan", "infinite"):
        if _numbers_do_not_count(change, tried):
            return Aside.ROLE
        return "nan" if _caught_here(change, tried) else Aside.NUMBER
    if change.size == "absent":
        # A key that is gone and reads as its own default is a hole only where the value is compared.
        values = caught.get(("changed", change.field)) or caught.get(("flipped", change.field))
        return "gap" if values else Aside.ABSENT
    return _gap(change, caught, tried)


def _compared(change: Change, tried: Sequence[Tried]) -> bool:
    """Whether anything in the change's own field, short of losing it, is noticed."""
    return any(
        one.run.noticed and one.change.verb in ("swapped", "dropped", "doubled", "set whole")
        for one in tried
        if one.change.field == change.field and one.change.edit.path[0] == change.edit.path[0]
    )


def _caught_here(change: Change, tried: Sequence[Tried]) -> bool:
    """Whether another value in the same field of the same argument is noticed.

    Where a tolerance is wide, that is one which is far off, or an infinite one.
    """
    mine = [
        one
        for one in tried
        if one.change.field == change.field and one.change.edit.path[0] == change.edit.path[0]
    ]
    if any(one.run.noticed for one in mine if one.change.verb in ("changed", "flipped")):
        return True
    if any(one.run.verdict == "fail" for one in mine if one.change.verb == change.verb):
        return True  # it is noticed in one row and passes in another
    return any(one.run.verdict == "fail" for one in mine if one.change.size in _FAR and one.change != change)


def _gap(change: Change, caught: dict[tuple[str, str], int], tried: Sequence[Tried]) -> Why | Aside:
    if change.size == "structure":
        return "gap"
    if not caught.get(change.family):
        # One change never shows and others in the same field do: so many differences are allowed.
        return "gap" if _compared(change, tried) else Aside.UNLIKE
    return Aside.ROLE if _does_not_count(change, tried) else "gap"


def _numbers_do_not_count(change: Change, tried: Sequence[Tried]) -> bool:
    """Whether it lies where another number is left out for a reason as well, so that no NaN hides there."""
    others = [
        t
        for t in tried
        if t.change.verb == "changed"
        and t.change.field == change.field
        and t.change.role == change.role
        and t.change.edit.path[0] == change.edit.path[0]
    ]
    return bool(others) and all(_does_not_count(one, tried) for one in (change, others[0].change))


def _does_not_count(change: Change, tried: Sequence[Tried]) -> bool:
    """Whether it is a number at a place that is left out for a reason, as a log-prob of the prompt."""
    masked = change.role in ("prompt", "tool result", "tail")
    same_role = [t for t in tried if t.change.family == change.family and t.change.role == change.role]
    return masked and not any(t.run.noticed for t in same_role) and not change.says.startswith("token")
