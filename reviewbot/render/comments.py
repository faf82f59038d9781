"""A review's comments and its summary, in Markdown, as they would be posted."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import resources

import jinja2

from reviewbot.model import Review, RuleNote, Thread
from reviewbot.render import inert
from reviewbot.render.inert import Markdown
from reviewbot.source.permalink import Remote

LIMIT = 65_536  # characters of a comment; GitHub refuses longer ones
MOST = 20  # steps or checks of one finding
LONGEST_PROPOSAL = 12_000  # characters
LISTED = 400  # findings in the summary
NAMED = 20  # files named for each reason not to read them

# How a place is shown: path, first line, last line.
Link = Callable[[str, int, int], Markdown]


def rendered(review: Review, remote: Remote | None) -> Review:
    """The same review with the body of each comment and with its summary."""
    notes = {note.rule: note for note in review.rules}
    link = links(review.rounds[-1].head, remote)
    threads = tuple(
        replace(thread, body=comment(thread, notes[thread.finding.rule], link)) for thread in review.threads
    )
    return replace(review, threads=threads, summary=summary(review, remote))


def comment(thread: Thread, note: RuleNote, link: Link) -> str:
    """The comment of one thread."""
    most, longest = MOST, LONGEST_PROPOSAL
    while True:
        body = _render(
            "comment.md.j2",
            thread=thread,
            note=note,
            link=link,
            most=most,
            longest=longest,
        )
        if len(body.encode()) <= LIMIT or most <= 1:
            return body
        most, longest = most // 2, longest // 2


def summary(review: Review, remote: Remote | None) -> str:
    """The summary of the last round, cut at a finding where it would be too long."""
    last = review.rounds[-1]
    full, listed, named = LISTED, LISTED, NAMED
    while True:
        body = _render(
            "summary.md.j2",
            review=review,
            round=last,
            link=links(last.head, remote),
            link_commit=commit_links(remote),
            full=full,
            listed=listed,
            named=named,
            most=MOST,
            longest=LONGEST_PROPOSAL,
        )
        if len(body.encode()) <= LIMIT or listed <= 1:
            return body
        if full > 0:
            full //= 2
        else:
            listed, named = listed // 2, max(1, named // 2)


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
        if remote is None:
            return label
        return Markdown(f"[{label}]({remote.permalink(commit, path, line, end_line)})")

    return link


def _lines(line: int, end_line: int) -> str:
    return str(line) if end_line <= line else f"{line}-{end_line}"


def commit_links(remote: Remote | None) -> Callable[[str], Markdown]:
    """Commits by their first digits, as links where it is known where the repository is."""

    def link(commit: str) -> Markdown:
        label = commit[:12]
        return inert.link(label, f"https://{remote}/commit/{commit}") if remote else inert.code(label)

    return link


def _render(template: str, **values: object) -> str:
    text = _environment().get_template(template).render(values)
    return _folded(text)


def _folded(text: str) -> str:
    """At most one empty line in a row outside of fences."""
    out: list[str] = []
    fence = ""
    for line in text.strip().split("\n"):
        opening = re.match("`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif opening:
            fence = opening[0]
        elif not line.strip() and out and not out[-1].strip():
            continue
        out.append(line if fence or opening else line.rstrip())
    return "\n".join(out) + "\n"


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files("reviewbot.templates")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        # Whatever a template puts out is inert, unless a filter has said that it is Markdown.
        finalize=_inert,
    )
    made.filters.update(
        claim=inert.claim,
        prose=inert.prose,
        code=inert.code,
        block=inert.block,
        markdown=Markdown,
        marker=lambda text: Markdown(re.sub("[^A-Za-z0-9]", "", text)),
        html=lambda text: Markdown(html.escape(inert.one_line(text))),
        counted=lambda number, what: f"{number} {what}{'' if number == 1 else 's'}",
    )
    return made


def _inert(value: object) -> object:
    return inert.plain(value) if isinstance(value, str) and not isinstance(value, Markdown) else value
