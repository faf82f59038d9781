"""Questions to a unit's `ast` that many rules ask before they have it parsed again: yes too often, never no
wrongly."""

from __future__ import annotations

import ast
import re
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from reviewbot.flow import assertions
from reviewbot.flow.judging import makes_alike
from reviewbot.flow.patterns import pattern
from reviewbot.source.units import below, called_last, once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reviewbot.source.units import File, FunctionTree, Unit

_PREDICATES = frozenset(
    {name.rpartition(".")[2] for name in assertions.PREDICATES} | set(assertions.PREDICATE_METHODS)
)
_PLACE = pattern(
    r"(^|[/_.-])(tests?|testing|test[a-z]*|[a-z]*tests?|parity|compar[a-z]*|verif(y|ied|ies|ying|ications?)?|checks?|diff|cmp"
    r"|regress[a-z]*|consisten[a-z]*|equivalen[a-z]*)\d*([/_.-]|$)",
    re.IGNORECASE,
)
_NAME = pattern(
    r"(^|[_.])(tests?|compar[a-z]*|parity|assert[a-z]*|verif[a-z]*|equal[a-z]*|match(es|ed|ing)?|mismatch(es)?|diff[a-z]*|same"
    r"|expect[a-z]*|regress[a-z]*|consisten[a-z]*|equivalen[a-z]*)(_|$)|assert[A-Z]|test[A-Z]|compare[A-Z]"
)
_SAME = ("equal", "close", "identical")


@once
def is_comparer(unit: Unit) -> bool:
    """Whether a unit by its place or name is there to compare: a test, a comparison script, a helper of one.

    Elsewhere a comparison that raises mostly validates arguments.
    """
    return _stands_among_comparers(unit.file) or is_named_comparer(unit)


@once
def _stands_among_comparers(file: File) -> bool:
    return _PLACE.search(file.path) is not None


def is_named_comparer(unit: Unit) -> bool:
    """Whether a unit's own name says that it compares."""
    return _NAME.search(unit.name) is not None and not makes_alike(unit.name.rpartition(".")[2])


@once
def may_fail(unit: Unit) -> bool:
    """Whether the unit might hold a check."""
    if unit.has(ast.Assert, ast.Raise, ast.Return, ast.Yield):
        return True
    return unit.calls("fail", "exit") or unit.calls_any(assertions.may_assert_by_name)


@once
def compares_two(unit: Unit) -> bool:
    """Whether the unit might judge whether two values agree, neither of which is written out."""
    if any(_both_computed([node.left, *node.comparators]) for node in unit.asts(ast.Compare)):
        return True
    if _subtracts(unit):
        return True
    if any(map(compares, unit.calls_of(COMPARING))):
        return True
    return any(_measures(unit, call) for call in unit.calls_of(_subtracting(unit.file.units[0])))


@once
def _subtracts(unit: Unit) -> bool:
    return any(isinstance(node.op, ast.Sub) for node in unit.asts(ast.BinOp))


@once
def _subtracting(module: Unit) -> frozenset[str]:
    """The names of the functions of a file that subtract."""
    return frozenset(unit.name for unit in module.file.units if unit.kind == "function" and _subtracts(unit))


def _measures(unit: Unit, call: ast.Call) -> bool:
    """Whether a call gives two values to another function of the file, by the name of one that subtracts."""
    if not isinstance(call.func, ast.Name) or not _both_computed(call.args[:2]):
        return False
    function = unit.file.unit(call.func.id)
    return function is not None and function is not unit and function.is_function and _subtracts(function)


def compares(call: ast.Call) -> bool:
    """Whether a call might say whether two values agree, neither of which is written out, or demand it."""
    name = called_last(call)
    relation, _ = assertions.KNOWN.get(name, ("", 0))
    if relation in _SAME and (call.keywords or _both_computed(call.args[:2])):
        return True
    return name in _PREDICATES and (len(call.args) + isinstance(call.func, ast.Attribute)) > 1


COMPARING = _PREDICATES.union(name for name, (relation, _) in assertions.KNOWN.items() if relation in _SAME)
"""The last names of all calls of which `compares` could be true."""


@once
def bound_names(unit: Unit) -> frozenset[str]:
    """Every name that is given a value somewhere in the unit, whatever way."""
    nodes = unit.facts.nodes
    found = set(unit.facts.stored)
    found |= {node.arg for node in unit.asts(ast.arg)}
    found |= {(node.asname or node.name).partition(".")[0] for node in unit.asts(ast.alias)}
    for kind in _NAMING.intersection(nodes):
        for node in nodes[kind]:
            found |= {name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if name}
    return frozenset(found)


_NAMING: frozenset[type[ast.AST]] = frozenset({
    *(ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
})  # fmt: skip


def may_depend(unit: Unit, condition: ast.expr) -> bool:
    """Whether a condition could depend on a value that the unit is given, computes or keeps in `self`."""
    bound = bound_names(unit)
    stack: list[ast.AST] = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            if node.id in bound:
                return True
            continue
        if isinstance(node, ast.Call):
            root = node.func
            while isinstance(root, ast.Attribute):
                root = root.value
            # What another function answers may depend on the same.
            if isinstance(root, ast.Name) and (root.id in unit.file.imports or unit.file.unit(root.id)):
                return True
        stack += below(node)
    return False


def may_check_in(unit: Unit, body: Iterable[ast.AST]) -> bool:
    """Whether a check of the unit might stand in these statements, or under them."""
    stack = list(body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Assert or kind is ast.Raise:
            return True
        if kind is ast.Call:
            name = called_last(node)  # type: ignore[arg-type]
            if name in LEAVING or assertions.asserts_by_name(name) or name in _functions(unit.file.units[0]):
                return True
        stack += below(node)
    return False


LEAVING = frozenset({"fail", "error", *(name.rpartition(".")[2] for name in assertions.EXITING)})


@once
def _functions(module: Unit) -> frozenset[str]:
    """The names of all functions of a file, nested ones included."""
    asts = module.file.asts
    nodes: list[FunctionTree] = [*asts(ast.FunctionDef), *asts(ast.AsyncFunctionDef)]
    return frozenset(node.name for node in nodes)


def same_code(left: object, right: object) -> bool:
    """Whether two nodes, lists of nodes or values in a node are the same code."""
    # A chain may be longer than Python lets calls be nested, so what is left to compare is kept here.
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
            # Most are of different names: these are looked at before what they are read from.
            if one.attr != other.attr:
                return False
            pairs.append((one.value, other.value))
        elif isinstance(one, ast.Name) and isinstance(other, ast.Name):
            if one.id != other.id:
                return False
        elif isinstance(one, ast.AST):
            pairs += ((getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


def set_side_by_side(unit: Unit) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Every two expressions of a unit that a check could compare: in a comparison, or given to one call."""
    for node in unit.asts(ast.Compare):
        yield from pairwise([node.left, *node.comparators])
    for call in unit.asts(ast.Call):
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        if len(owner) + len(call.args) + len(call.keywords) > 1:
            given = [*owner, *call.args, *(keyword.value for keyword in call.keywords)]
            yield from combinations(given, 2)


def _both_computed(sides: list[ast.expr]) -> bool:
    return sum(not isinstance(side, ast.Constant) for side in sides) > 1


@once
def goes_on_after_leaving(unit: Unit) -> bool:
    """Whether a block of the unit goes on with a check after a statement that could leave on every path."""
    nodes = unit.facts.nodes
    leaves = unit.has(*_LEAVES) or unit.calls(*_MAY_LEAVE)
    if not leaves and not any(isinstance(node.test, ast.Constant) for node in unit.asts(ast.Assert)):
        return False
    for kind in _WITH_BLOCKS.intersection(nodes):
        for node in nodes[kind]:
            for field in ("body", "orelse", "finalbody"):
                body = getattr(node, field, ())
                if len(body) > 1 and _ends_early(unit, body):
                    return True
    return False


_WITH_BLOCKS: frozenset[type[ast.AST]] = frozenset({
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.ExceptHandler, ast.With, ast.AsyncWith),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.match_case),
})  # fmt: skip
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_MAY_LEAVE = ("fail", "exit", "quit", "_exit", "error")


def _ends_early(unit: Unit, body: Sequence[ast.stmt]) -> bool:
    """Whether a block goes on with a check after a statement that could leave on every path."""
    for at, statement in enumerate(body[:-1], 1):
        kind = type(statement)
        if kind is ast.Assign or kind is ast.For:
            continue
        if isinstance(statement, _LEAVES) or _may_leave(statement):
            return may_check_in(unit, body[at:])
    return False


def _may_leave(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        call = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        function = call.func if isinstance(call, ast.Call) else None
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return last in _MAY_LEAVE
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _leaves_somewhere(statement.body)
    if not isinstance(statement, ast.If) or not statement.orelse:
        return False
    return _leaves_somewhere(statement.body) and _leaves_somewhere(statement.orelse)


def _leaves_somewhere(block: list[ast.stmt]) -> bool:
    return any(isinstance(inner, _LEAVES) or _may_leave(inner) for inner in block)
