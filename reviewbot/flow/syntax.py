"""Expressions read as values: dotted names, literals, equality of code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.source.sketch import origin
from reviewbot.source.tree import children as children
from reviewbot.source.tree import walk as walk

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")


UNKNOWN = _Unknown()
"""A value that cannot be known from the source. Never guess: compare with `is`."""


def dotted(node: cst.CSTNode) -> str:
    """`a.b.c` for a chain of attributes on a name, "" for anything else."""
    if type(node) is cst.Name:
        return node.value
    end = ""
    while type(node) is cst.Attribute:
        end = f".{node.attr.value}{end}"
        node = node.value
    return node.value + end if type(node) is cst.Name else ""


def qualified(node: cst.CSTNode, imports: Mapping[str, str]) -> str:
    """A dotted name with its first part replaced by what was imported under it: `np.all` is `numpy.all`."""
    name = dotted(node)
    first, dot, rest = name.partition(".")
    return imports.get(first, first) + dot + rest


def last_name(node: cst.CSTNode) -> str:
    """The last part of what is called or named: `close` of `m.isclose(...).close`, "" where there is none."""
    if type(node) is cst.Call:
        return last_name(node.func)
    if type(node) is cst.Attribute:
        return node.attr.value
    return node.value if type(node) is cst.Name else ""


def root_name(node: cst.CSTNode) -> str:
    """The name at the very left: `rows` of `rows[0].tokens.tolist()`, "" where there is none."""
    while True:
        if type(node) is cst.Name:
            return node.value
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            node = node.value
        elif type(node) is cst.Call:
            node = node.func
        else:
            return ""


def same(left: cst.CSTNode, right: cst.CSTNode) -> bool:
    """Whether two pieces of code are equal but for white space, parentheses and quotes."""
    return canonical(left) == canonical(right)


def canonical(node: cst.CSTNode) -> str:
    """The code of an expression or statement in one form, whatever its white space."""
    return node.value if type(node) is cst.Name else _canonical(node)


@lru_cache(
    maxsize=4096
)  # Nodes are told apart by identity, and the same ones are asked about again and again.
def _canonical(node: cst.CSTNode) -> str:
    sketched = origin(node)
    if sketched is not None:
        return ast.unparse(sketched)
    source = cst.Module([]).code_for_node(node).strip()
    # An expression first: as a statement a string would be a docstring, and written like one.
    for text, mode in ((f"({source})", "eval"), (source, "exec")):
        try:
            return ast.unparse(ast.parse(text, mode=mode))
        except SyntaxError:
            continue
    return " ".join(source.split())


# The classes of all that `literal` may know; most of what it is asked of is none of them.
_WRITTEN = frozenset({
    *(cst.SimpleString, cst.ConcatenatedString, cst.Integer, cst.Float, cst.Imaginary, cst.Ellipsis),
    *(cst.Tuple, cst.List, cst.Set, cst.Dict, cst.UnaryOperation, cst.BinaryOperation),
    *(cst.Attribute, cst.Call),
})  # fmt: skip
_WITH_INFINITY = frozenset({"math", "np", "numpy", "torch", "jnp"})
_NAMED = {"True": True, "False": False, "None": None}


def literal(node: cst.CSTNode) -> object:
    """The value of a literal (numbers, strings, tuples, lists, sets, dicts, True, None, -1, inf and nan
    written as `float("inf")` or `math.inf`), or `UNKNOWN`."""
    kind = type(node)
    if kind is cst.Name:
        return _NAMED.get(node.value, UNKNOWN)  # type: ignore[attr-defined]
    if kind not in _WRITTEN:
        return UNKNOWN
    if kind is cst.Attribute:
        owner, _, name = dotted(node).partition(".")
        return float(name) if name in ("inf", "nan") and owner in _WITH_INFINITY else UNKNOWN
    if kind is cst.Call:
        called, args = dotted(node.func), node.args  # type: ignore[attr-defined]
        if called == "float" and len(args) == 1:
            inner = literal(args[0].value)
            try:
                return float(inner) if isinstance(inner, (str, int, float)) else UNKNOWN
            except ValueError:
                return UNKNOWN
        if called != "set" or args:
            return UNKNOWN
    sketched = origin(node)
    try:
        if sketched is not None:
            return ast.literal_eval(sketched)
        source = cst.Module([]).code_for_node(node)
        return ast.literal_eval(source.strip() if "\n" not in source.strip() else f"({source})")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return UNKNOWN


def conjuncts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The operands of `a and b and c`; of anything else that alone."""
    return operands(node, cst.And)


def operands(
    node: cst.BaseExpression, joined: type[cst.And] | type[cst.Or] | type[cst.Add]
) -> Iterator[cst.BaseExpression]:
    """The operands of `a or b or c`, of `a + b + c`, by what joins them; of anything else that alone."""
    if isinstance(node, (cst.BooleanOperation, cst.BinaryOperation)) and type(node.operator) is joined:
        yield from operands(node.left, joined)
        yield from operands(node.right, joined)
    else:
        yield node


def argument(call: cst.Call, position: int, keyword: str) -> cst.BaseExpression | None:
    """The argument given at a position or by keyword; None where it is not given or a star hides it."""
    for index, arg in enumerate(call.args):
        if arg.star:
            if arg.star == "*":
                return keyword_argument(call, keyword)
            continue
        if arg.keyword is None and index == position:
            return arg.value
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    return None


def keyword_argument(call: cst.Call, keyword: str) -> cst.BaseExpression | None:
    """The argument given by that keyword, or None."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    return None


def has_star(call: cst.Call) -> bool:
    """Whether `*args` or `**kwargs` may give further arguments."""
    return any(arg.star for arg in call.args)


def subscript(node: cst.CSTNode) -> tuple[cst.BaseExpression, object] | None:
    """What is subscripted, and the literal that it is subscripted with: `row` and "id" of `row["id"]`."""
    if type(node) is cst.Subscript and len(node.slice) == 1:
        element = node.slice[0].slice
        key = literal(element.value) if type(element) is cst.Index else UNKNOWN
        return None if key is UNKNOWN else (node.value, key)
    return None
