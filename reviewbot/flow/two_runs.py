"""Whether the words of code say that two values are the two runs of one comparison.

Two values that a test compares need not be: how many rows were asked for and how many there are, what goes
into a layer and what comes out of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.judging import compares, says_that_it_judges, two_sides
from reviewbot.flow.patterns import pattern
from reviewbot.flow.projections import named_apart, says_same
from reviewbot.flow.syntax import dotted
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


def says_two_runs(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether a unit or its file says by its name, its parameters' names or its comments that it compares two
    things, the names of two values, or of what they come from, say that they are the two (`expected` and
    `actual`, `rows1` and `rows2`), or one callable gave both."""
    if compares(unit) or says_same(unit) or says_that_it_judges(unit.file.path.rpartition("/")[2]):
        return True
    return are_two_runs(unit, left, right)


def are_two_runs(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether the names of two values, or of what they come from, say that they are the two sides of one
    comparison, or one callable gave both."""
    if named_apart(unit, left, right) or not _makers(unit, left).isdisjoint(_makers(unit, right)):
        return True
    flow = values(unit)
    one, other = (
        {name.value for name in flow.reads(node)} | {binding.name for binding in flow.slice(node)}
        for node in (left, right)
    )
    return two_sides((one - other) | (other - one)) or any(
        _NUMBER.sub("", name) == _NUMBER.sub("", twin) and name != twin
        for name in one - other
        for twin in other - one
    )


_NUMBER = pattern(r"\d|(?<=_)[ab]$|(?<![a-z])(no|non|not|with|without)_")


def _makers(unit: Unit, node: cst.BaseExpression) -> frozenset[str]:
    """The functions whose results an expression reads by their names: `run` of `part.size` after
    `part = run(1)`."""
    flow = values(unit)
    made = (flow.resolve(name) for name in flow.reads(node))
    return frozenset(dotted(one.func) for one in made if type(one) is cst.Call) - {""}
