"""What flows from one stage to the next. Frozen, plain, and free of imports of ours.

Lines count from 1. Columns count from 1 in characters; an end column is the first one past the end.
Paths are relative, with forward slashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Certainty = Literal["proved", "likely", "question"]
CERTAINTIES: tuple[Certainty, ...] = ("proved", "likely", "question")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def overlaps(self, first: int, last: int) -> bool:
        """Whether any of its lines lies between `first` and `last`, both included."""
        return self.line <= last and first <= self.end_line


@dataclass(frozen=True, slots=True)
class Step:
    """One place that carries a finding's argument. `says` is a clause without a full stop."""

    path: str
    line: int
    end_line: int
    says: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines `line` to `end_line` of `path` become `text` (whole lines, each ending in a newline, or nothing).

    `end_line == line - 1` inserts before `line`.
    """

    path: str
    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A proposed change. `safe`: it cannot change what the code does, except that a check may now fail."""

    says: str
    edits: tuple[Edit, ...]
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim about one cause.

    `message` is one sentence without a full stop, `still_catches` says which checks nearby would
    still notice the fault, or that nothing does. `unit` is the qualified name of the function or class
    around it, "" at module level. `fingerprint` survives moved lines, and is set by the engine.
    """

    rule: str
    span: Span
    certainty: Certainty
    message: str
    steps: tuple[Step, ...] = ()
    still_catches: tuple[str, ...] = ()
    fix: Fix | None = None
    unit: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was to be looked at and could not be. `why` is a clause without a full stop."""

    path: str
    why: str
    line: int | None = None
