"""Which places on the disk a run has looked at, and how they stood: what it says holds as long."""

from __future__ import annotations

import os
from stat import S_ISDIR

_places: dict[str, str] = {}
_climbed: set[tuple[str, str]] = set()
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
        whole = _whole(path)
        if whole not in _places:
            _places[whole] = standing(whole)


def note_ancestors(path: str | os.PathLike[str], name: str) -> None:
    """A name that is looked for in a folder and in those above it: those in its path, and those in which it
    really stands."""
    whole = _whole(path)
    if not _wanted or (whole, name) in _climbed:
        return
    _climbed.add((whole, name))
    for folder in {whole, os.path.abspath(whole), os.path.realpath(whole)}:
        note(os.path.join(folder, name))
        while folder != (folder := os.path.dirname(folder)):
            note(os.path.join(folder, name))


def note_git(folder: str | os.PathLike[str]) -> None:
    """A folder of which git is asked which files it knows or ignores."""
    if _wanted:
        _asked.add(_whole(folder))


def _whole(path: str | os.PathLike[str]) -> str:
    # `..` stays: behind a link it leads elsewhere than the words say.
    return os.path.join(os.getcwd(), path)


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


# With these git speaks of another repository, or of another index, than the one that `source.git` reads.
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE")


def _note_what_git_reads(folder: str) -> bool:
    """Its index, the folders that it lists and all files that say what is ignored. False where git fails."""
    import subprocess
    from pathlib import Path

    from reviewbot.source.git import ignored

    def says(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=top, capture_output=True, check=True)
        return os.fsdecode(done.stdout)

    if any(name in os.environ for name in _ELSEWHERE):
        return False
    note_ancestors(folder, ".git")
    note_ancestors(folder, ".gitignore")
    top = folder
    try:
        paths = (word for name in ("index", "HEAD", "info/exclude") for word in ("--git-path", name))
        top, *own = says("rev-parse", "--show-toplevel", *paths).removesuffix("\n").split("\n")
        if len(own) != 3:
            return False  # names with line breaks
        for path in own:
            note(os.path.join(folder, path))
    except OSError:
        return False
    except subprocess.CalledProcessError:
        # In no repository, or in one that belongs to somebody else, of which git says nothing.
        real = Path(os.path.realpath(folder))
        if any((above / ".git").exists() for one in (Path(folder), real) for above in (one, *one.parents)):
            return False
    try:
        _note_configuration(top, says("config", "--list", "--show-origin", "-z").split("\0"))
    except subprocess.CalledProcessError:
        return False
    asks = ignored(Path(top))
    for at, below, _ in os.walk(top):
        note(at)
        note(os.path.join(at, ".gitignore"))
        below[:] = [name for name in below if name != ".git" and not asks(os.path.join(at, name), True)]
    return True


def _note_configuration(top: str, words: list[str]) -> None:
    """git's configuration files, and those that they name. `words` are origins and settings in turns."""
    for origin, setting in zip(words[::2], words[1::2], strict=False):
        file = os.path.join(top, origin.removeprefix("file:"))
        note(file)
        name, _, value = setting.partition("\n")
        path = os.path.expanduser(value)
        if name == "core.excludesfile":
            note(path)  # as libgit2 finds it
            note(os.path.join(top, path))  # as git does
        elif name.startswith("include") and name.endswith(".path"):
            note(os.path.join(os.path.dirname(file), path))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    given = (os.environ.get(name, "") for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"))
    for path in ("~/.gitconfig", f"{home}/git/config", f"{home}/git/ignore", "/etc/gitconfig", *given):
        note(os.path.expanduser(path))
