"""The calls of a test whose values its assertions judge: recorded in a real run, replaced in a probe.

The two sides of a test stand in values that it gets from calls. Each such call becomes
`SWITCHBOARD.value(number, lambda: the call)`; numbers count in the order of the source. Rows that it writes
out and compares are such a value, too, and a global name that its module fills before. A call that holds two
of the test's values against each other, and whose answer an assertion asks for, is part of the check: it
always runs. So does any other whose arguments hold what was changed.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.probe.inside.bindings import OWN, bindings, names_in
from reviewbot.probe.inside.sites import SWITCHBOARD
from reviewbot.probe.inside.written import METHODS, filled, mark, written_as

# Their results are the test's own tools and no values of the code under test.
_TOOLS = frozenset({"pytest", "unittest", "mock", "hypothesis", "np", "numpy", "torch", "self", "cls"})
LONGEST = 60
# What is called so judges what it is given.
_JUDGES = re.compile(
    r"assert|check|compar|verif|ensure|requir|expect|valid|same|equal|match|diff|parity|must|fail|raise"
)
# Fixtures of pytest's own, which are no data of a test.
_SURROUNDINGS = frozenset(
    {
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
        "monkeypatch",
        "capsys",
        "capfd",
        "caplog",
        "request",
        "recwarn",
    }
)
# Assertions and contexts that expect an error or a difference.
_DIFFERENT = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assert_raises", "assertNotEqual"})


@dataclass(frozen=True, slots=True)
class Called:
    """One call: its number, its text, its line. `feeds`: its value goes into another such call, and so is an
    input of the test rather than something that it judges. `needs`: what its arguments are made of,
    parameters of the test by name and other calls by number."""

    number: int
    text: str
    line: int
    feeds: bool = False
    needs: frozenset[str | int] = frozenset()


def wire(tree: ast.Module, unit: str, whole: ast.Module | None = None) -> tuple[ast.Module, list[Called]]:
    """The tree with the calls of one function wired, and their list. `whole`: the file that it is part of."""
    function = _find(tree.body, unit.split("."))
    if function is None:
        return tree, []
    holders = _holders(function)
    wiring, made_of = _wiring(tree, function, whole)
    wiring.visit_body(function)
    numbers = {id(node): number for number, node in enumerate(wiring.nodes)}
    needs = [_needs(node, made_of, numbers) for node in wiring.nodes]
    called = [
        replace(one, feeds=_feeds(one, holders, wiring.nodes), needs=_closed(needs, one.number))
        for one in wiring.called
    ]
    return ast.fix_missing_locations(tree), called


_Sources = dict[str, set[str | ast.expr]]
"""What each name of a function may be made of: its parameters and the global names that its module fills, by
name, and calls and written rows in it."""


def _wiring(
    tree: ast.Module,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    whole: ast.Module | None = None,
) -> tuple[_Wiring, _Sources]:
    """What wires a function, which is not changed yet, and what its names are made of."""
    mark(function)
    wiring = _Wiring(_standard(tree), filled(whole or tree, function))
    made_of = _made_of(function, wiring.filled)
    wiring.comparing = {id(call) for call in _comparing(function, made_of)}
    return wiring, made_of


def handed_on(tree: ast.Module, unit: str) -> frozenset[str]:
    """The parameters of a function that only go into calls whose values it looks at, and are held against
    nothing that is made of others: inputs of the code under test, and no side of a comparison."""
    function = _find(tree.body, unit.split("."))
    if function is None:
        return frozenset()
    wiring, made_of = _wiring(tree, function)
    held = {name for name in _held_against(function, made_of) if isinstance(name, str)}
    wiring.visit_body(function)
    inside = {id(part) for node in wiring.nodes for part in ast.walk(node)}
    used: dict[str, bool] = {}
    for part in ast.walk(function):
        if isinstance(part, ast.Name):
            used[part.id] = used.get(part.id, True) and id(part) in inside
    return frozenset(name for name, only in used.items() if only and made_of.get(name) == {name}) - held


def to_differ(tree: ast.Module, unit: str) -> frozenset[str | int]:
    """What a test has made only for a comparison that is to fail, or holds against nothing but a copy of
    itself and hands on: parameters by name, calls by number. No difference there is one that it lets through.
    """
    function = _find(tree.body, unit.split("."))
    if function is None:
        return frozenset()
    wiring, made_of = _wiring(tree, function)
    elsewhere: set[str | ast.expr] = set()
    found: set[str | ast.expr] = set()
    looked_at = list(_looked_at(function.body, False))
    steps = {id(node) for node in _steps(function)}
    asserts = any(id(node) not in steps for node, _ in looked_at)
    for node, expected in looked_at:
        sources = wiring.values_in(node, made_of)
        if expected or (asserts and id(node) in steps and wiring.hands_on(node, made_of)):
            found |= sources
        elif not _of_one_making(node, made_of, wiring):
            elsewhere |= sources
    # Which of them are wired stands in the wiring, which is done last as it rewrites what it goes through.
    wiring.visit_body(function)
    numbers = {id(node): number for number, node in enumerate(wiring.nodes)}
    named = (one if isinstance(one, str) else numbers.get(id(one)) for one in found - elsewhere)
    # The test's own object is at hand in every assertion of unittest's; what stands on it is not.
    return frozenset(one for one in named if one is not None and one not in OWN)


def _steps(function: ast.AST) -> Iterator[ast.Call]:
    """The calls that are made for what they do, and are no assertions by their names."""
    for node in ast.walk(function):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and not _JUDGES.search(ast.unparse(call.func).rpartition(".")[2]):
            yield call


def _of_one_making(node: ast.expr, made_of: _Sources, wiring: _Wiring) -> bool:
    """Whether two names are held against each other that are made of the very same, as a copy is."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].startswith("assert"):
        sides = node.args[:2]
    else:
        return False
    if len(sides) < 2 or not all(isinstance(side, (ast.Name, ast.Attribute)) for side in sides):
        return False
    makings = [wiring.values_in(side, made_of) for side in sides]
    return bool(makings[0]) and all(one == makings[0] for one in makings)


def _looked_at(body: list[ast.stmt], expected: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What the statements of a test look at, and whether it is expected to differ or to raise."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assert):
            yield node.test, expected or _says_different(node.test)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.value.func).rpartition(".")[2]
            if name != "print":
                yield node.value, expected or name in _DIFFERENT
        elif expected or isinstance(node, (ast.Return, ast.Expr)):
            yield from ((part, expected) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        elif isinstance(node, (ast.If, ast.While)):
            yield node.test, expected
        contexts = [item.context_expr for item in getattr(node, "items", ())]
        raises = any(ast.unparse(one).partition("(")[0].rpartition(".")[2] in _DIFFERENT for one in contexts)
        raises = raises or (isinstance(node, ast.Try) and _is_to_raise(node))
        yield from _looked_at(getattr(node, "body", []), expected or raises)
        for part in ("orelse", "finalbody"):
            yield from _looked_at(
                getattr(node, part, []), expected or (raises and not isinstance(node, ast.Try))
            )
        for handler in getattr(node, "handlers", ()):
            yield from _looked_at(handler.body, expected)


def _is_to_raise(node: ast.Try) -> bool:
    """Whether a test fails where the body of a `try` does not raise."""
    after = node.orelse or node.body[-1:]
    return any(map(_fails, after)) and not any(
        _fails(one) for handler in node.handlers for one in handler.body
    )


def _says_different(test: ast.expr) -> bool:
    """Whether a condition is that two values differ."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        if isinstance(inner, ast.Compare):
            return all(isinstance(one, ast.Eq) for one in inner.ops)
        name = ast.unparse(inner.func).rpartition(".")[2] if isinstance(inner, ast.Call) else ""
        return name in ("equal", "allclose", "array_equal", "isclose")
    if isinstance(test, ast.BoolOp):
        return all(map(_says_different, test.values))
    return isinstance(test, ast.Compare) and all(isinstance(one, ast.NotEq) for one in test.ops)


def _held_against(function: ast.AST, made_of: _Sources) -> Iterator[str | ast.expr]:
    """What two things are made of that are compared with, or handed on beside, each other, and that have
    nothing in common."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        else:
            continue
        sides = [one for part in parts if (one := _sources(part, made_of))]
        for one, other in itertools.combinations(sides, 2):
            if one.isdisjoint(other):
                yield from (*one, *other)


def _made_of(function: ast.FunctionDef | ast.AsyncFunctionDef, filled_before: frozenset[str]) -> _Sources:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found: _Sources = {one.arg: {one.arg} for one in every if one.arg not in OWN}
    found |= {name: {name} for name in filled_before}
    listed = list(bindings(function))
    while True:
        before = sum(map(len, found.values()))
        for target, value in listed:
            sources = _sources(value, found)
            for name in names_in(target):
                found.setdefault(name, set()).update(sources)
                if name.partition(".")[0] in OWN:
                    # Whatever is handed the whole object may read it there.
                    found.setdefault(name.partition(".")[0], set()).update(sources)
        if sum(map(len, found.values())) == before:
            return found


def _sources(node: ast.AST, known: _Sources) -> set[str | ast.expr]:
    """What an expression is made of; of a call, the call itself and what goes into it; of an attribute of the
    test's own object, as `self.rows`, that too."""
    found: set[str | ast.expr] = set()
    for name in names_in(node):
        own = {name} if name.partition(".")[0] in OWN else set()
        found |= known.get(name, set()) | own
    found |= {
        part
        for part in ast.walk(node)
        if isinstance(part, ast.expr) and (isinstance(part, ast.Call) or written_as(part))
    }
    return found


def _needs(call: ast.expr, made_of: _Sources, numbers: dict[int, int]) -> frozenset[str | int]:
    sources: set[str | ast.expr] = set()
    for part in ast.iter_child_nodes(call):
        sources |= _sources(part, made_of)
    named = (
        one.partition(".")[0] if isinstance(one, str) else numbers.get(id(one))
        for one in sources
        if one is not call
    )
    return frozenset(one for one in named if one is not None)


def _closed(needs: list[frozenset[str | int]], number: int) -> frozenset[str | int]:
    """What a call needs, and what the calls need that it needs."""
    found: set[str | int] = set()
    todo = set(needs[number])
    while todo:
        one = todo.pop()
        found.add(one)
        if isinstance(one, int):
            todo |= needs[one] - found
    return frozenset(found - {number})


def _comparing(function: ast.AST, made_of: _Sources) -> Iterator[ast.Call]:
    """The calls that are given two values of different making, and of which an assertion asks no more than
    whether they found a difference."""
    asked = [one for test in _tested(function) for one in _asked(test)]
    held = {ast.unparse(one) for one in asked if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))}
    asked += [
        one
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) in held for target in node.targets)
        for one in _asked(node.value)
    ]
    for call in asked:
        if isinstance(call, ast.Call):
            given = [_sources(part, made_of) for part in (*call.args, *(k.value for k in call.keywords))]
            given = [one for one in given if one]
            if any(one.isdisjoint(other) for one, other in itertools.combinations(given, 2)):
                yield call


def _tested(function: ast.AST) -> Iterator[ast.expr]:
    """What assertions ask: the condition of an `assert`, the first argument of one of unittest's whose other
    one says that there is no difference."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and any(map(_fails, node.body))):
            yield node.test
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            name = node.func.attr
            alone = name in ("assertTrue", "assertFalse", "assertIsNone")
            if alone or (
                name in ("assertEqual", "assertIs", "assertListEqual", "assertDictEqual")
                and len(node.args) > 1
                and _says_nothing(node.args[1])
            ):
                yield node.args[0]


def _asked(test: ast.expr) -> list[ast.expr]:
    """What a condition asks whether it is true, or is empty, None or 0: `f(a, b)` of `len(f(a, b)) == 0`, of
    `f(a, b).ok` and of `all(f(x, y) for x, y in ...)`."""
    if isinstance(test, ast.BoolOp):
        return [one for part in test.values for one in _asked(part)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asked(test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _says_nothing(test.comparators[0]):
        return _asked(test.left)
    if isinstance(test, (ast.Await, ast.NamedExpr)):
        return _asked(test.value)
    if isinstance(test, ast.Attribute) and isinstance(test.value, (ast.Call, ast.Name, ast.Attribute)):
        return [test, *_asked(test.value)]
    name = ast.unparse(test.func) if isinstance(test, ast.Call) else ""
    if isinstance(test, ast.Call) and len(test.args) == 1:
        inner = test.args[0]
        if name in ("all", "any") and isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
            return _asked(inner.elt)
        if name in ("len", "bool", "list", "asyncio.run"):
            return _asked(inner)
    return [test]


def _fails(statement: ast.stmt) -> bool:
    """Whether a statement fails the test."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func) in ("pytest.fail", "self.fail")
    return isinstance(statement, ast.Raise)


def _says_nothing(node: ast.expr) -> bool:
    """Whether a constant is one by which a comparing function says that there is no difference, or is one."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "set":
        return not node.args
    return isinstance(node, ast.Constant) and node.value in (None, True, False, 0, "")


def _holders(function: ast.AST) -> dict[int, set[str]]:
    """The variables that each call's value is put into, by the call's identity; "" for a nested call."""
    found: dict[int, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            names = {
                part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)
            }
            for part in ast.walk(node.value):
                if isinstance(part, ast.Call) or written_as(part):
                    found.setdefault(id(part), set()).update(names)
    return found


def _feeds(one: Called, holders: dict[int, set[str]], nodes: list[ast.expr]) -> bool:
    own = nodes[one.number]
    names = holders.get(id(own), {own.id} if isinstance(own, ast.Name) else set())
    for other in nodes:
        if other is own or not isinstance(other, ast.Call):
            continue
        parts = [
            part
            for argument in (*other.args, *(k.value for k in other.keywords))
            for part in ast.walk(argument)
        ]
        if any(part is own or (isinstance(part, ast.Name) and part.id in names) for part in parts):
            return True
        receiver = other.func.value if isinstance(other.func, ast.Attribute) else None
        if isinstance(receiver, ast.Name) and receiver.id in names:
            return True
    return False


def _find(body: list[ast.stmt], names: list[str]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    for statement in body:
        if isinstance(statement, ast.ClassDef) and len(names) > 1 and statement.name == names[0]:
            return _find(statement.body, names[1:])
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and [statement.name] == names:
            return statement
    return None


def _standard(tree: ast.Module) -> frozenset[str]:
    """Names that the file imports from the standard library."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias for alias in node.names if alias.name.partition(".")[0] in sys.stdlib_module_names]
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
        elif (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").partition(".")[0] in sys.stdlib_module_names
        ):
            found |= {alias.asname or alias.name for alias in node.names}
    return frozenset(found)


def _suspends(node: ast.AST) -> bool:
    """Whether it can stand in no function of its own."""
    kept = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return any(isinstance(part, kept) for part in ast.walk(node))


class _Wiring(ast.NodeTransformer):
    def __init__(self, standard: frozenset[str], filled_before: frozenset[str]) -> None:
        self.standard, self.filled = standard, filled_before
        self.called: list[Called] = []
        self.nodes: list[ast.expr] = []
        # The number of each global name that is wired.
        self.names: dict[str, int] = {}
        self.comparing: set[int] = set()

    def values_in(self, node: ast.AST, made_of: _Sources) -> set[str | ast.expr]:
        """The values and parameters that an expression is made of."""
        return {
            one
            for one in _sources(node, made_of)
            if (one not in _SURROUNDINGS if isinstance(one, str) else self.is_value(one))
        }

    def hands_on(self, node: ast.AST, made_of: _Sources) -> bool:
        """Whether a call is given no two things that have nothing to do with each other."""
        found = [self.values_in(part, made_of) - {node} for part in ast.iter_child_nodes(node)]
        given = [one for one in found if one]
        return not any(one.isdisjoint(other) for one, other in itertools.combinations(given, 2))

    def visit_body(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Wires what stands in one function."""
        function.body = [self.visit(statement) for statement in function.body]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """What is awaited has its value later: it is the await that is replaced."""
        call = node.value
        if not isinstance(call, ast.Call) or not self.is_value(call) or _suspends(call):
            return node
        return ast.copy_location(ast.Await(self._made(call, "awaited")), node)

    def visit_With(self, node: ast.With) -> ast.AST:
        """What is expected to raise has no value."""
        contexts = " ".join(ast.unparse(item.context_expr) for item in node.items)
        if "raises" in contexts or "assertRaises" in contexts or "warns" in contexts:
            return node
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A call whose value is dropped is done for its effect; its arguments may hold values."""
        if isinstance(node.value, ast.Call):
            self.generic_visit(node.value)
            return node
        return self.generic_visit(node)

    def visit(self, node: ast.AST) -> Any:
        """Rows that are written out are one value as they stand."""
        name = written_as(node)
        if name and isinstance(node, ast.expr) and not _suspends(node):
            return self._made(node, "value", name)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A global name that was filled before has one value, however often it is read."""
        if node.id not in self.filled:
            return node
        if node.id in self.names:
            return _replaced(node, self.names[node.id], "held")
        self.names[node.id] = len(self.called)
        return self._made(node, "held", node.id)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if id(node) in self.comparing or not self.is_value(node) or _suspends(node):
            return self.generic_visit(node)
        return self._made(node, "value")

    def _made(self, node: ast.expr, method: str, name: str = "") -> ast.Call:
        number = len(self.called)
        self.nodes.append(node)
        text = name or " ".join(ast.unparse(node).split())
        self.called.append(
            Called(number, text if len(text) <= LONGEST else text[: LONGEST - 3] + "...", node.lineno)
        )
        return _replaced(node, number, method)

    def is_value(self, node: ast.AST) -> bool:
        """Whether an expression is a value of the test: a call of the code under test, or written rows."""
        if not isinstance(node, ast.Call):
            return bool(written_as(node))
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in METHODS:
            return False
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        root: ast.expr = function
        while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
            root = root.func if isinstance(root, ast.Call) else root.value
        name = root.id if isinstance(root, ast.Name) else ""
        if not last or not name or name in _TOOLS or name in self.standard or hasattr(builtins, name):
            return False
        judges = last.startswith(("assert", "check", "verify", "__")) or last[:1].isupper()
        return not judges


def _replaced(node: ast.expr, number: int, method: str) -> ast.Call:
    """What asks the switchboard for a value of that number."""
    empty = ast.arguments([], [], None, [], [], None, [])
    function = ast.Attribute(ast.Name(SWITCHBOARD, ast.Load()), method, ast.Load())
    made = ast.Call(function, [ast.Constant(number), ast.Lambda(empty, node)], [])
    return ast.copy_location(made, node)
