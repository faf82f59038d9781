"""Two versions of a demand of the same operands, of which the first implies the second, and not the other way
round; where nothing else in the new version looks at them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable

from reviewbot.flow.alternatives import says_less, with_alternative
from reviewbot.flow.coarsened import coarsened
from reviewbot.flow.demands import Demand, names_in
from reviewbot.flow.gathered import gathered
from reviewbot.flow.mock_checks import asks_less


def implied_form(
    demand: Demand,
    come: list[Demand],
    old: list[ast.stmt],
    new: list[ast.stmt],
    guards: Callable[[str], bool],
) -> tuple[Demand, bool] | None:
    """The new demand that follows from one and says less, and whether that is sure. `guards` tells of a
    condition that it asks where the test runs: what is asked for elsewhere only is no looser check."""
    either = with_alternative(demand, come)
    if either is not None:
        one, others = either
        less = says_less(demand, others)
        return (one, less) if less or not any(_is_new_case(term, old, guards) for term in others) else None
    sure = coarsened(demand, come, new) or asks_less(demand, come, new)
    return (sure, True) if sure is not None else gathered(demand, come, [*old, *new])


def _is_new_case(term: ast.expr, old: list[ast.stmt], guards: Callable[[str], bool]) -> bool:
    """Whether a way to pass is one for where the test runs, or for a case that the old version did not know:
    what was tested before is tested still."""
    names = names_in(term)
    known = frozenset().union(*map(names_in, old))
    return guards(ast.unparse(term)) or (bool(names) and names.isdisjoint(known))


def looked_at_elsewhere(
    demand: Demand,
    by: Demand,
    come: list[Demand],
    has: list[Demand],
    made: frozenset[str],
    old: list[ast.stmt],
    new: list[ast.stmt],
) -> bool:
    """Whether besides the demand `by` something of the new version does the work of one that is gone: another
    new demand on what it looked at or on what is `made` from it, a demand of the same two things, or a
    statement that is new and is handed them."""
    if any(other.names & made for other in come):
        return True
    sides = {demand.subject, demand.other}
    if any(
        other is not by and other.rank >= demand.rank > 0 and {other.subject, other.other} == sides
        for other in has
    ):
        return True
    if any(other is not by and _is_element(other, demand) for other in has):
        return True
    lines = Counter(map(ast.unparse, _calls(old)))
    own = {id(below) for below in ast.walk(by.node)}
    return any(
        id(call.value) not in own and not lines[ast.unparse(call)] and _given(call.value) & made
        for call in _calls(new)
        if isinstance(call.value, ast.Call)
    )


def _is_element(other: Demand, demand: Demand) -> bool:
    """Whether one element of what was compared as a whole is looked at."""
    start = re.escape(demand.subject)
    return other.rank > 3 and re.match(rf"{start}\[(-?\d+|0)\]", other.subject) is not None


def _calls(body: list[ast.stmt]) -> list[ast.Expr]:
    """The statements that are a call alone."""
    nodes = (node for one in body for node in ast.walk(one))
    return [node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]


def _given(call: ast.Call) -> frozenset[str]:
    return frozenset().union(*(names_in(arg) for arg in [*call.args, *call.keywords]), frozenset())
