"""A run over what has not changed says again what it said before.

What a run printed is kept with all that it came from: the command and its surroundings, our own code, and how
every place stood that it looked at: size, times, inode. While all of that is as it was, there is nothing to
read. A run that a rule came to no end in, or that could not read a file, is not kept.

Little is imported here: that is the point of it.
"""

from __future__ import annotations

import os
import sys
import time
from binascii import crc32

from reviewbot.source import seen

_FORM = "2"
_DAY = 24 * 60 * 60
# Variables that findings, or the form that they are printed in, may depend on.
_NAMES = frozenset({
    "COLUMNS", "FORCE_COLOR", "HOME", "LANG", "LOCALAPPDATA", "NO_COLOR", "PATH", "TERM", "USERPROFILE",
})  # fmt: skip
_PREFIXES = ("GIT_", "GITHUB_ACTIONS", "LC_", "PYTHON", "XDG_")

_asked = b""  # the command that is under way, with its surroundings
_began = 0  # when, in nanoseconds


def folder() -> str:
    """Where the user's caches stand: `XDG_CACHE_HOME`, or what the system uses for it."""
    given = os.environ.get("XDG_CACHE_HOME")
    if given and os.path.isabs(given):
        return os.path.join(given, "reviewbot")
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return os.path.join(local, "reviewbot")
    home = os.path.expanduser("~")
    return os.path.join(home, "Library/Caches" if sys.platform == "darwin" else ".cache", "reviewbot")


def told(words: list[str]) -> int | None:
    """Prints what this command printed when all was as it is now, and returns its exit code. None where that
    is not known; what the command looks at is noted from then on."""
    global _asked, _began
    # On Windows no time tells when a file's name, mode or content last changed.
    if sys.platform == "win32":
        return None
    try:
        key = _key(words)
    except OSError:
        return None  # the working folder is gone
    try:
        with open(_file(key), "rb") as file:
            kept = _read(file.read(), key)
    except (OSError, ValueError):
        kept = None
    if kept is None:
        _asked, _began = key, time.time_ns()
        seen.watch()
        return None
    code, out, err = kept
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError:
        return None  # who makes it anew meets the same, and says what it is
    try:
        sys.stderr.buffer.write(err)
        sys.stderr.flush()
    except OSError:  # nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return code


def keep(code: int, out: str, err: str) -> None:
    """Keeps what the command that `told` was asked for has printed."""
    if not _asked:
        return
    _note_code()
    places = seen.settled(_began)
    if places is None:
        return
    try:
        texts = _asked, _encoded(out, sys.stdout.encoding), _encoded(err, sys.stderr.encoding)
        stood = "\0".join(part for place in places.items() for part in place)
        body = b"".join(texts) + os.fsencode(stood)
        head = " ".join(map(str, (_FORM, _today(), code, crc32(body), *map(len, texts))))
        _write(_file(_asked), head.encode() + b"\n" + body)
    except (OSError, ValueError):
        return  # a folder that cannot be written


def _read(content: bytes, key: bytes) -> tuple[int, bytes, bytes] | None:
    """The exit code and both streams, if all is as it was. Raises `ValueError` for what `keep` did not
    write."""
    head, _, rest = content.partition(b"\n")
    form, day, code, check, *lengths = head.decode().split(" ")
    if form != _FORM or int(day) != _today():  # results that nobody asks for are dropped after some days
        return None
    if int(check) != crc32(rest):
        return None  # part of the places would do, otherwise
    of_key, of_out, of_err = map(int, lengths)
    if rest[:of_key] != key:
        return None
    out, rest = rest[of_key : of_key + of_out], rest[of_key + of_out :]
    err, rest = rest[:of_err], rest[of_err:]
    parts = os.fsdecode(rest).split("\0")
    standing = seen.standing
    for number in range(0, len(parts), 2):
        if standing(parts[number]) != parts[number + 1]:
            return None
    return int(code), out, err


def _write(path: str, content: bytes) -> None:
    above = os.path.dirname(path)
    os.makedirs(above, exist_ok=True)
    with os.scandir(above) as entries:
        for entry in entries:
            if entry.stat().st_mtime < time.time() - 2 * _DAY:
                os.unlink(entry)
    fresh = f"{path}.{os.getpid()}"
    with open(fresh, "wb") as file:
        file.write(content)
    os.replace(fresh, path)


def _key(words: list[str]) -> bytes:
    """All of a command that the files do not say."""
    around = sorted(
        (name, value) for name, value in os.environ.items() if name in _NAMES or name.startswith(_PREFIXES)
    )
    shown = [(stream.isatty(), stream.encoding) for stream in (sys.stdout, sys.stderr)]
    whose = os.geteuid() if hasattr(os, "geteuid") else 0  # who may read what
    return repr((words, os.getcwd(), whose, around, shown, sys.version, sys.flags, sys.path)).encode()


def _file(key: bytes) -> str:
    return os.path.join(folder(), "runs", f"{crc32(key):08x}")


def _today() -> int:
    return int(time.time()) // _DAY


def _encoded(text: str, encoding: str) -> bytes:
    return text.encode(encoding, "backslashreplace")


def _note_code() -> None:
    """Our own code and the folders in which that of others is installed."""
    from reviewbot.lint.registry import own_folder

    for package in ("", "rules", "templates"):
        for at, below, names in os.walk(own_folder(package)):
            below[:] = [name for name in below if name != "__pycache__"]
            seen.note(at)
            for name in names:
                seen.note(os.path.join(at, name))
    for at in sys.path:
        seen.note(at)
