"""Branches that lead around a judgement: `continue`, `return` or `pass` before it, an arm without it, a
filter that leaves values out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.control import Exit, after, enclosing, leaves, statements
from reviewbot.flow.judgements import Judgement
from reviewbot.flow.places import Places
from reviewbot.flow.syntax import UNKNOWN, canonical, conjuncts, dotted, last_name, literal, walk
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import all_is_well, answers, every_judgement, well
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


@dataclass(frozen=True, slots=True, eq=False)
class Detour:
    """One arm of a branch, and the judgements that are not reached through it.

    `node` is the `if` (or the filter's comprehension), `outcome` the truth value of `condition` that opens
    the arm, `body` its statements, `way` how it leaves, if it does. For a loop over what is left of some keys
    `node` is the loop and `condition` the collection that was taken away.
    """

    node: cst.CSTNode
    condition: cst.BaseExpression
    outcome: bool
    body: tuple[cst.CSTNode, ...]
    way: Exit | None
    missed: tuple[Judgement, ...]


@once
def detours(unit: Unit) -> list[Detour]:
    """Every arm that leads around a judgement of the unit, in source order of the branches."""
    every = every_judgement(unit)
    if not every:
        return []
    found: list[Detour] = []
    for node in unit.find(cst.If):
        found.extend(_arms(unit, node))
    for comprehension in unit.find(*_COMPREHENSIONS):
        found.extend(_filters(unit, comprehension, every))
    for loop in unit.find(cst.For):
        found.extend(_taken_away(unit, loop))
    return found


def _arms(unit: Unit, node: cst.If) -> Iterator[Detour]:
    then = statements(node.body)
    other: list[cst.CSTNode] = []
    if type(node.orelse) is cst.If:
        other = [node.orelse]
    elif node.orelse is not None:
        other = statements(node.orelse)
    ways = leaves(then), leaves(other)
    arms = ((True, then, ways[0]), (False, other, ways[1]))
    failing = [statement for _, body, way in arms if way == "fail" for statement in body]
    if "fail" in ways and not _reached(unit, node, failing):
        return
    # What follows a loop is reached after `continue` and `break` alike, and nothing after `return`.
    until = None if "return" in ways else enclosing(unit, node, cst.For, cst.While)
    beyond = after(unit, node, until) if any(ways) else []
    reached = [_reached(unit, node, [*body, *(() if way else beyond)]) for _, body, way in arms]
    for place, (outcome, body, way) in enumerate(arms):
        if way == "return" and not _passes(unit, body):
            continue
        if way == "fail":
            continue
        mine = _within(unit, body) if way is None else []
        if way is None and (
            ways[1 - place] not in (None, "fail") or (mine and not _asks_less(mine, reached[1 - place]))
        ):
            continue  # the way on, or an arm with checks of its own
        both = {_pair(one) for one in mine}
        also = {id(one) for one in reached[place]}
        missed = tuple(one for one in reached[1 - place] if id(one) not in also and _pair(one) not in both)
        if missed:
            yield Detour(node, node.test, outcome, tuple(body), way, missed)


def _pair(one: Judgement) -> tuple[str, str]:
    return canonical(one.left), canonical(one.right)


def _asks_less(mine: list[Judgement], theirs: list[Judgement]) -> bool:
    """Whether an arm judges nothing but what the other arm judges too, and less of it."""
    return {_pair(one) for one in mine} < {_pair(one) for one in theirs}


def asks_less(unit: Unit, detour: Detour) -> bool:
    """Whether the arm of a detour has checks, all of which the other arm makes as well."""
    mine = _within(unit, list(detour.body))
    node = detour.node
    if not mine or type(node) is not cst.If or node.orelse is None:
        return False
    other = node.orelse if detour.outcome else node.body
    theirs = _within(unit, statements(other))
    return _asks_less(mine, theirs)


def _reached(unit: Unit, node: cst.If, run: list[cst.CSTNode]) -> list[Judgement]:
    found = [one for one in _within(unit, run) if one.node is not node]
    asked = _asked(unit, node) if found else None
    return [one for one in found if asked is None or not asked.decides(unit, one)]


def _within(unit: Unit, nodes: list[cst.CSTNode]) -> list[Judgement]:
    """Those of a unit's judgements that stand in any of some statements, which are in source order."""
    placed = _placed(unit)
    return [one for node in nodes for one in placed.under(node)]


@once
def _placed(unit: Unit) -> Places[Judgement]:
    return Places(unit, every_judgement(unit), lambda one: one.node)


def _filters(unit: Unit, node: cst.BaseComp, every: list[Judgement]) -> Iterator[Detour]:
    clause: cst.CompFor | None = node.for_in
    under = _under([node])
    inside = [one for one in every if id(one.left) in under]
    while clause is not None and inside:
        for condition in clause.ifs:
            for part in conjuncts(condition.test):
                asked = _under([part])
                missed = tuple(one for one in inside if id(one.left) not in asked)
                if missed:
                    yield Detour(node, part, False, (), None, missed)
        clause = clause.inner_for_in


def _taken_away(unit: Unit, loop: cst.For) -> Iterator[Detour]:
    """A loop over keys from which others were taken away: `for key in left.keys() - known`."""
    keys = loop.iter
    while type(keys) is cst.Call and dotted(keys.func) in ("sorted", "list", "set", "tuple") and keys.args:
        keys = keys.args[0].value
    away: cst.BaseExpression | None = None
    if type(keys) is cst.BinaryOperation and type(keys.operator) is cst.Subtract:
        away = keys.right
    elif type(keys) is cst.Call and last_name(keys) == "difference" and len(keys.args) == 1:
        away = keys.args[0].value
    if away is None:
        return
    missed = tuple(_within(unit, [loop.body]))
    if missed:
        yield Detour(loop, away, True, (), None, missed)


def _passes(unit: Unit, body: list[cst.CSTNode]) -> bool:
    """Whether every `return` of an arm returns nothing, or a verdict that says all is well."""
    returns = [below for statement in body for below in walk(statement) if type(below) is cst.Return]
    if answers(unit) and well(unit) is not UNKNOWN:
        return all(all_is_well(unit, one) for one in returns)
    given = [literal(one.value) for one in returns if one.value is not None]
    return all(value is not False and value in (None, True, 0) for value in given)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a branch asks: its condition, and what a name in it stands for. `parts` are what it is made from,
    which a `raise` right under it is about too."""

    node: cst.If
    whole: tuple[cst.CSTNode, ...]
    parts: tuple[cst.CSTNode, ...]

    def decides(self, unit: Unit, one: Judgement) -> bool:
        """Whether a judgement is about the branch's own condition: `if a != b: raise`, or a name for it or
        for a part of it, as in `gap = a - b` and `if abs(gap) > tol: raise`."""
        asked = self.whole
        if type(one.node) is cst.Raise and unit.holds(self.node.body, one.node):
            asked += self.parts
        return any(part is one.left or unit.holds(part, one.left) for part in asked)


def _asked(unit: Unit, node: cst.If) -> _Asked:
    flow = values(unit)
    parts = tuple(flow.resolve(name) for name in flow.reads(node.test))
    return _Asked(node, (node.test, flow.resolve(node.test)), parts)


def _under(nodes: list[cst.CSTNode]) -> set[int]:
    return {id(below) for node in nodes for below in walk(node)}
