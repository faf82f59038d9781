"""How closely the checks of a test look at some values: at the values, or only at what they have in common
with all others of their kind (a type, a shape, that there is one, a sign).

Reads `ast` only. Whatever it does not know counts as a look at the value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reviewbot.flow import assertions
from reviewbot.source.units import below, called_last, walked

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

How = Literal["value", "sign", "kind"]

# What is asked of a value without looking at what it holds.
_ASKS = frozenset({"isinstance", "type", "hasattr", "callable", "len", "id", "issubclass"})
_FINITE = frozenset({"isnan", "isfinite", "isinf", "is_tensor", "is_floating_point"})
_PARTS = frozenset({
    "shape", "dtype", "ndim", "size", "device", "axes", "requires_grad", "itemsize", "nbytes", "numel", "dim",
    "is_contiguous", "keys", "__class__", "__name__", "training", "is_deleted",
})  # fmt: skip
# A whole that holds where each part does.
_ALL = frozenset({"all", "any", "bool", "item", "tolist", "numpy", "min", "max", "list", "tuple"})
_OF_KIND = frozenset({
    "assertIsInstance", "assertIsNone", "assertIsNotNone", "assertHasAttr", "assertLen", "assertNotEmpty",
    "assert_is_instance",
})  # fmt: skip
_TRUE = frozenset({"assertTrue", "assertFalse", "assert_", "assertIs", "assertEqual", "assertGreater"})
_ORDERS = frozenset({"assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual"})
_BOUNDS = frozenset({0, 1})
_WALKS = frozenset(
    {"", "zip", "enumerate", "range", "list", "tuple", "dict", "sorted", "len", "items", "values"}
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A check reads one of the values, `read`, and asks for no more than `how` of it."""

    check: ast.stmt
    read: ast.expr
    how: How


def looks(unit: Unit, begins: Callable[[ast.expr], bool]) -> list[Look]:
    """Every look at the values that `begins` says are meant, or that are read off these, in no order.

    `begins` is asked of each name and attribute that the test reads.
    """
    around = {id(inner): outer for outer in walked(unit.tree) for inner in below(outer)}
    meant = _followed(unit, begins)
    found: list[Look] = []
    for node in walked(unit.tree):
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        if begins(node) or (isinstance(node, ast.Name) and node.id in meant):
            found += _looks_at(node, around, unit)
    return found


def origins(unit: Unit, read: ast.expr) -> set[str]:
    """The last names of what is called to make the value that is read; not of what makes its arguments."""
    gives = list(_gives(unit))
    found: set[str] = set()
    names: set[str] = set()
    ahead = [read]
    while ahead:
        called, root = _chain(ahead.pop())
        found |= called
        fresh = root - names
        names |= fresh
        ahead += [value for targets, value in gives if not fresh.isdisjoint(targets)]
    return found


def is_part(unit: Unit, read: ast.expr, begins: Callable[[ast.expr], bool]) -> bool:
    """Whether what is read is one of the values or an item of one, and nothing that is computed from them."""
    gives = list(_gives(unit))
    names: set[str] = set()
    ahead = [read]
    while ahead:
        node = ahead.pop()
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)) and not begins(node):
            node = node.value
        if begins(node):
            return True
        if isinstance(node, ast.Call) and called_last(node) in _WALKS:
            ahead += node.args
        elif isinstance(node, ast.Name) and node.id not in names:
            names.add(node.id)
            ahead += [value for targets, value in gives if node.id in targets]
    return False


def _chain(value: ast.expr) -> tuple[set[str], set[str]]:
    """What is called on the way to a value, and the names that the way begins at."""
    called: set[str] = set()
    roots: set[str] = set()
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            roots.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript, ast.Await, ast.Starred)):
            stack.append(node.value)
        elif isinstance(node, ast.Call) and called_last(node) in _WALKS:
            stack += node.args
        elif isinstance(node, ast.Call):
            called.add(called_last(node))
            stack += [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return called, roots


def _followed(unit: Unit, begins: Callable[[ast.expr], bool]) -> set[str]:
    """The names that hold what is read off the values."""
    found: set[str] = set()
    gives = list(_gives(unit))
    size = -1
    while len(found) > size:
        size = len(found)
        for targets, value in gives:
            if any(
                (isinstance(one, ast.Name) and one.id in found)
                or (isinstance(one, (ast.Name, ast.Attribute)) and begins(one))
                for one in _read_in(value)
            ):
                found |= targets
    return found


def _gives(unit: Unit) -> Iterator[tuple[set[str], ast.expr]]:
    for node in walked(unit.tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield _names(target), node.value
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield _names(node.target), node.iter
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            yield _names(node.target), node.value
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield _names(node.optional_vars), node.context_expr


def _read_in(value: ast.expr) -> Iterator[ast.expr]:
    """The parts of a value, but for those of which only the kind is asked."""
    stack: list[ast.AST] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Attribute) and node.attr in _PARTS:
            continue
        if isinstance(node, ast.Call) and called_last(node) in _ASKS | _FINITE:
            continue
        if isinstance(node, ast.expr):
            yield node
        stack += ast.iter_child_nodes(node)


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in walked(target) if isinstance(node, ast.Name)}


def _looks_at(read: ast.expr, around: dict[int, ast.AST], unit: Unit) -> Iterator[Look]:
    """How the statement around a read looks at it; nothing where it is only passed on."""
    how: How = "value"
    node: ast.AST = read
    while not isinstance(node, ast.stmt):
        outer = around.get(id(node))
        if outer is None or isinstance(outer, ast.JoinedStr):
            return
        if isinstance(outer, ast.comprehension) and node is outer.iter:
            return
        if how == "value":
            how = _asked(node, outer)
        if isinstance(outer, _SCOPES) and outer is not unit.tree:
            yield Look(unit.body[0], read, "value")
            return
        node = outer
    if isinstance(node, ast.Assert):
        if not _holds(node.test, read):
            return  # it is only shown
        asked: How = "kind" if node.test is read or _is_denied(node.test, read) else how
        yield Look(node, read, asked)
    elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and read is not call.func:
            yield Look(node, read, _in_call(call, read, how))
    elif isinstance(node, (ast.Return, ast.If, ast.While, ast.Match, ast.Raise, ast.Delete)):
        yield Look(node, read, how)


def _is_denied(test: ast.expr, read: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and test.operand is read


def _asked(node: ast.AST, outer: ast.AST) -> How:
    """What an expression asks of a part of it: "value" where it may be the value."""
    if isinstance(outer, ast.Call):
        name = called_last(outer)
        is_given = node is not outer.func
        return "kind" if is_given and name in _ASKS | _FINITE else "value"
    if isinstance(outer, ast.Attribute):
        return "kind" if outer.attr in _PARTS else "value"
    if isinstance(outer, ast.Compare):
        return _compared(node, outer)
    return "value"


def _compared(node: ast.AST, outer: ast.Compare) -> How:
    sides = [outer.left, *outer.comparators]
    others = [side for side in sides if side is not node]
    if all(isinstance(one, (ast.Is, ast.IsNot)) for one in outer.ops):
        return (
            "kind" if all(isinstance(one, ast.Constant) and one.value is None for one in others) else "value"
        )
    if len(outer.ops) == 1 and isinstance(outer.ops[0], (ast.In, ast.NotIn)) and node is outer.comparators[0]:
        whole = isinstance(node, ast.Name) and isinstance(outer.left, ast.Constant)
        return "kind" if whole else "value"
    ordered = all(isinstance(one, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for one in outer.ops)
    return "sign" if ordered and all(map(_is_bound, others)) and _is_itself(node) else "value"


def _is_itself(side: ast.AST) -> bool:
    """Whether a side of a comparison is a value as it is, and no difference of two."""
    return not any(isinstance(node, ast.BinOp) for node in walked(side))


def _is_bound(side: ast.expr) -> bool:
    """0 and 1: the bounds of what has a sign, and of what is a share."""
    return (
        isinstance(side, ast.Constant) and not isinstance(side.value, (str, bytes)) and side.value in _BOUNDS
    )


def _in_call(call: ast.Call, read: ast.expr, how: How) -> How:
    """How a call that stands alone looks at what it is given."""
    name, given = called_last(call), call.args
    if name in _OF_KIND:
        return "kind"
    if name in _ORDERS and len(given) > 1 and how == "value":
        mine, other = given[:2] if _holds(given[0], read) else (given[1], given[0])
        return "sign" if _is_bound(other) and _is_itself(mine) else "value"
    if name in ("assertIn", "assertNotIn") and len(given) > 1:
        return "kind" if isinstance(given[0], ast.Constant) and given[1] is read else "value"
    if name in _TRUE and given and given[0] is read and name in ("assertTrue", "assert_", "assertFalse"):
        return "kind"
    if name == "print":
        return "kind"
    return how if assertions.asserts_by_name(name) else "value"


def _holds(outer: ast.expr, inner: ast.expr) -> bool:
    return any(node is inner for node in walked(outer))
