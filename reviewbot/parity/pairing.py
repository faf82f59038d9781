"""Rows of two runs brought together by step, prompt and sample, whatever order they come in.

Memory does not grow with the dumps: rows in the same order meet at once; of the others the bytes wait, first
in memory, then in a temporary file. What is kept of every row is its identity.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import IO, Literal

import msgspec

from reviewbot.parity.dumps.dump import Dump, Line, unsaid
from reviewbot.parity.dumps.format import Where
from reviewbot.parity.rows import Identity, Row, identity

Side = Literal["reference", "restored"]
IN_MEMORY = 64 * 1024 * 1024  # bytes of rows that wait in memory for their partner


@dataclass(frozen=True, slots=True)
class Pair:
    """The same row of both runs. `same_bytes`: their lines are equal byte for byte.

    `finite`: no list in them has a value that is not a number, or infinite. `one_sided`: what of step, prompt
    and sample one run says of this row and the other does not.
    """

    row: Identity
    reference: Row
    restored: Row
    same_bytes: bool
    finite: bool
    restored_at: Where
    one_sided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alone:
    """A row that only one run trained on."""

    row: Identity
    side: Side
    where: Where


@dataclass(frozen=True, slots=True)
class Repeated:
    """A row that one run trained on again."""

    row: Identity
    side: Side
    where: Where


@dataclass(slots=True)
class _Waiting:
    """Lines of one side that have not met their partner."""

    dump: Dump
    side: Side
    spool: IO[bytes]
    seen: set[Identity]
    held: dict[Identity, tuple[bytes | None, int, int, Where]]
    in_memory: int = 0

    def put(self, row: Identity, line: Line) -> None:
        if self.in_memory + len(line.data) <= IN_MEMORY:
            self.in_memory += len(line.data)
            self.held[row] = (line.data, 0, len(line.data), line.where)
            return
        at = self.spool.seek(0, 2)
        self.spool.write(line.data)
        self.held[row] = (None, at, len(line.data), line.where)

    def take(self, row: Identity) -> Line | None:
        found = self.held.pop(row, None)
        if found is None:
            return None
        data, at, length, where = found
        if data is None:
            self.spool.seek(at)
            return Line(self.spool.read(length), where)
        self.in_memory -= length
        return Line(data, where)


def paired(reference: Dump, restored: Dump) -> Iterator[Pair | Alone | Repeated]:
    """Every row of both runs: pairs and repetitions as they come, rows of one side alone at the end."""
    with tempfile.TemporaryFile() as first, tempfile.TemporaryFile() as second:
        one = _Waiting(reference, "reference", first, set(), {})
        other = _Waiting(restored, "restored", second, set(), {})
        in_order = True
        for left, right in zip_longest(reference.lines(), restored.lines()):
            if in_order and left is not None and right is not None:
                pair = _side_by_side(one, left, other, right)
                if isinstance(pair, Pair):
                    yield pair
                    continue
                in_order = False
                yield from _arrived(one, left, pair[0], other)
                yield from _arrived(other, right, pair[1], one)
                continue
            for mine, line, yours in ((one, left, other), (other, right, one)):
                if line is not None:
                    yield from _arrived(mine, line, _identity(mine.dump, line), yours)
        for mine in (one, other):
            for row, (_, _, _, where) in mine.held.items():
                yield Alone(row, mine.side, where)


def _side_by_side(
    one: _Waiting, left: Line, other: _Waiting, right: Line
) -> Pair | tuple[Identity, Identity]:
    """Two lines that came together, as a pair if both are the same row for the first time."""
    reference, restored, finite = _both(one, left, other, right)
    same_bytes = restored is reference
    one_sided = _one_sided(reference, left, restored, right)
    reference = one.dump.numbered(reference, left.where)
    restored = other.dump.numbered(restored, right.where)
    row, its = identity(reference), identity(restored)
    if row != its or row in one.seen or row in other.seen:
        return row, its
    one.seen.add(row)
    other.seen.add(row)
    return Pair(row, reference, restored, same_bytes, finite, right.where, one_sided)


def _identity(dump: Dump, line: Line) -> Identity:
    return identity(dump.numbered(dump.key(line), line.where))


def _one_sided(reference: Row, left: Line, restored: Row, right: Line) -> tuple[str, ...]:
    ours, theirs = unsaid(reference, left.where), unsaid(restored, right.where)
    return () if ours == theirs else tuple(sorted({*ours} ^ {*theirs}))


def _both(one: _Waiting, left: Line, other: _Waiting, right: Line) -> tuple[Row, Row, bool]:
    """Both lines as rows, one and the same for equal bytes; and whether all numbers in them are finite."""
    reference, finite = one.dump.row(left), _finite(left)
    if type(one.dump.format) is type(other.dump.format):
        if left.data == right.data:
            return reference, reference, finite
        # What is read of the other line alone is JSON, so finite.
        if near := one.dump.format.like(reference, left.data, right.data):
            return reference, near, finite
    return reference, other.dump.row(right), finite and _finite(right)


def _finite(line: Line) -> bool:
    """Whether the line itself shows it: JSON has no word for what is not finite."""
    return line.data[:1] == b"{" and b"N" not in line.data and b"I" not in line.data


def _arrived(mine: _Waiting, line: Line, row: Identity, yours: _Waiting) -> Iterator[Pair | Repeated]:
    if row in mine.seen:
        yield Repeated(row, mine.side, line.where)
        return
    mine.seen.add(row)
    partner = yours.take(row)
    if partner is None:
        mine.put(row, line)
        return
    (left, right) = (line, partner) if mine.side == "reference" else (partner, line)
    one, other = (mine, yours) if mine.side == "reference" else (yours, mine)
    reference, restored, finite = _both(one, left, other, right)
    same_bytes = restored is reference
    one_sided = _one_sided(reference, left, restored, right)
    reference = _named(reference, row)
    restored = reference if same_bytes else _named(restored, row)
    yield Pair(row, reference, restored, same_bytes, finite, right.where, one_sided)


def _named(found: Row, row: Identity) -> Row:
    """The row under its identity, which its dump has counted out."""
    step, prompt, sample = row
    return msgspec.structs.replace(found, step=step, prompt=prompt, sample=sample)
