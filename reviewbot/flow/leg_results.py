"""Two runs whose results are compared, and the one folder that both were told to work in.

`Trainer(tmp_path / "a").train()` leaves its state there. A second trainer on the same folder may find that,
and go on from the end instead of making the run anew that the comparison asks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.fixtures import is_fixture
from reviewbot.flow.judgements import judgements
from reviewbot.flow.judging import two_sides
from reviewbot.flow.legs import FOLDER, RUNS, cleared, folders, is_one
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import bound_names
from reviewbot.flow.syntax import canonical, last_name, literal, operands, root_name
from reviewbot.flow.values import values
from reviewbot.source.units import called_last

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# A run that is told which state to take finds it in the folder on purpose.
_CHOOSES = pattern(r"(?i)resum|restor|ckpt|checkpoint|recover|continue|from_|load|start_")


@dataclass(frozen=True, slots=True, eq=False)
class SharedByResults:
    """Two runs, in source order, whose results `compared` holds against each other, or hands to the tests as
    the two sides where it is the `return` or `yield` of a fixture; both get `folder` (as code)."""

    first: cst.Call
    second: cst.Call
    folder: str
    compared: cst.CSTNode


def may_share_results(unit: Unit) -> bool:
    """Whether a unit's `ast` might make two runs and compare what they return: yes too often, never no
    wrongly."""
    if not unit.is_function or not unit.calls_any(RUNS.search) or not unit.names_any(FOLDER.search):
        return False
    if not two_sides(bound_names(unit)):
        return False
    return sum(RUNS.search(called_last(call)) is not None for call in unit.asts(ast.Call)) > 1


def shared_by_results(unit: Unit) -> Iterator[SharedByResults]:
    """The pairs of runs of a unit that are named as the two sides of a comparison and share a folder."""
    rank = unit.index.rank
    seen: set[tuple[int, int]] = set()
    for left, right, at in _held_together(unit) if may_share_results(unit) else ():
        sides = _run(unit, left), _run(unit, right)
        if sides[0] is None or sides[1] is None or not _are_sides(left, right):
            continue
        first, second = sorted(sides, key=lambda run: rank(run.call))  # type: ignore[union-attr]
        assert first is not None and second is not None
        key = (id(first.call), id(second.call))
        if key in seen or first.call is second.call or first.called != second.called:
            continue
        seen.add(key)
        for folder in first.folders:
            code = canonical(folder)
            if (
                any(is_one(unit, folder, other) for other in second.folders)
                and not cleared(unit, code, rank(first.call), rank(second.call))
                and not _is_told_what_to_take(second)
            ):
                yield SharedByResults(first.call, second.call, code, at)
                break


def _held_together(unit: Unit) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.CSTNode]]:
    """The two sides of each judgement, and the parts of the pair that a fixture hands out, with where."""
    for one in judgements(unit):
        yield one.left, one.right, one.node
    for node in unit.find(cst.Return, cst.Yield) if is_fixture(unit) else ():
        pair = node.value if isinstance(node, (cst.Return, cst.Yield)) else None
        if isinstance(pair, cst.Tuple) and len(pair.elements) == 2:
            left, right = (operands(element.value, cst.Add) for element in pair.elements)
            yield from ((one, other, node) for one, other in product(left, right))


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A call that makes a run; `called` names what is called, `told` are all arguments, also those of the
    object whose method it is."""

    call: cst.Call
    called: str
    told: tuple[cst.Arg, ...]
    folders: tuple[cst.BaseExpression, ...]


def _run(unit: Unit, side: cst.BaseExpression) -> _Run | None:
    """The run that a side of a comparison is the result of, or a part of it."""
    flow = values(unit)
    call = side
    for _ in range(8):
        call = flow.resolve(call)
        call = call.expression if isinstance(call, cst.Await) else call
        if not isinstance(call, (cst.Attribute, cst.Subscript)):
            break
        call = call.value
    if not isinstance(call, cst.Call) or not RUNS.search(last_name(call)):
        return None
    if not isinstance(call.func, cst.Attribute):
        return _Run(call, canonical(call.func), tuple(call.args), tuple(folders(unit, call)))
    owner = flow.resolve(call.func.value)
    if not isinstance(owner, cst.Call) or not last_name(owner)[:1].isupper():
        return None
    called = f"{canonical(owner.func)}.{call.func.attr.value}"
    found = (*folders(unit, owner), *folders(unit, call))
    return _Run(call, called, (*owner.args, *call.args), found)


def _are_sides(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    names = (root_name(left), root_name(right))
    return all(names) and two_sides(names)


def _is_told_what_to_take(run: _Run) -> bool:
    return any(
        arg.keyword is not None
        and _CHOOSES.search(arg.keyword.value)
        and literal(arg.value) not in (True, False, None)
        for arg in run.told
    )
