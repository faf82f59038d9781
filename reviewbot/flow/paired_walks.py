"""Loops that walk two collections side by side, and what in them sets an item of the one against that of the
other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.aligned import listed_length
from reviewbot.flow.checks import is_assertion_call, predicate
from reviewbot.flow.may_judge import names_distance
from reviewbot.flow.suspects import compares
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.values import unpack, values
from reviewbot.source.units import called_last, once, walked

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_SHOWING = frozenset({"enumerate", "tqdm", "list", "tuple", "iter", "track"})
_WALKS = frozenset({"zip", "items", "range", "zip_longest"}) | _SHOWING
_NO_RUN = frozenset({"range", "count", "repeat", "cycle"})
# What hands out a part or another form of what it is given.
_PARTS = frozenset({
    "get", "float", "int", "str", "len", "list", "tuple", "set", "sorted", "array", "asarray", "tensor",
    "item", "tolist", "numpy", "cpu", "cuda", "to", "detach", "double", "astype", "type", "flatten", "ravel",
    "reshape", "view", "squeeze", "abs", "strip", "lower", "items", "keys", "values", "as_tensor", "clone",
})  # fmt: skip
_SAMENESS = (cst.Equal, cst.NotEqual)


@dataclass(frozen=True, slots=True, eq=False)
class PairedWalk:
    """A loop in step. `items` has for each name that its target binds the collection whose item it is, as
    code; `place` is the index or key by which others are looked up, "" where there is none."""

    loop: cst.For
    items: Mapping[str, str]
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two values that are set against each other, and the collections whose items they are made of, as
    code."""

    node: cst.CSTNode
    left: cst.BaseExpression
    right: cst.BaseExpression
    of: tuple[str, str]


def may_walk_pairs(loop: ast.For) -> bool:
    """Whether a loop of a unit's `ast` might walk pairs; yes too often, never no wrongly."""
    return isinstance(loop.iter, ast.Call) and called_last(loop.iter) in _WALKS


@once
def paired_walks(unit: Unit) -> list[PairedWalk]:
    """The loops of a unit that could walk pairs, in source order."""
    return [found for loop in unit.find(cst.For) if (found := _walk(unit, loop)) is not None]


def _walk(unit: Unit, loop: cst.For) -> PairedWalk | None:
    call: cst.BaseExpression = loop.iter
    target: cst.BaseExpression = loop.target
    place = ""
    while type(call) is cst.Call and last_name(call) in _SHOWING and call.args:
        if last_name(call) == "enumerate":
            if type(target) is not cst.Tuple or len(target.elements) != 2:
                return None
            place, target = dotted(target.elements[0].value), target.elements[1].value
        call = call.args[0].value
    if type(call) is not cst.Call:
        return PairedWalk(loop, _items(unit, target, call), place) if place else None
    name = last_name(call)
    if name in ("zip", "zip_longest"):
        given = [arg.value for arg in call.args if arg.keyword is None]
        if len(given) < 2 or any(arg.star for arg in call.args) or any(_is_short(unit, s) for s in given):
            return None
        return PairedWalk(loop, _items(unit, target, call), place)
    if name == "items" and type(target) is cst.Tuple and len(target.elements) == 2:
        key, value = (element.value for element in target.elements)
        assert isinstance(call.func, cst.Attribute)
        owner = call.func.value
        return None if _is_short(unit, owner) else PairedWalk(loop, _items(unit, value, owner), dotted(key))
    if name == "range" and type(target) is cst.Name:
        return None if len(call.args) == 1 and literal(call.args[0].value) == 1 else _counted(loop, target)
    return PairedWalk(loop, _items(unit, target, call), place) if place else None


def _counted(loop: cst.For, target: cst.Name) -> PairedWalk:
    return PairedWalk(loop, {}, target.value)


def _items(unit: Unit, target: cst.BaseExpression, over: cst.BaseExpression) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value, _ in unpack(target, over, "item"):
        if not (type(value) is cst.Call and last_name(value) in _NO_RUN):
            found[name.value] = _collection(value)
    return found


def _collection(node: cst.BaseExpression) -> str:
    """The code of what is walked, without a slice: neighbours in one list are no two runs."""
    while type(node) is cst.Subscript and type(node.slice[0].slice) is cst.Slice:
        node = node.value
    return canonical(node)


def _is_short(unit: Unit, side: cst.BaseExpression) -> bool:
    """Whether a side is known to hold one item at most: `[row]`, `rows[:1]`."""
    made = values(unit).resolve(side)
    if isinstance(made, (cst.List, cst.Tuple, cst.Dict)):
        return len(made.elements) < 2
    known = listed_length(unit, side)
    return known is not None and known < 2


def pairs(unit: Unit, over: PairedWalk, node: cst.CSTNode) -> Iterator[Pair]:
    """What under a node, and under what its names stand for in the loop, sets an item of one collection
    against one of another."""
    seen = [node, *_made_in(unit, over, node)]
    for below in (one for part in seen for one in walk(part)):
        for left, right in _set_against(unit, below):
            of = _sources(unit, over, left), _sources(unit, over, right)
            if of[0] and of[1] and of[0].isdisjoint(of[1]):
                yield Pair(below, left, right, (min(of[0]), min(of[1])))


def _made_in(unit: Unit, over: PairedWalk, node: cst.CSTNode) -> list[cst.BaseExpression]:
    flow, body = values(unit), over.loop.body
    made = flow.slice(node, mutations=False)
    return [one.value for one in made if one.value is not None and unit.holds(body, one.node)]


def _set_against(unit: Unit, node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    if type(node) is cst.Comparison and len(node.comparisons) == 1:
        if isinstance(node.comparisons[0].operator, _SAMENESS):
            yield node.left, node.comparisons[0].comparator
    elif type(node) is cst.BinaryOperation and type(node.operator) is cst.Subtract:
        yield node.left, node.right
    elif type(node) is cst.Call:
        given = [arg.value for arg in node.args if not arg.star]
        if predicate(node, unit) is not None and type(node.func) is cst.Attribute and len(given) == 1:
            yield node.func.value, given[0]
        elif len(given) > 1 and _judges(unit, node):
            yield given[0], given[1]


def _judges(unit: Unit, call: cst.Call) -> bool:
    return (
        predicate(call, unit) is not None or names_distance(last_name(call)) or is_assertion_call(call, unit)
    )


def may_set_against(body: list[ast.stmt]) -> bool:
    """Whether statements of the `ast` might set two values against each other or tell how far they are
    apart."""
    return any(
        isinstance(below, ast.Compare)
        or (isinstance(below, ast.BinOp) and isinstance(below.op, ast.Sub))
        or (isinstance(below, ast.Call) and (compares(below) or names_distance(called_last(below))))
        for statement in body
        for below in walked(statement)
    )


def is_read_after(unit: Unit, names: Set[str], loop: ast.For) -> bool:
    """Whether any of these names is read in a line behind a loop, by `ast`."""
    end = loop.end_lineno or 0
    stack: list[ast.AST] = [unit.tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            if node.id in names and node.lineno > end and isinstance(node.ctx, ast.Load):
                return True
        # Of what comes to its end before the loop does, nothing stands behind it.
        elif (getattr(node, "end_lineno", None) or end + 1) > end:
            stack += ast.iter_child_nodes(node)
    return False


def carries_over(unit: Unit, over: PairedWalk, node: cst.CSTNode) -> bool:
    """Whether a value rests on what an earlier pass of the loop left: `course = steer(course, wind)`."""
    flow, rank = values(unit), unit.index.rank
    for part in (node, *_made_in(unit, over, node)):
        for read in flow.reads(part):
            inside = [one for one in flow.reaching(read) if unit.holds(over.loop.body, one.node)]
            if any(one.kind == "augmented" or rank(one.node) > rank(read) for one in inside):
                return True
            # An assignment's target stands before what it reads.
            if any(one.value is not None and unit.holds(one.value, read) for one in inside):
                return True
    return False


def is_computed(unit: Unit, over: PairedWalk, node: cst.CSTNode) -> bool:
    """Whether a value is more than a part of an item: something is called with it, which may remember."""
    return any(
        type(below) is cst.Call and last_name(below) not in _PARTS
        for part in (node, *_made_in(unit, over, node))
        for below in walk(part)
    )


def _sources(unit: Unit, over: PairedWalk, node: cst.BaseExpression) -> frozenset[str]:
    """The walked collections, as code, of whose items an expression is made."""
    found: set[str] = set()
    for part in (node, *_made_in(unit, over, node)):
        looked: set[int] = set()
        for below in walk(part):
            if over.place and (held := _looked_up(below, over.place)) is not None:
                found.add(_collection(held))
                looked |= {id(inner) for inner in walk(below)}
            elif type(below) is cst.Name and id(below) not in looked and below.value in over.items:
                bound = values(unit).reaching(below)
                if any(one.kind == "loop" and unit.holds(over.loop.target, one.node) for one in bound):
                    found.add(over.items[below.value])
    return frozenset(found)


def _looked_up(node: cst.CSTNode, place: str) -> cst.BaseExpression | None:
    """The collection of which a node is the item at a place: `rows` of `rows[at]` and of `rows.get(at)`."""
    if type(node) is cst.Subscript and len(node.slice) == 1:
        at = node.slice[0].slice
        if type(at) is cst.Index and dotted(at.value) == place and root_name(node) != place:
            return node.value
    if type(node) is cst.Call and last_name(node) == "get" and type(node.func) is cst.Attribute and node.args:
        return node.func.value if dotted(node.args[0].value) == place else None
    return None
