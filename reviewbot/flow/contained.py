"""Two versions of a demand: what had to be the same as something only has to be contained in it now.

`sorted(ids) == list(range(8))` became `set(ids) <= set(range(8))`: an id that is missing passes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.demands import Demand

_GATHER = frozenset({"sorted", "set", "list", "tuple", "frozenset", "Counter"})
_SETS = frozenset({"set", "frozenset", "keys", "items"})


def contained(demand: Demand, come: list[Demand]) -> Demand | None:
    """The new demand that one of two things is contained in the other, where they had to be the same; None
    too where another new demand looks at either of them."""
    if demand.relation != "equal" or not demand.other:
        return None
    sides = {_bare(demand.subject), _bare(demand.other)}
    if len(sides) != 2 or "" in sides:
        return None
    for one in come:
        if set(_containment(one)) != sides:
            continue
        # The other direction, or how many they are.
        if not any(_looks_at(beside, sides) for beside in come if beside is not one):
            return one
    return None


def _looks_at(demand: Demand, sides: set[str]) -> bool:
    code = ast.unparse(demand.node)
    return not sides.isdisjoint(_containment(demand)) or any(side in code for side in sides)


def _containment(demand: Demand) -> tuple[str, ...]:
    """What is contained and in what, without how each is gathered: of `set(a) <= set(b)`, of
    `set(a).issubset(b)` and of `all(x in b for x in a)`; () of anything else."""
    if demand.relation == "order" and not demand.limits:
        pair = [_parsed(side) for side in (demand.subject, demand.other)]
        return tuple(_text(side) for side in pair if side) if any(_is_set(side) for side in pair) else ()
    call = _parsed(demand.text)
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return ()
    (arg,) = call.args
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("issubset", "issuperset"):
        return _text(call.func.value), _text(arg)
    if isinstance(call.func, ast.Name) and call.func.id == "all" and isinstance(arg, ast.GeneratorExp):
        return tuple(_of_each(arg))
    return ()


def _of_each(each: ast.GeneratorExp) -> Iterator[str]:
    loop, asked = each.generators[0], each.elt
    plain = len(each.generators) == 1 and not loop.ifs and isinstance(asked, ast.Compare)
    if not plain or not isinstance(asked, ast.Compare) or not isinstance(asked.ops[0], ast.In):
        return
    if len(asked.ops) == 1 and ast.unparse(asked.left) == ast.unparse(loop.target):
        yield from (_text(loop.iter), _text(asked.comparators[0]))


def _is_set(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in _SETS
    return isinstance(node, (ast.Set, ast.SetComp))


def _bare(code: str) -> str:
    node = _parsed(code)
    return "" if node is None else _text(node)


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def _text(node: ast.expr) -> str:
    """The code of a collection without what puts it in order or makes it one of another kind."""
    while (inner := _inner(node)) is not None:
        node = inner
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return f"{{{', '.join(sorted(map(ast.unparse, node.elts)))}}}"
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return ast.unparse(ast.GeneratorExp(node.elt, node.generators))
    return ast.unparse(node)


def _inner(node: ast.expr) -> ast.expr | None:
    """What is gathered: `rows` of `sorted(rows)`, of `rows.keys()` and of `{*rows}`."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _GATHER and len(node.args) == 1:
            return node.args[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "keys" and not node.args:
            return node.func.value
    only = node.elts[0] if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and len(node.elts) == 1 else None
    return only.value if isinstance(only, ast.Starred) else None
