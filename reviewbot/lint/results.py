"""What a run says about files. Apart from the engine: a run whose results are all known needs no engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reviewbot.lint.repo import Fact
from reviewbot.model import Finding, Unread


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that raised, or was cut off, on one file. `why` is a clause without a full stop."""

    rule: str
    path: str
    line: int
    why: str


@dataclass(slots=True)
class Tally:
    """What a rule cost: units suspected, units with findings, findings, processor time in seconds."""

    suspected: int = 0
    confirmed: int = 0
    findings: int = 0
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Adds another tally of the same rule."""
        self.suspected += other.suspected
        self.confirmed += other.confirmed
        self.findings += other.findings
        self.seconds += other.seconds


@dataclass(frozen=True, slots=True)
class Effort:
    """What files cost: bytes, units, how often LibCST parsed, the processor time of that and of everything in
    seconds."""

    content: int = 0
    units: int = 0
    parses: int = 0
    parse_seconds: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            self.content + other.content,
            self.units + other.units,
            self.parses + other.parses,
            self.parse_seconds + other.parse_seconds,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What one file gave. `asked` is every fact of the repository that was read for it.

    `read` is false for a file that was not looked at at all, `cached` true where an earlier run's result
    still holds.
    """

    path: str
    read: bool = True
    cached: bool = False
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    unread: tuple[Unread, ...] = ()
    failures: tuple[Failure, ...] = ()
    asked: tuple[Fact, ...] = ()
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    effort: Effort = Effort()


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found, what was suppressed (with a reason), what it could not read, which rules failed.

    `files` counts the files that were to be looked at, `read` those that could be. `cached` of them were as
    an earlier run had seen them. `accepted` counts the findings that a baseline holds and that are not in
    `findings` for that.
    """

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    unread: tuple[Unread, ...] = ()
    failures: tuple[Failure, ...] = ()
    files: int = 0
    read: int = 0
    cached: int = 0
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    effort: Effort = Effort()
    accepted: int = 0


def report(results: Iterable[Result]) -> Report:
    """The results of many files as one, sorted by place."""
    findings: list[Finding] = []
    suppressed: list[Finding] = []
    unread: list[Unread] = []
    failures: list[Failure] = []
    tallies: dict[str, Tally] = {}
    effort = Effort()
    files = read = cached = 0
    for result in results:
        files += 1
        read += result.read
        cached += result.cached
        findings.extend(result.findings)
        suppressed.extend(result.suppressed)
        unread.extend(result.unread)
        failures.extend(result.failures)
        effort += result.effort
        for rule, tally in result.tallies.items():
            tallies.setdefault(rule, Tally()).add(tally)
    return Report(
        findings=tuple(sorted(findings, key=place)),
        suppressed=tuple(sorted(suppressed, key=place)),
        unread=tuple(sorted(unread, key=lambda one: (one.path, one.line or 0, one.why))),
        failures=tuple(sorted(failures, key=lambda one: (one.path, one.line, one.rule))),
        files=files,
        read=read,
        cached=cached,
        tallies=tallies,
        effort=effort,
    )


def place(finding: Finding) -> tuple[object, ...]:
    """The order in which findings are shown."""
    return (finding.span.path, finding.span.line, finding.span.column, finding.rule, finding.message)
