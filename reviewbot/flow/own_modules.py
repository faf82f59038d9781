"""Which modules are the repository's own, and what else they need to be imported."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File

_ROOTS = frozenset({"", ".", "src", "lib", "python", "source"})
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")
_MODULES = 25  # of the repository's own, that are followed for what they need


def own_module(target: str, importer: str, repo: Repo) -> str | None:
    """The path of the repository's own module that an import of `target` in `importer` gets; None for a
    library's, also where a file of the repository happens to be called like it."""
    path = repo.index.module(target, importer)
    if path is None or target.startswith("."):
        return path
    tail = target.replace(".", "/")
    stem = path.removesuffix(".py").removesuffix("/__init__")
    root = stem.removesuffix(tail).rstrip("/")
    if root == importer.rpartition("/")[0] and repo.read(f"{root}/__init__.py".lstrip("/")) is None:
        return path  # beside a file that is no module of a package
    if root.rpartition("/")[2] in _ROOTS or any(repo.read(f"{root}/{name}") for name in _PROJECT):
        return path
    return None


def needs(path: str, repo: Repo) -> frozenset[str]:
    """The libraries, by their first names, that importing a module of the repository imports, straight or
    through its own modules, tried or not. The standard library is left out, and what is imported later."""
    found: set[str] = set()
    queue, seen = [path], {path}
    while queue and len(seen) < _MODULES:
        libraries, own = repo.once(_imports, queue.pop())
        found |= libraries
        for near in own:
            if near not in seen:
                seen.add(near)
                queue.append(near)
    return frozenset(found - sys.stdlib_module_names)


def _imports(repo: Repo, path: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The libraries, by their first names, and the repository's own modules that one module imports."""
    libraries: set[str] = set()
    own: dict[str, None] = {}
    file = repo.file(path)
    for target in _imported(file) if file is not None else ():
        if target.startswith("."):
            # `from . import rows` and `from .rows import Row` alike.
            near = repo.index.module(target, path) or repo.index.module(target.rpartition(".")[0], path)
        else:
            near = _own(target, path, repo)
        if near is not None:
            own[near] = None
        elif not target.startswith("."):
            libraries.add(target.partition(".")[0])
    return frozenset(libraries), tuple(own)


def _own(target: str, importer: str, repo: Repo) -> str | None:
    found = own_module(target, importer, repo)
    return found or (own_module(target.rpartition(".")[0], importer, repo) if "." in target else None)


def _imported(file: File) -> list[str]:
    """What a module's own statements import, also in a `try`: modules, or names in them."""
    found = []
    blocks = [node for node in file.tree.body if isinstance(node, ast.Try)]
    for node in [*file.tree.body, *(below for block in blocks for below in block.body)]:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            dot = "" if base.endswith(".") else "."
            found += [f"{base}{dot}{alias.name}" for alias in node.names]
    return found
