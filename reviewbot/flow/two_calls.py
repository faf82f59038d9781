"""Two calls that are compared and that no name tells apart: `sail(sea)` against `plan(sea)`.

What each was computed from is the same, so the sides are the calls themselves: two functions that are given
the same, or one function that is told otherwise (`draw(chart, folded=True)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, compared
from reviewbot.flow.judgements import Judgement, is_distance
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# They say what is there, what is installed or what is set, and not what a run gave.
_LOOKS_UP = pattern(
    r"(?i)^(get|getattr|getenv|environ|len|type|isinstance|hasattr|next|str|int|float|id|hash|range|version)$"
    r"|version|capabilit|count|size|available|supported|exists|installed|platform|device|find|load|parse"
)


def are_two_calls(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether two values are what two functions made of the same, or one function by another setting."""
    one, other = _call(unit, left), _call(unit, right)
    if one is None or other is None or _LOOKS_UP.search(last_name(one)) or _LOOKS_UP.search(last_name(other)):
        return False
    given = {canonical(arg.value) for arg in one.args if literal(arg.value) is UNKNOWN}
    if dotted(one.func) != dotted(other.func):
        shared = given & {canonical(arg.value) for arg in other.args}
        return bool(dotted(one.func) and dotted(other.func) and shared)
    return _is_told_otherwise(one, other)


def _call(unit: Unit, node: cst.BaseExpression) -> cst.Call | None:
    """The call that a value, or what it is a part of, comes from."""
    node = values(unit).resolve(node)
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Await)):
        node = values(unit).resolve(node.expression if isinstance(node, cst.Await) else node.value)
    return node if type(node) is cst.Call else None


def _is_told_otherwise(one: cst.Call, other: cst.Call) -> bool:
    """Whether two calls of one function differ in settings that are written out, and in nothing else."""
    if len(one.args) != len(other.args):
        return False
    apart = False
    for mine, yours in zip(one.args, other.args, strict=True):
        names = [arg.keyword.value if arg.keyword is not None else "" for arg in (mine, yours)]
        if names[0] != names[1] or mine.star != yours.star:
            return False
        if canonical(mine.value) != canonical(yours.value):
            told = [literal(arg.value) for arg in (mine, yours)]
            if UNKNOWN in told or not (names[0] or all(isinstance(value, bool) for value in told)):
                return False
            apart = True
    return apart


def says_apart(unit: Unit, condition: cst.BaseExpression, outcome: bool, one: Judgement) -> bool:
    """Whether a condition's outcome says that the two values of a judgement differ, or are far apart."""
    check = Check("raise", one.node, condition, True)
    for found in compared(unit, check, condition, holds=not outcome):
        if found.relation in ("equal", "close") and found.left is one.left and found.right is one.right:
            return True
    node = condition
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return False
    operator = node.comparisons[0].operator
    above = isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual))
    if not above and not isinstance(operator, (cst.LessThan, cst.LessThanEqual)):
        return False
    bound = node.comparisons[0].comparator
    return above is outcome and not is_distance(values(unit).resolve(bound))
