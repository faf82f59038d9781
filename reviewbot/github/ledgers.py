"""The ledger where it is kept: in the bot's own summary comment."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from reviewbot.errors import GitHubError, Unsure
from reviewbot.github.client import Comment, GitHub
from reviewbot.review import ledger as ledgers
from reviewbot.review.ledger import Ledger

_TRIES = 4


@dataclass(frozen=True, slots=True)
class Kept:
    """A ledger and the comment that holds it."""

    ledger: Ledger
    comment: Comment


def load(github: GitHub, pull: int) -> Kept | None:
    """The latest ledger of a pull request that the token's own user wrote; None if there is none."""
    found: Kept | None = None
    for comment in github.comments(pull):
        if comment.author != github.viewer:  # anybody can paste one
            continue
        ledger = ledgers.decode(comment.body, github.slug, pull)
        if ledger is not None and (found is None or ledger.serial >= found.ledger.serial):
            found = Kept(ledger, comment)
    return found


def change(github: GitHub, pull: int, how: Callable[[Ledger], Ledger]) -> Ledger:
    """Stores what `how` makes of the ledger, and returns it.

    GitHub knows no lock: what is there is read again afterwards, and where another run wrote in between, the
    change is made anew on what that one wrote. Raises `GitHubError` without a ledger, or where that goes on.
    """
    for _ in range(_TRIES):
        kept = load(github, pull)
        if kept is None:
            raise GitHubError("no round of this pull request has been posted yet")
        wanted = how(kept.ledger)
        # Text first: a line of its own at the end is what `bare` takes away again.
        body = f"{ledgers.bare(kept.comment.body)}\n{ledgers.encode(wanted)}"
        with suppress(Unsure):  # an edit does no harm twice, and whether it was stored is seen below
            github.edit_comment(kept.comment.id, body)
        # Longer than another run takes from its reading to its writing.
        time.sleep(3 * github.pace.between_writes)
        stored = ledgers.decode(github.comment(kept.comment.id).body, github.slug, pull)
        if stored == ledgers.decode(body, github.slug, pull):
            return wanted
    raise GitHubError("another run keeps changing the ledger; try again")
