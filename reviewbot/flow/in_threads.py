"""Functions that a test runs in another thread, and whose failures nobody hears of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import last_name
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_THREADS = frozenset({"Thread", "Timer"})
# By these a thread tells the test how it went.
_TELLING = frozenset({
    "append", "add", "put", "put_nowait", "set", "set_result", "set_exception", "send", "write", "extend",
    "update", "excepthook",
})  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class InThread:
    """`function`, defined in a test, runs in the thread that `started` makes."""

    function: cst.FunctionDef
    started: cst.Call


@once
def may_start(unit: Unit) -> bool:
    """Whether a test could start a thread with a function of its own, by `ast`."""
    if not unit.is_test or not unit.calls(*_THREADS):
        return False
    named = {
        keyword.value.id
        for call in unit.calls_of(_THREADS)
        for keyword in call.keywords
        if keyword.arg in ("target", "function") and isinstance(keyword.value, ast.Name)
    }
    return any(node.name in named and not _tells(node) for node in unit.asts(ast.FunctionDef))


def _tells(node: ast.FunctionDef) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Try, ast.Nonlocal, ast.Global, ast.Yield)):
            return True
        if isinstance(inner, ast.Call) and called_last(inner) in _TELLING:
            return True
        if isinstance(inner, (ast.Subscript, ast.Attribute)) and not isinstance(inner.ctx, ast.Load):
            return True
    return False


def in_threads(unit: Unit) -> Iterator[InThread]:
    """The functions of a test that run in a thread and tell it nothing: no list, queue or event of the test
    says afterwards how they went."""
    telling = {node.name for node in unit.asts(ast.FunctionDef) if _tells(node)}
    met: set[int] = set()
    for call in unit.find(cst.Call):
        if not isinstance(call, cst.Call) or last_name(call) not in _THREADS:
            continue
        for arg in call.args:
            if arg.keyword is None or arg.keyword.value not in ("target", "function"):
                continue
            for function in unit.find(cst.FunctionDef):
                assert isinstance(function, cst.FunctionDef)
                named = type(arg.value) is cst.Name and function.name.value == arg.value.value
                if named and function is not unit.node and function.name.value not in telling:
                    if id(function) in met:
                        continue
                    met.add(id(function))
                    yield InThread(function, call)
