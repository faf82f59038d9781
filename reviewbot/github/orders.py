"""What a comment or a label orders, done: read the order, ask for the role, do it, say so.

Nothing of the pull request is run here. What needs that is authorized for another job.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from reviewbot.errors import GitHubError, ReviewbotError
from reviewbot.github import approval, conversation, jobs
from reviewbot.github.answers import answer
from reviewbot.github.approval import WRITERS, Asked, Refusal, word
from reviewbot.github.budget import Budget, exceeded
from reviewbot.github.client import GitHub, Pull, Reaction
from reviewbot.github.event import CommentEvent, PullEvent
from reviewbot.github.jobs import Job
from reviewbot.github.patience import once
from reviewbot.render import answers
from reviewbot.review.commands import VERBS, Command, Misuse, Said, Verb, parse, served
from reviewbot.review.ledger import Entry, Ledger
from reviewbot.source.permalink import Remote

TRIAGE = ("triage", *WRITERS)
_TRIES = 3  # of storing a change, where other runs write in between
_ANSWERED = ("help", "explain", "size")  # what they are asked for is their answer
Amend = Callable[[Ledger], Ledger]
_NO_GPU = "no GPU is set up here: that takes `reviewbot init --gpu` and `REVIEWBOT_GPU_GROUP_LOCKED`"


@dataclass(frozen=True, slots=True)
class Work:
    """What orders need beside the API. `review` reviews the head again, of a ledger that it is to change
    first, and posts what changed; `explain` and `size` give their answers in Markdown, `size` with the ids
    that the ledger knows. All of them read commits as data."""

    review: Callable[[Pull, Amend], object]
    explain: Callable[[Pull, Entry], str]
    size: Callable[[Pull, Ledger], str]


@dataclass(frozen=True, slots=True)
class Setting:
    """How this workflow is set up: the commands that it does, whether a GPU may be used and how often, the
    label that asks for one, the address of this run's log, and where links lead."""

    verbs: Collection[str] = VERBS
    gpu: bool = False
    label: str = ""
    log: str = ""
    budget: Budget = field(default_factory=Budget)
    remote: Remote | None = None


@dataclass(frozen=True, slots=True)
class Authorized:
    """A job that may start. `target` is what is to be probed (`path.py::function`), "" for parity."""

    job: Job
    target: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """Who gave an order and when, and the key of its answer."""

    by: str
    when: str
    key: str


def heard(github: GitHub, event: CommentEvent, work: Work, setting: Setting) -> Authorized | None:
    """Does what a comment orders. None where there is nothing to authorize."""
    user, said = event.comment.user, event.comment
    if user is None or event.issue.pull_request is None:
        return None
    by_bot = user.type != "User" or user.login == github.viewer
    order = parse(Said(said.body, edited=event.action != "created", by_bot=by_bot))
    if order is None or not served(order, setting.verbs):
        return None
    number, key = event.issue.number, f"command-{said.id}"
    try:
        if isinstance(order, Misuse):
            raise Refusal(order.says)
        pull = _allowed(github, number, user.login, order, setting)
        _receipt(github, said.id, "eyes")
        done = _do(github, pull, Heard(user.login, said.created_at, key), order, work, setting)
    except Refusal as refusal:
        _receipt(github, said.id, "-1")
        answer(github, number, key, answers.sentence(str(refusal)))
        return None
    except ReviewbotError as error:
        _receipt(github, said.id, "confused")
        with suppress(GitHubError):
            says = f"`{order.verb}` came to no end: {error}"
            answer(github, number, key, answers.sentence(says))
        raise
    if order.verb not in _ANSWERED:
        # An earlier try of the same run may have said that it came to nothing.
        answer(github, number, key, answers.sentence(f"`{order.verb}` is done"), anew=False)
    _receipt(github, said.id, "+1")
    return done


def labeled(github: GitHub, event: PullEvent, setting: Setting) -> Authorized | None:
    """Authorizes a parity run for a label; takes the label off where it may not start one."""
    if event.action != "labeled" or event.label is None or event.label.name != setting.label:
        return None
    pull = event.pull_request
    by, when = event.sender.login, pull.updated_at
    asked = Asked("parity", pull.number, by, when, sha=pull.head.sha, log=setting.log)
    try:
        return _authorized(github, asked, setting)
    except Refusal as refusal:
        _take_off(github, pull.number, setting.label)
        # One for each time that it is set: an older answer that is edited is seen by nobody.
        key = f"label-{pull.head.sha[:12]}-{re.sub('[^0-9]', '', when)}"
        answer(github, pull.number, key, answers.sentence(f"The label is taken off: {refusal}"))
        return None


def revoke(github: GitHub, event: PullEvent, label: str) -> None:
    """A push or a close ends an approval: the label goes, and what is under way is concluded."""
    number, closed = event.pull_request.number, event.action == "closed"
    old = event.pull_request.head.sha if closed else event.before
    if old:
        why = "the pull request was closed" if closed else "there are new commits"
        jobs.supersede(github, number, old, "parity", why)
    if label and label in github.labels(number):
        if not closed:
            says = (
                f"The label `{label}` is taken off, since it was set for `{old[:12]}`: set it again once the "
            )
            says += "review of the new commits is there"
            answer(github, number, f"revoke-{old[:12]}", answers.sentence(says))
        # Last, since a run that is started again looks for it.
        _take_off(github, number, label)


def _take_off(github: GitHub, number: int, label: str) -> None:
    once(partial(github.remove_label, number, label), lambda: None, github.pace)


def _receipt(github: GitHub, comment: int, reaction: Reaction) -> None:
    with suppress(GitHubError):  # a courtesy: the deed does not hang on it
        github.react(comment, reaction)


def _allowed(github: GitHub, number: int, by: str, order: Command, setting: Setting) -> Pull:
    """The pull request, if this person may order this, and it makes sense. Raises `Refusal`."""
    pull = github.pull(number)
    if order.verb in ("help", "size"):
        return pull
    if order.verb != "explain":
        _may(github, order.verb, by, pull)
        if not pull.open:
            raise Refusal("this pull request is closed")
    if order.verb == "parity" and not setting.gpu:
        raise Refusal(_NO_GPU)
    if order.id:
        entry = _entry(github, pull, order.id)
        if order.verb in ("dismiss", "probe") and entry.state in ("fixed", "gone"):
            raise Refusal(f"`{order.id}` is not there any more")
        if order.verb == "reopen" and entry.state != "dismissed":
            raise Refusal(f"`{order.id}` is not dismissed")
        if order.verb == "reopen" and entry.dismissal and not entry.dismissal.by:
            raise Refusal(f"`{order.id}` is silenced by a comment in the code: take that out")
    return pull


def _may(github: GitHub, verb: Verb, by: str, pull: Pull) -> None:
    if verb == "recheck" and by == pull.author:
        return
    role = github.role(by)
    if role not in (TRIAGE if verb == "recheck" else WRITERS):
        least = "triage or more" if verb == "recheck" else "write, maintain or admin"
        raise Refusal(f"`{verb}` takes the role {least}, and yours is {word(role)}")


def _entry(github: GitHub, pull: Pull, name: str) -> Entry:
    found = conversation.read(github, pull.number, pull.base, pull.head).ledger.entry(name)
    if found is None:
        raise Refusal(f"there is no finding `{name}` here")
    return found


def _do(
    github: GitHub, pull: Pull, heard: Heard, order: Command, work: Work, setting: Setting
) -> Authorized | None:
    number = pull.number
    if order.verb == "help":
        answer(github, number, heard.key, answers.help_page())
    elif order.verb == "explain":
        answer(github, number, heard.key, work.explain(pull, _entry(github, pull, order.id)))
    elif order.verb == "size":
        known = conversation.read(github, number, pull.base, pull.head).ledger
        answer(github, number, heard.key, work.size(pull, known))
    elif order.verb == "parity":
        asked = Asked("parity", number, heard.by, heard.when, named=order.sha, log=setting.log)
        return _authorized(github, asked, setting)
    elif order.verb == "probe":
        asked = Asked("probe", number, heard.by, heard.when, finding=order.id, log=setting.log)
        return _authorized(github, asked, setting, _target(_entry(github, pull, order.id)))
    else:
        _amend(github, pull, heard, order, work)
    return None


def _amend(github: GitHub, pull: Pull, heard: Heard, order: Command, work: Work) -> None:
    """Reviews the head again, with what was ordered.

    GitHub knows no lock. What is there is read again afterwards, and where another run wrote over it, the
    change is made anew on what that one wrote.
    """

    def change(ledger: Ledger) -> Ledger:
        if ledger.entry(order.id) is None:
            return ledger
        if order.verb == "dismiss":
            return ledger.dismissed(order.id, heard.by, order.reason)
        return ledger.reopened(order.id) if order.verb == "reopen" else ledger

    for _ in range(_TRIES):
        work.review(github.pull(pull.number), change)
        if not order.id:
            return
        # Longer than another run takes from its last look to its writing.
        time.sleep(3 * github.pace.between_writes)
        if (_entry(github, pull, order.id).state == "dismissed") == (order.verb == "dismiss"):
            return
    raise GitHubError("other runs keep writing the ledger; try again")


def _target(entry: Entry) -> str:
    if not entry.unit or not entry.path.endswith(".py"):
        raise Refusal(f"`{entry.id}` does not stand in a function, so that there is nothing to run")
    target = f"{entry.path}::{entry.unit}"
    if not target.isprintable():
        raise Refusal(f"the name of the file of `{entry.id}` cannot be handed to a job")
    return target


def _authorized(github: GitHub, asked: Asked, setting: Setting, target: str = "") -> Authorized:
    if asked.kind == "parity" and not setting.gpu:
        raise Refusal(_NO_GPU)
    sha = approval.approve(github, asked)
    if asked.kind == "parity":
        why_not = exceeded(github, setting.budget, asked.kind, asked.pull, asked.when)
        if why_not:
            raise Refusal(why_not)
    job = jobs.begun(github, asked.pull, sha, asked.kind, asked.finding, setting.log)
    if job is None:
        jobs.supersede(github, asked.pull, sha, asked.kind, "another run was asked for", asked.finding)
        job = jobs.begin(github, asked.pull, sha, asked.kind, asked.finding, setting.log)
    try:
        if github.pull(asked.pull).head != sha:
            raise Refusal("there are new commits: look at the review of them, then ask again")
        if not asked.named and _beaten(github, asked, job):
            raise Refusal(f"a {asked.kind} run of `{sha[:12]}` is under way")
        if asked.kind == "parity":
            # It is also what the budget counts.
            says = answers.started(asked.kind, sha, asked.by, setting.remote, setting.log)
            answer(github, asked.pull, jobs.key(job), says)
    except Refusal as refusal:
        jobs.withdraw(github, job, str(refusal).partition(":")[0])
        raise
    except GitHubError:
        # No job will follow that could conclude it.
        with suppress(GitHubError):
            jobs.withdraw(github, job, "it could not be started")
        raise
    return Authorized(job, target)


def _beaten(github: GitHub, asked: Asked, job: Job) -> bool:
    """Whether another run, which was asked for at the same time, began a job before this one."""
    others = jobs.running(github, job.sha, job.kind, job.finding)
    return any(one.id < job.check and not approval.lost(one, asked.when) for one in others)
