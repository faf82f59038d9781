"""Whether what passes does so when nothing of ours watches: each witness is run once more before it is told.

A check and a command line run as they are written, without a counter in them. A test runs by pytest, with its
own fixtures and all of its calls; nothing but the changed values is put in.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from reviewbot.errors import NoSandbox, ProbeError
from reviewbot.probe import closure, harvest
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.sandbox import Box
from reviewbot.probe.session import Session
from reviewbot.probe.target import Target

LONGEST = 60.0  # seconds for all runs by pytest together
GREEN = ("passed", "skipped")


class Unwatched:
    """The target of a session once more, as it is written. Use it as a context manager."""

    def __init__(self, session: Session, world: World, test: str = "") -> None:
        self._session, self._world, self._test = session, world, test
        self._bare = Session(
            session.target,
            module=session.module,
            also=session.also,
            python=session.python,
            worlds=[world],
            instead=session.instead,
            calls=session.calls,
            files=session.files,
            absent=session.absent,
            seconds=session.seconds,
            bare=True,
        )
        self._bare.how = session.how

    def __enter__(self) -> Unwatched:
        self._bare.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._bare.close()

    def passes(self, world: World, made: Sequence[Edit]) -> bool:
        """Whether these arguments pass, and pass with the edits."""
        number = self._bare.add(world)
        runs = self._bare.judge(number, [[], list(made)])
        return all(run is not None and run.passes for run in runs)

    def stand(self, listed: Sequence[Sequence[Edit]]) -> list[bool]:
        """Of each list of edits to the arguments that a probe started from, whether it passes."""
        alone = [self.passes(self._world, made) for made in listed]
        if self._session.target.kind != "test" or not any(alone):
            return alone
        by_pytest = _by_pytest(self._session, self._world, listed, self._test)
        return [one and other is not False for one, other in zip(alone, by_pytest, strict=True)]


def _by_pytest(
    session: Session, world: World, listed: Sequence[Sequence[Edit]], test: str
) -> list[bool | None]:
    """What pytest says of each; None where it does not pass on the recorded values put in again, either."""
    variants = []
    for made in listed:
        roots = {str(edit.path[0]) for edit in made}
        variants.append(_variant(session, world, roots))
        variants.append(_variant(session, edits.apply(world, made) or world, roots))
    outcomes: list[str] = []
    for plugins in (False, True):
        outcomes = _run(session, variants, test, plugins=plugins)
        if "passed" in outcomes[::2]:
            break
    pairs = zip(outcomes[::2], outcomes[1::2], strict=True)
    return [now in GREEN if before == "passed" and now else None for before, now in pairs]


def _variant(session: Session, world: Mapping[str, plain.Plain], roots: set[str]) -> dict[str, Any]:
    given: dict[int, plain.Plain] = {}
    arguments: dict[str, plain.Plain] = {}
    for name in roots:
        if name in session.calls:
            number, many = session.calls[name]
            given[number] = world[name] if many else [world[name]]
        else:
            arguments[name] = world[name]
    return {"given": plain.encode(given), "arguments": plain.encode(arguments)}


def _run(session: Session, variants: Sequence[dict[str, Any]], test: str, *, plugins: bool) -> list[str]:
    """pytest's outcome of each variant, "" where it came to none."""
    target: Target = session.target
    node = f"{target.root / target.path}::{target.unit.replace('.', '::')}"
    case = test.partition("[")[2]
    node += f"[{case}" if case else target.case
    wants, asked = harvest.by_pytest(
        target.root, [node], session.python, entry="again", plugins=plugins, absent=session.absent
    )
    asked |= {
        "path": str(target.root / target.path),
        "unit": target.unit,
        "search": closure.search_paths(target.root, target.path),
        "variants": variants,
    }
    outcomes = [""] * len(variants)
    deadline = time.monotonic() + LONGEST
    try:
        with Box(wants, asked) as box:
            while True:
                line = box.receive(deadline)
                if "again" in line and type(line["again"]) is int and 0 <= line["again"] < len(outcomes):
                    outcomes[line["again"]] = str(line.get("outcome"))
                elif "done" in line:
                    break
    except NoSandbox:
        raise
    except (ProbeError, TimeoutError):
        pass  # what it had told by then counts
    return outcomes
