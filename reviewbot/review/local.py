"""A look at one commit against another, from a repository's objects alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from reviewbot import config
from reviewbot.config import Config
from reviewbot.index.gather import Watch, unwatched
from reviewbot.lint import registry
from reviewbot.lint.against import Against
from reviewbot.lint.beside import beside
from reviewbot.lint.engine import lint
from reviewbot.lint.repo import Repo
from reviewbot.lint.results import Report, place
from reviewbot.lint.rule import Rule
from reviewbot.model import Finding, Unread
from reviewbot.review.caused import caused
from reviewbot.review.scope import decoded, lines_of, scope
from reviewbot.review.threads import Shown
from reviewbot.source.diff import Change, ChangedLines, changed_lines
from reviewbot.source.discover import excluding
from reviewbot.source.git import AtCommit, Repository


def settings(repository: Repository, base: str) -> Config:
    """The configuration of commit `base`: a change does not decide how it is reviewed."""
    content = repository.read(base, "pyproject.toml")
    where = f"pyproject.toml of {base[:12]}"
    known = frozenset(registry.rule_ids())
    return config.from_toml((content or b"").decode("utf-8", "replace"), where, known)


@dataclass(frozen=True)
class Look:
    """What one look at a head shows, before anything is known of earlier rounds.

    `findings` are those that the change causes; `revealed` are those of them on lines that it did not touch.
    `others` stand in what was looked at and have nothing to do with the change. `suppressed` are silenced by
    a comment in the code. `changed` are the lines that came in, `shown` those that the diff shows of each
    file that was read. `beside` are the paths of unchanged files that were looked at. `rules` are the ids of
    the rules asked.
    Commits are full ids.
    """

    base: str
    merge_base: str
    head: str
    findings: tuple[Finding, ...]
    revealed: tuple[Finding, ...]
    others: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    unread: tuple[Unread, ...]
    failed: tuple[Unread, ...]
    files: int
    changes: tuple[Change, ...]
    changed: ChangedLines
    shown: Shown
    beside: frozenset[str]
    rules: frozenset[str]


def look(
    repository: Repository,
    base: str,
    head: str,
    settings: Config,
    rules: Sequence[Rule],
    prove: Callable[[Sequence[Finding]], Sequence[Finding]] = tuple,
    watch: Watch = unwatched,
    database: Path | None = None,
) -> Look:
    """Looks at what `head` changes since it left `base` (full commit ids).

    `prove` may confirm findings, or withdraw them. `watch` passes the files on while they are looked at; it
    is for showing progress. `database` keeps the repository's facts, None keeps none.
    """
    repository = repository.up_to(settings.max_file_bytes)
    merge_base = repository.merge_base(base, head)
    diff = repository.diff(merge_base, head)
    looked_at = scope(repository, diff.changes, settings)
    hunks = {change.path: diff.hunks(change) for change, _ in looked_at.changes}
    against = Against(AtCommit(repository, merge_base), diff.files())
    repo = Repo(settings, AtCommit(repository, head), database=database, against=against, watch=watch)
    paths, not_found = beside(repo, against, partial(repository.read, head))
    # What was not found out in time is a failure; what is too much to look at is only said.
    timed_out = tuple(one for one in not_found if one.line is not None)
    too_many = tuple(one for one in not_found if one.line is None)
    also = _readable(repository, head, paths, settings)
    total = len(looked_at.changes) + len(also)
    report = lint(watch(chain(looked_at.sources, also.items()), total), rules, repo)
    why = caused(report.findings, against, repo.before(), lines_of(partial(repository.read, head)), watch)
    own = (one for one in report.unread if one.path not in also)
    changed = changed_lines(against.diff)
    told = {id(finding) for finding in (*why.touched, *why.revealed)}
    return Look(
        base=base,
        merge_base=merge_base,
        head=head,
        findings=tuple(prove(sorted([*why.touched, *why.revealed], key=place))),
        revealed=why.revealed,
        others=tuple(finding for finding in report.findings if id(finding) not in told),
        suppressed=tuple(finding for finding in report.suppressed if changed.touch(finding)),
        unread=tuple(sorted((*looked_at.unread, *own, *too_many), key=lambda one: (one.path, one.why))),
        failed=(*_failed(report), *timed_out),
        files=len(looked_at.changes) + len(looked_at.unread),
        changes=diff.changes,
        changed=changed,
        shown=Shown.of(hunks),
        beside=frozenset(also),
        rules=frozenset(rule.id for rule in rules),
    )


def _failed(report: Report) -> tuple[Unread, ...]:
    return tuple(Unread(one.path, f"rule {one.rule}: {one.why}", one.line) for one in report.failures)


def _readable(repository: Repository, head: str, paths: Iterable[str], settings: Config) -> dict[str, bytes]:
    """The content of those files that are not excluded and can be read."""
    excluded = excluding(settings.exclude, Path("."))
    found = {}
    for path in paths:
        content = None if excluded(path) else repository.read(head, path)
        if content is not None and decoded(content) is not None:
            found[path] = content
    return found
