"""Whether the words of code say that two values are the two runs of one comparison.

Two values that a test compares need not be: how many rows were asked for and how many there are, what goes
into a layer and what comes out of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.flow.judging import compares, says_that_it_judges, two_sides
from reviewbot.flow.projections import named_apart, says_same
from reviewbot.flow.values import values

if TYPE_CHECKING:
    import libcst as cst

    from reviewbot.source.units import Unit


def says_two_runs(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether a unit or its file says by its name, its parameters' names or its comments that it compares two
    things, or the names of two values, or of what they come from, say that they are the two."""
    if compares(unit) or says_same(unit) or says_that_it_judges(unit.file.path.rpartition("/")[2]):
        return True
    if named_apart(unit, left, right):
        return True
    flow = values(unit)
    one, other = (
        {name.value for name in flow.reads(node)} | {binding.name for binding in flow.slice(node)}
        for node in (left, right)
    )
    return two_sides((one - other) | (other - one))
