"""What files become under a unified diff, without touching them."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pygit2

from reviewbot.errors import UnreadableFile, UsageError


def patched(root: Path, diff: Path) -> dict[str, str]:
    """{path: content} of every file that `diff` changes, relative to `root`.

    Raises UnreadableFile for what is no diff, UsageError where it does not apply.
    """
    try:
        text = diff.read_text(encoding="utf-8")
        parsed = pygit2.Diff.parse_diff(_with_headers(text))
    except OSError as error:
        raise UnreadableFile(str(diff), f"cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, pygit2.GitError) as error:
        raise UnreadableFile(str(diff), f"is not a unified diff ({error})") from None
    names = [patch.delta.new_file.path for patch in parsed if patch is not None]
    if not names:
        raise UnreadableFile(str(diff), "changes no file")
    with tempfile.TemporaryDirectory(prefix="reviewbot-patch-") as folder:
        repository = pygit2.init_repository(folder)
        for name in names:
            source, copy = root / name, Path(folder) / name
            if not source.resolve().is_relative_to(root.resolve()) or not source.is_file():
                raise UsageError(f"{diff}: {name} is not a file of {root}")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
        try:
            repository.apply(parsed, pygit2.enums.ApplyLocation.WORKDIR)
        except pygit2.GitError as error:
            raise UsageError(f"{diff} does not apply to {root}: {error}") from None
        return {name: (Path(folder) / name).read_text(encoding="utf-8") for name in names}


def _with_headers(text: str) -> str:
    """The diff as git writes it: libgit2 reads no other, and `diff -u` leaves the first line out."""
    if re.search(r"^diff --git ", text, re.MULTILINE):
        return text
    return re.sub(r"^--- (?:a/)?(\S+).*\n\+\+\+ (?:b/)?(\S+).*$", _header, text, flags=re.MULTILINE)


def _header(match: re.Match[str]) -> str:
    return f"diff --git a/{match[1]} b/{match[2]}\n--- a/{match[1]}\n+++ b/{match[2]}"
