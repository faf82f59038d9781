"""Two versions of a function: checks that are asked for under one more condition now, or under a switch that
is off where nobody gives it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.demands import Demand, demands, names_in
from reviewbot.flow.loosening import ENVIRONMENT, Loosened, short
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.unraised import does_more, tells

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_CHECKING = pattern(r"(?i)^_*(check|assert|verify|validate|compare|expect)")


def narrowed(old: _FUNCTION, new: _FUNCTION) -> Iterator[Loosened]:
    """The checks that stand in both versions, word for word, and under one more condition in the new one.

    Not where the other way asks something too, where the condition is about the machine, or where it reads a
    parameter that is new: what gives it may run the check as before.
    """
    had, has = _placed(old.body), _placed(new.body)
    texts = Counter(one.demand.text for one in had), Counter(one.demand.text for one in has)
    came = _parameters(new) - _parameters(old)
    same = texts[0] == texts[1] and _size(old) == _size(new)
    for one in has:
        text = one.demand.text
        before = [other for other in had if other.demand.text == text]
        if len(before) != 1 or texts[1][text] != 1:
            continue
        added = [asked for asked in one.under if asked not in before[0].under]
        if not added or not set(before[0].under) <= set(one.under) or one.elsewhere:
            continue
        if any(ENVIRONMENT.search(asked) or came & names_in(_parsed(asked)) for asked in added):
            continue
        where = " and ".join(f"`{short(asked)}`" for asked in added)
        says = f"`{short(text)}` is asked for only where {where} holds now"
        yield Loosened("weaker", before[0].demand.node, one.demand.node, says, sure=same)


def switched_off(old: _FUNCTION, new: _FUNCTION) -> Iterator[tuple[str, Loosened]]:
    """The parameters that are off by default now and were on, and under which the function checks: the name,
    and the first of these checks."""
    was, now = _defaults(old), _defaults(new)
    for name, value in now.items():
        if name not in was or was[name].value is not True or value.value not in (False, None):
            continue
        first = next((it for it in ast.walk(new) if isinstance(it, ast.If) and _asks(it.test, name)), None)
        checked = _first_check(first.body) if first is not None else ""
        if first is not None and checked:
            says = f"`{name}` is off by default now, and without it `{new.name}` does not ask for `{checked}`"
            still = f"`{new.name}`, where a caller gives it `{name}`"
            yield name, Loosened("weaker", was[name], value, says, still=still)


def only_told(old: _FUNCTION, new: _FUNCTION) -> Iterator[Loosened]:
    """The checks of the old version that fail nothing any more: where they do not hold, the new one shows a
    message and goes on."""
    had, has = demands(old.body), demands(new.body)
    there = {(one.relation, one.subject, one.other) for one in has}
    before = {(one.relation, one.subject, one.other): one for one in had if one.relation}
    for node in ast.walk(new):
        if not isinstance(node, ast.If) or not tells(node.body) or any(map(does_more, node.body)):
            continue
        failing = ast.If(test=node.test, body=[_FAILS], orelse=[])
        for told in demands([ast.copy_location(failing, node)]):
            key = (told.relation, told.subject, told.other)
            if key in before and key not in there:
                says = f"where `{short(ast.unparse(node.test))}`, it is only told of, and nothing fails"
                yield Loosened("weaker", _failed(old, before[key].node), node.test, says)


def _failed(old: _FUNCTION, demand: ast.AST) -> ast.AST:
    """Where a demand failed: of a condition, which is still there, what stood under it."""
    branches = (node for node in ast.walk(old) if isinstance(node, ast.If))
    return next((one.body[-1] for one in branches if demand in (one, one.test)), demand)


_FAILS = ast.parse("raise AssertionError()").body[0]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A demand with the conditions around it; `elsewhere`: the other way of one of them asks too."""

    demand: Demand
    under: tuple[str, ...]
    elsewhere: bool


def _placed(body: list[ast.stmt], under: tuple[str, ...] = (), *, elsewhere: bool = False) -> list[_Placed]:
    found: list[_Placed] = []
    for statement in body:
        if isinstance(statement, ast.If):
            own = [_Placed(one, under, elsewhere) for one in demands([_alone(statement)])]
            found += own
            other = bool(demands(statement.orelse)) or _raises(statement.orelse)
            mine = bool(demands(statement.body))
            asked = tuple(ast.unparse(one) for one in _terms(statement.test))
            found += _placed(statement.body, (*under, *asked), elsewhere=elsewhere or other)
            inverse = f"not ({ast.unparse(statement.test)})"
            found += _placed(statement.orelse, (*under, inverse), elsewhere=elsewhere or mine)
        elif isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)):
            if isinstance(statement, (ast.With, ast.AsyncWith)):
                head = type(statement)(items=statement.items, body=[ast.Pass()])
                head.lineno, head.col_offset = statement.lineno, statement.col_offset
                found += [_Placed(one, under, elsewhere) for one in demands([head]) if one.subject]
            found += _placed(statement.body, under, elsewhere=elsewhere)
        elif isinstance(statement, ast.Try):
            for block in (statement.body, statement.orelse, statement.finalbody):
                found += _placed(block, under, elsewhere=elsewhere)
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found += [_Placed(one, under, elsewhere) for one in demands([statement])]
    return found


def _alone(node: ast.If) -> ast.stmt:
    """An `if` that itself fails, without what stands under it."""
    last = node.body[-1]
    alone = ast.If(test=node.test, body=[last if isinstance(last, ast.Raise) else ast.Pass()], orelse=[])
    return ast.copy_location(alone, node)


def _terms(test: ast.expr) -> list[ast.expr]:
    """What has to hold all together for a test to hold."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [below for one in test.values for below in _terms(one)]
    return [test]


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Raise) for one in body)


def _parameters(node: _FUNCTION) -> set[str]:
    given = node.args
    return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def _size(node: _FUNCTION) -> int:
    return sum(isinstance(below, ast.stmt) for below in ast.walk(node))


def _defaults(node: _FUNCTION) -> dict[str, ast.Constant]:
    """The parameters that have a constant for default."""
    given = node.args
    placed = [*given.posonlyargs, *given.args]
    pairs = [*zip(placed[len(placed) - len(given.defaults) :], given.defaults, strict=True)]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    every = [*pairs, *((one, value) for one, value in named if value is not None)]
    return {one.arg: value for one, value in every if isinstance(value, ast.Constant)}


def _asks(test: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in _terms(test))


def _first_check(body: list[ast.stmt]) -> str:
    """What is asked for first in a body, "" if nothing is."""
    for demand in demands(body):
        return short(demand.text)
    for statement in body:
        for call in ast.walk(statement):
            if isinstance(call, ast.Call):
                name = dotted_name(call.func).rpartition(".")[2]
                if asserts_by_name(name) or _CHECKING.search(name):
                    return short(ast.unparse(call))
    return ""


def _parsed(text: str) -> ast.AST:
    return ast.parse(text, mode="eval")
