"""Where files come from: the disk, or a mapping in memory. A commit's files are in `source.git`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol

MAX_SETTINGS_BYTES = 1 << 20


class Files(Protocol):
    """The files of a repository, by the paths under which findings name them."""

    def read(self, path: str) -> bytes | None:
        """A regular file's content, or None where there is none that can be read."""

    def folders(self, path: str) -> Iterator[str]:
        """The folder that holds `path` and those above it up to the repository's root, nearest first."""


class InMemory:
    """Files given as a mapping from relative path to content."""

    def __init__(self, content: Mapping[str, bytes]) -> None:
        self._content = content

    def read(self, path: str) -> bytes | None:
        """The content under exactly this path."""
        return self._content.get(path.removeprefix("./"))

    def folders(self, path: str) -> Iterator[str]:
        """The parents of a relative path, "." last."""
        return (parent.as_posix() for parent in PurePosixPath(path).parents)


class OnDisk:
    """The work tree around the working folder. Paths are relative to it or absolute."""

    def read(self, path: str) -> bytes | None:
        """The content of a regular file of at most `MAX_SETTINGS_BYTES`."""
        try:
            found = Path(path).stat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_SETTINGS_BYTES:
                return None
            return Path(path).read_bytes()
        except (OSError, ValueError):
            return None

    def folders(self, path: str) -> Iterator[str]:
        """Upward from the file to the first folder that holds `.git`, or to the top."""
        absolute = os.path.isabs(path)
        folder = Path(os.path.abspath(path)).parent
        for above in (folder, *folder.parents):
            yield above.as_posix() if absolute else Path(os.path.relpath(above)).as_posix()
            if (above / ".git").exists():
                return
