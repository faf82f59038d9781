"""What stands where an assertion takes its message: a value that was meant to be compared is only printed.

`assertTrue(a, b)` reads as if it compared the two.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, canonical, children, last_name, literal, qualified, walk
from reviewbot.source.units import called_last

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reviewbot.model import Certainty

_COLLECTIONS = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp)

_VERDICT = pattern(
    r"_*(is|has|are|all|any|equal|array_equal|same|starts|ends|exist|match|search|full|contains)"
)

_MESSAGE = pattern(
    r"msg|mess|err|exception|exc_info|traceback|reason|desc|text|output|hint|info|label|name|title|str|fmt"
    r"|detail",
    re.I,
)


# What makes a value that nobody would print as it is. A tensor or a date by the library's own name only.
_MADE = frozenset({"dict", "set", "frozenset", "list", "tuple", "len", "range"})
_VALUES = frozenset({
    *("torch.Size", "torch.tensor", "torch.device", "torch.zeros", "torch.ones", "torch.arange"),
    *("numpy.array", "numpy.dtype", "numpy.zeros", "numpy.ones", "numpy.arange", "numpy.float32"),
    *("jax.numpy.array", "jax.numpy.zeros", "jax.numpy.ones", "decimal.Decimal", "fractions.Fraction"),
    *("datetime.datetime", "datetime.date", "datetime.timedelta", "collections.OrderedDict"),
})  # fmt: skip
_LAST_OF_VALUES = frozenset(name.rpartition(".")[2] for name in _VALUES) | _MADE


def may_be_message(node: ast.expr) -> bool:
    """Whether what is written could not be meant for a value to compare with."""
    if isinstance(node, ast.Call):
        return called_last(node) not in _LAST_OF_VALUES | {"float"}
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        repeated = any(isinstance(side, (ast.List, ast.Tuple)) for side in (node.left, node.right))
        return not (repeated and isinstance(node.op, ast.Mult))
    return text or isinstance(node, ast.JoinedStr)


def compared_as_message(
    first: cst.BaseExpression,
    asserted: cst.BaseExpression,
    second: cst.BaseExpression,
    name: str,
    imports: Mapping[str, str],
) -> Certainty | None:
    """How sure it is that the second argument of `assertTrue` was meant to be compared; None if it is not.

    `imports` are those of the file, by which `np.dtype` is told from a method of something else.
    """
    value = literal(second)
    if isinstance(value, bool):
        return None if value is (name == "assertTrue") else "question"
    code = canonical(second)
    shown = [second, *(below for below in walk(second) if isinstance(below, cst.BaseExpression))]
    parts = {canonical(below) for below in walk(asserted) if isinstance(below, cst.BaseExpression)}
    if isinstance(value, str) or value is None or is_verdict(first) or code in parts:
        return None
    if value is not UNKNOWN:
        return "proved"
    if isinstance(second, cst.Comparison):
        return "likely"
    if (repeated := _repeated(second)) is not None:
        return "proved" if literal(repeated) is not UNKNOWN else "likely"
    if type(second) is cst.Call and _makes_value(second, imports):
        return "likely" if _read_in(second).isdisjoint(_read_in(asserted)) else None
    if not isinstance(second, (*_COLLECTIONS, cst.Attribute, cst.Subscript)):
        return None
    about_it = any(canonical(part) in parts for part in shown if isinstance(part, (cst.Name, cst.Attribute)))
    named = last_name(second)
    if _MESSAGE.search(named) or named in _OF_A_MOCK or (about_it and not named):
        return None
    return "likely"


# What a mock has seen tells why it should not have been called.
_OF_A_MOCK = frozenset({"call_args", "call_args_list", "mock_calls", "method_calls", "await_args_list"})


def _makes_value(call: cst.Call, imports: Mapping[str, str]) -> bool:
    """Whether a call makes a value of a plain kind: `torch.Size([2, 4])`, `set(rows)`."""
    name = qualified(call.func, imports)
    return name in _VALUES or (name in _MADE and name not in imports)


def _read_in(node: cst.CSTNode) -> frozenset[str]:
    """The names whose values an expression reads: not what it calls, nor what stands behind a dot."""
    if type(node) is cst.Name:
        return frozenset((node.value,))
    if type(node) is cst.Attribute:
        return _read_in(node.value)
    parts: list[cst.CSTNode] = list(children(node))
    if type(node) is cst.Call:
        parts = [node.func.value] if type(node.func) is cst.Attribute else []
        parts += [arg.value for arg in node.args]
    return frozenset(name for part in parts for name in _read_in(part))


def _repeated(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The list of a list that is written as one repeated: `[1.0] * 8`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return None
    return next((one for one in (node.left, node.right) if isinstance(one, (cst.List, cst.Tuple))), None)


def is_verdict(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Comparison, cst.BooleanOperation)):
        return True
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return True
    return isinstance(node, cst.Call) and _VERDICT.match(last_name(node)) is not None


def is_verdict_tree(node: ast.expr) -> bool:
    """The same asked of `ast`."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call):
        return _VERDICT.match(called_last(node)) is not None
    return isinstance(node, (ast.Compare, ast.BoolOp))
