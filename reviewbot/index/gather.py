"""From files to their facts, and the words under which facts are looked up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from reviewbot.errors import UnreadableFile
from reviewbot.index import facts as fact_types
from reviewbot.index import scripts
from reviewbot.index.facts import Fact, Facts, last_part
from reviewbot.source.files import Source
from reviewbot.source.kept import Kept
from reviewbot.source.newer import tree_of
from reviewbot.source.test_files import in_test_file

VERSION = 6
_VERSION = f"{VERSION}.{sys.version_info[0]}.{sys.version_info[1]}"
MAX_BYTES = 4 << 20  # a larger file is data, not code
OUTSIDE_TESTS = "outside of tests"

# What can be looked up, and what it is. The order is kept in databases.
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
    "namespace": fact_types.Namespace,
}

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


def is_wanted(path: str) -> bool:
    """Whether a file of this name has facts."""
    return path.endswith((".py", ".pyi")) or scripts.is_script(path)


def key_of(source: Source) -> bytes:
    """What a file's facts depend on: its content, how it is read, and by which version."""
    path = source.path
    if not path.endswith((".py", ".pyi")):
        return source.key + (path[-3:] + _VERSION).encode()
    return source.key + (("test" if in_test_file(path) else "py") + _VERSION).encode()


def facts_of(path: str, content: bytes | None, kept: Kept | None = None) -> Facts:
    """What one file says; nothing for a file that is not there, cannot be parsed or is larger than
    `MAX_BYTES`. `kept` is given its tree."""
    if content is None or len(content) > MAX_BYTES:
        return Facts()
    if not path.endswith((".py", ".pyi")):
        return scripts.facts_of(path, content)
    from reviewbot.index import python

    try:
        tree = kept.tree(path, content) if kept is not None else None
        if tree is None:
            tree = tree_of(path, content)
            if kept is not None:
                kept.put(path, content, tree)
        return python.facts_of(tree, content, of_tests=in_test_file(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnreadableFile):
        return Facts()


def split(path: str) -> tuple[str, str]:
    """The folder that a path is looked up under, and its last name."""
    folder, _, name = path.rpartition("/")
    return folder, name


def within(path: str) -> str:
    """The scope of a question about one file."""
    return f"in {path}"


def scoped(kind: str) -> tuple[str, str]:
    """A kind and its scope, which stands behind it after a space: `OUTSIDE_TESTS`, or one made by `within`;
    "" for all files."""
    kind, _, scope = kind.partition(" ")
    return kind, scope


def is_in(scope: str, path: str) -> bool:
    """Whether a file is in a scope."""
    if scope == OUTSIDE_TESTS:
        return not in_test_file(path)
    return not scope or scope == within(path)


def named(kind: str, known: Facts) -> Iterator[tuple[str, Fact]]:
    """A file's facts of one kind, each with the word under which it is looked up, in file order."""
    return _NAMED[kind](known)


def _fields(known: Facts) -> Iterator[tuple[str, Fact]]:
    for class_ in known.classes:
        for field in class_.fields:
            yield field.name, fact_types.Key(field.name, class_.name, field.line)


def _mentions(known: Facts) -> Iterator[tuple[str, Fact]]:
    for mention in known.mentions:
        last = mention.word.rstrip("/").rpartition("/")[2]
        yield "*" if "*" in last else last, mention


_NAMED: dict[str, Callable[[Facts], Iterator[tuple[str, Fact]]]] = {
    "definition": lambda known: ((last_part(one.name), one) for one in known.definitions),
    "class": lambda known: ((last_part(one.name), one) for one in known.classes),
    "call": lambda known: ((last_part(one.name), one) for one in known.calls),
    "log": lambda known: (("", one) for one in known.logs),
    "regex": lambda known: (("", one) for one in known.regexes),
    "written": lambda known: ((one.name, one) for one in known.written),
    "read": lambda known: ((one.name, one) for one in known.read),
    "attribute": lambda known: ((one.name, one) for one in known.attributes),
    "import": lambda known: ((last_part(one.target), one) for one in known.imports),
    "mention": _mentions,
    "shape": lambda known: ((one.shape, one) for one in known.definitions if one.shape),
    "rebuild": lambda known: (("", one) for one in known.rebuilds),
    "field": _fields,
    "namespace": lambda known: (("", one) for one in known.namespaces),
}
