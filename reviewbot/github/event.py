"""The event that started a workflow, read from the file that the runner leaves."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from reviewbot.errors import UsageError

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Commit(msgspec.Struct, frozen=True):
    """One end of a pull request. `sha` is a full commit id."""

    sha: str


class PullRequest(msgspec.Struct, frozen=True):
    """What a pull request would merge (`head`) and into what (`base`)."""

    number: int
    base: Commit
    head: Commit


class _Event(msgspec.Struct, frozen=True):
    pull_request: PullRequest | None = None


def pull_request(path: Path) -> PullRequest:
    """The pull request of an event file. Raises `UsageError` if the event has none.

    Titles, branch names and everything else that its author chooses are not read.
    """
    try:
        event = msgspec.json.decode(path.read_bytes(), type=_Event)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"the event in {path} cannot be read: {error}") from None
    found = event.pull_request
    if found is None:
        raise UsageError("this event has no pull request: run on `pull_request`, or give --base and --head")
    for commit in (found.base, found.head):
        if not _SHA.fullmatch(commit.sha):
            raise UsageError(f"the event in {path} names {commit.sha!r}, which is no commit id")
    return found
