"""Rows that do not say their step, prompt or sample: what was assumed, and where one run alone says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reviewbot.parity.dumps.dump import Dump
from reviewbot.parity.rows import Identity, spoken

TAKEN = {
    "step": "0 was assumed",
    "prompt": "its place in its file was taken for it",
    "sample": "samples of a prompt were counted from 0 as they come",
}


@dataclass
class OneSided:
    """By step, prompt and sample: the first row of which one run alone says it, and how many such rows."""

    found: dict[str, tuple[Identity, int]] = field(default_factory=dict)

    def add(self, row: Identity, names: Sequence[str]) -> None:
        """Counts a row of which one run alone says `names`."""
        for name in names:
            first, rows = self.found.get(name, (row, 0))
            self.found[name] = first, rows + 1

    def doubts(self) -> Iterator[str]:
        """Why rows that met need not be the same."""
        for name, (row, rows) in self.found.items():
            yield (
                f"one run alone says the {name} of {rows} row{'s' * (rows != 1)}, such as {spoken(row)}: "
                f"in the other {TAKEN[name]}, so they need not be the same rows"
            )


def assumed(sides: tuple[str, str], dumps: tuple[Dump, Dump]) -> Iterator[str]:
    """What was taken for a step, prompt or sample that rows do not say, and in how many of them."""
    for name, taken in TAKEN.items():
        lacking = [
            f"in {dump.assumed[name]} of the {side} run"
            for side, dump in zip(sides, dumps, strict=True)
            if dump.assumed[name]
        ]
        if lacking:
            where = f"where it does not say its own ({' and '.join(lacking)})"
            yield f"a row under another {name}, {where}: {taken}"


def beside(sides: tuple[str, str], dumps: tuple[Dump, Dump]) -> Iterator[str]:
    """What lines say that are no rows, and how many there are."""
    found = [
        f"{dump.beside} of the {side} run" for side, dump in zip(sides, dumps, strict=True) if dump.beside
    ]
    if found:
        yield f"what a line says that has no field of a row but a step: {' and '.join(found)} were left out"
