"""Brings the code under probe into this process, wired to the switchboard."""

from __future__ import annotations
import __future__

import ast
import gc
import importlib.abc
import importlib.machinery
import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reviewbot.probe.inside import cut, stubs
from reviewbot.probe.inside.sites import SWITCHBOARD, Site, instrument
from reviewbot.probe.inside.switchboard import Switchboard

# How many star imports lead from one to another before they are taken to bind anything.
MOST_STARS = 8


class CannotLoad(Exception):
    """The target cannot be brought in; the message says why."""


@dataclass(frozen=True)
class Place:
    """Where the target stands: `root` the repository, `path` relative to it, `unit` its qualified name.

    `module` is the name under which the repository's own tests import it. `also` are further top-level
    names of the file that its inputs need (classes of recorded objects).
    """

    root: str
    path: str
    unit: str
    module: str
    also: tuple[str, ...] = ()
    search: tuple[str, ...] = ()


@dataclass
class Loaded:
    """The target, and how it came in: `cut` (its lines of `of` lines) or whole."""

    function: Callable[..., Any] | None
    lines: int
    of: int
    whole: bool
    module: types.ModuleType = field(default_factory=lambda: types.ModuleType("none"))


Rewrite = Callable[[ast.Module, str], ast.Module]


class Loading:
    """Everything of the repository that was loaded, and its sites in order."""

    def __init__(self, root: str, search: Sequence[str], switchboard: Switchboard) -> None:
        self.root = os.path.realpath(root)
        self.switchboard = switchboard
        self.sites: list[Site] = []
        self.absent = stubs.Finder()
        self.target: tuple[str, str] | None = None
        self.rewrite: Rewrite | None = None
        # Files that are run as they are: a producer is not the check.
        self.unwired: set[str] = set()
        # Files whose content is another than on disk: {relative path: text}.
        self.instead: dict[str, str] = {}
        # Whether a statement that fails while a file is imported leaves stubs in the place of its names; and
        # those that did, each with its error.
        self.lenient = False
        # Whether constants and operations are wired too.
        self.figures = False
        # Whether no check and no branch is wired at all.
        self.bare = False
        self.broken: list[str] = []
        self._relative: dict[str, str | None] = {}
        sys.path[:0] = search
        sys.meta_path.insert(0, _Finder(self))
        sys.meta_path.append(self.absent)

    def relative(self, path: str) -> str | None:
        """The path below the root with forward slashes, None outside it and in installed packages."""
        if path not in self._relative:
            real = os.path.realpath(path)
            ours = real.startswith(self.root + os.sep) and "site-packages" not in real
            self._relative[path] = os.path.relpath(real, self.root).replace(os.sep, "/") if ours else None
        return self._relative[path]

    def compile(self, tree: ast.Module, path: str) -> types.CodeType:
        """Code of a file of the repository, its sites added to the list."""
        return _compiled(self.wired(tree, path), path)

    def wired(self, tree: ast.Module, path: str) -> ast.Module:
        """The tree of a file of the repository with its sites wired and added to the list."""
        relative = self.relative(path) or path
        # A tree is many small objects, none of which is garbage yet.
        gc.disable()
        try:
            return self._wired(tree, relative)
        finally:
            gc.enable()

    def _wired(self, tree: ast.Module, relative: str) -> ast.Module:
        for name, level, _ in cut.imports(tree, certain=True):
            if not level:
                self.absent.wanted.add(name.partition(".")[0])
        unit = self.target[1] if self.target and self.target[0] == relative else None
        if self.rewrite and unit:
            tree = self.rewrite(tree, unit)
        if not self.bare and relative not in self.unwired:
            tree, sites = instrument(tree, relative, len(self.sites), unit, figures=self.figures)
            self.sites.extend(sites)
        return tree

    def execute(self, tree: ast.Module, path: str, names: dict[str, Any]) -> None:
        """Runs a file's code. Where that is lenient, what fails is left out and its names become stubs.

        So a device or a server that is missing fails only what asks for it.
        """
        with stubs.importing():
            if not self.lenient:
                exec(self.compile(tree, path), names)
                return
            later = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in tree.body)
            for statement in self.wired(tree, path).body:
                try:
                    exec(_compiled(ast.Module([statement], []), path, later=later), names)
                except (Exception, SystemExit) as error:
                    self._stand_in(statement, path, names, error)

    def _stand_in(self, statement: ast.stmt, path: str, names: dict[str, Any], error: BaseException) -> None:
        where = f"{self.relative(path)}:{statement.lineno}"
        self.broken.append(f"{where} ({type(error).__name__}: {str(error)[:100]})")
        for name in cut.bound(statement):
            names.setdefault(name, stubs.stand_in(f"{names.get('__name__', '')}.{name}"))

    def source(self, path: str) -> bytes:
        """A file's content."""
        instead = self.instead.get(self.relative(path) or "")
        if instead is not None:
            return instead.encode()
        with open(path, "rb") as file:
            return file.read()

    def load_target(self, place: Place) -> Loaded:
        """`load` for the function whose returned value is the verdict."""
        self.target = (place.path, place.unit)
        return self.load(place)

    def load(self, place: Place) -> Loaded:
        """A function cut out; its whole file if that does not run. Raises `CannotLoad`."""
        path = os.path.join(self.root, place.path)
        try:
            source = self.source(path)
            tree = parse(source, path)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            raise CannotLoad(f"{place.path} cannot be read: {error}") from None
        total = source.count(b"\n") + 1
        roots = [place.unit.partition(".")[0], *place.also]
        failures = []
        for whole, self.lenient in ((False, False), (True, False), (False, True), (True, True)):
            before, modules = len(self.sites), set(sys.modules)
            self.broken.clear()
            try:
                part = (
                    tree
                    if whole
                    else cut.cut(
                        parse(source, path), roots, lambda star, names: self._gives(star, names, path)
                    )
                )
                lines = total if whole else sum((s.end_lineno or s.lineno) - s.lineno + 1 for s in part.body)
                module = self.run(part, place.module, path)
                return Loaded(_inside(module, place.unit), lines, total, whole, module)
            except BaseException as error:
                if isinstance(error, (KeyboardInterrupt, MemoryError)):
                    raise
                # What was imported meanwhile counts its sites from where the next attempt begins again.
                del self.sites[before:]
                for name in set(sys.modules) - modules:
                    if isinstance(getattr(sys.modules[name], "__loader__", None), _Loader):
                        del sys.modules[name]
                failures.append(f"{type(error).__name__}: {str(error)[:200]}")
        raise CannotLoad(f"{place.path} does not run here: {'; whole: '.join(failures[:2])}")

    def _gives(self, star: ast.ImportFrom, names: frozenset[str], path: str, deep: int = 0) -> bool:
        """Whether a star import in a file may bind one of these names: for sure not, where the module it
        takes them from is a file of the repository that says so."""
        found = _file_of(star, path, sys.path)
        if found is None or self.relative(found) is None or deep > MOST_STARS:
            return True
        try:
            exported, stars = cut.exported(parse(self.source(found), found))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return True
        return bool(exported & names) or any(self._gives(one, names, found, deep + 1) for one in stars)

    def load_script(self, place: Place) -> tuple[Loaded, types.CodeType]:
        """A whole file as code that can be run again and again. Raises `CannotLoad`."""
        path = os.path.join(self.root, place.path)
        try:
            source = self.source(path)
            code = self.compile(parse(source, path), path)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            raise CannotLoad(f"{place.path} cannot be read: {error}") from None
        lines = source.count(b"\n") + 1
        return Loaded(None, lines, lines, True), code

    def run(self, tree: ast.Module, name: str, path: str) -> types.ModuleType:
        """A module of that tree, found under `name` by whoever imports it."""
        module = types.ModuleType(name)
        module.__file__ = path
        package = name.rpartition(".")[0]
        module.__package__ = package
        if package:
            with stubs.importing():
                importlib.import_module(package)
        if not self.bare or self.rewrite:
            module.__dict__[SWITCHBOARD] = self.switchboard
        sys.modules[name] = module
        # Its package may have imported the file as well; nobody calls that copy of the target.
        relative = self.relative(path)
        self.sites[:] = [
            replace(site, kind="branch", form="copy", escape="") if site.path == relative else site
            for site in self.sites
        ]
        self.execute(tree, path, module.__dict__)
        return module


def _file_of(statement: ast.ImportFrom, path: str, search: Sequence[str]) -> str | None:
    """The Python file that a `from ... import` in a file takes from."""
    parts = (statement.module or "").split(".") if statement.module else []
    if statement.level:
        folder = path
        for _ in range(statement.level):
            folder = os.path.dirname(folder)
        search = [folder]
    for place in search:
        base = os.path.join(place, *parts)
        for found in (base + ".py", os.path.join(base, "__init__.py")):
            if os.path.isfile(found):
                return found
    return None


def _compiled(tree: ast.Module, path: str, *, later: bool = False) -> types.CodeType:
    """Code of a tree; with `later`, annotations are not looked at, as the import from `__future__` has it."""
    flags = __future__.annotations.compiler_flag if later else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: types.CodeType = compile(tree, path, "exec", flags, dont_inherit=True)
        return code


def parse(source: bytes | str, path: str) -> ast.Module:
    """The tree of a file, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, filename=path)


def _inside(module: types.ModuleType, unit: str) -> Callable[..., Any]:
    found: Any = module
    for part in unit.split("."):
        owner, found = found, getattr(found, part)
        if isinstance(owner, type) and isinstance(owner.__dict__.get(part), property):
            found = owner.__dict__[part].fget
    if not callable(found):
        raise CannotLoad(f"{unit} is not a function")
    return found  # type: ignore[no-any-return]


class _Finder(importlib.abc.MetaPathFinder):
    """Wires every file of the repository that is imported."""

    def __init__(self, loading: Loading) -> None:
        self.loading = loading

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The usual spec, with our loader if the file is the repository's."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        if self.loading.relative(spec.origin) is None:
            return None
        spec.loader = _Loader(name, spec.origin, self.loading)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, loading: Loading) -> None:
        super().__init__(name, path)
        self.loading = loading

    def get_code(self, fullname: str) -> types.CodeType:
        """The file's code, wired; never from a cache."""
        return self.loading.compile(parse(self.loading.source(self.path), self.path), self.path)

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs it, with stubs at rest."""
        if not self.loading.bare:
            module.__dict__[SWITCHBOARD] = self.loading.switchboard
        self.loading.execute(parse(self.loading.source(self.path), self.path), self.path, module.__dict__)
