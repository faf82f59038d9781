"""What a test notices of the code that it runs: of its checks, its branches and its figures, one by one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from reviewbot.errors import NoSandbox, ProbeError
from reviewbot.probe import harvest
from reviewbot.probe import target as targets
from reviewbot.probe.base import base_of
from reviewbot.probe.evidence import Place
from reviewbot.probe.harvest import Call, classes_of
from reviewbot.probe.inside.sites import Site
from reviewbot.probe.mentions import Function
from reviewbot.probe.session import Run, Session
from reviewbot.probe.target import Target
from reviewbot.source.units import File

# A place of the code under test and what was done to it.
Kill = tuple[str, int, str]
MOST_OTHERS = 12
MOST_FIGURES = 400


@dataclass(frozen=True)
class Measured:
    """`kills`: the changes of the code under test that make a test fail. `unmissed`: the checks of that code
    which fire in its passing run, as where it expects an error, and without which it passes all the same."""

    kills: frozenset[Kill]
    unmissed: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Twins:
    """Tests of one file that notice exactly the same `changes` of the code under test as another does."""

    names: tuple[str, ...]
    changes: int


def kills(tests: Sequence[Target], *, python: str | None = None) -> list[frozenset[Kill]]:
    """For each test the changes of the code under test that make it fail. Raises ProbeError."""
    functions = [Function(test.root / test.path, test.unit, is_test=True) for test in tests]
    found = harvest.from_tests(tests[0].root, functions, tests=[_node(test) for test in tests], python=python)
    both = list(zip(tests, found.calls, strict=True))
    try:
        return [measure(test, calls, python=python, figures=True).kills for test, calls in both]
    except NoSandbox:
        raise
    except ProbeError:
        # Too many constants and operations: what checks and branches tell is compared.
        return [measure(test, calls, python=python).kills for test, calls in both]


def measure(
    test: Target,
    calls: Sequence[Call],
    *,
    seconds: float = 30.0,
    python: str | None = None,
    absent: Sequence[str] = (),
    figures: bool = False,
) -> Measured:
    """What a test notices, in a session of its own; with `figures` of constants and operations too.

    Raises ProbeError where it has no passing run, or where the time does not suffice for every change.
    """
    usable = [call for call in calls if not call.raised]
    if not usable:
        raise ProbeError(f"no passing run of {test.name} with plain arguments was recorded")
    module = usable[0].module
    also = classes_of(usable, module)
    with Session(
        test, module=module, also=also, python=python, absent=absent, figures=figures, seconds=seconds
    ) as session:
        until = time.monotonic() + seconds  # loading comes on top
        base = base_of(session, usable, reduce=False)
        run = session.one(base.number, watch=True)
        fired = {int(key[0]) for key in run.fired}
        noticed: set[Kill] = set()
        unmissed = []
        for number, turned in _changes(session, test, run):
            if time.monotonic() > until:
                raise ProbeError(f"{test.name} runs too much code for {seconds:g} s")
            site = session.sites[number]
            if turned is None:
                changed = session.one(base.number, off=[number])
            else:
                changed = session.one(base.number, forced={number: turned})
            if changed.noticed:
                noticed.update((site.path, site.line, what) for what in _what(run, number, site, turned))
            elif turned is None and number in fired and changed.passes:
                unmissed.append(Place(site.path, site.line, site.text, site.unit))
        return Measured(frozenset(noticed), tuple(unmissed))


def _what(run: Run, number: int, site: Site, turned: bool | None) -> list[str]:
    """What was done to a place; to a table, to each entry that was looked up there."""
    if site.form == "lookup":
        return [f"{site.text}: {key[1]}" for key in run.reached if key[0] == number]
    if site.kind == "figure":
        return [f"{site.form} {site.text}"]
    return ["off" if turned is None else f"turned {turned}"]


def twins(
    test: Target, own: frozenset[Kill], *, seconds: float, python: str | None = None, figures: bool = False
) -> Twins:
    """The other tests of its file that notice what it notices. Those that cannot be measured are left out."""
    until = time.monotonic() + seconds
    others = _others(test)
    if not own or not others:
        return Twins((), 0)
    functions = [Function(one.root / one.path, one.unit, is_test=True) for one in others]
    try:
        found = harvest.from_tests(
            test.root, functions, tests=[_node(one) for one in others], seconds=seconds, python=python
        )
    except NoSandbox:
        raise
    except ProbeError:
        return Twins((), 0)
    same = []
    for other, calls in zip(others, found.calls, strict=True):
        if time.monotonic() > until:
            break
        try:
            left = until - time.monotonic()
            made = measure(other, calls, seconds=left, python=python, absent=found.absent, figures=figures)
            if made.kills == own:
                same.append(other.unit)
        except NoSandbox:
            raise
        except ProbeError:
            continue
    return Twins(tuple(same), len(own))


def _others(test: Target) -> list[Target]:
    """The file's other tests, those nearest to it first."""
    path = test.root / test.path
    listed = []
    for unit in File(str(path), path.read_bytes()).units:
        if unit.is_function and unit.name != test.unit and unit.name.rpartition(".")[2].startswith("test"):
            listed.append((abs(unit.line - test.line), unit.name))
    return [targets.parse(f"{path}::{name}") for _, name in sorted(listed)[:MOST_OTHERS]]


def _node(test: Target) -> str:
    return f"{test.root / test.path}::{test.unit.replace('.', '::')}"


def _own(site: Site, test: Target) -> bool:
    """Whether a check or branch stands in a test, not in the code that it runs."""
    return site.path == test.path and site.unit.partition(".")[0].startswith(("test", "Test"))


def _changes(session: Session, test: Target, run: Run) -> list[tuple[int, bool | None]]:
    """Checks of the code under test to switch off (None), branches to turn the way that they did not go."""
    listed: list[tuple[int, bool | None]] = []
    went: dict[int, set[bool]] = {}
    for number, outcome in run.outcomes:
        went.setdefault(number, set()).add(outcome)
    reached = {int(key[0]) for key in run.reached}
    figures = sum(session.sites[number].kind == "figure" for number in went if session.known(number))
    if figures > MOST_FIGURES:
        raise ProbeError(f"{test.name} runs {figures} constants and operations, more than can be changed")
    for number, site in enumerate(session.sites):
        if _own(site, test) or site.unit == test.unit:
            continue
        if site.kind == "check" and number in reached:
            listed.append((number, None))
        elif site.kind == "figure" and number in went:
            listed.append((number, True))
        elif site.form == "if" and len(went.get(number, ())) == 1:
            listed.append((number, not next(iter(went[number]))))
    return listed
