"""Conditions that can never be true where they stand, because of what is known there.

Known is what the conditions around say, what earlier ones said that left (`if row.masked: continue`), what a
loop's own filter keeps, and which values a loop or a `parametrize` lists. A name is known until it is bound
again; what is read from an object until something unknown is called.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.between import are_bound, between, is_quiet
from reviewbot.flow.control import guards
from reviewbot.flow.iteration import parametrized
from reviewbot.flow.suspects import may_check_in
from reviewbot.flow.syntax import UNKNOWN, canonical, keyword_argument, literal, walk
from reviewbot.flow.values import values
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_PLAIN = (
    cst.Name,
    cst.Attribute,
    cst.Subscript,
    cst.Index,
    cst.SubscriptElement,
    cst.BaseString,
    cst.BaseNumber,
)
_OWNERS = frozenset({"self", "cls"})


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Of the value that `of` reads (as text): that it is one of `among`, or none of `apart`, or that it is
    true or false as a whole (`holds`). `node` is what says so, in `unit`'s code."""

    node: cst.CSTNode
    of: str
    among: tuple[object, ...] | None = None
    apart: tuple[object, ...] = ()
    holds: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Contradiction:
    """The condition of `branch` is never true, for what `known` says. `sure`: of a name that nothing binds in
    between, and not of something read from an object."""

    branch: cst.If
    known: Known
    sure: bool


def contradictions(unit: Unit) -> Iterator[Contradiction]:
    """The branches of a function whose condition contradicts what is known where they stand."""
    for branch in unit.find(cst.If) if unit.is_function else ():
        asked = _said(unit, branch.test, True)
        if not asked:
            continue
        for known in _known(unit, branch):
            if any(_excludes(known, one) for one in asked):
                sure = _is_still_so(unit, known, branch)
                if sure is not None:
                    yield Contradiction(branch, known, sure)
                    break


def _known(unit: Unit, branch: cst.If) -> Iterator[Known]:
    for guard in guards(unit, branch):
        yield from _said(unit, guard.condition, guard.outcome)
    for above in unit.ancestors(branch):
        if isinstance(above, cst.For) and isinstance(above.target, cst.Name):
            yield from _of_loop(unit, above, above.target)
        elif isinstance(above, cst.FunctionDef):
            break
    for one in _said(unit, branch.test, True):
        if one.of.isidentifier():
            yield from _of_parameter(unit, one.of)


def _of_loop(unit: Unit, loop: cst.For, item: cst.Name) -> Iterator[Known]:
    """What is known of each item of a loop: the values that are listed, or what its filter kept."""
    made = values(unit).resolve(loop.iter)
    listed = literal(made)
    if made is loop.iter and isinstance(listed, (list, tuple, set)):
        yield Known(loop.iter, item.value, among=tuple(listed))
    if not isinstance(made, (cst.ListComp, cst.GeneratorExp)) or made.for_in.inner_for_in is not None:
        return
    target = made.for_in.target
    if isinstance(target, cst.Name) and isinstance(made.elt, cst.Name) and made.elt.value == target.value:
        for kept in made.for_in.ifs:
            for one in _says(kept.test, True):
                if one.of == target.value or one.of.startswith((f"{target.value}.", f"{target.value}[")):
                    of = item.value + one.of[len(target.value) :]
                    yield Known(loop.iter, of, one.among, one.apart, one.holds)


def _of_parameter(unit: Unit, name: str) -> Iterator[Known]:
    """The values that a `parametrize` lists for a parameter of its own."""
    found = parametrized(unit, name)
    call = found.decorator if found is not None else None
    if not isinstance(call, cst.Call) or len(call.args) != 2 or literal(call.args[0].value) != name:
        return
    listed = literal(call.args[1].value)
    if isinstance(listed, (list, tuple)) and listed and keyword_argument(call, "indirect") is None:
        yield Known(call, name, among=tuple(listed))


def _said(unit: Unit, condition: cst.BaseExpression, outcome: bool) -> list[Known]:
    """`_says`, worked out once: an `elif` is reached by what all conditions before it say."""
    known, key = _all_said(unit), (condition, outcome)
    if key not in known:
        known[key] = list(_says(condition, outcome))
    return known[key]


@once
def _all_said(unit: Unit) -> dict[tuple[cst.BaseExpression, bool], list[Known]]:
    return {}


def _says(condition: cst.BaseExpression, outcome: bool) -> Iterator[Known]:
    """What a condition says of single values where it has that outcome."""
    if isinstance(condition, cst.UnaryOperation) and isinstance(condition.operator, cst.Not):
        yield from _says(condition.expression, not outcome)
    elif isinstance(condition, cst.BooleanOperation):
        if isinstance(condition.operator, cst.And) is outcome:
            yield from _says(condition.left, outcome)
            yield from _says(condition.right, outcome)
    elif isinstance(condition, cst.Comparison):
        if len(condition.comparisons) == 1 and _is_plain(condition.left):
            target = condition.comparisons[0]
            yield from _compared(condition, target.operator, target.comparator, outcome)
    elif _is_plain(condition) and literal(condition) is UNKNOWN:
        yield Known(condition, canonical(condition), holds=outcome)


def _compared(
    condition: cst.Comparison, operator: cst.BaseCompOp, right: cst.BaseExpression, outcome: bool
) -> Iterator[Known]:
    of, value = canonical(condition.left), literal(right)
    if value is UNKNOWN:
        return
    if isinstance(operator, (cst.Equal, cst.Is, cst.NotEqual, cst.IsNot)):
        among = (value,)
    elif isinstance(operator, (cst.In, cst.NotIn)) and isinstance(value, (list, tuple, set)):
        among = tuple(value)
    else:
        return
    if isinstance(operator, (cst.Equal, cst.Is, cst.In)) is outcome:
        yield Known(condition, of, among=among)
    else:
        yield Known(condition, of, apart=among)


def _is_plain(node: cst.BaseExpression) -> bool:
    """Whether an expression reads a name, an attribute or a key of it, and nothing else."""
    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) and all(
        isinstance(below, _PLAIN) for below in walk(node)
    )


def _excludes(known: Known, asked: Known) -> bool:
    """Whether what is known leaves no value for which what is asked would hold."""
    if known.of != asked.of:
        return False
    if known.holds is not None or asked.holds is not None:
        return known.holds is not None and asked.holds is not None and known.holds is not asked.holds
    if known.among is None:
        return asked.among is not None and all(_is_in(value, known.apart) for value in asked.among)
    if asked.among is not None:
        return not any(_is_in(value, asked.among) for value in known.among)
    return all(_is_in(value, asked.apart) for value in known.among)


def _is_in(value: object, others: tuple[object, ...]) -> bool:
    return any(value == other for other in others)


def _is_still_so(unit: Unit, known: Known, branch: cst.If) -> bool | None:
    """Whether what is known holds where the branch stands: True of a name, False of what is read from an
    object while nothing unknown is called, None where it may have changed."""
    name = next((word for word in _words(known.of)), "")
    # A decorator stands after the body in the order of nodes, and is known before it.
    since: cst.CSTNode = known.node
    if isinstance(unit.node, cst.FunctionDef) and isinstance(unit.parent(since), cst.Decorator):
        since = unit.node.params
    run = between(unit, [since], branch)
    if name in _OWNERS or are_bound(unit, [name], _without_item(unit, known, run)):
        return None
    bindings = values(unit).bindings(name)
    if not bindings or any(_is_nested(unit, binding.node) for binding in bindings):
        return None
    # What is true now may be empty after a call that is given it; a number or a text stays what it is.
    if known.of == name and known.holds is None and all(map(_is_constant, known.among or known.apart)):
        return True
    return False if is_quiet(run) else None


def _is_nested(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a nested function binds a name: any call may run it."""
    kinds = (cst.FunctionDef, cst.Lambda)
    return any(isinstance(above, kinds) and above is not unit.node for above in unit.ancestors(node))


def _is_constant(value: object) -> bool:
    return value is None or isinstance(value, (str, bytes, int, float, bool))


def _without_item(unit: Unit, known: Known, run: list[cst.CSTNode]) -> list[cst.CSTNode]:
    """What runs in between, without the loop's own binding of its item."""
    loop = unit.parent(known.node)
    own = {id(below) for below in walk(loop.target)} if isinstance(loop, cst.For) else set()
    return [node for node in run if id(node) not in own]


def _words(code: str) -> Iterator[str]:
    word = code.partition(".")[0].partition("[")[0]
    if word.isidentifier():
        yield word


# The same asked of `ast`, so that few units need to be parsed twice.


def may_contradict(unit: Unit) -> bool:
    """Whether a branch with checks might contradict what is known there; yes too often, never no wrongly."""
    branches = unit.asts(ast.If) if unit.is_function else []
    if not branches or (len(branches) == 1 and not _may_list(unit)):
        return False
    others = [node.test for node in unit.asts(ast.While)] + [node.test for node in unit.asts(ast.IfExp)]
    each = [(node, list(_asked(node.test))) for node in branches]
    asked = Counter(of for _, about in each for of in about)
    asked.update(of for test in others for of in _asked(test))
    listed = _may_list(unit)
    return any(
        any(asked[of] > 1 or next(_words(of), "") in listed for of in about) and may_check_in(unit, node.body)
        for node, about in each
    )


def _may_list(unit: Unit) -> frozenset[str]:
    """The names that a loop, or a `parametrize`, may give listed or filtered values."""
    loops: list[ast.For | ast.AsyncFor] = [*unit.asts(ast.For), *unit.asts(ast.AsyncFor)]
    found = {loop.target.id for loop in loops if isinstance(loop.target, ast.Name)}
    if isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for mark in unit.tree.decorator_list:
            if isinstance(mark, ast.Call) and called_last(mark) == "parametrize" and mark.args:
                name = mark.args[0]
                found |= (
                    {name.value} if isinstance(name, ast.Constant) and isinstance(name.value, str) else set()
                )
    return frozenset(found)


def _asked(test: ast.expr) -> Iterator[str]:
    """The texts of what a condition reads, as far as `_says` knows what it says of it."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _asked(value)
    elif isinstance(test, ast.UnaryOp):
        yield from _asked(test.operand)
    elif isinstance(test, ast.Compare):
        yield from _asked(test.left)
    elif isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
        yield test.id if isinstance(test, ast.Name) else ast.unparse(test)
