"""Two lines that are nearly equal: runs that agree wrote most fields byte for byte the same.

Where only lists of numbers are different, the second line needs no decoding but for those lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

MOST = 400  # quotation marks in a line; where text goes on and on, splitting costs as much as decoding
LONGEST = 64  # bytes of a field's name
QUOTE = ord('"')

Decoders = Mapping[bytes, Callable[[bytes], Any]]


@dataclass(frozen=True, slots=True)
class Changed:
    """The fields that are different, by name, and the JSON of `same`, which is not.

    `values` were decoded whole; `lists` are lists of the first line with other numbers in some places.
    """

    values: dict[bytes, Any]
    lists: dict[bytes, list[Any]]
    same: bytes | None


def changed(
    known: bytes, line: bytes, decoders: Decoders, lists: Mapping[bytes, tuple[Any, Any]], same: bytes = b""
) -> Changed | None:
    """The fields that are different in `line`, decoded; None where anything else is, or one does not fit.

    `known` is a JSON object; `decoders` are for fields that hold numbers alone. Whoever asks makes sure that
    it is `known` itself that has those which are found, and not an object in it. Split at its quotation marks
    a line has such a value in one piece, right after its name. A name that stands there once is the field's,
    and no text: marks in a text would have backslashes. `lists` has of each field what `known` has there, and
    how a list of such numbers is decoded.
    """
    found: dict[bytes, tuple[bytes, bytes]] = {}
    kept: bytes | None = None
    names: list[bytes] = []
    start = there = 0
    name = b""
    while start <= len(known) and len(names) < MOST:
        one = _piece(known, start)
        if line.startswith(one, there) and _ends(line, there + len(one)):
            there += len(one)
            kept = _value(one, _end(one)) if name == same else kept
        else:
            other = _piece(line, there)
            ours, theirs = _value(one, _end(one)), _value(other, _end(one))
            if name not in decoders or ours is None or theirs is None:
                return None
            found[name] = (ours, theirs)
            there += len(other)
        start, there, name = start + len(one) + 1, there + 1, one[:LONGEST]
        names.append(name)
    if start <= len(known) or there <= len(line) or any(names.count(name) > 1 for name in (*found, same)):
        return None
    made = Changed({}, {}, kept)
    try:
        for name, (ours, theirs) in found.items():
            replaced = _replaced(*lists[name], ours, theirs)
            if replaced is None:
                made.values[name] = decoders[name](theirs)
            else:
                made.lists[name] = replaced
    except (msgspec.DecodeError, RecursionError):
        return None
    return made


def _replaced(values: Any, decode: Callable[[bytes], Any], ours: bytes, theirs: bytes) -> list[Any] | None:
    """The list of `ours` with the numbers that are others in `theirs`, from the first to the last of these.

    None where they stand at an end, are more or fewer, or lie in what was cut off `values`.
    """
    if not isinstance(values, list):
        return None
    before = _common(ours, theirs)
    start = ours.rfind(b",", 0, before) + 1
    after = _common_end(ours, theirs, min(len(ours), len(theirs)) - before)
    end = ours.find(b",", len(ours) - after)
    at, count = ours.count(b",", 0, start), ours.count(b",", start, max(end, 0)) + 1
    if start == 0 or end < 0 or at + count > len(values):
        return None
    numbers = decode(b"[" + theirs[start : len(theirs) - (len(ours) - end)] + b"]")
    return [*values[:at], *numbers, *values[at + count :]] if len(numbers) == count else None


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _common_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes both end with, at most so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        alike = one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]
        low, high = (middle, high) if alike else (low, middle - 1)
    return low


def _piece(line: bytes, start: int) -> bytes:
    """The line from `start` up to its next quotation mark."""
    end = line.find(b'"', start)
    return line[start : end if end >= 0 else len(line)]


def _ends(line: bytes, at: int) -> bool:
    return at == len(line) or line[at] == QUOTE


def _end(piece: bytes) -> bytes:
    """What comes after a value: a comma, or the brace that closes the object."""
    return piece.rstrip()[-1:]


def _value(piece: bytes, end: bytes) -> bytes | None:
    """What stands between a colon and the comma or brace that ends it."""
    inner = piece.strip()
    return inner[1:-1] if inner[:1] == b":" and inner[-1:] == end and end in (b",", b"}") else None
