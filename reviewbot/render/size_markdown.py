"""A change's size in Markdown, as a comment or a run's summary shows it."""

from __future__ import annotations

from reviewbot.render.comments import links
from reviewbot.render.markdown import render
from reviewbot.render.size_text import STANDINGS, claim
from reviewbot.review.size.result import KINDS, Cut, Size
from reviewbot.source.permalink import Remote

FILES, CUTS, CHECKS = 60, 40, 60  # rows of each table
DIFFS = 30_000  # characters of all diffs together


def text(size: Size, remote: Remote | None) -> str:
    """The document. Whatever stands in names and code comes out inert."""
    last = size.rounds[-1]
    files = sorted(last.files, key=lambda one: (-one.lines.added, one.path))
    return render(
        "size.md.j2",
        size=size,
        last=last,
        claim=claim(size, "`"),
        labels=KINDS,
        standings=STANDINGS,
        link=links(last.head, remote),
        files=files[:FILES],
        left=max(0, len(files) - FILES),
        cuts=size.cuts[:CUTS],
        cuts_left=max(0, len(size.cuts) - CUTS),
        shown=_shown(size.cuts),
        checks=size.checks[:CHECKS],
        checks_left=max(0, len(size.checks) - CHECKS),
    )


def _shown(cuts: tuple[Cut, ...]) -> list[Cut]:
    """The cuts whose diffs fit, in their order."""
    room = DIFFS
    out = []
    for cut in cuts:
        room -= len(cut.diff)
        if cut.diff and cut.state != "withdrawn" and room > 0:
            out.append(cut)
    return out
