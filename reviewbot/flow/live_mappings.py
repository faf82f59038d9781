"""What should remember an object's attributes, or a collection that it holds, and is that very mapping.

```python
before = ticket.__dict__
visit(ticket)
assert ticket.__dict__ == before  # one dictionary by two names
```
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import same_code
from reviewbot.flow.syntax import dotted, last_name, same
from reviewbot.flow.values import MUTATORS, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


_REBINDS = pattern(
    r"(?i)set_?state|(^|_)(re|un)?load(s|ed)?(_|$)|restor|reset|revert|roll_?back|undo|un_?pickl|replac|swap|rebind"
    r"|deserial|decode|become|^__init__$|clear|recreate|rebuild"
)


@dataclass(frozen=True, slots=True)
class LiveMapping:
    """`taken` is where a name was given the mapping of an object, `change` what the unit itself changes in
    it afterwards; None where the mapping is that of all the object's attributes. That one stays, unless
    `rebinds` gives the object another one."""

    taken: cst.BaseExpression
    change: cst.CSTNode | None
    rebinds: cst.Call | None = None


def live_mapping(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> LiveMapping | None:
    """The mapping that both sides of a comparison are: one through a name, both taken of one object."""
    flow = values(unit)
    one, other = flow.resolve(left), flow.resolve(right)
    if one is other or (one is left and other is right):
        return None
    if _attributes_of(one) is not None and _attributes_of(other) is not None:
        owner, its = _attributes_of(one), _attributes_of(other)
        return _of_attributes(unit, one, other) if _is_one(unit, owner, its) else None
    if not (type(one) is cst.Attribute and same(one, other) and type(other) is cst.Attribute):
        return None
    if not _is_one(unit, one.value, other.value):
        return None
    taken = _earlier(unit, one, other)
    names = [side for side in (left, right) if type(side) is cst.Name]
    change = _changed(unit, taken, max(map(unit.index.rank, (left, right))), [one, *names])
    return None if change is None else LiveMapping(taken, change)


def _of_attributes(unit: Unit, one: cst.BaseExpression, other: cst.BaseExpression) -> LiveMapping | None:
    """The dictionary of an object's attributes, taken twice; None where it is given another one between."""
    taken, later = sorted((one, other), key=unit.index.rank)
    owner = _attributes_of(taken)
    rank = unit.index.rank
    rebinds: cst.Call | None = None
    for node in unit.find(cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Call):
        if not rank(taken) < rank(node) < rank(later):
            continue
        if isinstance(node, cst.Call):
            if rebinds is None and _may_rebind(node, owner):
                rebinds = node
            continue
        if isinstance(node, cst.Assign):
            targets = [each.target for each in node.targets]
        else:
            targets = [node.target] if isinstance(node, (cst.AnnAssign, cst.AugAssign)) else []
        if any(_is_dictionary_of(target, owner) for target in targets):
            return None
    return LiveMapping(taken, None, rebinds)


def _is_dictionary_of(node: cst.CSTNode, owner: cst.BaseExpression | None) -> bool:
    return (
        type(node) is cst.Attribute
        and node.attr.value == "__dict__"
        and owner is not None
        and same(node.value, owner)
    )


def _may_rebind(call: cst.Call, owner: cst.BaseExpression | None) -> bool:
    """Whether a call on an object, or with it, by its name may give it all its attributes anew."""
    if owner is None:
        return False
    if last_name(call) in ("setattr", "__setattr__"):
        return True
    if not _REBINDS.search(last_name(call)):
        return False
    on = type(call.func) is cst.Attribute and same(call.func.value, owner)
    return on or any(same(arg.value, owner) for arg in call.args)


def _attributes_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`ticket` of `ticket.__dict__` and of `vars(ticket)`."""
    if type(node) is cst.Attribute and node.attr.value == "__dict__":
        return node.value
    if type(node) is cst.Call and dotted(node.func) == "vars" and len(node.args) == 1:
        return node.args[0].value
    return None


def _earlier(unit: Unit, one: cst.BaseExpression, other: cst.BaseExpression) -> cst.BaseExpression:
    return min((one, other), key=unit.index.rank)


def _is_one(unit: Unit, one: cst.BaseExpression | None, other: cst.BaseExpression | None) -> bool:
    """Whether two expressions are one name with the same value."""
    if not isinstance(one, cst.Name) or not isinstance(other, cst.Name) or one.value != other.value:
        return False
    flow = values(unit)
    reaching = flow.reaching(one)
    return len(reaching) == 1 and reaching == flow.reaching(other)


def _changed(
    unit: Unit, taken: cst.BaseExpression, until: int, names: list[cst.BaseExpression]
) -> cst.CSTNode | None:
    """Where a collection is changed in place between two places by one of its names; None too where the
    attribute is given another one there."""
    rank = unit.index.rank
    found: cst.CSTNode | None = None
    ranks, changing = _changing(unit)
    for node in changing[bisect_right(ranks, rank(taken)) : bisect_left(ranks, until)]:
        if type(node) is cst.Assign:
            for target in node.targets:
                if _is_any(target.target, names):
                    return None
                if type(target.target) is cst.Subscript and _is_any(target.target.value, names):
                    found = found or node
        elif type(node) is cst.Del:
            found = found or (node if _is_item_of(node.target, names) else None)
        elif (
            type(node) is cst.Call
            and type(node.func) is cst.Attribute
            and node.func.attr.value in MUTATORS
            and _is_any(node.func.value, names)
        ):
            found = found or node
    return found


@once
def _changing(unit: Unit) -> tuple[list[int], list[cst.CSTNode]]:
    """The ranks of what may change a collection in place, and the nodes."""
    found: list[cst.CSTNode] = [*unit.find(cst.Assign, cst.Del, cst.Call)]
    return [unit.index.rank(node) for node in found], found


def _is_item_of(node: cst.BaseExpression, names: list[cst.BaseExpression]) -> bool:
    return type(node) is cst.Subscript and _is_any(node.value, names)


def _is_any(node: cst.BaseExpression, names: list[cst.BaseExpression]) -> bool:
    return any(type(node) is type(name) and same(node, name) for name in names)


def may_be_live_mapping(unit: Unit) -> bool:
    """The same asked quickly: a name is given an attribute or `vars(x)`, and compared with the same."""
    taken: dict[str, ast.expr] = {}
    for node in unit.asts(ast.Assign):
        target, value = node.targets[0], node.value
        if type(target) is ast.Name and (type(value) is ast.Attribute or _is_vars(value)):
            taken[target.id] = value
    if not taken:
        return False
    for call in unit.asts(ast.Call):
        if len(call.args) > 1 and _is_either(call.args[0], call.args[1], taken):
            return True
    return any(_is_either(node.left, node.comparators[0], taken) for node in unit.asts(ast.Compare))


def _is_either(one: ast.expr, other: ast.expr, taken: dict[str, ast.expr]) -> bool:
    """Whether one side is a name of what the other side is, or both are names of the same."""
    first = taken.get(one.id) if type(one) is ast.Name else one
    second = taken.get(other.id) if type(other) is ast.Name else other
    if first is None or second is None or (first is one and second is other):
        return False
    if _is_vars(first) or _is_vars(second):
        return True
    return type(first) is type(second) is ast.Attribute and same_code(first, second)


def _is_vars(node: ast.expr) -> bool:
    return type(node) is ast.Call and type(node.func) is ast.Name and node.func.id == "vars"
