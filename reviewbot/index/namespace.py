"""What a module says about its own names: which of them a star import takes, and which are bound plainly."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from reviewbot.index.facts import Namespace, clean

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_ALL = "__all__"
_REBINDING = frozenset({"globals", "exec"})


def namespace_of(tree: ast.Module, content: bytes) -> Namespace:
    """A parsed module's names. `content` is what it was parsed from."""
    plain: Counter[str] = Counter()
    unsure: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, _DEFINED):
            plain[statement.name] += 1
        elif isinstance(statement, _IMPORTS):
            for name, is_plain in _imported(statement):
                plain[name] += name != "*"
                if not is_plain:
                    unsure.add(name)
        else:
            unsure.update(_bound(statement))
    unsure.update(name for name, times in plain.items() if times > 1)
    if b"global" in content:
        unsure.update(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)
    listed = _listed(tree) if _ALL in unsure else None
    closed = (_ALL in unsure and listed is None) or _ALL in plain
    return Namespace(
        None if listed is None else tuple(map(clean, listed)),
        tuple(sorted(map(clean, unsure - {_ALL}))),
        closed,
    )


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, bool]]:
    """The names that an import binds, and whether each is the name that it has where it comes from."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            yield alias.asname or alias.name.partition(".")[0], False
        else:
            yield alias.asname or alias.name, alias.asname in (None, alias.name)


def _bound(root: ast.stmt) -> Iterator[str]:
    """The names that a statement may bind in the scope that it stands in; "*" for those of any name."""
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, _DEFINED):
            yield node.name
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _IMPORTS):
            yield from (name for name, _ in _imported(node))
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load) or node.id == _ALL or node.id in _REBINDING:
                yield "*" if node.id in _REBINDING else node.id
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        stack.extend(ast.iter_child_nodes(node))


def _listed(tree: ast.Module) -> list[str] | None:
    """What `__all__` holds, where nothing but written-out lists make it up."""
    found: list[str] | None = None
    for statement in tree.body:
        if isinstance(statement, (*_DEFINED, *_IMPORTS)) or _ALL not in set(_bound(statement)):
            continue
        value = _set_to(statement)
        names = None if value is None else _words(value)
        if names is None or (isinstance(statement, ast.AugAssign) and found is None):
            return None
        found = [*(found or ()), *names] if isinstance(statement, ast.AugAssign) else names
    return found


def _set_to(statement: ast.stmt) -> ast.expr | None:
    """What a statement sets `__all__` to, or adds to it."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        target = statement.target
    else:
        return None
    return statement.value if isinstance(target, ast.Name) and target.id == _ALL else None


def _words(value: ast.expr) -> list[str] | None:
    """The texts of a list that is written out, or of several that are added up."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _words(value.left), _words(value.right)
        return None if left is None or right is None else left + right
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    words = [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return words if len(words) == len(value.elts) else None
