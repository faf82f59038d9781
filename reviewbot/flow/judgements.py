"""Where a unit judges two values: at once, by a check, or by a record that a check reads later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.assertions import Relation
from reviewbot.flow.checks import Check, checks, compared, comparisons
from reviewbot.flow.control import guards, statements
from reviewbot.flow.gaps import gap
from reviewbot.flow.may_judge import CONSTANTS, compares_named, may_demand, names_distance
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries
from reviewbot.flow.suspects import is_named_comparer
from reviewbot.flow.syntax import children, dotted, last_name, literal, root_name, walk
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_REFUSALS = frozenset({
    "ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "NotImplementedError", "OSError",
})  # fmt: skip
_SAME: tuple[Relation, ...] = ("equal", "close", "identical")


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Two values that must agree. `node` is the statement that fails or that records the difference."""

    node: cst.CSTNode
    left: cst.BaseExpression
    right: cst.BaseExpression


@once
def judgements(unit: Unit) -> list[Judgement]:
    """Every place that demands that two values agree, neither of which is written out, in source order."""
    if not compares_named(unit) or not may_demand(unit):
        return []
    found = [
        Judgement(one.check.node, one.left, one.right)
        for one in comparisons(unit)
        if one.relation in _SAME and not _written(unit, one.left) and not _written(unit, one.right)
        if not _validates(unit, one.check)
    ]
    for check in checks(unit):
        if check.condition is not None and not _validates(unit, check):
            found.extend(_distances(unit, check.node, check.condition))
    found.extend(recorded(unit, judged_names(unit)))
    for check in checks(unit):
        if check.kind in ("raise", "fail", "exit") and not _validates(unit, check):
            found.extend(_left_over(unit, check.node))
    found.sort(key=lambda judgement: unit.index.rank(judgement.node))
    return found


def _validates(unit: Unit, check: Check) -> bool:
    """Whether a `raise` refuses an argument rather than judging a result."""
    if type(check.node) is not cst.Raise or check.node.exc is None or is_named_comparer(unit):
        return False
    return last_name(check.node.exc) in _REFUSALS


@once
def judged_names(unit: Unit) -> frozenset[str]:
    """The local names whose value a check of the unit reads, that the unit returns as its verdict, or that
    decide whether one of these is recorded."""
    found = set(_read_by_checks(unit))
    flow = values(unit)
    branches = [(node, records(unit, node.body)) for node in unit.find(cst.If)] if found else []
    while True:
        further = {
            name.value
            for node, recorded in branches
            if not recorded.isdisjoint(found)
            for name in flow.reads(node.test)
        }
        if further <= found:
            return frozenset(found)
        found |= further


def _read_by_checks(unit: Unit) -> frozenset[str]:
    flow = values(unit)
    found: set[str] = set()
    for check in checks(unit):
        looks_at = check.node if check.condition is None else check.condition
        if type(looks_at) is not cst.With:
            found |= {name.value for name in flow.reads(looks_at)}
    if unit.is_function and unit.has(ast.Return):
        summary = Summaries.of(unit.file).summary(unit.tree, unit)  # type: ignore[arg-type]
        if summary is not None and summary.returns == "verdict":
            for node in unit.find(cst.Return):
                if node.value is not None:
                    found |= {name.value for name in flow.reads(node.value)}
    return frozenset(found)


def records(unit: Unit, node: cst.CSTNode) -> frozenset[str]:
    """The names that a statement, or one under it, assigns or changes, attributes of `self` by the whole."""
    return values(unit).changes(node)


def compared_in(unit: Unit, node: cst.CSTNode, condition: cst.BaseExpression) -> Iterator[Judgement]:
    """Every two values whose agreement, or whose distance, a condition asks for, whatever it decides."""
    check = Check("raise", node, condition, True)
    for holds in (True, False):
        for one in compared(unit, check, condition, holds=holds):
            if one.relation in _SAME and not _written(unit, one.left) and not _written(unit, one.right):
                yield Judgement(node, one.left, one.right)
    yield from _distances(unit, node, condition)


def _notes(unit: Unit, statement: cst.CSTNode, judged: frozenset[str]) -> bool:
    """Whether a statement notes a difference in what a check reads: it adds to it, or sets it to a constant
    or a message."""
    if type(statement) is cst.Assign:
        name = root_name(statement.targets[0].target)
        if name not in judged or isinstance(literal(statement.value), bool):
            return name in judged
        said = isinstance(statement.value, (cst.FormattedString, cst.ConcatenatedString, cst.SimpleString))
        return said and FAILURE.search(name) is not None
    if type(statement) is cst.AugAssign or type(statement) is cst.Expr:
        return not records(unit, statement).isdisjoint(judged)
    return False


FAILURE = pattern(r"(?i)fail|err|mismatch|diff|msg|message|problem|bad|wrong|reason|issue|violation")


def recorded(unit: Unit, judged: frozenset[str]) -> Iterator[Judgement]:
    """The agreements whose failure is noted in one of these names, to be judged later."""
    for node in unit.find(cst.If):
        body = statements(node.body)
        if any(_notes(unit, statement, judged) for statement in body):
            check = Check("raise", node, node.test, True)
            yield from agreeing(node, unit, check, node.test, holds=False)
    for statement in unit.find(cst.Assign, cst.AugAssign, cst.Expr):
        if _notes(unit, statement, judged) and not _fills_up(unit, statement):
            yield from _left_over(unit, statement)
    stores = [(node, node.targets[0].target, node.value) for node in unit.find(cst.Assign)]
    changes = [(node, node.target, node.value) for node in unit.find(cst.AugAssign)]
    for statement, target, value in (*stores, *changes):
        if root_name(target) in judged and _is_verdict(value):
            check = Check("assert", statement)
            yield from agreeing(statement, unit, check, value, holds=True)
            # A list of what differs: `[i for i in rows if a[i] != b[i]]`.
            for part in walk(value):
                if type(part) is cst.CompIf:
                    yield from agreeing(statement, unit, check, part.test, holds=False)


def _fills_up(unit: Unit, statement: cst.CSTNode) -> bool:
    """Whether a statement adds to what the loop around it waits for: `while len(drawn) < 8: drawn.append(…)`.
    What leads past it is drawn again, and no difference."""
    added = records(unit, statement)
    return any(
        type(above) is cst.While and any(name.value in added for name in values(unit).reads(above.test))
        for above in unit.ancestors(statement)
    )


def _left_over(unit: Unit, node: cst.CSTNode) -> Iterator[Judgement]:
    """The agreements that lead past a statement which fails, or notes a failure: `if a == b: continue` before
    it in its block, `if a == b: …` above the `elif` or `else` that it stands in."""
    block: cst.CSTNode | None = None
    chain: list[cst.CSTNode] = []
    below = node
    for above in unit.ancestors(node):
        if type(above) is cst.If:
            if above.orelse is below:
                chain.append(above)
        elif isinstance(above, (cst.IndentedBlock, cst.Module)):
            if block is not None:
                break
            block = above
        elif not isinstance(above, (cst.Else, cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            break
        below = above
    for guard in guards(unit, node):
        beside = guard.by_leaving and unit.parent(guard.node) is block
        if type(guard.node) is cst.If and not records(unit, guard.node.body).isdisjoint(records(unit, node)):
            continue  # both arms note what they find
        if not guard.outcome and type(guard.node) is cst.If and (beside or guard.node in chain):
            check = Check("raise", node, guard.condition, False)
            yield from agreeing(node, unit, check, guard.condition, holds=True)


def agreeing(
    node: cst.CSTNode, unit: Unit, check: Check, condition: cst.BaseExpression, *, holds: bool
) -> Iterator[Judgement]:
    """The agreements that a condition asks for, if `holds` is its truth value where nothing is wrong."""
    for one in compared(unit, check, condition, holds=holds):
        if one.relation in _SAME and not _written(unit, one.left) and not _written(unit, one.right):
            yield Judgement(node, one.left, one.right)
    yield from _distances(unit, node, condition)


def _distances(unit: Unit, node: cst.CSTNode, condition: cst.BaseExpression) -> Iterator[Judgement]:
    """The pairs whose distance a condition looks at, also by the name of the distance."""
    flow = values(unit)
    held = (flow.resolve(name) for name in flow.reads(condition) if not _is_handed_on(unit, name))
    for below in (inner for read in (condition, *held) for inner in _measured(read)):
        pair = _difference(below) or gap(unit, below)
        if pair is not None and not _written(unit, pair[0]) and not _written(unit, pair[1]):
            yield Judgement(node, *pair)


def _is_handed_on(unit: Unit, name: cst.Name) -> bool:
    """Whether a name is an argument of a call that makes of it what nothing here says."""
    above = unit.parent(name)
    call = unit.parent(above) if type(above) is cst.Arg else None
    return type(call) is cst.Call and last_name(call) not in _SIZES


_SIZES = frozenset({
    "abs", "fabs", "float", "int", "max", "min", "sum", "mean", "norm", "any", "all", "isnan", "isfinite",
    "amax", "amin", "median", "len", "sqrt", "nanmax",
})  # fmt: skip


def _measured(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What stands under a node, without the terms of a product or a sum: a difference among these is a part
    of some formula, and no distance."""
    yield node
    if type(node) is cst.BinaryOperation:
        # Also those of a difference, of which the difference itself is what counts.
        if isinstance(node.operator, (cst.Divide, cst.FloorDivide, cst.Power)):
            yield from _measured(node.left)
        return
    for below in children(node):
        yield from _measured(below)


def _difference(node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The two values of which an expression measures how far they are apart."""
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.Subtract:
        sides = node.left, node.right
        # A difference of products is a formula's, one of lengths how many to add or to cut.
        made = all(type(side) is cst.BinaryOperation for side in sides)
        lengths = all(type(side) is cst.Call and dotted(side.func) == "len" for side in sides)
        return None if made or lengths else sides
    if type(node) is cst.Call and names_distance(last_name(node)):
        given = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
        return (given[0], given[1]) if len(given) > 1 else None
    return None


def is_distance(node: cst.CSTNode) -> bool:
    """Whether an expression says how far values are apart: it subtracts, or calls what by its name does."""
    return any(
        (type(below) is cst.BinaryOperation and type(below.operator) is cst.Subtract)
        or (type(below) is cst.Call and names_distance(last_name(below)))
        for below in walk(node)
    )


def _is_verdict(node: cst.BaseExpression) -> bool:
    return any(type(below) in _JUDGING for below in walk(node))


_JUDGING = frozenset({cst.Comparison, cst.BinaryOperation, cst.Call})


def _written(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value is written out in the code, also by a name for it."""
    whole = node
    if type(node) is cst.Name and not values(unit).mutations(node.value):
        whole = values(unit).resolve(node)
    return not any(type(below) is cst.Name and below.value not in CONSTANTS for below in walk(whole))
