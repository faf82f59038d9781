"""Options that a function answers as if they were off, where another option is on.

In `if not options.warm: return []` and `if options.window is not None: return []` of one function, who asks
for `warm` and for a `window` gets what one gets without `warm`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import unit_of
from reviewbot.flow.control import leaves, statements
from reviewbot.flow.refusals import Refusal, Setting, switched
from reviewbot.flow.settings import places
from reviewbot.flow.syntax import UNKNOWN, canonical, literal, operands

if TYPE_CHECKING:
    from reviewbot.flow.classes import Known
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Cancelled:
    """Where `by` is on, `unit` answers as it does where `shared` is off: `answer`, as code. `off` and `on`
    are the conditions that lead there."""

    shared: Setting
    by: Setting
    unit: Unit
    off: cst.BaseExpression
    on: cst.BaseExpression
    answer: str


def cancelled_pairs(
    repo: Repo, known: Known, refusal: Refusal, refused: set[frozenset[str]]
) -> Iterator[Cancelled]:
    """The refused options that another option of the class switches off without a word."""
    fields = {field.name for field in known.found.fields}
    for shared in refusal.settings:
        for path, function in sorted(places(repo, shared.name)):
            unit = unit_of(repo.file(path), function)
            if unit is None or not unit.is_function or not unit.has(ast.If):
                continue
            for found in _cancelled(unit, shared):
                if found.by.name in fields and frozenset({shared.name, found.by.name}) not in refused:
                    yield found


def _cancelled(unit: Unit, shared: Setting) -> Iterator[Cancelled]:
    ways = list(_ways(unit))
    for off, answer in ways:
        mine = [one for one in switched(unit, off, True, on=False) if one.name == shared.name]
        if not mine:
            continue
        for on, other in ways:
            if other != answer:
                continue
            for by in switched(unit, on, True, on=True):
                if by.name != shared.name and by.receiver == mine[0].receiver and by.asked is on:
                    yield Cancelled(shared, by, unit, off, on, answer)


def _ways(unit: Unit) -> Iterator[tuple[cst.BaseExpression, str]]:
    """The conditions under which a function at once returns nothing, with what it returns as code."""
    if not isinstance(unit.node, cst.FunctionDef):
        return
    if leaves(statements(unit.node.body)) == "fail":
        return  # what returns before is what is demanded: `if path: return; raise`
    for node in statements(unit.node.body):
        body = statements(node.body) if isinstance(node, cst.If) else []
        if len(body) == 1 and isinstance(body[0], cst.Return) and _is_nothing(body[0].value):
            assert isinstance(node, cst.If)
            answer = "None" if body[0].value is None else canonical(body[0].value)
            yield from ((part, answer) for part in operands(node.test, cst.Or))


def _is_nothing(value: cst.BaseExpression | None) -> bool:
    """Whether what is returned is what one gets who asks for nothing: `[]`, `None`, `0`, `False`."""
    if value is None or (isinstance(value, (cst.List, cst.Tuple, cst.Dict)) and not value.elements):
        return True
    said = literal(value)
    return said is not UNKNOWN and not said
