"""What a function binds to what: its assignments, its loops, what it changes in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# What a test's own object is called.
OWN = frozenset({"self", "cls"})


def bindings(function: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is bound to what, anywhere in a function; what is changed in place counts as bound."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from (pair for target in node.targets for pair in each(target, node.value))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from _looped(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield node.optional_vars, node.context_expr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from ((node.func.value, argument) for argument in node.args)


def _looped(target: ast.expr, over: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The variables of a loop and what each goes over: of `for a, b in zip(one, other)` the two."""
    name = over.func.id if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) else ""
    if isinstance(over, ast.Call) and isinstance(target, (ast.Tuple, ast.List)):
        if name == "enumerate" and len(target.elts) == 2 and over.args:
            return _looped(target.elts[1], over.args[0])
        if name == "zip" and len(target.elts) == len(over.args):
            return list(zip(target.elts, over.args, strict=True))
    return [(target, over)]


def each(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """A binding, or of `a, b = f(1), f(2)` the two."""
    sides = (ast.Tuple, ast.List)
    if not (isinstance(target, sides) and isinstance(value, sides) and len(target.elts) == len(value.elts)):
        return [(target, value)]
    if any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts)):
        return [(target, value)]
    return list(zip(target.elts, value.elts, strict=True))


def names_in(node: ast.AST) -> Iterator[str]:
    """The names of an expression; `self.rows` and `cls.rows` are names of their own."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in OWN:
        yield f"{node.value.id}.{node.attr}"
    elif isinstance(node, ast.Name):
        yield node.id
    else:
        for part in ast.iter_child_nodes(node):
            yield from names_in(part)
