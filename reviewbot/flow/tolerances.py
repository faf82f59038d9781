"""How far apart two values may be for a comparison to pass, where the code says so in numbers."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.checks import comparisons, operand
from reviewbot.flow.syntax import UNKNOWN, dotted, last_name, literal
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Sort = Literal["relative", "absolute"]

KEYWORDS: dict[str, Sort] = {
    "rtol": "relative", "rel_tol": "relative", "rel": "relative", "reltol": "relative",
    "atol": "absolute", "abs_tol": "absolute", "abs": "absolute", "delta": "absolute", "abstol": "absolute",
    "places": "absolute", "decimal": "absolute",
}  # fmt: skip
# Where each function takes its tolerances by position.
POSITIONS: dict[str, dict[int, str]] = {
    "allclose": {2: "rtol", 3: "atol"},
    "isclose": {2: "rtol", 3: "atol"},
    "assert_allclose": {2: "rtol", 3: "atol"},
    "assert_close": {},
    "approx": {1: "rel", 2: "abs"},
    "assertAlmostEqual": {2: "places"},
    "assertAlmostEquals": {2: "places"},
    "assert_almost_equal": {2: "decimal"},
    "assert_array_almost_equal": {2: "decimal"},
}
# What makes a difference one without a sign.
ABSOLUTE = frozenset({"abs", "fabs", "absolute", "norm"})
_NEGATIVE = frozenset({"assertNotAlmostEqual", "assertNotAlmostEquals", "assertNotAllClose"})
NAMED_ONLY = frozenset({"rel", "abs", "delta", "places", "decimal"})


@dataclass(frozen=True, slots=True, eq=False)
class Tolerance:
    """One tolerance of one comparison: its value, where it is written, and what is compared.

    `node` is the call or the comparison, `written` the expression of the tolerance, `name` the keyword
    it goes by ("" in `abs(a - b) < 3`). `expected` is what the code compares with, `actual` what it compares,
    where these are known.
    """

    node: cst.BaseExpression
    written: cst.BaseExpression
    name: str
    sort: Sort
    value: float
    expected: cst.BaseExpression | None = None
    actual: cst.BaseExpression | None = None

    @property
    def callee(self) -> str:
        """The last name of the call, "" for a comparison."""
        return last_name(self.node) if type(self.node) is cst.Call else ""


def tolerances(unit: Unit) -> Iterator[Tolerance]:
    """The tolerances that a unit writes out, by call and by `abs(a - b) < limit` in a check."""
    for call in unit.find(cst.Call):
        if last_name(call) not in _NEGATIVE:
            yield from of_call(unit, call)
    for pair in comparisons(unit):
        if pair.relation == "order" and type(pair.node) is cst.Comparison:
            yield from _of_difference(unit, pair.node, demanded=not pair.check.fails_when)


def of_call(unit: Unit, call: cst.Call) -> Iterator[Tolerance]:
    """The tolerances that a call is given as numbers."""
    name = last_name(call)
    if name == "approx":
        expected, actual = (call.args[0].value if call.args else None), _held_against(unit, call)
    else:
        expected, actual = operand(call, 1), operand(call, 0)
    places = POSITIONS.get(name, {})
    for position, arg in enumerate(call.args):
        if arg.star:
            return
        keyword = arg.keyword.value if arg.keyword is not None else places.get(position, "")
        if keyword not in KEYWORDS or (keyword in NAMED_ONLY and name not in POSITIONS):
            continue
        value = number(unit, arg.value)
        if value is None:
            continue
        if keyword in ("places", "decimal"):
            value = (0.5 if keyword == "places" else 1.5) * 10.0 ** -min(max(value, -300), 300)
        yield Tolerance(call, arg.value, keyword, KEYWORDS[keyword], value, expected, actual)


def _held_against(unit: Unit, call: cst.Call) -> cst.BaseExpression | None:
    """What `pytest.approx(…)` is compared with."""
    above = unit.parent(call)
    if type(above) is cst.ComparisonTarget:
        above = unit.parent(above)
        return above.left if type(above) is cst.Comparison else None
    return above.comparisons[0].comparator if type(above) is cst.Comparison else None


def _of_difference(unit: Unit, node: cst.Comparison, *, demanded: bool) -> Iterator[Tolerance]:
    """The tolerance of `abs(a - b) < limit` if that is `demanded`, else of `abs(a - b) > limit`."""
    if len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    if isinstance(target.operator, (cst.LessThan, cst.LessThanEqual)):
        left, right = node.left, target.comparator
    elif isinstance(target.operator, (cst.GreaterThan, cst.GreaterThanEqual)):
        left, right = target.comparator, node.left
    else:
        return
    if not demanded:
        left, right = right, left
    pair = difference(values(unit).resolve(left))
    limit = number(unit, right)
    if pair is not None and limit is not None:
        yield Tolerance(node, right, "", "absolute", limit, *pair[::-1])


def difference(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The two sides of `abs(a - b)`, however it is spelt and reduced (`(a - b).abs().max()`), or None."""
    absolute = False
    while True:
        if type(node) is cst.BinaryOperation:
            return (node.left, node.right) if absolute and type(node.operator) is cst.Subtract else None
        if type(node) is not cst.Call:
            return None
        name = last_name(node)
        if name == "dist" and len(node.args) == 2 and not node.args[1].star:
            return node.args[0].value, node.args[1].value
        absolute = absolute or name in ABSOLUTE
        inner = node.args[0].value if node.args and not node.args[0].star else None
        if type(node.func) is cst.Attribute and not dotted(node.func).startswith(
            ("np.", "torch.", "math.", "jnp.", "numpy.")
        ):
            inner = node.func.value
        if inner is None:
            return None
        node = inner


def number(unit: Unit, node: cst.BaseExpression) -> float | None:
    """The number that an expression stands for: written out, or a name for one in the unit or its module."""
    resolved = values(unit).resolve(node)
    value = literal(resolved)
    if value is UNKNOWN and type(resolved) is cst.Name and not values(unit).reaching(resolved):
        given = module_value(unit.file, resolved.value)
        try:
            value = ast.literal_eval(given) if given is not None else UNKNOWN
        except ValueError:
            return None
    return real(value)


def real(value: object) -> float | None:
    """A number as a float, one beyond all of these as the largest; None for what is no number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.copysign(sys.float_info.max, value > 0 or -1)
