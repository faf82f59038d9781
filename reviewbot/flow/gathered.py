"""Two versions of a demand on collections: what had to agree in order, or in how often each thing is there,
has to agree in less now.

`sorted(a) == sorted(b)` became `len(a) == len(b)`, or `set(a) == set(b)`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from reviewbot.flow.demands import Demand

Keeps = Literal["", "order", "count", "members", "size"]

_KEEPS: dict[str, Keeps] = {
    "list": "order", "tuple": "order", "sorted": "count", "Counter": "count", "set": "members",
    "frozenset": "members", "len": "size",
}  # fmt: skip
_FOLLOWS: dict[Keeps, tuple[Keeps, ...]] = {
    "order": ("count", "members", "size"),
    "count": ("members", "size"),
}


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of an equality: what of a collection counts there, which one it is, or what is written out."""

    keeps: Keeps
    code: str
    written: tuple[str, ...] | int | None = None


def gathered(demand: Demand, come: list[Demand], body: list[ast.stmt]) -> tuple[Demand, bool] | None:
    """The new demand that of the same two collections less has to agree, and whether that is sure: where
    they are sets, or the keys of mappings, each thing is there once."""
    had = _sides(demand)
    keeps = _kept(had)
    for one in come if keeps else ():
        has = _sides(one)
        now = _kept(has)
        if now not in _FOLLOWS.get(keeps, ()) or any(not side.keeps for side in has):
            continue
        if not all(any(_is_same(side, other) for other in has) for side in had):
            continue
        if keeps != "count" or now != "members":
            return one, True
        codes = [side.code for side in had if side.written is None]
        if any(_is_row(code, body) for code in codes):
            return one, True
        if len(codes) == 2 and not any(_has_each_once(code, body) for code in codes):
            return one, False
    return None


def _sides(demand: Demand) -> list[_Side]:
    if demand.relation != "equal" or not demand.other:
        return []
    try:
        sides = [ast.parse(code, mode="eval").body for code in (demand.subject, demand.other)]
    except SyntaxError:
        return []
    by_name = demand.node.func if isinstance(demand.node, ast.Call) else None
    counts = isinstance(by_name, ast.Attribute) and by_name.attr in ("assertCountEqual", "assertItemsEqual")
    return [_Side("count", ast.unparse(side)) if counts else _side(side) for side in sides]


def _side(node: ast.expr) -> _Side:
    keeps: Keeps = ""
    while isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        inner = _KEEPS.get(name, "")
        if not inner or (keeps == "size" and inner == "members"):
            break
        keeps = keeps if _RANK.index(keeps) > _RANK.index(inner) else inner
        node = node.args[0]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and len(node.elts) == 1:
        (only,) = node.elts
        if isinstance(only, ast.Starred):
            own: Keeps = "members" if isinstance(node, ast.Set) else "order"
            return _Side(keeps or own, ast.unparse(only.value))
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _Side(keeps or "size", "", node.value)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        own = "members" if isinstance(node, ast.Set) else "order"
        return _Side(keeps or own, "", tuple(map(ast.unparse, node.elts)))
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        own = "members" if isinstance(node, ast.SetComp) else "order"
        return _Side(keeps or own, ast.unparse(node)[1:-1])
    return _Side(keeps, ast.unparse(node))


_RANK: list[Keeps] = ["", "order", "count", "members", "size"]


def _kept(sides: list[_Side]) -> Keeps:
    """What has to agree on both sides: the least of what counts on each. What is itself compared with a row
    is one."""
    kept = [side.keeps for side in sides if side.keeps]
    if not kept or len(sides) != 2 or all(side.written is not None for side in sides):
        return ""
    return max(kept, key=_RANK.index)


def _is_same(side: _Side, other: _Side) -> bool:
    """Whether two sides are of the same collection, as far as counts on the second."""
    if side.written is None or other.written is None:
        return side.written is other.written and side.code == other.code
    if isinstance(side.written, int) or not side.written:
        return False  # What is empty is the same in every form.
    if isinstance(other.written, int):
        return len(side.written) == other.written and not any(one.startswith("*") for one in side.written)
    if other.keeps == "count":
        return Counter(side.written) == Counter(other.written)
    return set(side.written) == set(other.written)


def _is_row(code: str, body: list[ast.stmt]) -> bool:
    """Whether a body makes a row under a name, where a thing may be there twice, or treats it as one."""
    return code.endswith(".tolist()") or any(
        _makes_a_row(node.value) and code in map(ast.unparse, node.targets)
        if isinstance(node, ast.Assign)
        else _read(node, code, _is_row_like)
        for node in _nodes(body)
    )


def _makes_a_row(node: ast.expr) -> bool:
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return isinstance(node, (ast.List, ast.ListComp)) or called in ("list", "sorted")


def _has_each_once(code: str, body: list[ast.stmt]) -> bool:
    """Whether it looks like the keys of a mapping, or the names in a folder."""
    return any(word in code for word in _ONCE) or any(_read(node, code, _is_keyed) for node in _nodes(body))


def _nodes(body: list[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in ast.walk(statement)]


def _read(node: ast.AST, code: str, how: Callable[[ast.Attribute | ast.Subscript], bool]) -> bool:
    """Whether a part of what goes by some code is read in a certain way."""
    return isinstance(node, (ast.Attribute, ast.Subscript)) and how(node) and ast.unparse(node.value) == code


def _is_row_like(node: ast.Attribute | ast.Subscript) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("append", "extend")
    return isinstance(node.slice, ast.Slice)


def _is_keyed(node: ast.Attribute | ast.Subscript) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("items", "keys", "values", "get", "add")
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


_ONCE = (
    "keys(", "listdir(", "glob(", "iterdir(", "scandir(", "dir(", "vars(", "columns", "fields", "__dict__",
    "set(", "names", "dict",
)  # fmt: skip
