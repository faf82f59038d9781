"""A file as units: each top-level function, each method, each class header, and the rest of the module.

Units come from `ast`, which is cheap; the LibCST tree of a unit is parsed from that unit's own lines,
and only when a rule asks for it.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from reviewbot.errors import UnreadableFile
from reviewbot.model import Span
from reviewbot.source.files import python_encoding, python_text
from reviewbot.source.held import Held
from reviewbot.source.newer import tree_of

if TYPE_CHECKING:
    import libcst as cst

    from reviewbot.source.position import Positions
    from reviewbot.source.tree import Index

Kind = Literal["function", "method", "class", "module", "script", "settings"]
SCRIPTS = (".sh", ".bash", ".jq")
SETTINGS = (".yml", ".yaml")
NOTEBOOK = ".ipynb"
FunctionTree = ast.FunctionDef | ast.AsyncFunctionDef
_Node = TypeVar("_Node", bound="cst.CSTNode")
_Tree = TypeVar("_Tree", bound=ast.AST)
_Answer = TypeVar("_Answer")
_Asked = TypeVar("_Asked", bound="Unit | File")
_What = TypeVar("_What")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one walk over a unit's `ast` sees.

    `kinds`: the classes of its nodes. `calls`: the last name of everything called. `names`: every
    identifier that is read, written, imported or used as an attribute or keyword. `stored`: for each name
    that is written or deleted, the nodes that do it. `nodes`: its nodes by class, except names and constants;
    in no order. `depth`: how many levels of nodes lie under one another; a chain of `elif` is one level.
    `arms`: how many `elif` there are. `size`: how many nodes.
    """

    kinds: Set[type[ast.AST]]
    calls: Set[str]
    names: Set[str]
    stored: dict[str, list[ast.Name]]
    nodes: dict[type[ast.AST], list[ast.AST]]
    depth: int
    arms: int
    size: int


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


# What holds no nodes; contexts (load, store) are left out of every walk.
_NOT_NODES = frozenset({
    "ctx", "id", "attr", "arg", "asname", "level", "module", "kind", "type_comment", "conversion", "rest",
})  # fmt: skip
_HELD = Held(_NOT_NODES)
# Operators, under which nothing stands.
_EMPTY = frozenset({
    *ast.cmpop.__subclasses__(), *ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(),
    *ast.boolop.__subclasses__(),
})  # fmt: skip
# Whose lists hold other things beside nodes: names, and None for what is not given.
_MIXED = frozenset({ast.Dict, ast.arguments, ast.Global, ast.Nonlocal, ast.MatchClass})


def below(node: ast.AST) -> list[ast.AST]:
    """The nodes right under an `ast` node, contexts left out. Half the cost of `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    kind = type(node)
    for value in _HELD[kind](node):
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)] if kind in _MIXED else value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walked(node: ast.AST) -> Iterator[ast.AST]:
    """A node and every node under it in the order of `ast.walk`, contexts left out, at half its cost."""
    level = [node]
    while level:
        yield from level
        level = [inner for outer in level for inner in below(outer)]


def _facts(roots: list[ast.AST], *, nested: bool) -> Facts:
    """Facts of everything under `roots`; without `nested`, a definition is seen and not entered."""
    leaves: set[type[ast.AST]] = set()
    calls: set[str] = set()
    names: set[str] = set()
    stored: dict[str, list[ast.Name]] = {}
    nodes: dict[type[ast.AST], list[ast.AST]] = {}
    depth = arms = size = 0
    level: list[Any] = roots
    while level:
        depth += 1
        size += len(level)
        under: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is ast.Name:
                leaves.add(kind)
                names.add(node.id)
                if type(node.ctx) is not ast.Load:
                    stored.setdefault(node.id, []).append(node)
                continue
            if kind is ast.Constant:
                leaves.add(kind)
                continue
            if not nested:
                if kind in _DEFINITIONS:
                    leaves.add(kind)
                    continue
                if kind is ast.If and _asks_whether_main(node):
                    leaves.add(kind)
                    names.add("__name__")
                    under += node.body
                    under += node.orelse
                    continue
            if kind in nodes:
                nodes[kind].append(node)
            else:
                nodes[kind] = [node]
            # Most nodes are of these kinds: what stands under them is read without a look at their fields.
            if kind is ast.Attribute:
                names.add(node.attr)
                under.append(node.value)
            elif kind is ast.Call:
                function = node.func
                if type(function) is ast.Name:
                    calls.add(function.id)
                elif type(function) is ast.Attribute:
                    calls.add(function.attr)
                under.append(function)
                under += node.args
                under += node.keywords
            elif kind is ast.Expr or kind is ast.Starred:
                under.append(node.value)
            elif kind is ast.keyword:
                if node.arg:
                    names.add(node.arg)
                under.append(node.value)
            elif kind is ast.Assign:
                under += node.targets
                under.append(node.value)
            elif kind is ast.If:
                under.append(node.test)
                under += node.body
                after = node.orelse
                while (further := _elif(node, after)) is not None:
                    arms += 1
                    nodes[kind].append(further)
                    under.append(further.test)
                    under += further.body
                    after = further.orelse
                under += after
            elif kind is ast.Tuple or kind is ast.List:
                under += node.elts
            elif kind is ast.BinOp:
                under += (node.left, node.op, node.right)
            elif kind is ast.Subscript:
                under += (node.value, node.slice)
            elif kind is ast.Compare:
                under.append(node.left)
                under += node.ops
                under += node.comparators
            elif kind is ast.arg:
                if node.annotation is not None:
                    under.append(node.annotation)
            elif kind not in _EMPTY:
                if kind is ast.alias:
                    names.add((node.asname or node.name).split(".")[0])
                under += below(node)
        level = under
    return Facts(leaves.union(nodes), calls, names, stored, nodes, depth, arms, size + arms)


def _elif(node: ast.If, after: list[ast.stmt]) -> ast.If | None:
    """The `elif` that an `if` goes on with, or the `elif` before it, after which `after` stands."""
    if len(after) == 1 and isinstance(after[0], ast.If) and after[0].col_offset == node.col_offset:
        return after[0]
    return None  # Under an `else` it stands further in, or on the line of the `else`.


def _asks_whether_main(node: ast.AST) -> bool:
    """Whether an `if` asks whether the module is run as a program. Nothing else is to be learnt from it, and
    nearly every module has one."""
    test = node.test  # type: ignore[attr-defined]
    return type(test) is ast.Compare and type(test.left) is ast.Name and test.left.id == "__name__"


# LibCST's parser takes quadratic time over nested expressions, and ends the process where they are nested
# some thousands deep. The deepest unit of the standard library's tests has 31 levels.
DEEPEST = 150


# What can hold a definition without being one.
_BLOCKS = (
    *(ast.If, ast.Try, ast.TryStar, ast.ExceptHandler, ast.With, ast.AsyncWith),
    *(ast.For, ast.AsyncFor, ast.While, ast.Match, ast.match_case),
)


class Unit:
    """One function, method, class header or module block of a file.

    A function's unit holds the functions defined inside it. A class's or a module's unit ends where another
    unit begins: it sees that a function or class is defined there, not what stands in it. Functions and
    classes under an `if`, `try`, `with`, loop or `match` are units like those that stand free.
    `is_function`: it is a function or a method. `is_test`: pytest or unittest would collect it by its name.
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
        self.is_function = kind in ("function", "method")
        self.is_test = self.is_function and tree.name.startswith("test")  # type: ignore[union-attr]
        self.answers: dict[Callable[..., Any], Any] = {}  # see `once`
        self._offset = 0
        self._top: cst.FunctionDef | cst.ClassDef | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name or self.file.path}:{self.line}>"

    @property
    def indented(self) -> bool:
        """Whether it stands inside a class, an `if` or another block."""
        return self.tree is not self.file.tree and self.tree.col_offset > 0  # type: ignore[union-attr]

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Its own statements (`ast`): without the functions and classes that are units of their own.

        A block such as `if` that holds such a function is here as a whole.
        """
        if self.is_function:
            return self.tree.body
        return [statement for statement in self.tree.body if not isinstance(statement, _DEFINITIONS)]

    @cached_property
    def facts(self) -> Facts:
        """What one walk over it sees."""
        if self.is_function:
            return _facts([self.tree], nested=True)
        if isinstance(self.tree, ast.ClassDef):
            header = [*self.tree.decorator_list, *self.tree.bases, *self.tree.keywords]
            found = _facts([*header, *self.tree.body], nested=False)
            found.nodes.setdefault(ast.ClassDef, []).append(self.tree)
            return found
        return _facts(list(self.tree.body), nested=False)

    def has(self, *kinds: type[ast.AST]) -> bool:
        """Whether a node of any of these `ast` classes stands in it."""
        return not self.facts.kinds.isdisjoint(kinds)

    def asts(self, kind: type[_Tree]) -> list[_Tree]:
        """Its `ast` nodes of exactly that class, in no order; not for names and constants."""
        return self.facts.nodes.get(kind, [])  # type: ignore[return-value]

    def calls(self, *names: str) -> bool:
        """Whether anything with one of these last names is called in it."""
        return not self.facts.calls.isdisjoint(names)

    def calls_any(self, says: Callable[[str], object]) -> bool:
        """Whether `says` holds for the last name of anything that is called in it."""
        return not self.file.told_calls[says].isdisjoint(self.facts.calls)

    def names_any(self, says: Callable[[str], object]) -> bool:
        """Whether `says` holds for any name in it."""
        return not self.file.told_names[says].isdisjoint(self.facts.names)

    def calls_of(self, names: frozenset[str]) -> list[ast.Call]:
        """The calls in it of anything with one of these last names, in no order."""
        if names.isdisjoint(self.facts.calls):
            return []
        return [call for name, calls in self._calls_by_name.items() if name in names for call in calls]

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.asts(ast.Call):
            found.setdefault(called_last(call), []).append(call)
        return found

    # From here on LibCST.

    @cached_property
    def module(self) -> cst.Module:
        """The LibCST module that holds this unit alone (for a module unit: the whole file).

        Raises `UnreadableFile` where it is nested deeper than `DEEPEST`, or LibCST cannot parse it.
        """
        if self.facts.depth > DEEPEST:
            what = f"`{self.name}`" if self.name else "the module"
            why = f"{what} is nested more than {DEEPEST} levels deep"
            raise UnreadableFile(self.file.path, why, self.line)
        if self.kind != "module" and (alone := self._alone()) is not None:
            # What stands in a block was parsed under a line of our own.
            self._offset = self.line - (2 if self.indented else 1)
            return alone
        return self.file.whole

    def _alone(self) -> cst.Module | None:
        """The module parsed from this unit's lines, or None where those alone do not say the same."""
        import libcst as cst

        block = "class _:\n" if self.owner else "if _:\n"
        source = "".join(self.file.lines[self.line - 1 : self.end_line])
        try:
            with self.file.parsing():
                module = cst.parse_module(block + source if self.indented else source)
        except (cst.ParserSyntaxError, RecursionError):
            return None
        body = module.body
        if self.indented and isinstance(body[0], (cst.ClassDef, cst.If)):
            body = body[0].body.body  # type: ignore[assignment]
        top = body[0] if len(body) == 1 else None
        if not isinstance(top, (cst.FunctionDef, cst.ClassDef)):
            return None
        self._top = top
        return module

    @cached_property
    def node(self) -> cst.FunctionDef | cst.ClassDef | cst.Module:
        """The unit's own node. A class unit's node holds its methods too, a module's everything."""
        module = self.module
        if self.kind == "module":
            return module
        return self._top or self.file.locate(self)

    @cached_property
    def index(self) -> Index:
        """Every node of this unit by class, with parents.

        In a class or module unit the functions and classes that are units of their own are there as
        nodes, and nothing that stands in them.
        """
        from reviewbot.source.tree import Index

        return Index(self.node, nested=self.is_function)

    def find(self, *kinds: type[_Node]) -> list[_Node]:
        """All nodes of exactly these LibCST classes under it, in source order."""
        return self.index.find(*kinds)  # type: ignore[return-value]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node above, or None for the unit's own node."""
        return self.index.parent(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above, nearest first."""
        return self.index.ancestors(node)

    def holds(self, outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
        """Whether one node is the other or stands above it. Costs the same at every depth."""
        return self.index.holds(outer, inner)

    @cached_property
    def _positions(self) -> Positions:
        from reviewbot.source.position import Positions

        module = self.module
        return Positions(module, self._offset)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of this unit stands in the file."""
        found = self._positions.range(node)
        return Span(self.file.path, found.line, found.column, found.end_line, found.end_column)

    def text(self, node: cst.CSTNode) -> str:
        """The node's own source text."""
        return self.module.code_for_node(node)


def called_last(call: ast.Call) -> str:
    """The last name of what is called: "" where it has none."""
    function = call.func
    if type(function) is ast.Attribute:
        return function.attr
    return function.id if type(function) is ast.Name else ""


def root_of(node: ast.expr) -> str:
    """The name at the left of a path, "" where there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def once(ask: Callable[[_Asked], _Answer]) -> Callable[[_Asked], _Answer]:
    """Makes a question about a unit or file one that is worked out once: it keeps the answer itself."""

    @wraps(ask)
    def answer(about: _Asked) -> _Answer:
        answers = about.answers
        if ask in answers:
            found: _Answer = answers[ask]
            return found
        made = answers[ask] = ask(about)
        return made

    return answer


def once_for_each(
    ask: Callable[[_Asked, _What], _Answer],
) -> Callable[[_Asked, _What], _Answer]:
    """The same for a question about something in a unit or file: one answer is kept for each, by identity."""

    @wraps(ask)
    def answer(about: _Asked, what: _What) -> _Answer:
        answers: dict[int, tuple[_What, _Answer]] = about.answers.setdefault(ask, {})
        known = answers.get(id(what))
        if known is None:
            known = answers[id(what)] = what, ask(about, what)
        return known[1]

    return answer


class Told(dict["Callable[[str], object]", frozenset[str]]):
    """By a question those of some `names` for which it holds, each asked about at the first look."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __missing__(self, says: Callable[[str], object]) -> frozenset[str]:
        self[says] = found = frozenset(filter(_remembered(says), self.names))
        return found


@cache
def _remembered(says: Callable[[str], object]) -> Callable[[str], object]:
    """The same question, which keeps its answers: the files of a repository share most of their names."""
    return lru_cache(_ANSWERS)(says)


_ANSWERS = 8_000  # of each question; a file of a thousand lines has five hundred names


class File:
    """One Python file: its text, its `ast`, its units.

    `tree` is what its content was parsed into already, if it was. `parses` and `parse_seconds` say how often
    LibCST was asked to parse, and the processor time of that.
    Raises `UnreadableFile` when it is made from bytes that are not Python.
    """

    def __init__(self, path: str, content: bytes, tree: ast.Module | None = None) -> None:
        self.path, self.content = path, content
        self.answers: dict[Callable[..., Any], Any] = {}  # see `once`
        self.whole_if_parsed: cst.Module | None = None
        self.parses = 0
        self.parse_seconds = 0.0
        self.tree = tree or self._parse_ast()
        _ = self.text  # What Python reads and we cannot is found out now.

    def _parse_ast(self) -> ast.Module:
        if self.path.endswith(NOTEBOOK):
            # Its JSON may be a valid expression of Python, in which there is nothing to be found.
            raise UnreadableFile(self.path, "a notebook is not read; jupyter nbconvert makes Python of it")
        try:
            return tree_of(self.path, self.content)
        except SyntaxError as error:
            raise UnreadableFile(self.path, f"not valid Python ({error.msg})", error.lineno) from None
        except ValueError as error:
            raise UnreadableFile(self.path, f"not valid Python ({error})") from None
        except (RecursionError, MemoryError):
            raise UnreadableFile(self.path, "nested too deeply to be parsed") from None

    @contextmanager
    def parsing(self) -> Iterator[None]:
        """Counts what is parsed inside."""
        started = time.process_time()
        try:
            yield
        finally:
            self.parses += 1
            self.parse_seconds += time.process_time() - started

    def close(self) -> None:
        """Lets go of everything. A file and its units hold one another: without this their memory would stay
        until Python looks for such circles, which costs a tenth of a run."""
        if "sketched" in self.__dict__:
            self.sketched.close()
        for unit in self.__dict__.get("units", ()):
            unit.__dict__.clear()
        self.__dict__.clear()

    @cached_property
    def encoding(self) -> str:
        """The encoding that it declares, UTF-8 without one."""
        return python_encoding(self.path, self.content)

    @cached_property
    def text(self) -> str:
        """The file as text."""
        return python_text(self.path, self.content)

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

    def _below(self, body: Iterable[ast.AST], prefix: str, owner: ast.ClassDef | None) -> Iterator[Unit]:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                kind: Kind = "method" if owner else "function"
                yield Unit(self, kind, prefix + statement.name, statement, *_lines(statement), owner)
            elif isinstance(statement, ast.ClassDef):
                name = prefix + statement.name
                yield Unit(self, "class", name, statement, *_lines(statement), owner)
                yield from self._below(statement.body, f"{name}.", statement)
            elif isinstance(statement, _BLOCKS):
                yield from self._below(ast.iter_child_nodes(statement), prefix, owner)

    def unit(self, name: str) -> Unit | None:
        """The last function, method or class of that qualified name, as Python would see it."""
        return self._by_name.get(name)

    def unit_of(self, tree: ast.AST) -> Unit | None:
        """The unit of a function or class of the file, None for one that stands in a function."""
        return self._by_tree.get(id(tree))

    def calling(self, name: str) -> list[Unit]:
        """The units in which something of that last name is called, in the order of `units`."""
        return self._calling.get(name, [])

    @cached_property
    def _calling(self) -> dict[str, list[Unit]]:
        found: dict[str, list[Unit]] = {}
        for unit in self.units:
            for name in unit.facts.calls:
                found.setdefault(name, []).append(unit)
        return found

    def naming(self, name: str) -> list[Unit]:
        """The units in which that name is read, written or used as an attribute, in the order of `units`."""
        return self._naming.get(name, [])

    @cached_property
    def _naming(self) -> dict[str, list[Unit]]:
        found: dict[str, list[Unit]] = {}
        for unit in self.units:
            for name in unit.facts.names:
                found.setdefault(name, []).append(unit)
        return found

    def methods(self, owner: ast.ClassDef | None) -> list[Unit]:
        """The methods of a class of the file, in source order."""
        return self._methods.get(id(owner), [])

    @cached_property
    def _methods(self) -> dict[int, list[Unit]]:
        found: dict[int, list[Unit]] = {}
        for unit in self.units:
            if unit.kind == "method":
                found.setdefault(id(unit.owner), []).append(unit)
        return found

    @cached_property
    def _by_tree(self) -> dict[int, Unit]:
        return {id(unit.tree): unit for unit in self.units}

    @cached_property
    def _by_name(self) -> dict[str, Unit]:
        return {unit.name: unit for unit in self.units if unit.kind != "module"}

    @cached_property
    def imports(self) -> dict[str, str]:
        """What each imported name stands for: `{"np": "numpy", "close": "math.isclose"}`."""
        found: dict[str, str] = {}
        nodes: list[ast.Import | ast.ImportFrom] = [*self.asts(ast.Import), *self.asts(ast.ImportFrom)]
        for node in sorted(nodes, key=lambda one: (one.lineno, one.col_offset)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        found[alias.asname] = alias.name
                    else:
                        found[alias.name.split(".")[0]] = alias.name.split(".")[0]
            else:
                base = "." * node.level + (f"{node.module}." if node.module else "")
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{base}{alias.name}"
        return found

    def asts(self, kind: type[_Tree]) -> list[_Tree]:
        """All `ast` nodes of exactly that class, unit by unit; not for names and constants. Costs no walk of
        its own."""
        return [node for unit in self.units for node in unit.asts(kind)]

    def calls_that(self, says: Callable[[str], object]) -> frozenset[str]:
        """The last names of what is called in the file for which `says` holds. Each name is asked about once,
        for all units."""
        return self.told_calls[says]

    def names_that(self, says: Callable[[str], object]) -> frozenset[str]:
        """The names in the file for which `says` holds. Each name is asked about once, for all units."""
        return self.told_names[says]

    def calls(self, *names: str) -> bool:
        """Whether anything with one of these last names is called in the file."""
        return not self.told_calls.names.isdisjoint(names)

    def names(self, *names: str) -> bool:
        """Whether any of these names is read, written or used as an attribute in the file."""
        return not self.told_names.names.isdisjoint(names)

    def calls_any(self, says: Callable[[str], object]) -> bool:
        """Whether `says` holds for the last name of anything that is called in the file."""
        return bool(self.told_calls[says])

    def names_any(self, says: Callable[[str], object]) -> bool:
        """Whether `says` holds for any name in the file."""
        return bool(self.told_names[says])

    @cached_property
    def told_calls(self) -> Told:
        """`calls_that`, as a table."""
        return Told(frozenset().union(*(unit.facts.calls for unit in self.units)))

    @cached_property
    def told_names(self) -> Told:
        """`names_that`, as a table."""
        return Told(frozenset().union(*(unit.facts.names for unit in self.units)))

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes of the file by name, wherever they stand; of several of one name the last."""
        found = sorted(self.asts(ast.ClassDef), key=lambda one: one.lineno)
        return {node.name: node for node in found}

    @cached_property
    def whole(self) -> cst.Module:
        """The LibCST module of the whole file. Raises `UnreadableFile` where LibCST cannot parse it."""
        import libcst as cst

        if any(unit.facts.depth > DEEPEST for unit in self.units):
            raise UnreadableFile(self.path, f"nested more than {DEEPEST} levels deep")
        try:
            with self.parsing():
                self.whole_if_parsed = cst.parse_module(self.content)
        except cst.ParserSyntaxError as error:
            raise UnreadableFile(self.path, "LibCST cannot parse it", error.raw_line) from None
        except RecursionError:
            raise UnreadableFile(self.path, "nested too deeply to be parsed") from None
        return self.whole_if_parsed

    @cached_property
    def sketched(self) -> File:
        """The same file with units whose nodes are sketched from `ast`. See `reviewbot.source.sketch`."""
        from reviewbot.source.sketch import SketchedFile

        return SketchedFile(self)

    def locate(self, unit: Unit) -> cst.FunctionDef | cst.ClassDef:
        """The unit's node in the whole file's tree."""
        return self._whole_nodes[self.units.index(unit) - 1]

    @cached_property
    def _whole_nodes(self) -> list[cst.FunctionDef | cst.ClassDef]:
        return list(_definitions(self.whole))


class Script(File):
    """A file in another language: its lines, and one unit of kind "script" (or "settings", of YAML) without a
    tree."""

    def _parse_ast(self) -> ast.Module:
        return ast.Module(body=[], type_ignores=[])

    @cached_property
    def text(self) -> str:
        """The file as text; what is not UTF-8 becomes replacement characters."""
        return self.content.decode("utf-8", "replace")

    @cached_property
    def units(self) -> list[Unit]:
        """The file as a whole."""
        kind: Kind = "settings" if self.path.endswith(SETTINGS) else "script"
        return [Unit(self, kind, "", self.tree, 1, max(1, len(self.lines)))]


def file_of(path: str, content: bytes, tree: ast.Module | None = None) -> File:
    """A file as its name says: Python, or a script in another language. `tree` is its tree, if it has been
    parsed already.

    Raises `UnreadableFile` for Python and YAML that do not parse.
    """
    if not path.endswith((*SCRIPTS, *SETTINGS)):
        return File(path, content, tree)
    script = Script(path, content)
    if path.endswith(SETTINGS):
        from reviewbot.source import settings

        settings.check(path, script.text)
    return script


def _definitions(node: cst.CSTNode) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    """The functions and classes under a node that are units of their own, in source order."""
    import libcst as cst

    from reviewbot.source.tree import children

    for child in children(node):
        if isinstance(child, (cst.FunctionDef, cst.ClassDef)):
            yield child
        if not isinstance(child, (cst.FunctionDef, cst.SimpleStatementLine, cst.BaseExpression)):
            yield from _definitions(child)


def _lines(node: FunctionTree | ast.ClassDef) -> tuple[int, int]:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first, node.end_lineno or node.lineno
