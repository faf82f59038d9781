"""What a difference is taken of: two parts of one sequence, or two values in both orders.

Reads `ast` only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from reviewbot.flow.calls import module_value
from reviewbot.flow.summaries import dotted_name
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What moves along a sequence, and what takes neighbours of it.
_SHIFTS = frozenset({"roll", "shift", "islice"})
_NEIGHBOURS = frozenset({"pairwise", "sliding_window", "windowed"})
_BOTH_ORDERS = frozenset({"permutations", "product"})
_DEEPEST = 4  # names that a value is followed through


def is_of_one_sequence(unit: Unit, difference: ast.BinOp) -> bool:
    """Whether the two sides are parts of one sequence, and so no two results: `curve[1:] - curve[:-1]`, also
    by names of their own, `b - a for a, b in zip(xs, xs[1:])`.

    A fixed item is none of these: `results[0]`, `frame["old"]` may well be a result of its own.
    """
    around = _bound_around(unit).get(id(difference), {})
    one, other = (_part(unit, side, around) for side in (difference.left, difference.right))
    ways = {one.way, other.way}
    return one.of == other.of and "moved" in ways and ("fixed" not in ways or "last" in (one.at, other.at))


class _Part(NamedTuple):
    """A part of the sequence `of`, as code: all of it, a `fixed` item, or what stands at a place that moves
    or counts from the end, which `at` says of the last items."""

    of: str
    way: Literal["whole", "fixed", "moved"]
    at: str = ""


def _part(unit: Unit, node: ast.expr, around: dict[str, ast.expr]) -> _Part:
    ways, at, left = {"whole"}, "", _DEEPEST
    while True:
        if isinstance(node, ast.Subscript):
            ways.add("moved" if _moves(node.slice) else "fixed")
            at = at or ("last" if _counts_from_the_end(node.slice) else "")
            node = node.value
        elif isinstance(node, ast.Call) and called_last(node) in _SHIFTS:
            inner = _shifted(node)
            if inner is None:
                break
            ways.add("moved")
            node = inner
        elif isinstance(node, ast.Name) and left and node.id in around:
            ways.add("moved")
            node, left = around[node.id], left - 1
        elif isinstance(node, ast.Name) and left and node.id in _given(unit):
            node, left = _given(unit)[node.id], left - 1
        else:
            break
    return _Part(ast.dump(node), "moved" if "moved" in ways else "fixed" if "fixed" in ways else "whole", at)


def _shifted(call: ast.Call) -> ast.expr | None:
    """What a call moves along: `xs` of `np.roll(xs, 1)` and of `xs.shift(1)`."""
    if isinstance(call.func, ast.Attribute) and len(call.args) < 2:
        return call.func.value
    return call.args[0] if call.args else None


def _moves(place: ast.expr) -> bool:
    """Whether a place is a stretch, is worked out, or counts from the end."""
    if isinstance(place, ast.Tuple):
        return any(map(_moves, place.elts))
    return not isinstance(place, ast.Constant)


def _counts_from_the_end(place: ast.expr) -> bool:
    return isinstance(place, ast.UnaryOp) and isinstance(place.op, ast.USub)


@once
def _given(unit: Unit) -> dict[str, ast.expr]:
    """The parts of other values that a unit gives a name, of the names that it assigns once."""
    found: dict[str, list[ast.expr | None]] = {}
    for statement in unit.asts(ast.Assign):
        for target in statement.targets:
            for name, value in _unpacked(target, statement.value):
                found.setdefault(name, []).append(value)
    return {
        name: given[0]
        for name, given in found.items()
        if len(given) == 1 and isinstance(given[0], (ast.Subscript, ast.Name, ast.Attribute))
    }


@once
def _bound_around(unit: Unit) -> dict[int, dict[str, ast.expr]]:
    """By each difference (by identity) that stands in a loop or comprehension what the names of these run
    over."""
    found: dict[int, dict[str, ast.expr]] = {}
    for target, iterated, bodies in _walks(unit):
        bound = dict(_walked(target, iterated))
        for body in bodies if bound else ():
            for node in ast.walk(body):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                    found.setdefault(id(node), {}).update(bound)
    return found


def _walks(unit: Unit) -> Iterator[tuple[ast.expr, ast.expr, Sequence[ast.AST]]]:
    """What the loops and comprehensions of a unit bind, what they run over, and what they do each time."""
    loops: list[ast.For | ast.AsyncFor] = [*unit.asts(ast.For), *unit.asts(ast.AsyncFor)]
    for loop in loops:
        yield loop.target, loop.iter, loop.body
    made: list[ast.ListComp | ast.SetComp | ast.GeneratorExp] = []
    made += [*unit.asts(ast.ListComp), *unit.asts(ast.SetComp), *unit.asts(ast.GeneratorExp)]
    for one in made:
        yield from ((clause.target, clause.iter, [one.elt]) for clause in one.generators)


def _unpacked(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """The names of an assignment, each with its value; None where that is a part of something unknown."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        given = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        same = len(given) == len(target.elts)
        for place, one in enumerate(target.elts):
            yield from _unpacked(one, given[place] if same else None)


def _walked(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of a loop, each with what it runs over; the parts of an item may be anything."""
    if isinstance(target, ast.Name):
        yield target.id, iterated
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(iterated, ast.Call) and iterated.args:
        call, given = called_last(iterated), iterated.args
        for place, one in enumerate(target.elts):
            if call == "zip" and place < len(given):
                yield from _walked(one, given[place])
            elif call in _NEIGHBOURS or (call == "enumerate" and place):
                yield from _walked(one, given[0])


def is_asked_both_ways(unit: Unit, difference: ast.BinOp) -> bool:
    """Whether the difference is taken in both orders of two values, for that is how they are handed in: by a
    loop over `[(a, b), (b, a)]` or over all pairs, or by the cases of a parametrized test."""
    names = _turned(difference)
    if names is None:
        return False
    handed = _handed(unit)
    for pair, rows in handed.get(names[0], ()):
        if names[1] in pair and _has_both(unit, rows, pair.index(names[0]), pair.index(names[1])):
            return True
    # Two loops, or two sets of cases, that each run over all of the same.
    runs = [{ast.dump(rows) for pair, rows in handed.get(name, ()) if len(pair) == 1} for name in names]
    return not runs[0].isdisjoint(runs[1])


def _turned(difference: ast.BinOp) -> tuple[str, str] | None:
    """The two names that make one side the other, `x` and `y` of `f(x) - f(y)`."""
    sides = [list(ast.walk(side)) for side in (difference.left, difference.right)]
    if [type(node) for node in sides[0]] != [type(node) for node in sides[1]]:
        return None
    found: set[tuple[str, str]] = set()
    for one, other in zip(*sides, strict=True):
        if isinstance(one, ast.Name) and isinstance(other, ast.Name):
            if one.id != other.id:
                found.add((one.id, other.id))
        elif _plain(one) != _plain(other):
            return None
    return found.pop() if len(found) == 1 else None


def _plain(node: ast.AST) -> object:
    """What a node says apart from those below it."""
    return [value for _, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]


@once
def _handed(unit: Unit) -> dict[str, list[tuple[tuple[str, ...], ast.expr]]]:
    """By name the names that are bound together with it, once for each of some rows, and these rows."""
    every = [(_names(target), iterated) for target, iterated, _ in _walks(unit)]
    for decorator in getattr(unit.tree, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and dotted_name(decorator.func).endswith("parametrize"):
            values = (one.value for one in decorator.keywords if one.arg == "argvalues")
            given = [*decorator.args[:2], *values]
            if len(given) > 1:
                every.append((_cases(given[0]), given[1]))
    found: dict[str, list[tuple[tuple[str, ...], ast.expr]]] = {}
    for names, rows in every:
        for name in names:
            found.setdefault(name, []).append((names, rows))
    return found


def _names(target: ast.expr) -> tuple[str, ...]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return tuple(one.id if isinstance(one, ast.Name) else "" for one in target.elts)
    return (target.id,) if isinstance(target, ast.Name) else ()


def _cases(names: ast.expr) -> tuple[str, ...]:
    """The parameters of `parametrize("x, y", …)`, or of a list of names."""
    if isinstance(names, ast.Constant) and isinstance(names.value, str):
        return tuple(name.strip() for name in names.value.split(","))
    if isinstance(names, (ast.Tuple, ast.List)):
        return tuple(str(one.value) if isinstance(one, ast.Constant) else "" for one in names.elts)
    return ()


def _has_both(unit: Unit, rows: ast.expr, one: int, other: int) -> bool:
    """Whether two of the rows hold the same two values in both orders."""
    if isinstance(rows, ast.Call) and called_last(rows) in _BOTH_ORDERS:
        repeated = any(keyword.arg == "repeat" for keyword in rows.keywords)
        same = len({ast.dump(arg) for arg in rows.args}) == 1 and len(rows.args) > 1
        return called_last(rows) == "permutations" or repeated or same
    if isinstance(rows, ast.Name):
        local = _lists(unit).get(rows.id)
        rows = local or module_value(unit.file, rows.id) or rows
    if not isinstance(rows, (ast.List, ast.Tuple, ast.Set)):
        return False
    pairs = set()
    for row in rows.elts:
        given = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
        if max(one, other) < len(given):
            pairs.add((ast.dump(given[one]), ast.dump(given[other])))
    return any(left != right and (right, left) in pairs for left, right in pairs)


@once
def _lists(unit: Unit) -> dict[str, ast.expr]:
    """The tables that a unit writes out under a name, each given once."""
    found: dict[str, list[ast.expr]] = {}
    for statement in unit.asts(ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(statement.value)
    return {name: given[0] for name, given in found.items() if len(given) == 1}
