"""A check after a reload that still reads what was taken from the object before it.

```python
head = model.head
before = head.weight.clone()
model = load(path)
assert equal(before, head.weight)  # both sides are of the first model
```
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.demands import Demand, demands
from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_SAME = frozenset({"equal", "close", "identical"})
# Methods that give the same values in a container of their own, or in another form.
_COPIES = frozenset({
    "clone", "detach", "copy", "cpu", "numpy", "item", "tolist", "contiguous", "float", "double", "to",
    "cuda",
})  # fmt: skip
# Methods that only look.
_LOOKS = _COPIES | {
    "to_local", "full_tensor", "parameters", "named_parameters", "buffers", "state_dict", "size", "dim",
    "keys", "values", "items", "get", "sum", "mean", "max", "min", "numel",
}  # fmt: skip
# What is made of a value in these can change nothing of it.
_PLAIN = frozenset({"str", "repr", "int", "float", "bool", "len", "type", "isinstance", "id", "print"})


@dataclass(frozen=True, slots=True)
class Stale:
    """Both sides of the check `demand` are read from `name`, taken from `root` at `taken`, which is another
    object since `rebound`. `kept` is where the side that was remembered was read."""

    demand: Demand
    name: str
    root: str
    kept: ast.Assign
    taken: ast.Assign
    rebound: ast.Assign


def stale(unit: Unit) -> Iterator[Stale]:
    """The checks of a function that compare what was taken from an object with itself, after the name of the
    object was given another one, with nothing between that could have changed the first."""
    if not unit.is_function or not may_be_stale(unit):
        return
    line = list(_straight(unit.tree.body))
    bound: dict[str, list[tuple[int, ast.Assign]]] = {}
    for at, statement in enumerate(line):
        for name in _written(statement):
            if isinstance(statement, ast.Assign):
                bound.setdefault(name, []).append((at, statement))
            else:
                bound.setdefault(name, []).append((at, _UNKNOWN))
    for at, statement in enumerate(line):
        if not isinstance(statement, (ast.Assert, ast.Expr)):
            continue
        for demand in demands([statement]):
            found = _held_against_itself(demand, at, line, bound) if demand.relation in _SAME else None
            if found is not None:
                yield found


def newly_compared(unit: Unit, one: Stale) -> Demand | None:
    """A check behind the reload that compares a value of the new object."""
    behind = [node for node in unit.tree.body if node.lineno > one.rebound.lineno]
    return next((it for it in demands(behind) if it.relation in _SAME and one.root in it.names), None)


def may_be_stale(unit: Unit) -> bool:
    """The same asked quickly: a value is kept that is read from a part of an object, and further down the
    name of the object, or of what that is a part of, is given another one."""
    assigned = unit.asts(ast.Assign)
    if len(assigned) < _ASSIGNED:
        return False
    part_of = {
        node.targets[0].id: root
        for node in assigned
        if isinstance(node.targets[0], ast.Name) and not isinstance(node.value, ast.Name)
        if (root := _root(node.value))
    }
    if unit.facts.stored.keys().isdisjoint(part_of.values()):
        return False
    given: dict[str, int] = {}
    for node in assigned:
        for name in itertools.chain.from_iterable(map(_names, node.targets)):
            given[name] = max(node.lineno, given.get(name, 0))
    for node in assigned:
        above = part_of.get(_root(_bare(node.value)), "")
        met: set[str] = set()
        while above and above not in met:
            if given.get(above, 0) > node.lineno:
                return True
            met.add(above)
            above = part_of.get(above, "")
    return False


# What is taken from the object, what is kept of that, and the other object.
_ASSIGNED = 3


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _names(one)


_UNKNOWN = ast.Assign(targets=[], value=ast.Constant(None))


def _held_against_itself(
    demand: Demand, at: int, line: list[ast.stmt], bound: dict[str, list[tuple[int, ast.Assign]]]
) -> Stale | None:
    for one, other in ((demand.subject, demand.other), (demand.other, demand.subject)):
        kept = _only(bound, one, at)
        if kept is None or kept[1].value is None:
            continue
        read = _bare(kept[1].value)
        now = _bare(_parsed(other))
        name = _root(read)
        if not name or name == one or ast.unparse(read) != ast.unparse(now) or name == ast.unparse(read):
            continue
        since = kept[0]
        chain = _chain(name, since, bound)
        rebound = [
            (place, root, node)
            for root in chain[1:]
            for place, node in bound.get(root, ())
            if since < place < at and node is not _UNKNOWN
        ]
        taken = _only(bound, name, at)
        if not rebound or taken is None or any(since < place < at for place, _ in bound.get(name, ())):
            continue
        if _touched({*chain, one}, since, at, line, bound):
            continue
        _, root, node = rebound[0]  # the nearest to what is read
        return Stale(demand, name, root, kept[1], taken[1], node)
    return None


def _chain(name: str, before: int, bound: dict[str, list[tuple[int, ast.Assign]]]) -> list[str]:
    """A name, what it is a part of, what that is a part of, and so on, as they stood there."""
    found = [name]
    while True:
        given = [(place, node) for place, node in bound.get(found[-1], ()) if place < before]
        if not given or given[-1][1] is _UNKNOWN:
            return found
        root = _root(given[-1][1].value)
        if not root or (root in found and root != found[-1]) or isinstance(given[-1][1].value, ast.Name):
            return found
        if root == found[-1]:
            return found
        found.append(root)
        before = given[-1][0]


def _touched(
    names: set[str],
    since: int,
    until: int,
    line: list[ast.stmt],
    bound: dict[str, list[tuple[int, ast.Assign]]],
) -> bool:
    """Whether a statement between may change what the names held: it reads one, or what was made of one."""
    held = set(names)
    for statement in line[: since + 1]:
        if isinstance(statement, ast.Assign) and _loads(statement.value) & held:
            held |= set(_written(statement))
    for statement in line[since + 1 : until]:
        written = _written(statement)
        if isinstance(statement, ast.Assert):
            continue
        if isinstance(statement, ast.Assign) and not (_loads(statement.value) & held):
            held -= set(written)  # another object from here on
        elif isinstance(statement, ast.Assign) and _only_looks(statement.value):
            held |= set(written)
        elif _loads(statement) & held:
            return True
    return False


def _only_looks(node: ast.expr) -> bool:
    """Whether a value is a part of another, or a form of one, and nothing else ran for it."""
    return bool(_root(node)) and all(
        isinstance(call.func, ast.Attribute) and call.func.attr in _LOOKS
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
    )


def _loads(node: ast.AST) -> set[str]:
    """The names that code hands on as they are, or calls methods of."""
    if isinstance(node, ast.Call) and dotted_name(node.func) in _PLAIN:
        return set()
    if isinstance(node, ast.JoinedStr):
        return set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    return set().union(*(_loads(below) for below in ast.iter_child_nodes(node)), set())


def _only(
    bound: dict[str, list[tuple[int, ast.Assign]]], name: str, before: int
) -> tuple[int, ast.Assign] | None:
    """The one assignment of a name up to a place, as a whole."""
    given = [one for one in bound.get(name, ()) if one[0] < before]
    if len(given) != 1 or given[0][1] is _UNKNOWN:
        return None
    target = given[0][1].targets
    return given[0] if len(target) == 1 and isinstance(target[0], ast.Name) else None


def _straight(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements one after the other, those in a `with` or `try` too; loops and branches as a whole."""
    for statement in body:
        if isinstance(statement, (ast.With, ast.AsyncWith, ast.Try)):
            if isinstance(statement, ast.Try):
                yield from _straight(statement.body)
                yield from _straight(statement.finalbody)
                continue
            yield from (ast.Expr(item.context_expr) for item in statement.items)
            yield from _straight(statement.body)
        else:
            yield statement


def _written(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def _bare(node: ast.expr) -> ast.expr:
    """A value without the copies that are made of it."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COPIES:
        node = node.func.value
    return node


def _root(node: ast.expr) -> str:
    """The name that attributes, items and calls of methods without arguments start from, "" if none."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return node.id if isinstance(node, ast.Name) else ""


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return ast.Constant(None)
