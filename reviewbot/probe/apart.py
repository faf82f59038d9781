"""Rows that a check treats apart from others of their structure, seen by running it.

What opens a branch for a row may stand in an argument beside, in the row's number, or in what the check
computes; changing each row a little shows it wherever it stands.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from reviewbot.probe import shape
from reviewbot.probe.changes import Change, of_row
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import World
from reviewbot.probe.inside.plain import Path, Plain
from reviewbot.probe.session import Session

MOST_ROWS = 200
MOST_RUNS = 4_000
SHARE = 0.2  # of the time that is left


def kinds(
    session: Session, number: int, world: World, pairs: Sequence[shape.Sides], *, until: float
) -> list[int]:
    """A number for each row of the sides: rows with the same number were noticed, and not, in the same fields
    by the same checks. Empty where there are no rows to tell apart, or too many."""
    root = next((pair.other for pair in pairs if shape.is_rows(plain.at(dict(world), pair.other))), None)
    if root is None:
        return []
    rows = plain.at(dict(world), root)
    if not 1 < len(rows) <= MOST_ROWS:
        return []
    listed = [(index, change) for index in range(len(rows)) for change in few(rows[index], (*root, index))]
    if len(listed) > MOST_RUNS:
        return []
    now = time.monotonic()
    edits = [[change.edit] for _, change in listed]
    runs = session.judge(number, edits, until=now + SHARE * (until - now))
    if len(runs) < len(listed):
        return []
    seen: list[set[object]] = [set() for _ in rows]
    for (index, change), run in zip(listed, runs, strict=True):
        if run is not None:
            seen[index].add((change.field, run.verdict, run.fired))
    marks = [frozenset(one) for one in seen]
    known = list(dict.fromkeys(marks))
    return [known.index(mark) for mark in marks]


def few(row: Plain, path: Path) -> list[Change]:
    """A real change of each field of a row: of a list the first, the middle and the last."""
    by_field: dict[str, list[Change]] = {}
    for change in of_row(row, path):
        if change.size == "real":
            by_field.setdefault(change.field, []).append(change)
    return [found[at] for found in by_field.values() for at in sorted({0, len(found) // 2, len(found) - 1})]
