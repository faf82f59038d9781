"""Which fields of two records a function compares, exactly or within a tolerance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.checks import Check, checks
from reviewbot.flow.syntax import UNKNOWN, canonical, literal, walk
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True, eq=False)
class FieldCheck:
    """A check that compares fields of two records by their keys.

    `records` are the two, as code. `exact`: any difference fails. `loop` is the loop over the items of the
    fields, or over the fields, that the comparison stands in, if there is one.
    """

    check: Check
    fields: tuple[str, ...]
    records: tuple[str, str]
    exact: bool


def field_checks(unit: Unit) -> list[FieldCheck]:
    """Every such check of a unit, in source order."""
    found = []
    for check in checks(unit):
        if check.condition is not None:
            made = _direct(unit, check) or _through_loop(unit, check)
            if made is not None:
                found.append(made)
    return found


def _direct(unit: Unit, check: Check) -> FieldCheck | None:
    """`left[field] != right[field]`, or a predicate over both."""
    assert check.condition is not None
    for node in walk(check.condition):
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            target = node.comparisons[0]
            if isinstance(target.operator, (cst.Equal, cst.NotEqual)):
                made = _pair(unit, check, [node.left, target.comparator], exact=True)
                if made is not None:
                    return made
    return _pair(unit, check, list(_subscripts(check.condition)), exact=False)


def _through_loop(unit: Unit, check: Check) -> FieldCheck | None:
    """`for a, b in zip(left[field], right[field]): if not close(a, b): raise`."""
    assert check.condition is not None
    flow = values(unit)
    loops = {
        id(binding.value): binding.value
        for name in flow.reads(check.condition)
        for binding in flow.reaching(name) - {UNBOUND}
        if binding.kind == "loop" and binding.value is not None
    }
    subscripts = [found for value in loops.values() for found in _subscripts(value)]
    exact = isinstance(check.condition, cst.Comparison) and any(
        isinstance(target.operator, (cst.Equal, cst.NotEqual)) for target in check.condition.comparisons
    )
    return _pair(unit, check, subscripts, exact=exact)


def _subscripts(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    for below in walk(node):
        if isinstance(below, cst.Subscript) or (isinstance(below, cst.Call) and _get(below) is not None):
            yield below


def _pair(unit: Unit, check: Check, sides: list[cst.BaseExpression], *, exact: bool) -> FieldCheck | None:
    asked = [(side, _record(side)) for side in sides]
    known = [(side, record) for side, record in asked if record is not None]
    for number, (_, one) in enumerate(known):
        for _, other in known[number + 1 :]:
            if one[0] != other[0] and canonical(one[1]) == canonical(other[1]):
                fields = keys_of(unit, one[1])
                if fields:
                    return FieldCheck(check, fields, (one[0], other[0]), exact)
    return None


def _record(node: cst.BaseExpression) -> tuple[str, cst.BaseExpression] | None:
    """The record and the key that `row[key]` or `row.get(key)` asks for."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        element = node.slice[0].slice
        return (canonical(node.value), element.value) if isinstance(element, cst.Index) else None
    return _get(node) if isinstance(node, cst.Call) else None


def _get(call: cst.Call) -> tuple[str, cst.BaseExpression] | None:
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "get" and len(call.args) == 1:
        return canonical(call.func.value), call.args[0].value
    return None


def keys_of(unit: Unit, key: cst.BaseExpression) -> tuple[str, ...]:
    """The literal keys that a subscript may stand for: one string, or the strings of a literal collection
    (of this function or of the module) that a loop runs over; empty where they are not known."""
    value = literal(key)
    if isinstance(value, str):
        return (value,)
    if not isinstance(key, cst.Name):
        return ()
    reaching = values(unit).reaching(key) - {UNBOUND}
    if len(reaching) != 1:
        return ()
    (binding,) = reaching
    if binding.kind != "loop" or binding.role != "item" or binding.value is None:
        return ()
    held = literal(binding.value)
    if held is UNKNOWN and isinstance(binding.value, cst.Name):
        resolved = values(unit).resolve(binding.value)
        held = literal(resolved)
        if held is UNKNOWN and isinstance(resolved, cst.Name):
            constant = module_value(unit.file, resolved.value)
            held = _evaluated(constant) if constant is not None else UNKNOWN
    if isinstance(held, (tuple, list, set, frozenset)) and all(isinstance(item, str) for item in held):
        return tuple(sorted(held)) if isinstance(held, (set, frozenset)) else tuple(held)
    return ()


def _evaluated(node: ast.expr) -> object:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        node = node.args[0] if node.func.id in ("frozenset", "tuple", "list", "set") else node
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN
