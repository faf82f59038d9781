"""Two versions of a demand: where it does not hold, something else lets it pass now.

`out == again` became `out == again or len(out) > 0`: it is asked of nothing but an empty result.
"""

from __future__ import annotations

import ast

from reviewbot.flow.demands import Demand, demands, names_in
from reviewbot.flow.patterns import pattern


def with_alternative(demand: Demand, come: list[Demand]) -> tuple[Demand, list[ast.expr]] | None:
    """The new demand that asks for the same or for something else, and the terms that are not the same."""
    for one in come:
        terms, holds = _terms(one)
        same = [term for term in terms if _is_same(demand, term, holds=holds)]
        others = [term for term in terms if term not in same]
        if same and not (demand.relation == "false" and all(map(_is_absence, others))):
            return one, others
    return None


def _is_absence(term: ast.expr) -> bool:
    """Whether something is not there, which is as good as empty."""
    operator = term.ops[0] if isinstance(term, ast.Compare) else None
    return isinstance(operator, (ast.NotIn, ast.Is))


def says_less(demand: Demand, others: list[ast.expr]) -> bool:
    """Whether one of the other ways to pass looks at what is demanded, and is no other way to say the same:
    a second equality of both sides as a whole, or that both are no numbers."""
    return any(demand.names & names_in(term) and not _says_the_same(demand, term) for term in others)


def _terms(one: Demand) -> tuple[list[ast.expr], bool]:
    """What an `or` of a demand joins, or an `and` whose truth makes the code fail, and whether one of them
    has to hold or one has not to."""
    joint = {"true": ast.Or, "false": ast.And}.get(one.relation)
    if joint is None or one.other:
        return [], True
    try:
        test = ast.parse(one.subject, mode="eval").body
    except SyntaxError:
        return [], True
    terms = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, joint) else []
    return terms, one.relation == "true"


def _is_same(demand: Demand, term: ast.expr, *, holds: bool) -> bool:
    asked = _demanded(term, holds=holds)
    return len(asked) == 1 and _key(asked[0]) == _key(demand)


def _demanded(term: ast.expr, *, holds: bool) -> list[Demand]:
    test = term if holds else ast.UnaryOp(ast.Not(), term)
    return demands([ast.fix_missing_locations(ast.copy_location(ast.Assert(test), term))])


def _key(demand: Demand) -> tuple[object, ...]:
    """What is demanded, whichever way round an equality is written."""
    sides = [demand.subject, demand.other]
    return demand.relation, tuple(sorted(sides) if demand.relation == "equal" else sides), demand.limits


def _says_the_same(demand: Demand, term: ast.expr) -> bool:
    text = ast.unparse(term)
    if _NO_NUMBER.search(text) or isinstance(term, ast.Constant):
        return True
    if not isinstance(term, ast.Compare) or not isinstance(term.ops[0], (ast.Eq, ast.Is)):
        return False
    sides = [ast.unparse(term.left), ast.unparse(term.comparators[0])]
    both = all(names_in(ast.parse(side)) & names_in(term) for side in (demand.subject, demand.other) if side)
    return both and demand.other != "" and not any(_SIZE.search(side) for side in sides)


_NO_NUMBER = pattern(r"(?i)nan\b|isnan|isna\b|isnull|\b(\w+) != \1\b")
_SIZE = pattern(r"\b(len|type|bool|any|all|sum|set|id)\(|\.(shape|size|dtype|ndim)\b")
