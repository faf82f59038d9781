"""One round's lines, by file and kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from pathlib import Path

from reviewbot.config import Config
from reviewbot.lint.engine import lint
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Rule
from reviewbot.model import Finding, Review
from reviewbot.review.scope import printable
from reviewbot.review.size.kinds import Kinds, kinds, overlapping, unread
from reviewbot.review.size.result import KINDS, Count, FileSize, Kind, RoundSize
from reviewbot.source.git import LEFT_OUT, AtCommit, Repository
from reviewbot.source.numstat import Churn, churn

Watch = Callable[[Iterable[Churn], int], Iterable[Churn]]


def round_size(
    folder: Path,
    repository: Repository,
    review: Review,
    number: int,
    settings: Config,
    rules: Sequence[Rule],
    watch: Watch = lambda items, total: items,
) -> RoundSize:
    """The lines of the review's head, told apart with the help of its findings.

    `folder` is where git is asked. What went is told apart by the findings in the base.
    """
    last = review.rounds[-1]
    changed = churn(folder, last.merge_base, last.head)
    now = [thread.finding for thread in review.threads]
    before = _before(repository, changed, last.merge_base, settings, rules)
    files = tuple(_file(repository, one, now, before) for one in watch(changed, len(changed)))
    return RoundSize(
        number=number,
        head=last.head,
        merge_base=last.merge_base,
        lines=reduce(Count.__add__, (file.lines for file in files), Count()),
        kinds=_summed(file.kinds for file in files),
        files=files,
        checks=sum(file.checks for file in files),
        cannot_fail=sum(file.cannot_fail for file in files),
        unread=last.unread,
    )


def _before(
    repository: Repository, changed: Sequence[Churn], base: str, settings: Config, rules: Sequence[Rule]
) -> list[Finding]:
    """The findings of the base in files that lose lines, under the names that they have there."""
    sources = {
        one.old_path: repository.blob(one.old_id, one.old_path)
        for one in changed
        if one.deleted and one.old_path and one.old_id and one.old_kind == "file" and _is_python(one.old_path)
        if not repository.too_large(one.old_id, one.old_path)
    }
    return list(lint(sources.items(), rules, Repo(settings, AtCommit(repository, base))).findings)


def _is_python(path: str) -> bool:
    return path.endswith(".py") and printable(path) == path


def _file(repository: Repository, one: Churn, now: Sequence[Finding], before: Sequence[Finding]) -> FileSize:
    came = _kinds(repository, one.path, one.new_id if one.kind == "file" else None, now, one.added)
    went = _kinds(
        repository,
        one.old_path or one.path,
        one.old_id if one.old_kind == "file" else None,
        before,
        one.deleted,
    )
    added = Counter(came[line] for line in one.added)
    deleted = Counter(went[line] for line in one.deleted)
    return FileSize(
        path=printable(one.path),
        old_path=None if one.old_path in (None, one.path) else printable(one.old_path or ""),
        status=one.status,
        lines=Count(len(one.added), len(one.deleted)),
        kinds={kind: Count(added[kind], deleted[kind]) for kind in KINDS if added[kind] or deleted[kind]},
        checks=overlapping(one.added, came.checks),
        cannot_fail=overlapping(one.added, came.cannot_fail),
        binary=one.binary,
        note=came.note or went.note,
    )


def _kinds(
    repository: Repository,
    path: str,
    object_id: str | None,
    findings: Sequence[Finding],
    lines: Sequence[int],
) -> Kinds:
    if not lines or object_id is None:
        return Kinds("other")
    if repository.lacks(object_id, path):
        return unread(path, LEFT_OUT)
    if repository.too_large(object_id, path):
        return unread(path, f"larger than {repository.largest} bytes (max-file-bytes)")
    if path.endswith(".py") and not _is_python(path):
        return unread(path, "its name is not UTF-8")
    mine = [finding for finding in findings if finding.span.path == path]
    return kinds(path, repository.blob(object_id, path), mine, lines)


def _summed(listed: Iterable[dict[Kind, Count]]) -> dict[Kind, Count]:
    total: dict[Kind, Count] = {}
    for each in listed:
        for kind, count in each.items():
            total[kind] = total.get(kind, Count()) + count
    return {kind: total[kind] for kind in KINDS if kind in total}
