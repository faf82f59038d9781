"""Which checks can fail a run for a fault: those that are reached where it occurs, and whose failure nothing
takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, checks
from reviewbot.flow.control import enclosing, guards, leaves, statements
from reviewbot.flow.handlers import caught, exception_name, fate, raised_by, takes
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.syntax import last_name
from reviewbot.source.units import once, once_for_each

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_LOOPS = (cst.For, cst.While)


@once
def swallowed(unit: Unit) -> frozenset[int]:
    """The nodes, by identity, of the checks whose failure a handler or a `suppress` around them lets go, or
    makes a skip of."""
    if not unit.find(cst.Try, cst.With):
        return frozenset()  # a chain of `elif` is as deep as it is long
    return frozenset(id(check.node) for check in checks(unit) if _is_swallowed(unit, check))


def _is_swallowed(unit: Unit, check: Check) -> bool:
    raised, below = raised_by(check), check.node
    for above in unit.ancestors(check.node):
        if type(above) is cst.FunctionDef:
            return False
        if type(above) is cst.With and any(_suppresses(item, raised) for item in above.items):
            return True
        if type(above) is cst.Try and below is above.body:
            taker = next((one for one in above.handlers if takes(caught(one), raised)), None)
            if taker is not None and fate(unit, taker.body) != "left to others":
                return True
        below = above
    return False


def _suppresses(item: cst.WithItem, raised: str) -> bool:
    call = item.item
    if type(call) is not cst.Call or last_name(call) != "suppress":
        return False
    return takes(frozenset(exception_name(arg.value) for arg in call.args), raised)


@once
def refuses_input(unit: Unit) -> bool:
    """Whether a function checks what it is given, and no two runs: it stands among no tests, and raises
    errors that neither say that an assertion failed nor end the program."""
    return not in_test_file(unit.file.path) and all(
        check.kind == "raise" and raised_by(check) not in ("AssertionError", "SystemExit", "")
        for check in checks(unit)
    )


@once_for_each
def _way_to(unit: Unit, node: cst.CSTNode) -> tuple[cst.CSTNode | None, list[tuple[int, bool]]]:
    """The function around a node, and the branches within it that lead there: each `if`, by identity, with
    its outcome."""
    branches, below, apart = [], node, False
    for above in unit.ancestors(node):
        kind = type(above)
        if kind is cst.If and below is not above.test:  # type: ignore[attr-defined]
            branches.append((id(above), above.orelse is not below))  # type: ignore[attr-defined]
        elif kind is cst.FunctionDef and not apart:
            return above, branches
        apart = apart or kind is cst.Lambda or kind is cst.ClassDef
        below = above
    return None, branches


class Reached:
    """What a run reaches in which a fault occurs at some node of a unit.

    `ends` are the statements with which it then leaves: a `continue` or `break` its loop, all others the
    function.
    """

    def __init__(self, unit: Unit, node: cst.CSTNode, ends: Iterable[cst.CSTNode] = ()) -> None:
        self._unit = unit
        self._function = enclosing(unit, node, cst.FunctionDef)
        # In a loop another turn may go the other way.
        self._taken = {
            id(guard.node): guard.outcome
            for guard in guards(unit, node)
            if type(guard.node) is cst.If and enclosing(unit, guard.node, *_LOOPS) is None
        }
        self._ends = [*ends, *self._own_ends(node)]

    def _own_ends(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The branches around a node that end by leaving the function."""
        found, below = [], node
        for above in self._unit.ancestors(node):
            if above is self._function:
                break
            if type(above) is cst.If and below is not above.test and leaves(statements(below)) == "return":
                found.append(below)
            below = above
        return found

    def __contains__(self, node: cst.CSTNode) -> bool:
        function, branches = _way_to(self._unit, node)
        if function is not self._function:
            return True  # when that is called is not known
        if any(self._taken.get(branch, outcome) != outcome for branch, outcome in branches):
            return False
        return not any(self._is_behind(node, end) for end in self._ends)

    def _is_behind(self, node: cst.CSTNode, end: cst.CSTNode) -> bool:
        """Whether a node comes after a statement that leaves, and not in a `finally` on the way out."""
        start, stop = self._unit.index.reach(end)
        rank = self._unit.index.rank(node)
        if rank < stop:
            return False
        out: cst.CSTNode | None = None
        if type(end) is cst.Continue or type(end) is cst.Break:
            out = enclosing(self._unit, end, *_LOOPS)
        if out is not None and rank >= self._unit.index.reach(out)[1]:
            return False
        for above in self._unit.ancestors(node):
            if type(above) is cst.Finally:
                tried = self._unit.parent(above)
                if tried is not None and self._unit.index.rank(tried) < start:
                    return False
        return True
