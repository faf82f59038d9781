"""Which files of a diff are read, and why the others are not."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from reviewbot.config import Config
from reviewbot.errors import UnreadableFile
from reviewbot.model import Unread
from reviewbot.source.diff import Change
from reviewbot.source.discover import IN_CHANGE, excluding
from reviewbot.source.files import python_text
from reviewbot.source.git import LEFT_OUT, Repository

_LONE_RETURN = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Scope:
    """`changes` are the files to be read, with their content at the head; `unread` names the others."""

    changes: tuple[tuple[Change, bytes], ...]
    unread: tuple[Unread, ...]

    @property
    def sources(self) -> Iterator[tuple[str, bytes]]:
        """The files as the engine takes them."""
        return ((change.path, content) for change, content in self.changes)


def scope(repository: Repository, changes: Iterable[Change], settings: Config) -> Scope:
    """Reads what can be read of the changed files, is not excluded, and is within the repository's limit."""
    excluded = excluding(settings.exclude, Path("."))
    read: list[tuple[Change, bytes]] = []
    unread: list[Unread] = []
    for change in changes:
        sides = [(change.old_id, change.old_path or change.path), (change.new_id, change.path)]
        is_file = change.kind == "file"
        lost = is_file and any(repository.lacks(*side) for side in sides)
        large = is_file and not lost and any(repository.too_large(*side) for side in sides)
        wanted = change.new_id if is_file and not large and not lost else None
        content = repository.blob(wanted, change.path) if wanted else b""
        why = LEFT_OUT if lost else _obstacle(change, content)
        if why in (None, LEFT_OUT) and excluded(change.path):
            why = "excluded by the configuration"
        elif why is None and large:
            why = f"larger than {settings.max_file_bytes} bytes (max-file-bytes), taken for a generated file"
        if why is None:
            read.append((change, content))
        else:
            unread.append(Unread(printable(change.path), why))
    return Scope(tuple(read), tuple(unread))


# Reasons not to read a file that leave nothing unsaid of its code.
NO_CODE = frozenset({
    "deleted", "a submodule", "a symbolic link", "only its mode changed", "binary",
    "neither Python, a script nor YAML", "excluded by the configuration",
})  # fmt: skip


def printable(path: str) -> str:
    """The path on one line, with bytes that are not UTF-8 and characters that cannot be seen spelled out."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _obstacle(change: Change, content: bytes) -> str | None:
    if change.status == "deleted":
        return "deleted"
    if change.kind == "submodule":
        return "a submodule"
    if change.kind == "symlink":
        return "a symbolic link"
    # Where a file stands may decide whether it runs: one that was only renamed is looked at.
    if change.old_id == change.new_id and change.status != "renamed":
        return "only its mode changed"
    if b"\0" in content[:8000]:
        return "binary"
    if not change.path.endswith(IN_CHANGE):
        return "neither Python, a script nor YAML"
    if not _is_text(change.path):
        return "its name is not UTF-8"
    return _unreadable(content)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(content: bytes) -> str | None:
    if decoded(content) is None:
        return "neither UTF-8 nor the encoding that it declares"
    if _LONE_RETURN.search(content):
        return "lone carriage returns, so that its line numbers are not those of the diff"
    return None


def decoded(content: bytes) -> str | None:
    """A file as text with its line ends: in UTF-8 or in the encoding that it declares, None if in neither."""
    try:
        return python_text("", content)
    except UnreadableFile:
        return None


def lines_of(content: Callable[[str], bytes | None]) -> Callable[[str], list[str] | None]:
    """Reads the lines of files, with their ends, from their content; the last few are remembered."""

    @lru_cache(maxsize=64)
    def read(path: str) -> list[str] | None:
        text = decoded(content(path) or b"")
        return io.StringIO(text, newline="").readlines() if text else None

    return read
