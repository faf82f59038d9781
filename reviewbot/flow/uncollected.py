"""Two versions of a function: a difference that went where the verdict is read is only told of now.

`problems.append(row)` became `print(row)`: the list stays empty, and what reads it is content.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.flow.judgements import FAILURE
from reviewbot.flow.loosening import Loosened, short
from reviewbot.flow.unraised import does_more, tells

_PUTS = frozenset({"append", "add", "extend", "update"})


def uncollected(old: ast.AST, new: ast.AST) -> Iterator[Loosened]:
    """The branches that noted a difference for a verdict, and in the new version only show a message."""
    has: dict[str, list[_Branch]] = {}
    for branch in _branches(new):
        has.setdefault(branch.asked, []).append(branch)
    read = {node.id for node in ast.walk(new) if isinstance(node, ast.Name) and _is_read(node)}
    for branch in _branches(old):
        noted = [(name, statement) for statement in branch.body for name in _notes(statement)]
        now = has.get(branch.asked, [])
        if noted and noted[0][0] in read and now and all(_only_tells(one.body) for one in now):
            name, statement = noted[0]
            says = f"where `{short(branch.asked)}`, it is only told of, and `{name}` no longer knows"
            yield Loosened("weaker", statement, now[0].test, says)


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """`body` runs where what is `asked` holds, which `test` decides."""

    asked: str
    test: ast.expr
    body: list[ast.stmt]


def _branches(tree: ast.AST) -> Iterator[_Branch]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            asked = ast.unparse(node.test)
            yield _Branch(asked, node.test, node.body)
            if node.orelse and not isinstance(node.orelse[0], ast.If):
                yield _Branch(f"not ({asked})", node.test, node.orelse)


def _only_tells(body: list[ast.stmt]) -> bool:
    """Whether all that happens is a message; what is returned there would be the verdict, too."""
    returns = any(isinstance(one, ast.Return) and one.value is not None for one in body)
    return tells(body) and not returns and not any(map(does_more, body))


def _notes(statement: ast.stmt) -> Iterator[str]:
    """The name in which a statement notes that something failed: a list of failures, their number, a flag
    that says no."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr in _PUTS:
            yield from _failures(function.value)
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.BitOr)):
        yield from _failures(statement.target)
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
        target = statement.targets[0]
        if isinstance(target, ast.Name) and (
            statement.value.value is False
            or (statement.value.value in (True, 1) and FAILURE.search(target.id))
        ):
            yield target.id


def _failures(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name) and FAILURE.search(node.id):
        yield node.id


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
