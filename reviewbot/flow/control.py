"""Which conditions decide whether a node runs, and where control leaves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.checks import fails, raising_context
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import last_name
from reviewbot.source.units import once_for_each

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Exit = Literal["continue", "break", "return", "fail"]

# Context managers that by their name let an exception go: what stands behind the block is reached then.
_SWALLOWS = pattern(r"(?i)suppress|ignor|swallow|silen")
_FUNCTIONS = frozenset({cst.FunctionDef, cst.Lambda, cst.ClassDef})
_BLOCKS = frozenset({cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite})


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition that decides whether a node runs, and the outcome with which it does.

    `node` is the `if`, `while` or conditional expression, `by_leaving` says that the other outcome leaves
    (`continue`, `return`, …) before the node is reached.
    """

    node: cst.CSTNode
    condition: cst.BaseExpression
    outcome: bool
    by_leaving: bool = False


def statements(body: cst.CSTNode | None) -> list[cst.CSTNode]:
    """The statements of a block, small ones of one line apart; of an `else` or `finally` those within."""
    if body is None:
        return []
    kind = type(body)
    if kind is cst.Else or kind is cst.Finally or kind is cst.ExceptHandler:
        return statements(body.body)  # type: ignore[attr-defined]
    if type(body) is cst.IndentedBlock or type(body) is cst.Module:
        found: list[cst.CSTNode] = []
        for statement in body.body:
            found.extend(statement.body if type(statement) is cst.SimpleStatementLine else (statement,))
        return found
    if type(body) is cst.SimpleStatementSuite or type(body) is cst.SimpleStatementLine:
        return list(body.body)
    return [body]


def leaves(block: Sequence[cst.CSTNode]) -> Exit | None:
    """How a block ends on every path through it, or None where some path runs past its end.

    `fail` is a `raise`, `pytest.fail()` or `sys.exit(1)`; of several ways the first in source order.
    """
    for statement in block:
        found = _leaves(statement)
        if found is not None:
            return found
    return None


def _leaves(statement: cst.CSTNode) -> Exit | None:
    if type(statement) is cst.Continue:
        return "continue"
    if type(statement) is cst.Break:
        return "break"
    if type(statement) is cst.Return:
        return "return"
    if fails(statement) is not None:
        return "fail"
    if type(statement) is cst.If:
        then = leaves(statements(statement.body))
        other = None
        if then is None:
            return None  # Many arms need not be looked at.
        if type(statement.orelse) is cst.If:
            other = _leaves(statement.orelse)
        elif statement.orelse is not None:
            other = leaves(statements(statement.orelse))
        return then if other is not None else None
    if type(statement) is cst.With:
        # A context manager may swallow an exception, of a raising one also that of a `return`'s value.
        left = leaves(statements(statement.body))
        swallows = any(
            raising_context(item) or _SWALLOWS.search(last_name(item.item)) for item in statement.items
        )
        return None if left == "fail" or swallows else left
    return None


def guards(unit: Unit, node: cst.CSTNode) -> list[Guard]:
    """The conditions under which a node runs, outermost first, up to the function around it."""
    found: list[Guard] = []
    below = node
    for above in unit.ancestors(node):
        if type(above) in _FUNCTIONS:
            break
        if type(above) is cst.If or type(above) is cst.IfExp:
            if below is not above.test:
                found.append(Guard(above, above.test, above.orelse is not below))
        elif type(above) is cst.While and below is above.body:
            found.append(Guard(above, above.test, True))
        elif type(above) in _BLOCKS:
            found.extend(reversed(_left_before(unit, above, below)))
        below = above
    found.reverse()
    return found


def _left_before(unit: Unit, block: cst.CSTNode, below: cst.CSTNode) -> list[Guard]:
    """The guards that the statements of a block before one of them set by leaving."""
    places, starts, found = _leaving(unit, block)
    return found[: bisect_left(starts, places.get(id(below), len(places)))]


@once_for_each
def _leaving(unit: Unit, block: cst.CSTNode) -> tuple[dict[int, int], list[int], list[Guard]]:
    """The places of a block's statements, by identity, and the guards that these set, with the place of
    each."""
    assert isinstance(block, (cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite))
    starts: list[int] = []
    found: list[Guard] = []
    for place, statement in enumerate(block.body):
        for guard in _set_by_leaving(statement):
            starts.append(place)
            found.append(guard)
    return {id(statement): place for place, statement in enumerate(block.body)}, starts, found


def _set_by_leaving(statement: cst.CSTNode) -> Iterator[Guard]:
    """The guards that a statement sets by leaving: of a chain of `elif` only its arms up to the first that
    stays, for who comes through that one has not been asked the rest."""
    if type(statement) is cst.If:
        branch: cst.CSTNode | None = statement
        while type(branch) is cst.If:
            if leaves(statements(branch.body)) is None:
                other = statements(branch.orelse)
                if branch.orelse is not None and leaves(other) is not None:
                    yield Guard(branch, branch.test, True, by_leaving=True)
                break
            yield Guard(branch, branch.test, False, by_leaving=True)
            branch = branch.orelse


def enclosing(unit: Unit, node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> cst.CSTNode | None:
    """The nearest node of these classes around a node within the same function, or None."""
    if not unit.find(*kinds):
        return None  # a chain of `elif` is as deep as it is long
    for above in unit.ancestors(node):
        if type(above) in kinds:
            return above
        if type(above) in _FUNCTIONS:
            return None
    return None


def after(unit: Unit, node: cst.CSTNode, until: cst.CSTNode | None) -> list[cst.CSTNode]:
    """The statements that run after a statement, up to the end of `until` (a loop or function around it)."""
    found: list[cst.CSTNode] = []
    below = node
    for above in unit.ancestors(node):
        if isinstance(above, (cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            block = list(above.body)
            place = next((n for n, statement in enumerate(block) if statement is below), None)
            if place is not None:
                for statement in block[place + 1 :]:
                    found.extend(statements(statement) if type(statement) is not cst.If else [statement])
        if above is until or type(above) in _FUNCTIONS:
            break
        below = above
    return found
