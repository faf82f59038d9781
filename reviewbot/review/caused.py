"""Which findings a change causes: those whose argument stands on lines that changed, and those that the base
does not have, such as a loop whose length check went, or a check that a new producer makes true by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reviewbot.index.gather import Watch, unwatched
from reviewbot.lint import registry
from reviewbot.lint.against import Against
from reviewbot.lint.engine import examine
from reviewbot.lint.repo import Repo
from reviewbot.lint.results import report as report_of
from reviewbot.lint.suppress import is_unused
from reviewbot.model import Finding
from reviewbot.review.scope import lines_of
from reviewbot.source.diff import changed_lines

Read = Callable[[str], Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Caused:
    """`touched` stand on lines that changed, with a step at least; `revealed` do not, and are new."""

    touched: tuple[Finding, ...]
    revealed: tuple[Finding, ...]


def caused(
    findings: Iterable[Finding], against: Against, before: Repo, head: Read, watch: Watch = unwatched
) -> Caused:
    """Those of the head's findings that the change caused. `before` is the repository at the base, `head`
    gives the lines of the head's files.

    Where the base cannot be read, or a rule came to no end there, what it held is unknown, and nothing is
    held against the change.
    """
    changed = changed_lines(against.diff)
    touched: list[Finding] = []
    untouched: list[Finding] = []
    for finding in findings:
        if changed.touch(finding):
            touched.append(finding)
        elif not is_unused(finding):  # of the base only those rules are asked that say something now
            untouched.append(finding)
    old = {one.path: one.old_path for one in against.diff if one.path is not None}
    paths = {path: old.get(path, path) for path in sorted({one.span.path for one in untouched})}
    read = {path: against.files.read(was) for path, was in paths.items() if was is not None}
    sources = {path: content for path, content in read.items() if content is not None}
    # Of each file only the rules that say something of it now: they cost more than reading it.
    said: dict[str, set[str]] = {path: set() for path in sources}
    for one in untouched:
        said.get(one.span.path, set()).add(one.rule)
    ids = registry.rule_ids()
    rules = {path: registry.loaded(tuple(id_ for id_ in ids if id_ in said[path])) for path in sources}
    report = report_of(
        examine(paths[path] or path, content, rules[path], before)
        for path, content in watch(sources.items(), len(sources))
    )
    unknown = {one.path for one in report.unread} | {one.path for one in report.failures}
    # Looked at under the names that the files had, and compared under those that they have now.
    now = {was: path for path, was in paths.items()}
    earlier = [replace(one, span=replace(one.span, path=now[one.span.path])) for one in report.findings]
    known = [one for one in untouched if one.span.path in sources and paths[one.span.path] not in unknown]
    return Caused(tuple(touched), tuple(_new(known, head, earlier, lines_of(sources.get))))


def _new(findings: Iterable[Finding], head: Read, before: Iterable[Finding], base: Read) -> list[Finding]:
    """Those of `findings` that have no equal `before`.

    Equal are findings of one rule in one file about the same text, wherever it stands and whatever the
    function around it is called.
    """
    known = Counter(_about(finding, base) for finding in before)
    out = []
    for finding in findings:
        about = _about(finding, head)
        if known[about]:
            known[about] -= 1
        else:
            out.append(finding)
    return out


def _about(finding: Finding, read: Read) -> tuple[str, str, str]:
    span = finding.span
    lines = (read(span.path) or ())[span.line - 1 : span.end_line]
    return finding.rule, span.path, "".join("".join(lines).split())
