"""What `pytest.mark.parametrize` gives a test, where it can be read off the code that it gives nothing.

pytest then skips the test, whatever its settings for failures. Reads `ast` only.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reviewbot.flow.calls import module_value
from reviewbot.flow.summaries import dotted_name
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_SAME = frozenset({"list", "tuple", "sorted", "set", "frozenset", "reversed"})
_LOOKING = frozenset({"len", "print", "sorted", "list", "tuple", "set", "parametrize", "bool", "str", "repr"})
_TEXT = frozenset({"startswith", "endswith", "isdigit", "isupper", "islower"})
_DEEPEST = 4  # names that a table is followed through


class _UnknownError(Exception):
    """What cannot be read off the code."""


@dataclass(frozen=True, slots=True, eq=False)
class Unfilled:
    """`values`, given to `parametrize`, hold nothing. `made` is the expression that makes them, in the file
    at `path`. `sure`: it stands in the test's own file."""

    values: ast.expr
    made: ast.expr
    path: str
    sure: bool


def may_be_unfilled(unit: Unit) -> bool:
    """Whether a test or its class could be given no values; yes too often, never no wrongly."""
    return any(_may_be_empty(unit.file, values) for values in given_to_parametrize(unit))


def _may_be_empty(file: File, values: ast.expr) -> bool:
    if isinstance(values, ast.Name):
        return values.id in file.imports or _may_make_none(module_value(file, values.id))
    return _may_make_none(values)


def _may_make_none(made: ast.expr | None) -> bool:
    if isinstance(made, (ast.List, ast.Tuple, ast.Set)):
        return not made.elts
    return isinstance(made, (ast.ListComp, ast.SetComp, ast.Name, ast.Call, ast.Dict, ast.BinOp))


def unfilled(unit: Unit, repo: Repo) -> Iterator[Unfilled]:
    """What `parametrize` is given over a test, where that is nothing."""
    for values in given_to_parametrize(unit):
        found = _made(unit.file, values, repo, _DEEPEST)
        if found is None:
            continue
        file, made = found
        try:
            if not _items(file, made, _DEEPEST):
                yield Unfilled(values, made, file.path, file is unit.file)
        except _UnknownError:
            continue


def given_to_parametrize(unit: Unit) -> Iterator[ast.expr]:
    """The values that a test is given by the decorators of its own, as they are written there."""
    if not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    for decorator in unit.tree.decorator_list:
        if not isinstance(decorator, ast.Call) or not dotted_name(decorator.func).endswith(
            "mark.parametrize"
        ):
            continue
        named = [keyword.value for keyword in decorator.keywords if keyword.arg == "argvalues"]
        yield from decorator.args[1:2] or named


def _made(file: File, values: ast.expr, repo: Repo, depth: int) -> tuple[File, ast.expr] | None:
    """The expression that a name stands for, in this file or in the one that it is imported from."""
    if not isinstance(values, ast.Name):
        return file, values
    if values.id not in file.imports:
        made = _table(file, values.id)
        return (file, made) if made is not None else None
    module, _, name = file.imports[values.id].rpartition(".")
    path = repo.index.module(module or ".", file.path) if name else None
    other = repo.file(path) if path is not None and path != file.path else None
    if other is None or not depth:
        return None
    return _made(other, ast.Name(name, ast.Load()), repo, depth - 1)


def _table(file: File, name: str) -> ast.expr | None:
    """What the module gives a name, where nothing else could fill it."""
    return None if name in _handed_on(file) else module_value(file, name)


@once
def _handed_on(file: File) -> frozenset[str]:
    """The names that are given to something that may fill them: `collect(CASES)`."""
    return frozenset(
        arg.id
        for call in file.asts(ast.Call)
        if called_last(call) not in _LOOKING
        for arg in (*call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(arg, ast.Name)
    )


def _items(file: File, node: ast.expr, depth: int) -> list[object]:
    """The items of a table as the module writes it; `_UnknownError` where they cannot be read off. Of what is
    not written plainly there is only as much known as that it is there."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        if any(isinstance(one, ast.Starred) for one in node.elts):
            raise _UnknownError
        return [_value(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        return [_value(key) for key in node.keys if key is not None] if None not in node.keys else _fail()
    if isinstance(node, ast.Name) and depth:
        made = _table(file, node.id) if node.id not in file.imports else None
        return _items(file, made, depth - 1) if made is not None else _fail()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in _SAME and len(node.args) == 1 and depth:
            return _items(file, node.args[0], depth - 1)
        return [] if node.func.id in _SAME | {"dict"} and not node.args else _fail()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth:
        return _items(file, node.left, depth - 1) + _items(file, node.right, depth - 1)
    if isinstance(node, (ast.ListComp, ast.SetComp)) and depth:
        return _kept(file, node, depth)
    raise _UnknownError


def _kept(file: File, node: ast.ListComp | ast.SetComp, depth: int) -> list[object]:
    """One item for each that the filters of a comprehension keep."""
    clause = node.generators[0]
    if len(node.generators) > 1 or not isinstance(clause.target, ast.Name):
        raise _UnknownError
    every = _items(file, clause.iter, depth - 1)
    return [one for one in every if all(_holds(test, clause.target.id, one) for test in clause.ifs)]


def _holds(test: ast.expr, name: str, item: object) -> bool:
    if isinstance(test, ast.BoolOp):
        parts = [_holds(one, name, item) for one in test.values]
        return all(parts) if isinstance(test.op, ast.And) else any(parts)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not _holds(test.operand, name, item)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        compare = _COMPARED.get(type(test.ops[0]))
        if compare is not None:
            try:
                return compare(_of(test.left, name, item), _of(test.comparators[0], name, item))
            except TypeError:
                raise _UnknownError from None
    return bool(_of(test, name, item))


_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}


def _of(node: ast.expr, name: str, item: object) -> object:
    """The value of an expression of the item: itself, a constant, whether a text starts or ends so."""
    if isinstance(node, ast.Name):
        return _known(item) if node.id == name else _fail()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TEXT:
        text = _of(node.func.value, name, item)
        if isinstance(text, str) and not node.keywords:
            given = [_known(_value(arg)) for arg in node.args]
            try:
                return getattr(text, node.func.attr)(*given)
            except TypeError:
                raise _UnknownError from None
    return _known(_value(node))


_SOMETHING = object()


def _value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return _SOMETHING


def _known(value: object) -> object:
    return value if value is not _SOMETHING else _fail()


def _fail() -> list[object]:
    raise _UnknownError
