"""The changes that a person would think of: a token changed, a row lost, a NaN, a missing key."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reviewbot.probe import shape
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Array, Instance, Path, Plain

# real: a difference that matters. nudge: one that a tolerance may let through. far: one that hardly any
# would. nan: not a number, infinite.
# structure: something is gone, doubled or in another place. absent: a key is missing or None.
Size = Literal["real", "nudge", "far", "nan", "infinite", "structure", "absent"]
ODD = 77
FAR = 1e6
LONG_TEXT = 40  # characters; a longer text is a log or a report
MOST_NUMBERS = 24
MOST_ITEMS = 16
_NUMBER = re.compile(r"(?:(?P<name>[A-Za-z_]\w*)[=:] ?)?(?<![\w.])(?P<number>\d{1,15})(?![\w.])")
MOST = 4_000


@dataclass(frozen=True, slots=True)
class Change:
    """An edit and what a person calls it.

    `says`: "token 4 changed". `verb` and `field` name its family, free of where it happened: changes of one
    family that are caught in most places and pass in one are an excuse. `role`: the part of a row.
    `beside`: it is made beside the two sides, is no difference between them, and only shows what checks do.
    """

    edit: Edit
    says: str
    verb: str
    field: str
    size: Size
    role: str = ""
    beside: bool = False

    @property
    def family(self) -> tuple[str, str]:
        """What it shares with like changes elsewhere."""
        return (self.verb, self.field)


def changes(
    world: World, roots: Sequence[Path], *, marks: Sequence[object] = (), most: int = MOST
) -> list[Change]:
    """The changes of everything below `roots`, at most `most`, each applicable on its own.

    `marks`: what tells rows of one structure apart, one for each row; a row of each kind is changed.
    """
    out: list[Change] = []
    for root in roots:
        value = plain.at(dict(world), root)
        name = str(root[-1])
        rows = shape.is_rows(value)
        listed = _list(value, root, name, None, marks) if rows else _value(value, root, name, None)
        for change in listed:
            out.append(change)
            if len(out) >= most:
                return out
    return out


def of_row(row: Plain, path: Path) -> Iterator[Change]:
    """The changes of one row."""
    return _value(row, path, "", row)


def of_sides(
    world: World,
    pairs: Sequence[shape.Sides],
    kinds: Sequence[int] = (),
    *,
    inputs: Collection[str] = (),
    most: int = MOST,
) -> list[Change]:
    """The changes of the sides, the other one first, then of what stands beside; without sides of all.

    `kinds`: a number for each row; rows of one number are treated alike by the check, as far as was seen.
    `inputs`: arguments that are no side, as they are only handed on to the code under test.
    """
    if not pairs:
        all_of_it = changes(world, [(name,) for name in world], most=most)
        holds_data = any(plain.items(value) for value in world.values())
        settings = {name for name, value in world.items() if holds_data and type(value) in (int, float, bool)}
        aside = {*settings, *inputs}
        return [replace(one, beside=_is_part(one.edit.path, aside)) for one in all_of_it]
    roots = [pair.other for pair in pairs] + [pair.baseline for pair in pairs]
    parts = [plain.at(dict(world), root) for root in roots]
    rows: Sequence[Plain] = next((part for part in parts if shape.is_rows(part)), ())
    spoken_of = shape.spoken_of(world, pairs, rows)
    marks = [
        (index in spoken_of, kinds[index] if len(kinds) == len(rows) else 0) for index in range(len(rows))
    ]
    out = changes(world, roots, marks=marks, most=most)
    for root, part in zip(roots, parts, strict=True):
        if part is not None and len(out) < most:
            edit = Edit("set", root, None)
            out.append(Change(edit, f"{root[-1]} is None", "None", str(root[-1]), "absent"))
    taken = {root[0] for root in roots}
    besides = [(name,) for name in world if name not in taken]
    return out + [replace(one, beside=True) for one in changes(world, besides, most=most - len(out))]


def _is_part(path: Path, names: Collection[str]) -> bool:
    """Whether a place is in one of these arguments, or in one of their attributes as in `self.rows`."""
    return path[0] in names or (len(path) > 1 and f"{path[0]}.{path[1]}" in names)


def _value(value: Plain, path: Path, name: str, row: Plain) -> Iterator[Change]:
    kind = type(value)
    if kind is Array:
        yield from _array(value, path, name, row)
    elif kind in (list, tuple):
        yield from _list(value, path, name, row)
    elif kind is dict and not shape.is_record(value):
        yield from _table(value, path, name)
    elif kind is dict or kind is Instance:
        yield from _record(value, path, name)
    elif kind in (set, frozenset):
        if value:
            yield Change(Edit("empty", path), f"{name} emptied", "emptied", name, "structure")
    else:
        yield from _scalar(value, path, name, name)


# ---- rows and tables --------------------------------------------------------------------------------------


def _list(value: Plain, path: Path, name: str, row: Plain, marks: Sequence[object] = ()) -> Iterator[Change]:
    if type(value) is tuple and not shape.is_rows(value):
        # Several things that a function returns are not one list.
        for index, part in enumerate(value[:MOST_ITEMS]):
            yield from _value(part, (*path, index), f"{name}[{index}]", row)
        return
    flat = shape.numbers(value)
    if flat is not None and (flat or type(value) is list):
        yield from _flat(flat, path, name, row, bare=True)
        return
    if not value:
        return
    word = "row" if shape.is_rows(value) else "item"
    field = name if word == "item" else ""
    yield from _whole(len(value), path, word, field)
    marks = marks if len(marks) == len(value) else ()
    few = shape.ends(len(value))
    chosen = shape.representatives(value, marks) if word == "row" else few
    for index in chosen:
        yield Change(Edit("remove", (*path, index)), f"{word} dropped", "dropped", word, "structure")
        yield Change(Edit("double", (*path, index)), f"{word} doubled", "doubled", word, "structure")
        if index + 1 < len(value) and not plain.same(value[index], value[index + 1]):
            yield Change(Edit("swap", (*path, index)), f"{word}s swapped", "swapped", word, "structure")
    label = name if word == "item" else ""
    for index in chosen:
        yield from _value(value[index], (*path, index), label, row)
    # What is no number passes or not by where it stands: max() keeps one that comes first and drops others.
    for index in few:
        if index not in chosen:
            listed = _value(value[index], (*path, index), label, row)
            yield from (change for change in listed if change.size == "nan")


def _whole(length: int, path: Path, word: str, field: str) -> Iterator[Change]:
    yield Change(Edit("empty", path), f"all {word}s dropped", "emptied", field or word, "structure")
    if length > 1:
        # The last one lost is what truncation to the shorter side hides.
        edit = Edit("remove", (*path, length - 1))
        yield Change(edit, f"last {word} dropped", "dropped", word, "structure")


def _table(value: dict[Plain, Plain], path: Path, name: str) -> Iterator[Change]:
    if not value:
        return
    yield Change(Edit("empty", path), f"{name} emptied", "emptied", name, "structure")
    keys = list(value)
    for key in dict.fromkeys((keys[0], keys[len(keys) // 2], keys[-1])):
        says = f"{name}[{key!r}] missing"
        yield Change(Edit("remove", (*path, key)), says, "missing", name, "structure")
        yield from _value(value[key], (*path, key), f"{name}[{key!r}]", None)


def _record(value: Plain, path: Path, name: str) -> Iterator[Change]:
    together = shape.aligned(value)
    mask = shape.mask_of(value)
    if together:
        yield from _positions_of_row(value, path, together, mask)
    for field, part in shape.fields(value).items():
        if type(value) is dict:
            edit = Edit("remove", (*path, field))
            yield Change(edit, f"{field} missing", "missing", field, "absent")
        if part is not None:
            none = Edit("set", (*path, field), None)
            yield Change(none, f"{field} is None", "None", field, "absent")
        yield from _value(part, (*path, field), field, value)


def _positions_of_row(
    row: Plain, path: Path, together: tuple[str, ...], mask: list[int] | None
) -> Iterator[Change]:
    """A position of a row dropped or doubled in every field that runs along."""
    first = next((name for name in together if _word(name, [])), together[0])
    values = shape.numbers(shape.fields(row)[first]) or []
    along = tuple(name for name in together if name != first)
    word = _word(first, values) or "position"
    for index in shape.positions(len(values), mask):
        role = shape.role(mask, index) if mask and len(mask) == len(values) else ""
        for operation, verb in (("remove", "dropped"), ("double", "doubled")):
            edit = Edit(operation, (*path, first, index), None, along)  # type: ignore[arg-type]
            yield Change(edit, f"{word} {index} {verb}", verb, first, "structure", role)
    if len(values) > 1:
        edit = Edit("cut", (*path, first), len(values) - 1, along)
        yield Change(edit, f"row cut by one {word}", "cut", first, "structure")


# ---- lists of numbers -------------------------------------------------------------------------------------


def _word(name: str, values: Sequence[Plain]) -> str:
    lowered = name.lower()
    if shape.is_mask(name, values) or "mask" in lowered or "logprob" in lowered or "log_prob" in lowered:
        return ""
    return "token" if "token" in lowered or "input_ids" in lowered or "_ids" in lowered else ""


def _flat(values: list[Plain], path: Path, name: str, row: Plain, *, bare: bool) -> Iterator[Change]:
    mask = shape.mask_of(row) if row is not None else None
    if mask is not None and len(mask) != len(values):
        mask = None
    for index in shape.positions(len(values), mask):
        role = shape.role(mask, index) if mask else ""
        for change in _scalar(values[index], (*path, index), name, _item_name(name, values, index)):
            yield Change(change.edit, change.says, change.verb, name, change.size, role)
        if index + 1 < len(values) and not plain.same(values[index], values[index + 1]):
            says = f"{_item_name(name, values, index)} swapped with the next"
            yield Change(Edit("swap", (*path, index)), says, "swapped", name, "structure", role)
    if not bare or not values:
        return
    if len(values) > 1:
        longer = Edit("double", (*path, len(values) - 1))
        yield Change(longer, f"{name} longer by one", "lengthened", name, "structure")
        cut = Edit("cut", path, len(values) - 1)
        yield Change(cut, f"{name} shorter by one", "shortened", name, "structure")
        if shape.is_mask(name, values):
            for step in (1, -1):
                yield Change(
                    Edit("shift", path, step), f"{name} shifted by {step}", "shifted", name, "structure"
                )
            for value in (0, 1):
                whole = [type(values[0])(value)] * len(values)
                yield Change(Edit("set", path, whole), f"{name} all {value}", "set whole", name, "real")
    yield Change(Edit("empty", path), f"{name} emptied", "emptied", name, "structure")


def _item_name(name: str, values: Sequence[Plain], index: int) -> str:
    word = _word(name, values)
    return f"{word} {index}" if word else f"{name}[{index}]"


def _array(value: Array, path: Path, name: str, row: Plain) -> Iterator[Change]:
    if type(value.data) is not list:
        yield from _scalar(value.data, path, name, name, wrap=value)
        return
    if len(value.shape) == 1:
        yield from _flat(list(value.data), path, name, row, bare=True)
        return
    length = len(value.data)
    if length:
        yield Change(
            Edit("remove", (*path, length - 1)), f"last row of {name} dropped", "dropped", name, "structure"
        )
    for index in sorted({0, length - 1} - {-1}):
        yield from _nested(value.data[index], (*path, index), name, _row_of(row, index))


def _row_of(record: Plain, index: int) -> Plain:
    """The fields of one sample of a batch of tensors, so that its mask tells the roles."""
    found = {}
    for name, value in shape.fields(record).items():
        if type(value) is Array and len(value.shape) >= 2 and index < len(value.data):
            found[name] = value.data[index]
    return found


def _nested(value: Plain, path: Path, name: str, row: Plain) -> Iterator[Change]:
    flat = shape.numbers(value)
    if flat is not None:
        yield from _flat(flat, path, name, row, bare=False)
        return
    for index in sorted({0, len(value) // 2, len(value) - 1}):
        yield from _nested(value[index], (*path, index), name, None)


# A changed value, its verb, what it says, its size.
Changer = Callable[[Plain, str, str, Size], Change]

# ---- scalars ----------------------------------------------------------------------------------------------


def _scalar(value: Plain, path: Path, name: str, label: str, wrap: Array | None = None) -> Iterator[Change]:
    def change(new: Plain, verb: str, says: str, size: Size) -> Change:
        whole = new if wrap is None else Array(wrap.kind, wrap.dtype, new, wrap.shape)
        return Change(Edit("set", path, whole), f"{label} {says}", verb, name, size)

    if type(value) is bool:
        yield change(not value, "flipped", "flipped", "real")
    elif type(value) is int:
        yield from _integer(value, name, label, change)
    elif type(value) is float:
        yield from _float(value, name, label, change)
    elif type(value) is str and len(value) > LONG_TEXT:
        yield from _text(value, change)
    elif type(value) is str:
        last = "0" if not value.endswith("0") else "1"
        yield change(value[:-1] + last, "changed", "changed", "real")
        if value:
            yield change("", "emptied", "emptied", "real")
            yield from _respelled(value, change)
    elif type(value) is bytes:
        yield change(value[:-1] + (b"1" if value.endswith(b"0") else b"0"), "changed", "changed", "real")


def _respelled(value: str, change: Changer) -> Iterator[Change]:
    """A short text with another number in it; in another case, and with a space, which may be let through."""
    found = re.search(r"\d{1,15}", value)
    if found and value[-1:] not in found[0]:
        number = str(int(found[0]) + 1)
        text = value[: found.start()] + number + value[found.end() :]
        yield change(text, "changed", f"with {found[0]} become {number}", "real")
    if value.swapcase() != value:
        yield change(value.swapcase(), "in another case", "in another case", "nudge")
    yield change(value + " ", "with a space", "with a space at its end", "nudge")


def _text(value: str, change: Changer) -> Iterator[Change]:
    """A log or report: its numbers changed, its lines lost, doubled and swapped."""
    for found in itertools.islice(_NUMBER.finditer(value), MOST_NUMBERS):
        name, number = found["name"] or "a number", int(found["number"])
        for new in dict.fromkeys((number + 1, max(number - 1, 0), 0)):
            if new != number:
                text = value[: found.start("number")] + str(new) + value[found.end("number") :]
                yield change(text, "changed", f"with {name} {number} become {new}", "real")
    lines = value.splitlines(keepends=True)
    for index in sorted({0, len(lines) // 2, len(lines) - 1}):
        without = [*lines[:index], *lines[index + 1 :]]
        yield change("".join(without), "line dropped", f"without line {index + 1}", "structure")
        doubled = [*lines[: index + 1], *lines[index:]]
        yield change("".join(doubled), "line doubled", f"with line {index + 1} doubled", "structure")
    yield change("", "emptied", "emptied", "structure")


def _integer(value: int, name: str, label: str, change: Changer) -> Iterator[Change]:
    if "mask" in name.lower() and value in (0, 1):
        yield change(1 - value, "flipped", "flipped", "real")
        return
    if label.startswith("token "):
        yield change(ODD if value != ODD else ODD + 1, "changed", "changed", "real")
        return
    yield change(value + 1, "changed", "changed", "real")
    for bound in dict.fromkeys((0, -1, 1, value - 1)):
        if bound not in (value, value + 1):
            yield change(bound, "changed", "changed", "real")


def _float(value: float, name: str, label: str, change: Changer) -> Iterator[Change]:
    if "mask" in name.lower() and value in (0.0, 1.0):
        yield change(1.0 - value, "flipped", "flipped", "real")
        return
    far = value + 1.0 if math.isfinite(value) else 0.0
    yield change(far, "changed", "changed", "real")
    if value in (0.0, 1.0):
        yield change(1.0 - value, "changed", "changed", "real")
    if math.isfinite(value):
        yield change(value + FAR, "far off", "far off", "far")
        for step in (1e-6, 1e-2):
            yield change(value + step, f"nudged by {step:g}", f"nudged by {step:g}", "nudge")
        yield change(math.nan, "NaN", "is NaN", "nan")
        yield change(math.inf, "infinite", "is infinite", "infinite")
