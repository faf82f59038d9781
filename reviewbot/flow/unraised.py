"""Two versions of a function that restores or checks: where it raised before, the new one only tells.

The condition is the same, and what stood under it failed. What called it goes on as if all had gone well, and
a caller that does not ask again trains from another state than it was told to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.loosening import Loosened
from reviewbot.flow.patterns import pattern

_ABOUT = pattern(
    r"(?i)(^|_)(load|restore|resume|recover|ckpt|checkpoint|verify|validate|check|compare|parity)(_|$|ed|s)"
)
_SHOWS = pattern(r"(?i)^(\w*_)?(print|warn|warning|info|debug|error|exception|critical|log|write)(_\w+)?$")


def unraised(name: str, old: ast.AST, new: ast.AST) -> Iterator[Loosened]:
    """The conditions under which a function of that name failed, and now goes on after a message."""
    if not _ABOUT.search(name):
        return
    had, has = _branches(old), _branches(new)
    for asked, (_, raised) in had.items():
        after = has.get(asked)
        if raised is None or after is None or after[1] is not None:
            continue
        if tells(after[0]) and not any(map(does_more, after[0])):
            says = (
                f"where `{asked}`, `{name}` no longer raises: it tells of it, and whoever called it goes on"
            )
            yield Loosened("weaker", raised, after[0][0], says, sure=False, still="a caller that asks for it")


def _branches(tree: ast.AST) -> dict[str, tuple[list[ast.stmt], ast.Raise | None]]:
    """The bodies of the conditions and handlers of a function, by what they ask for, and the `raise` in which
    a body ends."""
    found: dict[str, tuple[list[ast.stmt], ast.Raise | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            asked = ast.unparse(node.test)
        elif isinstance(node, ast.ExceptHandler):
            asked = f"except {ast.unparse(node.type)}" if node.type is not None else "except"
        else:
            continue
        last = node.body[-1]
        found.setdefault(asked, (node.body, last if isinstance(last, ast.Raise) else None))
    return found


def tells(body: list[ast.stmt]) -> bool:
    """Whether a body shows a message, and otherwise at most leaves."""
    calls = [one for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    others = [one for one in body if one not in calls]
    return bool(calls) and all(isinstance(one, (ast.Return, ast.Pass, ast.Continue)) for one in others)


def does_more(statement: ast.stmt) -> bool:
    """Whether a statement calls something that may do more than show."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return any(isinstance(node, ast.Call) for node in ast.walk(statement))
    function = statement.value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return _SHOWS.search(name) is None
