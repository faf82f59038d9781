"""What one file says to the rest of the repository. Plain, ordered, and equal for equal content.

Lines count from 1. Names of functions are qualified within their file ("Gate.admit"); "" is module level.
`source` is an expression as the file writes it, on one line, cut at 200 characters.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SOURCE_LIMIT = 200

ClassKind = Literal["dataclass", "attrs", "namedtuple", "typeddict", "pydantic", "plain"]


class Fact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The base of all facts: compared by value, written as an array."""


class Definition(Fact, frozen=True, array_like=True, gc=False):
    """A function, method or class.

    `parameters` in order, without stars; `required` of them have no default. `decorators` are dotted
    names. `shape` is a digest of the body with local names, docstrings and annotations left out ("" for a
    class, a test or a small body), `size` the number of its nodes.
    """

    name: str
    kind: Literal["function", "method", "class"]
    line: int
    end_line: int
    parameters: tuple[str, ...] = ()
    required: int = 0
    decorators: tuple[str, ...] = ()
    shape: str = ""
    size: int = 0


class Field(Fact, frozen=True, array_like=True, gc=False):
    """A field of a class. `default` is its source, None where the field is required; `compared` says
    whether equality looks at it, `taken` whether the constructor takes it (`init=False`: it does not)."""

    name: str
    line: int
    default: str | None = None
    compared: bool = True
    annotation: str = ""
    taken: bool = True


class Class(Fact, frozen=True, array_like=True, gc=False):
    """A class with fields. `bases` and `decorators` are dotted names; `kind` says who makes `__init__`."""

    name: str
    line: int
    end_line: int
    kind: ClassKind
    bases: tuple[str, ...]
    fields: tuple[Field, ...]


class Call(Fact, frozen=True, array_like=True, gc=False):
    """A call of anything, by the dotted name that the file writes."""

    name: str
    caller: str
    line: int
    end_line: int


class Value(Fact, frozen=True, array_like=True, gc=False):
    """A named value that is written: `name` is its key or the word before its placeholder, "" if none."""

    name: str
    source: str


class Rebuild(Fact, frozen=True, array_like=True, gc=False):
    """A call that is given attributes of one receiver under their own names: `Row(id=old.id, step=old.step)`.

    `carried` are those names, `given` all keywords of the call, in order.
    """

    name: str
    function: str
    line: int
    end_line: int
    receiver: str
    carried: tuple[str, ...]
    given: tuple[str, ...]


class Log(Fact, frozen=True, array_like=True, gc=False):
    """A log or print call. `template` is its text with `\\0` for each value, `values` in that order;
    `extra` are values that go along by keyword."""

    function: str
    line: int
    end_line: int
    template: str
    values: tuple[Value, ...]
    extra: tuple[Value, ...] = ()


class Regex(Fact, frozen=True, array_like=True, gc=False):
    """A regular expression written as a literal, compiled or only held by a name. `name` is what it is bound
    to at module level, or ""."""

    function: str
    line: int
    end_line: int
    pattern: str
    name: str = ""


class Key(Fact, frozen=True, array_like=True, gc=False):
    """A record's key that is written or read. `source` is the value written, or the record read from."""

    name: str
    function: str
    line: int
    source: str = ""


class Attribute(Fact, frozen=True, array_like=True, gc=False):
    """An attribute that is read (not called): `receiver` is the source of what it is read from."""

    name: str
    function: str
    line: int
    receiver: str


class Import(Fact, frozen=True, array_like=True, gc=False):
    """An imported name: `target` is dotted, with leading dots for a relative import."""

    name: str
    target: str
    line: int
    function: str = ""


class Namespace(Fact, frozen=True, array_like=True, gc=False):
    """What a module says about its own names.

    `listed` is what its `__all__` holds, None where it has none or none that can be read, which `closed`
    tells apart. `unsure` are the names that it binds under a condition, more than once, or by anything but
    a definition and an import under the name's own name; "*" where that may be any name.
    """

    listed: tuple[str, ...] | None
    unsure: tuple[str, ...]
    closed: bool


class Mention(Fact, frozen=True, array_like=True, gc=False):
    """A word in a script or CI file that looks like a path or a script's name."""

    word: str
    line: int


class Facts(Fact, frozen=True, array_like=True, gc=False):
    """Everything that one file says."""

    definitions: tuple[Definition, ...] = ()
    classes: tuple[Class, ...] = ()
    calls: tuple[Call, ...] = ()
    logs: tuple[Log, ...] = ()
    regexes: tuple[Regex, ...] = ()
    written: tuple[Key, ...] = ()
    read: tuple[Key, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    imports: tuple[Import, ...] = ()
    mentions: tuple[Mention, ...] = ()
    rebuilds: tuple[Rebuild, ...] = ()
    namespaces: tuple[Namespace, ...] = ()


def clean(text: str) -> str:
    """A literal's text as it can be stored: lone surrogates become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def last_part(name: str) -> str:
    """`c` of `a.b.c`: the word under which definitions, calls and imports are looked up."""
    return name.rpartition(".")[2]
