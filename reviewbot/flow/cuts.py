"""Where a check looks only as far as the shorter of two sides goes: `zip`, and lengths cut to the smaller."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import comparisons
from reviewbot.flow.guards import is_strict, same_length
from reviewbot.flow.judging import may_be_two_sides, says_comparison, side
from reviewbot.flow.loops import (
    CheckedLoop,
    Quantified,
    checked_loops,
    comparers_within,
    is_forced,
    quantified,
)
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.terms import counted_by
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import every_judgement
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A call of `zip` or `min` that stops at the shorter of its `sides`, and the check that sees only so
    much. `loop` is the loop, comprehension or statement in between."""

    call: cst.Call
    sides: tuple[cst.BaseExpression, ...]
    check: cst.CSTNode
    loop: cst.CSTNode


@once
def cuts(unit: Unit) -> list[Cut]:
    """The cuts before the checks of a unit; a call with two checks behind it comes twice."""
    return [*_zips(unit), *_shorter(unit), *_cut_to_other(unit)]


def may_cut(unit: Unit) -> bool:
    """Whether the unit's `ast` might hold a cut of two sides: yes too often, never no wrongly."""
    if unit.calls("zip"):
        loops: list[ast.For | ast.comprehension] = [*unit.asts(ast.For), *unit.asts(ast.comprehension)]
        if any(_may_zip(loop.iter) for loop in loops):
            return True
    if any(len(call.args) == 2 and all(map(_may_count, call.args)) for call in unit.calls_of(_LEAST)):
        return True
    return unit.calls("len") and unit.has(ast.Slice) and may_be_two_sides(unit)


_LEAST = frozenset({"min"})


def _may_zip(node: ast.expr) -> bool:
    """Whether an iterable is a `zip` of two, under calls of other things."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "zip":
            return len(node.args) > 1
        if not node.args:
            return False
        node = node.args[0]
    return False


def _may_count(node: ast.expr) -> bool:
    """The same as `counted_by` asked of `ast`."""
    return isinstance(node, (ast.Call, ast.Subscript, ast.Attribute))


def is_cut(unit: Unit, loop: cst.For) -> bool:
    """Whether a loop's `zip` may lose items of the longer side, which is what zip-truncates reports."""
    return any(
        dotted(cut.call.func) == "zip"
        and not is_strict(cut.call)
        and not all(same_length(unit, loop, cut.sides[0], side) for side in cut.sides[1:])
        for cut in _by_loop(unit).get(id(loop), ())
        if cut.sides
    )


@once
def _by_loop(unit: Unit) -> dict[int, list[Cut]]:
    """The cuts of a unit by the identity of their loops."""
    found: dict[int, list[Cut]] = {}
    for cut in cuts(unit):
        found.setdefault(id(cut.loop), []).append(cut)
    return found


def _zips(unit: Unit) -> Iterator[Cut]:
    for loop in checked_loops(unit):
        checks = [check for check in loop.checks if not is_forced(unit, check, loop.node)]
        for call in _calls(loop.node.iter, "zip"):
            if checks and not _outer(unit, loop.node, checks[0].node):
                yield Cut(call, _sides(call), checks[0].node, loop.node)
    checking = {id(loop.node) for loop in checked_loops(unit)}
    others = [loop for loop in unit.find(cst.For) if id(loop) not in checking]
    recording = [loop for loop in others if any(True for _ in _calls(loop.iter, "zip"))]
    zipped = {id(loop) for loop in recording}
    for one in every_judgement(unit) if recording else ():
        around = [above for above in unit.ancestors(one.node) if id(above) in zipped]
        for above in reversed(around):
            assert isinstance(above, cst.For)
            if not _outer(unit, above, one.node) and not _is_expected(unit, one.node):
                for call in _calls(above.iter, "zip"):
                    yield Cut(call, _sides(call), one.node, above)
    yield from _handed_on(unit, checking)
    yield from _answered(unit)
    for part in quantified(unit):
        if _is_product(part):
            continue
        for call in _calls(part.node.for_in.iter, "zip"):
            yield Cut(call, _sides(call), part.check, part.node)


def _handed_on(unit: Unit, checking: Iterable[int]) -> Iterator[Cut]:
    """The cuts whose pairs a loop hands to a function that compares by its name, and whose answer nobody
    takes: `for a, b in zip(left, right): compare_rows(a, b)`."""
    for loop in unit.find(cst.For):
        if id(loop) in checking or not isinstance(loop.target, cst.Tuple):
            continue
        bound = {name.value for name in walk(loop.target) if isinstance(name, cst.Name)}
        for one in walk(loop.body):
            call = one.value if type(one) is cst.Expr else None
            if not isinstance(call, cst.Call) or not says_comparison(last_name(call)):
                continue
            given = [{name.value for name in walk(arg.value) if type(name) is cst.Name} for arg in call.args]
            if len([names & bound for names in given if names & bound]) > 1:
                for zipped in _calls(loop.iter, "zip"):
                    yield Cut(zipped, _sides(zipped), one, loop)
                break


def _answered(unit: Unit) -> Iterator[Cut]:
    """The cuts of a comparing function written inside of the unit that answers no from within its loop."""
    for function in comparers_within(unit):
        inside = {id(below) for below in walk(function)}
        for loop in unit.find(cst.For):
            if id(loop) not in inside:
                continue
            noes = [
                node
                for node in walk(loop.body)
                if type(node) is cst.Return and node.value is not None and literal(node.value) is False
            ]
            for call in _calls(loop.iter, "zip") if noes else ():
                yield Cut(call, _sides(call), noes[0], loop)


def _is_product(part: Quantified) -> bool:
    """Whether a figure is a sum of products, `sum(a * b for a, b in zip(left, right))`: it takes both sides
    as its factors, and compares none with the other."""
    element = None if isinstance(part.node, cst.DictComp) else part.node.elt
    factors = isinstance(element, cst.BinaryOperation) and isinstance(element.operator, cst.Multiply)
    subtracts = any(
        isinstance(below, cst.Comparison)
        or (isinstance(below, cst.BinaryOperation) and isinstance(below.operator, cst.Subtract))
        for below in walk(element or part.node)
    )
    return part.form == "figure" and factors and not subtracts


def _outer(unit: Unit, loop: cst.For, check: cst.CSTNode) -> bool:
    """Whether a check in a loop reads nothing that the loop binds."""
    flow = values(unit)
    bound = {name.value for name in walk(loop.target) if isinstance(name, cst.Name)}
    for node in (check, *(above for above in unit.ancestors(check) if isinstance(above, (cst.If, cst.For)))):
        if node is loop:
            return True
        inside = node.test if isinstance(node, cst.If) else node.iter if isinstance(node, cst.For) else node
        for binding in flow.slice(inside):
            if binding.name in bound:
                return False
        if any(name.value in bound for name in flow.reads(inside)):
            return False
    return True


def _is_expected(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a loop adds up what a check requires to be equal to something else: an item that it never sees
    makes the sum another, and the check fails."""
    if not isinstance(node, cst.AugAssign) or not isinstance(node.target, cst.Name):
        return False
    flow, total = values(unit), node.target.value
    relations = set()
    for one in comparisons(unit):
        reads = [any(name.value == total for name in flow.reads(side)) for side in (one.left, one.right)]
        if any(reads):
            other = one.left if reads[1] else one.right
            told = not all(reads) and literal(flow.resolve(other)) is UNKNOWN
            relations.add(one.relation if told else "unknown")
    return bool(relations) and relations <= {"equal", "close"}


def _calls(node: cst.BaseExpression, name: str) -> Iterator[cst.Call]:
    """The call of that name that an iterable is, under `enumerate` and the like."""
    while isinstance(node, cst.Call):
        if dotted(node.func) == name:
            yield node
            return
        if dotted(node.func) not in ("enumerate", "list", "tqdm", "reversed", "tuple") or not node.args:
            return
        node = node.args[0].value


def _sides(call: cst.Call) -> tuple[cst.BaseExpression, ...]:
    if any(arg.star for arg in call.args):
        return ()
    return tuple(arg.value for arg in call.args if arg.keyword is None)


def _shorter(unit: Unit) -> Iterator[Cut]:
    """`min(len(a), len(b))` where a loop with checks, or both sides of a check, go only so far."""
    flow = values(unit)
    limited: dict[int, list[CheckedLoop]] = {}
    for loop in checked_loops(unit) if unit.calls("min") else ():
        for limit in _calls(loop.node.iter, "range"):
            for bound in {id(flow.resolve(arg.value)) for arg in limit.args}:
                limited.setdefault(bound, []).append(loop)
    for call in unit.find(cst.Call) if unit.calls("min") else ():
        if dotted(call.func) != "min" or len(call.args) != 2:
            continue
        counted = [counted_by(arg.value) for arg in call.args]
        sides = tuple(side for side in counted if side is not None)
        if len(sides) != 2:
            continue
        for loop in limited.get(id(call), ()):
            yield Cut(call, sides, loop.checks[0].node, loop.node)
        yield from _sliced(unit, call, sides)


def _cut_to_other(unit: Unit) -> Iterator[Cut]:
    """`baseline[: len(restored)] == restored`: of the baseline no more is looked at than the other has."""
    flow = values(unit)
    for one in comparisons(unit) if unit.has(ast.Slice) else ():
        if one.relation not in ("equal", "close"):
            continue
        for mine, other in ((one.left, one.right), (one.right, one.left)):
            node = flow.resolve(mine)
            bound = node.slice[0].slice if type(node) is cst.Subscript else None
            if not isinstance(bound, cst.Slice) or bound.lower is not None or bound.upper is None:
                continue
            call = flow.resolve(bound.upper)
            if type(call) is not cst.Call or dotted(call.func) != "len" or type(node) is not cst.Subscript:
                continue
            roles = [{side(root_name(value))} for value in (node.value, other)]
            if canonical(call.args[0].value) == canonical(other) and roles == [{"baseline"}, {"other"}]:
                yield Cut(call, (node.value, other), one.check.node, one.check.node)


def _sliced(unit: Unit, call: cst.Call, sides: tuple[cst.BaseExpression, ...]) -> Iterator[Cut]:
    flow = values(unit)
    cut = []
    for node in unit.find(cst.Subscript):
        bound = node.slice[0].slice
        if not isinstance(bound, cst.Slice) or bound.lower is not None or bound.upper is None:
            continue
        if flow.resolve(bound.upper) is call:
            cut.append(node)
    if len({canonical(node.value) for node in cut}) < 2:
        return
    for above in unit.ancestors(cut[0]):
        if isinstance(above, (cst.Assert, cst.Expr, cst.If, cst.Return)):
            if all(any(up is above for up in unit.ancestors(node)) for node in cut[:2]):
                yield Cut(call, sides, above.test if isinstance(above, cst.If) else above, above)
            return
