"""Straight-line functions as one expression over their parameters, and expressions made comparable."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from reviewbot.source.shape import own_body
from reviewbot.source.units import FunctionTree, Unit, walked

_DEPTH = 6
_WORK = (
    ast.BinOp,
    ast.Call,
    ast.Compare,
    ast.Subscript,
    ast.BoolOp,
    ast.IfExp,
    ast.comprehension,
    ast.UnaryOp,
)
_LARGEST = 400  # nodes; a larger expression is no formula


def formula(tree: FunctionTree) -> ast.expr | None:
    """What a function returns, as one expression over its parameters: None where it branches, loops, or does
    anything beside."""
    known: dict[str, ast.expr] = {}
    body = own_body(tree)
    if not body:
        return None
    for statement in body[:-1]:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return None
        known[target.id] = inlined(statement.value, known)
    last = body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    return inlined(last.value, known)


def formula_past_guards(tree: FunctionTree) -> ast.expr | None:
    """What a function returns where none of the conditions before it has made it leave: `if …: return []`,
    `if …: raise …`; None where it has none of these, or does anything else beside."""
    body = own_body(tree)
    rest = [one for one in body if not _leaves(one)]
    if len(rest) == len(body):
        return None
    plain = copy.copy(tree)
    plain.body = rest
    return formula(plain)


def _leaves(statement: ast.stmt) -> bool:
    if type(statement) is not ast.If or statement.orelse:
        return False
    return len(statement.body) == 1 and isinstance(statement.body[0], (ast.Return, ast.Raise))


def inlined(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """The expression with names replaced by what they stand for."""
    if not known:
        return node
    return _Inline(known).visit(copy.deepcopy(node))  # type: ignore[no-any-return]


class _Inline(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._known.get(node.id)
        return node if found is None or not isinstance(node.ctx, ast.Load) else copy.deepcopy(found)


def called(call: ast.Call, tree: FunctionTree, *, method: bool = False) -> dict[str, ast.expr] | None:
    """What each parameter stands for in a call; None where stars or missing defaults hide it."""
    args = tree.args
    if args.vararg or args.kwarg or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    names = [one.arg for one in (*args.posonlyargs, *args.args)][method:]
    every = [*names, *(one.arg for one in args.kwonlyargs)]
    found: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in every:
            return None
        found[keyword.arg] = keyword.value
    defaults: dict[str, ast.expr] = {}
    for name, value in zip(reversed(names), reversed(args.defaults), strict=False):
        defaults[name] = value
    for argument, given in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if given is not None:
            defaults[argument.arg] = given
    whole = {**defaults, **found}
    return whole if len(call.args) <= len(names) and set(every) <= set(whole) else None


def straight(unit: Unit) -> dict[str, ast.expr]:
    """The names that statements of a function give one value, and no other statement in it gives another."""
    stored = unit.facts.stored
    found: dict[str, ast.expr] = {}
    for statement in unit.tree.body:
        if type(statement) is ast.Assign and len(statement.targets) == 1:
            (target,) = statement.targets
            if type(target) is ast.Name and len(stored[target.id]) == 1:
                found[target.id] = statement.value
    return found


def resolved(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """The expression with names replaced by what they stand for, and what stands there again."""
    for _ in range(_DEPTH):
        if not any(isinstance(one, ast.Name) and one.id in known for one in walked(node)):
            break
        node = inlined(node, known)
        if sum(1 for _ in ast.walk(node)) > _LARGEST:
            break
    return node


def text_of(node: ast.expr, imports: Mapping[str, str]) -> str:
    """An expression as text, with imported names written out and bound variables numbered, so that equal ones
    of two files read the same."""
    node = copy.deepcopy(node)
    bound: dict[str, str] = {}
    for one in walked(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            bound.setdefault(one.id, f"_{len(bound)}")
    for one in walked(node):
        if isinstance(one, ast.Name):
            one.id = bound.get(one.id) or imports.get(one.id, one.id)
    try:
        return ast.unparse(node)
    except ValueError:  # Python 3.11 writes no f-string into which a text with a backslash was put.
        return ast.dump(node)


def work(node: ast.expr) -> int:
    """How many operations an expression consists of."""
    return sum(isinstance(one, _WORK) for one in walked(node))
