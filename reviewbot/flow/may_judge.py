"""Whether a unit could judge whether two values agree, by its `ast`: yes too often, never no wrongly."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import may_assert_by_name
from reviewbot.flow.judging import function_names
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries
from reviewbot.flow.suspects import COMPARING, LEAVING, compares
from reviewbot.source.units import called_last, once, walked

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit


@once
def may_demand(unit: Unit) -> bool:
    """Whether the unit might hold a check, call a function of its file that does, or hand back a verdict."""
    if (
        unit.has(ast.Assert, ast.Raise)
        or not LEAVING.isdisjoint(unit.facts.calls)
        or unit.calls_any(may_assert_by_name)
    ):
        return True
    if not function_names(unit.file).isdisjoint(unit.facts.calls):
        return True
    if not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    summary = Summaries.of(unit.file).summary(unit.tree, unit)
    return summary is not None and summary.returns == "verdict"


@once
def compares_named(unit: Unit) -> bool:
    """Whether the unit might ask whether two values are the same, neither of which is made of literals alone,
    or how far they are apart."""
    if distances(unit) or not _measuring(unit.file).isdisjoint(unit.facts.calls):
        return True
    for node in unit.asts(ast.Compare):
        sides = pairwise([node.left, *node.comparators])
        for operator, (left, right) in zip(node.ops, sides, strict=True):
            if isinstance(operator, _SAMENESS) and _names_any(left) and _names_any(right):
                return True
    calls = filter(compares, unit.calls_of(COMPARING))
    return any(call.keywords or len(call.args) < 2 or all(map(_names_any, call.args[:2])) for call in calls)


_SAMENESS = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def _names_any(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) and one.id not in CONSTANTS for one in walked(node))


@once
def _measuring(file: File) -> frozenset[str]:
    """The last names of the functions and methods of a file that might say how far two values are apart."""
    return frozenset(
        unit.name.rpartition(".")[2] for unit in file.units if unit.is_function and distances(unit)
    )


@once
def distances(unit: Unit) -> list[ast.expr]:
    """What says how far two values are apart."""
    named = unit.asts(ast.Call) if unit.calls_any(names_distance) else []
    return [
        *(node for node in unit.asts(ast.BinOp) if isinstance(node.op, ast.Sub)),
        *(call for call in named if names_distance(called_last(call))),
    ]


def names_distance(name: str) -> bool:
    """Whether a function of that last name says how far values are apart."""
    return _DISTANCE.search(name) is not None and _POSITION.search(name) is None


_POSITION = pattern(r"(?i)(^|_)(first|last|index|where|find|position)(_|$)")
_DISTANCE = pattern(
    r"(?i)(^|_)(diff|difference|dist|distance|err|error|mse|mae|rmse|kl|kl_div|cosine|cos|psnr|ssim|snr"
    r"|similarity|mismatch|delta|loss)(_|$)"
)


CONSTANTS = frozenset({"True", "False", "None", "float", "int", "set", "list", "dict", "tuple"})
"""Names that a value written out in the code may hold."""
