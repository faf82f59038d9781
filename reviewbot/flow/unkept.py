"""Values that a pure method makes and a statement drops: `weight.to(dtype)` leaves a tensor as it was.

The same line changes a module in place, so what the receiver is has to be seen: a text, a tensor or an array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import raising_context
from reviewbot.flow.syntax import last_name, literal, qualified
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.source.units import called_last

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_OF_TEXT = frozenset({
    "strip", "lstrip", "rstrip", "replace", "lower", "upper", "title", "capitalize", "casefold",
    "removeprefix", "removesuffix",
})  # fmt: skip
# Only tensors and arrays have these.
_OF_TENSORS_ALONE = frozenset({"masked_fill", "unsqueeze", "permute", "bfloat16", "astype"})
_OF_TENSOR = _OF_TENSORS_ALONE | {
    "to", "detach", "clone", "cpu", "cuda", "half", "float", "double", "reshape", "view", "transpose",
    "squeeze", "flatten", "contiguous", "clamp", "abs", "type",
}  # fmt: skip
_MAKING = frozenset({
    "randn", "rand", "zeros", "ones", "tensor", "full", "arange", "empty", "eye", "randint", "linspace",
    "randn_like", "rand_like", "zeros_like", "ones_like", "full_like", "empty_like", "array", "asarray",
})  # fmt: skip
_LIBRARIES = frozenset({"torch", "numpy", "jax"})
_PURE = _OF_TEXT | _OF_TENSOR
_HANDING_OUT = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})


def may_drop_value(unit: Unit) -> bool:
    """Whether a statement of the unit might drop what a pure method makes."""
    if _PURE.isdisjoint(unit.facts.calls):
        return False
    return any(
        isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and called_last(node.value) in _PURE
        for node in unit.asts(ast.Expr)
    )


def unkept(unit: Unit) -> Iterator[tuple[cst.Expr, cst.Call, cst.BaseExpression]]:
    """The statements that drop what a pure method makes of a value which is read later on: the statement, the
    call and the value."""
    for node in unit.find(cst.Expr):
        call = node.value
        if type(call) is not cst.Call or type(call.func) is not cst.Attribute:
            continue
        owner, name = call.func.value, last_name(call)
        root = owner
        while isinstance(root, cst.Attribute):
            root = root.value
        if type(root) is not cst.Name or not _is_read_later(unit, root, node) or _is_tried(unit, node):
            continue
        if (name in _OF_TEXT and _is_text(unit, owner)) or (
            name in _OF_TENSOR and _is_tensor(unit, owner, name)
        ):
            yield node, call, owner


def _is_read_later(unit: Unit, root: cst.Name, node: cst.CSTNode) -> bool:
    flow, rank = values(unit), unit.index.rank
    reached = flow.reaching(root)
    return any(
        name.value == root.value and rank(name) > rank(node) and not reached.isdisjoint(flow.reaching(name))
        for name in flow.reads(unit.node)
        # What a class at the top of a file reads is of another unit.
        if name is not root and name in unit.index
    )


def _is_tried(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a statement stands for what it raises."""
    return any(
        isinstance(above, cst.Try)
        or (isinstance(above, cst.With) and any(raising_context(item) is not None for item in above.items))
        for above in unit.ancestors(node)
    )


def _held(unit: Unit, node: cst.BaseExpression) -> list[Binding]:
    return list(values(unit).reaching(node) - {UNBOUND}) if type(node) is cst.Name else []


def _is_text(unit: Unit, node: cst.BaseExpression) -> bool:
    made = [binding.value for binding in _held(unit, node) if binding.role == "whole"]
    return bool(made) and all(
        isinstance(value, cst.FormattedString) or isinstance(value and literal(value), str) for value in made
    )


def _is_tensor(unit: Unit, node: cst.BaseExpression, name: str) -> bool:
    """Whether a value is a tensor or an array by what made it, by where a loop takes it from, or by a method
    that nothing else has."""
    if name in _OF_TENSORS_ALONE and _has_library(unit):
        return True
    owner = node
    if type(owner) is cst.Attribute and owner.attr.value in ("data", "grad"):
        owner = owner.value
    held = _held(unit, owner)
    return bool(held) and all(_makes_tensor(unit, binding) for binding in held)


def _has_library(unit: Unit) -> bool:
    return not _LIBRARIES.isdisjoint(one.partition(".")[0] for one in unit.file.imports.values())


def _makes_tensor(unit: Unit, binding: Binding) -> bool:
    value = binding.value
    if type(value) is not cst.Call:
        return False
    if binding.kind == "loop":
        return last_name(value) in _HANDING_OUT and binding.role in ("item", "part", "value")
    if last_name(value) in ("clone", "detach") and type(value.func) is cst.Attribute and not value.args:
        return _has_library(unit)
    library = qualified(value.func, unit.file.imports).partition(".")[0]
    return binding.role == "whole" and library in _LIBRARIES and last_name(value) in _MAKING
