"""Rows that are looked up by the key of another row, and the names that only pick them.

In `by = {r["id"]: r for r in resumed}` and `right = by[left["id"]]` the row `right` comes from `resumed`;
`left` only says which row it is. That holds where the index is seen to be built by the same key that asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from reviewbot.flow.calls import bind, callee
from reviewbot.flow.provenance import Trace
from reviewbot.flow.syntax import canonical, dotted, walk
from reviewbot.flow.values import Binding, Values, values
from reviewbot.source.units import Unit, once

_DEPTH = 4
_SAME_ROWS = frozenset({"sorted", "list", "tuple", "reversed", "iter", "tqdm", "dict", "filter", "enumerate"})


@once
def picking(unit: Unit) -> frozenset[int]:
    """The identities of the name nodes of a unit that only pick a row by a key that both rows carry."""
    flow = values(unit)
    return frozenset(id(name) for node in _picks(unit) for name in flow.reads(node))


def from_same_rows(unit: Unit, picked: frozenset[int], left: Trace, right: Trace) -> bool:
    """Whether the rows that ask and those that are found may be the same ones: each row against its parent
    says nothing of two runs."""
    flow = values(unit)
    for name in flow.reads(unit.node):
        if id(name) not in picked:
            continue
        for binding in (b for row in _rows(flow, name) for b in flow.reaching(row)):
            if binding.value is None or not (binding in left.bindings or binding in right.bindings):
                continue
            other = right if binding in left.bindings else left
            source = set(_sources(unit, binding.value))
            if binding in other.bindings or not source or not source.isdisjoint(_looked_at(other, picked)):
                return True
    return False


def asks_own_key(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition compares the key by which a row was looked up with that of the row found: these are
    always equal."""
    if type(condition) is not cst.Comparison or len(condition.comparisons) != 1:
        return False
    flow = values(unit)
    operands = [canonical(flow.resolve(n)) for n in (condition.left, condition.comparisons[0].comparator)]
    keys = _picked_by(unit)
    same = {re.sub(r"^\w+", "", operand) for operand in operands}
    return len(same) == 1 and "" not in same and not keys.isdisjoint(operands)


@once
def _picked_by(unit: Unit) -> frozenset[str]:
    """The keys by which rows are looked up, as code."""
    return frozenset(canonical(values(unit).resolve(key)) for key in _picks(unit))


def asks_for_row(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition only asks whether the other side has the row that is looked up."""
    if type(condition) is cst.Comparison and isinstance(
        condition.comparisons[0].operator, (cst.Is, cst.IsNot)
    ):
        condition = condition.left
    flow = values(unit)
    node = flow.resolve(condition)
    if type(node) is cst.Subscript and type(node.value) is cst.Subscript:
        return False  # a field of the row
    picked = picking(unit)
    return isinstance(node, (cst.Subscript, cst.Call)) and any(id(n) in picked for n in flow.reads(node))


def _sources(unit: Unit, node: cst.BaseExpression, depth: int = _DEPTH) -> Iterator[str]:
    """The collections that rows are taken from, through other names, orders and selections of them."""
    flow = values(unit)
    for name in flow.reads(node):
        above = unit.parent(name)
        if type(above) is cst.Call and above.func is name:
            continue
        yield name.value
        for binding in flow.reaching(name) if depth else ():
            value = binding.value
            if value is None or binding.role == "part":
                continue
            if type(value) is not cst.Call or dotted(value.func) in _SAME_ROWS:
                yield from _sources(unit, value, depth - 1)


def _rows(flow: Values, name: cst.Name) -> Iterator[cst.Name]:
    """The row that a name stands for, or the row that its value is a part of."""
    node = flow.resolve(name)
    yield from [name] if node is name else flow.reads(node)


def _looked_at(found: Trace, picked: frozenset[int]) -> Iterator[str]:
    for unit, node in found.read:
        yield from _data(unit, node, picked)
        for call in walk(node):
            inner = _nested(values(unit), call) if type(call) is cst.Call else None
            if inner is not None:
                yield from (below.value for below in walk(inner) if type(below) is cst.Name)


def _data(unit: Unit, node: cst.CSTNode, without: frozenset[int] = frozenset()) -> Iterator[str]:
    """The names that are read under a node and not called."""
    for name in values(unit).reads(node):
        above = unit.parent(name)
        if id(name) not in without and not (type(above) is cst.Call and above.func is name):
            yield name.value


def _picks(unit: Unit) -> Iterator[cst.BaseExpression]:
    flow = values(unit)
    for mapping, index in _lookups(unit.node):
        if _key(unit, index) in set(_built(unit, mapping)):
            yield index
    for comprehension in (*unit.find(cst.GeneratorExp), *unit.find(cst.ListComp)):
        if not _takes_one(unit, comprehension):
            continue
        own = {below.value for below in walk(comprehension.for_in.target) if type(below) is cst.Name}
        for condition in comprehension.for_in.ifs:
            for one, other in _equalities(condition.test):
                shape = _key(unit, other)
                asks = {name.value for name in flow.reads(other)}.isdisjoint(own)
                if asks and shape and shape == _key(unit, one) and own & {n.value for n in flow.reads(one)}:
                    yield other
    for call in unit.find(cst.Call):
        function = callee(unit, call)
        if function is not None and function is not unit:
            for name, given in bind(call, function).items():
                if _key(unit, given) in set(_asked(function, function.node, name)):
                    yield given
        inner = _nested(flow, call)
        if inner is not None:
            for param, arg in zip(inner.params.params, call.args, strict=False):
                plain = not arg.star and arg.keyword is None
                if plain and _key(unit, arg.value) in set(_asked(unit, inner, param.name.value)):
                    yield arg.value


def _lookups(root: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Every `mapping[index]` and `mapping.get(index)` under a node."""
    for below in walk(root):
        if type(below) is cst.Subscript and len(below.slice) == 1:
            if type(below.slice[0].slice) is cst.Index:
                yield below.value, below.slice[0].slice.value
        elif (
            type(below) is cst.Call
            and type(below.func) is cst.Attribute
            and below.func.attr.value in ("get", "pop")
            and below.args
        ):
            yield below.func.value, below.args[0].value


def _takes_one(unit: Unit, node: cst.CSTNode) -> bool:
    above = unit.parent(node)
    if type(above) is cst.Arg:
        above = unit.parent(above)
        return type(above) is cst.Call and dotted(above.func) == "next"
    return isinstance(above, (cst.Subscript, cst.Assign))


def _equalities(node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The operands of every `==` that has to hold, each way round."""
    if type(node) is cst.BooleanOperation and type(node.operator) is cst.And:
        yield from _equalities(node.left)
        yield from _equalities(node.right)
    elif type(node) is cst.Comparison and len(node.comparisons) == 1:
        target = node.comparisons[0]
        if type(target.operator) is cst.Equal:
            yield node.left, target.comparator
            yield target.comparator, node.left


def _key(unit: Unit, node: cst.BaseExpression) -> str | None:
    """The part of a loop's row that an expression is, with the row left open: `□["id"]` of `left["id"]`.

    None for a whole row, and for what is computed from more than one row.
    """
    flow = values(unit)
    node = flow.resolve(node)
    names = set(_data(unit, node))
    if type(node) is cst.Name or len(names) != 1:
        return None
    (row,) = names
    reads = [name for name in flow.reads(node) if name.value == row]
    if not all(b.kind == "loop" and b.role != "counter" for name in reads for b in flow.reaching(name)):
        return None
    return re.sub(rf"(?<![\w.'\"]){re.escape(row)}(?![\w'\"])", "□", canonical(node))


def _built(unit: Unit, mapping: cst.BaseExpression, depth: int = _DEPTH) -> Iterator[str]:
    """The keys by which an index is seen to be built, each with its row left open."""
    if not depth:
        return
    flow = values(unit)
    found: str | None = None
    if type(mapping) is cst.Name:
        for binding in flow.reaching(mapping):
            if binding.kind in ("assign", "walrus") and binding.role == "whole" and binding.value is not None:
                yield from _built(unit, binding.value, depth - 1)
        for change in flow.mutations(mapping.value):
            if type(change.node) is cst.Assign:
                for filled, index in _lookups(change.node.targets[0].target):
                    if type(filled) is cst.Name and filled.value == mapping.value:
                        found = _key(unit, index)
    elif type(mapping) is cst.DictComp:
        found = _key(unit, mapping.key)
    elif type(mapping) is cst.Call and dotted(mapping.func) == "dict" and len(mapping.args) == 1:
        pairs = mapping.args[0].value
        if isinstance(pairs, (cst.GeneratorExp, cst.ListComp)) and type(pairs.elt) is cst.Tuple:
            found = _key(unit, pairs.elt.elements[0].value)
    elif type(mapping) is cst.Call:
        function = callee(unit, mapping)
        if function is not None and function is not unit:
            for node in function.find(cst.Return):
                if node.value is not None:
                    yield from _built(function, node.value, depth - 1)
        inner = _nested(flow, mapping)
        for below in walk(inner) if inner is not None else ():
            if type(below) is cst.Return and below.value is not None:
                yield from _built(unit, below.value, depth - 1)
    if found is not None:
        yield found


def _asked(unit: Unit, function: cst.CSTNode, parameter: str) -> Iterable[str]:
    """The keys that a helper compares a parameter with, where it does nothing else with it but raise."""
    flow = values(unit)
    found: list[str] = []
    told: set[int] = set()
    for below in walk(function):
        if type(below) is cst.Comparison:
            for one, other in _equalities(below):
                shape = _key(unit, one) if type(other) is cst.Name and other.value == parameter else None
                if shape is not None:
                    found.append(shape)
                    told.add(id(other))
        elif type(below) is cst.Raise:
            told |= {id(name) for name in flow.reads(below)}
    for mapping, index in _lookups(function):
        shapes = list(_built(unit, mapping)) if type(index) is cst.Name else []
        if shapes and type(index) is cst.Name and index.value == parameter:
            found += shapes
            told.add(id(index))
    reads = [name for name in flow.reads(function) if name.value == parameter]
    return found if all(id(name) in told for name in reads) else []


def _nested(flow: Values, call: cst.Call) -> cst.FunctionDef | None:
    """The function that a unit defines inside itself and that a call runs."""
    if type(call.func) is not cst.Name:
        return None
    reaching: frozenset[Binding] = flow.reaching(call.func)
    nodes = [binding.node for binding in reaching if binding.kind == "definition"]
    return nodes[0] if len(nodes) == len(reaching) == 1 and type(nodes[0]) is cst.FunctionDef else None
