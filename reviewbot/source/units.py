"""A file as units: each top-level function, each method, each class header, and the rest of the module.

Units come from `ast`, which is cheap; the LibCST tree of a unit is parsed from that unit's own lines,
and only when a rule asks for it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

from reviewbot.errors import UnreadableFile
from reviewbot.model import Span

if TYPE_CHECKING:
    import libcst as cst

    from reviewbot.source.position import Range
    from reviewbot.source.tree import Index

Kind = Literal["function", "method", "class", "module"]
FunctionTree = ast.FunctionDef | ast.AsyncFunctionDef
_Node = TypeVar("_Node", bound="cst.CSTNode")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one walk over a unit's `ast` sees.

    `kinds`: the classes of its nodes. `calls`: the last name of everything called. `names`: every
    identifier that is read, written, imported or used as an attribute or keyword.
    """

    kinds: frozenset[type[ast.AST]]
    calls: frozenset[str]
    names: frozenset[str]


def _facts(roots: list[ast.AST]) -> Facts:
    kinds: set[type[ast.AST]] = set()
    calls: set[str] = set()
    names: set[str] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        kind = type(node)
        kinds.add(kind)
        if kind is ast.Name:
            names.add(node.id)  # type: ignore[attr-defined]
            continue
        if kind is ast.Constant:
            continue
        if kind is ast.Attribute:
            names.add(node.attr)  # type: ignore[attr-defined]
        elif kind is ast.Call:
            function = node.func  # type: ignore[attr-defined]
            if type(function) is ast.Name:
                calls.add(function.id)
            elif type(function) is ast.Attribute:
                calls.add(function.attr)
        elif kind is ast.keyword and node.arg:  # type: ignore[attr-defined]
            names.add(node.arg)  # type: ignore[attr-defined]
        elif kind is ast.alias:
            names.add((node.asname or node.name).split(".")[0])  # type: ignore[attr-defined]
        stack.extend(ast.iter_child_nodes(node))
    return Facts(frozenset(kinds), frozenset(calls), frozenset(names))


class Unit:
    """One function, method, class header or module block of a file.

    For a class the body of its methods is left out, for a module the body of its functions and classes.
    """

    def __init__(
        self,
        file: File,
        kind: Kind,
        name: str,
        tree: FunctionTree | ast.ClassDef | ast.Module,
        line: int,
        end_line: int,
        owner: ast.ClassDef | None = None,
    ) -> None:
        self.file, self.kind, self.name, self.tree = file, kind, name, tree
        self.line, self.end_line, self.owner = line, end_line, owner

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name or self.file.path}:{self.line}>"

    @property
    def indented(self) -> bool:
        """Whether it stands inside a class."""
        return self.owner is not None

    @property
    def is_function(self) -> bool:
        """Whether it is a function or a method."""
        return self.kind in ("function", "method")

    @property
    def is_test(self) -> bool:
        """Whether pytest or unittest would collect it by its name (a `test*` function or method)."""
        return self.is_function and self.tree.name.startswith("test")  # type: ignore[union-attr]

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Its own statements (`ast`): without what other units hold."""
        if self.is_function:
            return self.tree.body
        apart = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return [statement for statement in self.tree.body if not isinstance(statement, apart)]

    @cached_property
    def facts(self) -> Facts:
        """What one walk over it sees."""
        if self.is_function:
            return _facts([self.tree])
        if isinstance(self.tree, ast.ClassDef):
            return _facts([*self.tree.decorator_list, *self.tree.bases, *self.tree.keywords, *self.body])
        return _facts(list(self.body))

    def has(self, *kinds: type[ast.AST]) -> bool:
        """Whether a node of any of these `ast` classes stands in it."""
        return not self.facts.kinds.isdisjoint(kinds)

    def calls(self, *names: str) -> bool:
        """Whether anything with one of these last names is called in it."""
        return not self.facts.calls.isdisjoint(names)

    # From here on LibCST.

    @cached_property
    def module(self) -> cst.Module:
        """The LibCST module that holds this unit alone (for a module unit: the whole file)."""
        return self.file.parse(self)

    @cached_property
    def node(self) -> cst.FunctionDef | cst.ClassDef | cst.Module:
        """The unit's own node. A class unit's node holds its methods too, a module's everything."""
        import libcst as cst

        if self.kind == "module":
            return self.module
        if self.file.whole is not None:
            return self.file.locate(self)
        top = self.module.body[0]
        if self.indented:
            assert isinstance(top, cst.ClassDef)
            top = top.body.body[0]  # type: ignore[assignment]
        assert isinstance(top, (cst.FunctionDef, cst.ClassDef))
        return top

    @cached_property
    def index(self) -> Index:
        """Every node of it by class, with parents."""
        from reviewbot.source.tree import Index

        return Index(self.node)

    def find(self, *kinds: type[_Node]) -> list[_Node]:
        """All nodes of exactly these LibCST classes under it, in source order."""
        return self.index.find(*kinds)  # type: ignore[return-value]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node above, or None for the unit's own node."""
        return self.index.parent(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above, nearest first."""
        return self.index.ancestors(node)

    @cached_property
    def _ranges(self) -> dict[int, Range]:
        from reviewbot.source.position import ranges

        if self.kind == "module" or self.file.whole is not None:
            return ranges(self.module, 0)
        # What stands inside a class was parsed under a class line of our own.
        return ranges(self.module, self.line - (2 if self.indented else 1))

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of this unit stands in the file."""
        found = self._ranges[id(node)]
        return Span(self.file.path, found.line, found.column, found.end_line, found.end_column)

    def text(self, node: cst.CSTNode) -> str:
        """The node's own source text."""
        return self.module.code_for_node(node)


class File:
    """One Python file: its text, its `ast`, its units.

    Raises `UnreadableFile` when it is made from bytes that are not Python.
    """

    def __init__(self, path: str, content: bytes) -> None:
        self.path, self.content = path, content
        self.whole: cst.Module | None = None
        self.tree = self._parse_ast()

    def _parse_ast(self) -> ast.Module:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.content, filename=self.path)
        except SyntaxError as error:
            raise UnreadableFile(self.path, f"not valid Python ({error.msg})", error.lineno) from None
        except ValueError as error:
            raise UnreadableFile(self.path, f"not valid Python ({error})") from None
        except (RecursionError, MemoryError):
            raise UnreadableFile(self.path, "nested too deeply to be parsed") from None

    @cached_property
    def text(self) -> str:
        """The file as text, in the encoding that it declares."""
        import io
        import tokenize

        encoding, _ = tokenize.detect_encoding(io.BytesIO(self.content).readline)
        return self.content.decode(encoding)

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, with their ends, split where Python splits them."""
        import io

        return io.StringIO(self.text, newline="").readlines()

    @cached_property
    def units(self) -> list[Unit]:
        """The module, then functions, classes and their methods in source order (nested classes too)."""
        last = max(1, len(self.lines))
        found = [Unit(self, "module", "", self.tree, 1, last)]
        found.extend(self._below(self.tree.body, "", None))
        return found

    def _below(self, body: list[ast.stmt], prefix: str, owner: ast.ClassDef | None) -> Iterator[Unit]:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                kind: Kind = "method" if owner else "function"
                yield Unit(self, kind, prefix + statement.name, statement, *_lines(statement), owner)
            elif isinstance(statement, ast.ClassDef):
                name = prefix + statement.name
                yield Unit(self, "class", name, statement, *_lines(statement), owner)
                yield from self._below(statement.body, f"{name}.", statement)

    def unit(self, name: str) -> Unit | None:
        """The last function, method or class of that qualified name, as Python would see it."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, Unit]:
        return {unit.name: unit for unit in self.units if unit.kind != "module"}

    @cached_property
    def imports(self) -> dict[str, str]:
        """What each imported name stands for: `{"np": "numpy", "close": "math.isclose"}`."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        found[alias.asname] = alias.name
                    else:
                        found[alias.name.split(".")[0]] = alias.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{base}.{alias.name}" if base else alias.name
        return found

    def parse(self, unit: Unit) -> cst.Module:
        """The LibCST module of one unit's lines; the whole file where those alone are not a module."""
        import libcst as cst

        if unit.kind != "module" and self.whole is None:
            source = "".join(self.lines[unit.line - 1 : unit.end_line])
            try:
                return cst.parse_module("class _:\n" + source if unit.indented else source)
            except cst.ParserSyntaxError:
                pass
        if self.whole is None:
            try:
                self.whole = cst.parse_module(self.content)
            except cst.ParserSyntaxError as error:
                raise UnreadableFile(self.path, "LibCST cannot parse it", error.raw_line) from None
            except RecursionError:
                raise UnreadableFile(self.path, "nested too deeply to be parsed") from None
        return self.whole

    def locate(self, unit: Unit) -> cst.FunctionDef | cst.ClassDef:
        """The unit's node in the whole file's tree."""
        return self._whole_nodes[self.units.index(unit) - 1]

    @cached_property
    def _whole_nodes(self) -> list[cst.FunctionDef | cst.ClassDef]:
        assert self.whole is not None
        return list(_definitions(self.whole.body))


def _definitions(body: Iterable[cst.CSTNode]) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    import libcst as cst

    for statement in body:
        if isinstance(statement, cst.FunctionDef):
            yield statement
        elif isinstance(statement, cst.ClassDef):
            yield statement
            yield from _definitions(statement.body.body)


def _lines(node: FunctionTree | ast.ClassDef) -> tuple[int, int]:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first, node.end_lineno or node.lineno
