"""Checks in a loop that are not what the loop is for.

Refusals of arguments, assertions about types, checks in a function that is counted, and an exception that is
only raised again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.checks import call_of
from reviewbot.flow.control import enclosing
from reviewbot.flow.fixtures import is_fixture
from reviewbot.flow.handlers import raised_by
from reviewbot.flow.judging import compares, in_test_file, says_that_it_judges
from reviewbot.flow.left import counted_statements
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, walk
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.flow.checks import Check
    from reviewbot.source.units import Unit


def is_aside(unit: Unit, check: Check) -> bool:
    """Whether a check is not what the loop is for: in a function that an assertion calls and counts by, of a
    key that the loop is about to fill in, or outside of tests the type of an item, or a refusal of
    arguments."""
    if (
        id(check.node) in counted_statements(unit)
        or _guards_a_table(unit, check)
        or _calls_itself(unit, check)
        or _cleans_up(unit, check)
    ):
        return True
    # A folder may be called `testing` and hold the runner itself.
    named = unit.file.path.rpartition("/")[2].startswith(("test", "conftest"))
    if unit.is_test or (in_test_file(unit.file.path) and named) or compares(unit):
        narrows = False
    else:
        narrows = check.kind == "raise" and raised_by(check) in ("ValueError", "TypeError", "KeyError")
    if check.kind == "raise" and raised_by(check) in ("ValueError", "TypeError") and _makes_something(unit):
        narrows = True
    if check.kind == "helper" and not in_test_file(unit.file.path):
        # What the product calls for its effect may refuse something as well.
        name = _called_name(check.node)
        narrows = narrows or not (asserts_by_name(name) or says_that_it_judges(name))
    if not in_test_file(unit.file.path) and isinstance(check.condition, cst.Call):
        narrows = narrows or last_name(check.condition) in ("isinstance", "callable", "issubclass")
    return narrows


def _called_name(node: cst.CSTNode) -> str:
    """The last name of what a statement calls."""
    call = call_of(node)
    return last_name(call) if call is not None else ""


def _makes_something(unit: Unit) -> bool:
    """Whether a helper of tests is there for what it returns, and refuses what it cannot work on."""
    if (
        unit.is_test
        or not unit.is_function
        or compares(unit)
        or asserts_by_name(unit.name.rpartition(".")[2])
    ):
        return False
    given = [node.value for node in unit.find(cst.Return) if node.value is not None]
    return bool(given) and not any(
        isinstance(one, cst.Comparison) or literal(one) in (True, False) for one in given
    )


def _calls_itself(unit: Unit, check: Check) -> bool:
    """A walk down a tree: whether the loop around a check calls the function that it stands in, or that
    function calls itself on another loop's items."""
    loop = enclosing(unit, check.node, cst.For)
    if loop is None or not unit.is_function:
        return False
    last = unit.name.rpartition(".")[2]
    own = {unit.name} if last == unit.name else {f"self.{last}", f"cls.{last}"}
    return not own.isdisjoint(_called_in_loops(unit))


@once
def _called_in_loops(unit: Unit) -> frozenset[str]:
    calls = (call for call in unit.find(cst.Call) if enclosing(unit, call, cst.For) is not None)
    return frozenset(dotted(call.func) for call in calls)


def _cleans_up(unit: Unit, check: Check) -> bool:
    """Whether a check stands behind the `yield` of a fixture: it looks for what a test has left over."""
    rank = unit.index.rank
    return is_fixture(unit) and any(rank(one) < rank(check.node) for one in unit.find(cst.Yield))


def _guards_a_table(unit: Unit, check: Check) -> bool:
    """`assert key not in table` beside `table[key] = value`: the loop is there to fill the table."""
    node = check.condition
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return False
    target = node.comparisons[0]
    if not isinstance(target.operator, (cst.In if check.fails_when else cst.NotIn)):
        return False
    table = canonical(target.comparator)
    loop = next((above for above in unit.ancestors(check.node) if isinstance(above, cst.For)), None)
    for below in walk(loop.body) if loop is not None else ():
        filled = below.targets[0].target if isinstance(below, cst.Assign) else None
        if isinstance(filled, cst.Subscript) and canonical(filled.value) == table:
            return True
        if isinstance(below, cst.Call) and canonical(below.func) == f"{table}.add":
            return True
    return False


def raises_again(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether an exception that was caught is raised again: `raise`, or `raise error` by the name that its
    handler gives it."""
    if not isinstance(node, cst.Raise):
        return False
    handler = enclosing(unit, node, cst.ExceptHandler)
    if node.exc is None or not isinstance(handler, cst.ExceptHandler) or handler.name is None:
        return node.exc is None
    return canonical(node.exc) == canonical(handler.name.name)
