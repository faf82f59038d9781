"""Findings as Markdown, for a job's summary or a comment by hand. What comes out of files is inert."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reviewbot.lint.results import Report
from reviewbot.model import CERTAINTIES, Finding
from reviewbot.render import catches
from reviewbot.render.inert import block, claim, code, plain, prose
from reviewbot.render.terminal import Read


def encode(report: Report, read: Read) -> str:
    """A section for each certainty, a block for each finding, then what was not read."""
    return "\n\n".join(_parts(report, read)) + "\n"


def _parts(report: Report, read: Read) -> Iterator[str]:
    tally = Counter(finding.certainty for finding in report.findings)
    counts = ", ".join(f"{tally[kind]} {kind}" for kind in CERTAINTIES if tally[kind]) or "nothing found"
    yield f"**reviewbot**: {counts} in {report.read} file{'' if report.read == 1 else 's'}"
    for kind in CERTAINTIES:
        if tally[kind]:
            yield f"### {kind.capitalize()}"
        for finding in report.findings:
            if finding.certainty == kind:
                yield from _block(finding, read)
    if report.unread or report.failures:
        yield "### Not read"
        unread = [f"- {code(one.path)}: {plain(one.why)}" for one in report.unread]
        failed = [f"- {code(one.path)}: rule {code(one.rule)}: {plain(one.why)}" for one in report.failures]
        yield "\n".join([*unread, *failed])


def _block(finding: Finding, read: Read) -> Iterator[str]:
    span = finding.span
    yield f"{code(f'{span.path}:{span.line}')} {claim(finding.message)} ({code(finding.rule)})"
    lines = read(span.path)
    if lines is not None and span.end_line <= len(lines):
        yield block("\n".join(lines[span.line - 1 : span.end_line]) + "\n", "python")
    items = [
        f"{number}. {code(f'{step.path}:{step.line}')} {prose(step.says)}"
        for number, step in enumerate(finding.steps, 1)
    ]
    if items:
        yield "\n".join(items)
    if still := catches.told(finding):
        yield f"Still catches it: {'; '.join(map(prose, still))}"
    if finding.fix is not None:
        yield f"{'Fix' if finding.fix.safe else 'Suggestion'}: {prose(finding.fix.says)}"
