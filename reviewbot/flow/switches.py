"""Which option switches a function on: the condition under which the product calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import dotted_name
from reviewbot.index.facts import Call, Definition

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_HOPS = 3  # callers of callers that are asked for a condition
_TRIED = 12  # calls looked at
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_GETTERS = frozenset({"get", "getattr"})


@dataclass(frozen=True, slots=True)
class Switch:
    """An option, as the code names it, and the condition that asks for it."""

    name: str
    path: str
    line: int
    end_line: int


def switch_of(path: str, definition: Definition, repo: Repo) -> Switch | None:
    """The option under which the product calls a function, straight or through its callers; None where it is
    called without condition, or not at all."""
    queue = [(path, definition, 0)]
    seen = {(path, definition.name)}
    tried = 0
    while queue:
        where, found, hops = queue.pop(0)
        for caller_path, call in repo.index.callers(where, found):
            tried += 1
            unit = None if in_test_file(caller_path) or tried > _TRIED else _unit(caller_path, call, repo)
            if unit is None:
                continue
            option = _option(unit, call)
            if option is not None:
                return option
            if hops < _HOPS and (caller_path, call.caller) not in seen:
                seen.add((caller_path, call.caller))
                above = repo.index.definitions(call.caller.rpartition(".")[2])
                queue += [
                    (at, one, hops + 1) for at, one in above if (at, one.name) == (caller_path, call.caller)
                ]
    return None


def _unit(path: str, call: Call, repo: Repo) -> Unit | None:
    file = repo.file(path)
    return file.unit(call.caller) if file is not None and call.caller else None


def _option(unit: Unit, call: Call) -> Switch | None:
    """The option that the nearest condition around a call asks for, or whose absence returns before it."""
    nearest: tuple[int, Switch] | None = None
    for branch in unit.asts(ast.If):
        first, last = branch.body[0].lineno, branch.body[-1].end_lineno or branch.body[-1].lineno
        around = first <= call.line <= last
        before = last < call.line and isinstance(branch.body[-1], ast.Return) and _negated(branch.test)
        name = next(_named(branch.test), None) if around or before else None
        if name is not None and (nearest is None or branch.lineno > nearest[0]):
            end = branch.test.end_lineno or branch.test.lineno
            nearest = branch.lineno, Switch(name, unit.file.path, branch.test.lineno, end)
    return nearest[1] if nearest is not None else None


def _negated(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _named(test: ast.expr) -> Iterator[str]:
    """The settings whose truth, or whose being equal to a constant, a condition asks for: attributes, keys,
    variables of the environment."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _named(value)
    elif isinstance(test, ast.UnaryOp):
        yield from _named(test.operand)
    elif (
        isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant)
    ):
        yield from _named(test.left)
    elif isinstance(test, ast.Subscript):
        if isinstance(test.slice, ast.Constant) and isinstance(test.slice.value, str):
            yield test.slice.value
    elif isinstance(test, ast.Call):
        name = dotted_name(test.func)
        at = 1 if name == "getattr" else 0
        getter = name in _ENVIRONMENT or name.rpartition(".")[2] in _GETTERS
        key = test.args[at] if getter and len(test.args) > at else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value
    elif isinstance(test, ast.Attribute) and test.attr not in _PROPERTIES:
        yield test.attr


_PROPERTIES = frozenset({"dtype", "device", "ndim", "shape", "size", "is_cuda", "training", "requires_grad"})
