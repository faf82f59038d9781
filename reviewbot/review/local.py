"""The review of one commit against another, from a repository's objects alone."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache, partial

from reviewbot import config
from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import Report, lint, place
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Rule
from reviewbot.model import Finding, Review, Round, RuleNote, Unread
from reviewbot.review.revealed import revealed
from reviewbot.review.scope import Scope, decoded, scope
from reviewbot.review.threads import Shown, threads
from reviewbot.source.diff import ChangedLines, changed_ranges
from reviewbot.source.git import AtCommit, Repository
from reviewbot.source.permalink import Remote

# The files that are being looked at, and how many there are.
Sources = Iterable[tuple[str, bytes]]
Watch = Callable[[Sources, int], Sources]


def settings(repository: Repository, base: str) -> Config:
    """The configuration of commit `base`: a change does not decide how it is reviewed."""
    content = repository.read(base, "pyproject.toml")
    where = f"pyproject.toml of {base[:12]}"
    known = frozenset(registry.rule_ids())
    return config.from_toml((content or b"").decode("utf-8", "replace"), where, known)


def review(
    repository: Repository,
    base: str,
    head: str,
    settings: Config,
    rules: Sequence[Rule],
    remote: Remote | None,
    prove: Callable[[Sequence[Finding]], Sequence[Finding]] = tuple,
    watch: Watch = lambda items, total: items,
) -> Review:
    """The first round of a review of what `head` changes since it left `base` (full commit ids).

    `prove` may confirm findings, or withdraw them, before they become threads. `watch` passes the files on
    while they are looked at; it is for showing progress.
    """
    merge_base = repository.merge_base(base, head)
    diff = repository.diff(merge_base, head)
    looked_at = scope(repository, diff.changes, settings)
    hunks = {change.path: diff.hunks(change) for change, _ in looked_at.changes}
    changed = ChangedLines({path: changed_ranges(each) for path, each in hunks.items()})
    sources = watch(looked_at.sources, len(looked_at.changes))
    report = lint(sources, rules, Repo(settings, AtCommit(repository, head)))
    touched = [finding for finding in report.findings if changed.touch(finding)]
    untouched = [finding for finding in report.findings if not changed.touch(finding)]
    read = lines_of(partial(repository.read, head))
    new: list[Finding] = []
    if untouched:
        earlier = _earlier(repository, looked_at, {finding.span.path for finding in untouched})
        before = lint(earlier.items(), rules, Repo(settings, AtCommit(repository, merge_base)))
        # Where the base cannot be read, what stood there is unknown, and nothing is held against the change.
        comparable = earlier.keys() - {unread.path for unread in (*before.unread, *_failed(before))}
        known = [finding for finding in untouched if finding.span.path in comparable]
        new = revealed(known, read, before.findings, lines_of(earlier.get))
    kept = prove(sorted([*touched, *new], key=place))
    made = threads(kept, Shown.of(hunks), read, new)
    unread = sorted((*looked_at.unread, *report.unread), key=lambda one: (one.path, one.why))
    files = len(looked_at.changes) + len(looked_at.unread)
    this = Round(
        number=1,
        base=base,
        merge_base=merge_base,
        head=head,
        files=files,
        read=files - len({one.path for one in unread}),
        unread=tuple(unread),
        suppressed=tuple(finding for finding in report.suppressed if changed.touch(finding)),
        failed=_failed(report),
    )
    return Review(
        repository=str(remote) if remote else None,
        rounds=(this,),
        threads=made,
        rules=tuple(_note(rule) for rule in sorted({thread.finding.rule for thread in made})),
    )


def _failed(report: Report) -> tuple[Unread, ...]:
    return tuple(Unread(one.path, f"rule {one.rule}: {one.why}", one.line) for one in report.failures)


def _earlier(repository: Repository, looked_at: Scope, paths: Collection[str]) -> dict[str, bytes]:
    """What some of the changed files held before the change, under the names that they have after it."""
    return {
        change.path: repository.blob(change.old_id)
        for change, _ in looked_at.changes
        if change.path in paths and change.old_id is not None
    }


def lines_of(content: Callable[[str], bytes | None]) -> Callable[[str], list[str] | None]:
    """Reads the lines of files, with their ends, from their content; the last few are remembered."""

    @lru_cache(maxsize=64)
    def read(path: str) -> list[str] | None:
        text = decoded(content(path) or b"")
        return io.StringIO(text, newline="").readlines() if text else None

    return read


def _note(rule: str) -> RuleNote:
    if rule not in registry.rule_ids():
        return RuleNote(rule, "A comment that is to silence a rule and cannot.", "")
    return RuleNote(rule, registry.first_sentence(rule), registry.section(rule, "Instead"))
