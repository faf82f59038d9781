"""A review's comments and its summary, in Markdown, as they would be posted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reviewbot.model import Review, RuleNote, Thread, Unread
from reviewbot.render import inert
from reviewbot.render.changed import changed
from reviewbot.render.inert import Markdown
from reviewbot.render.markdown import render
from reviewbot.source.permalink import Remote

LIMIT = 65_536  # a comment's longest length; GitHub counts characters, bytes are never fewer
MOST = 20  # steps or checks of one finding
LONGEST_PROPOSAL = 12_000  # characters
NAMED = 20  # files named for each reason not to read them

# How the summary is shared out, in bytes. What a part leaves unused goes to the findings that have no comment
# of their own.
FRAME, INLINE, UNREAD, SUPPRESSED, FAILED, SETTLED = 4_000, 14_000, 6_000, 4_000, 2_000, 6_000
HIDDEN = 4_000  # for what stands in a posted comment besides: what became of its thread, and its mark
CHECK_ROOM = 60_000

# How a place is shown: path, first line, last line.
Link = Callable[[str, int, int], Markdown]


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces of Markdown that fit, and how many did not."""

    shown: tuple[Markdown, ...] = ()
    left: int = 0

    @property
    def size(self) -> int:
        """Bytes that it takes, with a line between the pieces."""
        return sum(len(piece.encode()) + 2 for piece in self.shown)


def rendered(
    review: Review, remote: Remote | None, notes: Sequence[str] = (), room: int = LIMIT, log: str = ""
) -> Review:
    """The same review with the body of each comment and with its summary, of at most `room` bytes.

    A thread that only the summary speaks of has the body with which the summary does. `notes` are sentences,
    in which code stands between backticks, on what could not be done. `log` is the address of the run that
    leaves the pages.
    """
    rules = {note.rule: note for note in review.rules}
    last = review.rounds[-1]
    link, link_base = links(last.head, remote), links(last.merge_base, remote)
    threads = tuple(
        replace(thread, body=_body(thread, rules[thread.finding.rule], link, link_base))
        for thread in review.threads
    )
    review = replace(review, threads=threads)
    return replace(review, summary=_summary(review, remote, notes, room, log))


def _body(thread: Thread, note: RuleNote, link: Link, link_base: Link) -> str:
    template = "unfolded.md.j2" if thread.place == "summary" else "comment.md.j2"
    most, longest = MOST, LONGEST_PROPOSAL
    while True:
        size = {"most": most, "longest": longest}
        body = render(template, thread=thread, note=note, link=link, link_base=link_base, **size)
        if len(body.encode()) <= LIMIT - HIDDEN or most <= 1:
            return body
        most, longest = most // 4, longest // 4


def _summary(review: Review, remote: Remote | None, notes: Sequence[str], room: int, log: str) -> str:
    last = review.rounds[-1]
    link = links(last.head, remote)
    inline = [thread for thread in review.threads if thread.place != "summary"]
    apart = [thread for thread in review.threads if thread.place == "summary"]
    shown_inline = _fitting((render("line.md.j2", thread=t, link=link) for t in inline), len(inline), INLINE)
    reasons = _reasons(last.unread)
    unread = _fitting(
        (render("unread.md.j2", why=why, files=files, named=NAMED) for why, files in reasons),
        len(reasons),
        UNREAD,
    )
    suppressed = _fitting(
        (render("silenced.md.j2", finding=finding, link=link) for finding in last.suppressed),
        len(last.suppressed),
        SUPPRESSED,
    )
    failures = [(file.why, [file]) for file in last.failed]
    failed = _fitting(
        (render("unread.md.j2", why=why, files=files, named=NAMED) for why, files in failures),
        len(failures),
        FAILED,
    )
    # A dismissal's reason is the first thing to be asked for.
    order = sorted(
        review.settled, key=lambda one: (one.state != "open", one.state != "dismissed", -one.since)
    )
    settled = _fitting((render("settled.md.j2", one=one) for one in order), len(order), SETTLED)
    rest = room - FRAME - sum(part.size for part in (shown_inline, unread, failed, suppressed, settled))
    return render(
        "summary.md.j2",
        review=review,
        round=last,
        link_commit=commit_links(remote),
        inline=shown_inline,
        apart=_apart(apart, link, rest),
        unread=unread,
        failed=failed,
        suppressed=suppressed,
        settled=settled,
        changed=changed(review),
        notes=notes,
        pages=Markdown(f"[artifacts of its run]({log}#artifacts)") if log else "",
    )


def check_summary(review: Review, remote: Remote | None, annotated: int) -> str:
    """What a check run says: what the round changed, and each thread as a line."""
    link = links(review.rounds[-1].head, remote)
    threads = review.threads
    listed = _fitting((render("line.md.j2", thread=t, link=link) for t in threads), len(threads), CHECK_ROOM)
    return render("check.md.j2", review=review, changed=changed(review), listed=listed, annotated=annotated)


def _apart(threads: Sequence[Thread], link: Link, room: int) -> Part:
    """Each in full while there is room for that, then each as a line, then their number."""
    full = _fitting((thread.body for thread in threads), len(threads), room * 3 // 4)
    rest = threads[len(full.shown) :]
    lines = (render("line.md.j2", thread=thread, link=link) for thread in rest)
    listed = _fitting(lines, len(rest), room - full.size)
    return Part(full.shown + listed.shown, listed.left)


def _fitting(pieces: Iterable[str], count: int, room: int) -> Part:
    """The first of `count` pieces, as many as fit into `room` bytes."""
    shown: list[Markdown] = []
    for piece in pieces:
        text = Markdown(piece.strip("\n"))
        room -= len(text.encode()) + 2
        if room < 0:
            break
        shown.append(text)
    return Part(tuple(shown), count - len(shown))


def _reasons(unread: Iterable[Unread]) -> list[tuple[str, list[Unread]]]:
    by_reason: dict[str, list[Unread]] = {}
    for file in unread:
        by_reason.setdefault(file.why, []).append(file)
    return sorted(by_reason.items())


def document(review: Review) -> str:
    """A rendered review on one page: the summary, then each comment under the place where it would stand."""
    parts = [review.summary]
    for thread in review.threads:
        if thread.place == "summary" or thread.anchor is None:
            continue
        anchor = thread.anchor
        lines = "" if thread.place == "file" else f":{_lines(anchor.line, anchor.end_line)}"
        parts.append(f"---\n\n{inert.code(anchor.path + lines)}\n\n{thread.body}")
    return "\n".join(parts)


def links(commit: str, remote: Remote | None) -> Link:
    """Places as links pinned to a commit; as code alone where it is not known where the repository is."""

    def link(path: str, line: int, end_line: int) -> Markdown:
        label = inert.code(f"{path}:{_lines(line, end_line)}")
        address = remote.permalink(commit, path, line, end_line) if remote else ""
        return Markdown(f"[{label}]({address})") if address else label

    return link


def _lines(line: int, end_line: int) -> str:
    return str(line) if end_line <= line else f"{line}-{end_line}"


def commit_links(remote: Remote | None) -> Callable[[str], Markdown]:
    """Commits by their first digits, as links where it is known where the repository is."""

    def link(commit: str) -> Markdown:
        label = commit[:12]
        return inert.link(label, f"https://{remote}/commit/{commit}") if remote else inert.code(label)

    return link
