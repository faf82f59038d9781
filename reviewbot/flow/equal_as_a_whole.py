"""Checks that hold wherever two values are equal: they ask of both, or of a part of each, whether they agree.

After `if rows == wanted: return`, `assert row == other` for the items of the two and
`assert len(rows) == len(wanted)` demand nothing that the condition has not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, call_of, compared, comparisons_in
from reviewbot.flow.held import Held, held

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_AGREEING = frozenset({"equal", "identical", "close"})


def asks_again(unit: Unit, condition: cst.BaseExpression, after: Sequence[Check]) -> bool:
    """Whether a condition asks whether two values are equal, and each of some checks fails outright or
    demands the same of both, or of one part of both."""
    found = list(compared(unit, Check("assert", condition), condition, holds=True))
    if len(found) != 1 or found[0].relation not in ("equal", "identical"):
        return False
    whole = held(unit, found[0].left), held(unit, found[0].right)
    if isinstance(condition, cst.BooleanOperation) or any(one is None or one.about for one in whole):
        return False
    return all(_follows(unit, check, whole) for check in after)


def _follows(unit: Unit, check: Check, whole: tuple[Held | None, Held | None]) -> bool:
    asked = comparisons_in(unit, check.node if check.condition is None else check.condition)
    if not asked and check.kind in ("helper", "call"):
        call = call_of(check.node)
        given = [arg.value for arg in call.args[:2]] if call is not None else []
        return len(given) == 2 and _are_alike(held(unit, given[0]), held(unit, given[1]), whole)
    if not asked:
        return check.kind in ("fail", "raise")
    return all(
        one.relation in _AGREEING and _are_alike(held(unit, one.left), held(unit, one.right), whole)
        for one in asked
    )


def _are_alike(one: Held | None, other: Held | None, whole: tuple[Held | None, Held | None]) -> bool:
    """Whether two values are one part of each of two others, in either order."""
    return any(
        _part_of(one, left) == _part_of(other, right) is not None
        for left, right in (whole, (whole[1], whole[0]))
    )


def _part_of(one: Held | None, whole: Held | None) -> tuple[tuple[str, ...], str] | None:
    """Which part of a value another is, and what is made of it; None where it is no part of it."""
    if one is None or whole is None or one.root != whole.root:
        return None
    depth = len(whole.path)
    return (one.path[depth:], one.about) if one.path[:depth] == whole.path else None
