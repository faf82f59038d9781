"""What stood at the base where a finding stands at the head."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from reviewbot.errors import UnreadableFile
from reviewbot.model import Finding
from reviewbot.source.units import File, Unit, file_of

LONG_UNIT = 1_000  # lines; of a longer one lines that are often repeated are not looked for
LONG_FILE = 20_000  # lines; of a longer file nothing is worked out

# The lines of a file, with their ends; None where it is not to be had.
Read = Callable[[str], list[str] | None]
Kind = Literal["unknown", "no file", "no unit", "new lines", "changed", "same"]


@dataclass(frozen=True, slots=True)
class Before:
    """`lines` are the lines of `path` at the base that the finding's lines came from, first and last; for
    `new lines` the last is the one after which they came in. None where there are none."""

    kind: Kind
    path: str = ""
    lines: tuple[int, int] | None = None


def before(finding: Finding, head: Read, base: Read, old_path: str | None) -> Before:
    """Looks where the finding's lines came from: its own step at the base, if it has one. `old_path` is the
    file's name at the base, None if it is new."""
    span = finding.span
    told = next((step for step in finding.steps if step.base), None)
    if told is not None:  # What became of it is what the finding is about.
        return Before("changed", told.path, (told.line, told.end_line))
    if old_path is None:
        return Before("no file")
    now, then = head(span.path), base(old_path)
    if now is None or then is None or len(now) > LONG_FILE or len(then) > LONG_FILE:
        return Before("unknown", old_path)
    here = unit_at(span.path, now, finding.unit)
    there = unit_at(old_path, then, finding.unit)
    if here is not None and there is None:
        return Before("no unit", old_path)
    first_now, last_now = (here.line, here.end_line) if here else (1, len(now))
    first_then, last_then = (there.line, there.end_line) if there else (1, len(then))
    return _mapped(
        old_path,
        _stripped(then[first_then - 1 : last_then]),
        _stripped(now[first_now - 1 : last_now]),
        first_then,
        (span.line - first_now, span.end_line - first_now),
    )


def _stripped(lines: Sequence[str]) -> list[str]:
    return [line.rstrip() for line in lines]


def _mapped(path: str, then: list[str], now: list[str], first: int, wanted: tuple[int, int]) -> Before:
    """Where lines `wanted` of `now`, from 0, came from in `then`, whose first line has number `first`."""
    matcher = difflib.SequenceMatcher(None, then, now, autojunk=len(now) > LONG_UNIT)
    touched = [
        (tag, a, b)
        for tag, a, b, low, high in matcher.get_opcodes()
        if low <= wanted[1] and wanted[0] < max(high, low + 1) and tag != "delete"
    ]
    if all(tag == "equal" for tag, _, _ in touched):
        kind: Kind = "same"
    elif all(tag == "insert" for tag, _, _ in touched):
        return Before("new lines", path, (first + touched[0][1], first + touched[0][1] - 1))
    else:
        kind = "changed"
    if kind == "same":
        offset = next(a - low for tag, a, _, low, high in matcher.get_opcodes() if low <= wanted[0] < high)
        return Before(kind, path, (first + wanted[0] + offset, first + wanted[1] + offset))
    return Before(
        kind, path, (first + min(a for _, a, _ in touched), first + max(b for _, _, b in touched) - 1)
    )


def unit_at(path: str, lines: Sequence[str], name: str) -> Unit | None:
    """The function or class of that qualified name in a file, None if there is none, or it cannot be read."""
    if not name:
        return None
    file = parsed(path, lines)
    return file.unit(name) if file else None


def parsed(path: str, lines: Sequence[str]) -> File | None:
    """The file, None where nothing can parse it; the last few are remembered."""
    return _parsed(path, "".join(lines))


@lru_cache(maxsize=16)
def _parsed(path: str, text: str) -> File | None:
    try:
        return file_of(path, text.encode("utf-8", "surrogatepass"))
    except (UnreadableFile, UnicodeError):
        return None
