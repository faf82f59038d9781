"""The facts of one Python file, in one walk over its `ast`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from reviewbot.index.facts import (
    SOURCE_LIMIT,
    Attribute,
    Call,
    Class,
    ClassKind,
    Definition,
    Facts,
    Field,
    Import,
    Key,
    Log,
    Rebuild,
    Regex,
    clean,
)
from reviewbot.index.namespace import namespace_of
from reviewbot.index.templates import log_of
from reviewbot.source.held import Held
from reviewbot.source.shape import shape_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RE_FUNCTIONS = frozenset({
    "compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split",
})  # fmt: skip
_GETTERS = frozenset({"get", "pop"})
_GROUP = re.compile(r"\((\?P<|\\|\[|\.)")  # text that holds it is taken for a pattern, whoever compiles it
_DEFAULT_KEYS = ("default", "default_factory", "factory")


def facts_of(tree: ast.Module, content: bytes, *, of_tests: bool = False) -> Facts:
    """What a parsed file says. `content` is what `tree` was parsed from; in a file of tests the tests have no
    shapes, because nobody writes one again as a function."""
    walk = _Walk(content, of_tests)
    walk.body(tree.body, "", None)
    return msgspec.structs.replace(walk.facts(), namespaces=(namespace_of(tree, content),))


def dotted(node: ast.AST) -> str:
    """`a.b.c` for attributes on a name; for attributes on anything else the attributes alone, after a dot."""
    if type(node) is ast.Name:
        return node.id
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))


class _Walk:
    def __init__(self, content: bytes, of_tests: bool) -> None:
        self._lines = content.splitlines()
        self._of_tests = of_tests
        self._definitions: list[Definition] = []
        self._classes: list[Class] = []
        self._calls: list[Call] = []
        self._logs: list[Log] = []
        self._regexes: list[Regex] = []
        self._written: list[Key] = []
        self._read: list[Key] = []
        self._attributes: list[Attribute] = []
        self._imports: list[Import] = []
        self._rebuilds: list[Rebuild] = []

    def facts(self) -> Facts:
        return Facts(
            tuple(self._definitions),
            tuple(self._classes),
            tuple(self._calls),
            tuple(self._logs),
            tuple(self._regexes),
            tuple(self._written),
            tuple(self._read),
            tuple(self._attributes),
            tuple(self._imports),
            (),
            tuple(self._rebuilds),
        )

    def source(self, node: ast.AST) -> str:
        """The node as the file writes it, on one line."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        if first > len(self._lines) or last > len(self._lines):
            return ""
        if first == last:
            raw = self._lines[first - 1][start:end]
        else:
            between = self._lines[first : last - 1]
            raw = b" ".join([self._lines[first - 1][start:], *between, self._lines[last - 1][:end]])
        text = raw.decode("utf-8", "replace")
        return (text if first == last else " ".join(text.split()))[:SOURCE_LIMIT]

    # Statements and definitions.

    def body(self, body: list[ast.stmt], function: str, owner: str | None) -> None:
        for statement in body:
            if isinstance(statement, _FUNCTIONS):
                self._function(statement, function, owner)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement, function, owner)
            else:
                self._below(statement, function, owner)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, function: str, owner: str | None
    ) -> None:
        prefix = owner if owner is not None else function
        name = f"{prefix}.{node.name}" if prefix else node.name
        arguments = node.args
        positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        keyword = [argument.arg for argument in arguments.kwonlyargs]
        required = len(positional) - len(arguments.defaults)
        required += sum(default is None for default in arguments.kw_defaults)
        is_test = self._of_tests and node.name.startswith("test")
        shape, size = ("", 0) if is_test else shape_of(node)
        self._definitions.append(
            Definition(
                name,
                "method" if owner is not None else "function",
                _first_line(node),
                node.end_lineno or node.lineno,
                (*positional, *keyword),
                required,
                tuple(dotted(_called(decorator)) for decorator in node.decorator_list),
                shape,
                size,
            )
        )
        for outside in (*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)):
            self._below(outside, function, owner)
        self.body(node.body, name, None)

    def _class(self, node: ast.ClassDef, function: str, owner: str | None) -> None:
        prefix = owner if owner is not None else function
        name = f"{prefix}.{node.name}" if prefix else node.name
        decorators = tuple(dotted(_called(decorator)) for decorator in node.decorator_list)
        line, end_line = _first_line(node), node.end_lineno or node.lineno
        self._definitions.append(Definition(name, "class", line, end_line, decorators=decorators))
        bases = tuple(dotted(_called(base)) for base in node.bases)
        kind = _kind(decorators, bases)
        fields = tuple(self._fields(node, kind))
        self._classes.append(Class(name, line, end_line, kind, bases, fields))
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self._below(outside, function, owner)
        self.body(node.body, function, name)

    def _fields(self, node: ast.ClassDef, kind: str) -> Iterator[Field]:
        if kind == "plain":
            yield from self._set_in_init(node)
            return
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                annotation = self.source(statement.annotation)
                if "ClassVar" not in annotation:
                    yield self._field(statement, statement.target.id, annotation)
            elif kind == "attrs" and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                called = dotted(_called(statement.value))
                if isinstance(target, ast.Name) and called in (
                    "attr.ib",
                    "attrs.field",
                    "field",
                    "attr.field",
                ):
                    yield self._field(statement, target.id, "")

    def _field(self, statement: ast.AnnAssign | ast.Assign, name: str, annotation: str) -> Field:
        value = statement.value
        default = None if value is None else self.source(value)
        compared = taken = True
        if isinstance(value, ast.Call):
            given = {keyword.arg: keyword.value for keyword in value.keywords}
            if dotted(value.func).rpartition(".")[2] in ("field", "ib", "Field"):
                held = next((given[key] for key in _DEFAULT_KEYS if key in given), None)
                held = held or (value.args[0] if value.args else None)
                default = None if held is None else self.source(held)
                if value.args and isinstance(value.args[0], ast.Constant) and value.args[0].value is ...:
                    default = None
            off = given.get("compare", given.get("eq"))
            compared = not (isinstance(off, ast.Constant) and off.value is False)
            init = given.get("init")
            taken = not (isinstance(init, ast.Constant) and init.value is False)
        return Field(name, statement.lineno, default, compared, annotation, taken)

    def _set_in_init(self, node: ast.ClassDef) -> Iterator[Field]:
        """What a plain `__init__` stores of its own parameters, one field a parameter."""
        init = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
        if init is None:
            return
        positional = (*init.args.posonlyargs, *init.args.args)
        defaults: dict[str, ast.expr] = {}
        for argument, value in zip(reversed(positional), reversed(init.args.defaults), strict=False):
            defaults[argument.arg] = value
        for argument, given in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True):
            if given is not None:
                defaults[argument.arg] = given
        known = {argument.arg: argument for argument in (*positional[1:], *init.args.kwonlyargs)}
        stored = {
            node.attr
            for node in ast.walk(init)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for name, argument in known.items():
            if name in stored or f"_{name}" in stored:
                default = self.source(defaults[name]) if name in defaults else None
                annotation = self.source(argument.annotation) if argument.annotation else ""
                yield Field(name, argument.lineno, default, True, annotation)

    # Expressions.

    def _below(self, root: ast.AST, function: str, owner: str | None) -> None:
        stack: list[Any] = [root]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in _LEAVES:
                continue
            # Most nodes are of the next two kinds.
            if kind is ast.Call:
                self._call(node, function)
                called = node.func
                stack.append(called.value if type(called) is ast.Attribute else called)
                stack += node.args
                for keyword in node.keywords:
                    stack.append(keyword.value)
                continue
            if kind is ast.Attribute:
                value = node.value
                if type(node.ctx) is ast.Load:
                    self._attributes.append(Attribute(node.attr, function, node.lineno, dotted(value)))
                stack.append(value)
                continue
            if kind in _FUNCTIONS:
                self._function(node, function, owner)
                continue
            if kind is ast.ClassDef:
                self._class(node, function, owner)
                continue
            if kind is ast.Subscript:
                self._subscript(node, function)
            elif kind is ast.Assign:
                self._assign(node, function)
            elif kind is ast.Dict:
                self._dict(node, function)
            elif kind is ast.Import or kind is ast.ImportFrom:
                self._import(node, function)
                continue
            for held in _HELD[kind](node):
                if type(held) is list:
                    stack += held
                else:
                    stack.append(held)

    def _subscript(self, node: ast.Subscript, function: str) -> None:
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and type(node.ctx) is ast.Load:
            self._read.append(Key(clean(key.value), function, node.lineno, dotted(node.value)))

    def _dict(self, node: ast.Dict, function: str) -> None:
        for given, value in zip(node.keys, node.values, strict=True):
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                self._written.append(Key(clean(given.value), function, given.lineno, self.source(value)))

    def _import(self, node: ast.Import | ast.ImportFrom, function: str) -> None:
        base = ""
        if isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base += "" if base.endswith(".") else "."
        for alias in node.names:
            target = f"{base}{alias.name}"
            self._imports.append(Import(alias.asname or alias.name, target, node.lineno, function))

    def _assign(self, node: ast.Assign, function: str) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                key = target.slice.value
                if isinstance(key, str):
                    self._written.append(Key(clean(key), function, target.lineno, self.source(node.value)))
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            self._regex(value, function, target.id if not function else "")
        elif isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            self._text(value, function, target.id if not function else "")

    def _text(self, node: ast.Constant, function: str, name: str) -> None:
        if isinstance(node.value, str) and _GROUP.search(node.value):
            end = node.end_lineno or node.lineno
            self._regexes.append(Regex(function, node.lineno, end, clean(node.value), name))

    def _call(self, node: ast.Call, function: str) -> None:
        name = dotted(node.func)
        line = node.lineno
        end_line = node.end_lineno or line
        self._calls.append(Call(name, function, line, end_line))
        if len(node.keywords) > 1:
            self._rebuild(node, name, function)
        last = name.rpartition(".")[2]
        first = node.args[0] if node.args else None
        if last in _RE_FUNCTIONS:
            known = self._regexes[-1] if self._regexes else None
            if known is None or (known.line, known.end_line) != (line, end_line):
                self._regex(node, function, "")
        elif last in _GETTERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
            receiver = dotted(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            self._read.append(Key(clean(first.value), function, line, receiver))
        elif last == "setdefault" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            value = self.source(node.args[1]) if len(node.args) > 1 else "None"
            self._written.append(Key(clean(first.value), function, line, value))
        log = log_of(node, name, self.source)
        if log is not None:
            template, values, extra = log
            self._logs.append(Log(function, line, end_line, template, values, extra))
            # A structured logger writes its keywords as a record; a dict's keys are written as such anyhow.
            keywords = {keyword.arg for keyword in node.keywords} - {"extra"}
            self._written += [
                Key(one.name, function, line, one.source) for one in extra if one.name in keywords
            ]

    def _rebuild(self, node: ast.Call, name: str, function: str) -> None:
        carried: dict[str, list[str]] = {}
        for keyword in node.keywords:
            value = keyword.value
            if isinstance(value, ast.Attribute) and value.attr == keyword.arg:
                carried.setdefault(dotted(value.value), []).append(value.attr)
        for receiver, names in carried.items():
            if len(names) > 1 and receiver and not receiver.startswith("."):
                given = tuple(keyword.arg or "**" for keyword in node.keywords)
                end = node.end_lineno or node.lineno
                self._rebuilds.append(
                    Rebuild(name, function, node.lineno, end, receiver, tuple(names), given)
                )

    def _regex(self, node: ast.Call, function: str, name: str) -> None:
        called = dotted(node.func)
        if called.rpartition(".")[2] not in _RE_FUNCTIONS or not node.args:
            return
        pattern = node.args[0]
        if called.partition(".")[0] not in ("re", "regex") and called not in _RE_FUNCTIONS:
            return
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
            line, end_line = node.lineno, node.end_lineno or node.lineno
            self._regexes.append(Regex(function, line, end_line, clean(pattern.value), name))


def _called(node: ast.AST) -> ast.AST:
    """What is called, for a call; a base or decorator as it stands, for anything else."""
    if isinstance(node, ast.Call):
        return node.func
    return node.value if isinstance(node, ast.Subscript) else node


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _kind(decorators: tuple[str, ...], bases: tuple[str, ...]) -> ClassKind:
    ends = {name.rpartition(".")[2] for name in decorators}
    if "dataclass" in ends:
        return "dataclass"
    if ends & {"define", "frozen", "mutable", "attrs"} or (decorators and decorators[0] == "attr.s"):
        return "attrs"
    above = {name.rpartition(".")[2] for name in bases}
    if "NamedTuple" in above:
        return "namedtuple"
    if "TypedDict" in above:
        return "typeddict"
    return "pydantic" if above & {"BaseModel", "BaseSettings"} else "plain"


# What holds no nodes, and what a walk meets that has none under it.
_NOT_NODES = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "level", "module", "name", "asname"})
_LEAVES = frozenset({ast.Name, ast.Constant, type(None), str, int, bool})
_HELD = Held(_NOT_NODES, last_first=True)
