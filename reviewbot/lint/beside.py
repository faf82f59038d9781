"""The unchanged files that are looked at beside a change."""

from __future__ import annotations

from collections.abc import Callable

from reviewbot.index.affected import COMMON, affected
from reviewbot.lint.against import Against
from reviewbot.lint.limit import TimeIsUp, arm, limited
from reviewbot.lint.repo import Repo
from reviewbot.model import Unread
from reviewbot.source.discover import READ

SECONDS = 30  # of processor time: a change may bring a pattern that never comes to an end

Read = Callable[[str], bytes | None]


def beside(
    repo: Repo, against: Against, head: Read, seconds: float = SECONDS
) -> tuple[list[str], list[Unread]]:
    """Their paths, and what is to be said where they could not be found out, or are too many to look at all.
    `head` reads the files after the change."""
    try:
        with limited():
            arm(seconds)
            try:
                found = affected(repo.index, against.diff, head, against.files.read)
            finally:
                arm(0)
    except TimeIsUp:
        why = f"which other files the change has to do with was not found out in {seconds:g} s"
        return [], [Unread(".", why, 1)]
    cut = [
        Unread(
            f"{count - COMMON} files that use `{name}`",
            f"{count} files use that name, of which the {COMMON} nearest are looked at beside the change",
        )
        for name, count in sorted(found.cut.items())
    ]
    cut += [
        Unread(
            f"{count} files that read the key `{key}`",
            f"more than {COMMON} files, too many to look at beside the change",
        )
        for key, count in sorted(found.common.items())
    ]
    return [path for path in found.paths if path.endswith(READ)], cut
