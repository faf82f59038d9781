"""A round told on GitHub: edits of what was said, new comments, the check run, the summary.

In this order, so that the summary tells only what is there. Whatever breaks off halfway can be run again:
every thing that is written carries a mark, and is looked for before it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from reviewbot.errors import Absent, Denied, GitHubError, Refused, UsageError
from reviewbot.github import anchors
from reviewbot.github.client import Check, CheckOutput, Comment, Conclusion, GitHub, ReviewComment, SentReview
from reviewbot.github.conversation import (
    CHECK,
    SUMMARY,
    Conversation,
    external_id,
    mark,
    own_comments,
    summary_of,
)
from reviewbot.github.patience import once
from reviewbot.model import Review, Thread
from reviewbot.render import comments
from reviewbot.render.annotations import LEVELS, message
from reviewbot.render.status import status
from reviewbot.review import ledger as ledgers
from reviewbot.review.ledger import Entry, Ledger
from reviewbot.source.permalink import Remote

BATCH = 20  # comments of one request; GitHub Enterprise has been seen to fail at a hundred
ANNOTATIONS = 50  # of one request
MOST_ANNOTATIONS = 500
FRAME = 500  # characters around the summary and the ledger
COPY_ROOM = 60_000  # characters of the ledger in the check run, which takes 65,535
_STATUS = re.compile(r"\A<!-- reviewbot-status -->\n.*?<!-- /reviewbot-status -->\n*", re.DOTALL)


class Raced(GitHubError):
    """Another run has written in the meantime: read again, and start over."""


class Outdated(GitHubError):
    """The pull request has gone on: the commit that was looked at is not to be told of any more."""


@dataclass(frozen=True)
class Posted:
    """What was told. `refused` are sentences on what the token may not do; `url` is the summary's address, ""
    where there is none."""

    review: Review
    ledger: Ledger
    url: str
    refused: tuple[str, ...] = ()


@dataclass
class _Telling:
    """One round on its way to GitHub."""

    github: GitHub
    was: Conversation
    review: Review
    ledger: Ledger
    remote: Remote | None
    refused: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return self.was.pull.number

    @property
    def head(self) -> str:
        return self.review.rounds[-1].head

    def mark(self, entry: Entry) -> str:
        return mark(entry, self.ledger.rounds[-1], self.github.slug, self.number)


# Renders a review; given sentences on what could not be done.
Render = Callable[[Review, Sequence[str]], Review]


def post(
    github: GitHub,
    was: Conversation,
    review: Review,
    ledger: Ledger,
    remote: Remote | None,
    render: Render,
    conclusion: Conclusion,
    *,
    resolve: bool = False,
) -> Posted:
    """Tells of a round that was made from `was`. `render` writes bodies and summary.

    What the token may not do is left out, and said. Raises `Outdated` where the pull request does not have
    the commit any more or has been told of a later one, and `Raced` where another run wrote in between.
    """
    _current(github, was, review)
    telling = _Telling(github, was, render(review, ()), ledger, remote)
    try:
        _restate(telling)
        _comment_lines(telling)
        _comment_files(telling)
    except (Denied, Absent) as error:
        telling.refused.append(f"The token may not comment on code ({_reason(error)}).")
        _unsay(telling)
    _know_comments(telling)
    _check(telling, conclusion)
    if resolve:
        _resolve(telling)
    telling.review = render(telling.review, telling.refused)
    try:
        url = _summarize(telling)
    except (Denied, Absent) as error:
        telling.refused.append(f"The token may not comment on the pull request ({_reason(error)}).")
        url = ""
    return Posted(telling.review, telling.ledger, url, tuple(telling.refused))


def _reason(error: GitHubError) -> str:
    return f"GitHub says {error.status}, it needs `pull-requests: write`"


def _current(github: GitHub, was: Conversation, review: Review) -> None:
    """Whether this commit is still to be told of."""
    last = review.rounds[-1]
    pull = was.pull
    if not pull.open:
        raise Outdated(f"pull request {pull.number} is closed")
    if pull.head == last.head:
        return
    if last.head not in github.commits(pull.number):
        raise Outdated(f"{last.head[:12]} is not in pull request {pull.number} any more")
    if any(look.head == pull.head for look in was.ledger.rounds):
        raise Outdated(f"pull request {pull.number} has been told of a later commit than {last.head[:12]}")


# Comments of threads


def _restate(telling: _Telling) -> None:
    """Says above each comment what became of its thread, and mends marks that somebody took away."""
    for entry in telling.ledger.entries:
        comment = telling.was.own.get(entry.id)
        if comment is not None:
            body = restated(comment.body, entry, telling.ledger, telling.remote, telling.mark(entry))
            if body is not None:
                edit = partial(telling.github.edit_review_comment, comment.id, body)
                once(edit, lambda: None, telling.github.pace)


def restated(body: str, entry: Entry, ledger: Ledger, remote: Remote | None, mark: str) -> str | None:
    """The text of a thread's comment with what became of it above; None where it says so already."""
    heads = {look.number: look.head for look in ledger.rounds}
    head = heads.get(entry.since, ledger.rounds[-1].head)
    says = status(entry, head, remote)
    there = _STATUS.search(body)
    if not says and there and "**Back**" in there[0]:
        return None
    block = f"<!-- reviewbot-status -->\n{says}\n\n<!-- /reviewbot-status -->\n\n" if says else ""
    marked = any(line.startswith("<!-- reviewbot-thread ") for line in ledgers.hidden(body))
    if marked and (there[0].strip() if there else "") == block.strip():
        return None
    return f"{block}{ledgers.bare(_STATUS.sub('', body, count=1))}{mark}\n"


def _unsaid(telling: _Telling, place: str) -> list[Thread]:
    """The threads that are to have a comment there and have none yet."""
    entries = {entry.id: entry for entry in telling.ledger.entries}
    return [t for t in telling.review.threads if t.place == place and entries[t.id].comment is None]


def _body(telling: _Telling, thread: Thread) -> str:
    entry = telling.ledger.entry(thread.id)
    assert entry is not None
    return f"{thread.body}{telling.mark(entry)}\n"


def _comment_lines(telling: _Telling) -> None:
    number = telling.review.rounds[-1].number
    for batch in _batches(_unsaid(telling, "line"), BATCH):
        given = [
            {**anchors.fields(thread.anchor), "body": _body(telling, thread)}
            for thread in batch
            if thread.anchor
        ]
        names = [thread.id for thread in batch]
        says = f"Round {number}: {', '.join(names)}."
        _undisturbed(telling, names)
        try:
            send = partial(telling.github.add_review, telling.number, telling.head, says, given)
            # A review is stored with all of its comments or not at all.
            once(send, partial(_there, telling, names[0]), telling.github.pace)
        except Refused as error:
            # Lines were computed from GitHub's own diff, so that this is a diff that has changed since.
            telling.refused.append(f"GitHub refused comments on lines: {error}.")
            _move(telling, names)


def _comment_files(telling: _Telling) -> None:
    for thread in _unsaid(telling, "file"):
        assert thread.anchor is not None
        path, body = thread.anchor.path, _body(telling, thread)
        _undisturbed(telling, [thread.id])
        try:
            send = partial(telling.github.add_file_comment, telling.number, telling.head, path, body)
            once(send, partial(_there, telling, thread.id), telling.github.pace)
        except Refused as error:
            telling.refused.append(f"GitHub refused a comment on a file: {error}.")
            _move(telling, [thread.id])


def _batches(threads: Iterable[Thread], size: int) -> Iterator[list[Thread]]:
    rest = iter(threads)
    while batch := list(islice(rest, size)):
        yield batch


def _own(telling: _Telling) -> dict[str, ReviewComment]:
    return own_comments(telling.github, telling.number, telling.was.viewer)


def _there(telling: _Telling, name: str) -> ReviewComment | None:
    """A thread's comment, if it has one."""
    return _own(telling).get(name)


def _undisturbed(telling: _Telling, names: Sequence[str]) -> None:
    """Raises `Raced` where somebody gave one of these ids since."""
    there = _own(telling).keys() & set(names)
    if there:
        raise Raced(f"another run has written {min(there)}")


def _move(telling: _Telling, names: Sequence[str]) -> None:
    """The summary speaks of these threads instead."""
    review, ledger = telling.review, telling.ledger
    telling.review = replace(
        review,
        threads=tuple(
            replace(t, place="summary", anchor=None, proposal=None) if t.id in names else t
            for t in review.threads
        ),
    )
    entries = tuple(replace(e, place="summary") if e.id in names else e for e in ledger.entries)
    telling.ledger = replace(ledger, entries=entries)


def _unsay(telling: _Telling) -> None:
    """Where the token may not comment on code, all that is not said yet goes into the summary."""
    there = _own(telling)
    _move(telling, [t.id for p in ("line", "file") for t in _unsaid(telling, p) if t.id not in there])


def _know_comments(telling: _Telling) -> None:
    """Puts the ids of new comments into the ledger."""
    if not any(entry.comment is None and entry.place != "summary" for entry in telling.ledger.entries):
        return
    own = _own(telling)
    telling.ledger = replace(
        telling.ledger,
        entries=tuple(
            replace(entry, comment=own[entry.id].id) if entry.id in own else entry
            for entry in telling.ledger.entries
        ),
    )


def _resolve(telling: _Telling) -> None:
    """Resolves the conversations of what was settled in this round, and opens those that it resolved for what
    is not."""
    me = telling.was.viewer.removesuffix("[bot]")
    entries = {entry.comment: entry for entry in telling.ledger.entries if entry.comment is not None}
    try:
        for thread in telling.github.threads(telling.number):
            entry = entries.get(thread.comment or 0)
            if entry is None:
                continue
            if not entry.live and not thread.resolved and entry.since == telling.review.rounds[-1].number:
                telling.github.resolve(thread.id)
            elif entry.live and thread.resolved_by.removesuffix("[bot]") == me:
                telling.github.unresolve(thread.id)
    except (Denied, Absent):
        telling.refused.append("The token may not resolve conversations (it needs `contents: write`).")
    except GitHubError as error:  # it is no reason to leave the summary unsaid
        telling.refused.append(f"Not all conversations were resolved: {error}.")


# The check run


def _check(telling: _Telling, conclusion: Conclusion) -> None:
    review = telling.review
    notes = [_annotation(thread) for thread in review.threads[:MOST_ANNOTATIONS]]
    title = f"{len(review.threads)} finding{'' if len(review.threads) == 1 else 's'}"
    text = ledgers.encode(telling.ledger, COPY_ROOM)
    summary = comments.check_summary(review, telling.remote, len(notes))
    external = external_id(telling.number)
    github, pace = telling.github, telling.github.pace

    def stored() -> Check | None:
        return next((c for c in github.checks(telling.head, CHECK) if c.external_id == external), None)

    def output(first: int) -> CheckOutput:
        return CheckOutput(title, summary, text, notes[first : first + ANNOTATIONS])

    def add() -> Check:
        return github.add_check(
            CHECK,
            telling.head,
            external_id=external,
            status="completed",
            conclusion=conclusion,
            output=output(0),
        )

    def edit(check: Check) -> Check:
        more = output(check.annotations)
        return github.edit_check(check.id, status="completed", conclusion=conclusion, output=more)

    was = telling.was.check
    try:
        if was is None:
            now = once(add, stored, pace)
        elif (was.text, was.conclusion) == (text, conclusion) and was.annotations >= len(notes):
            return
        else:
            now = once(partial(edit, was), partial(_grown, stored, was), pace)
        while now.annotations < len(notes):
            now = once(partial(edit, now), partial(_grown, stored, now), pace)
    except (Denied, Absent):
        telling.refused.append("There is no check run: the token needs `checks: write`.")


def _grown(now: Callable[[], Check | None], before: Check) -> Check | None:
    """The check run if it has taken more annotations since."""
    check = now()
    return check if check and check.annotations > before.annotations else None


def _annotation(thread: Thread) -> Mapping[str, object]:
    levels = {"error": "failure", "warning": "warning", "notice": "notice"}
    finding = thread.finding
    return {
        "path": finding.span.path,
        "start_line": finding.span.line,
        "end_line": finding.span.end_line,
        "annotation_level": levels[LEVELS[finding.certainty]],
        "title": f"{thread.id} {finding.rule} ({finding.certainty})"[:255],
        "message": message(finding)[:60_000],
    }


# The summary


def _summarize(telling: _Telling) -> str:
    body = f"{telling.review.summary}\n{SUMMARY}\n{ledgers.encode(telling.ledger)}\n"
    github, pace, was = telling.github, telling.github.pace, telling.was

    def mine() -> Comment | None:
        return summary_of(c for c in github.comments(telling.number) if c.author == was.viewer)

    now = mine()
    if (now and now.body) != (was.summary and was.summary.body):
        raise Raced("another run has written the summary")
    if now is not None and now.body.strip() == body.strip():
        return now.url
    if now is not None:
        kept = now.id
        return once(lambda: github.edit_comment(kept, body), lambda: None, pace).url
    made = once(lambda: github.add_comment(telling.number, body), mine, pace)
    first = mine()
    if first is not None and first.id != made.id:
        github.delete_comment(made.id)
        raise Raced("another run has written the summary")
    return made.url


# A draft


def draft(
    github: GitHub, was: Conversation, review: Review, ledger: Ledger, remote: Remote | None
) -> SentReview:
    """Leaves a rendered round as a draft review, which the token's owner sends or drops; nothing else is
    written, and nobody else sees it. Raises `UsageError` where there is a draft already: GitHub keeps one."""
    _current(github, was, review)
    if was.drafts:
        raise UsageError(
            f"{was.viewer} has a draft review on pull request {was.pull.number}: send or drop it first"
        )
    telling = _Telling(github, was, review, ledger, remote)
    lines = _unsaid(telling, "line")
    given = [{**anchors.fields(t.anchor), "body": _body(telling, t)} for t in lines if t.anchor]
    body = f"{review.summary}\n{SUMMARY}\n"

    def stored() -> SentReview | None:
        mine = (r for r in github.reviews(telling.number) if r.author == was.viewer and r.state == "PENDING")
        return next(mine, None)

    send = partial(github.add_review, telling.number, telling.head, body, given, pending=True)
    return once(send, stored, github.pace)
