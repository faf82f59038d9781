"""What a target imports, as far as its files say: which installed packages its child must be able to read."""

from __future__ import annotations

import ast
import tomllib
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from reviewbot.probe.inside import cut
from reviewbot.probe.target import Target

MOST_FILES = 200
# Packages whose mere import reserves gigabytes of address space.
HEAVY = frozenset({"torch", "jax", "tensorflow", "vllm", "ray", "triton", "cupy"})


def search_paths(root: Path, path: str) -> list[str]:
    """Where imports of the repository's own files are looked for: beside the file, `src`, where its settings
    say, the root."""
    folder = (root / path).parent
    while (folder / "__init__.py").is_file() and folder != root:
        folder = folder.parent
    said = [
        place
        for place in (root / name for name in _said(root))
        if place.resolve().is_relative_to(root.resolve())
    ]
    found = [folder, root / "src", *said, root]
    return list(dict.fromkeys(str(place) for place in found if place.is_dir()))


def _said(root: Path) -> list[str]:
    """The folders that pytest's `pythonpath` and setuptools' `where` and `package-dir` name."""
    try:
        tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError, RecursionError):
        return []
    found: list[object] = []
    for keys in (
        ("pytest", "ini_options", "pythonpath"),
        ("setuptools", "packages", "find", "where"),
        ("setuptools", "package-dir", ""),
    ):
        value = tool
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        found += value if isinstance(value, list) else [value]
    return [name for name in found if isinstance(name, str)]


def packages(target: Target, also: Iterable[str] = ()) -> frozenset[str]:
    """The top-level names, neither standard nor the repository's, that the target's own part and the
    repository's files that it imports ask for."""
    search = [Path(place) for place in search_paths(target.root, target.path)]
    start = target.root / target.path
    tree = _tree(start)
    if tree is None:
        return frozenset()
    roots = [target.unit.partition(".")[0], *also] if target.unit else []
    try:
        part = cut.cut(tree, roots) if roots else tree
    except LookupError:
        part = tree
    return _asked_for([(part, start)], search, certain=False)


def certain_packages(root: Path, files: Iterable[Path]) -> frozenset[str]:
    """The top-level names, neither standard nor the repository's, that files import for sure: no
    `except ImportError` is around them."""
    found: set[str] = set()
    for file in files:
        tree = _tree(file)
        if tree is not None:
            search = [Path(place) for place in search_paths(root, str(file.relative_to(root)))]
            found |= _asked_for([(tree, file)], search, certain=True)
    return frozenset(found)


def _asked_for(todo: list[tuple[ast.Module, Path]], search: list[Path], *, certain: bool) -> frozenset[str]:
    """Names of packages in these trees, and in the repository's files that they import."""
    found: set[str] = set()
    seen = {file for _, file in todo}
    while todo and len(seen) < MOST_FILES:
        tree, file = todo.pop()
        for module, level, names in cut.imports(tree, certain=certain):
            files = _files(module, level, names, file, search)
            if not files and not level and module and not cut.is_standard(module.partition(".")[0]):
                found.add(module.partition(".")[0])
            for other in files - seen:
                seen.add(other)
                parsed = _tree(other)
                if parsed is not None:
                    todo.append((parsed, other))
    return frozenset(found)


def _files(module: str, level: int, names: tuple[str, ...], file: Path, search: list[Path]) -> set[Path]:
    parts = module.split(".") if module else []
    starts = [file.parents[level - 1]] if 0 < level <= len(file.parents) else search
    found: set[Path] = set()
    for start in starts:
        base = start.joinpath(*parts)
        for candidate in (base.with_suffix(".py") if parts else base / "__init__.py", base / "__init__.py"):
            if candidate.is_file():
                found.add(candidate)
        found |= {base / f"{name}.py" for name in names if name != "*" and (base / f"{name}.py").is_file()}
        if found:
            break
    return found


@cache
def _tree(path: Path) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
