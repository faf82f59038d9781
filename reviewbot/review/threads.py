"""Findings to threads: one a cause, each with the place where its comment goes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.lint.fixes import first_on_their_lines
from reviewbot.model import CERTAINTIES, Anchor, Finding, Place, Span, Thread
from reviewbot.review.proposal import Read, propose
from reviewbot.source.diff import Hunk, Lines

FILE_LIMIT = 10  # comments on whole files, of one round: each is a request of its own
INLINE_LIMIT = 40  # comments of one round; more would bury the change, the rest is in the summary
ALIKE_LIMIT = 3  # comments of one rule on one file, but for what is proved: the next would say the same again


@dataclass(frozen=True)
class Shown:
    """The lines of the head that each file's diff shows, which are those that can be commented.

    `ranges` holds them by path, sorted and apart; a file that changed without a hunk has none.
    """

    ranges: Mapping[str, tuple[Lines, ...]]

    @classmethod
    def of(cls, hunks: Mapping[str, Iterable[Hunk]]) -> Shown:
        """What the hunks of each file show."""
        return cls({path: tuple(h.new for h in each if h.new[0] <= h.new[1]) for path, each in hunks.items()})

    def around(self, path: str, first: int, last: int) -> Lines | None:
        """The one shown range that holds all lines from `first` to `last`, or None."""
        ranges = self.ranges.get(path, ())
        at = bisect_right(ranges, first, key=lambda lines: lines[0]) - 1
        return ranges[at] if at >= 0 and last <= ranges[at][1] else None

    def within(self, path: str, first: int, last: int) -> Anchor | None:
        """The first stretch of the lines from `first` to `last` that the diff shows, or None."""
        ranges = self.ranges.get(path, ())
        at = max(0, bisect_right(ranges, first, key=lambda lines: lines[0]) - 1)
        for start, end in ranges[at : at + 2]:
            low, high = max(start, first), min(end, last)
            if low <= high:
                return Anchor(path, low, high)
        return None


def thread(
    name: str,
    finding: Finding,
    also: tuple[str, ...],
    shown: Shown,
    read: Read,
    beside: Sequence[Anchor] = (),
    *,
    inline: bool,
) -> Thread:
    """A new thread of the first round; only with `inline` may it have a comment of its own. `beside` are the
    changed lines of its steps, where its own did not change."""
    place, anchor = _place(finding, shown, beside)
    # A question is asked once, in the summary: a comment on a line asks for an answer.
    if finding.certainty == "question" or not inline:
        place = "summary"
    near = anchor or Anchor(finding.span.path, finding.span.line, finding.span.end_line)
    around = shown.around if place == "line" else _nothing
    proposed = propose(finding.fix, near, read, around) if finding.fix else None
    if proposed is not None and place == "line":
        anchor = proposed[1]
    return Thread(
        id=name,
        finding=finding,
        state="new",
        first_round=1,
        last_round=1,
        place=place,
        anchor=None if place == "summary" else anchor,
        proposal=proposed[0] if proposed else None,
        also=also,
        beside=tuple(beside),
    )


def one_suggestion_a_line(made: Sequence[Thread], shown: Shown, read: Read) -> list[Thread]:
    """The threads, of whose suggestions no two change the same lines: GitHub applies one of two such alone,
    and then has the other for outdated. What gives way is shown as a diff, and says to which one."""
    suggested = [one for one in made if one.proposal is not None and one.proposal.form == "suggestion"]
    first = first_on_their_lines([one.finding for one in suggested])
    leading = [one for one, leads in zip(suggested, first, strict=True) if leads]
    out = {one.id: one for one in made}
    for one, leads in zip(suggested, first, strict=True):
        if leads or one.finding.fix is None:
            continue
        _, anchor = _place(one.finding, shown, one.beside)
        diff = propose(one.finding.fix, anchor or Anchor(one.finding.span.path, 1, 1), read, _nothing)
        if diff is None:
            continue
        before = next(other for other in leading if not first_on_their_lines([other.finding, one.finding])[1])
        says = f"{diff[0].says}, as a diff, because {before.id} suggests another change of these lines"
        out[one.id] = replace(one, anchor=anchor, proposal=replace(diff[0], says=says))
    return list(out.values())


def inline(findings: Sequence[Finding], room: int) -> frozenset[int]:
    """The places in `findings` of those that may have a comment of their own: the most certain ones first,
    and of those that one rule holds for likely in one file no more than make the point. What it says of
    several files in the same words is said in the first of them, but for what a fix can put right."""
    ranks = {certainty: rank for rank, certainty in enumerate(CERTAINTIES)}
    alike: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    order = []
    for number in sorted(range(len(findings)), key=lambda number: ranks[findings[number].certainty]):
        one = findings[number]
        free = one.certainty == "proved" or one.fix is not None
        if not free and first.setdefault((one.rule, one.message), one.span.path) != one.span.path:
            continue
        alike[one.rule, one.span.path] += one.certainty != "proved"
        if one.certainty == "proved" or alike[one.rule, one.span.path] <= ALIKE_LIMIT:
            order.append(number)
    return frozenset(order[: max(0, room)])


def one_a_cause(findings: Iterable[Finding]) -> list[tuple[Finding, tuple[str, ...]]]:
    """The findings, and with each the other rules that found its cause.

    Rules that report exactly the same stretch of code have found one cause, and the most certain one tells
    it. What one rule says twice of the same stretch, in other words, are two causes.
    """
    groups: dict[Span, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.span, []).append(finding)
    out = []
    for group in groups.values():
        best = min(group, key=lambda finding: CERTAINTIES.index(finding.certainty))
        also = tuple(sorted({other.rule for other in group} - {best.rule}))
        told = {finding.message: finding for finding in reversed(group) if finding.rule == best.rule}
        out += [(finding, also) for finding in reversed(told.values())]
    return out


def _nothing(path: str, first: int, last: int) -> None:
    return None


def _place(finding: Finding, shown: Shown, beside: Sequence[Anchor]) -> tuple[Place, Anchor | None]:
    """On the finding's own lines, else on those of its steps that changed, else on the first step's that the
    diff shows, else on the file."""
    span = finding.span
    places: Sequence[tuple[str, int, int]] = (
        (span.path, span.line, span.end_line),
        *((one.path, one.line, one.end_line) for one in beside),
        *((step.path, step.line, step.end_line) for step in finding.steps if not step.base),
    )
    for place in places:
        anchor = shown.within(*place)
        if anchor is not None:
            return "line", anchor
    if span.path in shown.ranges:
        return "file", Anchor(span.path, span.line, span.end_line)
    return "summary", None
