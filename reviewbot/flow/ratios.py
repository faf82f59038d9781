"""Relative errors that code works out by hand, and how large they may be for a check to pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import comparisons
from reviewbot.flow.syntax import UNKNOWN, canonical, last_name, literal, root_name
from reviewbot.flow.tolerances import ABSOLUTE, difference, number
from reviewbot.flow.values import Values, values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_REDUCES = frozenset({"mean", "max", "amax", "median", "nanmax", "nanmean", "item", "float"})
CONVERTS = frozenset(
    {"float", "double", "cpu", "to", "astype", "detach", "numpy", "asarray", "array", "flatten", "ravel"}
)
_AT_LEAST = frozenset({"clamp", "clamp_min", "clip", "maximum", "max"})


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """`abs(other - over) / (abs(over) + small)` held below `value`, which `written` stands for, by `node`.

    `small`: something keeps the divisor from being zero, so that where `other` is zero the ratio is below 1.
    """

    node: cst.Comparison
    written: cst.BaseExpression
    value: float
    over: cst.BaseExpression
    other: cst.BaseExpression
    small: bool

    @property
    def passes_zeros(self) -> bool:
        """Whether zeros in the place of `other` pass, whatever `over` is."""
        operator = self.node.comparisons[0].operator
        inclusive = isinstance(operator, (cst.LessThanEqual, cst.GreaterThan))
        return self.value > 1 or (self.value == 1 and (self.small or inclusive))


def ratios(unit: Unit) -> Iterator[Ratio]:
    """The relative errors that the checks of a unit hold below a number."""
    flow = values(unit)
    for pair in comparisons(unit):
        node = pair.node
        if pair.relation != "order" or type(node) is not cst.Comparison or len(node.comparisons) != 1:
            continue
        left, operator, right = node.left, node.comparisons[0].operator, node.comparisons[0].comparator
        below = isinstance(operator, (cst.LessThan, cst.LessThanEqual))
        if below is pair.check.fails_when:
            continue  # a check that they differ
        limit = number(unit, right)
        found = relative_error(flow, left) if limit is not None else None
        if limit is not None and found is not None:
            yield Ratio(node, right, limit, *found)


def relative_error(
    flow: Values, node: cst.BaseExpression
) -> tuple[cst.BaseExpression, cst.BaseExpression, bool] | None:
    """What a relative error is divided by, what it is the error of, and whether the divisor is kept from
    zero."""
    node = _inside(flow, node, _REDUCES)
    if type(node) is not cst.BinaryOperation or type(node.operator) is not cst.Divide:
        return None
    pair = difference(flow.resolve(node.left))
    divisor, small = _without_least(flow, flow.resolve(node.right))
    if pair is None or not _is_absolute(divisor):
        return None
    over = canonical(_inside(flow, divisor, ABSOLUTE | _REDUCES | CONVERTS))
    for one, other in (pair, pair[::-1]):
        if canonical(_inside(flow, one, CONVERTS)) == over:
            return one, other, small
    return None


def _without_least(flow: Values, node: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
    """A divisor without what keeps it from zero: `abs(b)` of `abs(b) + 1e-6` and of `abs(b).clamp(1e-6)`."""
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
        least = literal(flow.resolve(node.right))
        return (flow.resolve(node.left), True) if least is not UNKNOWN else (node, False)
    if type(node) is cst.Call and last_name(node) in _AT_LEAST and node.args:
        given = [literal(arg.value) for arg in node.args]
        if given[-1] is not UNKNOWN:
            first = receiver(node) or node.args[0].value
            return flow.resolve(first), True
    return node, False


def _is_absolute(node: cst.BaseExpression) -> bool:
    """Whether a value has no sign, however it is reduced."""
    while type(node) is cst.Call:
        if last_name(node) in ABSOLUTE:
            return True
        inner = receiver(node) or (node.args[0].value if node.args else None)
        if last_name(node) not in _REDUCES | CONVERTS or inner is None:
            return False
        node = inner
    return False


def _inside(flow: Values, node: cst.BaseExpression, calls: frozenset[str]) -> cst.BaseExpression:
    """What calls of these names are made of: `b` of `b.float().abs()` and of `np.abs(b)`."""
    node = flow.resolve(node)
    while type(node) is cst.Call and last_name(node) in calls:
        inner = receiver(node) or (node.args[0].value if node.args else None)
        if inner is None:
            return node
        node = flow.resolve(inner)
    return node


def receiver(call: cst.Call) -> cst.BaseExpression | None:
    """What a method is called of; None for a function, `np.abs(b)`."""
    if type(call.func) is not cst.Attribute:
        return None
    return None if root_name(call.func) in _MODULES else call.func.value


_MODULES = frozenset({"np", "numpy", "torch", "math", "jnp", "tf", "mx"})
