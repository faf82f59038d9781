"""Whether an expression, with the functions of its own file that it calls, only works out a value."""

from __future__ import annotations

import ast

from reviewbot.review.size.source import PURE, Source

# What gives a value of its arguments and may refuse them, as a key may be missing.
_GIVES = PURE | frozenset({
    "abs", "all", "any", "bool", "count", "float", "index", "int", "isinstance", "islice", "isclose", "max",
    "min", "next", "round", "str", "sum", "strip", "lower", "upper", "startswith", "endswith", "copy",
})  # fmt: skip
_DOES = (
    ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal,
    ast.Delete, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Try,
)  # fmt: skip


def reckons(node: ast.AST, source: Source) -> bool:
    """Whether evaluating `node` changes nothing that outlives it, as far as its text says. It may still
    refuse what it is given (a missing key, a list without the value looked for): only a run can say whether
    anything relies on that."""
    return _reckons(node, source, frozenset())


def _reckons(node: ast.AST, source: Source, within: frozenset[str]) -> bool:
    for below in ast.walk(node):
        if isinstance(below, _DOES):
            return False
        if isinstance(below, ast.Attribute | ast.Subscript) and not isinstance(below.ctx, ast.Load):
            return False
        if isinstance(below, ast.Call) and not _gives(below.func, source, within):
            return False
    return True


def _gives(called: ast.expr, source: Source, within: frozenset[str]) -> bool:
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    own = None
    if isinstance(called, ast.Name):
        own = next(
            (one for one in source.tree.body if isinstance(one, ast.FunctionDef) and one.name == name), None
        )
    if own is None:
        return name in _GIVES
    if own.decorator_list:
        return False
    # A function that calls itself is judged by its other lines.
    return name in within or all(_reckons(line, source, within | {name}) for line in own.body)
