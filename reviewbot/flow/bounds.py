"""Numbers that cannot leave a range because of how they were counted.

What counts some items of a collection lies between 0 and the collection's length: the length of a set made
of it or of what a filter leaves, a sum of verdicts over it, a counter that its loop raises by one at most
once a turn. Divided by that length it lies between 0 and 1. Only local names of plain values are followed,
and only while nothing unknown is called between the counting and the place that asks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.between import between, is_quiet
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import dotted, last_name, literal
from reviewbot.flow.terms import terms
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_DEPTH = 8
_FEWER_CALLS = frozenset({
    "set", "frozenset", "list", "tuple", "sorted", "reversed", "enumerate", "iter", "tqdm", "dict.fromkeys",
})  # fmt: skip
_FEWER_METHODS = frozenset({"items", "keys", "values", "copy"})
# A loop over one runs over its columns, and its length is that of its rows.
_TABLES = pattern(r"(?i)(^|_)(df\d*|d?frame|table|batch)(_|$)")

Trail = tuple[cst.CSTNode, ...]
"""The statements and loops in which a value was worked out."""


def never_more(low: cst.BaseExpression, high: cst.BaseExpression, unit: Unit) -> str | None:
    """Why `low` is never more than `high`, as a clause; None where that cannot be known."""
    if not unit.is_function:
        return None
    number, bound = _number(low), _number(high)
    if number is not None and number <= 0:
        if _is_share(high, unit):
            return f"`{_code(high, unit)}` is a share of a whole, and never less than 0"
        if _is_length(high, unit) or any(True for _ in _counted(high, unit)):
            return f"`{_code(high, unit)}` is a number of items, and never less than 0"
    if bound is not None and bound >= 1 and _is_share(low, unit):
        return f"`{_code(low, unit)}` is a share of a whole, and never more than 1"
    if _is_among(low, high, unit):
        return f"`{_code(low, unit)}` counts some of what `{_code(high, unit)}` counts all of"
    return None


def _number(node: cst.BaseExpression) -> float | None:
    """A number that is written out as one."""
    if not isinstance(node, (cst.Integer, cst.Float, cst.UnaryOperation)):
        return None
    value = literal(node)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _code(node: cst.BaseExpression, unit: Unit) -> str:
    return " ".join(unit.text(node).split())


def _is_length(node: cst.BaseExpression, unit: Unit) -> bool:
    made = values(unit).resolve(node)
    return isinstance(made, cst.Call) and dotted(made.func) == "len"


def _is_share(node: cst.BaseExpression, unit: Unit) -> bool:
    """Whether a value is a count divided by the number of what it is counted among."""
    made = values(unit).resolve(node)
    if not isinstance(made, cst.BinaryOperation) or not isinstance(made.operator, cst.Divide):
        return False
    return _is_among(made.left, made.right, unit)


def _is_among(low: cst.BaseExpression, high: cst.BaseExpression, unit: Unit) -> bool:
    """Whether `low` counts among the items whose number `high` is."""
    wanted, later = _number_of(high, unit)
    for collection, trail in _counted(low, unit):
        for whole, way in _wholes(collection, trail, unit):
            if not wanted.isdisjoint(_terms(whole, unit)):
                return _is_quiet(unit, (*way, *later), low, wanted)
    return False


def _number_of(node: cst.BaseExpression, unit: Unit) -> tuple[frozenset[str], Trail]:
    """The terms of what a number is the length of, or of the number itself."""
    made, trail = _resolved(node, unit)
    if isinstance(made, cst.Call) and dotted(made.func) == "len" and len(made.args) == 1:
        return _terms(made.args[0].value, unit), trail
    value = literal(made)
    if isinstance(value, int):
        return frozenset({f"#{value}"}), trail
    return frozenset({f"#{terms(unit).text(node)}"}) if isinstance(node, cst.Name) else frozenset(), ()


def _terms(node: cst.BaseExpression, unit: Unit) -> frozenset[str]:
    """The terms by which a collection is known again: its own, and those of a number that makes it."""
    own = terms(unit)
    if isinstance(node, cst.Name):
        return frozenset({own.text(node)}) if not _TABLES.search(node.value) else frozenset()
    if isinstance(node, (cst.List, cst.Tuple)) or (
        isinstance(node, cst.Call) and dotted(node.func) == "range"
    ):
        return frozenset(term for term in own.sizes(node) if re.fullmatch(r"#?\w+", term))
    return frozenset()


def _counted(node: cst.BaseExpression, unit: Unit) -> Iterator[tuple[cst.BaseExpression, Trail]]:
    """The collections among whose items a number counts, and where it does."""
    made, trail = _resolved(node, unit)
    if isinstance(made, cst.Name):
        loop = _counting_loop(made, unit)
        if loop is not None:
            yield loop.iter, (*trail, loop)
    elif isinstance(made, cst.Call) and len(made.args) == 1 and dotted(made.func) in ("len", "sum"):
        given = made.args[0].value
        if dotted(made.func) == "len":
            # The length of the very same thing says something of two moments, not of some of its items.
            yield from ((whole, (*trail, *way)) for whole, way in _larger(given, unit))
            return
        verdicts, way = _resolved(given, unit)
        if isinstance(verdicts, (cst.GeneratorExp, cst.ListComp)) and _at_most_one(verdicts.elt):
            yield given, trail
            yield verdicts, (*trail, *way)


def _resolved(node: cst.BaseExpression, unit: Unit) -> tuple[cst.BaseExpression, Trail]:
    """What a name stands for, and the assignment of it."""
    made = values(unit).resolve(node)
    if made is node or not isinstance(node, cst.Name):
        return node, ()
    if values(unit).mutations(node.value):
        return node, ()
    return made, tuple(binding.node for binding in values(unit).reaching(node) if binding is not UNBOUND)


def _wholes(
    node: cst.BaseExpression, trail: Trail, unit: Unit, depth: int = _DEPTH
) -> Iterator[tuple[cst.BaseExpression, Trail]]:
    """The expression, and those that have at least as many items, nearest first."""
    if isinstance(node, cst.Name) and _is_object(node, unit):
        return
    yield node, trail
    for whole, way in _larger(node, unit) if depth else ():
        yield from _wholes(whole, (*trail, *way), unit, depth - 1)


def _is_object(node: cst.Name, unit: Unit) -> bool:
    """Whether a name holds an instance of a class, which says itself what its length is."""
    made = values(unit).resolve(node)
    return isinstance(made, cst.Call) and last_name(made)[:1].isupper()


def _larger(node: cst.BaseExpression, unit: Unit) -> Iterator[tuple[cst.BaseExpression, Trail]]:
    if isinstance(node, cst.Name):
        made, way = _resolved(node, unit)
        if made is not node:
            yield made, way
        else:
            loop = _filling_loop(node, unit)
            if loop is not None:
                yield loop.iter, (loop,)
    elif isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        if node.for_in.inner_for_in is None:
            yield node.for_in.iter, ()
    elif isinstance(node, cst.Subscript):
        if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
            yield node.value, ()
    elif isinstance(node, cst.Call):
        for given in _given(node):
            yield given, ()


def _given(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a call takes its items from, and yields no more of."""
    name = dotted(call.func)
    given = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if name in _FEWER_CALLS and given:
        yield given[0]
    elif name == "filter" and len(given) == 2:
        yield given[1]
    elif name == "zip" and not any(arg.star for arg in call.args):
        yield from given
    elif isinstance(call.func, cst.Attribute) and call.func.attr.value in _FEWER_METHODS and not given:
        yield call.func.value


def _at_most_one(node: cst.BaseExpression) -> bool:
    """Whether a value is 0 or 1, False or True."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Not)
    if isinstance(node, cst.IfExp):
        return _at_most_one(node.body) and _at_most_one(node.orelse)
    if isinstance(node, cst.Call) and node.args:
        name = dotted(node.func)
        return name in ("bool", "isinstance") or (name == "int" and _at_most_one(node.args[0].value))
    value = literal(node)
    return isinstance(node, cst.Comparison) or (isinstance(value, int) and value in (0, 1))


def _counting_loop(name: cst.Name, unit: Unit) -> cst.For | None:
    """The loop that raises a counter from 0, at most once a turn."""
    bindings = values(unit).bindings(name.value)
    if len(bindings) != 2 or not _starts_at_zero(bindings[0]):
        return None
    raised = bindings[1].node
    if not isinstance(raised, cst.AugAssign) or not isinstance(raised.operator, cst.AddAssign):
        return None
    return _own_loop(unit, bindings[0].node, raised) if _at_most_one(raised.value) else None


def _starts_at_zero(binding: Binding) -> bool:
    value = literal(binding.value) if binding.value is not None else None
    return binding.kind == "assign" and binding.role == "whole" and type(value) is int and value == 0


def _filling_loop(name: cst.Name, unit: Unit) -> cst.For | None:
    """The loop that has the only `append` to a list that starts empty, and that nothing else may change."""
    flow = values(unit)
    bindings, mutations = flow.bindings(name.value), flow.mutations(name.value)
    if len(bindings) != 1 or len(mutations) != 1 or flow.handed_on(name.value):
        return None
    call, start = mutations[0].node, bindings[0].value
    if not isinstance(start, cst.List) or start.elements or not isinstance(call, cst.Call):
        return None
    return _own_loop(unit, bindings[0].node, call) if last_name(call) in ("append", "add") else None


def _own_loop(unit: Unit, start: cst.CSTNode, change: cst.CSTNode) -> cst.For | None:
    """The one `for` loop that is around a change and not around the start."""
    outer = {id(above) for above in unit.ancestors(start)}
    kinds = (cst.For, cst.While, cst.FunctionDef, cst.Lambda, cst.GeneratorExp, cst.ListComp)
    around = [one for one in unit.ancestors(change) if isinstance(one, kinds) and id(one) not in outer]
    return around[0] if len(around) == 1 and isinstance(around[0], cst.For) else None


def _is_quiet(unit: Unit, trail: Trail, place: cst.CSTNode, wanted: frozenset[str]) -> bool:
    """Whether nothing could change a collection between the counting and the place that compares, nor on the
    way back to it in a loop: no mutation of it, no call of something unknown."""
    if not trail:
        return True
    run = between(unit, trail, place)
    since = min(unit.index.reach(node)[1] for node in trail)
    names = {re.sub(r"__\d+$", "", term) for term in wanted}
    changed = [change.node for name in names for change in values(unit).mutations(name)]
    return is_quiet(run) and not any(unit.index.rank(node) >= since for node in changed)


# The same asked of `ast`, so that few units need to be parsed twice.


def may_be_bounded(left: ast.expr, kind: type[ast.cmpop], right: ast.expr, unit: Unit) -> bool:
    """Whether `never_more` could know how two values compare; yes too often, never no wrongly."""
    if kind not in (ast.LtE, ast.Gt, ast.GtE, ast.Lt) or not unit.is_function:
        return False
    low, high = (left, right) if kind in (ast.LtE, ast.Gt) else (right, left)
    if isinstance(low, (ast.Constant, ast.UnaryOp)):
        if isinstance(low, ast.Constant) and isinstance(low.value, (int, float)) and low.value > 0:
            return False
        return _may_count(high, unit) or _may_be_share(high, unit)
    if isinstance(high, (ast.Constant, ast.UnaryOp)) and _may_be_share(low, unit):
        return True
    if isinstance(high, ast.Constant):
        return _may_count(low, unit) and _may_have(high.value, unit)
    return _may_count(low, unit) and isinstance(high, (ast.Call, ast.Name))


def _may_have(size: object, unit: Unit) -> bool:
    """Whether something in the unit could be known to have so many items."""
    if unit.calls("range") or unit.has(ast.Starred):
        return True
    written: list[ast.List | ast.Tuple] = [*unit.asts(ast.List), *unit.asts(ast.Tuple)]
    return any(len(one.elts) == size for one in written)


def _may_count(node: ast.expr, unit: Unit) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _given_names(unit)[0]
    return _is_counting(node)


def _is_counting(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "sum")


def _may_be_share(node: ast.expr, unit: Unit) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _given_names(unit)[1]
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


@once
def _given_names(unit: Unit) -> tuple[frozenset[str], frozenset[str]]:
    """The names that may hold a count, and those that may hold a share."""
    counts = {node.target.id for node in unit.asts(ast.AugAssign) if isinstance(node.target, ast.Name)}
    shares: set[str] = set()
    every: list[ast.Assign | ast.AnnAssign | ast.NamedExpr] = [*unit.asts(ast.Assign)]
    every += [*unit.asts(ast.AnnAssign), *unit.asts(ast.NamedExpr)]
    for given in every:
        value = given.value
        targets = given.targets if isinstance(given, ast.Assign) else [given.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(value, ast.Name) or _is_counting(value):
            counts |= names
        if isinstance(value, (ast.Name, ast.BinOp)):
            shares |= names
    return frozenset(counts), frozenset(shares)
