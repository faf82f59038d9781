"""What the fake keeps."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from fakegithub.diffs import Git


@dataclass(frozen=True)
class Token:
    """Who writes with it, and what it may do: `write`, `read` or nothing for each kind of thing."""

    login: str = "github-actions[bot]"
    permissions: dict[str, str] = field(default_factory=dict)

    def may(self, level: str, *kinds: str) -> bool:
        """Whether it may do this to one of the kinds."""
        return any(
            self.permissions.get(kind) in {"read": ("read", "write")}.get(level, (level,)) for kind in kinds
        )


# What a workflow's own token may do for a pull request from a fork, in the shipped workflow, and with more.
READER = Token(permissions={"contents": "read", "pull_requests": "read", "issues": "read", "checks": "read"})
POSTER = Token(permissions={"contents": "read", "pull_requests": "write", "checks": "write"})
RESOLVER = Token(permissions={"contents": "write", "pull_requests": "write", "checks": "write"})


@dataclass
class Pull:
    """A pull request. `fork` is the head's repository where that is another one; "" where it is gone."""

    number: int
    base: str
    head: str
    title: str = "A change"
    author: str = "mallory"
    base_ref: str = "main"
    head_ref: str = "topic"
    fork: str | None = None
    state: str = "open"
    merged: bool = False
    draft: bool = False
    labels: list[str] = field(default_factory=list)


@dataclass
class World:
    """All that was written, each thing as the fields that matter; the rest of an answer is filled in."""

    git: Git
    slug: str
    pulls: dict[int, Pull] = field(default_factory=dict)
    reviews: dict[int, dict[str, Any]] = field(default_factory=dict)
    review_comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    threads: dict[str, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    reactions: list[dict[str, Any]] = field(default_factory=list)
    checks: dict[int, dict[str, Any]] = field(default_factory=dict)
    artifacts: dict[int, dict[str, Any]] = field(default_factory=dict)
    minimized: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    last: int = 1000
    clock: int = 0

    def snapshot(self) -> dict[str, Any]:
        """All that is kept, as it is now."""
        return copy.deepcopy({name: kept for name, kept in vars(self).items() if name != "git"})

    def restore(self, kept: dict[str, Any]) -> None:
        """Makes it as it was."""
        vars(self).update(copy.deepcopy(kept))

    def next_id(self) -> int:
        """An id that nothing else has."""
        self.last += 1
        return self.last

    def now(self) -> str:
        """A time later than any before."""
        self.clock += 1
        minutes, seconds = divmod(self.clock, 60)
        hours, minutes = divmod(minutes, 60)
        return f"2026-02-{1 + hours // 24:02}T{hours % 24:02}:{minutes:02}:{seconds:02}Z"
