"""Questions about the whole repository.

Every answer comes from `look(kind, name)` alone, so that whoever asks can keep what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from reviewbot.index.facts import (
    Attribute,
    Call,
    Class,
    Definition,
    Key,
    Log,
    Mention,
    Namespace,
    Rebuild,
    Regex,
)
from reviewbot.index.gather import OUTSIDE_TESTS, At, within
from reviewbot.index.templates import groups_of

Look = Callable[[str, str], tuple[At, ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """A regular expression that reads the lines of a log call. `groups[i]` is the number of the log's value
    that group `i + 1` reads, or None."""

    path: str
    log: Log
    groups: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """A module's names. `stars` are the lines at which it takes other modules in whole, and the paths of
    these: "" for one that may be anything, None for one of somebody else."""

    names: Namespace
    unsure: frozenset[str]
    stars: tuple[tuple[int, str | None], ...]

    def gives(self, name: str) -> bool | None:
        """Whether a star import of the module takes a name along, None where that is not known."""
        if self.names.closed:
            return None
        return not name.startswith("_") if self.names.listed is None else name in self.names.listed


@dataclass(frozen=True)
class Index:
    """The repository's facts, asked through `look` (of a `Store`, or of what records it).

    What a dotted name means is worked out once: many rules ask for the same.
    """

    look: Look
    _meant: dict[tuple[str, str, int], tuple[str, Definition] | None] = field(
        default_factory=dict, repr=False, compare=False
    )
    _spaces: dict[str, Space] = field(default_factory=dict, repr=False, compare=False)

    # Where only some files matter the others need not be read.

    @property
    def outside_tests(self) -> Index:
        """What files say that hold no tests."""
        return self._in(OUTSIDE_TESTS)

    def of_file(self, path: str) -> Index:
        """What one file says."""
        return self._in(within(path))

    def _in(self, scope: str) -> Index:
        return Index(lambda kind, name: self.look(f"{kind} {scope}", name))

    # Names.

    def definitions(self, name: str) -> tuple[tuple[str, Definition], ...]:
        """The functions, methods and classes whose last name is `name`."""
        return tuple((at.path, at.fact) for at in self.look("definition", name))

    def calls(self, name: str) -> tuple[tuple[str, Call], ...]:
        """The calls of anything whose last name is `name`."""
        return tuple((at.path, at.fact) for at in self.look("call", name))

    def classes(self, name: str) -> tuple[tuple[str, Class], ...]:
        """The classes whose last name is `name`, with their fields."""
        return tuple((at.path, at.fact) for at in self.look("class", name))

    def having(self, field: str) -> tuple[tuple[str, Key], ...]:
        """The classes that have a field of that name: `function` of the fact is the class's name."""
        return tuple((at.path, at.fact) for at in self.look("field", field))

    def same_shape(self, shape: str) -> tuple[tuple[str, Definition], ...]:
        """The functions whose bodies differ in local names alone."""
        return tuple((at.path, at.fact) for at in self.look("shape", shape)) if shape else ()

    # Files and imports.

    def module(self, target: str, importer: str) -> str | None:
        """The path of the module that a dotted target means in `importer`: of several the nearest; None
        where the repository has none, or two that are as near."""
        level = len(target) - len(target.lstrip("."))
        parts = [part for part in target.lstrip(".").split(".") if part]
        folder = importer.split("/")[:-1]
        if level:
            base = folder[: len(folder) - (level - 1)] if level > 1 else folder
            return self._exact("/".join([*base, *parts]))
        if not parts:
            return None
        tail = "/".join(parts)
        beside = self._exact("/".join([*folder, *parts]))
        paths = [path for name in (f"{parts[-1]}.py", "__init__.py") for path in self._paths(name)]
        fits = [path for path in paths if _is_module(path, tail)]
        exact = [path for path in fits if path in (f"{tail}.py", f"{tail}/__init__.py")]
        if exact:
            return exact[0]
        if beside is not None:
            return beside
        nearest = near(importer, fits)
        return nearest[0] if len(nearest) == 1 else None

    def _exact(self, stem: str) -> str | None:
        wanted = (f"{stem}.py", f"{stem}/__init__.py")
        names = {path.rpartition("/")[2] for path in wanted}
        return next((path for name in sorted(names) for path in self._paths(name) if path in wanted), None)

    def _paths(self, name: str) -> tuple[str, ...]:
        return tuple(at.path for at in self.look("path", name))

    def paths_in(self, folder: str) -> tuple[str, ...]:
        """The paths of the known files that stand directly in a folder."""
        return tuple(at.path for at in self.look("folder", folder))

    def definition(self, name: str, path: str, imports: dict[str, str]) -> tuple[str, Definition] | None:
        """What a dotted name used in `path` defines, through that file's imports (and one re-export)."""
        first, _, rest = name.partition(".")
        if first not in imports:
            here = [found for _, found in self.of_file(path).definitions(name.rpartition(".")[2])]
            return next(((path, found) for found in reversed(here) if found.name == name), None)
        target = imports[first] + (f".{rest}" if rest else "")
        return self._defined(target, path, hops=3)

    def _defined(self, target: str, importer: str, hops: int) -> tuple[str, Definition] | None:
        asked = target, importer, hops
        if asked not in self._meant:
            self._meant[asked] = self._find_defined(*asked)
        return self._meant[asked]

    def _find_defined(self, target: str, importer: str, hops: int) -> tuple[str, Definition] | None:
        dots = len(target) - len(target.lstrip("."))
        parts = target[dots:].split(".")
        for cut in range(len(parts) - 1, 0, -1):
            where = self.module("." * dots + ".".join(parts[:cut]), importer)
            if where is None:
                continue
            wanted, there = ".".join(parts[cut:]), self.of_file(where)
            if (meant := self._taken_in(where, wanted)) is not None:
                return meant
            for path, found in there.definitions(parts[-1]):
                if found.name == wanted:
                    return path, found
            again = [at.fact.target for at in there.look("import", parts[-1])]
            if hops and again:
                return self._defined(again[0], where, hops - 1)
        return None

    def _taken_in(self, module: str, wanted: str) -> tuple[str, Definition] | None:
        """What a name of a module defines that takes other modules in whole. As in Python what binds the
        name last counts; None where that is not known, and for a module that takes none in whole."""
        first = wanted.partition(".")[0]
        if not self._space(module).stars:
            return None
        seen: set[str] = set()
        # Where the name may come from, the likeliest last; "" is the end of what is known.
        stack: list[str | tuple[str, Definition]] = [module]
        while stack and (at := stack.pop()):
            if not isinstance(at, str):
                return self._whole(at, wanted)
            if at not in seen:
                seen.add(at)
                stack += self._sources_of(at, first)
        return None

    def _whole(self, owner: tuple[str, Definition], wanted: str) -> tuple[str, Definition] | None:
        path, outer = owner
        if outer.name == wanted:
            return owner
        inner = self.of_file(path).definitions(wanted.rpartition(".")[2])
        return next((one for one in inner if one[1].name == wanted), None)

    def _sources_of(self, module: str, name: str) -> list[str | tuple[str, Definition]]:
        """What may bind a module's name at its top level, in the order in which it does."""
        space, there = self._space(module), self.of_file(module)
        if name in space.unsure or "*" in space.unsure:
            return [""]
        found: list[tuple[int, list[str | tuple[str, Definition]]]] = []
        for path, one in there.definitions(name):
            if one.name == name:
                found.append((one.line, [(path, one)]))
        for at in there.look("import", name):
            if not at.fact.function and at.fact.name == name:
                home = self.module(_home(at.fact.target), module)
                found.append((at.fact.line, ["", home or ""]))
        for line, star in space.stars:
            gives = True if not star else self._space(star).gives(name)
            if gives is None or star == "":
                found.append((line, [""]))
            elif star and gives:
                listed = self._space(star).names.listed is not None
                # What a list names and the module does not define is a module below it, or made at run time.
                found.append((line, ["", star] if listed else [star]))
        return [one for _, held in sorted(found, key=lambda one: one[0]) for one in held]

    def _space(self, module: str) -> Space:
        if module not in self._spaces:
            there = self.of_file(module)
            names = next((at.fact for at in there.look("namespace", "")), _UNREAD)
            taken = [at.fact for at in there.look("import", "*") if not at.fact.function]
            stars = tuple((one.line, self._star(one.target, module)) for one in taken)
            self._spaces[module] = Space(names, frozenset(names.unsure), stars)
        return self._spaces[module]

    def _star(self, target: str, importer: str) -> str | None:
        """The path of a module that is taken in whole, "" for one of the repository's own that it does not
        hold (it is built, or made), None for somebody else's."""
        home = _home(target)
        found = self.module(home, importer)
        if found is not None:
            return found
        is_own = home.startswith(".") or self.module(home.partition(".")[0], importer) is not None
        return "" if is_own else None

    def callers(self, path: str, definition: Definition) -> tuple[tuple[str, Call], ...]:
        """The calls that may run a definition: by its last name, in its own file or in files that import
        that name or its module."""
        last = definition.name.rpartition(".")[2]
        found = self.calls(last)
        if definition.kind == "method":
            return found
        module = path.removesuffix(".py").rpartition("/")[2]
        importing = {at.path for at in (*self.look("import", last), *self.look("import", module))}
        return tuple((where, call) for where, call in found if where == path or where in importing)

    # Records and logs.

    def writers(self, key: str) -> tuple[tuple[str, Key], ...]:
        """Where a record's key is written."""
        return tuple((at.path, at.fact) for at in self.look("written", key))

    def readers(self, key: str) -> tuple[tuple[str, Key], ...]:
        """Where a record's key is read."""
        return tuple((at.path, at.fact) for at in self.look("read", key))

    def attribute_reads(self, name: str) -> tuple[tuple[str, Attribute], ...]:
        """Where an attribute of that name is read."""
        return tuple((at.path, at.fact) for at in self.look("attribute", name))

    def logs(self) -> tuple[tuple[str, Log], ...]:
        """Every log and print call."""
        return tuple((at.path, at.fact) for at in self.look("log", ""))

    def regexes(self) -> tuple[tuple[str, Regex], ...]:
        """Every regular expression that is written as a literal."""
        return tuple((at.path, at.fact) for at in self.look("regex", ""))

    def read_by(self, pattern: str) -> tuple[Reading, ...]:
        """The log calls whose lines a pattern reads, and which value each group gets."""
        found = []
        for path, log in self.logs():
            if log.values:
                groups = groups_of(pattern, log.template, log.values)
                if groups is not None and any(group is not None for group in groups):
                    found.append(Reading(path, log, groups))
        return tuple(found)

    def rebuilds(self) -> tuple[tuple[str, Rebuild], ...]:
        """Every call that is given several attributes of one receiver under their own names."""
        return tuple((at.path, at.fact) for at in self.look("rebuild", ""))

    def mentions(self, name: str) -> tuple[tuple[str, Mention], ...]:
        """Where scripts and CI files name a file or folder, by its last name; patterns are under "*"."""
        return tuple((at.path, at.fact) for at in self.look("mention", name))


_UNREAD = Namespace(None, (), closed=True)


def _home(target: str) -> str:
    """The module that an imported name is taken from: `..` of `..name`."""
    home, _, name = target.rpartition(".")
    return f"{home}." if not home.strip(".") and name and target.startswith(".") else home


def near(path: str, others: Iterable[str]) -> list[str]:
    """Those of `others` that share the most folders with `path`."""
    folders = path.split("/")[:-1]

    def shared(other: str) -> int:
        pairs = zip(folders, other.split("/")[:-1], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    counts = {other: shared(other) for other in others}
    return [other for other, count in counts.items() if count == max(counts.values())]


def _is_module(path: str, tail: str) -> bool:
    return any(path == end or path.endswith("/" + end) for end in (f"{tail}.py", f"{tail}/__init__.py"))
