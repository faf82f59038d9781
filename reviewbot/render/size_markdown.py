"""A change's size in Markdown, as a comment or a run's summary shows it."""

from __future__ import annotations

from reviewbot.render.comments import LIMIT, links
from reviewbot.render.markdown import render
from reviewbot.render.size_text import STANDINGS, claim
from reviewbot.review.size.result import KINDS, Cut, Size
from reviewbot.source.permalink import Remote

FILES, CUTS, CHECKS = 60, 40, 60  # rows of each table
DIFFS = 30_000  # characters of all diffs together
MARK = 500  # bytes that an answer carries besides


def text(size: Size, remote: Remote | None) -> str:
    """The document, short enough for a comment. Whatever stands in names and code comes out inert."""
    for part in (1, 2, 4, 8, 16):
        made = _text(size, remote, part)
        if len(made.encode()) <= LIMIT - MARK:
            break
    return made


def _text(size: Size, remote: Remote | None, part: int) -> str:
    """The document with a `part`th of its longest tables and diffs."""
    last = size.rounds[-1]
    files = sorted(last.files, key=lambda one: (-one.lines.added, one.path))
    most, cuts, checks = FILES // part, CUTS // part, CHECKS // part
    return render(
        "size.md.j2",
        size=size,
        last=last,
        claim=claim(size, "`"),
        labels=KINDS,
        standings=STANDINGS,
        link=links(last.head, remote),
        files=files[:most],
        left=max(0, len(files) - most),
        cuts=size.cuts[:cuts],
        cuts_left=max(0, len(size.cuts) - cuts),
        shown=_shown(size.cuts[:cuts], DIFFS // part),
        checks=size.checks[:checks],
        checks_left=max(0, len(size.checks) - checks),
    )


def _shown(cuts: tuple[Cut, ...], room: int) -> list[Cut]:
    """The cuts whose diffs fit, in their order."""
    out = []
    for cut in cuts:
        if cut.diff and cut.state != "withdrawn" and len(cut.diff) <= room:
            room -= len(cut.diff)
            out.append(cut)
    return out
