"""Whether a value is made only of what a test writes out itself: literals, constants of its module, and the
values that a `parametrize` gives it.

What is tested has no part in such a value: how much there is of it, the test's author has decided.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.iteration import parametrized
from reviewbot.flow.syntax import last_name, qualified, walk
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.flow.values import Binding, Mutation
    from reviewbot.source.units import Unit

_DEPTH = 6
# What gives other parts or another form of a text or a collection, and nothing of its own.
_METHODS = frozenset({
    "split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "lower", "upper", "replace", "partition",
    "items", "keys", "values", "get", "copy", "union", "intersection", "difference", "symmetric_difference",
    "encode", "decode", "join", "removeprefix", "removesuffix", "index", "count", "startswith", "endswith",
})  # fmt: skip
_ADDING = frozenset({"append", "extend", "add", "update", "insert"})
_FUNCTIONS = (cst.FunctionDef, cst.Lambda)
_READING = frozenset({"open", "input", "iter", "next", "getattr", "vars", "dir", "globals", "locals", "eval"})


def is_own_input(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression of a test is made of nothing but what the test writes out."""
    return unit.is_test and _is_own(unit, node, _DEPTH)


def draws(unit: Unit) -> bool:
    """Whether a test is run for many inputs that are drawn, of which some will do: hypothesis' `given`."""
    if not isinstance(unit.node, cst.FunctionDef):
        return False
    return any(
        isinstance(one.decorator, cst.Call)
        and qualified(one.decorator.func, unit.file.imports) == "hypothesis.given"
        for one in unit.node.decorators
    )


def _is_own(unit: Unit, node: cst.BaseExpression, depth: int) -> bool:
    if not depth:
        return False
    flow = values(unit)
    functions = set[int]()
    inner = {
        name.value
        for below in walk(node)
        if isinstance(below, cst.CompFor)
        for name in walk(below.target)
        if type(name) is cst.Name
    }
    inner |= {below.name.value for below in walk(node) if isinstance(below, cst.Param)}
    for below in walk(node):
        if isinstance(below, (cst.Await, cst.Yield)):
            return False
        if type(below) is not cst.Call:
            continue
        function = below.func
        functions.add(id(function))
        if type(function) is cst.Name:
            known = hasattr(builtins, function.value) and function.value not in _READING
            if not known or flow.bindings(function.value):
                return False
        elif type(function) is not cst.Attribute or function.attr.value not in _METHODS:
            return False
    for below in walk(node):
        if type(below) is cst.Attribute and id(below) not in functions:
            return False
    return all(
        _is_written(unit, name, depth)
        for name in flow.reads(node)
        if id(name) not in functions and name.value not in inner
    )


def _is_written(unit: Unit, name: cst.Name, depth: int) -> bool:
    flow = values(unit)
    reaching = flow.reaching(name)
    if not reaching:
        return hasattr(builtins, name.value) or isinstance(
            module_value(unit.file, name.value), (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant)
        )
    if UNBOUND in reaching or not all(_adds_own(unit, one, depth) for one in flow.mutations(name.value)):
        return False
    return all(_is_given(unit, binding, depth) for binding in reaching)


def _adds_own(unit: Unit, change: Mutation, depth: int) -> bool:
    """Whether a change of a collection adds what the test writes out, in its own lines and not in a function
    that something else calls as often as it likes."""
    if not isinstance(change.node, cst.Call) or last_name(change.node) not in _ADDING:
        return False
    inner = next(a for a in (*unit.ancestors(change.node), None) if a is None or isinstance(a, _FUNCTIONS))
    return inner in (unit.node, None) and all(_is_own(unit, given, depth - 1) for given in change.given)


def _is_given(unit: Unit, binding: Binding, depth: int) -> bool:
    if binding.kind == "parameter":
        return parametrized(unit, binding.name) is not None
    return binding.value is not None and _is_own(unit, binding.value, depth - 1)
