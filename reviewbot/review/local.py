"""The review of one commit against another, from a repository's objects alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from reviewbot import config
from reviewbot.config import Config
from reviewbot.index.affected import affected
from reviewbot.lint import registry
from reviewbot.lint.against import Against
from reviewbot.lint.engine import Report, lint, place
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Rule
from reviewbot.model import Finding, Review, Round, RuleNote, Unread
from reviewbot.review.caused import caused
from reviewbot.review.scope import decoded, lines_of, scope
from reviewbot.review.threads import Shown, threads
from reviewbot.source.diff import changed_lines
from reviewbot.source.discover import READ, excluding
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
    database: Path | None = None,
) -> Review:
    """The first round of a review of what `head` changes since it left `base` (full commit ids).

    `prove` may confirm findings, or withdraw them, before they become threads. `watch` passes the files on
    while they are looked at; it is for showing progress. `database` keeps the repository's facts, None keeps
    none.
    """
    merge_base = repository.merge_base(base, head)
    diff = repository.diff(merge_base, head)
    looked_at = scope(repository, diff.changes, settings)
    hunks = {change.path: diff.hunks(change) for change, _ in looked_at.changes}
    against = Against(AtCommit(repository, merge_base), diff.files())
    repo = Repo(settings, AtCommit(repository, head), database=database, against=against)
    beside = _beside(repository, head, repo, against, settings)
    total = len(looked_at.changes) + len(beside)
    report = lint(watch(chain(looked_at.sources, beside.items()), total), rules, repo)
    read = lines_of(partial(repository.read, head))
    why = caused(report.findings, against, repo.before(), read)
    kept = prove(sorted([*why.touched, *why.revealed], key=place))
    made = threads(kept, Shown.of(hunks), read, why.revealed)
    own = (one for one in report.unread if one.path not in beside)
    unread = sorted((*looked_at.unread, *own), key=lambda one: (one.path, one.why))
    files = len(looked_at.changes) + len(looked_at.unread)
    changed = changed_lines(against.diff)
    this = Round(
        number=1,
        base=base,
        merge_base=merge_base,
        head=head,
        files=files,
        read=files - len({one.path for one in unread}),
        beside=len(beside),
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


def _beside(
    repository: Repository, head: str, repo: Repo, against: Against, settings: Config
) -> dict[str, bytes]:
    """The unchanged files that use what the change touched, and can be read."""
    excluded = excluding(settings.exclude, Path("."))
    found = {}
    for path in affected(repo.index, against.diff, partial(repository.read, head), against.files.read):
        content = None if excluded(path) or not path.endswith(READ) else repository.read(head, path)
        if content is not None and len(content) <= settings.max_file_bytes and decoded(content) is not None:
            found[path] = content
    return found


def _note(rule: str) -> RuleNote:
    if rule not in registry.rule_ids():
        return RuleNote(rule, "A comment that is to silence a rule and cannot.", "")
    return RuleNote(rule, registry.first_sentence(rule), registry.section(rule, "Instead"))
