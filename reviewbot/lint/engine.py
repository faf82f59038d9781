"""Files to findings.

One file at a time: `ast` gives its units, each rule's `suspect` names the units worth a closer look, and
the rule's `confirm` looks at a sketch of those, and at what LibCST parses only where a sketch cannot say
all. A rule that fails or takes too long on a file is named and leaves that file; everything else goes on.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from reviewbot.errors import UnreadableFile
from reviewbot.flow.material import nobody_runs
from reviewbot.lint.causes import folded, told_once
from reviewbot.lint.limit import TimeIsUp, arm, limited, untimed_seconds
from reviewbot.lint.repo import Repo
from reviewbot.lint.results import Effort, Failure, Report, Result, Tally, place, report
from reviewbot.lint.rule import Rule
from reviewbot.lint.suppress import suppressions
from reviewbot.model import Finding, Unread
from reviewbot.source.room import room
from reviewbot.source.units import File, Kind, Unit, file_of


def lint(sources: Iterable[tuple[str, bytes]], rules: Sequence[Rule], repo: Repo) -> Report:
    """The findings of many files, given as (path, content), sorted by place."""
    return report(examine(path, content, rules, repo) for path, content in sources)


def examine(
    path: str, content: bytes, rules: Sequence[Rule], repo: Repo, *, prefilter: bool = True
) -> Result:
    """What one file gives, suppressions applied."""
    started = time.process_time()
    try:
        file = file_of(path, content, repo.kept.take(path, content))
    except UnreadableFile as error:
        return Result(path, read=False, unread=(Unread(error.path, error.why, error.line),))
    repo.kept.hold(path, content, file.tree)
    examination = Examination(file, rules, repo, prefilter=prefilter)
    try:
        lasting = repo.lasting(path)
        every = fingerprinted(sorted(examination.findings(), key=place), file, lasting)
        found = told_once(every, rules)
        ignored = suppressions(file)
        said = fingerprinted([*ignored.faults, *ignored.unused(every, examination.asked())], file, lasting)
        taken = time.process_time() - started
        effort = Effort(len(content), len(file.units), file.parses, file.parse_seconds, taken)
    finally:
        repo.kept.let_go()
        file.close()
        repo.let_go()
    return Result(
        path,
        findings=(*folded([one for one in found if not ignored.covers(one)], rules), *said),
        suppressed=tuple(one for one in found if ignored.covers(one)),
        unread=tuple(examination.unread),
        failures=tuple(examination.failures),
        asked=tuple(sorted(examination.repo.asked)),
        tallies=examination.tallies,
        effort=effort,
    )


def lint_file(file: File, rules: Sequence[Rule], repo: Repo, *, prefilter: bool = True) -> Iterator[Finding]:
    """The findings of one file, unordered, suppressed ones included. What a rule raises is raised."""
    examination = Examination(file, rules, repo, prefilter=prefilter)
    yield from examination.findings()
    for error in examination.errors:
        raise error
    for unread in examination.unread:
        raise UnreadableFile(unread.path, unread.why, unread.line)


class Examination:
    """One file under some rules. `findings` runs it; the other attributes fill up meanwhile."""

    def __init__(self, file: File, rules: Sequence[Rule], repo: Repo, *, prefilter: bool = True) -> None:
        self.file, self.repo, self.prefilter = file, repo.of(file.path), prefilter
        # What takes time in proportion to the code comes to its end in a large file too.
        self.seconds = self.repo.config.rule_seconds * max(1.0, len(file.content) / _TIMED_BYTES)
        self.unread: list[Unread] = []
        self.failures: list[Failure] = []
        self.errors: list[Exception] = []
        self.tallies: dict[str, Tally] = {}
        self._failed: set[str] = set()
        self._sketched = self.repo.sketched()
        self._rules = _by_kind(tuple(rules))
        self._concerned: dict[Kind, list[Rule]] = {}

    def findings(self) -> list[Finding]:
        """Every finding of the file, unordered."""
        found: list[Finding] = []
        most = max(unit.facts.arms for unit in self.file.units)
        with limited(), room(most, _ARM_FRAMES):
            looked_at = self.file.sketched if self.prefilter else self.file
            for place, unit in enumerate(looked_at.units):
                for rule in self._suspecting(unit):
                    found.extend(self._confirmed(rule, unit, place))
        if found and nobody_runs(self.file, self.repo):
            # Nobody runs it: whether its checks could fail is a question at most.
            found = [replace(one, certainty="question") for one in found]
        return found

    def asked(self) -> frozenset[str]:
        """The rules that have looked at all that they look at in such a file, and came to an end."""
        if self.unread:
            return frozenset()
        kinds = {unit.kind for unit in self.file.units}
        return frozenset(one.id for kind in kinds for one in self._rules[kind]) - self._failed

    def _suspecting(self, unit: Unit) -> list[Rule]:
        rules = self._rules[unit.kind]
        if not self.prefilter:
            return rules
        suspecting: list[Rule] = []
        rule = None
        try:
            arm(self.seconds)
            try:
                if unit.kind not in self._concerned:
                    concerned = []
                    for rule in rules:
                        if rule.concerns(unit.file):
                            concerned.append(rule)
                    self._concerned[unit.kind] = concerned
                for rule in self._concerned[unit.kind]:
                    if rule.suspect(unit):
                        suspecting.append(rule)
            finally:
                arm(0)
        except (Exception, TimeIsUp) as error:
            assert rule is not None
            self._fail(rule, unit, error)
            # The others are asked again without it.
            self._rules = {kind: [r for r in of if r is not rule] for kind, of in self._rules.items()}
            self._concerned = {}
            return self._suspecting(unit)
        return suspecting

    def _confirmed(self, rule: Rule, unit: Unit, place: int) -> list[Finding]:
        name = rule.id
        tally = self.tallies.setdefault(name, Tally())
        if name in self._failed:
            return []
        tally.suspected += 1
        found: list[Finding] = []
        started, parsing, apart = time.process_time(), self.file.parse_seconds, untimed_seconds()
        try:
            arm(max(0.001, self.seconds - tally.seconds))
            try:
                sketched = self._found_in_sketch(rule, unit) if self.prefilter else None
                found.extend(
                    rule.confirm(self.file.units[place], self.repo) if sketched is None else sketched
                )
            finally:
                arm(0)
        except UnreadableFile as error:
            self._cannot_read(Unread(error.path, error.why, error.line))
        except RecursionError:
            self._cannot_read(Unread(self.file.path, "nested too deeply to be looked at", unit.line))
        except (Exception, TimeIsUp) as error:
            self._fail(rule, unit, error)
        parsing, apart = self.file.parse_seconds - parsing, untimed_seconds() - apart
        tally.seconds += time.process_time() - started - parsing - apart
        tally.confirmed += bool(found)
        tally.findings += len(found)
        return found

    def _found_in_sketch(self, rule: Rule, unit: Unit) -> list[Finding] | None:
        """What a rule finds in a sketched unit; None where it asks for what only the code can say."""
        if unit.kind in ("script", "settings"):
            return None
        try:
            return list(rule.confirm(unit, self._sketched))
        except Exception:
            # A sketch lacks white space and some places; what goes wrong for another reason does so again.
            return None

    def _cannot_read(self, unread: Unread) -> None:
        if unread not in self.unread:
            self.unread.append(unread)

    def _fail(self, rule: Rule, unit: Unit, error: BaseException) -> None:
        name = rule.id
        self._failed.add(name)
        if isinstance(error, Exception):
            self.errors.append(error)
            import traceback

            last = traceback.extract_tb(error.__traceback__)[-1]
            said = " ".join(str(error).split())[:200]
            why = f"{type(error).__name__} ({said}) at {Path(last.filename).name}:{last.lineno}"
        else:
            why = f"cut off after {self.seconds:.2g} s"
        self.failures.append(Failure(name, self.file.path, unit.line, why))


@lru_cache(maxsize=1)
def _by_kind(rules: tuple[Rule, ...]) -> dict[Kind, list[Rule]]:
    # The same for every file of a run.
    return {kind: [rule for rule in rules if kind in rule.kinds] for kind in _KINDS}


_TIMED_BYTES = 100_000
_ARM_FRAMES = 12  # what recurses deepest takes fewer for each `elif`
_KINDS: tuple[Kind, ...] = ("function", "method", "class", "module", "script", "settings")


def fingerprinted(findings: Iterable[Finding], file: File, path: str) -> list[Finding]:
    """The same findings with fingerprints: rule, the file's `path`, unit, the anchor's text without white
    space, and a number where all of these are equal."""
    seen: Counter[str] = Counter()
    out = []
    for finding in findings:
        lines = file.lines[finding.span.line - 1 : finding.span.end_line]
        text = "".join("".join(lines).split())
        key = "\0".join((finding.rule, path, finding.unit, text))
        seen[key] += 1
        digest = hashlib.blake2b(
            f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass"), digest_size=8
        ).hexdigest()
        out.append(replace(finding, fingerprint=digest))
    return out
