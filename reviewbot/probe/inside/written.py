"""The rows that a test writes out itself, and those that its module is given before it runs.

`rows = [{"id": 1, ...}, ...]` is a value of the test as one that a call returns, if the test holds it against
something else; what is only handed on to the code under test is an input. A global name that `setUpModule`
fills is a value, too.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Iterator

from reviewbot.probe.inside.bindings import bindings, each, names_in

Function = ast.FunctionDef | ast.AsyncFunctionDef
# Methods of built-in containers and texts: they hand on what they are called on.
METHODS = frozenset(
    name for kind in (list, dict, set, str, bytes, tuple, int, float) for name in dir(kind) if name[0] != "_"
)
_Direct = dict[str, set[ast.expr]]


def mark(function: Function) -> None:
    """Marks the rows that a function writes out and compares: `written_as` then says their name."""
    found = {id(value): (value, name) for name, value in _candidates(function)}
    if not found:
        return
    known = _known(function, found.keys())
    held = {id(part) for part in _held(function, known, found.keys())}
    for value, name in found.values():
        if id(value) in held:
            value._written_as = name  # type: ignore[attr-defined]


def written_as(node: ast.AST) -> str:
    """The name of rows that are written out; "" for anything else."""
    name: str = getattr(node, "_written_as", "")
    return name


def _candidates(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """Rows that are put into a name of their own, once."""
    arguments = function.args
    taken = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    listed: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target, value in (pair for one in node.targets for pair in each(one, node.value)):
                if isinstance(target, ast.Name):
                    listed.setdefault(target.id, []).append(value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            listed.setdefault(node.target.id, []).append(node.value)
    for name, values in listed.items():
        if len(values) == 1 and name not in taken and _is_rows(values[0]):
            yield name, values[0]


def _is_rows(node: ast.expr) -> bool:
    """Whether it is a list of records, or a table of them, that is made of nothing but what stands there."""
    if isinstance(node, ast.ListComp):
        own = {name for one in node.generators for name in names_in(one.target)}
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return isinstance(node.elt, ast.Dict) and all(
            name in own or hasattr(builtins, name) for name in names
        )
    if isinstance(node, ast.Dict):
        return bool(node.values) and all(map(_is_record, node.values)) and all(node.keys)
    return isinstance(node, (ast.List, ast.Tuple)) and bool(node.elts) and all(map(_is_record, node.elts))


def _is_record(node: ast.expr) -> bool:
    """Whether it is a record written out: `{"id": 1}`, or `Row(id=1)`."""
    if isinstance(node, ast.Call):
        made = isinstance(node.func, ast.Name) and node.func.id[:1].isupper()
        return made and all(map(_is_data, (*node.args, *(keyword.value for keyword in node.keywords))))
    return isinstance(node, ast.Dict) and bool(node.keys) and all(node.keys) and _is_data(node)


def _is_data(node: ast.expr) -> bool:
    kinds = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.unaryop, ast.Load)
    return all(isinstance(part, kinds) for part in ast.walk(node))


# ---- what a test compares as it stands --------------------------------------------------------------------


def _known(function: Function, marked: object) -> _Direct:
    found: _Direct = {}
    listed = list(bindings(function))
    while True:
        before = sum(map(len, found.values()))
        for target, value in listed:
            direct = _direct(value, found, marked)
            for name in names_in(target):
                found.setdefault(name, set()).update(direct)
        if sum(map(len, found.values())) == before:
            return found


def _direct(node: ast.AST, known: _Direct, marked: object) -> set[ast.expr]:
    """What an expression hands on as it is: rows that are written out, and values of calls."""
    if isinstance(node, ast.expr) and id(node) in marked:  # type: ignore[operator]
        return {node}
    if isinstance(node, ast.Name):
        return known.get(node.id, set() if hasattr(builtins, node.id) else {node})
    if isinstance(node, ast.Attribute):
        return {one for name in names_in(node) for one in known.get(name, set())} or {node}
    if isinstance(node, ast.Call) and not _hands_on(node.func):
        return {node}
    parts = ast.iter_child_nodes(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts = iter((node.func.value, *node.args, *node.keywords))
    return {one for part in parts for one in _direct(part, known, marked)}


def _hands_on(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr in METHODS
    return isinstance(function, ast.Name) and hasattr(builtins, function.id)


def _held(function: Function, known: _Direct, marked: object) -> Iterator[ast.expr]:
    """What stands on one side of a comparison, or of a call that is given both, with nothing of the other."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and not _hands_on(node.func):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        else:
            continue
        sides = [one for part in parts if (one := _direct(part, known, marked))]
        for one, other in itertools.combinations(sides, 2):
            if one.isdisjoint(other):
                yield from (*one, *other)


# ---- what a module is given -------------------------------------------------------------------------------


def filled(tree: ast.Module, function: Function) -> frozenset[str]:
    """The global names that a function reads and another one of the file fills, as `setUpModule` does."""
    said: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != function.name:
            declared = {
                name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names
            }
            said |= declared & _stored(node)
    arguments = {part.arg for part in ast.walk(function) if isinstance(part, ast.arg)}
    read = {part.id for part in ast.walk(function) if isinstance(part, ast.Name)}
    return frozenset((said & read) - _stored(function) - arguments)


def _stored(node: ast.AST) -> set[str]:
    return {
        part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
