"""Unified diffs as git writes and reads them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pygit2

from reviewbot.errors import GitError


def unified(path: str, old: bytes, new: bytes | None) -> str:
    """What turns one content of a file into another (None: the file goes), as `git diff` writes it.

    Raises GitError where that is not text in UTF-8.
    """
    patch = pygit2.Patch.create_from(old, new, old_as_path=path, new_as_path=path)
    try:
        return patch.data.decode()
    except UnicodeDecodeError:
        raise GitError(f"{path} is not UTF-8, so that no diff of it can be shown") from None


# Lines `first` up to `last` (from 0, without the last) become `lines`.
Replacement = tuple[int, int, tuple[bytes, ...]]


def git_lines(content: bytes) -> list[bytes]:
    """The lines of a file with their ends, split where git splits them."""
    return [line + b"\n" for line in content.split(b"\n")[:-1]] + [content.rpartition(b"\n")[2]] * (
        not content.endswith(b"\n") and bool(content)
    )


def replacements(old: bytes, new: bytes) -> list[Replacement]:
    """What turns one content into another, line by line, as git's diff has it."""
    lines = git_lines(new)
    found = []
    for hunk in pygit2.Patch.create_from(old, new, context_lines=0, interhunk_lines=0).hunks:
        # Of an empty side git names the line before.
        first = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        start = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        found.append((first, first + hunk.old_lines, tuple(lines[start : start + hunk.new_lines])))
    return found


def applied(diff: str, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """What files become when `git apply` is given a diff, without the files that it deletes.

    Raises GitError with what git says against it.
    """
    with tempfile.TemporaryDirectory(prefix="reviewbot-apply-") as folder:
        root = Path(folder)
        for path, content in before.items():
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise GitError(f"{path} leads out of the repository")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        # No repository is around it, so that no configuration of one is asked.
        around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            done = subprocess.run(
                ["git", "apply", "--whitespace=nowarn", "-"],
                cwd=root,
                env={**around, "GIT_DIR": str(root / ".nothing")},
                input=diff.encode(),
                capture_output=True,
            )
        except OSError as error:
            raise GitError(f"git cannot be run ({error.strerror})") from None
        if done.returncode:
            raise GitError(f"git apply: {done.stderr.decode('utf-8', 'replace').strip()}")
        return {path: (root / path).read_bytes() for path in before if (root / path).is_file()}
