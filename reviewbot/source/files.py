"""Where files come from: the disk, or a mapping in memory. A commit's files are in `source.git`."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from reviewbot.errors import UnreadableFile
from reviewbot.source import seen

MAX_SETTINGS_BYTES = 1 << 20
_NEVER_OURS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be known: its path, a digest of its content, and how to get the content if it is new."""

    path: str
    key: bytes
    read: Callable[[], bytes | None]


def of_content(path: str, content: bytes) -> Source:
    """A file whose content is at hand already. Its key is git's own, so that a commit's file of the same
    content is the same file."""
    digest = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return Source(path, digest.digest(), lambda: content)


def python_encoding(path: str, content: bytes) -> str:
    """The encoding that a Python file declares, UTF-8 without one.

    Raises `UnreadableFile` where there is no such encoding, or its byte order mark says another one.
    """
    import tokenize

    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    except SyntaxError as error:
        why = "not text in UTF-8"
        if "unknown encoding" in str(error):
            why = "declares an encoding that there is not"
        elif "encoding problem" in str(error):
            why = "its byte order mark says UTF-8, and its declaration another encoding"
        raise UnreadableFile(path, why) from None


def python_text(path: str, content: bytes) -> str:
    """A Python file as text with its line ends.

    Raises `UnreadableFile` where it is not in the encoding that it declares, or where that makes no text of
    bytes (rot13, zlib).
    """
    encoding = python_encoding(path, content)
    try:
        return content.decode(encoding)
    except (UnicodeError, LookupError):
        raise UnreadableFile(path, f"not text in {encoding}") from None


class Files(Protocol):
    """The files of a repository, by the paths under which findings name them."""

    def read(self, path: str) -> bytes | None:
        """A regular file's content, or None where there is none that can be read."""

    def folders(self, path: str) -> Iterator[str]:
        """The folder that holds `path` and those above it up to the repository's root, nearest first."""

    def every(self, wanted: Callable[[str], bool]) -> Iterator[Source]:
        """Every file of the repository whose path is wanted, ignored ones left out."""


def named(path: str, root: str | os.PathLike[str]) -> str:
    """The name of a file of the repository at `root`: from the working folder where it stands under it. What
    stands elsewhere is named by way of the root, so that its folders, which may tell what it is, are in its
    name. Absolute paths, and those out of the repository, stay as they are."""
    if os.path.isabs(path):
        return path.replace(os.sep, "/")
    here, inside = os.path.relpath(path), os.path.relpath(path, root)
    if here.startswith("..") and not inside.startswith(".."):
        up = os.path.relpath(root)
        here = up if inside == "." else f"{up}/{inside}"
    return here.replace(os.sep, "/")


def root_above(path: str) -> Path:
    """The repository that a path stands in; its own folder where there is none."""
    start = Path(os.path.abspath(path))
    folder = start if start.is_dir() else start.parent
    seen.note_ancestors(folder, ".git")
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


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

    def every(self, wanted: Callable[[str], bool]) -> Iterator[Source]:
        """All that are wanted, by path."""
        return (of_content(path, self._content[path]) for path in sorted(self._content) if wanted(path))


class OnDisk:
    """The work tree around the working folder. Paths are relative to it or absolute.

    `start` is what is looked at first: the repository is the one that it stands in, or it is the whole
    repository where no git folder stands above it.
    """

    def __init__(self, start: str = ".") -> None:
        self._start = start

    def read(self, path: str) -> bytes | None:
        """The content of a regular file of at most `MAX_SETTINGS_BYTES`."""
        seen.note(path)
        try:
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_SETTINGS_BYTES:
                return None
            with open(path, "rb", buffering=0) as file:
                return file.read()
        except (OSError, ValueError):
            return None

    def folders(self, path: str) -> Iterator[str]:
        """Upward from the file to the first folder that holds `.git`, or to the top."""
        absolute = os.path.isabs(path)
        folder = Path(os.path.abspath(path)).parent
        seen.note_ancestors(folder, ".git")
        for above in (folder, *folder.parents):
            yield above.as_posix() if absolute else Path(os.path.relpath(above)).as_posix()
            if (above / ".git").exists():
                return

    def every(self, wanted: Callable[[str], bool]) -> Iterator[Source]:
        """The files that git knows or would add, or all where git has no say; links are not followed."""
        root = self.root
        shown = os.path.relpath(root) if not os.path.isabs(self._start) else str(root)
        for below in sorted(_known_to_git(root) or _walked(root)):
            # As findings name them: what stands under the working folder without a way out of it and back.
            path = below if shown == "." else named(os.path.normpath(f"{shown}/{below}"), root)
            if wanted(path):
                content = self.read(path)
                if content is not None and not os.path.islink(path):
                    yield of_content(path, content)

    @property
    def root(self) -> Path:
        """The repository's own folder."""
        return root_above(self._start)


def _known_to_git(root: Path) -> list[str]:
    if not (root / ".git").exists():
        return []
    seen.note_git(root)
    # A repository's own configuration could name a program to run as its file watcher.
    words = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    import subprocess

    try:
        done = subprocess.run(words, cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})


def _walked(root: Path) -> Iterator[str]:
    for folder, below, names in os.walk(root):
        seen.note(folder)
        below[:] = [name for name in below if name not in _NEVER_OURS and not name.startswith(".git")]
        inside = os.path.relpath(folder, root).replace(os.sep, "/")
        yield from names if inside == "." else (f"{inside}/{name}" for name in names)
