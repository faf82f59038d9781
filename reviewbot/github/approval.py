"""Whether a job may run code of a pull request: of one commit, for somebody who may write and has seen it.

An approval is for the commit that the bot had shown when it was given. What was pushed since, even a second
before, nobody has looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from reviewbot.github import conversation, jobs
from reviewbot.github.budget import moment
from reviewbot.github.client import Check, GitHub, Pull
from reviewbot.review.ledger import decode
from reviewbot.review.outcome import Kind

LONGEST = timedelta(hours=3)  # more than the jobs of a run may take together
WRITERS = ("write", "maintain", "admin")


class Refusal(Exception):
    """Why something is not done: one sentence without a full stop, in which code stands in backticks."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody asks for a job.

    `when` is the time of the event, as GitHub writes it. `sha` is the head at that time where the event
    tells, "" else; `named` are the first digits of the commit that the person named, "" for none. `log` is
    the address of the run that answers, "" outside of one.
    """

    kind: Kind
    pull: int
    by: str
    when: str
    sha: str = ""
    named: str = ""
    finding: str = ""
    log: str = ""


def approve(github: GitHub, asked: Asked) -> str:
    """The full id of the approved commit. Raises `Refusal`."""
    role = github.role(asked.by)
    if role not in WRITERS:
        raise Refusal(f"`{asked.kind}` takes the role write, maintain or admin, and yours is {word(role)}")
    pull = github.pull(asked.pull)
    if not pull.open:
        raise Refusal("this pull request is closed")
    if asked.sha and pull.head != asked.sha:
        raise Refusal("there were new commits since: look at the review of them, then ask again")
    if asked.named and not pull.head.startswith(asked.named):
        raise Refusal(f"`{asked.named[:12]}` is not the head, which is `{pull.head[:12]}`")
    _shown(github, pull, asked)
    under_way = jobs.latest(github, pull.head, asked.kind, asked.finding)
    running = under_way is not None and under_way.status != "completed" and not lost(under_way, asked.when)
    # A run that was started again takes up what it had begun.
    ours = under_way is not None and bool(asked.log) and under_way.details_url == asked.log
    if running and not ours and not asked.named:
        raise Refusal(f"a {asked.kind} run of `{pull.head[:12]}` is under way")
    if asked.sha and under_way is not None and under_way.status == "completed":
        raise Refusal(
            f"`{pull.head[:12]}` was run already; `/reviewbot parity {pull.head[:12]}` runs it again"
        )
    return pull.head


def _shown(github: GitHub, pull: Pull, asked: Asked) -> None:
    # The summary is written last: where it tells of the commit, all else that was to be said is there.
    summary = conversation.read(github, pull.number, pull.base, pull.head).summary
    ledger = decode(summary.body, github.slug, pull.number) if summary else None
    if summary is None or ledger is None or pull.head not in {look.head for look in ledger.rounds}:
        raise Refusal(f"the review of `{pull.head[:12]}` has not been posted yet: ask again when it is")
    # Whoever names the commit knows it. Else the round has to have been there to be seen.
    if not asked.named and not _before(summary.updated_at, asked.when):
        raise Refusal(
            f"the review changed at about the same time: look at it, then say `/reviewbot "
            f"{asked.kind} {asked.finding or pull.head[:12]}`"
        )


def lost(check: Check, when: str) -> bool:
    """Whether a check run that is under way began so long before `when` that no job can be behind it."""
    return bool(check.started_at) and moment(when) - moment(check.started_at) > LONGEST


def _before(one: str, other: str) -> bool:
    """Whether a time of GitHub's (`2026-11-29T20:00:00Z`) is not after another; no if either is none."""
    pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    return bool(re.fullmatch(pattern, one) and re.fullmatch(pattern, other)) and one <= other


def word(role: str) -> str:
    """A role as a word: an organization names its own as it likes."""
    return role if re.fullmatch(r"[A-Za-z_-]{1,40}", role) else "another"
