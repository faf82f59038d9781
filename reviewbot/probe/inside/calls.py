"""The calls of a test whose values its assertions judge: recorded in a real run, replaced in a probe.

The two sides of a test stand in values that it gets from calls. Each such call becomes
`SWITCHBOARD.value(number, lambda: the call)`; numbers count in the order of the source.
"""

from __future__ import annotations

import ast
import builtins
import sys
from dataclasses import dataclass, replace

from reviewbot.probe.inside.sites import SWITCHBOARD

# Their results are the test's own tools and no values of the code under test.
_TOOLS = frozenset({"pytest", "unittest", "mock", "hypothesis", "np", "numpy", "torch", "self", "cls"})
# Methods of built-in containers and texts: what they are called on was recorded before.
_METHODS = frozenset(
    name for kind in (list, dict, set, str, bytes, tuple, int, float) for name in dir(kind) if name[0] != "_"
)
LONGEST = 60


@dataclass(frozen=True, slots=True)
class Called:
    """One call: its number, its text, its line. `feeds`: its value goes into another such call, and so is an
    input of the test rather than something that it judges."""

    number: int
    text: str
    line: int
    feeds: bool = False


def wire(tree: ast.Module, unit: str) -> tuple[ast.Module, list[Called]]:
    """The tree with the calls of one function wired, and their list."""
    function = _find(tree.body, unit.split("."))
    if function is None:
        return tree, []
    wiring = _Wiring(_standard(tree))
    holders = _holders(function)
    function.body = [wiring.visit(statement) for statement in function.body]
    called = [replace(one, feeds=_feeds(one, holders, wiring.nodes)) for one in wiring.called]
    return ast.fix_missing_locations(tree), called


def _holders(function: ast.AST) -> dict[int, set[str]]:
    """The variables that each call's value is put into, by the call's identity; "" for a nested call."""
    found: dict[int, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            names = {
                part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)
            }
            for part in ast.walk(node.value):
                if isinstance(part, ast.Call):
                    found.setdefault(id(part), set()).update(names)
    return found


def _feeds(one: Called, holders: dict[int, set[str]], nodes: list[ast.Call]) -> bool:
    own = nodes[one.number]
    names = holders.get(id(own), set())
    for other in nodes:
        if other is own:
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
    def __init__(self, standard: frozenset[str]) -> None:
        self.standard = standard
        self.called: list[Called] = []
        self.nodes: list[ast.Call] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """What is awaited has its value later: it is the await that is replaced."""
        call = node.value
        if not isinstance(call, ast.Call) or not self._is_value(call) or _suspends(call):
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

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not self._is_value(node) or _suspends(node):
            return self.generic_visit(node)
        return self._made(node, "value")

    def _made(self, node: ast.Call, method: str) -> ast.Call:
        number = len(self.called)
        self.nodes.append(node)
        text = " ".join(ast.unparse(node).split())
        self.called.append(
            Called(number, text if len(text) <= LONGEST else text[: LONGEST - 3] + "...", node.lineno)
        )
        empty = ast.arguments([], [], None, [], [], None, [])
        function = ast.Attribute(ast.Name(SWITCHBOARD, ast.Load()), method, ast.Load())
        made = ast.Call(function, [ast.Constant(number), ast.Lambda(empty, node)], [])
        return ast.copy_location(made, node)

    def _is_value(self, node: ast.Call) -> bool:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
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
