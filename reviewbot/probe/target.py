"""What is to be probed, as the user named it."""

from __future__ import annotations

import ast
import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reviewbot.config import hint
from reviewbot.errors import UnreadableFile, UsageError
from reviewbot.probe.mentions import collects
from reviewbot.source.units import File

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "env", "make"})
Kind = Literal["check", "test", "command"]


@dataclass(frozen=True, slots=True)
class Target:
    """A check: a function or method, a pytest test, or a command line.

    `root` is the repository's folder, `path` the file below it, `unit` the qualified name ("" for a
    command), `line` where it is defined, `module` the name under which a test beside it imports it. `case`
    is the id of one case of a parametrised test, with its brackets; "" for all.
    """

    kind: Kind
    root: Path
    path: str
    unit: str
    line: int
    module: str
    sha256: str
    words: tuple[str, ...] = ()
    case: str = ""

    @property
    def name(self) -> str:
        """As the user would name it again."""
        return (
            shlex.join(("python", self.path, *self.words))
            if self.kind == "command"
            else f"{self.path}::{self.unit}{self.case}"
        )


def root_of(path: Path) -> Path:
    """The repository's folder: the nearest at or above `path` with `.git` or a pyproject.toml, or its own."""
    folder = path.resolve().parent
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    for candidate in (folder, *folder.parents):
        if (candidate / "pyproject.toml").is_file():
            return candidate
    return Path.cwd() if folder.is_relative_to(Path.cwd()) else folder


def parse(text: str) -> Target:
    """`path.py::function`, `path.py::Class.method`, `test_file.py::test_name`, `python script.py --a A`.

    Raises UsageError with the way out, UnreadableFile for a file that cannot be parsed.
    """
    if "::" not in text:
        return _command(text)
    place, _, unit = text.partition("::")
    unit, bracket, case = unit.partition("[")
    unit = unit.replace("::", ".")
    path = Path(place)
    file = _file(path)
    found = file.unit(unit)
    if found is not None and found.kind == "class":
        inside = [
            u.name.rpartition(".")[2] for u in file.units if u.is_function and u.name.startswith(f"{unit}.")
        ]
        named = sorted(inside, key=lambda name: not name.startswith("test"))[:6]
        of = f"name one of its functions: {place}::{unit}::{named[0]}" if named else "it has no function"
        more = f", {', '.join(named[1:])}" if len(named) > 1 else ""
        raise UsageError(f"{place}::{unit} is a class; {of}{more}")
    if found is None:
        names = tuple(u.name for u in file.units if u.is_function)
        if not names:
            raise UsageError(f"{place} has no function at all, so none that is called {unit!r}")
        near = hint(unit, names) or f"; it has {', '.join(names[:6])}"
        raise UsageError(f"{place} has no function {unit!r}{near}")
    root = root_of(path)
    relative = path.resolve().relative_to(root).as_posix()
    last = unit.rpartition(".")[2]
    kind: Kind = "test" if last.startswith("test") and collects(root, path) else "check"
    if bracket and kind != "test":
        raise UsageError(f"{place}::{unit} is no test that pytest runs, so that it has no case [{case}")
    line = (
        found.tree.lineno if isinstance(found.tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else found.line
    )
    module = module_name(root, relative)
    return Target(kind, root, relative, unit, line, module, _sha(file.content), case=bracket + case)


def _command(text: str) -> Target:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is neither path.py::function nor a command line ({error})") from None
    if words and Path(words[0]).name.startswith("python"):
        words = words[1:]
    if not words or not words[0].endswith(".py") or len(words) < 2:
        raise UsageError(_no_script(text, words))
    path = Path(words[0])
    file = _file(path)
    root = root_of(path)
    relative = path.resolve().relative_to(root).as_posix()
    return Target("command", root, relative, "", 1, "__main__", _sha(file.content), tuple(words[1:]))


def _no_script(text: str, words: list[str]) -> str:
    """Why no command line that can be probed was given, and which can."""
    form = "[python] SCRIPT.py ARGUMENTS, with the files to be changed among them"
    first = Path(words[0]).name if words else ""
    if first == "-m" and len(words) > 1:
        script = Path(*words[1].split("."))
        file = next(
            (one for one in (script.with_suffix(".py"), script / "__main__.py") if one.is_file()), None
        )
        named = f": name its file, {shlex.join([file.as_posix(), *words[2:]])!r}" if file else ""
        return f"{text!r}: `-m` is not run{named or f'; a command line is {form}'}"
    if first in _SHELLS or first.endswith((".sh", ".bash")):
        why = "a shell is not run, for nothing under probe may start processes"
        return f"{text!r}: {why}: name the Python script that it calls, as {form}"
    if words and words[0].endswith(".py"):
        also = _functions_in(Path(words[0]))
        return f"{text!r} names no file that could be changed: {also}a command line is {form}"
    return f"{text!r} is neither path.py::function nor a command line: that is {form}"


def _functions_in(path: Path) -> str:
    """How a file's functions are named, tests and what is called a comparison first; "" where it has none."""
    names = [unit.name for unit in _file(path).units if unit.is_function]
    names.sort(key=lambda name: (not name.startswith("test"), "compar" not in name and "check" not in name))
    more = f" (or {', '.join(names[1:6])})" if len(names) > 1 else ""
    return f"one of its functions is probed as {path.as_posix()}::{names[0]}{more}, " if names else ""


def _file(path: Path) -> File:
    try:
        return File(path.as_posix(), path.read_bytes())
    except OSError as error:
        raise UnreadableFile(path.as_posix(), f"cannot be read ({error.strerror})") from None


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def module_name(root: Path, path: str) -> str:
    """The dotted name of a file: from its outermost package on, as pytest's default import mode has it."""
    file = root / path
    parts = [file.stem] if file.stem != "__init__" else []
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder != root.parent:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or file.stem
