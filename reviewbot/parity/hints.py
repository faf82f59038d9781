"""What most likely lies behind rows that do not meet: another folder, another format, other steps or names.

A wrong folder makes a failure of every row. One sentence that says so is worth more than all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewbot.parity.dumps.dump import Dump
from reviewbot.parity.dumps.format import step_of
from reviewbot.parity.rows import Identity

SHOWN = 40  # characters of a prompt's name


@dataclass
class Meetings:
    """How many rows of each step met, and how many one side has alone."""

    met: Counter[int] = field(default_factory=Counter)
    alone: tuple[Counter[int], Counter[int]] = field(default_factory=lambda: (Counter(), Counter()))


def found(
    dumps: tuple[Dump, Dump],
    sides: tuple[str, str],
    meetings: Meetings,
    alone: tuple[Sequence[Identity], Sequence[Identity]],
    repeated: bool,
    different: int,
) -> Iterator[str]:
    """Hints, the most telling first. `alone` are rows of either side alone, not all of them if many.

    `different` counts the rows whose tokens or text differ.
    """
    for dump, side in zip(dumps, sides, strict=True):
        if not dump.read:
            yield f"the {side} run has no rows: no whole one is in {_named(dump.files)}"
            return
    if any(meetings.alone):
        one, other = (dump.format.name for dump in dumps)
        if one != other:
            yield f"the {sides[0]} run was read in the format {one}, the {sides[1]} run in {other}"
        yield from _steps(sides, meetings)
        yield from _names(sides, meetings, alone)
    if repeated or any(meetings.alone):
        for dump, side in zip(dumps, sides, strict=True):
            yield from _twice(dump, side, repeated)
    if different + sum(map(Counter.total, meetings.alone)) > 1:
        yield from _by_place(dumps)


def _steps(sides: tuple[str, str], meetings: Meetings) -> Iterator[str]:
    ours, theirs = ({*side, *meetings.met} for side in meetings.alone)
    if not ours & theirs:
        yield (
            f"no step is in both runs: the {sides[0]} run has {_ranges(ours)}, the {sides[1]} run "
            f"{_ranges(theirs)}; a row's step is in its column, or in the name of its file"
        )
        return
    for side, counted, only in zip(sides, meetings.alone, (ours - theirs, theirs - ours), strict=True):
        if only:
            rows = sum(counted[step] for step in only)
            counted_rows = f"{rows} row{'s' * (rows != 1)}"
            yield f"{_ranges(only)}, with {counted_rows}, {_be(only)} in the {side} run alone"


def _names(
    sides: tuple[str, str], meetings: Meetings, alone: tuple[Sequence[Identity], Sequence[Identity]]
) -> Iterator[str]:
    """Steps of which both runs have rows, and none met: their prompts or samples go by other names."""
    common = (meetings.alone[0].keys() & meetings.alone[1].keys()) - meetings.met.keys()
    ours, theirs = ([row for row in rows if row[0] in common] for rows in alone)
    if not (ours and theirs):
        return
    one, other = ({row[1] for row in rows} for rows in (ours, theirs))
    (_, name, sample), (_, its, another) = ours[0], theirs[0]
    if one & other:
        yield f"no sample is in both runs, such as {sample} and {another} of prompt {_shown(name)}"
        return
    such = f"such as {_shown(name)} and {_shown(its)}"
    kinds = [{"numbers" if isinstance(name, int) else "text" for name in names} for names in (one, other)]
    if kinds[0] != kinds[1] and all(len(kind) == 1 for kind in kinds):
        said = [f"{kind.pop()} in the {side} run" for kind, side in zip(kinds, sides, strict=True)]
        yield f"prompts are {' and '.join(said)}, {such}"
        return
    yield f"no prompt is in both runs, {such}; rows meet by step, prompt and sample"


def _by_place(dumps: tuple[Dump, Dump]) -> Iterator[str]:
    """Rows that do not say which they are: one that is lost or moved changes what those after it meet."""
    unsaid = dumps[0].assumed.keys() | dumps[1].assumed.keys()
    after = "so that one lost or moved makes differences of those after it"
    if "prompt" in unsaid:
        yield f"rows do not name their prompt; they met by their place in their file, {after}"
    elif "sample" in unsaid:
        yield f"rows do not say which sample of a prompt they are; they are counted as they come, {after}"


def _twice(dump: Dump, side: str, repeated: bool) -> Iterator[str]:
    """A step that lies in two files; where no row is there twice by name, only one of the killed run's."""
    files: dict[int, list[Path]] = defaultdict(list)
    for path in dump.files:
        if (step := step_of(path)) is not None:
            files[step].append(path)
    doubled = {step: paths for step, paths in files.items() if len(paths) > 1}
    if doubled:
        paths = next(iter(doubled.values()))
        says = "name the folder or the files of one run"
        copied = any(path in dump.added for path in paths)
        if not (repeated or copied):
            return
        if copied:
            says = "the killed run's rows count as they lie in its folder, so a harness must not copy them"
        yield (
            f"{_ranges(doubled)} of the {side} run {_be(doubled)} in more than one file, such as "
            f"{_named(paths)}; {says}"
        )


def _ranges(steps: Collection[int]) -> str:
    """`step 7`, `steps 1 to 3`, `steps 1, 4 and 6 to 9`."""
    found: list[list[int]] = []
    for step in sorted(steps):
        if found and step == found[-1][1] + 1:
            found[-1][1] = step
        else:
            found.append([step, step])
    said = [str(first) if first == last else f"{first} to {last}" for first, last in found[:5]]
    said += ["others"] * (len(found) > 5)
    joined = " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))
    return f"step{'s' * (len(steps) > 1)} {joined}"


def _be(things: Collection[object]) -> str:
    return "are" if len(things) > 1 else "is"


def _named(files: Sequence[Path]) -> str:
    if len(files) == 1:
        return str(files[0])
    return f"{files[0]} and {files[1] if len(files) == 2 else f'{len(files) - 1} others'}"


def _shown(name: int | str) -> str:
    return repr(name[:SHOWN]) if isinstance(name, str) else str(name)
