"""Whether code stands for what it does when it runs, and not for the value that it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import raising_context
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import last_name, same

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# Packages whose objects build an expression when they are compared.
_BUILDING = frozenset({
    "sqlalchemy", "peewee", "pony", "z3", "pulp", "pyomo", "cvxpy", "sympy", "ortools", "gurobipy", "pyspark",
    "polars", "sqlmodel", "django", "mongoengine", "beanie", "pypika", "elasticsearch_dsl", "airflow",
})  # fmt: skip

_TIMED = pattern(r"(?i)(^|/)(perf|bench\w*|profil\w*|asv\w*|docs?|examples?)/|(^|[/_])(bench\w*|perf)[_.]")

_METHODS = frozenset({"__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__", "__cmp__"})

# Another linter has been told that the comparison is meant to stand alone.
_TOLD = pattern(r"#.*\b(B015|W0104|W0106|pointless-statement|expression-not-assigned)\b")
# A check beside it asks whether the operator's method was called.
_CALLED = pattern(r"""["'.]__(r?eq|ne|lt|le|gt|ge)__\b""")
_EFFECT = pattern(r"(?i)crash|segfault|rais|error|recurs|hang|deadlock|leak|side.effect")


def function_of(unit: Unit, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The nearest function around a node."""
    return next((above for above in unit.ancestors(node) if type(above) is cst.FunctionDef), None)


def awaits_exception(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a statement stands where an exception or a warning is awaited."""
    below = node
    for above in unit.ancestors(node):
        if (type(above) is cst.Try or type(above) is cst.TryStar) and below is above.body:
            return True
        if type(above) is cst.With and any(
            raising_context(item) or last_name(item.item) in ("suppress", "catch_warnings")
            for item in above.items
        ):
            return True
        if type(above) is cst.FunctionDef or type(above) is cst.Lambda:
            return False
        below = above
    return False


def compares_for_its_effect(unit: Unit, node: cst.Expr, value: cst.Comparison) -> bool:
    """Whether the comparison is made for what it does when it is made: it builds a query, is timed, is the
    very method under test, is one of several operators that are tried, or has shown that it can crash; or
    another linter has been told so."""
    if function_of(unit, node) is not unit.node and unit.is_function:
        return True
    if not all(isinstance(target.operator, (cst.Equal, cst.Is)) for target in value.comparisons):
        return True
    if any(same(value.left, target.comparator) for target in value.comparisons):
        return True
    packages = {origin.partition(".")[0] for origin in unit.file.imports.values()}
    if not _BUILDING.isdisjoint(packages) or _TIMED.search(unit.file.path):
        return True
    if any(other.name.rpartition(".")[2] in _METHODS for other in unit.file.units):
        return True
    above = unit.parent(unit.parent(unit.parent(node) or node) or node)
    if type(above) is cst.With and len(above.body.body) == 1:
        return True
    line = unit.span(node).line
    if _is_among_operators(unit, node) or any(map(_CALLED.search, unit.file.lines[line : line + 2])):
        return True
    if _TOLD.search(unit.file.lines[line - 1]):
        return True
    near = "".join(part.partition("#")[2] for part in unit.file.lines[max(0, line - 4) : line + 2])
    return _EFFECT.search(near + unit.name) is not None


def _is_among_operators(unit: Unit, node: cst.Expr) -> bool:
    """Whether beside it others are tried and their results dropped as well: `x - y; y - x; x == y`."""
    line = unit.parent(node)
    block = unit.parent(line) if line is not None else None
    lines = block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ()
    return any(
        type(statement) is cst.Expr and type(statement.value) is cst.BinaryOperation
        for one in lines
        if type(one) is cst.SimpleStatementLine
        for statement in one.body
    )
