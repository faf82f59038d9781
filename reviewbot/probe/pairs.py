"""Two changes at once, where one alone cannot show anything: guards that stand in series.

Two kinds are worth the runs. A change that a branch lets through, with another one: only that shows whether
the checks behind the branch still work. Two changes that are each caught and cancel out, such as a start
one lower and a length one higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from reviewbot.probe import shape
from reviewbot.probe.changes import Change
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.search import Passing, Tried

MOST_EACH = 60
MOST_CANCELLING = 400

Pair = tuple[Change, Change]


def behind(passing: Sequence[Passing], tried: Sequence[Tried]) -> Iterator[Pair]:
    """A change that an excuse lets through, with each kind of change that is caught, in the same argument."""
    for one in passing:
        if one.why != "excuse":
            continue
        first = one.best.change
        for second in representatives(tried)[:MOST_EACH]:
            same_place = _overlap(first.edit, second.edit)
            if (
                not same_place
                and first.edit.path[0] == second.edit.path[0]
                and _same_row(first.edit, second.edit)
            ):
                yield first, second


def cancelling(world: World, tried: Sequence[Tried]) -> Iterator[Pair]:
    """Two caught numbers of one record, one higher and one lower."""
    numbers = [
        one.change
        for one in tried
        if one.run.noticed and one.change.verb == "changed" and type(one.change.edit.value) is int
    ]
    count = 0
    for first, second in combinations(numbers, 2):
        a, b = first.edit, second.edit
        if a.path == b.path or a.path[:-1] != b.path[:-1] or type(a.path[-1]) is not str:
            continue
        rise = [_rise(world, edit) for edit in (a, b)]
        if sorted(rise) != [-1, 1]:
            continue
        count += 1
        if count > MOST_CANCELLING:
            return
        yield first, second


def _rise(world: World, edit: Edit) -> int:
    before = plain.at(dict(world), edit.path)
    return int(edit.value - before) if type(before) is int else 0


def representatives(tried: Sequence[Tried]) -> list[Change]:
    """One caught change a family and argument."""
    found: dict[object, Change] = {}
    for one in tried:
        change = one.change
        if one.run.noticed and change.size in ("real", "structure") and change.verb != "emptied":
            found.setdefault((change.family, change.edit.path[0]), change)
    return list(found.values())


def _overlap(first: Edit, second: Edit) -> bool:
    """Whether one edit stands in what the other changes."""
    short, long = sorted((first.path, second.path), key=len)
    return long[: len(short)] == short or bool(second.along) or bool(first.along)


def _same_row(first: Edit, second: Edit) -> bool:
    """Whether both are in the same item of the argument, so that no row number shifts between them."""
    return first.path[:2] == second.path[:2] or len(second.path) < 2


def joined(pair: Pair) -> Change:
    """The two as one change to speak of."""
    first, second = pair
    says = f"{first.says} and {second.says}"
    return Change(
        first.edit, says, f"{first.verb} and {second.verb}", f"{first.field} and {second.field}", "real"
    )


def differs(world: World, pair: Pair) -> bool:
    """Whether both have a place, and the second does not undo the first."""
    changed = edits.apply(world, [pair[0].edit, pair[1].edit])
    return changed is not None and not all(plain.same(changed[name], world[name]) for name in world)


def both_sides(sides: Sequence[shape.Sides], change: Change) -> Change | None:
    """The same change on the side across, if it is made in a side at all."""
    for pair in sides:
        for mine, other in ((pair.other, pair.baseline), (pair.baseline, pair.other)):
            if change.edit.path[: len(mine)] == mine:
                path = (*other, *change.edit.path[len(mine) :])
                edit = Edit(change.edit.operation, path, change.edit.value, change.edit.along)
                return Change(edit, change.says, change.verb, change.field, change.size, change.role)
    return None
