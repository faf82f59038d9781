"""Which lines a change adds and deletes, as git itself counts them.

The counts are those of `git diff --numstat`, and the lines those of the patch that git makes beside it, so
that any sum over the lines is a sum that git would print. Only here is the git program asked: which rename
git sees, and so what it counts, no other implementation says alike.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reviewbot.errors import GitError
from reviewbot.source.diff import Kind, Status

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_STATUS: dict[str, Status] = {"A": "added", "C": "added", "D": "deleted", "R": "renamed"}
_KINDS: dict[str, Kind] = {"120000": "symlink", "160000": "submodule"}
# Nothing of the change or of anybody's configuration is run to make the diff.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "core.pager=cat")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--no-relative")


@dataclass(frozen=True, slots=True)
class Churn:
    """One file of a change.

    `added` are line numbers of the head's side, `deleted` of the base's, each in order; both empty where git
    counts no lines because it takes the file for binary. `kind` and `old_kind` say what stands on either
    side, `old_id` and `new_id` are the ids of the contents, None where there is none.
    """

    path: str
    old_path: str | None
    status: Status
    kind: Kind
    old_kind: Kind
    binary: bool
    old_id: str | None
    new_id: str | None
    added: tuple[int, ...] = ()
    deleted: tuple[int, ...] = ()


def churn(folder: Path, old: str, new: str) -> tuple[Churn, ...]:
    """The files that differ between two commits (full ids), in git's order.

    Raises GitError where git is missing, fails, or counts other than its own patch shows.
    """
    words = _git(folder, "--raw", "--numstat", "--no-abbrev", "-z", old, new).split(b"\0")
    patch = _sections(_git(folder, "--patch", old, new))
    raw, counts = _raw(words), _counts(words)
    out = []
    for (status, modes, ids, names), count in zip(raw, counts, strict=True):
        added, deleted = next(patch, ((), ()))
        if status == "T":  # a file became a link, or the like: the patch deletes the one and adds the other
            more = next(patch, ((), ()))
            added, deleted = added + more[0], deleted + more[1]
        if count is None:
            added = deleted = ()
        elif (len(added), len(deleted)) != count:
            raise GitError(
                f"{names[-1]}: git counts {count[0]} added and {count[1]} deleted lines, and its patch shows "
                f"{len(added)} and {len(deleted)}"
            )
        out.append(
            Churn(
                path=names[-1],
                old_path=None if status in "AC" else names[0],
                status=_STATUS.get(status, "modified"),
                kind=_KINDS.get(modes[1], "file"),
                old_kind=_KINDS.get(modes[0], "file"),
                binary=count is None,
                old_id=_known(ids[0]),
                new_id=_known(ids[1]),
                added=added,
                deleted=deleted,
            )
        )
    return tuple(out)


def _git(folder: Path, *words: str) -> bytes:
    environment = {name: value for name, value in os.environ.items() if name != "GIT_EXTERNAL_DIFF"}
    try:
        done = subprocess.run(
            ["git", *_SAFE, "diff", *_PLAIN, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=True,
        )
    except OSError as error:
        raise GitError(
            f"git cannot be run ({error.strerror}), and lines are counted as it counts them"
        ) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip() or f"it ended with {error.returncode}"
        raise GitError(f"git diff failed in {folder}: {'; '.join(said.splitlines())}") from None
    return done.stdout


def _known(object_id: str) -> str | None:
    return object_id if object_id.strip("0") else None


_Entry = tuple[str, tuple[str, str], tuple[str, str], list[str]]


def _raw(words: list[bytes]) -> Iterator[_Entry]:
    """`:100644 100644 ID ID M`, then one name, or two of a rename or copy."""
    at = 0
    while at < len(words) and words[at].startswith(b":"):
        old_mode, new_mode, old_id, new_id, status = words[at][1:].decode("ascii").split(" ")
        names = 2 if status[0] in "RC" else 1
        yield (
            status[0],
            (old_mode, new_mode),
            (old_id, new_id),
            [os.fsdecode(name) for name in words[at + 1 : at + 1 + names]],
        )
        at += 1 + names


def _counts(words: list[bytes]) -> Iterator[tuple[int, int] | None]:
    """`ADDED TAB DELETED TAB NAME`; of a rename the name is empty and two follow. None for `-`."""
    at = sum(1 + len(entry[3]) for entry in _raw(words))
    while at < len(words) and words[at]:
        added, deleted, name = words[at].split(b"\t", 2)
        yield None if added == b"-" else (int(added), int(deleted))
        at += 1 if name else 3


def _sections(patch: bytes) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(added lines, deleted lines) of each file of a patch."""
    added: list[int] = []
    deleted: list[int] = []
    started = False
    lines = iter(patch.split(b"\n"))
    for line in lines:
        if line.startswith(b"diff --git "):
            if started:
                yield tuple(added), tuple(deleted)
            started, added, deleted = True, [], []
        elif hunk := _HUNK.match(line):
            _hunk(hunk, lines, added, deleted)
    if started:
        yield tuple(added), tuple(deleted)


def _hunk(hunk: re.Match[bytes], lines: Iterator[bytes], added: list[int], deleted: list[int]) -> None:
    """Reads a hunk's own lines, as many as it says that there are: what they hold cannot end it."""
    old, old_left, new, new_left = (int(1 if part is None else part) for part in hunk.groups())
    while old_left or new_left:
        line = next(lines, b" ")
        if line.startswith(b"\\"):  # "No newline at end of file" speaks of the line before
            continue
        if not line.startswith(b"+"):
            if line.startswith(b"-"):
                deleted.append(old)
            old, old_left = old + 1, old_left - 1
        if not line.startswith(b"-"):
            if line.startswith(b"+"):
                added.append(new)
            new, new_left = new + 1, new_left - 1
