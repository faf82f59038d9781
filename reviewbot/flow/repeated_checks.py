"""Checks that ask once more what a check before them in the same block has asked, with nothing in between
that could change the answer."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.between import are_bound, between, is_quiet
from reviewbot.flow.checks import Check, call_of, checks, is_library_assertion, operand
from reviewbot.flow.patterns import pattern
from reviewbot.flow.reached import swallowed
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.values import values
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What a look at something may change.
_CHANGING = pattern(r"(?i)cache|lazy|lru|memory|loaded|called|__dict__|visited|count|consumed|next")
# They answer the same each time.
_PURE = frozenset({
    "len", "sum", "max", "min", "sorted", "set", "list", "tuple", "keys", "values", "items", "isinstance",
    "type", "hasattr", "approx", "isclose", "allclose", "equal", "array_equal", "str", "abs", "all", "any",
    "int", "float", "bool", "tolist", "startswith", "endswith",
})  # fmt: skip


def repeated(unit: Unit) -> Iterator[tuple[Check, Check, bool]]:
    """Every such check with the one before it, in source order, and whether nothing stands in between: what
    a check reads there may compute, and change, something."""
    known: dict[tuple[int, Hashable], Check] = {}
    for check in checks(unit):
        line = unit.parent(check.node)
        block = unit.parent(line) if line is not None else None
        asked = _asked(unit, check)
        if block is None or asked is None:
            continue
        earlier = known.get((id(block), asked))
        known[id(block), asked] = check
        if (
            earlier is not None
            and id(earlier.node) not in swallowed(unit)
            and _unchanged(unit, earlier, check)
        ):
            yield earlier, check, _are_neighbours(block, unit.parent(earlier.node), line)


def _are_neighbours(block: cst.CSTNode, first: cst.CSTNode | None, other: cst.CSTNode | None) -> bool:
    body = list(getattr(block, "body", ()))
    return any(one is first and after is other for one, after in pairwise(body))


def _asked(unit: Unit, check: Check) -> Hashable | None:
    """What a check asks, in one form; None where it may not answer the same each time."""
    node = check.condition
    if check.kind == "assert" and node is not None and not _is_pure(node):
        return None
    call = call_of(check.node) if check.kind == "call" else None
    if call is not None and not all(_is_pure(arg.value) for arg in call.args):
        return None
    # Last, as a text may have to be written first.
    if _CHANGING.search(unit.text(check.node)):
        return None
    if check.kind == "assert" and node is not None:
        if any(isinstance(below, cst.Slice) for below in walk(node)):
            return None  # `a[:]` and `a[::]` are two spellings that may be what is tested
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            target = node.comparisons[0]
            if isinstance(target.operator, cst.Equal):
                return _equal(node.left, target.comparator)
        return canonical(node)
    if call is None or not is_library_assertion(call, unit):
        return None
    left, right = operand(call, 0), operand(call, 1)
    if last_name(call) in ("assertEqual", "assertEquals") and left is not None and right is not None:
        return _equal(left, right)
    return canonical(call)


def _equal(left: cst.BaseExpression, right: cst.BaseExpression) -> Hashable:
    return "==", frozenset((canonical(left), canonical(right)))


def _is_pure(node: cst.CSTNode) -> bool:
    return not any(
        isinstance(below, (cst.Await, cst.NamedExpr, cst.Yield))
        or (isinstance(below, cst.Call) and last_name(below) not in _PURE)
        for below in walk(node)
    )


def _unchanged(unit: Unit, earlier: Check, later: Check) -> bool:
    inside = between(unit, [earlier.node], later.node)
    flow = values(unit)
    read = {name.value for name in flow.reads(later.node)}
    kept = dict.fromkeys(name.value for name in flow.reads(earlier.node))
    for name in flow.reads(later.node):
        mine = {
            b for other in flow.reads(earlier.node) if other.value == name.value for b in flow.reaching(other)
        }
        if name.value in kept and mine != set(flow.reaching(name)):
            return False
    quiet = is_quiet(inside) and not any(
        isinstance(node, (cst.Await, cst.With, cst.AugAssign)) for node in inside
    )
    # What is only read may compute: `_ = frame.values`, `model.scale` as a statement.
    looks = any(
        (isinstance(node, cst.Expr) and not isinstance(node.value, cst.Call))
        or (isinstance(node, cst.Assign) and not isinstance(node.value, cst.Name))
        for node in inside
    )
    stores = looks or any(
        isinstance(node, cst.AssignTarget) and not isinstance(node.target, cst.Name) for node in inside
    )
    return quiet and not stores and not are_bound(unit, read, inside)


@once
def may_repeat(unit: Unit) -> bool:
    """Whether two checks of the unit might ask the same, by `ast`."""
    seen: set[Hashable] = set()
    for node in unit.asts(ast.Assert):
        asked = _outline(node.test)
        if asked in seen and _may_be_pure(node.test):
            return True
        seen.add(asked)
    for call in unit.calls_of(_ASSERTIONS):
        equal = called_last(call) in ("assertEqual", "assertEquals") and len(call.args) > 1
        sides = frozenset(map(_outline, call.args[:2]))
        whole: Hashable = ("==", sides) if equal else (called_last(call), tuple(map(_outline, call.args)))
        if whole in seen and all(map(_may_be_pure, call.args)):
            return True
        seen.add(whole)
    return False


def _may_be_pure(node: ast.expr) -> bool:
    """Whether an expression may answer the same each time, by `ast`."""
    return not any(
        isinstance(below, ast.Call) and called_last(below) not in ("", *_PURE) for below in ast.walk(node)
    )


_ASSERTIONS = frozenset(name for name, (relation, _) in assertions.KNOWN.items() if relation != "raises")


def _outline(node: ast.expr) -> Hashable:
    """What two equal expressions share, and most others do not."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr, _outline(node.value)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Subscript):
        return "[]", _outline(node.value), _outline(node.slice)
    if isinstance(node, ast.Call):
        return (_outline(node.func), *map(_outline, node.args))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = _outline(node.left), _outline(node.comparators[0])
        return (
            ("==", frozenset(sides))
            if isinstance(node.ops[0], ast.Eq)
            else (type(node.ops[0]).__name__, *sides)
        )
    return type(node).__name__
