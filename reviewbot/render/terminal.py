"""Findings as a person reads them in a terminal: the claim, the code it is about, the steps, the way out."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from reviewbot.lint.results import Report
from reviewbot.model import CERTAINTIES, Certainty, Edit, Finding, Fix, Span, Step
from reviewbot.render import catches
from reviewbot.render.inert import visible

# The lines of a file that a finding or a step names, without their ends; None where it is not to be had.
Read = Callable[[str], Sequence[str] | None]

TAB = 4
WIDTH = 140  # columns of source shown; of a longer line the part around the caret
TALL = 8  # lines of source shown; of a longer span the first and the last

_COLOURS: dict[Certainty, str] = {"proved": "1;31", "likely": "1;33", "question": "1;36"}
_BOLD, _DIM, _RED, _GREEN = "1", "2", "31", "32"


def text(report: Report, read: Read, *, colour: bool = False) -> str:
    """One block a finding."""
    page = _Page(read, colour)
    return "".join(f"{line}\n" for finding in report.findings for line in page.block(finding))


def block(finding: Finding, read: Read, name: str = "", *, colour: bool = False) -> str:
    """One finding; `name` is the id of its thread, where it has one."""
    return "".join(f"{line}\n" for line in _Page(read, colour).block(finding, name))


def summary(report: Report, *, colour: bool = False, did: str | None = None) -> str:
    """One line about the whole run, and where to read on. `did` says what was done about it."""
    paint = _painter(colour)
    shown = report.findings
    files = _count(report.read, "file")
    if shown:
        tally = Counter(finding.certainty for finding in shown)
        kinds = ", ".join(
            paint(f"{tally[kind]} {kind}", _COLOURS[kind]) for kind in CERTAINTIES if tally[kind]
        )
        places = len({finding.span.path for finding in shown})
        said = [f"{_count(len(shown), 'finding')} ({kinds}) in {places} of {files}"]
    else:
        said = [f"nothing found in {files}" if report.files else "no file was looked at"]
    if report.accepted:
        said.append(
            f"{report.accepted} more in the baseline" if shown else f"{report.accepted} in the baseline"
        )
    if report.suppressed:
        said.append(f"{len(report.suppressed)} suppressed with a reason")
    unasked = sum(finding.fixed_unasked for finding in shown)
    if did is not None:
        said.append(did)
    elif unasked:
        said.append(f"--fix would fix {unasked}")
    if report.unread:
        said.append(f"{len(report.unread)} not read")
    if report.failures:
        said.append(f"{_count(len(report.failures), 'rule')} failed on a file")
    lines = ["; ".join(said)]
    if shown:
        lines.append(paint(f"`reviewbot rule {shown[0].rule}` explains a rule", _DIM))
    return "".join(f"{line}\n" for line in lines)


def stats(report: Report) -> str:
    """What a run cost, rule by rule, in seconds of processor time. What came from the cache cost nothing."""
    effort = report.effort
    lines = [
        f"{_count(report.files, 'file')}, {report.cached} from the cache",
        f"{effort.content / 1e6:.2f} MB, {_count(effort.units, 'unit')}: {effort.seconds:.2f} s",
        f"of that LibCST parsed {_count(effort.parses, 'unit')}: {effort.parse_seconds:.2f} s",
        f"{'rule':28} {'suspected':>9} {'confirmed':>9} {'findings':>8} {'seconds':>8}",
    ]
    for rule, tally in sorted(report.tallies.items(), key=lambda item: -item[1].seconds):
        lines.append(
            f"{rule:28} {tally.suspected:9} {tally.confirmed:9} {tally.findings:8} {tally.seconds:8.2f}"
        )
    return "".join(f"{line}\n" for line in lines)


class _Page:
    def __init__(self, read: Read, colour: bool) -> None:
        self._read = read
        self._paint = _painter(colour)

    def block(self, finding: Finding, name: str = "") -> Iterator[str]:
        span = finding.span
        accent = _COLOURS[finding.certainty]
        where = self._paint(f"{visible(span.path)}:{span.line}:{span.column}", _BOLD)
        certainty = self._paint(finding.certainty, accent)
        before = f"{self._paint(name, _BOLD)} " if name else ""
        rule = self._paint(f"[{finding.rule}]", _DIM)
        yield f"{before}{where}: {certainty}: {visible(finding.message)} {rule}"
        margin = len(str(max([span.end_line, *(step.end_line for step in finding.steps)])))
        yield from self._source(span, margin, accent)
        for number, step in enumerate(finding.steps, 1):
            yield from self._step(number, step, finding, margin)
        bar = " " * margin
        for catch in catches.told(finding):
            yield f"{bar} = still catches it: {visible(catch)}"
        if finding.evidence is not None:
            yield f"{bar} = run: {visible(finding.evidence.entry)}: {visible(finding.evidence.says)}"
            yield from (f"{bar}   {visible(line)}" for line in finding.evidence.lines)
        if finding.fix is not None:
            yield from self._fix(finding.fix, bar)
        elif finding.no_fix:
            yield f"{bar} = no fix is proposed: {visible(finding.no_fix)}"
        yield ""

    def _step(self, number: int, step: Step, finding: Finding, margin: int) -> Iterator[str]:
        where = self._paint(f"{visible(step.path)}:{step.line}", _BOLD)
        yield f"{' ' * margin} = {number}. {where}: {visible(step.says)}"
        span = finding.span
        within = step.path == span.path and span.line <= step.line and step.end_line <= span.end_line
        if not within and not step.base:
            yield from self._source(Span(step.path, step.line, 0, step.end_line, 0), margin, None)

    def _source(self, span: Span, margin: int, accent: str | None) -> Iterator[str]:
        """The span's lines; under each the marks of what the span covers of it, if there is an accent."""
        lines = self._read(span.path)
        if lines is None or not 1 <= span.line <= span.end_line <= len(lines):
            return
        for number in range(span.line, span.end_line + 1):
            if span.end_line - span.line >= TALL and span.line + TALL - 2 <= number < span.end_line:
                if number == span.line + TALL - 2:
                    yield self._gutter("", margin) + "…"
                continue
            line = lines[number - 1]
            start = span.column - 1 if number == span.line and accent else len(line) - len(line.lstrip())
            end = span.end_column - 1 if number == span.end_line and accent else len(line.rstrip())
            shown, before, marked = _window(line, start, max(start, end))
            yield self._gutter(str(number), margin) + shown
            if accent:
                carets = "^" * max(1, marked)
                yield self._gutter("", margin) + " " * before + self._paint(carets, accent)

    def _gutter(self, number: str, margin: int) -> str:
        return self._paint(f"{number:>{margin}} | ", _DIM)

    def _fix(self, fix: Fix, bar: str) -> Iterator[str]:
        kind = "fix" if fix.safe else "suggestion"
        yield f"{bar} = {kind}: {visible(fix.says)}"
        for edit in fix.edits:
            yield from (f"{bar}   {line}" for line in self._edit(edit))

    def _edit(self, edit: Edit) -> Iterator[str]:
        lines = self._read(edit.path) or ()
        old = [*lines[edit.line - 1 : edit.end_line]]
        new = edit.text.splitlines()
        # What both have in common at the ends says nothing.
        while old and new and old[0] == new[0]:
            old, new = old[1:], new[1:]
        while old and new and old[-1] == new[-1]:
            old, new = old[:-1], new[:-1]
        for sign, of, paint in (("-", old, _RED), ("+", new, _GREEN)):
            yield from (self._paint(f"{sign} {_window(line, 0, 0)[0]}", paint) for line in of)


def _painter(colour: bool) -> Callable[[str, str], str]:
    return (lambda said, code: f"\x1b[{code}m{said}\x1b[0m") if colour else (lambda said, code: said)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """A line as it is shown, the columns before character `start` of it, and those of `start` to `end`."""
    cut = ""
    if len(line) > WIDTH:
        first = max(0, min(start - WIDTH // 4, len(line) - WIDTH))
        cut = "…" if first else ""
        more = "…" if first + WIDTH < len(line) else ""
        line, start, end = line[first : first + WIDTH] + more, start - first, min(end - first, WIDTH)
    shown = cut + _shown(line)
    before = len(cut) + _columns(_shown(line[:start]))
    return shown, before, _columns(_shown(line[start:end]))


def _shown(line: str) -> str:
    return visible(line.replace("\t", " " * TAB))


def _columns(said: str) -> int:
    """How many columns of a terminal a text takes."""
    if said.isascii():
        return len(said)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in said)
    return len(said) + wide - sum(unicodedata.combining(character) > 0 for character in said)
