"""What a diff says: which files changed, which of their lines, and where a comment can stand.

Line ranges are pairs (first, last), both included, from 1. A range whose last line is the one before its
first stands for a place between two lines, where lines were deleted and none came in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from reviewbot.model import Anchor, Finding

Lines = tuple[int, int]
Status = Literal["added", "deleted", "modified", "renamed"]
Kind = Literal["file", "symlink", "submodule"]


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a diff.

    `path` is where it stands after the change (for a deleted one: where it stood), `old_path` where it
    stood before (None if added). `kind` is what stands there after the change, before it if deleted.
    `old_id` and `new_id` are the hexadecimal ids of its contents, None where there is none or it is not
    known (a file of the work tree).
    """

    path: str
    old_path: str | None
    status: Status
    kind: Kind
    old_id: str | None = None
    new_id: str | None = None


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a diff does to one regular file: `changed` are lines of it after the change, `removed` lines of
    `old_path` before it. `path` is None if it was deleted, `old_path` if it was added."""

    path: str | None
    old_path: str | None
    changed: tuple[Lines, ...] = ()
    removed: tuple[Lines, ...] = ()


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of a file's diff with its unchanged lines around.

    `old` and `new` are the lines that it shows of either side. `removed` are ranges of lines of the old
    side that are gone, `changed` the ranges of the new side that came in or where lines went.
    """

    old: Lines
    new: Lines
    removed: tuple[Lines, ...]
    changed: tuple[Lines, ...]


@dataclass(frozen=True)
class ChangedLines:
    """The changed line ranges of many files, each file's sorted, apart from one another."""

    ranges: Mapping[str, tuple[Lines, ...]]
    _lasts: dict[str, list[int]] = field(default_factory=dict, repr=False, compare=False)

    def overlap(self, path: str, first: int, last: int) -> bool:
        """Whether any line from `first` to `last` came in, or lines between two of them went."""
        ranges = self.ranges.get(path)
        if not ranges:
            return False
        lasts = self._lasts.get(path)
        if lasts is None:
            lasts = self._lasts[path] = [end for _, end in ranges]
        # The first range that does not end before `first`. One that is empty ends one line early.
        at = bisect_left(lasts, first)
        return at < len(ranges) and ranges[at][0] <= last

    def within(self, path: str, first: int, last: int) -> list[Lines]:
        """The changed lines from `first` to `last`; where lines went, the one that now stands there."""
        found = [
            (max(first, low), min(last, high)) if low <= high else (min(low, last), min(low, last))
            for low, high in self.ranges.get(path, ())
            if low <= last and max(low, high) >= first
        ]
        return list(dict.fromkeys(found))

    def beside(self, finding: Finding) -> tuple[Anchor, ...]:
        """The changed lines on which steps of the finding stand, where its own lines did not change."""
        span = finding.span
        if self.overlap(span.path, span.line, span.end_line):
            return ()
        return tuple(
            dict.fromkeys(
                Anchor(step.path, *lines)
                for step in finding.steps
                if not step.base
                for lines in self.within(step.path, step.line, max(step.line, step.end_line))
            )
        )

    def touch(self, finding: Finding) -> bool:
        """Whether the finding, or any step of its argument, stands on lines that changed."""
        span = finding.span
        return self.overlap(span.path, span.line, span.end_line) or any(
            self.overlap(step.path, step.line, step.end_line) for step in finding.steps if not step.base
        )


def changed_lines(diffs: Iterable[FileDiff]) -> ChangedLines:
    """The lines that came in, by the file that they stand in."""
    return ChangedLines({diff.path: diff.changed for diff in diffs if diff.path is not None})


def changed_ranges(hunks: Iterable[Hunk]) -> tuple[Lines, ...]:
    """The changed ranges of a file's hunks, in order."""
    return tuple(lines for hunk in hunks for lines in hunk.changed)
