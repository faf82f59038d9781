"""Whether a name may mean a class that has fields, by the `ast` of one file: yes too often, never no wrongly.

What a class has is read off the facts of its file, which take as long as to parse it.
"""

from __future__ import annotations

import ast
import builtins
import sys
from typing import TYPE_CHECKING

from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.source.units import File

_FIELDED = frozenset({"NamedTuple", "TypedDict"})  # of the standard library, with fields that are annotated
_MAKES = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__"})
_DEPTH = 5  # bases of bases


def may_mean_fields(name: str, file: File) -> bool:
    """Whether a dotted name used in a file may mean a class of the repository with fields."""
    found = file.unit(name)
    if found is not None:
        return isinstance(found.tree, ast.ClassDef) and _may_have(found.tree, file, _DEPTH)
    target = file.imports.get(name.partition(".")[0])
    return target is not None and not _is_library(target)


def _may_have(node: ast.ClassDef, file: File, depth: int) -> bool:
    if node.decorator_list or node.keywords or depth == 0:
        return True
    if any(
        isinstance(one, ast.AnnAssign)
        or (isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name in _MAKES)
        for one in node.body
    ):
        return True
    return any(_may_inherit(base, file, depth - 1) for base in node.bases)


def _may_inherit(base: ast.expr, file: File, depth: int) -> bool:
    name = dotted_name(base.value if isinstance(base, ast.Subscript) else base)
    inner = file.classes.get(name)
    if inner is not None:
        return _may_have(inner, file, depth)
    if not name or name.rpartition(".")[2] in _FIELDED:
        return True
    target = file.imports.get(name.partition(".")[0])
    return not hasattr(builtins, name) if target is None else not _is_library(target)


def _is_library(target: str) -> bool:
    """Whether an import gets a module of Python itself that no repository of models has by the same name."""
    return target.partition(".")[0] in _LIBRARY


# Of these names a repository may well have modules of its own.
_LIBRARY = sys.stdlib_module_names - {"test", "types", "code", "platform", "queue", "statistics", "profile"}
