"""Which places on the disk a run has looked at, and how they stood: what it says holds as long."""

from __future__ import annotations

import os
from stat import S_ISDIR

_places: dict[str, str] = {}
_asked: set[str] = set()
_wanted = False
_GIT = f"{os.sep}.git"


def watch() -> None:
    """From now on places are noted."""
    global _wanted
    _wanted = True


def note(path: str | os.PathLike[str]) -> None:
    """A file that is read, a folder that is listed, or a place where there might be one; before that."""
    if _wanted:
        whole = os.path.abspath(path)
        if whole not in _places:
            _places[whole] = standing(whole)


def note_ancestors(path: str | os.PathLike[str], name: str) -> None:
    """A name that is looked for in a folder and in those above it."""
    if _wanted:
        folder = os.path.abspath(path)
        note(os.path.join(folder, name))
        while folder != (folder := os.path.dirname(folder)):
            note(os.path.join(folder, name))


def note_git(folder: str | os.PathLike[str]) -> None:
    """A folder of which git is asked which files it knows or ignores."""
    if _wanted:
        _asked.add(os.path.abspath(folder))


def standing(path: str) -> str:
    """What is another text as soon as a file has been written, or a folder's entries have changed."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return "-"
    if path.endswith(_GIT) and S_ISDIR(found.st_mode):
        return "folder"  # nobody lists it, and whatever git does changes it
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino} {found.st_mode}"


def settled(began_ns: int) -> dict[str, str] | None:
    """All that was noted, by path. None where a place has changed since `began_ns`, or so shortly before that
    a change since might bear the same time; or where git does not say what it goes by."""
    for folder in sorted(_asked):
        if not _note_what_git_reads(folder):
            return None
    for path, stood in _places.items():
        if standing(path) != stood:
            return None
        if any(time > began_ns - _grain(time) for time in map(int, stood.split(" ")[1:3])):
            return None
    return dict(_places)


FINE_NS, COARSE_NS = 100_000_000, 2_000_000_000


def _grain(time_ns: int) -> int:
    """How far apart changes of a file may be that bear this same time. Where files bear whole seconds, two;
    elsewhere a tick of the system's clock, of which there are a hundred a second or more."""
    return FINE_NS if time_ns % 1_000_000_000 else COARSE_NS


def _note_what_git_reads(folder: str) -> bool:
    """Its index, the folders that it lists and all files that say what is ignored. False where git fails."""
    import subprocess
    from pathlib import Path

    from reviewbot.source.git import ignored

    def says(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=True)
        return os.fsdecode(done.stdout).split("\0")

    top = folder
    try:
        for origin, setting in _pairs(says("config", "--list", "--show-origin", "-z")):
            if origin.startswith("file:"):
                note(os.path.join(folder, origin.removeprefix("file:")))
            name, _, value = setting.partition("\n")
            if name == "core.excludesfile":
                note(os.path.join(folder, os.path.expanduser(value)))
    except (OSError, subprocess.CalledProcessError):
        return False
    try:
        words = "rev-parse", "--show-toplevel", "--git-path", "index", "--git-path", "info/exclude"
        top, index, exclude = "".join(says(*words)).rstrip("\n").split("\n")
        note(os.path.join(folder, index))
        note(os.path.join(folder, exclude))
    except subprocess.CalledProcessError:
        pass  # in no repository
    except ValueError:
        return False  # names with line breaks
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    for path in ("~/.gitconfig", f"{home}/git/config", f"{home}/git/ignore", "/etc/gitconfig"):
        note(os.path.expanduser(path))
    note_ancestors(folder, ".git")
    note_ancestors(folder, ".gitignore")
    asks = ignored(Path(top))
    for at, below, _ in os.walk(top):
        note(at)
        note(os.path.join(at, ".gitignore"))
        below[:] = [name for name in below if name != ".git" and not asks(os.path.join(at, name), True)]
    return True


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=False))
