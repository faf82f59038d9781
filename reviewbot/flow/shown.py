"""How far two results are apart, told to whoever reads the output and to no check: nothing else reads one of
them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import predicate
from reviewbot.flow.judgements import judgements
from reviewbot.flow.syntax import dotted, root_name, walk
from reviewbot.flow.tallies import TELLS, is_only_shown, kept_names
from reviewbot.flow.tolerances import ABSOLUTE, difference
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_SAME = ("equal", "close", "identical")


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """`call` tells how far `left` and `right` are apart; nothing else reads `unread`, one of them."""

    call: cst.Call
    left: str
    right: str
    unread: str


def may_be_shown_only(unit: Unit) -> bool:
    """The same asked of `ast`, yes too often."""
    if not unit.is_test or ABSOLUTE.isdisjoint(unit.facts.calls):
        return False
    kept = kept_names(unit)
    return any(
        isinstance(node.op, ast.Sub)
        and isinstance(node.left, ast.Name)
        and isinstance(node.right, ast.Name)
        and not {node.left.id, node.right.id} <= kept
        for node in unit.asts(ast.BinOp)
    )


def shown_only(unit: Unit) -> Iterator[Shown]:
    """The distances that a test tells, of two results of calls: one is read nowhere else, and the other
    is held against no third."""
    flow = values(unit)
    told: set[frozenset[str]] = set()
    # What a check holds against a third value is told of for information.
    judged = {root_name(side) for one in judgements(unit) for side in (one.left, one.right)}
    for call in unit.find(cst.Call):
        if not TELLS.match(dotted(call.func)):
            continue
        for node in walk(call):
            if not isinstance(node, (cst.Call, cst.Name)) or node is call:
                continue
            measured = flow.resolve(node) if isinstance(node, cst.Name) else node
            apart = difference(measured) or _asked(unit, measured)
            names = [root_name(one) for one in apart] if apart is not None else []
            if len(names) != 2 or names[0] == names[1] or frozenset(names) in told:
                continue
            unread = next(
                (name for name in names if _is_made(unit, name) and is_only_shown(unit, name)), None
            )
            if unread is not None and judged.isdisjoint(names) and all(_is_made(unit, one) for one in names):
                told.add(frozenset(names))
                yield Shown(call, names[0], names[1], unread)


def _asked(unit: Unit, node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    if type(node) is not cst.Call or predicate(node, unit) not in _SAME or len(node.args) < 2:
        return None
    return node.args[0].value, node.args[1].value


def _is_made(unit: Unit, name: str) -> bool:
    """Whether a name of the unit's own stands for what a call gave."""
    bound = values(unit).bindings(name)
    return bool(bound) and any(type(one.value) is cst.Call for one in bound)
