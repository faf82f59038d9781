"""One function and what it needs of its file; the rest of the file, and its imports, stay behind."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterable, Iterator

_BUILTINS = frozenset(dir(builtins))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def cut(
    tree: ast.Module,
    roots: Iterable[str],
    gives: Callable[[ast.ImportFrom, frozenset[str]], bool] = lambda statement, names: True,
) -> ast.Module:
    """The statements that define `roots` (top-level names) and all that they need, in their order.

    `gives` says of a `from ... import *` whether it may bind one of the names that nothing else does. Line
    numbers stay. Raises LookupError for a root that the file does not define.
    """
    definitions = _definitions(tree)
    needed: set[str] = set()
    kept: set[int] = set()
    unbound: set[str] = set()
    todo = list(roots)
    for root in todo:
        if root not in definitions:
            raise LookupError(root)
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        for statement in definitions.get(name, ()):
            if id(statement) not in kept:
                kept.add(id(statement))
                names = _names(statement)
                todo.extend(other for other in names if other in definitions)
                unbound |= names.difference(definitions, _BUILTINS)
    if unbound:
        stars = definitions.get("*", ())
        kept.update(id(s) for s in stars if not isinstance(s, ast.ImportFrom) or gives(s, frozenset(unbound)))
    body = [s for s in tree.body if id(s) in kept or _is_future(s)]
    return ast.Module(body, [])


def _definitions(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    found: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in bound(statement):
            found.setdefault(name, []).append(statement)
    return found


def bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement defines where it stands."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        for target in getattr(statement, "targets", None) or [statement.target]:  # type: ignore[union-attr]
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
    elif isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)):
                yield from bound(node)


def exported(tree: ast.Module) -> tuple[set[str], list[ast.ImportFrom]]:
    """The names that `from ... import *` takes from a module, and the star imports through which it takes
    others. Those are none where `__all__` is written out."""
    definitions = _definitions(tree)
    listed = [s.value for s in definitions.get("__all__", ()) if isinstance(s, (ast.Assign, ast.AnnAssign))]
    if len(listed) == len(definitions.get("__all__", ())) == 1 and isinstance(
        listed[0], (ast.List, ast.Tuple)
    ):
        parts = [part.value if isinstance(part, ast.Constant) else None for part in listed[0].elts]
        if all(type(part) is str for part in parts):
            return {str(part) for part in parts}, []
    stars = [s for s in definitions.get("*", ()) if isinstance(s, ast.ImportFrom)]
    return {name for name in definitions if not name.startswith("_")}, stars


def _names(node: ast.AST) -> set[str]:
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for part in ast.walk(node):
        annotations = (getattr(part, "annotation", None), getattr(part, "returns", None))
        for annotation in annotations:
            # A quoted annotation is a name too, once something resolves it (dataclasses do).
            if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
                found.update(re.findall(r"\w+", annotation.value))
    return found


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def imports(tree: ast.AST, *, certain: bool = False) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """(module, level, names) of every import; with `certain`, none that an `except ImportError` catches."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level, tuple(alias.name for alias in node.names)
        elif certain and isinstance(node, ast.Try) and any(map(_catches_absence, node.handlers)):
            stack.extend([*node.handlers, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            stack.extend(node.orelse)
        elif not isinstance(node, ast.expr):  # no expression holds an import
            stack.extend(ast.iter_child_nodes(node))


def _is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, (ast.Name, ast.Attribute)) and ast.unparse(test).endswith("TYPE_CHECKING")


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def is_standard(name: str) -> bool:
    """Whether a top-level module comes with Python."""
    return name in sys.stdlib_module_names or name == "__main__"
