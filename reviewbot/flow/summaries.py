"""What a call of a function of the same file can do to a verdict: a summary per function, worked out lazily.

Summaries read `ast` only. A call is resolved by its dotted name as seen from a unit: a function nested in
the unit, a function of the file, a method through `self`, `cls`, `super()` or the class's own name, with
bases that stand in the file. What cannot be resolved has no summary: it may do anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from reviewbot.flow import assertions
from reviewbot.source.units import below, once, walked

if TYPE_CHECKING:
    from reviewbot.source.units import File, FunctionTree, Unit

Returns = Literal["nothing", "verdict", "value"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_GROWING = frozenset({"append", "add", "extend", "update", "insert", "appendleft", "setdefault"})


class Summary:
    """What a call of one function can do.

    `asserts`: it holds a check, or calls a function of the file that does. `may_assert`: it calls something
    unknown that by its name or origin could check. `coroutine`: a bare call runs nothing of it. The rest is
    worked out when it is asked for.
    """

    def __init__(
        self,
        function: FunctionTree,
        nodes: list[ast.AST],
        imports: Mapping[str, str],
        *,
        asserts: bool,
        may_assert: bool,
    ) -> None:
        self._function, self._nodes, self._imports = function, nodes, imports
        self.asserts, self.may_assert = asserts, may_assert
        self.coroutine = isinstance(function, ast.AsyncFunctionDef)

    @cached_property
    def raises(self) -> bool:
        """Whether it holds a `raise`."""
        return any(isinstance(node, ast.Raise) for node in self._nodes)

    @cached_property
    def returns(self) -> Returns:
        """Whether what it returns is nothing, a verdict (comparisons, booleans, a list of differences) or any
        other value."""
        return _returns(self._function, self._nodes, self._imports)

    @cached_property
    def writes(self) -> frozenset[str]:
        """What of the outside it changes, as dotted names from the inside: a parameter, a `nonlocal` or
        `global` name, an attribute of `self`. A failure may be recorded there."""
        return _writes(self._function, self._nodes)

    @cached_property
    def acts(self) -> bool:
        """Whether it calls something for its effect, other than to print or log."""
        return any(_is_effect(node) for node in self._nodes)

    @cached_property
    def generator(self) -> bool:
        """Whether a bare call runs nothing of it, because it yields."""
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in self._nodes)

    @cached_property
    def wrapped(self) -> bool:
        """Whether a decorator may have replaced it."""
        return any(_replaces(decorator) for decorator in self._function.decorator_list)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a function's body runs: without nested functions, classes and lambdas."""
    body = getattr(function, "body", [])
    stack: list[ast.AST] = list(reversed(body)) if isinstance(body, list) else [body]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _SCOPES):
            continue
        inside = below(node)
        inside.reverse()
        stack += inside


def dotted_name(node: ast.AST) -> str:
    """`a.b.c` for a chain of attributes on a name, `super().f` for a method of the base, "" for the rest."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        parts.append("super()")
    else:
        return ""
    return ".".join(reversed(parts))


class Summaries:
    """The summaries of one file. `Summaries.of(file)` gives the one that is shared."""

    def __init__(self, file: File) -> None:
        self._imports = file.imports
        self._known: dict[int, Summary | None] = {}
        self._inside: dict[int, dict[str, FunctionTree]] = {}
        self._found: dict[tuple[int, str, bool], FunctionTree | None] = {}
        self._functions = {node.name: node for node in _top_level(file.tree) if isinstance(node, _FUNCTIONS)}
        self._classes = {node.name: node for node in _top_level(file.tree) if isinstance(node, ast.ClassDef)}

    @staticmethod
    def of(file: File) -> Summaries:
        """The summaries of a file, made once."""
        return _shared(file)

    def resolve(self, name: str, unit: Unit) -> FunctionTree | None:
        """The function that a dotted name called in `unit` means, if it stands in the file."""
        first, _, rest = name.partition(".")
        if not rest:
            nested = self._nested(unit).get(first) if unit.is_function else None
            return nested or self._functions.get(first)
        if "." in rest:
            return None
        if first in ("self", "cls", "super()") and unit.owner is not None:
            return self.method(unit.owner, rest, skip=first == "super()")
        return self.method(self._classes[first], rest) if first in self._classes else None

    def _nested(self, unit: Unit) -> dict[str, FunctionTree]:
        """The functions defined inside a function, by name; the last of a name counts."""
        key = id(unit.tree)
        if key not in self._inside:
            every: list[FunctionTree] = [*unit.asts(ast.FunctionDef), *unit.asts(ast.AsyncFunctionDef)]
            self._inside[key] = {node.name: node for node in every if node is not unit.tree}
        return self._inside[key]

    def method(self, owner: ast.ClassDef, name: str, *, skip: bool = False) -> FunctionTree | None:
        """The method of a class or of its bases in the file; with `skip` of its bases alone."""
        key = id(owner), name, skip
        if key not in self._found:
            self._found[key] = self._method(owner, name, skip)
        return self._found[key]

    def _method(self, owner: ast.ClassDef, name: str, skip: bool) -> FunctionTree | None:
        seen: set[int] = set()
        stack = [owner]
        while stack:
            current = stack.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            if not (skip and current is owner) and name in (found := self._methods(current)):
                return found[name]
            bases = (base.id for base in current.bases if isinstance(base, ast.Name))
            stack.extend(self._classes[base] for base in reversed(list(bases)) if base in self._classes)
        return None

    def _methods(self, owner: ast.ClassDef) -> dict[str, FunctionTree]:
        """The methods written in a class by name; the last of a name counts."""
        if id(owner) not in self._inside:
            self._inside[id(owner)] = {node.name: node for node in owner.body if isinstance(node, _FUNCTIONS)}
        return self._inside[id(owner)]

    def called(self, name: str, unit: Unit) -> Summary | None:
        """The summary of what a dotted name called in `unit` means; None where that is unknown."""
        function = self.resolve(name, unit)
        return None if function is None else self.summary(function, unit)

    def summary(self, function: FunctionTree, unit: Unit) -> Summary | None:
        """The summary of a function that stands in the file; `unit` gives the class and scope around its
        calls. None while it is being worked out, for a function that calls itself."""
        key = id(function)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._summarize(function, unit)
        return self._known[key]

    def _summarize(self, function: FunctionTree, unit: Unit) -> Summary:
        nodes = list(own_nodes(function))
        asserts, may = self._judges(nodes, unit)
        return Summary(function, nodes, self._imports, asserts=asserts, may_assert=may)

    def _judges(self, nodes: list[ast.AST], unit: Unit) -> tuple[bool, bool]:
        may = False
        for node in nodes:
            if isinstance(node, ast.Assert) or (isinstance(node, ast.Raise) and _is_verdict(node, nodes)):
                return True, may
            if isinstance(node, ast.Call):
                certain, possible = self.judges(node, unit)
                if certain:
                    return True, may
                may = may or possible
        return False, may

    def judges(self, call: ast.Call, unit: Unit) -> tuple[bool, bool]:
        """Whether a call made in `unit` holds a check, and whether it could hold one."""
        name = dotted_name(call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) else name
        if assertions.fails_by_name(name):
            return True, True
        if name in assertions.EXITING:
            return bool(call.args) and not _is_success(call.args[0]), False
        function = self.resolve(name, unit)
        if function is not None:
            summary = self.summary(function, unit)
            if summary is None:
                return False, False
            return summary.asserts, summary.may_assert or summary.wrapped
        if assertions.asserts_by_name(last):
            return True, True
        first = name.partition(".")[0]
        origin = self._imports.get(first, "")
        qualified = origin + name[len(first) :] if origin else name
        possible = assertions.may_assert_by_name(last) or assertions.from_testing_module(qualified)
        return False, possible


@once
def _shared(file: File) -> Summaries:
    return Summaries(file)


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, also those under `if`, `try` and `with`, in source order."""
    stack: list[ast.stmt] = list(reversed(tree.body))
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, (*_SCOPES, ast.For, ast.While)):
            continue
        below: list[ast.stmt] = []
        for field in ("body", "handlers", "orelse", "finalbody"):
            for child in getattr(statement, field, ()):
                below.extend(child.body if isinstance(child, ast.ExceptHandler) else [child])
        stack.extend(reversed(below))


def _is_verdict(node: ast.Raise, nodes: list[ast.AST]) -> bool:
    """Whether a `raise` is one that a comparison decides, and no stub's or fake's own."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if raised is None:
        return False
    name = dotted_name(raised).rpartition(".")[2]
    if name in ("AssertionError", "SystemExit", "Failed"):
        return True
    if name in ("NotImplementedError", "StopIteration", "StopAsyncIteration", "KeyboardInterrupt"):
        return False
    return any(
        isinstance(above, ast.If) and any(below is node for below in _within(above)) for above in nodes
    )


def _within(statement: ast.If) -> Iterator[ast.stmt]:
    stack: list[ast.stmt] = [*statement.body, *statement.orelse]
    while stack:
        current = stack.pop()
        yield current
        for field in ("body", "orelse", "finalbody"):
            stack.extend(getattr(current, field, ()) if not isinstance(current, _SCOPES) else ())


def _is_success(code: ast.expr) -> bool:
    return isinstance(code, ast.Constant) and code.value in (0, None, False)


def _replaces(decorator: ast.expr) -> bool:
    name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
    keeps = ("staticmethod", "classmethod", "functools.wraps", "wraps", "override", "typing.override")
    return name not in keeps and not name.startswith(("pytest.mark.", "torch.no_grad", "unittest.skip"))


def _returns(function: FunctionTree, nodes: list[ast.AST], imports: Mapping[str, str]) -> Returns:
    values = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    values = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
    if not values:
        return "nothing"
    constants = [value for value in values if _is_bool(value)]
    others = [value for value in values if not _is_bool(value)]
    # Most functions return something that is no verdict, whatever their names hold.
    told = [value for value in others if not isinstance(value, (ast.Name, ast.BoolOp))]
    if others and all(_is_verdict_value(value, frozenset(), imports) for value in told):
        flags = _verdict_names(nodes, imports)
        if all(_is_verdict_value(value, flags, imports) for value in others):
            return "verdict"
    if not others and {value.value for value in constants if isinstance(value, ast.Constant)} == {
        True,
        False,
    }:
        return "verdict"
    return "value"


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _verdict_names(nodes: list[ast.AST], imports: Mapping[str, str]) -> frozenset[str]:
    """Local names that only ever hold a verdict, or a list that collects differences."""
    given: dict[str, list[ast.expr]] = {}
    bad: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    given.setdefault(target.id, []).append(node.value)
                else:
                    bad.update(name.id for name in walked(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            given.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if isinstance(node.op, (ast.BitAnd, ast.BitOr)):
                given.setdefault(node.target.id, []).append(node.value)
            elif not names_differences(node.target.id):
                bad.add(node.target.id)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.NamedExpr)):
            bad.update(name.id for name in walked(node) if isinstance(name, ast.Name) and _binds(name, node))
    grown = collecting(nodes)
    good = set(given) - (bad - grown)
    while True:
        kept = {
            name
            for name in good
            if all(
                _is_collection(name, value)
                or (name in grown and _is_empty(value))
                or _holds_verdict(value, good, imports)
                for value in given[name]
            )
        }
        if kept == good:
            return frozenset(good)
        good = kept


def _is_collection(name: str, value: ast.expr) -> bool:
    return isinstance(value, ast.List) and not value.elts and names_differences(name)


def _is_empty(value: ast.expr) -> bool:
    """Whether a value is an empty list, or the nought from which something is counted."""
    if isinstance(value, ast.List):
        return not value.elts
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value == 0


def collecting(nodes: list[ast.AST]) -> set[str]:
    """The names that grow only where two values differ: `if a != b: found.append(a)`, `bad += 1`."""
    grown: dict[str, set[int]] = {}
    differing: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            grown.setdefault(node.target.id, set()).add(id(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            owner, _, method = dotted_name(node.value.func).rpartition(".")
            if owner and "." not in owner:
                grown.setdefault(owner, set()).add(id(node) if method in ("append", "add") else 0)
        elif isinstance(node, ast.If) and _asks_for_difference(node.test):
            differing.update(id(one) for one in _within_body(node))
    return {name for name, where in grown.items() if where <= differing}


def _asks_for_difference(test: ast.expr) -> bool:
    """`left != right` of two values that are no constants, `not (left == right)`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        return isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.Eq)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotEq) or len(test.ops) > 1:
        return False
    return not any(isinstance(side, ast.Constant) for side in (test.left, *test.comparators))


def _within_body(branch: ast.If) -> Iterator[ast.stmt]:
    """The statements under the first arm of a branch."""
    for statement in branch.body:
        yield from (one for one in walked(statement) if isinstance(one, ast.stmt))


def _holds_verdict(value: ast.expr, flags: set[str], imports: Mapping[str, str]) -> bool:
    return _is_bool(value) or _is_verdict_value(value, frozenset(flags), imports)


def _binds(name: ast.Name, statement: ast.AST) -> bool:
    """Whether a name is stored by the head of a loop, a `with` or a walrus."""
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.NamedExpr)):
        return any(name is node for node in walked(statement.target))
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        heads = (item.optional_vars for item in statement.items if item.optional_vars is not None)
        return any(name is node for head in heads for node in walked(head))
    return False


def names_differences(name: str) -> bool:
    words = name.lower().strip("_").split("_")
    return any(
        word.startswith(("error", "mismatch", "diff", "fail", "problem", "violation", "missing", "bad"))
        for word in words
    )


def _is_verdict_value(node: ast.expr, flags: frozenset[str], imports: Mapping[str, str]) -> bool:
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.BoolOp):
        return all(_is_bool(value) or _is_verdict_value(value, flags, imports) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return True
    if isinstance(node, ast.Name):
        return node.id in flags
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
        return _keeps_what_differs(node)
    if isinstance(node, ast.Call):
        name = dotted_name(node.func)
        if name == "bool" and node.args:
            return True
        first = name.partition(".")[0]
        qualified = imports.get(first, first) + name[len(first) :]
        last = qualified.rpartition(".")[2]
        return qualified in assertions.PREDICATES or (
            "." in name and last in assertions.PREDICATE_METHODS and bool(node.args)
        )
    return False


def _keeps_what_differs(node: ast.ListComp | ast.SetComp | ast.DictComp) -> bool:
    """Whether a comprehension keeps only what differs: `[key for key in a if a[key] != b[key]]`."""
    last = node.generators[-1].ifs
    return bool(last) and all(_asks_for_difference(test) for one in node.generators for test in one.ifs)


_SHOWING = frozenset({"print", "pprint", "info", "debug", "warning", "warn", "error", "append", "write"})


def _is_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.While) and any(isinstance(below, ast.Call) for below in walked(node.test)):
        return True  # `while queue.step():` runs the steps
    if not isinstance(node, ast.Expr) or not isinstance(node.value, (ast.Call, ast.Await)):
        return False
    call = node.value.value if isinstance(node.value, ast.Await) else node.value
    function = call.func if isinstance(call, ast.Call) else call
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name not in _SHOWING


def _writes(function: FunctionTree, nodes: list[ast.AST]) -> frozenset[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    outside = {argument.arg for argument in every}
    declared: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local = stored - declared - outside
    found: set[str] = set()
    for node in nodes:
        target: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
            target = node.func.value
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            target = node if isinstance(node, ast.Attribute) else node.value
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in declared:
            target = node
        name = dotted_name(target) if target is not None else ""
        if name and name.partition(".")[0] not in local:
            found.add(name)
    return frozenset(found)
