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

# Rows that share a left side and so could have disagreed; fewer say nothing.
LEAST_SUPPORT = 2
MOST_ROWS = 2_000
MOST_FIELDS = 24
MOST_QUESTIONS = 20


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
    out = []
    for name, values in columns.items():
        keys = {_canon(value) for value in values}
        if len(keys) == 1:
            out.append(
                f"{name} is {_short(values[0])} in all {len(values)} rows: "
                "is comparing it meant to notice anything here?"
            )
            continue
        lists = [shape.numbers(value) for value in values]
        parts = {_canon(part) for listed in lists if listed for part in listed}
        if all(listed is not None for listed in lists) and len(parts) == 1:
            first = next(part for listed in lists if listed for part in listed)
            out.append(
                f"every item of {name} is {_short(first)} in all {len(values)} rows: "
                "is comparing it meant to notice anything here?"
            )
    return out


def _sums(columns: dict[str, list[Plain]], asked: Sequence[str]) -> list[str]:
    """Which number is the sum of two others, or a list's length: of numbers one of which is asked about."""
    series: dict[str, list[float]] = {}
    for name, values in columns.items():
        if all(type(value) in (int, float) and math.isfinite(value) for value in values):
            series[name] = list(values)
        elif all(type(value) is list for value in values):
            series[_length(name)] = [float(len(value)) for value in values]
    varied = {name: values for name, values in series.items() if len(set(values)) > 1}
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
    """Fields asked about that follow from one or two others, with the number of rows that could have said
    otherwise."""
    keys = {name: [_canon(_reduced(value)) for value in values] for name, values in columns.items()}
    count = len(next(iter(keys.values()), []))
    varied = {name: values for name, values in keys.items() if 1 < len(set(values)) < count}
    right = {name: keys[name] for name in asked if len(set(keys[name])) > 1}
    found: list[tuple[int, tuple[str, ...], str]] = []
    for size in (1, 2):
        for left in itertools.combinations(varied, size):
            groups = list(zip(*(varied[name] for name in left), strict=True))
            support = sum(times for times in Counter(groups).values() if times > 1)
            if support < LEAST_SUPPORT:
                continue
            for name, values in right.items():
                known = any(set(other) <= set(left) and n == name for _, other, n in found)
                follows = len(set(zip(groups, values, strict=True))) == len(set(groups))
                if follows and not known and name not in left:
                    found.append((support, left, name))
    found.sort(key=lambda one: (-one[0], len(one[1])))
    found = list(_said_once(found))
    return [
        f"{name} follows from {' and '.join(left)} ({support} of {count} rows could have said otherwise): "
        "which line computes it, and what does a comparison of it add?"
        for support, left, name in found[:6]
    ]


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
