"""Facts kept by content hash in sqlite: a file that has not changed is neither read again nor parsed."""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from reviewbot.errors import UnreadableFile
from reviewbot.index import facts as fact_types
from reviewbot.index import scripts
from reviewbot.index.facts import Fact, Facts, clean, last_part
from reviewbot.source.files import Source
from reviewbot.source.kept import Kept
from reviewbot.source.newer import tree_of
from reviewbot.source.test_files import in_test_file

VERSION = 4
_VERSION = f"{VERSION}.{sys.version_info[0]}.{sys.version_info[1]}"
MAX_BYTES = 4 << 20  # a larger file is data, not code

_SCHEMA = """
CREATE TABLE IF NOT EXISTS blob (id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS fact (blob INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL,
                                 payload BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS by_name ON fact (kind, name, blob);
CREATE TEMP TABLE present (path BLOB PRIMARY KEY, folder BLOB NOT NULL, file BLOB NOT NULL,
                                 blob INTEGER NOT NULL) WITHOUT ROWID;
"""

# What can be looked up, and where it stands in `Facts`. The order is kept in the database.
KINDS: dict[str, type[Fact]] = {
    "definition": fact_types.Definition,
    "class": fact_types.Class,
    "call": fact_types.Call,
    "log": fact_types.Log,
    "regex": fact_types.Regex,
    "written": fact_types.Key,
    "read": fact_types.Key,
    "attribute": fact_types.Attribute,
    "import": fact_types.Import,
    "mention": fact_types.Mention,
    "shape": fact_types.Definition,
    "rebuild": fact_types.Rebuild,
    "field": fact_types.Key,
}
_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ENCODE = msgspec.msgpack.Encoder().encode
# What sqlite and msgspec raise over bytes that were not written so.
_BROKEN = (sqlite3.Error, msgspec.DecodeError, UnicodeDecodeError)


_Item = TypeVar("_Item")


class Watch(Protocol):
    """Passes items on while they are worked on, and is told how many there are: for showing progress."""

    def __call__(self, items: Iterable[_Item], total: int) -> Iterable[_Item]:
        """The same items."""


def unwatched(items: Iterable[_Item], total: int) -> Iterable[_Item]:
    """A `Watch` that shows nothing."""
    return items


class At(NamedTuple):
    """A fact and the path of the file that says it."""

    path: str
    fact: Any


class BrokenStore(Exception):
    """The database does not hold what was written to it; another store has to be made."""


def is_wanted(path: str) -> bool:
    """Whether a file of this name has facts."""
    return path.endswith((".py", ".pyi")) or scripts.is_script(path)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Syntax trees hold no cycles: looking for them is a fifth of the work."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Store:
    """The facts of the files that `update` was given last, and of older contents in case they come back.

    `file` is the database, None for memory alone. A database that cannot be used is replaced by memory:
    facts can always be made again. Where that shows only when one is looked up, `look` raises `BrokenStore`.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._db = self._open(file)

    def _open(self, file: Path | None) -> sqlite3.Connection:
        if file is not None:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                db = self._prepared(sqlite3.connect(file, timeout=300))
                # Of one that is cut off within a page sqlite takes the rest to be empty.
                if file.stat().st_size % db.execute("PRAGMA page_size").fetchone()[0]:
                    raise sqlite3.DatabaseError("cut off")
                return db
            except OSError:
                pass
            except _BROKEN as error:
                self._discard(error)
        return self._prepared(sqlite3.connect(":memory:"))

    def _prepared(self, db: sqlite3.Connection) -> sqlite3.Connection:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA temp_store = MEMORY")
        db.executescript(_SCHEMA)
        return db

    def close(self) -> None:
        """Lets go of the database."""
        self._db.close()

    def update(self, sources: Iterable[Source], kept: Kept | None = None, watch: Watch = unwatched) -> int:
        """Makes exactly these files the ones that are known; returns how many had to be read and parsed.

        `kept` is given the trees that are made. `watch` passes on what is to be read, to show progress.
        """
        listed = [(source, source.key + _salt(source.path)) for source in sources]
        try:
            return self._update(listed, kept, watch)
        except _BROKEN as error:
            self._discard(error)
            self._db = self._open(None)
            return self._update(listed, kept, watch)

    def _discard(self, error: Exception) -> None:
        """Takes away a database that does not hold what was written to it, so that the next run makes
        another. One that is locked, or that can only be read, stays."""
        if self._file is not None and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                self._file.unlink()

    def _update(self, listed: list[tuple[Source, bytes]], kept: Kept | None, watch: Watch) -> int:
        with self._db, _no_collection():
            # Whoever shares the database waits here, and then finds everything made.
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM present")
            known: dict[bytes, int] = dict(self._db.execute("SELECT key, id FROM blob"))
            new = {key: source for source, key in reversed(listed) if key not in known}
            for key, source in watch(reversed(new.items()), len(new)):
                known[key] = self._add(key, source, kept)
            rows = ((*map(os.fsencode, (s.path, *_split(s.path))), known[key]) for s, key in listed)
            self._db.executemany("INSERT OR REPLACE INTO present VALUES (?, ?, ?, ?)", rows)
        return len(new)

    def _add(self, key: bytes, source: Source, kept: Kept | None) -> int:
        content = source.read()
        known = facts_of(source.path, content, kept) if content is not None else Facts()
        number = self._db.execute("INSERT INTO blob (key) VALUES (?)", (key,)).lastrowid
        assert number is not None
        rows = ((number, _NUMBER[kind], name, _ENCODE(held)) for kind, name, held in _grouped(known))
        self._db.executemany("INSERT INTO fact VALUES (?, ?, ?, ?)", rows)
        return number

    def look(self, kind: str, name: str) -> tuple[At, ...]:
        """The facts of one kind under one name, by path and then in file order.

        `"log"`, `"regex"` and `"rebuild"` are listed under `""`; `"path"` gives the paths of all files of
        that name, `"folder"` those in the folder of that path.

        Raises `BrokenStore`.
        """
        try:
            return self._look(kind, name)
        except _BROKEN as error:
            self._discard(error)
            raise BrokenStore from error

    def _look(self, kind: str, name: str) -> tuple[At, ...]:
        if kind in ("path", "folder"):
            column = "file" if kind == "path" else "folder"
            found = self._db.execute(
                f"SELECT path FROM present WHERE {column} = ? ORDER BY path", (os.fsencode(name),)
            )
            return tuple(At(os.fsdecode(path), None) for (path,) in found)
        query = (
            "SELECT present.path, fact.payload FROM fact JOIN present ON present.blob = fact.blob "
            "WHERE fact.kind = ? AND fact.name = ? ORDER BY present.path"
        )
        decode = _decoder(kind).decode
        with closing(self._db.execute(query, (_NUMBER[kind], clean(name)))) as rows:
            return tuple(At(os.fsdecode(path), fact) for path, payload in rows for fact in decode(payload))


def _salt(path: str) -> bytes:
    """What a file's facts depend on beside its content: how it is read, and by which version."""
    if not path.endswith((".py", ".pyi")):
        return (path[-3:] + _VERSION).encode()
    return (("test" if in_test_file(path) else "py") + _VERSION).encode()


@cache
def _decoder(kind: str) -> msgspec.msgpack.Decoder[list[Fact]]:
    type_ = KINDS[kind]
    return msgspec.msgpack.Decoder(list[type_])  # type: ignore[valid-type]


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def facts_of(path: str, content: bytes, kept: Kept | None = None) -> Facts:
    """What one file says; nothing for a file that cannot be parsed or is larger than `MAX_BYTES`. `kept` is
    given its tree."""
    if len(content) > MAX_BYTES:
        return Facts()
    if not path.endswith((".py", ".pyi")):
        return scripts.facts_of(path, content)
    from reviewbot.index import python

    try:
        tree = tree_of(path, content)
        if kept is not None:
            kept.put(path, content, tree)
        return python.facts_of(tree, content, of_tests=in_test_file(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnreadableFile):
        return Facts()


def _grouped(known: Facts) -> Iterator[tuple[str, str, list[Fact]]]:
    """The facts by kind and by the word under which they are looked up."""
    groups: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for definition in known.definitions:
        groups["definition", last_part(definition.name)].append(definition)
        if definition.shape:
            groups["shape", definition.shape].append(definition)
    for class_ in known.classes:
        groups["class", last_part(class_.name)].append(class_)
        for field in class_.fields:
            groups["field", field.name].append(fact_types.Key(field.name, class_.name, field.line))
    for call in known.calls:
        groups["call", last_part(call.name)].append(call)
    for log in known.logs:
        groups["log", ""].append(log)
    for regex in known.regexes:
        groups["regex", ""].append(regex)
    for kind, keys in (("written", known.written), ("read", known.read)):
        for key in keys:
            groups[kind, key.name].append(key)
    for rebuild in known.rebuilds:
        groups["rebuild", ""].append(rebuild)
    for attribute in known.attributes:
        groups["attribute", attribute.name].append(attribute)
    for imported in known.imports:
        groups["import", last_part(imported.target)].append(imported)
    for mention in known.mentions:
        last = mention.word.rstrip("/").rpartition("/")[2]
        groups["mention", "*" if "*" in last else last].append(mention)
    return ((kind, name, held) for (kind, name), held in groups.items())
