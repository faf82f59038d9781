"""What a test notices of the code that it runs: checks switched off, branches turned, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from reviewbot.errors import ProbeError
from reviewbot.probe import harvest
from reviewbot.probe.base import base_of
from reviewbot.probe.harvest import Call, classes_of
from reviewbot.probe.mentions import Function
from reviewbot.probe.session import Run, Session
from reviewbot.probe.target import Target

# A place of the code under test and what was done to it.
Kill = tuple[str, int, str]


def kills(tests: Sequence[Target], *, python: str | None = None) -> list[frozenset[Kill]]:
    """For each test the changes of the code under test that make it fail. Raises ProbeError."""
    functions = [Function(test.root / test.path, test.unit, is_test=True) for test in tests]
    names = [f"{test.root / test.path}::{test.unit.replace('.', '::')}" for test in tests]
    found = harvest.from_tests(tests[0].root, functions, tests=names, python=python)
    return [_kills(test, calls, python) for test, calls in zip(tests, found.calls, strict=True)]


def _kills(test: Target, calls: Sequence[Call], python: str | None) -> frozenset[Kill]:
    usable = [call for call in calls if not call.raised]
    if not usable:
        raise ProbeError(f"no passing run of {test.name} with plain arguments was recorded")
    module = usable[0].module
    with Session(test, module=module, also=classes_of(usable, module), python=python) as session:
        base = base_of(session, usable, reduce=False)
        run = session.one(base.number, watch=True)
        out = set()
        for number, turned in _changes(session, test, run):
            site = session.sites[number]
            if turned is None:
                changed = session.one(base.number, off=[number])
            else:
                changed = session.one(base.number, forced={number: turned})
            if changed.noticed:
                out.add((site.path, site.line, "off" if turned is None else f"turned {turned}"))
        return frozenset(out)


def _changes(session: Session, test: Target, run: Run) -> list[tuple[int, bool | None]]:
    """Checks of the code under test to switch off (None), branches to turn the way that they did not go."""
    listed: list[tuple[int, bool | None]] = []
    went: dict[int, set[bool]] = {}
    for number, outcome in run.outcomes:
        went.setdefault(number, set()).add(outcome)
    reached = {int(key[0]) for key in run.reached}
    for number, site in enumerate(session.sites):
        own = site.path == test.path and site.unit.partition(".")[0].startswith(("test", "Test"))
        if own:
            continue
        if site.kind == "check" and number in reached:
            listed.append((number, None))
        elif site.form == "if" and len(went.get(number, ())) == 1:
            listed.append((number, not next(iter(went[number]))))
    return listed
