"""What arguments look like: which two are the sides of a comparison, which lists of a row run side by side,
which part of a row a position lies in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import World
from reviewbot.probe.inside.plain import RECORDS, SCALARS, Array, Instance, Path, Plain

_BASELINE = re.compile(
    r"(^|_)(ref(erence)?s?|base(line)?s?|expected|exp|gold(en)?|truth|want(ed)?|uninterrupted|original|orig|"
    r"before|left|lhs|old|a|x|first|eager|target|y_true|hf|torch)(_|$|\d)"
)
_CONTAINERS = (list, tuple, dict, set, frozenset, Array, Instance)


@dataclass(frozen=True, slots=True)
class Sides:
    """Two parts of the arguments that a check compares. Edits are made on `other` first."""

    baseline: Path
    other: Path


def sides(world: World) -> tuple[Sides, ...]:
    """The pairs of arguments that hold the same kind of data; else the pairs inside a lone argument."""
    pairs = _pairs({(name,): value for name, value in world.items()})
    if pairs:
        return pairs
    for name, value in world.items():
        inner = {(name, key): part for key, part in plain.items(value)}
        if type(value) in (dict, Instance, tuple) and len(inner) == 2 and (found := _pairs(inner)):
            return found
    return ()


def _pairs(parts: Mapping[Path, Plain]) -> tuple[Sides, ...]:
    left = [(path, value) for path, value in parts.items() if type(value) in _CONTAINERS]
    if len(left) < 2:
        # Two bare numbers or texts are sides if nothing richer is there.
        left = left or [(path, value) for path, value in parts.items() if type(value) in (int, float, str)]
    found = []
    while left:
        path, value = left.pop(0)
        partner = _partner(path, value, left)
        if partner is None:
            continue
        left = [one for one in left if one[0] != partner]
        swapped = is_baseline(str(partner[-1])) and not is_baseline(str(path[-1]))
        found.append(Sides(partner, path) if swapped else Sides(path, partner))
    return tuple(found)


def _partner(path: Path, value: Plain, others: Sequence[tuple[Path, Plain]]) -> Path | None:
    alike = [other for other, part in others if similar(value, part)]
    if not alike:
        return None
    words = set(re.split(r"_|(?<=[a-z])(?=[A-Z])", str(path[-1])))
    return max(alike, key=lambda other: len(words & set(str(other[-1]).split("_"))))


def is_baseline(name: str) -> bool:
    """Whether a name is one that the trusted side of a comparison has."""
    return bool(_BASELINE.search(name.lower()))


def similar(left: Plain, right: Plain, depth: int = 3) -> bool:
    """Whether two values are the same kind of data down to `depth`; an empty list is like any list."""
    if type(left) in (int, float) and type(right) in (int, float):
        return True
    if type(left) is not type(right):
        return False
    if type(left) is Instance:
        return bool(left.cls == right.cls)
    if type(left) is Array:
        return bool(left.kind == right.kind and len(left.shape) == len(right.shape))
    if depth == 0 or not left or not right:
        return True
    if type(left) is dict:
        shared = left.keys() & right.keys()
        if not shared:
            return False
        return 2 * len(shared) >= max(len(left), len(right)) and all(
            similar(left[key], right[key], depth - 1) or left[key] is None or right[key] is None
            for key in shared
        )
    if type(left) in (list, tuple):
        return similar(left[0], right[0], depth - 1)
    return True


# ---- rows -------------------------------------------------------------------------------------------------


def fields(value: Plain) -> dict[str, Plain]:
    """The fields of a record: a dict whose keys are all text, or an object; nothing for anything else."""
    if type(value) is Instance and value.how in RECORDS:
        return value.fields
    if type(value) is dict and value and all(type(key) is str for key in value):
        return value
    return {}


def is_record(value: Plain) -> bool:
    """Whether it has named fields of more than one kind, as against a table from names to like things."""
    if type(value) is Instance:
        return value.how in RECORDS
    found = fields(value)
    if not found:
        return False
    kinds = {type(item) for item in found.values()}
    lengths = {len(item) for item in found.values() if type(item) is list}
    if len(kinds) == 1 and kinds <= {dict, Instance}:
        return False
    return len(kinds) > 1 or len(lengths) <= 1


def is_rows(value: Plain) -> bool:
    """Whether it is a list of records."""
    return type(value) in (list, tuple) and bool(value) and all(fields(item) for item in value)


def numbers(value: Plain) -> list[Plain] | None:
    """The list of scalars behind a list, tuple or one-dimensional tensor; None for anything else."""
    if type(value) is Array:
        value = value.data
    if type(value) not in (list, tuple) or not SCALARS.issuperset(map(type, value)):
        return None
    return list(value)


def aligned(record: Plain) -> tuple[str, ...]:
    """The fields of a record that are lists of one length, where at least two are."""
    lengths: dict[int, list[str]] = {}
    for name, value in fields(record).items():
        found = numbers(value)
        if found:
            lengths.setdefault(len(found), []).append(name)
    longest = max(lengths.values(), key=len, default=[])
    return tuple(longest) if len(longest) > 1 else ()


def is_mask(name: str, values: Sequence[Plain]) -> bool:
    """Whether a list says for each position whether it counts."""
    return bool(values) and all(value in (0, 1) for value in values) and "mask" in name.lower()


def mask_of(record: Plain) -> list[int] | None:
    """The values of a record's mask: the one of trained tokens where there are several."""
    found = {}
    for name, value in fields(record).items():
        values = numbers(value)
        if values is not None and is_mask(name, values):
            found[name] = [int(part) for part in values]
    for name in found:
        if re.search(r"loss|train|response|token|action|label|assistant", name.lower()):
            return found[name]
    return next(iter(found.values()), None)


def stretches(mask: Sequence[int]) -> list[tuple[int, int, int]]:
    """[start, end) and value of each run of equal values."""
    out: list[tuple[int, int, int]] = []
    for index, value in enumerate(mask):
        if out and out[-1][2] == value:
            out[-1] = (out[-1][0], index + 1, value)
        else:
            out.append((index, index + 1, value))
    return out


def role(mask: Sequence[int], position: int) -> str:
    """prompt, trained turn N, tool result (between trained turns), or tail."""
    found = stretches(mask)
    for number, (start, end, value) in enumerate(found):
        if start <= position < end:
            if value:
                return f"trained turn {sum(1 for _, _, one in found[: number + 1] if one)}"
            if number == 0:
                return "prompt"
            return "tool result" if number < len(found) - 1 else "tail"
    return ""


def positions(length: int, mask: Sequence[int] | None, few: int = 16) -> list[int]:
    """Where to edit a list: everywhere if it is short, else the first, middle and last of each run."""
    if length <= few:
        return list(range(length))
    if mask is not None and len(mask) == length:
        return sorted({p for a, b, _ in stretches(mask) for p in (a, (a + b - 1) // 2, b - 1)})
    return sorted({0, 1, length // 2, length - 2, length - 1})


def ends(length: int) -> list[int]:
    """The first, a middle and the last place of a list that is not empty."""
    return sorted({0, length // 2, length - 1})


def structure(row: Plain) -> tuple[object, ...]:
    """What makes a row one of a kind: its runs, its fields, which of them are empty or missing."""
    mask = mask_of(row)
    runs = tuple(value for _, _, value in stretches(mask)) if mask else ()
    present = tuple(
        sorted((name, value is None, value in ([], {}, "")) for name, value in fields(row).items())
    )
    return (type(row).__name__, runs, present)


def representatives(rows: Sequence[Plain], marks: Sequence[object] = ()) -> list[int]:
    """One index for each structure (and mark): the shortest row of it.

    And for each kind that a field names, as a flag does, a row of that kind: a branch may treat it apart.
    """
    best: dict[object, tuple[int, int]] = {}
    for index, row in enumerate(rows):
        key = (structure(row), marks[index] if marks else None)
        size = sum(len(value) for value in fields(row).values() if type(value) is list)
        if key not in best or size < best[key][0]:
            best[key] = (size, index)
    chosen = {index for _, index in best.values()}
    for kinds in _kinds(rows):
        for value in dict.fromkeys(kinds):
            if not any(kinds[index] == value for index in chosen):
                chosen.add(kinds.index(value))
    return sorted(chosen)


MOST_KINDS = 4


def _kinds(rows: Sequence[Plain]) -> Iterator[list[tuple[str, Plain]]]:
    """The values of each field that names a kind: flags; texts and whole numbers of which few come often."""
    records = [fields(row) for row in rows]
    for name in records[0] if records else ():
        values = [record.get(name) for record in records]
        different = {(type(value).__name__, value) for value in values if type(value) in _NAMING}
        flags = all(type(value) is bool for value in values)
        few = 1 < len(different) <= MOST_KINDS and 2 * len(different) <= len(values)
        if all(type(value) in _NAMING for value in values) and (flags or few):
            yield [(type(value).__name__, value) for value in values]


_NAMING = (bool, str, int, type(None))
_ROW_NUMBER = re.compile(r"(^|_)(row|index|idx|position|sample)(_?(index|idx|number|id))?$")


def row_number(records: Sequence[Plain], length: int) -> str:
    """The field of records that holds a row's number in a list of that length, "" if none does."""
    names = fields(records[0]) if records else {}
    for name in names:
        values = [fields(record).get(name) for record in records]
        if _ROW_NUMBER.search(name.lower()) and all(type(v) is int and 0 <= v < length for v in values):
            return name
    return ""


def agree(record: Plain, row: Plain) -> bool:
    """Whether a record is of a row: they share whole numbers or texts by name, and none differs."""
    left, right = fields(record), fields(row)
    shared = [name for name in left.keys() & right.keys() if type(left[name]) in (int, str)]
    return bool(shared) and all(left[name] == right[name] for name in shared)


def spoken_of(world: World, pairs: Sequence[Sides], rows: Sequence[Plain]) -> set[int]:
    """The numbers of the rows that the arguments beside the two sides speak of."""
    roots = {path[0] for pair in pairs for path in (pair.baseline, pair.other)}
    found: set[int] = set()
    for name, value in world.items():
        if name in roots:
            continue
        if type(value) is dict and value and all(type(k) is int and 0 <= k < len(rows) for k in value):
            found |= set(value)
        elif type(value) in (list, tuple) and is_rows(value):
            number = row_number(value, len(rows))
            if number:
                found |= {fields(record)[number] for record in value}
            else:
                found |= {i for i, row in enumerate(rows) if any(agree(record, row) for record in value)}
    return found


def walk(value: Plain, path: Path = ()) -> Iterator[tuple[Path, Plain]]:
    """Every part of a value with its path, outermost first."""
    yield path, value
    for key, part in plain.items(value):
        yield from walk(part, (*path, key))


def where(path: Path, world: World) -> str:
    """A path as a person writes it: `restored_rows[0].token_ids[4]`."""
    text = str(path[0])
    value = world.get(path[0])
    for key in path[1:]:
        name = type(key) is str and key.isidentifier()
        text += f".{key}" if name else f"[{key!r}]"
        try:
            value = plain.at(value, (key,))
        except (LookupError, TypeError):
            value = None
    return text
