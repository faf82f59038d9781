"""Rows, keys or fields that one side of a comparison lacks, where a handler takes the error of the lookup and
goes on: `except KeyError: continue` around `other = restored[key]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.control import statements
from reviewbot.flow.guards import same_keys, same_length
from reviewbot.flow.handlers import caught, exception_name, fate, following
from reviewbot.flow.judgements import Judgement, compared_in
from reviewbot.flow.sides import condition_trace, sides
from reviewbot.flow.suspects import compares_two
from reviewbot.flow.syntax import last_name, root_name, walk
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_BY_KEY = frozenset({"KeyError", "IndexError", "LookupError"})
_BY_CALL = {"StopIteration": "next", "ValueError": "index"}
_BY_FIELD = frozenset({"AttributeError"})
_BY_TEXT = frozenset({"UnicodeDecodeError", "UnicodeError"})
_LACKING = _BY_KEY | _BY_CALL.keys() | _BY_FIELD | _BY_TEXT
_LOST = (ast.Pass, ast.Continue, ast.Break, ast.Expr, ast.Return)


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """`taker` lets go of what `lookup` raises where a side lacks something, so that `judgement` is left out.
    `sure`: the error means that something is missing, and nothing else."""

    taker: cst.ExceptHandler | cst.WithItem
    lookup: cst.CSTNode
    judgement: Judgement
    sure: bool


def missing_rows(unit: Unit) -> Iterator[Missing]:
    """Every such handler or `suppress` of a unit, in source order of its kind."""
    for node in unit.find(cst.Try):
        for handler in node.handlers:
            kinds = caught(handler)
            if kinds <= _LACKING and fate(unit, handler.body) == "lost" and not _raises(node):
                leaves = any(
                    isinstance(one, (cst.Continue, cst.Break, cst.Return)) for one in statements(handler.body)
                )
                rest = [*statements(node.orelse), *(following(unit, node) if leaves else ())]
                yield from _missing(unit, node, handler, kinds, statements(node.body), rest)
    for block in unit.find(cst.With):
        for item in block.items:
            if isinstance(item.item, cst.Call) and last_name(item.item) == "suppress":
                kinds = frozenset(exception_name(arg.value) for arg in item.item.args)
                if kinds and kinds <= _LACKING:
                    yield from _missing(unit, block, item, kinds, statements(block.body), [])


@once
def may_miss(unit: Unit) -> bool:
    """Whether there could be one, by `ast`."""
    handlers = [one for one in unit.asts(ast.ExceptHandler) if one.type is not None and _may_lack(one.type)]
    lost = any(all(isinstance(inner, _LOST) for inner in one.body) for one in handlers)
    lost = lost or any(
        call.args and all(map(_may_lack, call.args)) for call in unit.calls_of(frozenset({"suppress"}))
    )
    return lost and compares_two(unit)


def _may_lack(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_may_lack, node.elts))
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) in _LACKING


def _raises(node: cst.Try) -> bool:
    """Whether a `try` fails by itself where nothing is raised: it is a test of the error."""
    body = [*statements(node.body), *statements(node.orelse)]
    return any(isinstance(one, cst.Raise) or last_name(getattr(one, "value", one)) == "fail" for one in body)


def _missing(
    unit: Unit,
    around: cst.CSTNode,
    taker: cst.ExceptHandler | cst.WithItem,
    kinds: frozenset[str],
    body: list[cst.CSTNode],
    rest: list[cst.CSTNode],
) -> Iterator[Missing]:
    flow = values(unit)
    lookups = [below for one in body for below in walk(one) if _may_raise(below, kinds)]
    if not lookups:
        return
    made = set().union(*(flow.changes(one) for one in body))
    for where, inside in ((body, True), (rest, False)):
        for one in _judged(unit, where):
            read = {name.value for side in (one.left, one.right) for name in flow.reads(side)}
            if not inside and read.isdisjoint(made):
                continue
            between = sides(unit, [one], up=False)
            if between is None:
                continue
            for lookup in lookups:
                looked = _looked_in(lookup)
                trace = condition_trace(unit, looked, between, control=False)
                if not between.either(trace.bindings) or _all_there(unit, around, one, looked):
                    continue
                sure = not kinds & (_BY_FIELD | _BY_TEXT)
                yield Missing(taker, lookup, one, sure)
                return


def _judged(unit: Unit, block: list[cst.CSTNode]) -> Iterator[Judgement]:
    """What the statements of a block, or those under them, compare."""
    for statement in block:
        for below in walk(statement):
            if isinstance(below, (cst.Assert, cst.If)):
                yield from compared_in(unit, below, below.test)


def _may_raise(node: cst.CSTNode, kinds: frozenset[str]) -> bool:
    if type(node) is cst.Subscript:
        return bool(kinds & _BY_KEY) and all(isinstance(e.slice, cst.Index) for e in node.slice)
    if type(node) is cst.Attribute:
        return bool(kinds & _BY_FIELD)
    if type(node) is cst.Call:
        name = last_name(node)
        if name == "pop" and len(node.args) == 1:
            return bool(kinds & _BY_KEY)
        if name == "decode":
            return bool(kinds & _BY_TEXT)
        return len(node.args) == 1 and any(_BY_CALL.get(kind) == name for kind in kinds)
    return False


def _looked_in(lookup: cst.CSTNode) -> cst.BaseExpression:
    """What a lookup looks into."""
    if isinstance(lookup, (cst.Subscript, cst.Attribute)):
        return lookup.value
    assert isinstance(lookup, cst.Call)
    if isinstance(lookup.func, cst.Attribute) and last_name(lookup) != "decode":
        return lookup.func.value
    return lookup.args[0].value if lookup.args else lookup


def _all_there(unit: Unit, around: cst.CSTNode, one: Judgement, looked: cst.BaseExpression) -> bool:
    """Whether a guard makes sure that what is looked into has as many, or the same keys, as the other."""
    flow = values(unit)
    found = [looked, *(loop.iter for loop in unit.ancestors(around) if isinstance(loop, cst.For))]
    named: list[cst.BaseExpression] = [name for node in found for name in flow.reads(node)]
    others = [name for name in named if root_name(name) != root_name(looked)]
    mine = [looked, *(name for name in named if root_name(name) == root_name(looked))]
    return any(
        same_keys(unit, around, left, right) or same_length(unit, around, left, right)
        for left in mine
        for right in others
    )
