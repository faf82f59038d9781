"""Linear searches by key: a walk over a collection that keeps what equals a value from outside of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee
from reviewbot.flow.control import statements
from reviewbot.flow.indexes import holder, rows_of
from reviewbot.flow.syntax import UNKNOWN, conjuncts, dotted, literal, walk
from reviewbot.flow.values import Binding, Values, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

Loop = cst.For | cst.CompFor
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_FRAMES = frozenset({"loc", "query"})


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """A search in `rows` for what equals `wanted`, read from each row as `found`. `made` is the search
    itself, in another function of the file where `node` is a call."""

    unit: Unit
    node: cst.CSTNode
    rows: Binding
    found: cst.BaseExpression
    wanted: cst.BaseExpression
    made: tuple[Unit, cst.CSTNode]


def scans(unit: Unit) -> Iterator[Scan]:
    """The searches of a unit, in source order, with those of the functions of the file that it calls."""
    for node in unit.find(*_COMPREHENSIONS, cst.For, cst.Subscript, cst.Call):
        if type(node) is cst.Call:
            yield from _called(unit, node)
        else:
            yield from _here(unit, node)


def _here(unit: Unit, node: cst.CSTNode) -> Iterator[Scan]:
    """The search that a loop, a comprehension or a frame's mask makes."""
    flow = values(unit)
    if type(node) is cst.For:
        found = _of_loop(flow, node)
    elif type(node) is cst.Subscript:
        found = _of_frame(flow, node)
    else:
        found = _of_comprehension(flow, node)
    if found is not None:
        rows, inner, wanted = found
        yield Scan(unit, node, rows, inner, wanted, (unit, node))


def repeated(unit: Unit, scan: Scan) -> Loop | None:
    """The loop that makes a search again for each of its own values, over rows that stay the same."""
    flow = values(unit)
    for above in unit.ancestors(scan.node):
        loops: list[Loop] = []
        if type(above) is cst.For:
            loops = [above]
        elif isinstance(above, _COMPREHENSIONS):
            loops = list(_clauses(above))
        elif isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return None
        for loop in loops:
            if _again(flow, scan, loop, above):
                return loop
    return None


def _again(flow: Values, scan: Scan, loop: Loop, around: cst.CSTNode) -> bool:
    inside = {id(below) for below in walk(around)}
    own = {id(below) for below in walk(scan.node)}
    if id(scan.node) in {id(below) for below in walk(loop.iter)} or id(scan.rows.node) in inside:
        return False
    if any(id(change.node) in inside for change in flow.mutations(scan.rows.name)):
        return False
    if _is_short(loop.iter):
        return False
    turning = inside - own
    return any(
        id(binding.node) in turning for name in flow.reads(scan.wanted) for binding in flow.reaching(name)
    )


def _is_short(node: cst.BaseExpression) -> bool:
    """Whether a loop has a few turns that are written out."""
    if type(node) is cst.Call and dotted(node.func) in ("enumerate", "sorted", "list") and node.args:
        return _is_short(node.args[0].value)
    if type(node) is cst.Call and dotted(node.func) == "range":
        return all(literal(arg.value) is not UNKNOWN for arg in node.args)
    return isinstance(node, (cst.List, cst.Tuple, cst.Set, cst.Dict))


def _of_comprehension(
    flow: Values, node: cst.CSTNode
) -> tuple[Binding, cst.BaseExpression, cst.BaseExpression] | None:
    assert isinstance(node, _COMPREHENSIONS)
    rows = _searched(flow, node.for_in.iter)
    if rows is None:
        return None
    own = {name.value for clause in _clauses(node) for name in walk(clause.target) if type(name) is cst.Name}
    tests = [condition.test for clause in _clauses(node) for condition in clause.ifs]
    if not tests and not isinstance(node, cst.DictComp):
        tests = [node.elt] if isinstance(node.elt, (cst.Comparison, cst.BooleanOperation)) else []
    return _by_equality(flow, rows, own, tests)


def _of_loop(flow: Values, node: cst.For) -> tuple[Binding, cst.BaseExpression, cst.BaseExpression] | None:
    body = statements(node.body)
    if len(body) != 1 or type(body[0]) is not cst.If or body[0].orelse is not None:
        return None
    rows = _searched(flow, node.iter)
    if rows is None:
        return None
    own = {name.value for name in walk(node.target) if type(name) is cst.Name}
    return _by_equality(flow, rows, own, [body[0].test])


def _of_frame(
    flow: Values, node: cst.Subscript
) -> tuple[Binding, cst.BaseExpression, cst.BaseExpression] | None:
    """`frame[frame["key"] == wanted]`, `frame.loc[frame.key == wanted]`."""
    frame = node.value
    if type(frame) is cst.Attribute and frame.attr.value in _FRAMES:
        frame = frame.value
    if type(frame) is not cst.Name or len(node.slice) != 1:
        return None
    index = node.slice[0].slice
    rows = holder(flow, frame)
    if rows is None or type(index) is not cst.Index or type(index.value) is not cst.Comparison:
        return None
    test = index.value
    if type(test.left) is cst.Subscript:
        column = test.left.slice[0].slice
        if type(column) is not cst.Index or not isinstance(literal(column.value), str):
            return None
    elif type(test.left) is not cst.Attribute:
        return None
    return _by_equality(flow, rows, {frame.value}, [test])


def _searched(flow: Values, node: cst.BaseExpression) -> Binding | None:
    rows = rows_of(flow, node)
    if rows is None or rows.value is None:
        return rows
    return None if _is_short(rows.value) else rows


def _by_equality(
    flow: Values, rows: Binding, own: set[str], tests: list[cst.BaseExpression]
) -> tuple[Binding, cst.BaseExpression, cst.BaseExpression] | None:
    """The first equality between something read from a row and something from outside; None where another
    kind of test stands beside it, so that no key would answer."""
    pair = None
    for test in (part for whole in tests for part in conjuncts(whole)):
        if type(test) is not cst.Comparison or len(test.comparisons) != 1:
            return None
        if type(test.comparisons[0].operator) is not cst.Equal:
            return None
        sides = (test.left, test.comparisons[0].comparator)
        inner = [side for side in sides if own & {name.value for name in flow.reads(side)}]
        if len(inner) == 1:
            outer = sides[1] if inner[0] is sides[0] else sides[0]
            if literal(outer) is UNKNOWN:
                pair = pair or (rows, inner[0], outer)
    return pair


def _clauses(node: cst.CSTNode) -> Iterator[cst.CompFor]:
    assert isinstance(node, _COMPREHENSIONS)
    clause: cst.CompFor | None = node.for_in
    while clause is not None:
        yield clause
        clause = clause.inner_for_in


def _called(unit: Unit, call: cst.Call) -> Iterator[Scan]:
    """The searches of a called function of the file, over what it is given for what it is given."""
    function = callee(unit, call)
    if function is None or function is unit or not may_scan(function):
        return
    given = bind(call, function)
    inside = values(function)
    for inner in scans_of(function):
        rows = holder(values(unit), given[inner.rows.name]) if inner.rows.name in given else None
        names = [name.value for name in inside.reads(inner.wanted) if name.value in given]
        if rows is not None and inner.rows.kind == "parameter" and names:
            yield Scan(unit, call, rows, inner.found, given[names[0]], inner.made)


def scans_of(unit: Unit) -> Iterator[Scan]:
    """The searches that stand in a unit itself."""
    for node in unit.find(*_COMPREHENSIONS, cst.For, cst.Subscript):
        yield from _here(unit, node)


@once
def scanning_names(file: File) -> frozenset[str]:
    """The last names of the functions of a file that `may_scan`."""
    return frozenset(
        unit.name.rpartition(".")[2] for unit in file.units if unit.is_function and may_scan(unit)
    )


@once
def may_scan(unit: Unit) -> bool:
    """Whether a unit's `ast` might hold a search of its own."""
    if not any(isinstance(op, ast.Eq) for node in unit.asts(ast.Compare) for op in node.ops):
        return False
    if unit.has(ast.comprehension):
        return True
    loops: list[ast.For | ast.AsyncFor] = [*unit.asts(ast.For), *unit.asts(ast.AsyncFor)]
    tests = [loop.body[0].test for loop in loops if isinstance(loop.body[0], ast.If)]
    indexes = [node.slice for node in unit.asts(ast.Subscript)]
    return any(isinstance(node, (ast.Compare, ast.BoolOp)) for node in (*tests, *indexes))
