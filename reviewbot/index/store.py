"""Facts kept by content hash in sqlite: a file that has not changed is neither read again nor parsed."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import msgspec

from reviewbot.index.facts import Fact, Facts, clean
from reviewbot.index.gather import (
    KINDS,
    At,
    Watch,
    facts_of,
    is_in,
    key_of,
    named,
    scoped,
    split,
    unwatched,
    within,
)
from reviewbot.index.memory import Memory
from reviewbot.source.files import Source
from reviewbot.source.kept import Kept
from reviewbot.source.uncollected import uncollected

_SCHEMA = """
CREATE TABLE IF NOT EXISTS blob (id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS fact (blob INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL,
                                 payload BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS by_name ON fact (kind, name, blob);
CREATE TEMP TABLE present (path BLOB PRIMARY KEY, folder BLOB NOT NULL, file BLOB NOT NULL,
                                 blob INTEGER NOT NULL) WITHOUT ROWID;
"""

_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ENCODE = msgspec.msgpack.Encoder().encode
# What sqlite and msgspec raise over bytes that were not written so.
_BROKEN = (sqlite3.Error, msgspec.DecodeError, UnicodeDecodeError)


class BrokenStore(Exception):
    """The database does not hold what was written to it; another store has to be made."""


class Store:
    """The facts of the files that `update` was given last, and of older contents in case they come back.

    `file` is the database. One that cannot be used is replaced by memory: facts can always be made again.
    Where that shows only when one is looked up, `look` raises `BrokenStore`.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._db = self._open()
        self._memory = Memory(())

    def _open(self) -> sqlite3.Connection | None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self._file, timeout=300)
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA temp_store = MEMORY")
            db.executescript(_SCHEMA)
            # Of one that is cut off within a page sqlite takes the rest to be empty.
            if self._file.stat().st_size % db.execute("PRAGMA page_size").fetchone()[0]:
                raise sqlite3.DatabaseError("cut off")
            return db
        except OSError:
            pass
        except _BROKEN as error:
            self._discard(error)
        return None

    def close(self) -> None:
        """Lets go of the database."""
        if self._db is not None:
            self._db.close()

    def update(self, sources: Iterable[Source], kept: Kept | None = None, watch: Watch = unwatched) -> int:
        """Makes exactly these files the ones that are known; returns how many had to be read and parsed.

        `kept` is given the trees that are made. `watch` passes on what is to be read, to show progress.
        """
        every = list(sources)
        if self._db is not None:
            try:
                return self._update(self._db, every, kept, watch)
            except _BROKEN as error:
                self._discard(error)
                self._db = None
        self._memory = Memory(every, kept, watch)
        return len(self._memory.gather())

    def _discard(self, error: Exception) -> None:
        """Takes away a database that does not hold what was written to it, so that the next run makes
        another. One that is locked, or that can only be read, stays."""
        if not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                self._file.unlink()

    def _update(self, db: sqlite3.Connection, sources: list[Source], kept: Kept | None, watch: Watch) -> int:
        listed = [(source, key_of(source)) for source in sources]
        with db, uncollected():
            # Whoever shares the database waits here, and then finds everything made.
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM present")
            known: dict[bytes, int] = dict(db.execute("SELECT key, id FROM blob"))
            new = {key: source for source, key in reversed(listed) if key not in known}
            for key, source in watch(reversed(new.items()), len(new)):
                known[key] = _add(db, key, facts_of(source.path, source.read(), kept))
            rows = ((*map(os.fsencode, (s.path, *split(s.path))), known[key]) for s, key in listed)
            db.executemany("INSERT OR REPLACE INTO present VALUES (?, ?, ?, ?)", rows)
        return len(new)

    def look(self, kind: str, name: str) -> tuple[At, ...]:
        """The facts of one kind under one name, by path and then in file order.

        `"log"`, `"regex"` and `"rebuild"` are listed under `""`; `"path"` gives the paths of all files of
        that name, `"folder"` those in the folder of that path. A kind may have its scope behind it, see
        `reviewbot.index.gather.scoped`.

        Raises `BrokenStore`.
        """
        if self._db is None:
            return self._memory.look(kind, name)
        kind, scope = scoped(kind)
        try:
            found = _looked_up(self._db, kind, name, scope)
        except _BROKEN as error:
            self._discard(error)
            raise BrokenStore from error
        return tuple(at for at in found if is_in(scope, at.path)) if scope else found


def _add(db: sqlite3.Connection, key: bytes, known: Facts) -> int:
    """Writes what one content says; returns its number."""
    number = db.execute("INSERT INTO blob (key) VALUES (?)", (key,)).lastrowid
    assert number is not None
    rows = ((number, _NUMBER[kind], name, _ENCODE(held)) for kind, name, held in _grouped(known))
    db.executemany("INSERT INTO fact VALUES (?, ?, ?, ?)", rows)
    return number


def _looked_up(db: sqlite3.Connection, kind: str, name: str, scope: str) -> tuple[At, ...]:
    """The facts of one kind under one name, of one file where the scope is one file; of other scopes all."""
    if kind in ("path", "folder"):
        column = "file" if kind == "path" else "folder"
        found = db.execute(f"SELECT path FROM present WHERE {column} = ? ORDER BY path", (os.fsencode(name),))
        return tuple(At(os.fsdecode(path), None) for (path,) in found)
    query = (
        "SELECT present.path, fact.payload FROM fact JOIN present ON present.blob = fact.blob "
        "WHERE fact.kind = ? AND fact.name = ?"
    )
    given: tuple[object, ...] = _NUMBER[kind], clean(name)
    if scope.startswith(within("")):
        query, given = f"{query} AND present.path = ?", (*given, os.fsencode(scope.removeprefix(within(""))))
    decode = _decoder(kind).decode
    with closing(db.execute(f"{query} ORDER BY present.path", given)) as rows:
        return tuple(At(os.fsdecode(path), fact) for path, payload in rows for fact in decode(payload))


@cache
def _decoder(kind: str) -> msgspec.msgpack.Decoder[list[Fact]]:
    type_ = KINDS[kind]
    return msgspec.msgpack.Decoder(list[type_])  # type: ignore[valid-type]


def _grouped(known: Facts) -> Iterator[tuple[str, str, list[Fact]]]:
    """The facts by kind and by the word under which they are looked up."""
    for kind in KINDS:
        groups: defaultdict[str, list[Fact]] = defaultdict(list)
        for word, fact in named(kind, known):
            groups[word].append(fact)
        for word, held in groups.items():
            yield kind, word, held
