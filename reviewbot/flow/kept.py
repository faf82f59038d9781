"""Whether what is read lies in the repository itself, so that it is there whenever its tests run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.iteration import Iterable
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import dotted, last_name, literal, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_DEPTH = 6
_READING = frozenset({"os", "glob", "re", "json", "yaml", "tomllib", "csv", "fileio", "gfile", "pickle"})
_PATHS = frozenset({"Path", "pathlib", "osp", "open", "str", "sorted", "list"})
_LOADS = pattern(r"(?i)^(read|load|parse|open|from_file)")
_is_constant = pattern(r"^_*[A-Z][A-Z0-9_]+$|^__(file|name)__$").search
# What a run leaves behind, and no repository keeps.
_OF_A_RUN = pattern(r"(?i)(^|[/_])(out|outputs?|te?mp|build|logs?|runs?|dist|cache|artifacts)([/_]|$)")
_SETS_UP = pattern(r"^(setUp|setUpClass|setup|setup_method|setup_class|__init__)$")
_MAKING_PATHS = frozenset({
    "join", "Path", "joinpath", "open", "listdir", "glob", "rglob", "iglob", "scandir", "walk", "sorted",
    "isdir", "exists", "isfile", "abspath", "dirname",
})  # fmt: skip


def is_of_kept(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value comes of a file of the repository: `load("charts/north.chart").rows`."""
    for one in values(unit).slice(node):
        made = one.value
        if not isinstance(made, cst.Call) or not _LOADS.search(last_name(made)) or not made.args:
            continue
        path = literal(made.args[0].value)
        if isinstance(path, str) and "/" in path and _is_relative(path):
            return True
    return False


def is_kept(unit: Unit, loop: cst.CSTNode, found: Iterable) -> bool:
    """Whether a file or folder is read by what a module knows for itself: `DOCS.glob("*.md")`,
    `(ROOT / "README").open()`, `os.listdir("charts/north")`, not by what the test was given or has made."""
    read = found.node
    if not isinstance(read, cst.Call):
        return False
    parts: list[cst.BaseExpression] = [arg.value for arg in read.args[:1]]
    if isinstance(read.func, cst.Attribute) and last_name(read.func.value) not in _READING:
        parts = [read.func.value]
    ends = set[str]().union(*(_ends(found.unit, part, _DEPTH) for part in parts))
    if "" in ends:
        return False
    if any(map(_is_constant, ends)):
        return True
    written = [part for part in parts for text in _texts(found.unit, part) if _is_relative(text)]
    return bool(written) and ends <= _READING | _PATHS and not _is_made(unit, loop, parts)


def _ends(unit: Unit, node: cst.BaseExpression, depth: int) -> set[str]:
    """The names that a value is made from in the end; an empty one for a parameter."""
    found: set[str] = set()
    flow, own = values(unit), set[int]()
    for below in walk(node):
        if isinstance(below, cst.Attribute) and dotted(below.value) in ("self", "cls"):
            own.add(id(below.value))
            found.add("__file__" if _is_own_path(unit, below.attr.value) else "")
    for name in flow.reads(node):
        if id(name) in own:
            continue
        bound = flow.reaching(name)
        given = [one.value for one in bound if one.kind in ("assign", "with", "loop")]
        if depth and given and len(given) == len(bound):
            found |= set[str]().union(*(_ends(unit, one, depth - 1) for one in given if one is not None))
        else:
            found.add("" if bound else name.value)
    return found


def _is_own_path(unit: Unit, name: str) -> bool:
    """Whether a class of tests, or its setup, gives an attribute a path that is written out."""
    for statement in unit.owner.body if unit.owner is not None else ():
        inside = [statement]
        if isinstance(statement, ast.FunctionDef) and _SETS_UP.search(statement.name):
            inside = list(statement.body)
        for one in inside:
            if isinstance(one, ast.Assign) and any(_names(target) == name for target in one.targets):
                return _is_plain_path(one.value, inside)
    return False


def _names(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else ""


def _is_plain_path(value: ast.expr, beside: list[ast.stmt], depth: int = _DEPTH) -> bool:
    """Whether a path is written out, also by names that the statements beside it give such paths."""
    local = {
        target.id: one.value
        for one in beside
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_relative(node.value):
            return False
        if not isinstance(node, ast.Name) or node.id in _READING | _PATHS or _is_constant(node.id):
            continue
        if not depth or node.id not in local or not _is_plain_path(local[node.id], beside, depth - 1):
            return False
    return True


def _is_relative(text: str) -> bool:
    return not text.startswith(("/", "~", "\\")) and ":" not in text and not _OF_A_RUN.search(text)


def _texts(unit: Unit, node: cst.BaseExpression) -> Iterator[str]:
    """The texts that are written out in a value, and in what its names were given."""
    made = [one.value for one in values(unit).slice(node) if one.value is not None]
    for part in (node, *made):
        for below in walk(part):
            value = literal(below) if isinstance(below, cst.SimpleString) else None
            if isinstance(value, str):
                yield value


def _is_made(unit: Unit, loop: cst.CSTNode, parts: list[cst.BaseExpression]) -> bool:
    """Whether the place that is read is handed to something else outside of the loop, to be written."""
    names = {one.name for part in parts for one in values(unit).slice(part)}
    texts = {text for part in parts for text in _texts(unit, part)}
    for call in unit.find(cst.Call):
        if unit.holds(loop, call) or last_name(call) in _MAKING_PATHS:
            continue
        for arg in call.args:
            if (isinstance(arg.value, cst.Name) and arg.value.value in names) or literal(arg.value) in texts:
                return True
    return False
