"""How far two values are apart, as a function of the file measures it: `largest_gap(out, wanted)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee
from reviewbot.flow.syntax import canonical
from reviewbot.flow.tolerances import difference
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def gap(unit: Unit, node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The two arguments whose distance a call gives, where a function of the file returns just that."""
    function = callee(unit, node) if type(node) is cst.Call else None
    measured = None if function is None or function is unit else _measures(function)
    if measured is None:
        return None
    assert isinstance(node, cst.Call) and function is not None
    given = bind(node, function)
    left, right = given.get(measured[0]), given.get(measured[1])
    return None if left is None or right is None else (left, right)


@once
def _measures(function: Unit) -> tuple[str, str] | None:
    """The parameters whose difference a function returns, if it does nothing else."""
    if len(function.asts(ast.Return)) != 1 or function.has(ast.If, ast.Raise, ast.Assert, ast.For):
        return None
    (node,) = function.find(cst.Return)
    flow = values(function)
    sides = None if node.value is None else difference(flow.resolve(node.value))
    if sides is None:
        return None
    names = [canonical(flow.resolve(side)) for side in sides]
    given = {binding.name for binding in flow.all if binding.kind == "parameter"}
    return (names[0], names[1]) if given.issuperset(names) and names[0] != names[1] else None
