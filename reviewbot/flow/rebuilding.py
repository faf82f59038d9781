"""What a call gives to the fields of an object that it builds from another, however that is spelt.

By keyword and position, by `**body` where the mapping is written out in the function, and by what is set on
the new object right away: `replace(Request(old.id), seed=old.seed)`, `Ticket(old.id)._replace(…)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.classes import given
from reviewbot.flow.syntax import dotted, last_name, literal, subscript
from reviewbot.flow.values import UNBOUND, values
from reviewbot.source.units import once, root_of

if TYPE_CHECKING:
    from reviewbot.flow.classes import Known
    from reviewbot.source.units import Unit

_REPLACING = frozenset({"replace", "evolve"})
_REPLACING_METHODS = frozenset({"_replace", "model_copy", "copy"})


def rebuilt(unit: Unit, call: cst.Call, known: Known) -> dict[str, cst.BaseExpression] | None:
    """What each field is given by a constructor call, and by what replaces fields of its result; None where a
    star hides some."""
    found = given(call, known, known.found.fields, spread=True)
    if found is None:
        return None
    for arg in call.args:
        if arg.star == "**":
            further = _mapping(unit, arg.value, call)
            if further is None:
                return None
            found |= further
    return found | _replaced(unit, call)


def _spreads(call: cst.Call) -> bool:
    return any(arg.star == "**" for arg in call.args)


def _mapping(unit: Unit, node: cst.BaseExpression, call: cst.Call) -> dict[str, cst.BaseExpression] | None:
    """The keys and values of a mapping that a function writes out, item by item or at once."""
    flow = values(unit)
    made = flow.resolve(node)
    found: dict[str, cst.BaseExpression] = {}
    if isinstance(made, cst.Dict):
        for element in made.elements:
            key = literal(element.key) if isinstance(element, cst.DictElement) else None
            if not isinstance(key, str):
                return None
            found[key] = element.value
    elif isinstance(made, cst.Call) and dotted(made.func) == "dict":
        for arg in made.args:
            if arg.keyword is None:
                return None
            found[arg.keyword.value] = arg.value
    else:
        return None
    if not isinstance(node, cst.Name):
        return found
    for change in flow.mutations(node.value):
        key_of = subscript(change.node.targets[0].target) if isinstance(change.node, cst.Assign) else None
        if key_of is None or not isinstance(key_of[1], str) or not isinstance(change.node, cst.Assign):
            return None
        found[key_of[1]] = change.node.value
    return None if any(other is not call for other in flow.escapes(node.value)) else found


def _replaced(unit: Unit, call: cst.Call) -> dict[str, cst.BaseExpression]:
    """What is replaced in the result of a call, where it is made."""
    above = unit.parent(call)
    outer = unit.parent(above) if above is not None else None
    if not isinstance(outer, cst.Call):
        return {}
    if isinstance(above, cst.Arg) and outer.args[0] is above and last_name(outer) in _REPLACING:
        return {arg.keyword.value: arg.value for arg in outer.args if arg.keyword is not None}
    if not isinstance(above, cst.Attribute) or outer.func is not above:
        return {}
    if last_name(outer) not in _REPLACING_METHODS:
        return {}
    found = {arg.keyword.value: arg.value for arg in outer.args if arg.keyword is not None}
    update = found.pop("update", None)
    return found | (_mapping(unit, update, outer) or {} if update is not None else {})


def may_be_of(unit: Unit, name: cst.Name, known: Known, carried: list[str]) -> bool:
    """Whether a parameter of which nothing says what it is may be one of the class: all that is read of it
    are fields of the class, and most of these are."""
    reaching = values(unit).reaching(name) - {UNBOUND}
    fields = {field.name for field in known.found.fields}
    if len(reaching) != 1 or (len(carried) < _ENOUGH and 2 * len(carried) <= len(fields)):
        return False
    (binding,) = reaching
    if binding.kind != "parameter" or not isinstance(binding.node, cst.Param) or binding.node.annotation:
        return False
    return name.value not in ("self", "cls") and _read_of(unit).get(name.value, set()) <= fields


_ENOUGH = 3


@once
def _read_of(unit: Unit) -> dict[str, set[str]]:
    """The attributes that are read of each name."""
    found: dict[str, set[str]] = {}
    for node in unit.asts(ast.Attribute):
        if isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


@once
def may_spread(unit: Unit) -> bool:
    """Whether a mapping that the function writes out, of fields of one value, may be given to a call."""
    if all(keyword.arg for keyword in unit.asts(ast.keyword)):
        return False
    held = [
        *(value for node in unit.asts(ast.Dict) for value in node.values),
        *(keyword.value for call in unit.calls_of(frozenset({"dict"})) for keyword in call.keywords),
    ]
    roots = [
        root
        for value in held
        if isinstance(value, (ast.Attribute, ast.Subscript))
        if (root := root_of(value))
    ]
    return len(roots) > len(set(roots))


def is_written_plainly(unit: Unit, call: cst.Call) -> bool:
    """Whether all that a new object is given stands in its constructor's call."""
    return not _spreads(call) and not _replaced(unit, call)
