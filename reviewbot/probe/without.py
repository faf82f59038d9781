"""What a file that was changed would no longer catch of what it catches today."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewbot.errors import NoSandbox, ProbeError
from reviewbot.probe import harvest
from reviewbot.probe import target as targets
from reviewbot.probe.mentions import Function
from reviewbot.probe.run import Wish, probe
from reviewbot.source.units import File


@dataclass(frozen=True)
class Loss:
    """`entry` was run on `tried` changes of its recorded arguments that it notices today; `survive` names
    those that pass with the changed files. `passes`: the unchanged arguments still do."""

    entry: str
    tried: int
    survive: tuple[str, ...]
    passes: bool


def loss(
    root: Path,
    path: str,
    units: Iterable[str],
    changed: Mapping[str, str],
    *,
    seconds: float,
    python: str | None = None,
) -> Loss:
    """What functions of a file notice today and would not with `changed` ({path: content}) in place.

    They are entered where the repository's own tests do, outermost first. Raises ProbeError where none can
    be run, or where none notices anything.
    """
    whole = root / path
    file = File(str(whole), whole.read_bytes())
    names = dict.fromkeys(name for unit in units for name in callers(file, unit))
    wanted = [targets.parse(f"{whole}::{name}") for name in names if _stays(changed.get(path, ""), name)]
    if not wanted:
        raise ProbeError("nothing of what it changes stays, so that nothing can be run beside it")
    functions = [Function(one.root / one.path, one.unit, one.kind == "test") for one in wanted]
    found = harvest.from_tests(wanted[0].root, functions, seconds=max(1.0, seconds), python=python)
    why = "no passing call with plain arguments was recorded"
    for target, calls in zip(wanted, found.calls, strict=True):
        if target.kind == "test" or not any(not call.raised for call in calls):
            continue
        wish = Wish(
            witnesses=False,
            checks=False,
            patched=changed,
            seconds=seconds,
            python=python,
            absent=found.absent,
        )
        try:
            done = probe(target, calls, wish).reduced
        except NoSandbox:
            raise
        except ProbeError as error:
            why = str(error)
            continue
        if done is not None and done.caught_before:
            return Loss(target.name, done.caught_before, done.survive, done.unchanged_passes)
        why = "it notices none of the changes tried"
    raise ProbeError(why)


def _stays(content: str, name: str) -> bool:
    return File("_.py", content.encode()).unit(name) is not None


def callers(file: File, unit: str) -> list[str]:
    """Qualified names of the file's functions that reach `unit`, the farthest first, then `unit`."""
    calls: dict[str, set[str]] = {}
    for one in file.units:
        if one.is_function:
            nodes = [node for node in ast.walk(one.tree) if isinstance(node, ast.Call)]
            calls[one.name] = {ast.unparse(node.func).rpartition(".")[2] for node in nodes}
    levels = [[unit]]
    seen = {unit}
    while levels[-1]:
        last = {name.rpartition(".")[2] for name in levels[-1]}
        above = [name for name, called in calls.items() if called & last and name not in seen]
        seen.update(above)
        levels.append(above)
    return [name for level in reversed(levels) for name in level if file.unit(name) is not None]
