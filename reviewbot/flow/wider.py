"""Two versions of a condition: whether the new one holds wherever the old one does, and elsewhere too."""

from __future__ import annotations

import ast
from typing import Any

_BELOW = (ast.Lt, ast.LtE)
_ABOVE = (ast.Gt, ast.GtE)


def is_wider(old: ast.expr, new: ast.expr | None) -> bool:
    """Whether a term of an `and` went, one of an `or` came, or a bound moved outwards; `new` is None where
    there is no condition any more."""
    if new is None or (isinstance(new, ast.Constant) and new.value is True):
        return True
    had, has = _terms(old, ast.And), _terms(new, ast.And)
    if set(has) < set(had):
        return True
    both, either = set(_terms(old, ast.Or)), set(_terms(new, ast.Or))
    if both < either:
        return True
    lost, come = [had[one] for one in had if one not in has], [has[one] for one in has if one not in had]
    return len(lost) == len(come) == 1 and _is_moved(lost[0], come[0])


def _terms(node: ast.expr, kind: type[ast.boolop]) -> dict[str, ast.expr]:
    """What an `and`, or an `or`, joins, by its text; anything else is one term."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, kind):
        return {text: term for value in node.values for text, term in _terms(value, kind).items()}
    return {ast.unparse(node): node}


def _is_moved(old: ast.expr, new: ast.expr) -> bool:
    """Whether of two comparisons of one value with a number or a version the new one lets more through."""
    if not isinstance(old, ast.Compare) or not isinstance(new, ast.Compare):
        return False
    if len(old.ops) != 1 or len(new.ops) != 1 or ast.unparse(old.left) != ast.unparse(new.left):
        return False
    had, has = _named(old), _named(new)
    if had is not None and has is not None and had[0] is has[0]:
        return had[1] < has[1] if had[0] else has[1] < had[1]
    was, now = _bound(old.comparators[0]), _bound(new.comparators[0])
    if was is None or now is None or type(was) is not type(now):
        return False
    for kinds in (_BELOW, _ABOVE):
        if isinstance(old.ops[0], kinds) and isinstance(new.ops[0], kinds):
            added = isinstance(old.ops[0], (ast.Lt, ast.Gt)) and isinstance(new.ops[0], (ast.LtE, ast.GtE))
            return _is_further(was, now, up=kinds is _BELOW) or (now == was and added)
    return False


def _named(node: ast.Compare) -> tuple[bool, frozenset[str]] | None:
    """The values for which a comparison holds (True), or for which alone it does not (False), as code:
    `kind in (A, B)`, `kind == A`, `kind is not None`."""
    operator, given = node.ops[0], node.comparators[0]
    holds = isinstance(operator, (ast.In, ast.Eq, ast.Is))
    if isinstance(operator, (ast.In, ast.NotIn)):
        if not isinstance(given, (ast.List, ast.Tuple, ast.Set)):
            return None
        return holds, frozenset(map(ast.unparse, given.elts))
    if isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        return holds, frozenset({ast.unparse(given)})
    return None


def _is_further(was: Any, now: Any, *, up: bool) -> bool:
    return bool(now > was if up else now < was)


def _bound(node: ast.expr) -> float | tuple[int, ...] | None:
    """A number, or the numbers of a version: of `(3, 12)` or `Version("2.1")`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    if isinstance(node, ast.Tuple):
        parts = [one.value for one in node.elts if isinstance(one, ast.Constant)]
        numbers = tuple(part for part in parts if isinstance(part, int))
        return numbers if len(numbers) == len(node.elts) else None
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str):
        words = node.value.split(".")
        return tuple(map(int, words)) if all(word.isdecimal() for word in words) else None
    return node.value if isinstance(node.value, (int, float)) else None
