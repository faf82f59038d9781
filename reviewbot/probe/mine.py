"""What inputs say about their own fields: constants, sums, fields that follow from others.

All of it is a question with the line to look at, never a verdict: on a healthy pair of runs every field is
equal on both sides, which is exactly what the live checks verify.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from reviewbot.probe import shape
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import World
from reviewbot.probe.inside.plain import Plain

# Rows that share a left side and so could have disagreed: fewer, or a smaller part of all, say nothing.
LEAST_SUPPORT = 3
LEAST_SHARE = 0.5
LEAST_VALUES = 3  # different numbers of a field, before a sum that holds for all is no chance
MOST_ROWS = 2_000
MOST_FIELDS = 24
MOST_QUESTIONS = 20
MOST_FOLLOWING = 3


def questions(
    world: World, sides: Sequence[shape.Sides], never_compared: Collection[str] = ()
) -> tuple[str, ...]:
    """Questions about every list of records in the arguments that has at least three, but for fields of which
    nothing is compared."""
    found: list[str] = []
    seen: set[str] = set()
    for path, part in shape.walk(dict(world)):
        if path and shape.is_rows(part) and len(part) >= 3 and len(path) <= 3:
            name = str(path[-1]) if type(path[-1]) is str else str(path[0])
            for says in about(list(part)[:MOST_ROWS], never_compared):
                if says not in seen:
                    seen.add(says)
                    found.append(f"{name}: {says}")
    return tuple(found[:MOST_QUESTIONS])


def about(rows: Sequence[Plain], never_compared: Collection[str] = ()) -> list[str]:
    """Questions about one list of records."""
    records = [shape.fields(row) for row in rows]
    names = [name for name in records[0] if all(name in record for record in records)][:MOST_FIELDS]
    columns = {name: [record[name] for record in records] for name in names}
    asked = [name for name in names if name not in never_compared]
    out = _constants({name: columns[name] for name in asked})
    out += _sums(columns, asked)
    out += _dependencies(columns, asked)
    return out


def _constants(columns: dict[str, list[Plain]]) -> list[str]:
    """One question about all fields that are the same in every row."""
    said = []
    for name, values in columns.items():
        if len({_canon(value) for value in values}) == 1:
            said.append(f"{name} is {_short(values[0])}")
            continue
        lists = [shape.numbers(value) for value in values]
        parts = {_canon(part) for listed in lists if listed for part in listed}
        if all(listed is not None for listed in lists) and len(parts) == 1:
            first = next(part for listed in lists if listed for part in listed)
            said.append(f"every item of {name} is {_short(first)}")
    if not said:
        return []
    count = len(next(iter(columns.values())))
    them = "it" if len(said) == 1 else "them"
    return [f"{_and(said)} in all {count} rows: is comparing {them} meant to notice anything here?"]


def _sums(columns: dict[str, list[Plain]], asked: Sequence[str]) -> list[str]:
    """Which number is the sum of two others, or a list's length: of numbers one of which is asked about."""
    series: dict[str, list[float]] = {}
    for name, values in columns.items():
        if all(type(value) in (int, float) and math.isfinite(value) for value in values):
            series[name] = list(values)
        elif all(type(value) is list for value in values):
            series[_length(name)] = [float(len(value)) for value in values]
    varied = {name: values for name, values in series.items() if len(set(values)) >= LEAST_VALUES}
    known = {*asked, *map(_length, asked)}
    out = []
    for (a, left), (b, right) in itertools.combinations(varied.items(), 2):
        if a.startswith("len(") and b.startswith("len("):
            continue
        if left == right and known & {a, b}:
            out.append(f"{a} == {b} in every row: which line computes one from the other?")
        total = [x + y for x, y in zip(left, right, strict=True)]
        for c, values in varied.items():
            if c not in (a, b) and values == total and known & {a, b, c}:
                out.append(f"{c} == {a} + {b} in every row: which line computes it?")
    return out


def _length(name: str) -> str:
    return f"len({name})"


def _dependencies(columns: dict[str, list[Plain]], asked: Sequence[str]) -> list[str]:
    """Fields asked about that follow from one or two others that are compared, too, with the number of rows
    that could have said otherwise; those that follow from the same ones in one question."""
    keys = {name: [_canon(_reduced(value)) for value in values] for name, values in columns.items()}
    count = len(next(iter(keys.values()), []))
    left_of = [name for name in asked if not any(map(_measured, columns[name]))]
    varied = {name: keys[name] for name in left_of if 1 < len(set(keys[name])) < count}
    right = {name: keys[name] for name in asked if len(set(keys[name])) > 1}
    found: list[tuple[int, tuple[str, ...], str]] = []
    for size in (1, 2):
        for left in itertools.combinations(varied, size):
            groups = list(zip(*(varied[name] for name in left), strict=True))
            support = sum(times for times in Counter(groups).values() if times > 1)
            if support < max(LEAST_SUPPORT, LEAST_SHARE * count):
                continue
            for name, values in right.items():
                known = any(set(other) <= set(left) and n == name for _, other, n in found)
                follows = len(set(zip(groups, values, strict=True))) == len(set(groups))
                if follows and not known and name not in left:
                    found.append((support, left, name))
    found.sort(key=lambda one: (-one[0], len(one[1])))
    following: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for support, left, name in _said_once(found):
        following.setdefault((support, left), []).append(name)
    return [
        _follows(names, left, f"{support} of {count}")
        for (support, left), names in list(following.items())[:MOST_FOLLOWING]
    ]


def _follows(names: Sequence[str], left: Sequence[str], rows: str) -> str:
    verb, them = ("follows", "it") if len(names) == 1 else ("follow", "them")
    return (
        f"{_and(names)} {verb} from {_and(left)} ({rows} rows could have said otherwise): "
        f"which line computes {them}, and what does a comparison of {them} add?"
    )


def _measured(value: Plain) -> bool:
    """Whether a value is a number with a fraction, or holds one: such numbers are computed, and what is equal
    in the rows that share one follows from what they were computed from."""
    parts = shape.numbers(value) or [value]
    return any(type(part) is float and not part.is_integer() for part in parts)


def _and(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _said_once(
    found: Sequence[tuple[int, tuple[str, ...], str]],
) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Those that say more than others before: not a pair the other way round, nor two fields that both follow
    from a third one."""
    said: set[tuple[str, str]] = set()
    for one in found:
        _, left, name = one
        pair = (left[0], name)
        if len(left) == 1:
            third = any((of, left[0]) in said and (of, name) in said for of, _ in said)
            if third or pair[::-1] in said:
                continue
            said.add(pair)
        yield one


def _reduced(value: Plain) -> Plain:
    """A list of floats by its first that is not zero: near-unique lists would hide what they follow."""
    listed = shape.numbers(value)
    if listed is None or not any(type(part) is float for part in listed):
        return value
    return next((part for part in listed if part), 0.0)


def _canon(value: Plain) -> str:
    return json.dumps(plain.encode(value), sort_keys=True)


def _short(value: Plain) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
