"""Which finding of a round is which thread of the rounds before.

A thread keeps its id while its code moves, is formatted anew, or goes to another file or function. Findings
and threads are paired by what they have in common, from the strictest to the loosest; within equals, in the
order in which they stand.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.model import Finding
from reviewbot.review.ledger import Entry
from reviewbot.source.diff import Hunk

# The lines of a file; None where they are not to be had.
Read = Callable[[str], Sequence[str] | None]
# What a formatter adds and takes away.
_FORMAT = re.compile(r"[\s'\"(),\\;]+")


@dataclass(frozen=True, slots=True)
class Told:
    """A finding with the other rules that found its cause, and its digests as in `ledger.Entry`."""

    finding: Finding
    also: tuple[str, ...]
    text: str
    code: str
    says: str

    @property
    def rules(self) -> tuple[str, ...]:
        """All rules that found it."""
        return (self.finding.rule, *self.also)


@dataclass(frozen=True, slots=True)
class Moves:
    """How the files of the last round's head became those of this one.

    `renamed` leads from old paths to new ones. `hunks` are those of each file that changed, by its old
    path; None if the last head is not to be had, so that nothing is known of lines.
    """

    renamed: Mapping[str, str]
    hunks: Mapping[str, tuple[Hunk, ...]] | None = None

    def path(self, old: str) -> str:
        """Where a file is now."""
        return self.renamed.get(old, old)

    def line(self, path: str, line: int) -> int | None:
        """Where a line of `path`, as it was called, is now; None where it went or nothing is known."""
        return None if self.hunks is None else line_after(self.hunks.get(path, ()), line)


def line_after(hunks: Iterable[Hunk], line: int) -> int | None:
    """Where a line of a diff's old side is on its new side; None where it was taken out."""
    moved = 0
    for hunk in hunks:
        if line < hunk.old[0]:
            break
        if line <= hunk.old[1]:
            return dict(_kept(hunk)).get(line)
        moved = hunk.new[1] - hunk.old[1]
    return line + moved


def _kept(hunk: Hunk) -> Iterator[tuple[int, int]]:
    """The unchanged lines of a hunk: where they were, where they are."""

    def outside(lines: tuple[int, int], ranges: Sequence[tuple[int, int]]) -> Iterator[int]:
        gone = {number for first, last in ranges for number in range(first, last + 1)}
        return (number for number in range(lines[0], lines[1] + 1) if number not in gone)

    return zip(outside(hunk.old, hunk.removed), outside(hunk.new, hunk.changed), strict=False)


def told(merged: Iterable[tuple[Finding, tuple[str, ...]]], read: Read) -> list[Told]:
    """Findings, one a cause, with their digests."""
    out = []
    for finding, also in merged:
        span = finding.span
        text = _lines(read, span.path, span.line, span.end_line)
        steps = [_lines(read, step.path, step.line, step.end_line) for step in finding.steps]
        out.append(
            Told(finding, also, digest(text), digest("\n".join([text, *steps])), digest(finding.message))
        )
    return out


def _lines(read: Read, path: str, first: int, last: int) -> str:
    return "".join((read(path) or ())[first - 1 : last])


def digest(text: str) -> str:
    """The same for texts that differ as formatters make them differ: white space, quotes, parentheses."""
    return hashlib.blake2b(_FORMAT.sub("", text).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


# Something that a finding and its thread have in common. The rule is one of those that found it.
_Key = tuple[Hashable, ...]


def paired(
    found: Sequence[Told], entries: Iterable[Entry], moves: Moves, lasts: frozenset[str]
) -> dict[int, Entry]:
    """The entry of each finding that has one, by the finding's place in `found`.

    `lasts` are the paths that the head has: a thread whose file is not among them may have gone elsewhere.
    """

    def here(entry: Entry) -> str:
        return moves.path(entry.path)

    def line(entry: Entry) -> Hashable:
        # A line that nothing equals, where there is none.
        return moves.line(entry.path, entry.line) or object()

    passes: tuple[tuple[Callable[[Entry], _Key], Callable[[Told, str], _Key]], ...] = (
        # The very line, wherever it moved to: of two that are equal, each stays what it was.
        (
            lambda e: (e.rule, here(e), line(e), e.text),
            lambda t, rule: (rule, t.finding.span.path, t.finding.span.line, t.text),
        ),
        (lambda e: (e.fingerprint,), lambda t, rule: (t.finding.fingerprint,)),
        (
            lambda e: (e.rule, here(e), e.unit, e.text),
            lambda t, rule: (rule, t.finding.span.path, t.finding.unit, t.text),
        ),
        # The function around it has another name.
        (lambda e: (e.rule, here(e), e.text), lambda t, rule: (rule, t.finding.span.path, t.text)),
        # Code of a file that was split, or that git did not know again.
        (
            lambda e: (e.rule, e.unit, e.text) if here(e) not in lasts else (object(),),
            lambda t, rule: (rule, t.finding.unit, t.text),
        ),
        (lambda e: (e.rule, e.unit, e.text), lambda t, rule: (rule, t.finding.unit, t.text)),
        # The flagged lines were edited, and the claim is the same.
        (
            lambda e: (e.rule, here(e), e.unit, e.says),
            lambda t, rule: (rule, t.finding.span.path, t.finding.unit, t.says),
        ),
    )
    # Those that ask for something come before those that are settled.
    left = sorted(entries, key=lambda entry: not entry.live)
    out: dict[int, Entry] = {}
    for of_entry, of_told in passes:
        waiting: dict[_Key, list[Entry]] = {}
        for entry in left:
            waiting.setdefault(of_entry(entry), []).append(entry)
        for number, one in enumerate(found):
            if number in out:
                continue
            keys = (of_told(one, rule) for rule in one.rules)
            match = next((waiting[key] for key in keys if waiting.get(key)), None)
            if match:
                out[number] = match.pop(0)
        taken = {entry.id for entry in out.values()}
        left = [entry for entry in left if entry.id not in taken]
    only = _only_ones(found, out, left, here)
    return out | only


def _only_ones(
    found: Sequence[Told], paired: Mapping[int, Entry], left: Iterable[Entry], here: Callable[[Entry], str]
) -> dict[int, Entry]:
    """What a rule says of a function that it said one other thing of before, and says no more."""
    entries: dict[_Key, list[Entry]] = {}
    for entry in left:
        if entry.unit and entry.state in ("new", "open", "back"):
            entries.setdefault((entry.rule, here(entry), entry.unit), []).append(entry)
    told: dict[_Key, list[int]] = {}
    for number, one in enumerate(found):
        if number not in paired:
            told.setdefault((one.finding.rule, one.finding.span.path, one.finding.unit), []).append(number)
    both = entries.keys() & told.keys()
    return {told[key][0]: entries[key][0] for key in both if len(told[key]) == len(entries[key]) == 1}
