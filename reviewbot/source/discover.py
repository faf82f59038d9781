"""Which files a run looks at, and their content."""

from __future__ import annotations

import fnmatch
import io
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from reviewbot.errors import UnreadableFile
from reviewbot.source import seen
from reviewbot.source.files import named, python_text, root_above
from reviewbot.source.units import SCRIPTS, SETTINGS

# Folders in which nobody's own code stands.
SKIPPED = frozenset({
    ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".eggs", "__pycache__", "node_modules",
    "site-packages", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".reviewbot_cache",
    ".ipynb_checkpoints",
})  # fmt: skip

READ = (".py", *SCRIPTS)  # what is looked at in a folder
WORKFLOWS = ".github/workflows/"  # whose files are looked at in a folder as well
IN_CHANGE = (*READ, *SETTINGS)  # and in a change: what settings say is judged against what they said

Ignored = Callable[[str, bool], bool]
Excluded = Callable[[str], bool]


def excluding(patterns: Sequence[str], root: Path) -> Excluded:
    """Tells whether glob patterns match a path, or any folder on it.

    A pattern without a slash is about names, one with a slash about paths from `root` or from the working
    folder.
    """
    stripped = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]

    def excluded(path: str) -> bool:
        ways = {_plain(path), Path(os.path.relpath(path, root)).as_posix()}
        parts = {"/".join(way.split("/")[:end]) for way in ways for end in range(1, way.count("/") + 2)}
        return any(
            fnmatch.fnmatchcase(part if "/" in pattern else part.rpartition("/")[2], pattern)
            for part in parts
            for pattern in stripped
        )

    return excluded if stripped else lambda path: False


def files_under(
    given: Sequence[str],
    excluded: Excluded = lambda path: False,
    on_unread: Callable[[UnreadableFile], None] = lambda error: None,
    *,
    force: bool = False,
) -> Iterator[str]:
    """The Python files at and under the given paths, each once, sorted within each folder.

    A file that is given by name is taken whatever its name is, unless `force` says that `excluded` holds for
    it too. Under a folder these are the `*.py` files, scripts and workflows, without what git ignores, what
    is excluded, and folders of tools and dependencies. Links to folders are not followed. A folder that
    cannot be listed is handed to `on_unread`.
    """
    seen: set[str] = set()
    for path in given:
        if os.path.isdir(path):
            found = _under(path, excluded, on_unread)
        else:
            found = iter(() if force and excluded(path) else (_plain(path),))
        for name in found:
            if name not in seen:
                seen.add(name)
                yield name


def read(path: str, limit: int) -> bytes:
    """A file's content. Raises `UnreadableFile` where it is no regular file, cannot be opened, or is larger
    than `limit` bytes."""
    seen.note(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnreadableFile(path, f"{_what(os.stat(path).st_mode)}, not a regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(limit + 1) if size <= limit else b""
    except FileNotFoundError:
        why = "a link to nothing" if os.path.islink(path) else "it is not there any more"
        raise UnreadableFile(path, why) from None
    except (OSError, ValueError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise UnreadableFile(path, f"cannot be read ({why.lower()})") from None
    if max(size, len(content)) > limit:
        megabytes = max(size, len(content)) / 1e6
        raise UnreadableFile(
            path, f"{megabytes:.1f} MB, taken for a generated file (max-file-bytes is {limit})"
        )
    return content


def _what(mode: int) -> str:
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _plain(path: str) -> str:
    """A path as findings name it."""
    if path.startswith(".."):
        return named(path, root_above(path))
    return Path(path).as_posix()


def _under(top: str, excluded: Excluded, on_unread: Callable[[UnreadableFile], None]) -> Iterator[str]:
    def failed(error: OSError) -> None:
        why = (error.strerror or str(error)).lower()
        on_unread(UnreadableFile(_plain(str(error.filename)), f"cannot be listed ({why})"))

    ignored = _ignored(top) if _in_repository(top) else None
    for folder, folders, files in os.walk(top, onerror=failed):
        seen.note(folder)
        if ignored is None and ".gitignore" in files:
            ignored = _ignored(top)
        plain = _plain(folder)
        prefix = "" if plain == "." else f"{plain.rstrip('/')}/"
        read = (*READ, *SETTINGS) if prefix.endswith(WORKFLOWS) else READ
        wanted = [name for name in sorted(files) if name.endswith(read) and not excluded(prefix + name)]
        below = [name for name in sorted(folders) if name not in SKIPPED and not excluded(prefix + name)]
        if ignored is not None:
            wanted = [name for name in wanted if not ignored(os.path.join(folder, name), False)]
            below = [name for name in below if not ignored(os.path.join(folder, name), True)]
        folders[:] = below
        yield from (prefix + name for name in wanted)


def _in_repository(folder: str) -> bool:
    above = Path(folder).absolute()
    seen.note_ancestors(above, ".git")
    return any((one / ".git").exists() for one in (above, *above.parents))


def _ignored(top: str) -> Ignored:
    # Imported when there is something to ask: it takes as long as a whole run over cached findings.
    from reviewbot.source.git import ignored

    seen.note_git(top)
    asks = ignored(Path(top))
    # A folder that is named by hand is meant, even if git ignores it.
    return (lambda path, is_folder: False) if asks(top, True) else asks


def lines_of(path: str, content: bytes) -> list[str]:
    """A file's lines with their ends, split where Python splits them; a script's as far as it is UTF-8.

    Raises `UnreadableFile` for Python that is no text.
    """
    script = path.endswith((*SCRIPTS, *SETTINGS))
    text = content.decode("utf-8", "replace") if script else python_text(path, content)
    return io.StringIO(text, newline="").readlines()
