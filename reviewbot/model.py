"""What flows from one stage to the next. Frozen, plain, and free of imports of ours.

Lines count from 1. Columns count from 1 in characters; an end column is the first one past the end.
Paths are relative, with forward slashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Certainty = Literal["proved", "likely", "question"]
CERTAINTIES: tuple[Certainty, ...] = ("proved", "likely", "question")


def at_most(certainty: Certainty, most: Certainty) -> Certainty:
    """The weaker of two certainties."""
    return max(certainty, most, key=CERTAINTIES.index)


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
    """One place that carries a finding's argument. `says` is a clause without a full stop. `base`: the place
    is one of the merge base, before the change under review, not of the head."""

    path: str
    line: int
    end_line: int
    says: str
    base: bool = False


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
    """A proposed change. `safe`: it cannot change what the code does, except that a check may now fail.
    `tried` says what running it showed, a clause, "" where that was not done."""

    says: str
    edits: tuple[Edit, ...]
    safe: bool = False
    tried: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What running the code showed of a finding.

    `entry` is what was run (`tests/parity.py::main`), `says` one sentence without a full stop, `lines` the
    witness drawn as text, `document` the witness as JSON, "" where the run showed no single difference.
    """

    entry: str
    says: str
    lines: tuple[str, ...] = ()
    document: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim about one cause.

    `message` is one sentence without a full stop, `still_catches` says which checks nearby would
    still notice the fault, or that nothing does. `unit` is the qualified name of the function or class
    around it, "" at module level. `fingerprint` survives moved lines, and is set by the engine. `evidence` is
    there where a run confirmed it. `no_fix` says why a fix that was made is not proposed, a clause: a run
    of it, or what the rule read, showed a loss; `fix` is None then, and `withheld` what that fix says.
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
    evidence: Evidence | None = None
    no_fix: str = ""
    withheld: str = ""

    @property
    def fixed_unasked(self) -> bool:
        """Whether its fix is applied without asking anybody: it is safe, and the finding is no question."""
        return self.fix is not None and self.fix.safe and self.certainty != "question"


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was to be looked at and could not be. `why` is a clause without a full stop."""

    path: str
    why: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """Lines `line` to `end_line` of the head's side of a file's diff, at which a comment stands."""

    path: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fix as a comment shows it.

    A `suggestion` holds the lines that replace those of the thread's anchor, a `diff` a unified diff.
    """

    form: Literal["suggestion", "diff"]
    says: str
    text: str


Place = Literal["line", "file", "summary"]
# `new` in this round, still `open`, `fixed`, `back` after it was fixed or gone, `dismissed` by a person,
# `gone` with the code that it stood in.
State = Literal["new", "open", "fixed", "back", "dismissed", "gone"]


@dataclass(frozen=True, slots=True)
class Thread:
    """One finding under its id (C17), followed through the rounds.

    `place` says where its comment goes: on the lines of `anchor`, on the whole file of `anchor`, or
    into the summary alone. `also` names other rules that found the same cause. `revealed`: it stands on
    lines that did not change, and the base has no such finding. `beside`: it stands on such lines too, and
    these, which its steps name, did change. `since` is the round in which it came into
    its state. `lapsed`: a person dismissed it, and its code is another now. `body` is the comment in
    Markdown, as it would be posted; it is set when the review is rendered.
    """

    id: str
    finding: Finding
    state: State
    first_round: int
    last_round: int
    place: Place
    anchor: Anchor | None = None
    proposal: Proposal | None = None
    also: tuple[str, ...] = ()
    revealed: bool = False
    beside: tuple[Anchor, ...] = ()
    since: int = 1
    lapsed: bool = False
    body: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a thread stood at the end of a round. `since` is the round in which it came into its state."""

    id: str
    state: State
    since: int
    lapsed: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """One look at one head. `base`, `merge_base` and `head` are full commit ids.

    `files` counts what the diff from the merge base to the head changes. `read` counts those that were
    looked at, `unread` names the others; `beside` are files that did not change and were looked at because
    they use what did. `suppressed` are findings that a comment in the head silences.
    `failed` names rules that came to no end on a file, so that they may have missed something there.
    `withheld` counts findings of rules that the first round did not have, on lines that have not changed
    since. `standing` has every thread that was known then; it is empty where that was not recorded.
    """

    number: int
    base: str
    merge_base: str
    head: str
    files: int
    read: int
    unread: tuple[Unread, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    failed: tuple[Unread, ...] = ()
    beside: int = 0
    withheld: int = 0
    standing: tuple[Standing, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """A thread of an earlier round that the last round's findings have no part in.

    `state` is `fixed`, `gone`, `dismissed`, or `open` where its file could not be looked at this time.
    `since` is the round in which it came into it. `by` (a login, "" for a comment in the code) and `reason`
    are those of a dismissal.
    """

    id: str
    rule: str
    path: str
    state: State
    since: int
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RuleNote:
    """A rule in short: what it finds, one sentence, and what to write instead, in Markdown."""

    rule: str
    says: str
    instead: str


@dataclass(frozen=True, slots=True)
class Review:
    """All that is said of a change. `repository` is `HOST/OWNER/REPO`, None where it is not known.

    `threads` are those that stand, `settled` the others of earlier rounds; `former` has these as they were
    when last seen, as far as that is known. `summary` is the summary comment in
    Markdown, as it would be posted; it is set when the review is rendered.
    """

    repository: str | None
    rounds: tuple[Round, ...]
    threads: tuple[Thread, ...] = ()
    settled: tuple[Settled, ...] = ()
    former: tuple[Thread, ...] = ()
    rules: tuple[RuleNote, ...] = ()
    summary: str = ""
    version: Literal[1] = 1
