"""Results of earlier runs in sqlite. A result is taken again only if everything it was made from is the same:
the path, the content, the rules and all code under them, and each fact of the repository that was read.

The database belongs to the user, not to the repository: a branch cannot bring results along.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from reviewbot import __version__
from reviewbot.lint import again
from reviewbot.lint.registry import own_folder
from reviewbot.lint.repo import Fact, Repo
from reviewbot.lint.results import Result
from reviewbot.model import Finding, Unread

KEPT_DAYS = 30  # a result that no run asked for so long is dropped
_DAY = 24 * 60 * 60

_SCHEMA = """
CREATE TABLE IF NOT EXISTS result (key BLOB PRIMARY KEY, value BLOB NOT NULL, day INTEGER NOT NULL)
WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS code (stamp BLOB PRIMARY KEY, version TEXT NOT NULL, day INTEGER NOT NULL)
WITHOUT ROWID;
"""


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    unread: tuple[Unread, ...]
    read: bool
    asked: tuple[tuple[Fact, str], ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Stored).decode


def folder() -> Path:
    """Where the user's caches stand."""
    return Path(again.folder())


def index_file(root: Path) -> Path:
    """Where the facts of the repository in that folder are kept."""
    name = hashlib.blake2b(os.fsencode(root), digest_size=8).hexdigest()
    return folder() / f"index-{name}.sqlite"


class Cache:
    """Results by key. A database that cannot be used is as good as an empty one. `root`: the `Repo`'s own."""

    def __init__(self, where: Path, rules: Sequence[str], root: Path | None = None) -> None:
        self._today = int(time.time()) // _DAY
        self._seen: list[bytes] = []
        self._made: list[tuple[bytes, bytes, int]] = []
        self._db = self._open(where / "lint.sqlite")
        # Fingerprints name files from that folder.
        place = os.path.relpath(".", root) if root is not None else ""
        code = "\0".join((self._version(), place, *rules))
        self.salt = hashlib.blake2b(code.encode(), digest_size=16).digest()

    def _version(self) -> str:
        """`version()`, kept from an earlier run while no file of the code has been touched."""
        if self._db is None:
            return version()
        stamp = _stamp()
        with suppress(sqlite3.Error):
            row = self._db.execute("SELECT version FROM code WHERE stamp = ?", (stamp,)).fetchone()
            if row is not None:
                return str(row[0])
        found = version()
        with suppress(sqlite3.Error):
            self._db.execute("DELETE FROM code WHERE day < ?", (self._today - KEPT_DAYS,))
            self._db.execute("INSERT OR REPLACE INTO code VALUES (?, ?, ?)", (stamp, found, self._today))
        return found

    def _open(self, file: Path) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                db = sqlite3.connect(file, timeout=5, isolation_level=None)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = OFF")
                db.executescript(_SCHEMA)
                db.execute("SELECT key, value, day FROM result LIMIT 1")
                return db
            except sqlite3.OperationalError:
                return None
            except sqlite3.DatabaseError:
                # Not a database: results can be made again.
                with suppress(OSError):
                    file.unlink()
            except OSError:
                return None
        return None

    def get(self, path: str, content: bytes, repo: Repo) -> Result | None:
        """The result of a file, if every fact that it was made from is today what it was."""
        if self._db is None:
            return None
        name = key(self.salt, path, content)
        try:
            row = self._db.execute("SELECT value, day FROM result WHERE key = ?", (name,)).fetchone()
            if row is None:
                return None
            stored = _decode(row[0])
        except (sqlite3.Error, msgspec.DecodeError):
            return None
        if any(repo.digest(fact) != digest for fact, digest in stored.asked):
            return None
        if row[1] != self._today:
            self._seen.append(name)
        return Result(
            path,
            read=stored.read,
            cached=True,
            findings=stored.findings,
            suppressed=stored.suppressed,
            unread=stored.unread,
            asked=tuple(fact for fact, _ in stored.asked),
        )

    def put(self, key: bytes, packed: bytes) -> None:
        """Keeps a result until `close`."""
        self._made.append((key, packed, self._today))

    def close(self) -> None:
        """Writes what was put, drops what nobody asked for in a long time, and lets go of the database."""
        if self._db is None:
            return
        if self._made or self._seen:
            self._save(self._db)
        with suppress(sqlite3.Error):
            self._db.close()
        self._db = None

    def _save(self, db: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", self._made)
            if self._seen:
                seen = ((self._today, key) for key in self._seen)
                db.executemany("UPDATE result SET day = ? WHERE key = ?", seen)
                db.execute("DELETE FROM result WHERE day < ?", (self._today - KEPT_DAYS,))
            db.execute("COMMIT")


def key(salt: bytes, path: str, content: bytes) -> bytes:
    """The key of a file's result."""
    digest = hashlib.blake2b(content, digest_size=16, key=salt)
    digest.update(b"\0" + path.encode("utf-8", "surrogateescape"))
    return digest.digest()


def packed(result: Result, repo: Repo) -> bytes | None:
    """A result as it is kept, with the digests of the facts behind it. None for one in which a rule failed:
    it may go better another time; and for one with a name that is not UTF-8, which cannot be kept."""
    if result.failures:
        return None
    asked = tuple((fact, repo.digest(fact)) for fact in result.asked)
    try:
        return _encode(_Stored(result.findings, result.suppressed, result.unread, result.read, asked))
    except UnicodeEncodeError:
        return None


def version() -> str:
    """A digest of all code that findings come from: ours, the rules, LibCST, Python itself."""
    digest = hashlib.blake2b(_surroundings(), digest_size=16)
    for file in _code():
        digest.update(file.name.encode() + b"\0" + Path(file).read_bytes())
    return digest.hexdigest()


def _stamp() -> bytes:
    """What is another one as soon as that code is, told without reading it."""
    digest = hashlib.blake2b(_surroundings(), digest_size=16)
    for file in _code():
        seen = file.stat()
        digest.update(f"{file.path}\0{seen.st_size}\0{seen.st_mtime_ns}\0{seen.st_ino}\0".encode())
    return digest.digest()


def _surroundings() -> bytes:
    return f"{__version__} {sys.version} {_libcst()}".encode()


@cache
def _code() -> list[os.DirEntry[str]]:
    found: list[os.DirEntry[str]] = []
    for package in ("", "lint", "flow", "index", "source", "rules"):
        with os.scandir(own_folder(package)) as entries:
            code = (one for one in entries if one.name.endswith(".py") and not one.name.startswith("."))
            found += sorted(code, key=lambda one: one.name)
    return found


def _libcst() -> str:
    """Which LibCST is installed, without importing it."""
    spec = importlib.util.find_spec("libcst")
    if spec is None or spec.origin is None:
        return ""
    return " ".join(sorted(path.name for path in Path(spec.origin).parent.parent.glob("libcst-*")))
