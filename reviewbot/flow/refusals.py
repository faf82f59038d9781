"""Pairs of settings that code refuses together, and branches that a setting closes.

A setting is an attribute of an object (`config.level`) or a key of a mapping (`data.get("level")`). It is
*on* where it is true, given, above zero, or where it equals a literal that the code names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.control import guards, statements
from reviewbot.flow.syntax import UNKNOWN, canonical, conjuncts, last_name, literal
from reviewbot.flow.values import values
from reviewbot.source.units import called_last

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

SET = "set"


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """One setting that a condition asks for. `on` is `SET`, or the literal that it must equal; `asked` is
    the part of the condition that asks."""

    receiver: str
    name: str
    on: object
    asked: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """An `if` that refuses what its settings say together. `raised` is the statement that refuses."""

    node: cst.If
    raised: cst.CSTNode
    settings: tuple[Setting, ...]


def refusals(unit: Unit) -> list[Refusal]:
    """Every `if` of a unit that raises where two or more settings are on together, in source order."""
    found = []
    for node in unit.find(cst.If):
        body = statements(node.body)
        if not body or not _refuses(body[-1]):
            continue
        conditions = [(guard.condition, guard.outcome) for guard in guards(unit, body[-1])]
        settings: dict[str, Setting] = {}
        for condition, outcome in conditions:
            for setting in switched(unit, condition, outcome, on=True):
                settings.setdefault(setting.name, setting)
        inside = {id(setting.asked) for setting in switched(unit, node.test, True, on=True)}
        if _refuses_a_mismatch(node.test, settings.values()):
            continue
        if len(settings) > 1 and any(id(setting.asked) in inside for setting in settings.values()):
            found.append(Refusal(node, body[-1], tuple(settings.values())))
    return found


def _refuses_a_mismatch(test: cst.BaseExpression, settings: Iterable[Setting]) -> bool:
    """Whether a setting is refused for its value, beside another that is computed, and not for being on:
    `package.version and version != package.version`."""
    asked = {canonical(one.asked) for one in settings}
    for part in conjuncts(test):
        if isinstance(part, cst.Comparison) and len(part.comparisons) == 1:
            left, right = part.left, part.comparisons[0].comparator
            for one, other in ((left, right), (right, left)):
                if canonical(one) in asked and literal(other) is UNKNOWN:
                    return True
    return False


def may_refuse(unit: Unit) -> bool:
    """Whether a unit's `ast` might hold such an `if`: yes too often, never no wrongly."""
    return any(
        (isinstance(node.body[-1], ast.Raise) or _calls_error(node.body[-1])) and _may_ask(node.test)
        for node in unit.asts(ast.If)
    ) and (any(isinstance(node.op, ast.And) for node in unit.asts(ast.BoolOp)) or len(unit.asts(ast.If)) > 1)


def _may_ask(test: ast.expr) -> bool:
    """Whether a condition may ask for a setting: a measure of what is given, `width < 0`, asks for none."""
    if isinstance(test, ast.BoolOp):
        return any(map(_may_ask, test.values))
    if isinstance(test, ast.UnaryOp):
        return _may_ask(test.operand)
    if isinstance(test, ast.Compare):
        against = test.comparators[0]
        return isinstance(against, ast.Constant) and against.value in (None, False, True)
    return not isinstance(test, ast.Call) or called_last(test) == "get"


def _calls_error(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "error"


def _refuses(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.Raise):
        return True
    call = statement.value if isinstance(statement, cst.Expr) else None
    return isinstance(call, cst.Call) and last_name(call) == "error" and isinstance(call.func, cst.Attribute)


def switched(unit: Unit, condition: cst.BaseExpression, outcome: bool, *, on: bool) -> Iterator[Setting]:
    """The settings that are surely on (or, with `on` false, surely off) where a condition has an outcome."""
    if isinstance(condition, cst.UnaryOperation) and isinstance(condition.operator, cst.Not):
        yield from switched(unit, condition.expression, not outcome, on=on)
    elif isinstance(condition, cst.BooleanOperation):
        if isinstance(condition.operator, cst.And) is outcome:
            yield from switched(unit, condition.left, outcome, on=on)
            yield from switched(unit, condition.right, outcome, on=on)
    else:
        found = _asked(unit, condition, outcome)
        if found is not None and found[1] is on:
            receiver, name, value = found[0]
            yield Setting(receiver, name, value, condition)


def _asked(
    unit: Unit, node: cst.BaseExpression, outcome: bool
) -> tuple[tuple[str, str, object], bool] | None:
    """The setting that a plain condition asks for, and whether it is on where the outcome holds."""
    whole = values(unit).resolve(node)
    if isinstance(whole, cst.UnaryOperation) and isinstance(whole.operator, cst.Not):
        return _asked(unit, whole.expression, not outcome)
    if not isinstance(whole, cst.Comparison):
        where = setting_of(unit, whole)
        return None if where is None else ((*where, SET), outcome)
    if len(whole.comparisons) != 1:
        return None
    where = setting_of(unit, values(unit).resolve(whole.left))
    value, operator = literal(whole.comparisons[0].comparator), whole.comparisons[0].operator
    if where is None:
        return None
    if value is None or value is False or value == 0:
        if isinstance(operator, (cst.Is, cst.Equal)):
            return (*where, SET), not outcome
        if isinstance(operator, (cst.IsNot, cst.NotEqual, cst.GreaterThan)):
            return (*where, SET), outcome
    elif isinstance(operator, (cst.Is, cst.Equal) if value is True else cst.GreaterThan) and value == 1:
        return (*where, SET), outcome
    elif isinstance(value, (str, int)) and isinstance(operator, (cst.Equal, cst.NotEqual)):
        return (*where, value), outcome is isinstance(operator, cst.Equal)
    return None


def setting_of(unit: Unit, node: cst.BaseExpression) -> tuple[str, str] | None:
    """The receiver and the name of what looks like a setting: `config.level`, `data.get("level")`, or a plain
    name, whose receiver is empty."""
    if isinstance(node, cst.Name):
        return None if node.value in ("True", "False", "None") else ("", node.value)
    if isinstance(node, cst.Attribute):
        receiver = _receiver(node.value)
        return (receiver, node.attr.value) if receiver else None
    if isinstance(node, cst.Call) and last_name(node) == "get" and isinstance(node.func, cst.Attribute):
        key = literal(node.args[0].value) if node.args else None
        receiver = _receiver(node.func.value)
        return (receiver, key) if receiver and isinstance(key, str) else None
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        key = literal(index.value) if isinstance(index, cst.Index) else None
        receiver = _receiver(node.value)
        return (receiver, key) if receiver and isinstance(key, str) else None
    return None


def _receiver(node: cst.BaseExpression) -> str:
    """What a setting is read from: `config`, `config.policy`, `policy["generation"]`; "" for the rest."""
    below = node
    while isinstance(below, (cst.Attribute, cst.Subscript)):
        below = below.value
    return canonical(node) if isinstance(below, cst.Name) else ""
