"""Files to findings."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reviewbot.errors import UnreadableFile
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Rule
from reviewbot.lint.suppress import suppressions
from reviewbot.model import Finding, Unread
from reviewbot.source.units import File


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found, what was suppressed (with a reason), and what it could not read."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    unread: tuple[Unread, ...] = ()


def lint_file(file: File, rules: Sequence[Rule], repo: Repo, *, prefilter: bool = True) -> Iterator[Finding]:
    """The findings of one file, unordered, suppressed ones included."""
    seen = repo.of(file.path)
    for unit in file.units:
        for rule in rules:
            if unit.kind in rule.kinds and (not prefilter or rule.suspect(unit)):
                yield from rule.confirm(unit, seen)


def lint(sources: Iterable[tuple[str, bytes]], rules: Sequence[Rule], repo: Repo) -> Report:
    """The findings of many files, given as (path, content), sorted by place."""
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    unread: list[Unread] = []
    for path, content in sources:
        try:
            file = File(path, content)
            found = fingerprinted(sorted(lint_file(file, rules, repo), key=place), file)
            ignored = suppressions(file)
        except UnreadableFile as error:
            unread.append(Unread(error.path, error.why, error.line))
            continue
        for finding in found:
            (suppressed if ignored.covers(finding) else kept).append(finding)
        kept.extend(ignored.faults)
    return Report(tuple(sorted(kept, key=place)), tuple(suppressed), tuple(unread))


def place(finding: Finding) -> tuple[object, ...]:
    """The order in which findings are shown."""
    return (finding.span.path, finding.span.line, finding.span.column, finding.rule, finding.message)


def fingerprinted(findings: Iterable[Finding], file: File) -> list[Finding]:
    """The same findings with fingerprints: rule, path, unit, the anchor's text without white space, and
    a number where all of these are equal."""
    seen: Counter[str] = Counter()
    out = []
    for finding in findings:
        lines = file.lines[finding.span.line - 1 : finding.span.end_line]
        text = "".join("".join(lines).split())
        key = "\0".join((finding.rule, finding.span.path, finding.unit, text))
        seen[key] += 1
        digest = hashlib.blake2b(f"{key}\0{seen[key]}".encode(), digest_size=8).hexdigest()
        out.append(replace(finding, fingerprint=digest))
    return out
