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
    """The values of the fields that are different, by name; and the JSON of `same`, which is not."""

    values: dict[bytes, Any]
    same: bytes | None


def changed(known: bytes, line: bytes, decoders: Decoders, same: bytes = b"") -> Changed | None:
    """The fields that are different in `line`, decoded; None where anything else is, or one does not fit.

    `known` is a JSON object; `decoders` are for fields that hold numbers alone. Whoever asks makes sure that
    it is `known` itself that has those which are found, and not an object in it. Split at its quotation marks
    a line has such a value in one piece, right after its name. A name that stands there once is the field's,
    and no text: marks in a text would have backslashes.
    """
    found: dict[bytes, bytes | None] = {}
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
            if name not in decoders:
                return None
            found[name] = _value(other, _end(one))
            there += len(other)
        start, there, name = start + len(one) + 1, there + 1, one[:LONGEST]
        names.append(name)
    if start <= len(known) or there <= len(line) or any(names.count(name) > 1 for name in (*found, same)):
        return None
    try:
        values = {name: decoders[name](value or b"") for name, value in found.items()}
    except (msgspec.DecodeError, RecursionError):
        return None
    return Changed(values, kept)


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
