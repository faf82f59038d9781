"""Fields that are taken out of both sides before they are compared as a whole.

`left.pop("logprobs"); right.pop("logprobs"); assert left == right` compares everything but the field; so does
a comprehension that leaves keys out, a function of the file that does so, and `replace(row, logprobs=None)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import callee, module_value
from reviewbot.flow.carried import REBUILDING, VOLATILE
from reviewbot.flow.syntax import UNKNOWN, canonical, last_name, literal, subscript
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def popped(unit: Unit, name: cst.Name, before: cst.CSTNode) -> frozenset[str]:
    """The fields that statements before a place take out of a value, or of the rows in it, unread."""
    rank = unit.index.rank
    found: set[str] = set()
    for owner, field, node in (*_removals(unit), *_handed(unit)):
        if (
            rank(node) < rank(before)
            and name.value in _holders(unit, owner)
            and not _is_bound_after(unit, name, node)
        ):
            found.add(field)
    return frozenset(field for field in found if not VOLATILE.search(field))


def taken_by(function: Unit, returned: cst.Return) -> frozenset[str]:
    """The fields that a function takes out of what it is given, or of a copy, before it returns that; `row`
    without `row.logprobs = None`."""
    value = returned.value
    if type(value) is not cst.Name or not may_take_out(function):
        return frozenset()
    flow = values(function)
    given = {one.name for one in flow.slice(value) if one.kind == "parameter"} | (
        {value.value} if any(one.kind == "parameter" for one in flow.reaching(value)) else set()
    )
    if not given:
        return frozenset()
    found = set()
    for owner, field, _ in (*_removals(function), *_emptied(function)):
        holders = _holders(function, owner)
        if value.value in holders or any(one.name in given for one in flow.slice(owner)):
            found.add(field)
    return frozenset(field for field in found if not VOLATILE.search(field))


def _emptied(unit: Unit) -> Iterator[tuple[cst.BaseExpression, str, cst.CSTNode]]:
    """The fields that are set to None, or to another constant."""
    for node in unit.find(cst.Assign):
        target = node.targets[0].target
        if literal(node.value) is UNKNOWN:
            continue
        key = subscript(target)
        if key is not None and isinstance(key[1], str):
            yield key[0], key[1], node
        elif type(target) is cst.Attribute:
            yield target.value, target.attr.value, node


@once
def may_take_out(unit: Unit) -> bool:
    """Whether a function could take a field out of something and return that, by `ast`."""
    if not unit.has(ast.Return):
        return False
    if unit.calls("pop") or unit.has(ast.Delete):
        return True
    return any(
        isinstance(node.targets[0], (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Constant)
        for node in unit.asts(ast.Assign)
    )


def _handed(unit: Unit) -> Iterator[tuple[cst.BaseExpression, str, cst.CSTNode]]:
    """The fields that a function of the file takes out of what a statement gives it: `drop(row, "mask")`."""
    for statement in unit.find(cst.Expr):
        call = statement.value
        function = callee(unit, call) if type(call) is cst.Call else None
        if function is None or function is unit or not function.calls("pop") or function.has(ast.Return):
            continue
        assert isinstance(call, cst.Call)
        first = call.args[0].value if call.args and not call.args[0].star else None
        if first is None:
            continue
        owned = [one for one in function.find(cst.Call) if last_name(one) == "pop" and one.args]
        for one in owned:
            field = literal(one.args[0].value)
            fields = [field] if field is not UNKNOWN else [literal(arg.value) for arg in call.args[1:]]
            for name in fields:
                if isinstance(name, str):
                    yield first, name, call


def _is_bound_after(unit: Unit, name: cst.Name, node: cst.CSTNode) -> bool:
    """Whether a name is bound anew after a place."""
    rank = unit.index.rank
    return any(rank(binding.node) > rank(node) for binding in values(unit).reaching(name))


def _removals(unit: Unit) -> Iterator[tuple[cst.BaseExpression, str, cst.CSTNode]]:
    for call in unit.find(cst.Call):
        if last_name(call) == "pop" and type(call.func) is cst.Attribute and call.args:
            field = literal(call.args[0].value)
            if isinstance(field, str) and isinstance(unit.parent(call), cst.Expr):
                yield call.func.value, field, call
    for node in unit.find(cst.Del):
        targets = [e.value for e in node.target.elements] if type(node.target) is cst.Tuple else [node.target]
        for target in targets:
            key = subscript(target)
            if key is not None and isinstance(key[1], str):
                yield key[0], key[1], node


def _holders(unit: Unit, owner: cst.BaseExpression) -> set[str]:
    """The names of a row and of the collections that a loop takes it from: in `for row in left + right` of
    both."""
    flow = values(unit)
    found: set[str] = set()
    work: list[cst.CSTNode] = [owner]
    while work:
        for name in flow.reads(work.pop()):
            if name.value not in found:
                found.add(name.value)
                work += [b.value for b in flow.reaching(name) if b.kind == "loop" and b.value is not None]
    return found


def left_out(unit: Unit, node: cst.BaseExpression) -> tuple[frozenset[str], cst.BaseExpression] | None:
    """The fields without which an expression builds a value anew, and that value: `{k: v for k, v in
    row.items() if k != "time"}`, `replace(row, time=None)`."""
    if type(node) is cst.DictComp:
        return _of_comprehension(unit, node)
    if type(node) is cst.Call and last_name(node) in REBUILDING:
        owner = node.func.value if type(node.func) is cst.Attribute else None
        module = owner is None or canonical(owner) in unit.file.imports
        of = (node.args[0].value if node.args else None) if module else owner
        fields = {
            arg.keyword.value
            for arg in node.args
            if arg.keyword is not None and literal(arg.value) is not UNKNOWN
        }
        given = sum(arg.keyword is not None for arg in node.args)
        kept = frozenset(field for field in fields if not VOLATILE.search(field))
        return (kept, of) if of is not None and kept and len(fields) == given else None
    return None


def _of_comprehension(unit: Unit, node: cst.DictComp) -> tuple[frozenset[str], cst.BaseExpression] | None:
    clause = node.for_in
    source = clause.iter
    if clause.inner_for_in is not None or len(clause.ifs) != 1 or last_name(source) != "items":
        return None
    test = clause.ifs[0].test
    if not isinstance(source, cst.Call) or not isinstance(source.func, cst.Attribute):
        return None
    if type(test) is not cst.Comparison or canonical(test.left) != canonical(node.key):
        return None
    target = test.comparisons[0]
    if isinstance(target.operator, cst.NotIn):
        given = _listed(unit, target.comparator)
    elif isinstance(target.operator, cst.NotEqual):
        given = [literal(target.comparator)]
    else:
        return None
    fields = frozenset(one for one in given if isinstance(one, str) and not VOLATILE.search(one))
    return (fields, source.func.value) if fields else None


def _listed(unit: Unit, node: cst.BaseExpression) -> list[object]:
    node = values(unit).resolve(node)
    if type(node) is cst.Name and not values(unit).reaching(node):
        made = module_value(unit.file, node.value)
        if isinstance(made, ast.Call) and made.args:
            made = made.args[0]
        if isinstance(made, (ast.Tuple, ast.List, ast.Set)):
            return [e.value for e in made.elts if isinstance(e, ast.Constant)]
        return []
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return [literal(element.value) for element in node.elements]
    return []
