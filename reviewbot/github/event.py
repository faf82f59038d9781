"""The event that started a workflow, read from the file that the runner leaves.

Titles, branch names and everything else that an author chooses are not read, but for the text of a comment.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from reviewbot.errors import UsageError

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_T = TypeVar("_T")


class Commit(msgspec.Struct, frozen=True):
    """One end of a pull request. `sha` is a full commit id."""

    sha: str


class PullRequest(msgspec.Struct, frozen=True):
    """What a pull request would merge (`head`) and into what (`base`). `updated_at` is as GitHub writes it,
    such as `2026-11-29T20:00:00Z`."""

    number: int
    base: Commit
    head: Commit
    updated_at: str = ""


class Account(msgspec.Struct, frozen=True):
    """Who did something. `type` is `User`, `Bot` or `Organization`."""

    login: str
    type: str = "User"


class Label(msgspec.Struct, frozen=True):
    """A label of a pull request."""

    name: str


class PullEvent(msgspec.Struct, frozen=True):
    """A pull request was opened, pushed to, labeled, closed. `before` is the head before a push, "" else."""

    action: str
    pull_request: PullRequest
    sender: Account
    label: Label | None = None
    before: str = ""


class Said(msgspec.Struct, frozen=True):
    """A comment. `user` is None where the account is gone."""

    id: int
    body: str
    created_at: str
    user: Account | None = None


class Issue(msgspec.Struct, frozen=True):
    """What was commented; `pull_request` is None for an issue."""

    number: int
    pull_request: Any = None


class CommentEvent(msgspec.Struct, frozen=True):
    """Somebody wrote, edited or deleted a comment in the conversation of a pull request or an issue."""

    action: str
    issue: Issue
    comment: Said


class HeadRepository(msgspec.Struct, frozen=True):
    """Where the head of a run came from."""

    full_name: str


class Run(msgspec.Struct, frozen=True):
    """A run of another workflow. `head_repository` is None where it is deleted."""

    head_sha: str
    event: str
    head_branch: str | None = None
    head_repository: HeadRepository | None = None


class RunEvent(msgspec.Struct, frozen=True):
    """A run of another workflow came to its end."""

    workflow_run: Run


class _Event(msgspec.Struct, frozen=True):
    pull_request: PullRequest | None = None


def pull_request(path: Path) -> PullRequest:
    """The pull request of an event file. Raises `UsageError` if the event has none."""
    found = _read(path, _Event).pull_request
    if found is None:
        raise UsageError("this event has no pull request: run on `pull_request`, or give --base and --head")
    _check(path, found.base.sha, found.head.sha)
    return found


def pull_event(path: Path) -> PullEvent:
    """What happened to a pull request. Raises `UsageError` for another event."""
    found = _read(path, PullEvent)
    _check(path, found.pull_request.base.sha, found.pull_request.head.sha, *filter(None, [found.before]))
    return found


def comment_event(path: Path) -> CommentEvent:
    """What was said. Raises `UsageError` for another event."""
    return _read(path, CommentEvent)


def run_event(path: Path) -> RunEvent:
    """Which run came to its end. Raises `UsageError` for another event."""
    found = _read(path, RunEvent)
    _check(path, found.workflow_run.head_sha)
    return found


def _read(path: Path, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"the event in {path} cannot be read: {error}") from None


def _check(path: Path, *commits: str) -> None:
    for commit in commits:
        if not _SHA.fullmatch(commit):
            raise UsageError(f"the event in {path} names {commit!r}, which is no commit id")
