"""What the bot has said on a pull request so far, read from GitHub.

State is taken from nothing but what the token's own user wrote: anybody can paste a hidden line. Where the
check run has a copy of the ledger, the later of both counts, and of two that are equally late the copy, which
nobody can edit; where both are lost, the marks in the comments of the threads give most of it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.errors import Absent, Denied, Refused
from reviewbot.github.client import Check, Comment, GitHub, Pull, ReviewComment, SentReview
from reviewbot.review import ledger as ledgers
from reviewbot.review.ledger import Entry, Ledger, Look, Mark

CHECK = "reviewbot"  # the name of the check run
LOOKED_BACK = 10  # commits whose check runs are asked for a ledger that is lost
SUMMARY = "<!-- reviewbot-summary -->"


@dataclass(frozen=True)
class Conversation:
    """One pull request and the bot's own words on it.

    `own` are the first comments of threads by the thread's id. `check` is the check run on the head that is
    being looked at.
    """

    pull: Pull
    viewer: str
    ledger: Ledger
    summary: Comment | None
    own: Mapping[str, ReviewComment]
    drafts: tuple[SentReview, ...]
    check: Check | None


def read(github: GitHub, number: int, base: str, head: str, *, drafts: bool = False) -> Conversation:
    """Reads the pull request `number`, of which `base` and `head` are being looked at. `drafts` are read only
    where they are asked for."""
    viewer = github.viewer
    pull = github.pull(number)
    mine = [comment for comment in github.comments(number) if comment.author == viewer]
    summary = summary_of(mine)
    said_on_lines = github.review_comments(number)
    own = _own(said_on_lines, viewer, github.slug, number)
    reviews = github.reviews(number) if drafts else ()
    pending = tuple(one for one in reviews if one.author == viewer and one.state == "PENDING")
    said = ledgers.decode(summary.body, github.slug, number) if summary else None
    check = _check(github, head, number)
    found = (mark_of(comment, github.slug, number) for comment in own.values())
    marks = [mark for mark in found if mark is not None]
    kept = _copy(check, github.slug, number)
    if kept is None:
        kept = _earlier_copy(github, number, head, said, marks)
    latest = max(filter(None, (kept, said)), key=lambda one: one.serial, default=Ledger(github.slug, number))
    own |= _unmarked(said_on_lines, viewer, latest, own)
    whole = whole_ledger(latest, marks, own, base, head)
    return Conversation(pull, viewer, whole, summary, own, pending, check)


def summary_of(mine: Iterable[Comment]) -> Comment | None:
    """The oldest of the bot's comments that is a summary."""
    return next((comment for comment in mine if SUMMARY in ledgers.hidden(comment.body)), None)


def own_comments(github: GitHub, number: int, viewer: str) -> dict[str, ReviewComment]:
    """The first comments of the bot's own threads by the thread's id; of two for one thread the older."""
    return _own(github.review_comments(number), viewer, github.slug, number)


def _own(comments: Iterable[ReviewComment], viewer: str, slug: str, number: int) -> dict[str, ReviewComment]:
    own: dict[str, ReviewComment] = {}
    for comment in comments:
        if comment.author == viewer and comment.reply_to is None:
            made = mark_of(comment, slug, number)
            if made is not None:
                own.setdefault(made.entry.id, comment)
    return own


def _unmarked(
    comments: Iterable[ReviewComment], viewer: str, ledger: Ledger, own: Mapping[str, ReviewComment]
) -> dict[str, ReviewComment]:
    """The bot's own comments that somebody edited so that their marks went: the ledger knows their ids."""
    names = {entry.comment: entry.id for entry in ledger.entries if entry.id not in own}
    return {names[one.id]: one for one in comments if one.id in names and one.author == viewer}


def mark_of(comment: ReviewComment, slug: str, number: int) -> Mark | None:
    """What a comment of the bot's own holds of its thread."""
    return ledgers.marked(comment.body, slug, number)


def external_id(number: int) -> str:
    """What the check run of a pull request is known by: several can have the same head."""
    return f"reviewbot-{number}"


def _check(github: GitHub, commit: str, number: int) -> Check | None:
    try:
        found = github.checks(commit, CHECK)
    except (Absent, Denied, Refused):  # a commit that a push by force took away; a token that may not look
        return None
    return next((check for check in found if check.external_id == external_id(number)), None)


def _earlier_copy(
    github: GitHub, number: int, head: str, said: Ledger | None, marks: Sequence[Mark]
) -> Ledger | None:
    """The copy at the last round's head; without a summary that names it, at the latest head that has one."""
    if said is not None and said.rounds:
        heads = [said.rounds[-1].head]
    elif marks:
        heads = [*reversed(github.commits(number)[-LOOKED_BACK:])]
        heads.append(max(marks, key=lambda mark: mark.look.number).look.head)
    else:
        return None
    copies = (_copy(_check(github, one, number), github.slug, number) for one in heads if one != head)
    return next((copy for copy in copies if copy is not None), None)


def _copy(check: Check | None, slug: str, number: int) -> Ledger | None:
    return ledgers.decode(check.text, slug, number) if check else None


def whole_ledger(
    kept: Ledger, marks: Sequence[Mark], own: Mapping[str, ReviewComment], base: str, head: str
) -> Ledger:
    """The ledger with what only the comments know: entries that had no room or were written by a run that
    came to no end, and the ids of the comments.

    A thread whose comment a person took away is spoken of in the summary alone from then on.
    """
    known = {entry.id for entry in kept.entries}
    last = kept.rounds[-1].number if kept.rounds else 0
    more = {mark.entry.id: mark.entry for mark in marks if mark.entry.id not in known}
    looks = {mark.look.number: mark.look for mark in marks if mark.look.number > last}
    entries = [_placed(entry, own) for entry in (*kept.entries, *more.values())]
    after = max((entry.number + 1 for entry in entries), default=1)
    unfinished = looks[max(looks)] if looks else None
    # A run that is taken up again gives the ids that it was about to give; otherwise none is given twice.
    again = unfinished is not None and (unfinished.base, unfinished.head) == (base, head)
    return replace(
        kept,
        rounds=(*kept.rounds, *(looks[number] for number in sorted(looks))),
        entries=tuple(sorted(entries, key=lambda entry: entry.number)),
        next=kept.next if again else max(kept.next, after),
    )


def _placed(entry: Entry, own: Mapping[str, ReviewComment]) -> Entry:
    if entry.id in own:
        return replace(entry, comment=own[entry.id].id)
    return replace(entry, place="summary") if entry.comment is not None else entry


def mark(entry: Entry, look: Look, slug: str, number: int) -> str:
    """The hidden line of a thread's comment."""
    return ledgers.mark(Mark(slug, number, look, entry))
