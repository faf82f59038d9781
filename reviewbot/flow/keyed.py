"""Loops that compare two mappings key by key, and which keys they get to see."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.control import Guard, guards
from reviewbot.flow.judgements import Judgement
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, walk
from reviewbot.flow.values import Binding, Values, values
from reviewbot.flow.verdicts import every_judgement
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Sees = Literal["both", "common", "left", "right", "unknown"]

_WRAPPERS = frozenset({"sorted", "list", "set", "tuple", "tqdm", "frozenset", "iter", "reversed"})


@dataclass(frozen=True, slots=True, eq=False)
class Keyed:
    """A judgement of `left[key]` against `right[key]`.

    `over` is what the keys come from, `sees` the keys that are looked at: of both sides, those that both
    have, or those of one side. `skip` is the condition that passes over a key that the other side lacks;
    `lacked` is that side where the keys come from neither, and the other raises for a key that it lacks.
    `by_attribute`: one side is an object whose attributes the keys name.
    """

    judgement: Judgement
    key: Binding
    left: cst.BaseExpression
    right: cst.BaseExpression
    over: cst.BaseExpression
    sees: Sees
    skip: cst.BaseExpression | None = None
    guard: Guard | None = None
    by_attribute: bool = False
    lacked: cst.BaseExpression | None = None


@once
def keyed(unit: Unit) -> list[Keyed]:
    """Every judgement of a unit that looks up one key in two mappings, in source order."""
    return list(_keyed(unit))


def may_be_keyed(unit: Unit) -> bool:
    """Whether the unit's `ast` might look up one name in two mappings, or walk one and look up in another:
    yes too often, never no wrongly."""
    found = [node.slice.id for node in unit.asts(ast.Subscript) if type(node.slice) is ast.Name]
    for call in unit.calls_of(_LOOKING_UP):
        place = 0 if called_last(call) == "get" else 1
        key = call.args[place] if len(call.args) > place else None
        if type(key) is ast.Name:
            found.append(key.id)
    if not found:
        return False
    if unit.calls("items", "values"):
        return True
    return any(times > 1 and name in unit.facts.stored for name, times in Counter(found).items())


_LOOKING_UP = frozenset({"get", "getattr"})


def _keyed(unit: Unit) -> Iterator[Keyed]:
    flow = values(unit)
    for one in every_judgement(unit):
        told: set[int] = set()
        for key, left in _lookups(flow, one.left):
            for other, right in _lookups(flow, one.right):
                if other is not key or id(key) in told or key.value is None:
                    continue
                if canonical(left) != canonical(right):
                    told.add(id(key))
                    yield _seen(unit, one, key, left, right, key.value)


def _lookups(
    flow: Values, node: cst.BaseExpression, depth: int = 3
) -> Iterator[tuple[Binding, cst.BaseExpression]]:
    """The keys bound by a loop by which a value is looked up, each with the mapping."""
    for below in walk(node):
        mapping: cst.BaseExpression | None = None
        index: cst.BaseExpression | None = None
        if type(below) is cst.Subscript and len(below.slice) == 1:
            if type(below.slice[0].slice) is cst.Index:
                mapping, index = below.value, below.slice[0].slice.value
        elif type(below) is cst.Call and below.args:
            if type(below.func) is cst.Attribute and below.func.attr.value == "get":
                mapping, index = below.func.value, below.args[0].value
            elif dotted(below.func) == "getattr" and len(below.args) > 1:
                mapping, index = below.args[0].value, below.args[1].value
        if mapping is not None and type(index) is cst.Name:
            for binding in flow.reaching(index):
                if binding.kind == "loop" and binding.role in ("item", "key"):
                    yield binding, mapping
        if type(below) is cst.Name:
            for binding in flow.reaching(below):
                if binding.role == "value" and binding.value is not None:
                    key = _key_beside(flow, binding)
                    if key is not None:
                        yield key, binding.value
                    if depth:
                        yield from _lookups(flow, binding.value, depth - 1)
                elif depth and binding.kind in ("assign", "walrus") and binding.value is not None:
                    yield from _lookups(flow, binding.value, depth - 1)


def _key_beside(flow: Values, value: Binding) -> Binding | None:
    """The key of `for key, value in mapping.items()`."""
    return next(
        (b for b in flow.all if b.role == "key" and b.value is value.value and b.kind == "loop"), None
    )


def _seen(
    unit: Unit,
    one: Judgement,
    key: Binding,
    left: cst.BaseExpression,
    right: cst.BaseExpression,
    over: cst.BaseExpression,
) -> Keyed:
    flow = values(unit)
    sees = _sees(flow, over, left, right)
    around = (*_filters(unit, one, key), *guards(unit, one.node))
    for guard in around:
        for side, other in ((left, right), (right, left)):
            if _asks_for(flow, guard, key, side):
                raises = sees == "unknown" and not any(_asks_for(flow, each, key, other) for each in around)
                raises = raises and _is_looked_up(one, other)
                lacked = side if raises else None
                return Keyed(one, key, left, right, over, "common", guard.condition, guard, lacked=lacked)
    by_attribute = any(dotted(call.func) == "getattr" for call in _calls(flow, one.left, one.right))
    return Keyed(one, key, left, right, over, sees, by_attribute=by_attribute)


def _is_looked_up(one: Judgement, mapping: cst.BaseExpression) -> bool:
    """Whether a judgement itself reads a mapping by `mapping[key]`, and so raises for a key that is not
    there."""
    return any(
        type(below) is cst.Subscript and canonical(below.value) == canonical(mapping)
        for node in (one.left, one.right)
        for below in walk(node)
    )


def _calls(flow: Values, *nodes: cst.BaseExpression) -> Iterator[cst.Call]:
    for node in nodes:
        for read in (node, *(flow.resolve(name) for name in flow.reads(node))):
            yield from (below for below in walk(read) if type(below) is cst.Call)


def _filters(unit: Unit, one: Judgement, key: Binding) -> Iterator[Guard]:
    """The filters of the comprehension that a judgement stands in, as guards."""
    for above in unit.ancestors(one.left):
        if isinstance(above, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
            clause: cst.CompFor | None = above.for_in
            while clause is not None:
                for condition in clause.ifs:
                    yield Guard(above, condition.test, True)
                clause = clause.inner_for_in
        if isinstance(above, cst.BaseStatement):
            return


def _asks_for(flow: Values, guard: Guard, key: Binding, side: cst.BaseExpression) -> bool:
    """Whether a guard lets a node run only for keys that a mapping has."""
    return any(
        _is_membership(flow, part, outcome, key, side)
        for part, outcome in _parts(guard.condition, guard.outcome)
    )


def _parts(node: cst.BaseExpression, outcome: bool) -> Iterator[tuple[cst.BaseExpression, bool]]:
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        yield from _parts(node.expression, not outcome)
    elif type(node) is cst.BooleanOperation and isinstance(node.operator, cst.And) is outcome:
        yield from _parts(node.left, outcome)
        yield from _parts(node.right, outcome)
    else:
        yield node, outcome


def _is_membership(
    flow: Values, node: cst.BaseExpression, outcome: bool, key: Binding, side: cst.BaseExpression
) -> bool:
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return False
    operator, comparator = node.comparisons[0].operator, node.comparisons[0].comparator
    if isinstance(operator, (cst.In, cst.NotIn)):
        keys = _stripped(comparator)
        return (
            type(node.left) is cst.Name
            and key in flow.reaching(node.left)
            and isinstance(operator, cst.In) is outcome
            and canonical(keys) == canonical(_stripped(side))
        )
    if isinstance(operator, (cst.Is, cst.IsNot)) and literal(comparator) is None:
        # `other.get(key) is None` stands for a key that is not there.
        found = flow.resolve(node.left)
        return (
            type(found) is cst.Call
            and last_name(found) == "get"
            and all(literal(given.value) is None for given in found.args[1:])
            and type(found.func) is cst.Attribute
            and canonical(found.func.value) == canonical(side)
            and isinstance(operator, cst.IsNot) is outcome
        )
    return False


def _stripped(node: cst.BaseExpression) -> cst.BaseExpression:
    """The mapping whose keys an expression gives: `a` of `sorted(a.keys())`."""
    while type(node) is cst.Call:
        if type(node.func) is cst.Name and node.func.value in _WRAPPERS and node.args:
            node = node.args[0].value
        elif type(node.func) is cst.Attribute and not node.args and node.func.attr.value in ("keys", "items"):
            node = node.func.value
        else:
            return node
    return node


def _sees(
    flow: Values, over: cst.BaseExpression, left: cst.BaseExpression, right: cst.BaseExpression
) -> Sees:
    keys = _stripped(over)
    if type(keys) is cst.Name:
        keys = (
            _stripped(flow.resolve(keys))
            if canonical(keys) not in (canonical(left), canonical(right))
            else keys
        )
    if canonical(keys) == canonical(left):
        return "left"
    if canonical(keys) == canonical(right):
        return "right"
    if type(keys) is cst.BinaryOperation and _are_both(keys.left, keys.right, left, right):
        if type(keys.operator) is cst.BitAnd:
            return "common"
        return "both" if type(keys.operator) is cst.BitOr else "unknown"
    if type(keys) is cst.Call and type(keys.func) is cst.Attribute and len(keys.args) == 1:
        name = keys.func.attr.value
        both = _are_both(keys.func.value, keys.args[0].value, left, right)
        return (
            "common" if both and name == "intersection" else "both" if both and name == "union" else "unknown"
        )
    if isinstance(keys, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        sides = {canonical(left), canonical(right)}
        tests = [condition.test for condition in keys.for_in.ifs]
        asked = [test.comparisons[0] for test in tests if type(test) is cst.Comparison]
        if any(
            type(one.operator) is cst.In and canonical(_stripped(one.comparator)) in sides for one in asked
        ):
            return "common"
    return "unknown"


def _are_both(
    one: cst.BaseExpression, other: cst.BaseExpression, left: cst.BaseExpression, right: cst.BaseExpression
) -> bool:
    found = {canonical(_stripped(one)), canonical(_stripped(other))}
    return found == {canonical(left), canonical(right)}


def asks_for_key(unit: Unit, condition: cst.BaseExpression, judged: Collection[Judgement]) -> bool:
    """Whether a condition only asks whether one of the mappings that judgements look up has the key."""
    flow = values(unit)
    for one in judged:
        for side in (one.left, one.right):
            for key, mapping in _lookups(flow, side):
                for outcome in (True, False):
                    if _asks_for(flow, Guard(condition, condition, outcome), key, mapping):
                        return True
    return False


def compares_by_key(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether what is filtered are the keys of two sides, which is what pair-keys-intersect reports."""
    inside = {id(below) for below in walk(node)}
    return any(
        one.sees == "common" and (id(one.judgement.left) in inside or id(one.over) in inside)
        for one in keyed(unit)
    )
