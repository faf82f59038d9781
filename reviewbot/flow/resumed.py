"""Tests of a resumed run of which nothing tells it from a run that starts from scratch. Reads `ast` only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.may_judge import may_demand
from reviewbot.flow.patterns import pattern
from reviewbot.flow.save_and_load import calls_in, loads, may_load, saves_and_loads, statements_of
from reviewbot.flow.summaries import dotted_name
from reviewbot.source.units import called_last, once, root_of

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_RESUMES = pattern(r"(?i)(^|[-_.+])resum(e|es|ed|ing)?([-_.=]|$)|^(restore|restart)_from")
_STEP = pattern(
    r"(?i)^((global|current|last|final|total|num|n|trained)_)?(steps?|epochs?|iterations?|iters?|updates?"
    r"|episodes?)(_(done|num|count|trained))?$"
)
_FINITE = frozenset({"isfinite", "isnan", "isinf", "exists", "is_file", "is_dir"})
_TRUTHS = frozenset({"assertTrue", "assertIsNotNone", "assertFalse", "assert_"})
_EQUAL = frozenset({"assertEqual", "assertEquals", "assert_equal"})


@dataclass(frozen=True, slots=True, eq=False)
class Unproven:
    """`call` resumes a run, and `checks` are all that is asked of it. `step`: how far it came is asked,
    which `call` or what made its object says itself; else that there is a number or a file."""

    call: ast.Call
    checks: tuple[ast.stmt, ...]
    step: bool


@once
def unproven(unit: Unit) -> tuple[Unproven, ...]:
    """The resumed runs of a test that one from scratch could stand for."""
    if not unit.is_test or not _may_resume(unit) or not may_demand(unit):
        return ()
    statements = statements_of(unit)
    for place, statement in enumerate(statements):
        for call in calls_in(statement):
            if _is_resumed(unit, call, statements[:place]) or _is_loaded(unit, call, statements[place + 1 :]):
                found = _unproven(unit, call, statements, place)
                return (found,) if found is not None else ()
    return ()


def may_resume(file: File) -> bool:
    """Whether a test of a file could have such a run."""
    return saves_and_loads(file) or _says_resumed(file)


def _may_resume(unit: Unit) -> bool:
    return may_load(unit) or (
        _says_resumed(unit.file)
        and any(_RESUMES.search(word) for call in unit.asts(ast.Call) for word in _words(call))
    )


@once
def _says_resumed(file: File) -> bool:
    """Whether a word for a resumed run stands anywhere in a file."""
    text = file.text.lower()
    return any(word in text for word in ("resum", "restore_from", "restart_from"))


def _words(call: ast.Call) -> Iterator[str]:
    """The keywords of a call and the texts that it is given, those in a list too."""
    for keyword in call.keywords:
        value = keyword.value
        off = isinstance(value, ast.Constant) and value.value in (None, False, "")
        if keyword.arg and not off:
            yield keyword.arg
    for given in call.args:
        items = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
        for one in items:
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) < 40:
                yield one.value


def _is_resumed(unit: Unit, call: ast.Call, before: list[ast.stmt]) -> bool:
    """Whether a call resumes a run by a setting, after one like it without that."""
    if not any(_RESUMES.search(word) for word in _words(call)):
        return False
    earlier = (one for statement in before for one in calls_in(statement))
    return any(
        called_last(one) == called_last(call) and not any(_RESUMES.search(word) for word in _words(one))
        for one in earlier
    )


def _is_loaded(unit: Unit, call: ast.Call, after: list[ast.stmt]) -> bool:
    """Whether a call loads into another object what one has saved, and that object is then run further."""
    one = next((one for one in loads(unit) if one.call is call), None) if may_load(unit) else None
    if one is None or one.of == one.into:
        return False
    return any(
        isinstance(further.func, ast.Attribute)
        and root_of(further.func) == one.into
        and _RUNS.search(further.func.attr) is not None
        for statement in after
        for further in calls_in(statement)
    )


_RUNS = pattern(r"(?i)^(train|fit|learn|update|step|run|continue)(_\w+)?$")


def _unproven(unit: Unit, call: ast.Call, statements: list[ast.stmt], place: int) -> Unproven | None:
    first = {name for statement in statements[:place] for name in _given(statement)}
    own = _made_before(unit, call, statements[: place + 1])
    said = {str(n.value) for one in own for n in ast.walk(one) if isinstance(n, ast.Constant)}
    first -= {name for one in own for name in _targets_of(unit, one)} | {root_of(call.func)}
    found: list[ast.stmt] = []
    step = False
    for statement in statements[place:]:
        if isinstance(statement, (ast.Raise, ast.Return, ast.For, ast.While, ast.If)):
            return None
        if not isinstance(statement, ast.Assert) and not _asserts(statement):
            continue
        kind = _kind(statement, said)
        if kind == "" or not first.isdisjoint(n.id for n in ast.walk(statement) if isinstance(n, ast.Name)):
            return None
        step = step or kind == "step"
        found.append(statement)
    return Unproven(call, tuple(found), step) if found else None


def _given(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, as far as it takes that from a run."""
    if not isinstance(statement, ast.Assign):
        return set()
    return {n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _made_before(unit: Unit, call: ast.Call, statements: list[ast.stmt]) -> list[ast.AST]:
    """The call and the one that made what it is a method of: both say how far the run goes."""
    owner = root_of(call.func) if isinstance(call.func, ast.Attribute) else ""
    made = [s.value for s in statements if isinstance(s, ast.Assign) and owner and owner in _given(s)]
    return [call, *made]


def _targets_of(unit: Unit, made: ast.AST) -> set[str]:
    return {name for node in unit.asts(ast.Assign) if node.value is made for name in _given(node)}


def _asserts(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and asserts_by_name(called_last(call))


def _kind(statement: ast.stmt, said: set[str]) -> str:
    """What a check asks: `step`, how far a run came, where the run itself is told; `there`, that there is a
    number or a file; "" for all else."""
    if isinstance(statement, ast.Assert):
        return _of_condition(statement.test, said)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return ""
    name = called_last(call)
    if name in _EQUAL and len(call.args) >= 2:
        return _of_two(call.args[0], call.args[1], said)
    if name == "assertIsNotNone":
        return "there"
    return _of_condition(call.args[0], said) if name in _TRUTHS and call.args else ""


def _of_condition(test: ast.expr, said: set[str]) -> str:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return "there" if _of_condition(test.operand, said) == "there" else ""
    if isinstance(test, ast.Call):
        name = dotted_name(test.func).rpartition(".")[2] or called_last(test)
        if name in ("all", "any", "bool"):
            inner = test.args[0] if test.args else getattr(test.func, "value", None)
            return _of_condition(inner, said) if isinstance(inner, ast.Call) else ""
        return "there" if name in _FINITE else ""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        if isinstance(test.ops[0], ast.Eq):
            return _of_two(left, right, said)
        if isinstance(test.ops[0], ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            return "there"
    return ""


def _of_two(left: ast.expr, right: ast.expr, said: set[str]) -> str:
    for one, other in ((left, right), (right, left)):
        number = other.value if isinstance(other, ast.Constant) else None
        if type(number) is int and str(number) in said and _STEP.search(_last(one)):
            return "step"
    return ""


def _last(node: ast.expr) -> str:
    """The last field or key that an expression reads."""
    if isinstance(node, ast.Subscript):
        return (
            node.slice.value
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            else ""
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and node.args:
        return _last(node.args[0])
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
