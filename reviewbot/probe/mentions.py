"""Which test files could reach a function, and which tests speak of it that pytest never runs."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from reviewbot.errors import UnreadableFile
from reviewbot.flow import collection
from reviewbot.source.files import OnDisk
from reviewbot.source.project import PytestSettings, pytest_settings
from reviewbot.source.units import File, Unit

MOST_TEST_FILES = 12
MOST_FILES_LOOKED_AT = 8_000
MOST_SAID = 3
_SKIPPED_FOLDERS = frozenset({"node_modules", "build", "dist", "site-packages", "venv"})


@dataclass(frozen=True, slots=True)
class Function:
    """A function to record: its file and qualified name. Of a test the values of its calls are recorded."""

    path: Path
    unit: str
    is_test: bool = False


@lru_cache(maxsize=512)
def settings(root: Path, folder: Path) -> PytestSettings:
    """pytest's options for a folder of a repository; its defaults where no file has any."""
    files = OnDisk(str(root))
    for above in (folder, *folder.parents):
        found = pytest_settings(files, str(above))
        if found is not None or above == root:
            return found or PytestSettings()
    return PytestSettings()


def collects(root: Path, path: Path) -> bool:
    """Whether pytest takes a file for one of tests."""
    whole = path.resolve()
    shown = (
        whole.relative_to(root.resolve()).as_posix() if whole.is_relative_to(root.resolve()) else path.name
    )
    return settings(root.resolve(), whole.parent).collects_file(shown)


def tests_for(root: Path, functions: Sequence[Function]) -> list[Path]:
    """Test files that name one of the functions or its file's module, nearest first."""
    module, name = _module(functions), _name(functions)
    found = []
    own = {function.path.resolve() for function in functions}
    for path, text in _texts(root):
        if not collects(root, path):
            continue
        # A file need not name itself to use what it defines.
        at_home = path.resolve() in own and len(name.findall(text)) > 1
        score = 2 * bool(name.search(text)) + (at_home or bool(module.search(text)))
        if score >= 2 or (score == 1 and path.resolve() not in own):
            near = len(os.path.commonpath([path.resolve(), functions[0].path.resolve()]))
            found.append((-score, -near, str(path), path))
    found.sort()
    if any(score <= -3 for score, *_ in found):
        found = [one for one in found if one[0] <= -3]
    return [path for *_, path in found[:MOST_TEST_FILES]]


def never_run(root: Path, functions: Sequence[Function]) -> tuple[str, ...]:
    """Tests that name one of the functions and that pytest does not collect, each with the reason."""
    name = _name(functions)
    out: list[str] = []
    own = {(function.path.resolve(), function.unit) for function in functions}
    for path, text in _texts(root):
        if len(out) >= MOST_SAID or not name.search(text):
            continue
        try:
            file = File(path.as_posix(), text.encode())
        except UnreadableFile:
            continue
        for unit in file.units:
            if unit.is_function and (path.resolve(), unit.name) not in own and name.search(_body(unit)):
                why = _why_not(root, path, file, unit)
                if why:
                    shown = path.resolve().relative_to(root.resolve()).as_posix()
                    out.append(f"{shown}:{unit.line} {unit.name} mentions it, but {why}")
                    break
    return tuple(out[:MOST_SAID])


def _why_not(root: Path, path: Path, file: File, unit: Unit) -> str:
    """Why pytest does not run a function that looks like a test; "" where it does, or it is no test."""
    options = settings(root.resolve(), path.resolve().parent)
    holder, _, last = unit.name.rpartition(".")
    named = options.collects_function(last)
    if not collects(root, path):
        if not named or "." in holder:
            return ""
        return f"pytest collects only files called {_or(options.python_files)}"
    if not holder:
        looks = bool(re.match(r"_*(check|verify|tests?|tset|should|it)_", last)) and not _called(file, last)
        return (
            f"pytest runs only functions called {_or(options.python_functions, '*')}"
            if (looks and not named)
            else ""
        )
    tree = next((one.tree for one in file.units if one.name == holder and one.kind == "class"), None)
    if not named or not isinstance(tree, ast.ClassDef):
        return ""
    why = collection.owner(tree, file, options)
    if why == "none":
        return f"pytest collects only classes called {_or(options.python_classes, '*')} and unittest's own"
    if why == "pytest" and any(isinstance(n, ast.FunctionDef) and n.name == "__init__" for n in tree.body):
        return f"pytest collects no class with an __init__, as {holder} has"
    return ""


def _called(file: File, name: str) -> bool:
    return any(isinstance(node.func, ast.Name) and node.func.id == name for node in file.asts(ast.Call))


def _or(patterns: Sequence[str], end: str = "") -> str:
    return " or ".join(pattern if "*" in pattern else pattern + end for pattern in patterns)


def _body(unit: Unit) -> str:
    body = getattr(unit.tree, "body", [])
    return "\n".join(ast.unparse(statement) for statement in body)


def _module(functions: Sequence[Function]) -> re.Pattern[str]:
    words = {function.path.stem for function in functions}
    return re.compile(r"\b(" + "|".join(map(re.escape, sorted(words))) + r")\b")


def _name(functions: Sequence[Function]) -> re.Pattern[str]:
    names = {part for function in functions for part in (_last(function.unit), _first(function.unit))}
    return re.compile(r"\b(" + "|".join(map(re.escape, sorted(names))) + r")\b")


def _last(unit: str) -> str:
    return unit.rpartition(".")[2]


def _first(unit: str) -> str:
    return unit.partition(".")[0]


def _texts(root: Path) -> Iterator[tuple[Path, str]]:
    """The Python files of a repository with their text."""
    looked = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS
        )
        for name in sorted(files):
            looked += 1
            if looked > MOST_FILES_LOOKED_AT:
                return
            path = Path(folder) / name
            # Whoever opens a named pipe waits for its other end for ever.
            if name.endswith(".py") and path.is_file():
                try:
                    yield path, path.read_text(encoding="utf-8", errors="replace")
                except OSError:
                    continue
