"""Gives every check of a file a switch and every branch a counter, by rewriting its `ast`.

A check is a place where the code fails: `assert`, `if ...: raise`, an assertion call, `pytest.raises`, a
failure that is collected and judged later, a `return False` of the function under probe. A branch is any
other `if`, the filter of a comprehension, an `except`. A figure, wired only where it is asked for, is a
constant, an operation, a comparison or an entry of a table in a function: what code without branches can be
changed in. Line numbers stay those of the file.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from reviewbot.probe.inside.switchboard import OPERATIONS

SWITCHBOARD = "__probe_switchboard__"
Kind = Literal["check", "branch", "figure"]
Escape = Literal["", "true", "false", "either"]
_Statement = TypeVar("_Statement", bound=ast.stmt)


@dataclass(frozen=True, slots=True)
class Site:
    """One check or branch. `line` to `end_line` is what stands or falls with it.

    `escape` says which outcome of a branch may lead around a check. `text` is its condition, shortened.
    """

    path: str
    line: int
    end_line: int
    kind: Kind
    form: str
    escape: Escape
    unit: str
    text: str


_CALLS = re.compile(
    r"^(self\.assert\w+|self\.fail|(\w+\.)*testing\.assert_\w+|(\w+\.)*assert_(close|allclose|equal|"
    r"array_equal|array_almost_equal|almost_equal|array_less|frame_equal|series_equal|index_equal|"
    r"trees_all_equal|trees_all_close|tree_all_close)|pytest\.fail)$"
)
_CHECKING = re.compile(r"(^|[._])(assert|check|compare|verify|ensure)")
_FAILING_CALLS = frozenset({"pytest.fail", "self.fail", "fail"})
_EXITS = frozenset({"sys.exit", "exit", "os._exit", "SystemExit"})
_VERDICT_NAME = re.compile(
    r"err|fail|mismatch|diff|problem|bad|violat|wrong|issue|missing|invalid|incorrect|ok$|same|equal|match|"
    r"pass|success|good|valid"
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COLLECTING = frozenset({"append", "extend", "add", "update", "insert"})
LONGEST_TEXT = 110


def shortened(text: str) -> str:
    """A condition as it is shown; one that is cut ends with a sign of it."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def instrument(
    tree: ast.Module, path: str, first: int = 0, target: str | None = None, *, figures: bool = False
) -> tuple[ast.Module, list[Site]]:
    """The tree with its checks and branches wired to `SWITCHBOARD`, numbered from `first`, and their list.

    `target` is the qualified name of the function whose returned value is the verdict, if there is one.
    """
    wiring = (_Figures if figures else _Wiring)(path, first, target)
    changed = wiring.visit(tree)
    return ast.fix_missing_locations(changed), wiring.sites


class _Wiring(ast.NodeTransformer):
    def __init__(self, path: str, first: int, target: str | None) -> None:
        self.path, self.first, self.target = path, first, target
        self.sites: list[Site] = []
        self.names: list[str] = []
        self.loops: list[list[str]] = [[]]
        self.verdicts: list[frozenset[str]] = [frozenset()]
        self.decides = False
        self.reports = False
        # The line of the last check of the function that we are in: a branch before it can lead around it.
        self.last_check = 0

    # ---- where we are ----

    def visit_Module(self, node: ast.Module) -> ast.AST:
        own = tuple(_own(node))
        self.verdicts = [verdict_names(own)]
        self.last_check = _last_check(own, self.verdicts[0])
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.names.append(node.name)
        self.loops.append([])
        own = tuple(_own(node))
        self.verdicts.append(verdict_names(own, whole=".".join(self.names) == self.target))
        before = self.decides, self.reports, self.last_check
        self.reports = ".".join(self.names) == self.target and _reports(node)
        self.decides = ".".join(self.names) == self.target and _boolean(node)
        self.last_check = _last_check(own, self.verdicts[-1])
        if self.decides:
            self.last_check = node.end_lineno or 0
        self.generic_visit(node)
        self.decides, self.reports, self.last_check = before
        self.verdicts.pop()
        self.loops.pop()
        self.names.pop()
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        names = [part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)]
        self.loops[-1].extend(names)
        self.generic_visit(node)
        del self.loops[-1][len(self.loops[-1]) - len(names) :]
        return node

    # ---- checks ----

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        number = self._site(node, node, "check", "assert", node.test)
        test = self._parts(node.test, ast.Or, "true")
        failing = ast.UnaryOp(ast.Not(), test)
        arguments = [node.msg] if node.msg else []
        error = ast.Call(ast.Name("AssertionError", ast.Load()), arguments, [])
        return _like(node, ast.If(self._check(number, failing), [_like(node, ast.Raise(error))], []))

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if node.exc is None or not _is_failure(node):
            return node
        number = self._site(node, node, "check", "raise", node.exc)
        return _like(node, ast.If(self._check(number, ast.Constant(True)), [node], []))

    def visit_If(self, node: ast.If) -> ast.AST:
        if fails(node.body):
            number = self._site(node, node, "check", "raise", node.test, body=node.body)
            test = self._parts(node.test, ast.And, "false")
            node.body = [*self._visited(node.body[:-1]), node.body[-1]]
            node.test = self._check(number, test)
            node.orelse = self._visited(node.orelse)
            return node
        if fails(node.orelse) and len(node.orelse) == 1:
            number = self._site(node, node.orelse[-1], "check", "raise", node.test)
            test = self._parts(node.test, ast.Or, "true")
            node.test = ast.UnaryOp(ast.Not(), self._check(number, ast.UnaryOp(ast.Not(), test)))
            node.body = self._visited(node.body)
            return node
        if self._collects(node.body):
            number = self._site(node, node, "check", "collect", node.test, body=node.body)
            node.test = self._check(number, self._parts(node.test, ast.And, "false"))
            node.orelse = self._visited(node.orelse)
            return node
        if self._says_no(node.body):
            number = self._site(node, node, "check", "return", node.test, body=node.body)
            node.test = self._check(number, self._parts(node.test, ast.And, "false"))
            node.orelse = self._visited(node.orelse)
            return node
        form = "told" if _only_tells(node) and _of_two_sides(node.test) else "if"
        number = self._site(node, node, "branch", form, node.test, body=node.body, escape=self._escape(node))
        node.test = self._call("branch", number, self.visit(node.test))
        node.body = self._visited(node.body)
        node.orelse = self._visited(node.orelse)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if not self.decides or node.value is None:
            return self.generic_visit(node)
        if isinstance(node.value, ast.Constant):
            if node.value.value is not False:
                return node
            # Not under an `if` of its own: reaching it is the verdict.
            number = self._site(node, node, "check", "return", node.value)
            return _like(node, ast.If(self._check(number, ast.Constant(True)), [node], []))
        number = self._site(node, node, "check", "return", node.value)
        value = self.visit(node.value)
        keys = self._keys()
        node.value = _like(node, self._call("verdict", number, value, keys))
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        if not self.names or not isinstance(node.value, ast.Call):
            return node
        name = ast.unparse(node.value.func)
        if not _CALLS.match(name):
            return node
        number = self._site(node, node, "check", "call", node.value)
        return self._guarded(node, number)

    def visit_With(self, node: ast.With) -> ast.AST:
        expects = any(_expects_error(item.context_expr) for item in node.items)
        number = (
            self._site(node, node, "check", "raises", node.items[0].context_expr, body=node.body)
            if expects
            else 0
        )
        self.generic_visit(node)
        return self._guarded(node, number) if expects else node

    # ---- branches ----

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        number = self._site(node, node, "branch", "if-expression", node.test, escape="")
        self.generic_visit(node)
        node.test = self._call("branch", number, node.test)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        text = node.type or ast.Name("BaseException", ast.Load())
        escape: Escape = "" if fails(node.body) or _reraises(node.body) else "true"
        number = self._site(node, node, "branch", "except", text, body=node.body, escape=escape)
        self.generic_visit(node)
        taken = self._call("branch", number, ast.Constant(True))
        node.body.insert(0, _like(node.body[0], ast.Expr(taken)))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.verdicts[-1]:
            self._filter(node.value)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        if getattr(node, "_collects", False):
            last = node.ifs[-1]
            number = self._site(last, last, "check", "collect", last)
            self.generic_visit(node)
            node.ifs[-1] = self._check(number, node.ifs[-1])
            return node
        numbers = [self._site(test, test, "branch", "filter", test, escape="either") for test in node.ifs]
        self.generic_visit(node)
        node.ifs = [
            self._call("branch", number, test) for number, test in zip(numbers, node.ifs, strict=True)
        ]
        return node

    def _filter(self, value: ast.expr) -> None:
        if isinstance(value, (ast.ListComp, ast.SetComp, ast.DictComp)) and value.generators[-1].ifs:
            value.generators[-1]._collects = True  # type: ignore[attr-defined]

    # ---- making ----

    def _site(
        self,
        node: ast.AST,
        last: ast.AST,
        kind: Kind,
        form: str,
        condition: ast.expr,
        *,
        body: Sequence[ast.stmt] = (),
        escape: Escape = "",
    ) -> int:
        line = getattr(node, "lineno", 1)
        end = getattr(body[-1] if body else last, "end_lineno", None) or line
        text = shortened(" ".join(ast.unparse(_as_written(condition)).split()))
        self.sites.append(Site(self.path, line, end, kind, form, escape, ".".join(self.names), text))
        return self.first + len(self.sites) - 1

    def _visited(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            changed = self.visit(statement)
            out.extend(changed if isinstance(changed, list) else [changed])
        return out

    def _parts(self, test: ast.expr, joined: type[ast.And] | type[ast.Or], escape: Escape) -> ast.expr:
        """The condition of a check; where a part of it alone can excuse, each part is a branch."""
        if not (isinstance(test, ast.BoolOp) and isinstance(test.op, joined)):
            changed: ast.expr = self.visit(test)
            return changed
        parts = []
        for part in test.values:
            number = self._site(part, part, "branch", "part", part, escape=escape)
            parts.append(self._call("branch", number, self.visit(part)))
        test.values = parts
        return test

    def _keys(self) -> ast.expr:
        return ast.Tuple([ast.Name(name, ast.Load()) for name in self.loops[-1]], ast.Load())

    def _check(self, number: int, failing: ast.expr) -> ast.expr:
        return self._call("check", number, failing, self._keys())

    def _call(self, method: str, number: int, *arguments: ast.expr) -> ast.expr:
        function = ast.Attribute(ast.Name(SWITCHBOARD, ast.Load()), method, ast.Load())
        call = ast.Call(function, [ast.Constant(number), *arguments], [])
        return _like(arguments[0], call) if hasattr(arguments[0], "lineno") else call

    def _escape(self, node: ast.If) -> Escape:
        last = node.body[-1]
        leaves = isinstance(last, (ast.Continue, ast.Return, ast.Break, ast.Pass)) or _is_skip(last)
        if leaves and self.last_check > (node.end_lineno or node.lineno):
            return "true"
        return "false" if any(map(_holds_check, node.body)) and not node.orelse else ""

    def _guarded(self, node: ast.stmt, number: int) -> ast.AST:
        reached = _like(node, ast.Expr(self._call("reach", number, ast.Constant(None), self._keys())))
        again = ast.If(
            self._call("caught", number, ast.Constant(True), self._keys()), [_like(node, ast.Raise())], []
        )
        errors = ast.Attribute(ast.Name(SWITCHBOARD, ast.Load()), "failures", ast.Load())
        handler = _like(node, ast.ExceptHandler(errors, None, [_like(node, again)]))
        return _like(node, ast.Try([reached, node], [handler], [], []))

    def _says_no(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block does nothing but return that the target failed."""
        if any(_collector(statement) != "" for statement in body[:-1]):
            return False
        return (self.decides and _returns_false(body[-1])) or (self.reports and _returns_failure(body[-1]))

    def _collects(self, body: Sequence[ast.stmt]) -> bool:
        names = [_collector(statement) for statement in body]
        plain = all(name is not None for name in names)
        return plain and any(name in self.verdicts[-1] for name in names if name)


def _only_tells(node: ast.If) -> bool:
    """Whether it does nothing but print, log or warn."""
    calls = all(isinstance(statement, ast.Expr) for statement in node.body)
    return calls and not node.orelse and all(_collector(statement) == "" for statement in node.body)


def _of_two_sides(test: ast.expr) -> bool:
    """Whether a condition holds where two values differ that are read alike: `left["t"] != right["t"]`,
    `not equal(left, right)`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _same_reading(test.operand, ast.Eq)
    return _same_reading(test, ast.NotEq)


def differs(text: str) -> bool:
    """Whether the text of a condition is one that holds where two sides differ."""
    try:
        return _of_two_sides(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return False  # it was cut short


def _same_reading(test: ast.expr, operation: type[ast.cmpop]) -> bool:
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators] if isinstance(test.ops[0], operation) else []
    elif isinstance(test, ast.Call) and operation is ast.Eq:
        name = ast.unparse(test.func).rpartition(".")[2]
        sides = test.args[:2] if name in ("equal", "allclose", "array_equal", "isclose") else []
    else:
        sides = []
    if len(sides) != 2:
        return False
    names = [[part.id for part in ast.walk(side) if isinstance(part, ast.Name)] for side in sides]
    constant = any(name.isupper() for listed in names for name in listed)
    return not constant and names[0] != names[1] and _reading(sides[0]) == _reading(sides[1])


def _reading(side: ast.expr) -> str:
    """An expression without the names of its variables."""
    names = {part.id for part in ast.walk(side) if isinstance(part, ast.Name)}
    return re.sub(r"\w+", lambda word: "_" if word[0] in names else word[0], ast.unparse(side))


class _Figures(_Wiring):
    """Wires constants, operations, comparisons and the entries of a file's own tables in functions too."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.tables = {
            target.id
            for statement in node.body
            if isinstance(statement, ast.Assign)
            and isinstance(statement.value, (ast.Dict, ast.List, ast.Tuple))
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        return super().visit_Module(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        table = node.value
        if (
            not isinstance(node.ctx, ast.Load)
            or not isinstance(table, ast.Name)
            or table.id not in self.tables
        ):
            return self.generic_visit(node)
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.walk(node.slice)):
            return self.generic_visit(node)
        return self._figure(node, "lookup", table, self.visit(node.slice))

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return self._figure(node, "constant", node) if type(node.value) in (int, float, str) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._operation(node, node.op, node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) > 1:
            return self.generic_visit(node)
        return self._operation(node, node.ops[0], node.left, node.comparators[0])

    def _operation(self, node: ast.expr, op: ast.AST, left: ast.expr, right: ast.expr) -> ast.AST:
        name = type(op).__name__
        if name not in OPERATIONS or not self.loops[1:]:
            return self.generic_visit(node)
        return self._figure(node, "operation", ast.Constant(name), self.visit(left), self.visit(right))

    def _figure(self, node: ast.expr, form: str, *arguments: ast.expr) -> ast.AST:
        if not self.loops[1:]:
            return node
        number = self._site(node, node, "figure", form, node)
        site = self.sites[-1]
        # Two of one line may have the same text.
        self.sites[-1] = replace(site, text=shortened(f"{node.col_offset}: {site.text}"))
        return _like(node, self._call(form, number, *arguments))

    # What has to stay as it is written.

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if isinstance(node.value, ast.Constant) else super().visit_Expr(node)

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = self.visit(node.guard) if node.guard else None
        node.body = self._visited(node.body)
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        around, returns = node.decorator_list, node.returns
        node.decorator_list, node.returns = [], None
        super()._function(node)
        node.decorator_list, node.returns = around, returns
        return node


_Node = TypeVar("_Node", bound=ast.AST)


class _Unwired(ast.NodeTransformer):
    """The calls of a test in place of what they were wired to."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function, behind = node.func, node.args[-1] if node.args else None
        if (
            isinstance(function, ast.Attribute)
            and function.attr in ("value", "awaited")
            and isinstance(function.value, ast.Name)
            and function.value.id == SWITCHBOARD
            and isinstance(behind, ast.Lambda)
        ):
            return behind.body
        return node


def _as_written(condition: ast.expr) -> ast.expr:
    """A condition as it stands in the source."""
    if not any(isinstance(part, ast.Name) and part.id == SWITCHBOARD for part in ast.walk(condition)):
        return condition
    written: ast.expr = _Unwired().visit(copy.deepcopy(condition))
    return written


def _like(place: ast.AST, node: _Node) -> _Node:
    return ast.copy_location(node, place)


def fails(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in failing outright."""
    return bool(body) and _is_failure(body[-1])


def _is_failure(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return statement.exc is not None and not _is_exit(statement.exc, fails=False)
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        return ast.unparse(call.func) in _FAILING_CALLS or _is_exit(call, fails=True)
    return False


def _is_exit(node: ast.expr, *, fails: bool) -> bool:
    """Whether it is `sys.exit(...)` or `SystemExit(...)` that fails for sure (or: that may succeed)."""
    if isinstance(node, ast.Name):
        return node.id == "SystemExit" and not fails
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in _EXITS:
        return False
    if not node.args:
        return not fails
    code = node.args[0]
    surely = isinstance(code, (ast.Constant, ast.JoinedStr)) and getattr(code, "value", "text") not in (
        0,
        None,
    )
    return surely is fails


def _expects_error(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in (
        "pytest.raises",
        "pytest.warns",
        "self.assertRaises",
        "self.assertRaisesRegex",
        "raises",
    )


def _reraises(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _returns_false(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Return):
        return False
    value = statement.value
    if isinstance(value, ast.Tuple) and value.elts:
        value = value.elts[0]
    return isinstance(value, ast.Constant) and value.value is False


def _returns_failure(statement: ast.stmt) -> bool:
    """Whether it returns errors written out: `return ["count"]`, `return {"count": 1}`, `return "count"`."""
    value = statement.value if isinstance(statement, ast.Return) else None
    if isinstance(value, (ast.List, ast.Set)):
        return bool(value.elts)
    if isinstance(value, ast.Dict):
        return bool(value.keys)
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and type(value.value) is str and value.value != ""
    )


def _reports(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether what a function returns where all is well is an empty collection or text."""
    started = {name for part in _own(node) for name in _starts_empty(part)}
    for part in _own(node):
        value = part.value if isinstance(part, ast.Return) else None
        empty = isinstance(value, (ast.List, ast.Dict)) and not (
            getattr(value, "elts", None) or getattr(value, "keys", None)
        )
        blank = isinstance(value, ast.Constant) and value.value in ("", None)
        if empty or blank or (isinstance(value, ast.Name) and value.id in started):
            return True
    return False


def _boolean(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether everything that a function returns is a truth value, so that a false one is a failure."""
    values = [part.value for part in _own(node) if isinstance(part, ast.Return)]
    return bool(values) and all(value is not None and _is_truth(value) for value in values)


def _is_truth(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, bool)
    if isinstance(value, ast.BoolOp):
        return all(map(_is_truth, value.values))
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not)
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func).rpartition(".")[2]
        return name in ("all", "any", "bool", "equal", "allclose", "array_equal", "isclose")
    return isinstance(value, ast.Compare)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Everything in a function but what stands in functions and classes inside it, in no order."""
    stack = [node]
    while stack:
        parent = stack.pop()
        for name in parent._fields:
            value = getattr(parent, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    yield child
                    if child._fields and not isinstance(child, _SCOPES):
                        stack.append(child)


def _last_check(own: Iterable[ast.AST], verdicts: frozenset[str]) -> int:
    lines = [0]
    for node in own:
        collects = isinstance(node, ast.stmt) and _collector(node) in verdicts
        if collects or isinstance(node, (ast.Assert, ast.Raise)) or _is_assertion(node):
            lines.append(getattr(node, "lineno", 0))
    return max(lines)


def _is_assertion(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and bool(_CHECKING.search(ast.unparse(node.func)))


def _is_skip(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return ast.unparse(statement.value.func) in ("pytest.skip", "pytest.xfail", "self.skipTest")


def _holds_check(statement: ast.stmt) -> bool:
    for node in (statement, *_own(statement)):
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True
        if isinstance(node, ast.Call) and re.search(
            r"(^|[._])(assert|check|compare)", ast.unparse(node.func)
        ):
            return True
    return False


def verdict_names(own: Sequence[ast.AST], *, whole: bool = False) -> frozenset[str]:
    """The variables of a function or script in which failures are collected and judged afterwards; `own` is
    everything in it.

    With `whole` what it returns is the verdict, so that a collection which begins empty is one of failures.
    """
    found: set[str] = set()
    started = {name for node in own for name in _starts_empty(node)} if whole else set()
    for node in own:
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id in started:
            found.add(node.value.id)
        if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and _decides(node.body)):
            found |= _judged(node.test)
        elif isinstance(node, ast.Return) and node.value is not None:
            found |= {name for name in _judged(node.value) if _VERDICT_NAME.search(name.lower())}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _EXITS:
            found |= {name for argument in node.args for name in _judged(argument)}
    return frozenset(found)


def _starts_empty(node: ast.AST) -> Iterator[str]:
    """The variable that begins as an empty list, dict or set."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    value = node.value
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func).rpartition(".")[2]
        empty = name == "defaultdict" or (name in ("list", "dict", "set", "Counter") and not value.args)
    else:
        empty = (isinstance(value, ast.List) and not value.elts) or (
            isinstance(value, ast.Dict) and not value.keys
        )
    if isinstance(target, ast.Name) and empty:
        yield target.id


def _decides(body: Sequence[ast.stmt]) -> bool:
    return fails(body) or _returns_false(body[-1])


def _judged(test: ast.expr) -> set[str]:
    """`x` of `x`, `not x`, `len(x) == 0`, `x == []`, `1 if x else 0`, `x, y`."""
    if isinstance(test, ast.Name):
        return {test.id}
    if isinstance(test, ast.UnaryOp):
        return _judged(test.operand)
    if isinstance(test, ast.IfExp):
        return _judged(test.test)
    if isinstance(test, (ast.Tuple, ast.List)):
        return {name for part in test.elts for name in _judged(part)}
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id in ("len", "bool", "int")
    ):
        return {name for part in test.args for name in _judged(part)}
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        other = test.comparators[0]
        empty = isinstance(other, (ast.List, ast.Dict)) and not getattr(
            other, "elts", getattr(other, "keys", 0)
        )
        zero = isinstance(other, ast.Constant) and other.value in (0, "", None)
        return _judged(test.left) if empty or zero else set()
    return set()


def _collector(statement: ast.stmt) -> str | None:
    """The variable that a statement collects into, "" if it only speaks or goes on, None if it does more."""
    if isinstance(statement, (ast.Continue, ast.Break, ast.Pass)):
        return ""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name) and isinstance(statement.value, ast.Constant):
            return target.id
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return target.value.id
        return None
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return None
    function = statement.value.func
    if isinstance(function, ast.Attribute) and function.attr in _COLLECTING:
        return function.value.id if isinstance(function.value, ast.Name) else None
    name = ast.unparse(function).lower()
    return "" if re.search(r"^print$|log(ger|ging)?\.|warn", name) else None
