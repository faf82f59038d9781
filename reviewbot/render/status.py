"""What became of a thread, as the line above its comment."""

from __future__ import annotations

from reviewbot.render.comments import commit_links, links
from reviewbot.render.inert import Markdown
from reviewbot.render.markdown import render
from reviewbot.review.ledger import Entry
from reviewbot.source.permalink import Remote


def status(entry: Entry, head: str, remote: Remote | None) -> Markdown:
    """What became of a thread, as a quoted line; "" where it is just open. `head` is the commit of the round
    `entry.since`."""
    if entry.state in ("new", "open") and not entry.dismissal:
        return Markdown("")
    at = Markdown(f", at {commit_links(remote)(head)}")
    return Markdown(render("status.md.j2", entry=entry, at=at, link=links(head, remote)).strip())
