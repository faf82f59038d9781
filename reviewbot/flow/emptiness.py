"""Whether what a loop or a quantifier runs over may hold nothing, and nothing around it looks at that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.guards import non_empty, same_keys
from reviewbot.flow.iteration import Iterable
from reviewbot.flow.syntax import dotted, last_name
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def may_be_empty(unit: Unit, node: cst.CSTNode, over: cst.BaseExpression, found: Iterable) -> bool:
    """Whether an iterable is one that may hold nothing, and nothing around `node` looks at that."""
    if not found.says or found.empty is False:
        return False
    if found.empty:
        return True
    if any(non_empty(unit, node, part) for part in _parts(over)):
        return False
    if found.unit is not unit:
        return not _hands_out_some(found.unit)
    if isinstance(found.node, cst.BaseExpression) and non_empty(unit, node, found.node):
        return False
    text = _split_text(found.node)
    if text is not None and non_empty(unit, node, text):
        return False  # a text that holds something has a line
    if isinstance(found.node, cst.BinaryOperation):
        return not same_keys(unit, node, found.node.left, found.node.right)
    return not _some_of_the_same(unit, found.node) and not _is_counted(unit, found.node)


def _split_text(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The text of `text.splitlines()`."""
    function = node.func if isinstance(node, cst.Call) else None
    lines = isinstance(function, cst.Attribute) and function.attr.value == "splitlines"
    return function.value if lines and isinstance(function, cst.Attribute) else None


def _hands_out_some(function: Unit) -> bool:
    """Whether a function fails before it returns nothing: `if not found: raise`, and `return found`."""
    returns = function.find(cst.Return) if function.is_function else []
    return bool(returns) and all(
        node.value is not None and non_empty(function, node, node.value) for node in returns
    )


def _parts(over: cst.BaseExpression) -> list[cst.BaseExpression]:
    """An iterable, and where it is a `zip` or an `enumerate` what that takes its items from."""
    if isinstance(over, cst.Call) and dotted(over.func) in ("zip", "enumerate", "product", "sorted", "list"):
        return [over, *(part for arg in over.args if arg.keyword is None for part in _parts(arg.value))]
    return [over]


def _some_of_the_same(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether an `any(...)` elsewhere asks about what a comprehension takes its items from."""
    if not isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
        return False
    source = unit.text(node.for_in.iter)
    for call in unit.find(cst.Call):
        if last_name(call) == "any" and call.args:
            asked = call.args[0].value
            if isinstance(asked, (cst.GeneratorExp, cst.ListComp)) and unit.text(asked.for_in.iter) == source:
                return True
    return False


def _is_counted(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a check counts, or asserts that there is, what the same filter lets through."""
    if not isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
        return False
    asked = tuple(unit.text(one.test) for one in node.for_in.ifs)
    return any(other is not node and _is_looked_at(unit, other) for other in _by_filter(unit).get(asked, ()))


@once
def _by_filter(unit: Unit) -> dict[tuple[str, ...], list[cst.BaseComp]]:
    """The collections that comprehensions of a unit make, by the texts of what they ask."""
    found: dict[tuple[str, ...], list[cst.BaseComp]] = {}
    for node in unit.find(cst.ListComp, cst.SetComp, cst.DictComp):
        found.setdefault(tuple(unit.text(one.test) for one in node.for_in.ifs), []).append(node)
    return found


def _is_looked_at(unit: Unit, node: cst.CSTNode) -> bool:
    above = unit.parent(node)
    if isinstance(above, cst.Arg):
        return last_name(unit.parent(above) or above) == "len"
    return isinstance(above, cst.Assert) and above.test is node
