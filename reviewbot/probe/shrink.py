"""Makes a witness small enough to read: fewer rows, about ten tokens, small numbers.

Delta debugging (Zeller and Hildebrandt, 2002) over rows and over spans of tokens, done on both sides at
once. A step is kept if the smaller arguments still pass unchanged, still pass with the edit, and the same
branch still lets it through.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from reviewbot.probe import shape
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Array, Path, Plain
from reviewbot.probe.session import Run, Session

HAND_SIZE = 10


@dataclass(frozen=True)
class Small:
    """The arguments and the edits that pass on them; how many runs it took to get there."""

    world: dict[str, Plain]
    edits: tuple[Edit, ...]
    calls: int


Keeps = Callable[[World, Sequence[Edit]], bool]


def shrink(
    session: Session,
    world: World,
    edited: Sequence[Edit],
    sides: Sequence[shape.Sides],
    *,
    same: Callable[[Run, Run], bool],
    until: float,
) -> Small:
    """The smallest like it. `same(base run, edited run)` says whether it is still the same story."""
    calls = 0

    def keeps(smaller: World, smaller_edits: Sequence[Edit]) -> bool:
        nonlocal calls
        if time.monotonic() > until or edits.apply(smaller, smaller_edits) is None:
            return False
        calls += 2
        number = session.add(smaller)
        base, run = session.judge(number, [[], list(smaller_edits)])
        return base is not None and run is not None and base.passes and run.passes and same(base, run)

    best: tuple[dict[str, Plain], tuple[Edit, ...]] = dict(world), tuple(edited)
    for step in (_fewer_rows, _fewer_tokens, _smaller_values):
        best = step(*best, sides, keeps)
    return Small(*best, calls)


# ---- rows -------------------------------------------------------------------------------------------------


def row_lists(world: World, sides: Sequence[shape.Sides]) -> list[Path]:
    """The lists of records on the sides, which lose the same rows together."""
    found = []
    for pair in sides:
        for root in (pair.baseline, pair.other):
            if shape.is_rows(plain.at(dict(world), root)):
                found.append(root)
    return found


def keep_rows(world: World, sides: Sequence[shape.Sides], kept: Sequence[int]) -> dict[str, Plain] | None:
    """The arguments with only these rows on every side, and what goes by row number or shared fields along.

    None where the sides are not lists of records of one length.
    """
    lists = row_lists(world, sides)
    lengths = {len(plain.at(dict(world), path)) for path in lists}
    if not lists or len(lengths) != 1:
        return None
    length = lengths.pop()
    roots = {path[0] for path in lists}
    rows = [plain.at(dict(world), lists[0])[index] for index in kept]
    smaller: dict[str, Plain] = dict(world)
    for path in lists:
        smaller = _put(smaller, path, [plain.at(smaller, path)[index] for index in kept])
    for name in world:
        if name not in roots:
            smaller[name] = _along(world[name], kept, length, rows)
    return smaller


def _along(value: Plain, kept: Sequence[int], length: int, rows: Sequence[Plain]) -> Plain:
    kind = type(value)
    if kind in (list, tuple) and len(value) == length:
        return kind(value[index] for index in kept)
    if kind is dict and value and all(type(key) is int and 0 <= key < length for key in value):
        return {place: value[index] for place, index in enumerate(kept) if index in value}
    if kind is list and shape.is_rows(value):
        number = shape.row_number(value, length)
        if not number:
            return [record for record in value if any(shape.agree(record, row) for row in rows)]
        mine = [record for record in value if shape.fields(record)[number] in kept]
        return [_numbered(record, number, kept) for record in mine]
    return value


def _numbered(record: Plain, name: str, kept: Sequence[int]) -> Plain:
    changed = edits.apply({"r": record}, [Edit("set", ("r", name), kept.index(shape.fields(record)[name]))])
    return changed["r"] if changed else record


def _put(world: World, path: Path, value: Plain) -> dict[str, Plain]:
    changed = edits.apply(world, [Edit("set", path, value)])
    return dict(world) if changed is None else changed


def _fewer_rows(
    world: dict[str, Plain], edited: tuple[Edit, ...], sides: Sequence[shape.Sides], keeps: Keeps
) -> tuple[dict[str, Plain], tuple[Edit, ...]]:
    lists = row_lists(world, sides)
    inside = next((path for path in lists if edited[0].path[: len(path)] == path), None)
    if inside is None:
        return world, edited
    count = len(plain.at(world, inside))
    depth = len(inside)
    own = {edit.path[depth] for edit in edited if len(edit.path) > depth}

    def only(kept: Sequence[int]) -> tuple[dict[str, Plain], tuple[Edit, ...]] | None:
        smaller = keep_rows(world, sides, kept)
        if smaller is None:
            return None
        moved = tuple(
            replace(e, path=(*e.path[:depth], kept.index(e.path[depth]), *e.path[depth + 1 :]))
            if len(e.path) > depth
            else e
            for e in edited
        )
        return (smaller, moved) if keeps(smaller, moved) else None

    # The edited rows alone come first: nine times of ten they are enough.
    found = only(sorted(own)) if own else None
    if found is not None or count <= 1:
        return found or (world, edited)
    left = list(range(count))
    size = max(count // 2, 1)
    best = (world, edited)
    while size:
        for start in range(0, len(left), size):
            kept = [index for index in left if index in own or index not in left[start : start + size]]
            if len(kept) < len(left) and kept and (smaller := only(kept)) is not None:
                best, left = smaller, kept
                break
        else:
            size //= 2
    return best


# ---- tokens -----------------------------------------------------------------------------------------------


def _fewer_tokens(
    world: dict[str, Plain], edited: tuple[Edit, ...], sides: Sequence[shape.Sides], keeps: Keeps
) -> tuple[dict[str, Plain], tuple[Edit, ...]]:
    """Spans of the edited row out of both sides, until it has hand size; every run keeps two where it had."""
    edit = edited[0]
    found = _row_of(world, edit, sides)
    if found is None or len(edited) > 1:
        return world, edited
    rows, field, place = found
    while True:
        row = plain.at(world, rows[0])
        together = shape.aligned(row)
        if field not in together:
            return world, (edit,)
        values = shape.numbers(shape.fields(row)[field]) or []
        if len(values) <= HAND_SIZE:
            return world, (edit,)
        for start, count in _spans(len(values), shape.mask_of(row), place):
            moved = place - count if place is not None and place >= start + count else place
            smaller = _cut(world, rows, together, start, count)
            new = replace(edit, path=_moved(edit.path, rows, moved))
            if keeps(smaller, (new,)):
                world, edit, place = smaller, new, moved
                break
        else:
            return world, (edit,)


def _row_of(
    world: World, edit: Edit, sides: Sequence[shape.Sides]
) -> tuple[list[Path], str, int | None] | None:
    """The row that an edit is in, on both sides; the edited field; the position in it."""
    for pair in sides:
        for mine, other in ((pair.other, pair.baseline), (pair.baseline, pair.other)):
            if edit.path[: len(mine)] != mine:
                continue
            for depth in range(len(mine), len(edit.path)):
                tail = edit.path[len(mine) : depth]
                try:
                    row = plain.at(dict(world), edit.path[:depth])
                    plain.at(dict(world), (*other, *tail))
                except LookupError:
                    break
                if shape.aligned(row) and edit.path[depth] in shape.fields(row):
                    position = edit.path[depth + 1] if len(edit.path) == depth + 2 else None
                    return [edit.path[:depth], (*other, *tail)], str(edit.path[depth]), position
    return None


def _spans(length: int, mask: Sequence[int] | None, place: int | None) -> Iterator[tuple[int, int]]:
    """(start, count) of what may go, the largest first; no run loses its last two, none the edited place."""
    runs = shape.stretches(mask) if mask and len(mask) == length else [(0, length, 0)]
    spare = []
    for start, end, _ in runs:
        least = min(2, end - start)
        size = min(end - start - least, length - HAND_SIZE)
        while size >= 1:
            for first in range(start, end - size + 1, max(size // 2, 1)):
                if place is None or not first <= place < first + size:
                    spare.append((-size, first))
            size //= 2
    return ((first, -size) for size, first in sorted(spare))


def _cut(
    world: World, rows: Sequence[Path], together: Sequence[str], start: int, count: int
) -> dict[str, Plain]:
    changed = dict(world)
    for row in rows:
        for field in together:
            values = plain.at(changed, (*row, field))
            if type(values) is Array:
                values = values.data
            shorter = [*values[:start], *values[start + count :]]
            changed = _set_list(changed, (*row, field), shorter)
        changed = _numbers_along(changed, row, start, count)
    return changed


def _set_list(world: World, path: Path, values: list[Plain]) -> dict[str, Plain]:
    old = plain.at(dict(world), path)
    if type(old) is Array:
        return _put(world, path, Array(old.kind, old.dtype, values, (len(values),)))
    return _put(world, path, tuple(values) if type(old) is tuple else values)


def _numbers_along(world: dict[str, Plain], row: Path, start: int, count: int) -> dict[str, Plain]:
    """A row's own start and length of a part, moved along with what was cut."""
    names = shape.fields(plain.at(world, row))
    for name in names:
        stem = name.removesuffix("_start")
        if name == stem or type(names[name]) is not int:
            continue
        length = next((n for n in (f"{stem}_tokens", f"{stem}_length", f"{stem}_len") if n in names), None)
        first = names[name]
        world = _put(world, (*row, name), first - max(0, min(first, start + count) - min(first, start)))
        if length and type(names[length]) is int:
            lost = max(0, min(first + names[length], start + count) - max(first, start))
            world = _put(world, (*row, length), names[length] - lost)
    return world


def _moved(path: Path, rows: Sequence[Path], place: int | None) -> Path:
    depth = len(rows[0])
    return path if place is None else (*path[: depth + 1], place)


# ---- values -----------------------------------------------------------------------------------------------


def _smaller_values(
    world: dict[str, Plain], edited: tuple[Edit, ...], sides: Sequence[shape.Sides], keeps: Keeps
) -> tuple[dict[str, Plain], tuple[Edit, ...]]:
    """Token ids from 10 on, if they are larger than a hand would write."""
    found = _row_of(world, edited[0], sides)
    if found is None:
        return world, edited
    names: dict[int, int] = {}
    changed = world
    for row in found[0]:
        for field, value in shape.fields(plain.at(world, row)).items():
            values = shape.numbers(value)
            if values and "token" in field and all(type(v) is int for v in values) and max(values) > 99:
                small = [names.setdefault(v, 10 + len(names)) for v in values]
                changed = _set_list(changed, (*row, field), small)
    if len(names) < 60 and not plain.same(changed, world) and keeps(changed, edited):
        return changed, edited
    return world, edited
