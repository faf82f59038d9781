"""Loops and quantifiers that check each item of something: what they run over and what they check."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.checks import Check, call_of, checks
from reviewbot.flow.guards import deciding
from reviewbot.flow.judging import compares, says_comparison, two_sides
from reviewbot.flow.summaries import Summaries
from reviewbot.flow.syntax import UNKNOWN, children, dotted, last_name, literal, root_name, walk
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Comprehension = cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp
Form = Literal["all", "none", "figure"]

COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_TRUE = frozenset({"assertTrue", "assert_", "assert_true", "ok_", "failUnless"})
_FALSE = frozenset({"assertFalse", "assert_false", "failIf", "assertEmpty"})
_FIGURES = frozenset({"max", "sum", "mean", "fmean", "min", "amax", "nanmax", "nanmean", "average"})


@dataclass(frozen=True, slots=True, eq=False)
class CheckedLoop:
    """A `for` whose body checks, with its checks in source order (those of inner loops too)."""

    node: cst.For
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Quantified:
    """A comprehension on which a check decides as a whole.

    `all`: the check passes if each element is true. `none`: it passes if no element is, or if nothing is
    left by the comprehension's condition. `figure`: it looks at a figure over the elements, `max(…)`.
    `check` is the statement that decides.
    """

    node: Comprehension
    form: Form
    check: cst.CSTNode


_SCOPES = frozenset({cst.FunctionDef, cst.Lambda, cst.ClassDef})


@once
def checked_loops(unit: Unit) -> list[CheckedLoop]:
    """The `for` loops of a unit that check in their body, in source order."""
    inside: dict[cst.CSTNode, list[Check]] = {}
    for check in checks(unit):
        below: cst.CSTNode = check.node
        for above in unit.ancestors(check.node):
            if type(above) in _SCOPES:
                break
            if type(above) is cst.For and below is above.body:
                inside.setdefault(above, []).append(check)
            below = above
    return [CheckedLoop(loop, tuple(inside[loop])) for loop in unit.find(cst.For) if loop in inside]


def is_forced(unit: Unit, check: Check, loop: cst.For) -> bool:
    """Whether a check fails on every item that reaches it: a loop over what must not be there."""
    if check.kind not in ("raise", "fail", "exit"):
        return False
    for above in unit.ancestors(check.node):
        if above is loop:
            return True
        if isinstance(above, (cst.If, cst.ExceptHandler, cst.Else, cst.While, cst.For)):
            return False
    return True


@once
def quantified(unit: Unit) -> list[Quantified]:
    """The comprehensions on which the unit's checks decide, written in a check or reached by a name."""
    found: dict[int, Quantified] = {}
    for expression, holds, check in _conditions(unit):
        for node, form in _parts(unit, expression, holds, 4):
            found.setdefault(id(node), Quantified(node, form, check))
    return list(found.values())


def may_quantify(unit: Unit) -> Iterator[ast.comprehension]:
    """The clauses of those comprehensions in the unit's `ast` on which a check could decide: yes too often,
    never no wrongly."""
    for call in unit.calls_of(_ASKING):
        if call.args and isinstance(call.args[0], ast.GeneratorExp):
            yield from call.args[0].generators
    made: list[ast.ListComp | ast.SetComp | ast.DictComp] = [*unit.asts(ast.ListComp)]
    made += [*unit.asts(ast.SetComp), *unit.asts(ast.DictComp)]
    for node in made:
        yield from node.generators


_ASKING = _FIGURES | {"all", "any"}


def _conditions(unit: Unit) -> Iterator[tuple[cst.BaseExpression, bool, cst.CSTNode]]:
    """What must hold (or not hold) for a check to pass, with the check's statement."""
    for check in checks(unit):
        if check.condition is not None:
            yield check.condition, not check.fails_when, check.node
            continue
        call = call_of(check.node)
        if call is None or check.kind != "call" or not call.args:
            continue
        name, first = last_name(call), call.args[0].value
        if name in _TRUE or name in _FALSE:
            yield first, name in _TRUE, check.node
        elif len(call.args) > 1:
            second = call.args[1].value
            if _is_nothing(second) or _is_nothing(first):
                yield (first if _is_nothing(second) else second), False, check.node
            elif name in ("assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual"):
                for side in (first, second):
                    yield side, True, check.node
    if returns_verdict(unit):
        for node in unit.find(cst.Return):
            if node.value is not None and not _nested(unit, node):
                yield node.value, True, node
    for function in comparers_within(unit):
        # What takes it as an argument calls it.
        if not any(_calls_it(call, function) for call in unit.find(cst.Call)):
            for node in _returns(function):
                if node.value is not None:
                    yield node.value, True, node


@once
def comparers_within(unit: Unit) -> list[cst.FunctionDef]:
    """The functions written inside of a unit that compare, as their names or their parameters' say."""
    return [
        node
        for node in unit.find(cst.FunctionDef)
        if node is not unit.node
        and (
            says_comparison(node.name.value)
            or two_sides(param.name.value for param in (*node.params.params, *node.params.kwonly_params))
        )
    ]


def _calls_it(call: cst.Call, function: cst.FunctionDef) -> bool:
    return type(call.func) is cst.Name and call.func.value == function.name.value


def _returns(function: cst.FunctionDef) -> Iterator[cst.Return]:
    """The `return` statements of a function, without those of functions inside of it."""
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        if type(node) is cst.Return:
            yield node
        elif not isinstance(node, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            stack += children(node)


def answers_within(unit: Unit, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a function or lambda that is written inside of the unit may answer a call with."""
    if type(call.func) is not cst.Name:
        return
    flow = values(unit)
    made = flow.resolve(call.func)
    if type(made) is cst.Lambda:
        yield made.body
    for binding in flow.reaching(call.func):
        if binding.kind == "definition" and type(binding.node) is cst.FunctionDef:
            for node in _returns(binding.node):
                if node.value is not None:
                    yield node.value


@once
def returns_verdict(unit: Unit) -> bool:
    """Whether a function compares two sides and answers by what it returns: a comparison's outcome, or a
    list of differences."""
    if unit.is_test or not compares(unit) or not unit.is_function or not unit.has(ast.Return):
        return False
    summary = Summaries.of(unit.file).called(unit.name.rpartition(".")[2], unit)
    if summary is None and unit.kind == "method":
        summary = Summaries.of(unit.file).called(f"self.{unit.name.rpartition('.')[2]}", unit)
    return summary is not None and summary.returns == "verdict" and not summary.generator


def _nested(unit: Unit, node: cst.CSTNode) -> bool:
    return any(
        isinstance(above, (cst.FunctionDef, cst.Lambda)) and above is not unit.node
        for above in unit.ancestors(node)
    )


def _parts(
    unit: Unit, node: cst.BaseExpression, holds: bool, depth: int
) -> Iterator[tuple[Comprehension, Form]]:
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        yield from _parts(unit, node.expression, not holds, depth)
    elif type(node) is cst.BooleanOperation:
        yield from _parts(unit, node.left, holds, depth)
        yield from _parts(unit, node.right, holds, depth)
    elif type(node) is cst.Comparison and len(node.comparisons) == 1:
        yield from _of_comparison(unit, node, holds, depth)
    elif type(node) is cst.Call:
        name = last_name(node)
        inner = node.args[0].value if node.args and not node.args[0].star else None
        if name in ("all", "any") and isinstance(inner, COMPREHENSIONS):
            if (name == "all") == holds:
                yield inner, "all" if name == "all" else "none"
        elif name in ("bool", "len") and inner is not None:
            yield from _parts(unit, inner, holds, depth)
        elif name in _FIGURES and isinstance(inner, COMPREHENSIONS):
            yield inner, "figure"
        elif depth:
            # A figure that a function answers with may measure one thing that two values span.
            for answer in answers_within(unit, node):
                found = _parts(unit, answer, holds, depth - 1)
                yield from ((part, form) for part, form in found if form != "figure")
    elif isinstance(node, COMPREHENSIONS) and type(node) is not cst.GeneratorExp:
        if not holds:
            yield node, "none"
    elif type(node) is cst.Name and depth:
        for binding in values(unit).reaching(node):
            if binding.kind == "assign" and binding.role == "whole" and binding.value is not None:
                yield from _parts(unit, binding.value, holds, depth - 1)


def _of_comparison(
    unit: Unit, node: cst.Comparison, holds: bool, depth: int
) -> Iterator[tuple[Comprehension, Form]]:
    target = node.comparisons[0]
    for one, other in ((node.left, target.comparator), (target.comparator, node.left)):
        if _is_nothing(other) and isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.GreaterThan)):
            yield from _parts(unit, one, holds != isinstance(target.operator, cst.Equal), depth)
        elif isinstance(one, (cst.Call, cst.Name)):
            for part, form in _parts(unit, one, holds, depth):
                if form == "figure":
                    yield part, form


def _is_nothing(node: cst.BaseExpression) -> bool:
    value = literal(node)
    if value is UNKNOWN:
        return type(node) is cst.Call and dotted(node.func) in ("set", "list", "dict") and not node.args
    return value is not None and not isinstance(value, bool) and value in (0, [], {}, (), "")


def counted(unit: Unit, loop: cst.For, others: Sequence[cst.For] = ()) -> bool:
    """Whether what the loop's body records (a counter, a flag, a list) is looked at after the loop in a way
    that fails if the body never ran, or if the loop has an `else` that fails or skips. What stands in one of
    `others` does not count: these may run as little."""
    for below in walk(loop.orelse) if loop.orelse is not None else ():
        if isinstance(below, (cst.Raise, cst.Assert)):
            return True
        if type(below) is cst.Call and last_name(below) in ("fail", "skip", "skipTest"):
            return True
    flow = values(unit)
    ranks, bound = _bound_in_order(unit)
    start, end = unit.index.reach(loop.body)
    written = set(bound[bisect_left(ranks, start) : bisect_left(ranks, end)])
    for node in walk(loop.body):
        if type(node) is cst.Call and type(node.func) is cst.Attribute:
            inner = node.func.value
            if type(inner) is cst.Name:
                written.update(m.name for m in flow.mutations(inner.value) if m.node is node)
        elif type(node) is cst.AssignTarget and type(node.target) is cst.Subscript:
            written.add(root_name(node.target))
    rank = unit.index.rank
    asked = {id(one): one for name in written for one in _deciding_by_name(unit).get(name, ())}
    for expression in asked.values():
        if rank(expression) < rank(loop) or any(_under(unit, expression, one) for one in (loop, *others)):
            continue
        names = [name for name in flow.reads(expression) if name.value in written]
        if names and passes_untouched(unit, expression, loop) is not True:
            return True
    return False


@once
def _bound_in_order(unit: Unit) -> tuple[list[int], list[str]]:
    """The ranks of what binds a name in a unit, and these names."""
    here = [binding for binding in values(unit).all if binding.node in unit.index]
    here.sort(key=lambda binding: unit.index.rank(binding.node))
    return [unit.index.rank(binding.node) for binding in here], [binding.name for binding in here]


@once
def _deciding_by_name(unit: Unit) -> dict[str, list[cst.BaseExpression]]:
    """What decides whether a check fails, by the names that it reads."""
    found: dict[str, list[cst.BaseExpression]] = {}
    for expression in deciding(unit):
        for name in {name.value for name in values(unit).reads(expression)}:
            found.setdefault(name, []).append(expression)
    return found


def passes_untouched(unit: Unit, expression: cst.BaseExpression, loop: cst.For) -> bool | None:
    """Whether an expression after a loop is one that a body which never ran leaves passing: `ok` after
    `ok = True`, `not errors` after `errors = []`. None where that cannot be said."""
    negated, above = False, unit.parent(expression)
    fails_when_true = type(above) is cst.If and above.test is expression
    while type(expression) is cst.UnaryOperation and type(expression.operator) is cst.Not:
        expression, negated = expression.expression, not negated
    name: cst.BaseExpression = expression
    if type(expression) is cst.Comparison and len(expression.comparisons) == 1:
        target = expression.comparisons[0]
        if isinstance(target.operator, (cst.LessThan, cst.LessThanEqual)):
            name = expression.left
            start = _start(unit, name, loop)
            limit = literal(target.comparator)
            if isinstance(start, (int, float)) and isinstance(limit, (int, float)):
                return start <= limit
            return True if isinstance(start, (int, float)) and start == 0 else None
        if type(target.operator) is not cst.Equal:
            return None
        wanted, start = literal(target.comparator), _start(unit, expression.left, loop)
        if type(expression.left) is cst.Call and dotted(expression.left.func) == "len":
            start = _start(unit, expression.left.args[0].value, loop) if expression.left.args else UNKNOWN
            start = len(start) if isinstance(start, (list, tuple, dict, set, str)) else UNKNOWN
        if wanted is UNKNOWN or start is UNKNOWN:
            return None
        return (wanted == start) != (negated != fails_when_true)
    if type(name) is cst.Call and dotted(name.func) == "len" and name.args:
        name = name.args[0].value
    start = _start(unit, name, loop)
    if start is UNKNOWN:
        return None
    return (bool(start) != negated) != fails_when_true


def _start(unit: Unit, node: cst.BaseExpression, loop: cst.For) -> object:
    """The value that a name has before a loop, if it is written out."""
    if type(node) is not cst.Name:
        return UNKNOWN
    before = [
        binding
        for binding in values(unit).bindings(node.value)
        if not _under(unit, binding.node, loop) and unit.index.rank(binding.node) < unit.index.rank(loop)
    ]
    if len(before) != 1 or before[0].value is None or before[0].role != "whole":
        return UNKNOWN
    return literal(before[0].value)


def _under(unit: Unit, inner: cst.CSTNode, outer: cst.CSTNode) -> bool:
    return unit.holds(outer, inner)
