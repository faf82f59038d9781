"""What is known of a change's size. Frozen and plain: it is written as JSON as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from reviewbot.model import Certainty, Unread
from reviewbot.source.diff import Status

Kind = Literal["product", "check", "test", "set-up", "report", "duplicate", "cannot-fail", "other"]
KINDS: dict[Kind, str] = {
    "product": "product",
    "check": "lines of checks that can fail",
    "test": "tests and comparisons around them",
    "set-up": "set-up: imports, constants, fixtures, builders",
    "report": "reports: print, log, write",
    "duplicate": "duplicates of what exists",
    "cannot-fail": "lines of checks that cannot fail",
    "other": "docs, data, configuration",
}
# Lines of tests: all but the product and what is no code.
OF_TESTS: tuple[Kind, ...] = ("check", "test", "set-up", "report", "duplicate", "cannot-fail")


@dataclass(frozen=True, slots=True)
class Count:
    """Lines that came in and lines that went."""

    added: int = 0
    deleted: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.added + other.added, self.deleted + other.deleted)


@dataclass(frozen=True, slots=True)
class FileSize:
    """One file of a change; `kinds` add up to `lines`, which are git's own counts.

    `checks` counts the checks that can fail among the added lines, `cannot_fail` those that cannot. `binary`:
    git counts no lines. `note` says why its lines were not told apart, "" where they were.
    """

    path: str
    old_path: str | None
    status: Status
    lines: Count
    kinds: dict[Kind, Count]
    checks: int = 0
    cannot_fail: int = 0
    binary: bool = False
    note: str = ""

    @property
    def test_lines(self) -> int:
        """Added lines of tests."""
        return sum(self.kinds[kind].added for kind in OF_TESTS if kind in self.kinds)


@dataclass(frozen=True, slots=True)
class RoundSize:
    """One head of the change against the commit at which it left the base."""

    number: int
    head: str
    merge_base: str
    lines: Count
    kinds: dict[Kind, Count]
    files: tuple[FileSize, ...]
    checks: int
    cannot_fail: int
    unread: tuple[Unread, ...] = ()

    @property
    def lines_per_check(self) -> float | None:
        """Added test lines for each added check that can fail; None where there is no such check."""
        lines = sum(self.kinds[kind].added for kind in OF_TESTS if kind in self.kinds)
        return lines / self.checks if self.checks else None


@dataclass(frozen=True, slots=True)
class Along:
    """Something that goes with a cut because only what is cut used it."""

    what: Literal["import", "constant", "function", "class", "parameter", "flag", "variable", "test"]
    name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class CutFile:
    """What a cut does to one file: lines of the head that go, of which `own` came in with the change, and
    lines that come in."""

    path: str
    removes: int
    own: int
    adds: int


Standing = Literal["estimate", "applies", "tested", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Cut:
    """What one finding would take away or add.

    `state`: "estimate" where no diff can be made (the lines are those of the finding), "applies" for a diff
    that applies and leaves files that parse, "tested" where it was run too, "withdrawn" where that showed
    that it must not be proposed (it then counts nowhere). `says` is the reason, one clause. `diff` is a
    unified diff against the head as `git apply` takes it.
    """

    id: str
    rule: str
    certainty: Certainty
    path: str
    line: int
    claim: str
    state: Standing
    says: str
    files: tuple[CutFile, ...] = ()
    along: tuple[Along, ...] = ()
    still_catches: tuple[str, ...] = ()
    diff: str = ""

    @property
    def removes(self) -> int:
        """Lines of the head that go."""
        return sum(file.removes for file in self.files)

    @property
    def own(self) -> int:
        """Of these the lines that the change itself brought in."""
        return sum(file.own for file in self.files)

    @property
    def adds(self) -> int:
        """Lines that come in."""
        return sum(file.adds for file in self.files)


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a file that some diff touches: its line today and with all diffs applied (None: it is gone
    with the cuts `gone_with`, and `still_catches` says what remains)."""

    path: str
    unit: str
    line: int
    text: str
    after: int | None
    gone_with: str = ""
    still_catches: str = ""


@dataclass(frozen=True, slots=True)
class Size:
    """The whole: the rounds, oldest first, and what the findings in the last would take away or add.

    `kept`, `removed` and `added` give the lines of the last round's files with all proposed diffs applied
    together: lines of the change that stay, that go, and lines that the diffs bring in. `notes` are
    sentences on what could not be worked out.
    """

    repository: str | None
    base: str
    rounds: tuple[RoundSize, ...]
    cuts: tuple[Cut, ...] = ()
    checks: tuple[Check, ...] = ()
    after: tuple[CutFile, ...] = ()
    notes: tuple[str, ...] = ()
    version: Literal[1] = field(default=1)
