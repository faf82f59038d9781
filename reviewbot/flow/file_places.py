"""Which file a call of a unit reads or writes, told by the very expression of its path. Reads `ast` only."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewbot.flow.patterns import pattern
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

WRITES = pattern(r"^(dump|save|write|savez?)(z|s|txt|_text|_bytes|_json|_\w+)?$|^to_(csv|json|parquet)$")
READS = pattern(r"^(load|loads|read|open)(txt|_\w+)?$")
COPIES = frozenset({"copy", "copy2", "copyfile", "move", "rename"})
_OF_OWNER = frozenset({"read_text", "read_bytes", "write_text", "write_bytes", "read", "write"})
_SAME_PATH = frozenset({"Path", "PurePath", "str", "fspath", "abspath", "realpath"})
_LIBRARIES = frozenset({
    *("np", "numpy", "torch", "json", "pickle", "yaml", "jnp", "shutil", "filecmp", "os", "io", "pd", "gzip"),
    *("Image", "codecs", "pandas", "safetensors", "joblib", "toml", "tomllib"),
})  # fmt: skip
_MODE = pattern(r"^[rwaxbt+U]{1,3}$")
_OF_RUN = pattern(r"(?i)(^|_)te?mp(_?(path|dir|file|folder))?(_|$)|tempfile|temporary|mkd?s?temp|scratch")


class Places:
    """The files of one unit. Two expressions of one `code` are the same code."""

    def __init__(self, unit: Unit) -> None:
        nodes = list(ast.walk(unit.tree))
        self.code = _codes(nodes)
        self._opened: dict[int, ast.expr] = {}
        self._given: dict[str, list[ast.Assign]] = {}
        self._stored: dict[str, list[int]] = {}
        self._read: dict[int, list[int]] = {}
        told = {id(below) for node in nodes if _tells(node) for below in ast.walk(node)}
        for node in nodes:
            if isinstance(node, (ast.With, ast.AsyncWith)):
                # From the outside to the inside: of two that open under one name the inner one counts.
                self._open(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._given.setdefault(target.id, []).append(node)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._stored.setdefault(node.id, []).append(node.lineno)
            elif isinstance(node, ast.expr) and id(node) not in told and not _is_given(node):
                self._read.setdefault(self.code[id(node)], []).append(node.lineno)
        for lines in (*self._stored.values(), *self._read.values()):
            lines.sort()
        for given in self._given.values():
            given.sort(key=lambda one: one.lineno)
        self._written: dict[tuple[int, ...], int] = {}
        for node in nodes:
            if isinstance(node, ast.Call) and (place := self._written_by(node)):
                self._written[place] = min(node.lineno, self._written.get(place, node.lineno))

    def reading(self, call: ast.Call) -> tuple[int, ...]:
        """What a call reads from; () where that is not seen."""
        return self._of(_paths(call, ())) if READS.search(called_last(call)) else ()

    def writing(self, call: ast.Call, given: ast.expr) -> tuple[int, ...]:
        """Where a call writes what it is given to; () where that is not seen."""
        return self._of(_paths(call, (given,)))

    def path(self, node: ast.expr) -> int:
        """The code of a path, whatever it is called here."""
        return self.code[id(self._resolve(node))]

    def made(self, node: ast.expr, before: int) -> list[ast.expr]:
        """An expression and, where it is a name, what it was last given before a line."""
        if not isinstance(node, ast.Name):
            return [node]
        given = self._given.get(node.id, [])
        at = bisect_right(given, before, key=lambda one: one.lineno)
        return [node, *(one.value for one in given[max(0, at - 3) : at])]

    def is_rebound(self, call: ast.Call, until: int) -> bool:
        """Whether a name in the path that a call reads is given another value between it and a line."""
        names = {
            below.id
            for path in _paths(call, ())
            for one in (path, self._resolve(path))
            for below in ast.walk(one)
            if isinstance(below, ast.Name) and id(below) not in self._opened
        }
        return any(_between(self._stored.get(name, []), call.lineno, until) for name in names)

    def is_of_run(self, call: ast.Call) -> bool:
        """Whether a file that a call reads is made anew in every run: it is in a temporary folder, or was
        written before."""
        if self._written.get(self.reading(call), call.lineno) < call.lineno:
            return True
        return any(map(self.is_temporary, _paths(call, ())))

    def is_temporary(self, path: ast.expr) -> bool:
        """Whether a path leads into a temporary folder."""
        stack, seen = [path], 0
        while stack and seen < 20:
            seen += 1
            for below in ast.walk(self._resolve(stack.pop())):
                name = below.id if isinstance(below, ast.Name) else getattr(below, "attr", "")
                if name and _OF_RUN.search(name):
                    return True
                if isinstance(below, ast.Name) and self._resolve(below) is not below:
                    stack.append(below)
        return False

    def is_read(self, node: ast.expr, branch: ast.If) -> bool:
        """Whether an expression is looked at before or after a branch while it has the same value, other than
        to be shown. One that calls something is looked at anew after the branch."""
        if isinstance(node, ast.Name):
            stored = self._stored.get(node.id, [])
            at = bisect_right(stored, branch.lineno)
            low = stored[at - 1] if at else 0
            high = stored[at] if at < len(stored) else 10**9
        else:
            anew = any(isinstance(below, ast.Call) for below in ast.walk(node))
            low, high = 0, branch.lineno - 1 if anew else 10**9
        lines, end = self._read.get(self.code[id(node)], []), branch.end_lineno or branch.lineno
        return _between(lines, low, min(high, branch.lineno - 1)) or _between(lines, end, high)

    def _open(self, node: ast.With | ast.AsyncWith) -> None:
        names = {
            item.optional_vars.id: item.context_expr
            for item in node.items
            if isinstance(item.optional_vars, ast.Name)
        }
        for statement in node.body if names else ():
            for below in ast.walk(statement):
                if isinstance(below, ast.Name) and below.id in names:
                    self._opened[id(below)] = names[below.id]

    def _written_by(self, call: ast.Call) -> tuple[int, ...]:
        last = called_last(call)
        if last in COPIES and len(call.args) > 1:
            return self._of(call.args[1:2])
        if not WRITES.search(last):
            return ()
        own = last in _OF_OWNER
        return self._of(_paths(call, call.args[:1] if own or last.startswith("dump") else ()))

    def _of(self, paths: list[ast.expr]) -> tuple[int, ...]:
        return tuple(self.code[id(self._resolve(path))] for path in paths)

    def _resolve(self, node: ast.expr) -> ast.expr:
        """The path that an expression is, was given, or was read from."""
        for _ in range(10):
            inner: ast.expr | None = None
            if isinstance(node, ast.Name):
                inner = self._opened.get(id(node))
                given = self._given.get(node.id, [])
                if inner is None and len(given) == len(self._stored.get(node.id, ())) == 1:
                    inner = given[0].value
            elif isinstance(node, ast.Call) and called_last(node) in _SAME_PATH and len(node.args) == 1:
                inner = node.args[0]
            elif isinstance(node, ast.Call) and READS.search(called_last(node)):
                paths = _paths(node, ())
                inner = paths[0] if len(paths) == 1 else None
            if inner is None:
                return node
            node = inner
        return node


@once
def places(unit: Unit) -> Places:
    """The files of a unit."""
    return Places(unit)


def _codes(nodes: list[ast.AST]) -> dict[int, int]:
    """A number for each node: two have the same one where they are the same code."""
    known: dict[tuple[object, ...], int] = {}
    found: dict[int, int] = {}
    # What is below a node comes after it.
    for node in reversed(nodes):
        key = (type(node), *(part for name in node._fields for part in _parts(node, name, found)))
        found[id(node)] = known.setdefault(key, len(known))
    return found


def _parts(node: ast.AST, name: str, found: dict[int, int]) -> Iterator[object]:
    value = getattr(node, name, None)
    if name == "ctx":
        return
    yield name
    for one in value if isinstance(value, list) else (value,):
        yield found[id(one)] if isinstance(one, ast.AST) else (type(one), one)


def _is_given(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))


def _tells(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called_last(node.value) in TELLING
    )


TELLING = frozenset({"print", "warn", "info", "warning", "debug", "log", "error", "mkdir", "exception"})


def _paths(call: ast.Call, given: tuple[ast.expr, ...] | list[ast.expr]) -> list[ast.expr]:
    """The expressions that say which file a call is about, beside what it is given to write."""
    last = called_last(call)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    library = isinstance(owner, ast.Name) and owner.id in _LIBRARIES
    args = [arg for arg in call.args if not _is_mode(arg) and not any(arg is one for one in given)]
    if owner is not None and not library and (last in _OF_OWNER or (last == "open" and not args)):
        return [owner]
    return args[:1] if library or last == "open" else args


def _is_mode(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_MODE.search(node.value))


def _between(lines: list[int], low: int, high: int) -> bool:
    """Whether one of some sorted lines comes after the one line, and not after the other."""
    return bisect_right(lines, high) > bisect_right(lines, low)
