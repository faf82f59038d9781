"""The page of a change's size: where its lines go, what each finding takes away, where each check stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reviewbot.errors import UsageError
from reviewbot.model import Review
from reviewbot.render import code_lines, finding_page, size_chart, size_text
from reviewbot.render.pages import HOME, Extra, counted, fitting, render
from reviewbot.render.sources import Sources
from reviewbot.review.size.result import KINDS, OF_TESTS, Cut, Size

ROWS, DIFFS = 120, 12  # rows of each table, and diffs that are shown
LONGEST = 40_000  # characters of all diffs


@dataclass(frozen=True, slots=True)
class Shown:
    """A cut; `page` is that of its finding, "" where there is none; `diff` is empty where none is shown."""

    cut: Cut
    page: str
    href: str
    diff: Markup


def extra(size: Size, review: Review | None, sources: Sources, file: str) -> Extra:
    """The page. Cuts link to the pages of their findings, where the review has the same."""
    last = size.rounds[-1]
    tests = sum(last.kinds[kind].added for kind in OF_TESTS if kind in last.kinds)
    own = sum(one.own for one in size.after)
    title = f"where the {tests:,} lines of tests go" + (f", and the {own:,} that can go" if own else "")
    files = sorted(last.files, key=lambda one: (-one.lines.added, one.path))
    values: dict[str, object] = {
        "title": title,
        "claim": size_text.claim(size, "`"),
        "size": size,
        "last": last,
        "labels": KINDS,
        "standings": size_text.STANDINGS,
        "chart": _chart(size),
        "applies": sum(one.state in ("applies", "tested") for one in size.cuts),
        "run": sum(one.state == "tested" for one in size.cuts),
        "withdrawn": sum(one.state == "withdrawn" for one in size.cuts),
        "commit": sources.commit_link,
    }

    def with_most(most: int) -> str:
        parts: dict[str, object] = {
            "files": files[:most],
            "files_left": max(0, len(files) - most),
            "cuts": _cuts(size.cuts[:most], review, last.head, sources),
            "cuts_left": max(0, len(size.cuts) - most),
            "checks": [(one, sources.link(last.head, one.path, one.line)) for one in size.checks[:most]],
            "checks_left": max(0, len(size.checks) - most),
        }
        return render("size_page.html.j2", (HOME, ("Size", "")), **values, **parts)

    text = fitting(with_most, ROWS)
    says = counted(last.lines.added, "line") + " added" + (f", {own:,} of them can go." if own else ".")
    return Extra(file, "Where the lines go", says, text)


def _chart(size: Size) -> Markup:
    """The bar chart; nothing where the library that draws it is not installed: the tables say the same."""
    try:
        # Made of our own texts and of names that the chart escapes.
        return Markup(size_chart.svg(size))
    except UsageError:
        return Markup("")


def _cuts(cuts: Sequence[Cut], review: Review | None, head: str, sources: Sources) -> list[Shown]:
    known = {
        (thread.id, thread.finding.rule, thread.finding.span.path, thread.finding.span.line): thread
        for thread in (review.threads if review else ())
    }
    out, room, diffs = [], LONGEST, 0
    for cut in cuts:
        thread = known.get((cut.id, cut.rule, cut.path, cut.line))
        diff = Markup("")
        if cut.diff and cut.state != "withdrawn" and diffs < DIFFS and len(cut.diff) <= room:
            diff, room, diffs = code_lines.diff(cut.diff, cut.path), room - len(cut.diff), diffs + 1
        page = finding_page.file_name(thread) if thread else ""
        out.append(Shown(cut, page, sources.link(head, cut.path, cut.line), diff))
    return out
