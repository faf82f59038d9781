"""The review of one commit against another, from a repository's objects alone."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial

from reviewbot import config
from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import Report, lint, place
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Rule
from reviewbot.model import Finding, Review, Round, RuleNote
from reviewbot.review.revealed import revealed
from reviewbot.review.scope import Scope, decoded, scope
from reviewbot.review.threads import Shown, threads
from reviewbot.source.diff import ChangedLines, changed_ranges
from reviewbot.source.git import AtCommit, Repository
from reviewbot.source.permalink import Remote


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
) -> Review:
    """The first round of a review of what `head` changes since it left `base` (full commit ids).

    `prove` may confirm findings, or withdraw them, before they become threads.
    """
    merge_base = repository.merge_base(base, head)
    diff = repository.diff(merge_base, head)
    looked_at = scope(repository, diff.changes)
    hunks = {change.path: diff.hunks(change) for change, _ in looked_at.changes}
    changed = ChangedLines({path: changed_ranges(each) for path, each in hunks.items()})
    report = lint(looked_at.sources, rules, Repo(settings, AtCommit(repository, head)))
    read = _lines(partial(repository.read, head))
    touched = [finding for finding in report.findings if changed.touch(finding)]
    untouched = [finding for finding in report.findings if not changed.touch(finding)]
    earlier = _earlier(repository, looked_at, {finding.span.path for finding in untouched})
    before = lint(earlier.items(), rules, Repo(settings, AtCommit(repository, merge_base)))
    # Where the base cannot be read, what stood there before is unknown, and nothing is held against it.
    comparable = earlier.keys() - {unread.path for unread in before.unread}
    new = revealed(
        (finding for finding in untouched if finding.span.path in comparable),
        read,
        before.findings,
        _lines(earlier.get),
    )
    kept = prove(sorted([*touched, *new], key=place))
    made = threads(kept, Shown.of(hunks), read, new)
    return Review(
        repository=str(remote) if remote else None,
        rounds=(_round(base, merge_base, head, looked_at, report, changed),),
        threads=made,
        rules=tuple(_note(rule) for rule in sorted({thread.finding.rule for thread in made})),
    )


def _round(
    base: str, merge_base: str, head: str, looked_at: Scope, report: Report, changed: ChangedLines
) -> Round:
    unread = (*looked_at.unread, *report.unread)
    files = len(looked_at.changes) + len(looked_at.unread)
    return Round(
        number=1,
        base=base,
        merge_base=merge_base,
        head=head,
        files=files,
        read=files - len(unread),
        unread=tuple(sorted(unread, key=lambda one: (one.path, one.why))),
        suppressed=tuple(finding for finding in report.suppressed if changed.touch(finding)),
    )


def _earlier(repository: Repository, looked_at: Scope, paths: Collection[str]) -> dict[str, bytes]:
    """What some of the changed files held before the change, under the names that they have after it."""
    return {
        change.path: repository.blob(change.old_id)
        for change, _ in looked_at.changes
        if change.path in paths and change.old_id is not None
    }


def _lines(content: Callable[[str], bytes | None]) -> Callable[[str], list[str] | None]:
    @lru_cache(maxsize=64)
    def read(path: str) -> list[str] | None:
        text = decoded(content(path) or b"")
        return io.StringIO(text, newline="").readlines() if text else None

    return read


def _note(rule: str) -> RuleNote:
    if rule not in registry.rule_ids():
        return RuleNote(rule, "A comment that is to silence a rule and cannot.", "")
    return RuleNote(rule, registry.first_sentence(rule), registry.section(rule, "Instead"))
