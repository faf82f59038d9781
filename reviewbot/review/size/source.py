"""Python source as bytes, with cuts that leave it Python.

Positions are those of `ast`: lines from 1, columns in bytes.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

# Calls that only look: without their results they need not be made.
PURE = frozenset({
    "len", "range", "zip", "enumerate", "sorted", "reversed", "items", "keys", "values", "list", "tuple",
    "set", "dict", "frozenset", "compile", "Path", "namedtuple", "partial", "TypeVar", "get", "getLogger",
    "split", "product", "chain", "join",
})  # fmt: skip
_WORDS = re.compile(r"[A-Za-z_]\w*")
_Body = list[ast.stmt]


class NoCut(Exception):
    """The cut cannot be made so that Python remains."""


@dataclass(frozen=True)
class Source:
    """One content of a Python file. Raises NoCut where it is none, or where `ast` counts other lines."""

    content: bytes

    @cached_property
    def tree(self) -> ast.Module:
        """Its tree."""
        if self.content.startswith(b"\xef\xbb\xbf") or b"\r" in self.content.replace(b"\r\n", b""):
            raise NoCut("it has a byte order mark or lone carriage returns")
        try:
            self.content.decode()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.content)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NoCut(f"it would not parse ({error.__class__.__name__})") from None

    @cached_property
    def lines(self) -> list[bytes]:
        """Its lines with their ends."""
        return self.content.splitlines(keepends=True)

    @cached_property
    def names(self) -> Counter[str]:
        """How often each identifier is written, words in strings included: a string may name something."""
        return names(self.tree)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node above each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def without_lines(self, first: int, last: int) -> Source:
        """Without these lines."""
        return Source(b"".join([*self.lines[: first - 1], *self.lines[last:]]))

    def replaced(self, start: tuple[int, int], end: tuple[int, int], text: bytes = b"") -> Source:
        """With `text` in the place of what stands from (line, column) to (line, column)."""
        before = b"".join(self.lines[: start[0] - 1]) + self.lines[start[0] - 1][: start[1]]
        after = self.lines[end[0] - 1][end[1] :] + b"".join(self.lines[end[0] :])
        return Source(before + text + after)

    def statement(self, first: int, last: int) -> ast.stmt | None:
        """The outermost statement that stands exactly on these lines, its decorators included."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and extent(node) == (first, last):
                return node
        return None

    def around(self, first: int, last: int) -> ast.stmt | None:
        """The innermost statement that holds all of these lines."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt):
                start, end = extent(node)
                if start <= first and last <= end:
                    found = node
        return found


def names(tree: ast.AST) -> Counter[str]:
    """Every identifier below a node, and the words of its strings."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.arg | ast.keyword):
            found[node.arg or ""] += 1
        elif isinstance(node, ast.alias):
            found.update((node.asname or node.name).split("."))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(_WORDS.findall(node.value))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
    return found


def extent(node: ast.stmt) -> tuple[int, int]:
    """First and last line, decorators included."""
    decorators = [one.lineno for one in getattr(node, "decorator_list", ())]
    return min([node.lineno, *decorators]), node.end_lineno or node.lineno


def is_pure(node: ast.AST) -> bool:
    """Whether evaluating an expression does nothing but give a value, as far as its text says. Keys and
    indexes count as checks: they raise where there is nothing."""
    for below in ast.walk(node):
        if isinstance(below, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Subscript):
            return False
        if isinstance(below, ast.Call):
            called = below.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name not in PURE:
                return False
    return True


def delete(source: Source, node: ast.stmt) -> Source:
    """Without a statement; without what stands around it too where that was there for it alone.

    Raises NoCut where it shares a line with another statement.
    """
    node, block = _outermost(source, node)
    first, last = extent(node)
    neighbours = [other for other in block if other is not node]
    if any(extent(other)[0] <= last and first <= extent(other)[1] for other in neighbours):
        raise NoCut("it shares a line with another statement")
    if not neighbours and block is not source.tree.body:
        line = source.lines[first - 1]
        nothing = line[: len(line) - len(line.lstrip())] + b"pass" + _end(source, last)
        return source.replaced((first, 0), (last, len(source.lines[last - 1])), nothing)
    first = _with_comments(source, first)
    lines = source.lines
    if _is_definition(node) or last >= len(lines):
        # The blank lines above go with a definition; those below keep the distance of what follows.
        while first > 1 and not lines[first - 2].strip():
            first -= 1
    else:
        last += min(_blank(reversed(lines[: first - 1])), _blank(lines[last:]))
    return source.without_lines(first, last)


def _blank(lines: Iterable[bytes]) -> int:
    """How many empty lines come first."""
    return sum(1 for _ in takewhile(lambda line: not line.strip(), lines))


def _end(source: Source, line: int) -> bytes:
    text = source.lines[line - 1]
    return text[len(text.rstrip(b"\r\n")) :]


def _with_comments(source: Source, first: int) -> int:
    """The line from which the comments right above a line of the same depth start."""
    line = source.lines[first - 1]
    depth = len(line) - len(line.lstrip())
    while first > 1:
        above = source.lines[first - 2]
        if not above.lstrip().startswith(b"#") or len(above) - len(above.lstrip()) != depth or first == 2:
            break
        first -= 1
    return first


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _outermost(source: Source, node: ast.stmt) -> tuple[ast.stmt, _Body]:
    """The statement that goes when `node` does, and the block that it stands in."""
    while True:
        above = source.parents[node]
        block = next(body for body in _bodies(above) if node in body)
        if len(block) > 1 or not _only_for_its_body(above):
            return node, block
        assert isinstance(above, ast.stmt)
        node = above


def _bodies(node: ast.AST) -> Iterator[_Body]:
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield body
    for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from _bodies(handler)


def _only_for_its_body(node: ast.AST) -> bool:
    if isinstance(node, ast.For):
        return not node.orelse and is_pure(node.iter)
    return isinstance(node, ast.If) and not node.orelse and is_pure(node.test)


def without_element(source: Source, elements: Iterable[tuple[ast.AST, ast.AST]], number: int) -> Source:
    """Without one of the comma-separated things in brackets, given in order as (first node, last node)."""
    listed = list(elements)
    first, last = listed[number]
    if number + 1 < len(listed):
        after = listed[number + 1][0]
        return source.replaced(_start(first), _start(after))
    if number:
        return source.replaced(stop(listed[number - 1][1]), stop(last))
    start, end = _start(first), stop(last)
    line = source.lines[end[0] - 1][end[1] :]
    trailing = re.match(rb"\s*,", line)
    return source.replaced(start, (end[0], end[1] + (trailing.end() if trailing else 0)))


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def stop(node: ast.AST) -> tuple[int, int]:
    """Where a node ends: line and column."""
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
