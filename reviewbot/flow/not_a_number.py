"""Which checks let NaN pass, whatever it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.assertions import KNOWN
from reviewbot.flow.checks import Check, call_of, operand, predicate
from reviewbot.flow.syntax import keyword_argument, last_name, literal
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What is no number of those in a collection, but how many or which there are, or of what kind.
_ABOUT = frozenset({
    "len", "keys", "set", "frozenset", "type", "size", "dim", "numel", "id", "isinstance", "hasattr", "bool",
})  # fmt: skip
_FIELDS = frozenset({"shape", "dtype", "ndim", "size", "device", "columns", "index", "names"})
_WRAPPING = frozenset({"all", "any", "bool"})


def lets_nan_pass(unit: Unit, check: Check) -> bool:
    """Whether a check is known not to fail over a NaN among the values that it reads. False where it would
    fail, and where that is unknown."""
    if check.condition is not None:
        return _under_nan(unit, check.condition) not in (check.fails_when, None)
    call = call_of(check.node)
    if check.kind != "call" or call is None:
        return False
    relation, count = KNOWN.get(last_name(call), (None, 0))
    first, second = operand(call, 0), operand(call, 1)
    if relation in ("true", "false") and count == 1 and first is not None:
        if last_name(call) in ("assertIsNone", "assertIsNotNone", "assertEmpty", "assertNotEmpty"):
            return True
        return _under_nan(unit, first) not in (relation == "false", None)
    if relation is None or first is None or second is None:
        return False
    if relation in ("different", "distinct", "type", "match") or _takes_nan_as_equal(call):
        return True
    return _is_about(unit, first) or _is_about(unit, second)


def _takes_nan_as_equal(call: cst.Call) -> bool:
    told = keyword_argument(call, "equal_nan")
    return told is not None and literal(told) is True


def _under_nan(unit: Unit, node: cst.BaseExpression) -> bool | str | None:
    """The truth value of a condition in which every number is NaN; `untouched` where it has none, and None
    where that is unknown."""
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        inner = _under_nan(unit, node.expression)
        return not inner if isinstance(inner, bool) else inner
    if type(node) is cst.BooleanOperation:
        found = {_under_nan(unit, node.left), _under_nan(unit, node.right)}
        ends = type(node.operator) is cst.Or  # the value that decides alone
        if ends in found:
            return ends
        if None in found:
            return None
        # With a part that NaN does not touch, the other decides if that one leaves it to it.
        return not ends if (not ends) in found else "untouched"
    if type(node) is cst.Comparison:
        return _compared(unit, node)
    if type(node) is cst.Call:
        return _called(unit, node)
    return None


def _compared(unit: Unit, node: cst.Comparison) -> bool | str | None:
    operators = {type(target.operator) for target in node.comparisons}
    sides = [node.left, *(target.comparator for target in node.comparisons)]
    about = any(_is_about(unit, side) for side in sides)
    if about or operators <= {cst.Is, cst.IsNot, cst.In, cst.NotIn}:
        return "untouched"
    return operators == {cst.NotEqual}


def _called(unit: Unit, call: cst.Call) -> bool | str | None:
    name = last_name(call)
    if name in ("isnan", "isna"):
        return True
    if name in ("isfinite", "isclose", "is_integer"):
        return _takes_nan_as_equal(call)
    if name in ("isinstance", "hasattr", "len", "callable", "issubclass"):
        return "untouched"
    if name in _WRAPPING:
        inner = call.args[0].value if len(call.args) == 1 else None
        if inner is None and type(call.func) is cst.Attribute:
            inner = call.func.value
        if isinstance(inner, (cst.GeneratorExp, cst.ListComp)):
            inner = inner.elt
        return _under_nan(unit, inner) if inner is not None else None
    relation = predicate(call, unit)
    if relation in ("equal", "close"):
        sides = [arg.value for arg in call.args[:2]]
        if any(_is_about(unit, side) for side in sides):
            return "untouched"
        return _takes_nan_as_equal(call)
    return None


def _is_about(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression is no number that could be NaN: a length, a shape, a key set, a text."""
    node = values(unit).resolve(node)
    if type(node) is cst.Call:
        return last_name(node) in _ABOUT
    if type(node) is cst.Subscript:
        return _is_about(unit, node.value) if type(node.value) is cst.Attribute else False
    if type(node) is cst.Attribute:
        return node.attr.value in _FIELDS
    return isinstance(literal(node), (str, bytes, bool)) or (type(node) is cst.Name and node.value == "None")
