"""Tries to confirm findings by running the code that they are about.

A confirmed finding is proved and carries what the run showed; a refuted one is withdrawn; everything else
stays as it was. Each way of confirming also says when it refutes: never because nothing was found.
"""

from __future__ import annotations

import ast
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from reviewbot.errors import NoSandbox, ProbeError, ReviewbotError
from reviewbot.flow.left_on_purpose import MEANT, is_handed_on
from reviewbot.model import Finding
from reviewbot.probe import harvest, pairs, rebuild, suite
from reviewbot.probe import target as targets
from reviewbot.probe.again import Unwatched
from reviewbot.probe.base import Base
from reviewbot.probe.changes import Change
from reviewbot.probe.derive import derive
from reviewbot.probe.evidence import Witness, lost_fields
from reviewbot.probe.harvest import Call, Harvest
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import Edit
from reviewbot.probe.matrix import Attempt, Matrix, matrix
from reviewbot.probe.mentions import Function
from reviewbot.probe.run import Wish, look, opened
from reviewbot.probe.search import Passing, Search, Tried
from reviewbot.probe.session import Session
from reviewbot.probe.target import Target
from reviewbot.probe.without import callers
from reviewbot.probe.witness import witness
from reviewbot.source.units import File

# shown: it runs as the finding says, and whether that is a fault no run can tell.
State = Literal["confirmed", "refuted", "shown", "unknown"]
MOST_WITNESSES = 3
LEAST_REFUTING = 3
MOST_NANS = 20
EACH = 5.0  # seconds of search for one entry


@dataclass(frozen=True)
class Judged:
    """What became of a finding. `says` is a clause; `entry` is what was run, "" where nothing was."""

    finding: Finding
    state: State
    says: str
    entry: str = ""
    witness: Witness | None = None


@dataclass(frozen=True)
class _Study:
    """An entry with its session still open: everything tried on it and which check notices what."""

    target: Target
    session: Session
    base: Base
    search: Search
    matrix: Matrix


@dataclass
class _Bench:
    """What is recorded and studied once, for all findings."""

    root: Path
    until: float
    python: str | None
    stack: ExitStack
    progress: Callable[[str], None]
    studies: dict[str, _Study | str] = field(default_factory=dict)
    harvests: dict[tuple[str, ...], Harvest | str] = field(default_factory=dict)

    def entries(self, finding: Finding) -> list[Target]:
        """Functions through which the finding's own is reached in its file, outermost first."""
        path = self.root / finding.span.path
        names = callers(File(str(path), path.read_bytes()), finding.unit)
        return [targets.parse(f"{path}::{name}") for name in names]

    def recorded(self, wanted: Sequence[Target]) -> Harvest:
        """The calls of these functions in their repository's tests. Raises ProbeError."""
        key = tuple(one.name for one in wanted)
        if key not in self.harvests:
            functions = [Function(one.root / one.path, one.unit, one.kind == "test") for one in wanted]
            only = [_node(one) for one in wanted if one.kind == "test"]
            try:
                self.harvests[key] = harvest.from_tests(
                    wanted[0].root,
                    functions,
                    tests=only,
                    seconds=max(1.0, min(30.0, self.until - time.monotonic())),
                    python=self.python,
                    progress=self.progress,
                )
            except NoSandbox:
                raise
            except ProbeError as error:
                self.harvests[key] = str(error)
        found = self.harvests[key]
        if isinstance(found, str):
            raise ProbeError(found)
        return found

    def studied(self, finding: Finding) -> Iterator[_Study]:
        """The entries that can be run, outermost first. Raises ProbeError where none can."""
        wanted = self.entries(finding)
        found = self.recorded(wanted)
        failures = []
        some = False
        for number, (target, recorded) in enumerate(zip(wanted, found.calls, strict=True)):
            if not recorded and found.refused[number]:
                failures.append(f"{target.unit}: {found.why_none(number)}")
                continue
            if not recorded and (found.failed or found.not_run):
                failures.append(f"{target.unit}: {found.what_ran()}")
                continue
            study = self._study(target, recorded, found.absent)
            if isinstance(study, str):
                failures.append(study)
            else:
                some = True
                yield study
        if not some:
            raise ProbeError(failures[0] if failures else "nothing in its file could be run")

    def _study(self, target: Target, calls: Sequence[Call], absent: tuple[str, ...]) -> _Study | str:
        if target.name not in self.studies:
            try:
                self.studies[target.name] = self._new_study(target, calls, absent)
            except NoSandbox:
                raise
            except ProbeError as error:
                self.studies[target.name] = str(error)
        return self.studies[target.name]

    def _new_study(self, target: Target, calls: Sequence[Call], absent: tuple[str, ...]) -> _Study:
        if not any(not call.raised for call in calls):
            raise ProbeError(f"no passing call of {target.unit} with plain arguments was recorded")
        if time.monotonic() > self.until:
            raise ProbeError("the time for probing was up")
        self.progress(f"probing {target.name}")
        wish = Wish(python=self.python, absent=absent, seconds=max(5.0, self.until - time.monotonic()))
        if target.kind == "test":
            calls, labels = harvest.of_test(calls)
            wish = replace(wish, labels=labels)
        until = min(self.until, time.monotonic() + EACH)
        session, base = self.stack.enter_context(opened(target, calls, wish))
        found = look(session, base, until=until)
        listed = [Attempt(one.change, (one.change.edit,), one.run) for one in found.tried]
        made = matrix(session, base.number, listed, until=until + 1.0)
        return _Study(target, session, base, found, made)


def confirm(
    findings: Sequence[Finding],
    root: Path,
    *,
    seconds: float,
    python: str | None = None,
    progress: Callable[[str], None] = lambda says: None,
) -> list[Judged]:
    """Each finding with what running it showed; paths are relative to `root`.

    Raises NoSandbox where the code cannot be shut in.
    """
    out = []
    with ExitStack() as stack:
        bench = _Bench(root, time.monotonic() + seconds, python, stack, progress)
        shown: set[object] = set()
        for finding in findings:
            judged = _judge(bench, finding)
            if judged.witness is not None:
                # One comment an escape and field, three in all: more of them say nothing more.
                key = (judged.witness.escapes, judged.witness.changes[0].where)
                if key in shown or len(shown) >= MOST_WITNESSES:
                    judged = Judged(finding, "confirmed", judged.says, judged.entry)
                else:
                    shown.add(key)
            out.append(judged)
    return out


def can_confirm(finding: Finding) -> bool:
    """Whether there is a way to confirm findings of its rule."""
    return finding.rule in _WAYS


def _judge(bench: _Bench, finding: Finding) -> Judged:
    way = _WAYS.get(finding.rule)
    if way is None:
        return Judged(finding, "unknown", "no run can show it")
    if time.monotonic() > bench.until:
        return Judged(finding, "unknown", "the time for probing was up")
    try:
        return way(bench, finding)
    except NoSandbox:
        raise
    except ReviewbotError as error:
        return Judged(finding, "unknown", str(error))


def _node(target: Target) -> str:
    return f"{target.root / target.path}::{target.unit.replace('.', '::')}"


def _sites(study: _Study, finding: Finding, kind: str) -> set[int]:
    """The checks that overlap a finding's lines, or the branches that begin in them."""
    span = finding.span
    return _sites_at(study, span.path, span.line, span.end_line, kind)


def _sites_at(study: _Study, path: str, line: int, end_line: int, kind: str) -> set[int]:
    path = _in_root(study, path)
    return {
        number
        for number, site in enumerate(study.session.sites)
        if site.kind == kind
        and site.path == path
        and site.line <= end_line
        and (site.end_line if kind == "check" else site.line) >= line
    }


def _in_root(study: _Study, path: str) -> str:
    """A finding's path, which is relative to the working folder, relative to the repository."""
    own = (study.target.root / study.target.path).as_posix()
    return study.target.path if own.endswith(path) else path


def _shown(study: _Study, finding: Finding, passing: Passing, says: str) -> Judged:
    with Unwatched(study.session, study.base.world, study.base.call.test) as unwatched:
        (stands,) = unwatched.stand([passing.made])
    if not stands:
        return Judged(finding, "unknown", "run as it is written, the check notices it", study.target.name)
    made = witness(study.session, study.base, passing, until=time.monotonic() + 2.0)
    return Judged(finding, "confirmed", says, study.target.name, made)


# ---- one way for each rule --------------------------------------------------------------------------------


def _excuse(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed by a difference that passes through the branch; refuted if each that takes it is caught."""
    taken = caught = 0
    entry = ""
    for study in bench.studied(finding):
        mine = _sites(study, finding, "branch")
        for passing in study.search.passing:
            if passing.why == "excuse" and mine & set(passing.escapes):
                return _shown(
                    study, finding, passing, f"{passing.best.change.says} passes through the branch"
                )
        new = [
            one
            for one in study.search.tried
            if mine & {number for number, _ in one.run.outcomes - study.search.base.outcomes}
        ]
        taken, caught = taken + len(new), caught + sum(one.run.noticed for one in new)
        entry = entry or study.target.name
    if taken >= LEAST_REFUTING and caught == taken:
        return Judged(
            finding, "refuted", f"each of the {taken} changes that take the branch is caught", entry
        )
    says = f"{taken} change{'s' * (taken != 1)} took the branch, of which the check caught {caught}"
    return Judged(finding, "unknown", says, entry)


def _fields_of(study: _Study, sites: set[int], *also: str) -> set[str]:
    """The fields whose changes make one of these checks fire: of numbers, and of a size of `also`."""
    return {
        row.change.field
        for row in study.matrix.rows
        if row.change.size in ("real", "far", *also) and any(int(key[0]) in sites for key in row.fires)
    }


def _nan(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed by a NaN that passes where another number is caught by this very check."""
    tried: list[Tried] = []
    whole: set[str] = set()
    entry = ""
    for study in bench.studied(finding):
        # Where a branch excuses what is far off, only NaN gets to the check.
        fields = _fields_of(study, _sites(study, finding, "check"), "nan")
        for passing in study.search.passing:
            if passing.why == "nan" and passing.best.change.field in fields:
                return _shown(study, finding, passing, f"{passing.best.change.says} and passes")
        nans = [one for one in study.search.tried if one.change.size == "nan" and one.change.field in fields]
        integers = [] if nans else list(_integers(study, fields))
        if integers and not _takes_floats(study, finding):
            whole |= {change.field for change in integers}
        elif integers:
            nans = [Tried(change, study.session.one(study.base.number, [change.edit])) for change in integers]
            passes = next((one for one in nans if one.run.passes), None)
            if passes is not None:
                caught = sum(one.run.noticed for one in study.search.tried if one.change.field in fields)
                says = f"{passes.change.says} and passes; its tests give whole numbers there"
                return _shown(study, finding, Passing("nan", (passes,), (), caught, 0), says)
        tried += nans
        entry = entry or study.target.name
    if tried and all(one.run.noticed for one in tried):
        return Judged(finding, "refuted", f"each of the {len(tried)} NaNs tried is caught", entry)
    if whole and not tried:
        names = ", ".join(f"`{name}`" for name in sorted(whole))
        why = (
            f"its tests give whole numbers alone for {names}, its bound is one too, and no such number is NaN"
        )
        return Judged(finding, "unknown", why, entry)
    return Judged(finding, "unknown", "no NaN could be put where this check looks", entry)


def _integers(study: _Study, fields: set[str]) -> Iterator[Change]:
    """NaNs in the places of those whole numbers of these fields that were changed."""
    seen = set()
    sides = {path[0] for pair in study.base.sides for path in (pair.baseline, pair.other)}
    for one in study.search.tried:
        edit = one.change.edit
        if sides and edit.path[0] not in sides:
            continue  # the bound itself
        if edit.operation == "set" and edit.path not in seen and one.change.field in fields:
            seen.add(edit.path)
            if type(plain.at(study.base.world, edit.path)) is int and len(seen) <= MOST_NANS:
                says = f"{one.change.field} is NaN"
                yield replace(
                    one.change, edit=Edit("set", edit.path, math.nan), says=says, verb="NaN", size="nan"
                )


def _takes_floats(study: _Study, finding: Finding) -> bool:
    """Whether a check counts in floats by itself: its bound is one, or a parameter is annotated so."""
    path = study.target.root / study.target.path
    file = File(str(path), path.read_bytes())
    unit = file.unit(study.target.unit)
    constants = {
        target.id: node.value.value
        for node in file.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    known = {**constants, **study.base.world}
    span = finding.span
    for node in ast.walk(file.tree):
        if span.line <= getattr(node, "lineno", 0) <= span.end_line:
            value = known.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)
            if type(value) is float:
                return True
    annotations = (
        [node.annotation for node in ast.walk(unit.tree) if isinstance(node, ast.arg)] if unit else []
    )
    return any(note is not None and re.search(r"\bfloat", ast.unparse(note)) for note in annotations)


def _missing(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed by a key that both sides lack and nobody misses."""
    count = caught = 0
    entry = ""
    for study in bench.studied(finding):
        fields = _fields_of(study, _sites(study, finding, "check"))
        entry = entry or study.target.name
        singles = [
            t.change for t in study.search.tried if t.change.verb == "missing" and t.change.field in fields
        ]
        for change in singles:
            other = pairs.both_sides(study.base.sides, change)
            if other is None or other.edit.path[0] < change.edit.path[0]:
                continue
            both = (change.edit, other.edit)
            run = study.session.one(study.base.number, both)
            count, caught = count + 1, caught + run.noticed
            if run.passes:
                joined = pairs.joined((change, other))
                passing = Passing("missing", (Tried(joined, run),), (), 0, 0, edits=both)
                return _shown(study, finding, passing, f"both sides may lack {change.field}")
    if count and caught == count:
        return Judged(finding, "refuted", f"each of the {count} keys that both sides lack is missed", entry)
    return Judged(finding, "unknown", "no key that this check reads could be left out", entry)


def _empty(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed by inputs over which the check passes and this one does not run at all."""
    noticed = 0
    entry = ""
    for study in bench.studied(finding):
        mine = _sites(study, finding, "check")
        entry = entry or study.target.name
        if not mine:
            continue
        all_of = {number for number in mine if "all(" in study.session.sites[number].text}
        if not any(int(key[0]) in mine for key in study.search.base.reached):
            return Judged(finding, "confirmed", "in its own passing run it runs 0 times", study.target.name)
        for change, made in _emptied(study):
            run = study.session.judge(study.base.number, [list(made)], watch=True)[0]
            if run is None or (any(int(key[0]) in mine for key in run.reached) and not all_of):
                continue
            if run.passes:
                passing = Passing("empty", (Tried(change, run),), (), 0, 0, edits=made)
                return _shown(
                    study, finding, passing, f"with {change.says} it passes, and this check runs over nothing"
                )
            noticed += 1
    # Never refuted: a filter can leave nothing over of inputs that are not empty, and not all were tried.
    said = f"emptied inputs are caught ({noticed} tried)" if noticed else "no emptied input passes"
    return Judged(finding, "unknown", f"{said}; none was found over which it does not run", entry)


def _emptied(study: _Study) -> Iterator[tuple[Change, tuple[Edit, ...]]]:
    for one in study.search.tried:
        if one.change.verb == "emptied" and one.change.size == "structure":
            other = pairs.both_sides(study.base.sides, one.change)
            if other is not None:
                yield pairs.joined((one.change, other)), (one.change.edit, other.edit)
            yield one.change, (one.change.edit,)


def _implied(bench: _Bench, finding: Finding) -> Judged:
    """By the producer where another function computes the value, else by the check that it follows from."""
    producers = list(_producers(bench, finding))
    return _derived(bench, finding) if producers else _after(bench, finding)


def _after(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed if an earlier check catches each change that this one catches; refuted if this one alone
    catches some."""
    both = other = alone = 0
    entry = ""
    first = finding.steps[0] if finding.steps else None
    if first is None or first.path != finding.span.path:
        raise ProbeError("its steps name no earlier check")
    for study in bench.studied(finding):
        mine = _sites(study, finding, "check")
        earlier = _sites_at(study, first.path, first.line, first.end_line, "check") - mine
        entry = entry or study.target.name
        for row in study.matrix.rows if mine and earlier else ():
            fired = {int(key[0]) for key in row.fires}
            if row.noticed and fired & mine:
                both += bool(fired & earlier)
                other += not fired & earlier
                alone += fired <= mine
    where = f"line {first.line}"
    if alone:
        return Judged(finding, "refuted", f"it alone catches {_counted(alone)}, which {where} lets by", entry)
    if other or not both:
        says = (
            f"it catches {_counted(other)} that {where} lets by" if other else "it caught none of the changes"
        )
        return Judged(finding, "unknown", says, entry)
    says = (
        f"{where} catches each of the {_counted(both)} that it catches"
        if both > 1
        else (f"{where} catches the one change that it catches")
    )
    return Judged(finding, "confirmed", says, entry)


def _counted(changes: int) -> str:
    return "1 change" if changes == 1 else f"{changes} changes"


def _derived(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed if with the producer's code run again the check never decides; refuted if it does."""
    producers = list(_producers(bench, finding))
    if not producers:
        raise ProbeError("its steps name no producer that could be run")
    words = set(re.findall(r"`(\w+)`", finding.message))
    for study in bench.studied(finding):
        mine = _sites(study, finding, "check")
        calls = bench.recorded([study.target, *producers]).calls
        target_calls = [call for call in calls[0] if not call.raised]
        if not target_calls or not mine:
            continue
        wish = Wish(python=bench.python, producers=tuple(producers))
        with opened(study.target, target_calls, wish) as (session, base):
            found = look(session, base, until=min(bench.until, time.monotonic() + EACH))
            free = [one.change for one in found.tried]
            derived = derive(session, base.world, producers, calls[1:], free)
            if not derived.tried or any(one.status == "stated" for one in derived.derivations):
                why = derived.not_run[0] if derived.not_run else "its producer is only stated"
                return Judged(finding, "unknown", why, study.target.name)
            listed = [Attempt(change, made) for change, made in derived.tried]
            made = matrix(session, base.number, listed, until=min(bench.until, time.monotonic() + EACH))
        return _decides(finding, study.target.name, made, mine, words, producers)
    return Judged(finding, "unknown", "no passing call was recorded")


def _decides(
    finding: Finding, entry: str, made: Matrix, mine: set[int], words: set[str], producers: Sequence[Target]
) -> Judged:
    keys = {key for key in made.reached if int(key[0]) in mine}
    named = {key for key in keys if set(map(str, key[1:])) & words}
    keys = named or keys
    alone = sum(1 for row in made.rows if row.noticed and row.fires and set(row.fires) <= keys)
    fires = sum(1 for row in made.rows if keys & set(row.fires))
    code = ", ".join(f"{one.path}:{one.line}" for one in producers)
    if not keys:
        return Judged(finding, "unknown", "the check was not reached", entry)
    if alone:
        return Judged(finding, "refuted", f"with {code} run again it alone catches {alone} changes", entry)
    how = f"it catches {fires}, none of them alone" if fires else "it never fires"
    return Judged(finding, "confirmed", f"on {len(made.rows)} changes with {code} run again {how}", entry)


def _producers(bench: _Bench, finding: Finding) -> Iterator[Target]:
    """The functions outside the finding's own file that its steps stand in."""
    seen = set()
    for step in finding.steps:
        path = bench.root / step.path
        if step.path == finding.span.path or not path.is_file():
            continue
        for unit in File(str(path), path.read_bytes()).units:
            inside = unit.is_function and unit.line <= step.line <= unit.end_line
            if inside and (step.path, unit.name) not in seen:
                seen.add((step.path, unit.name))
                yield targets.parse(f"{path}::{unit.name}")


def _duplicate(bench: _Bench, finding: Finding) -> Judged:
    """Confirmed if both tests notice the same changes of the code under test, and some at all."""
    path = bench.root / finding.span.path
    file = File(str(path), path.read_bytes())
    lines = [finding.span.line, *(step.line for step in finding.steps if step.path == finding.span.path)]
    names = dict.fromkeys(
        unit.name
        for line in lines
        for unit in file.units
        if unit.is_function and unit.line <= line <= unit.end_line
    )
    tests = [targets.parse(f"{path}::{name}") for name in names]
    if len(tests) < 2 or any(one.kind != "test" for one in tests):
        raise ProbeError("the finding names no two tests of one file")
    found = suite.kills(tests[:2], python=bench.python)
    entry = f"{tests[0].name} and {tests[1].unit}"
    if found[0] == found[1] and found[0]:
        many = "change" if len(found[0]) == 1 else f"{len(found[0])} changes"
        says = f"both fail on the same {many} of the code that they run, and on no other"
        return Judged(finding, "confirmed", says, entry)
    if found[0] and found[1]:
        differ = len(found[0] ^ found[1])
        return Judged(
            finding, "refuted", f"{differ} changes of the code that they run fail only one of them", entry
        )
    return Judged(finding, "unknown", "no change of the code that they run fails them", entry)


def _dropped(bench: _Bench, finding: Finding) -> Judged:
    """Shown if a filled field that it names comes out empty; refuted if all come out, or are given anew.

    Confirmed where the function hands on what it takes, by what it says of itself, and a place is known that
    reads the field: a run tells that a field is lost, and not whether that was meant.
    """
    path = bench.root / finding.span.path
    target = targets.parse(f"{path}::{finding.unit}")
    for step in finding.steps:
        where = bench.root / step.path
        if not where.is_file():
            continue
        for unit in File(str(where), where.read_bytes()).units:
            if unit.kind == "class" and unit.line <= step.line <= unit.end_line:
                relative = where.resolve().relative_to(target.root).as_posix()
                run = rebuild.rebuilt(target, relative, unit.name, python=bench.python)
                said = re.search(r"leaves (.*) behind", finding.message)
                named = re.findall(r"`(\w+)`", said[1]) if said else list(run.lost)
                lost = tuple(name for name in rebuild.dropped(run) if name in named)
                if not lost:
                    says = "every field that is filled comes out filled, or is given a value of its own"
                    return Judged(finding, "refuted", says, target.name)
                says = lost_fields(lost, run.filled)
                if _is_a_fault(finding, target, unit.name):
                    return Judged(finding, "confirmed", says, target.name)
                return Judged(finding, "shown", f"{says}; whether that is meant no run can tell", target.name)
    raise ProbeError("its steps name no class")


def _is_a_fault(finding: Finding, target: Target, cls: str) -> bool:
    """Whether what a rebuild loses is read elsewhere, and nothing says that it was meant."""
    read = any(" reads `" in step.says for step in finding.steps)
    meant = any(MEANT in step.says for step in finding.steps)
    unit = File(target.path, (target.root / target.path).read_bytes()).unit(target.unit)
    return read and not meant and unit is not None and is_handed_on(unit.tree, cls)


_Way = Callable[[_Bench, Finding], Judged]
_WAYS: Mapping[str, _Way] = {
    "excuse-branch": _excuse,
    "loop-may-be-empty": _empty,
    "nan-passes": _nan,
    "missing-equals-missing": _missing,
    "implied-check": _implied,
    "restated-arithmetic": _derived,
    "duplicate-test": _duplicate,
    "field-dropped-on-rebuild": _dropped,
}
