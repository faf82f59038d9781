"""Where pages get code from: files at commits, and links to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reviewbot.model import Round
from reviewbot.source.permalink import Remote

Read = Callable[[str], list[str] | None]


@dataclass(frozen=True, slots=True)
class Sources:
    """`at` gives a commit's reader of lines; `old_path` the name that a file had before the change of a
    round, None if the change added it; None as a whole where the commits are not at hand."""

    at: Callable[[str], Read]
    old_path: Callable[[Round, str], str | None] | None
    remote: Remote | None

    def link(self, commit: str, path: str, line: int | None = None, end_line: int | None = None) -> str:
        """A permalink, "" where it is not known where the repository is."""
        return self.remote.permalink(commit, path, line, end_line) if self.remote and commit else ""

    def commit_link(self, commit: str) -> str:
        """The page of a commit, "" where it is not known."""
        return f"https://{self.remote}/commit/{commit}" if self.remote else ""


def nowhere(remote: Remote | None = None) -> Sources:
    """For evidence that came without a repository."""
    return Sources(lambda commit: lambda path: None, None, remote)
