"""Whether sequences that are walked in step are of one length by how they came to be.

Not by a check beside the walk, which `guards` looks for: they are written out so, stand side by side in one
table, were made by one function for the same items, are parts of one object, or come from callers that have
compared them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee, callers
from reviewbot.flow.guards import same_length
from reviewbot.flow.iteration import parametrized
from reviewbot.flow.syntax import dotted, last_name, literal
from reviewbot.flow.terms import terms
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Sides = tuple[cst.BaseExpression, ...]


def written_length(node: cst.BaseExpression) -> int | None:
    """How many items an expression says that it has: a display's, or the constant that it is cut to."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return len(node.elements)
    place = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    if not isinstance(place, cst.Slice) or place.upper is None or place.step is not None:
        return None
    lower = 0 if place.lower is None else literal(place.lower)
    upper = literal(place.upper)
    if not isinstance(lower, int) or not isinstance(upper, int) or not 0 <= lower <= upper:
        return None
    return upper - lower


def tabled_alike(unit: Unit, sides: Sides) -> bool | None:
    """Whether all sides are written out side by side in one `parametrize`, each time as long as each other;
    None where the lengths are not written there."""
    tables = {parametrized(unit, one.value) if isinstance(one, cst.Name) else None for one in sides}
    table = tables.pop()
    if tables or table is None or not isinstance(table.decorator, cst.Call) or len(table.decorator.args) < 2:
        return None
    names = literal(table.decorator.args[0].value)
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rows = table.decorator.args[1].value
    if not isinstance(listed, (list, tuple)) or not isinstance(rows, (cst.List, cst.Tuple)):
        return None
    places = [listed.index(one.value) for one in sides if isinstance(one, cst.Name)]
    alike = True
    for element in rows.elements:
        row = element.value
        if isinstance(row, cst.Call) and last_name(row) == "param":
            cells = [arg.value for arg in row.args if arg.keyword is None and not arg.star]
        elif isinstance(row, (cst.Tuple, cst.List)):
            cells = [cell.value for cell in row.elements]
        else:
            return None
        if len(cells) <= max(places):
            return None
        lengths = {written_length(cells[place]) for place in places}
        if None in lengths:
            return None
        alike = alike and len(lengths) == 1
    return alike


def made_alike(unit: Unit, sides: Sides) -> bool:
    """Whether one function of the file made all sides, an item for each item of the same thing."""
    own = terms(unit)
    over = set()
    for one in sides:
        call = values(unit).resolve(one)
        function = callee(unit, call) if isinstance(call, cst.Call) else None
        if function is None or function is unit or not isinstance(call, cst.Call):
            return False
        returns = [node.value for node in function.find(cst.Return) if node.value is not None]
        sizes = terms(function).sizes(returns[0]) if len(returns) == 1 else []
        given = [own.text(value) for name, value in bind(call, function).items() if name in sizes]
        if not given:
            return False
        over.add((function.name, *given))
    return len(over) == 1


def callers_compare(unit: Unit, sides: Sides, depth: int = 3) -> bool:
    """Whether the sides are parameters of whose lengths every caller in the file, or its own, makes sure."""
    names = [one.value for one in sides if isinstance(one, cst.Name)]
    sites = callers(unit) if unit.is_function and len(names) == len(sides) else []
    for site in sites:
        given = bind(site.call, unit)
        handed = [given[name] for name in names if name in given]
        if len(handed) < len(names):
            return False
        made_sure = all(same_length(site.caller, site.call, handed[0], other) for other in handed[1:])
        if not made_sure and not (depth and callers_compare(site.caller, tuple(handed), depth - 1)):
            return False
    return bool(sites)


def of_one_object(unit: Unit, sides: Sides) -> bool:
    """Whether the sides are parts of one thing: neighbours `rows` and `rows[1:]`, columns of one table,
    what `setUp` left in `self`. Their lengths are that thing's own affair."""
    own = terms(unit)
    return len({own.text(_owner(side)) for side in sides}) == 1


def _owner(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.Subscript) and _is_slice(node):
        node = node.value
    if isinstance(node, cst.Attribute) and dotted(node.value) in ("self", "cls"):
        return node.value
    while (inner := _inner(node)) is not None and dotted(inner) not in ("self", "cls"):
        node = inner
    return node


def _inner(node: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(node, cst.Attribute):
        return node.value
    if isinstance(node, cst.Subscript) and (_is_slice(node) or isinstance(_key(node), str)):
        return node.value
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value
    return None


def _is_slice(node: cst.Subscript) -> bool:
    return isinstance(node.slice[0].slice, cst.Slice)


def _key(node: cst.Subscript) -> object:
    place = node.slice[0].slice
    return literal(place.value) if isinstance(place, cst.Index) else None
