"""Which calls lead from a function to given lines of its file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reviewbot.model import Step
from reviewbot.review.before import parsed
from reviewbot.source.units import File, Unit

DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Node:
    """A function, the line of the call that leads to it, the steps that stand in it, and what it calls."""

    name: str
    path: str
    line: int
    steps: tuple[Step, ...]
    calls: tuple[Node, ...]

    @property
    def reached(self) -> int:
        """How many steps stand in it and below."""
        return len(self.steps) + sum(node.reached for node in self.calls)


def call_tree(path: str, lines: Sequence[str], root: str, steps: Iterable[Step]) -> Node | None:
    """The tree from function `root` to the functions that hold the steps; None where it is not clear.

    Calls are followed within the file by name: `helper(...)` and `self.helper(...)`.
    """
    file = parsed(path, lines)
    unit = file.unit(root) if file else None
    wanted = [step for step in steps if step.path == path]
    if file is None or unit is None or not wanted:
        return None
    return _node(file, unit, unit.line, wanted, ())


def _node(file: File, unit: Unit, line: int, steps: Sequence[Step], above: tuple[str, ...]) -> Node | None:
    own = tuple(step for step in steps if unit.line <= step.line <= unit.end_line)
    calls: list[Node] = []
    if unit.name not in above and len(above) < DEEPEST:
        for called, at in _called(file, unit):
            # A call on a line that is itself a step is told by that step.
            if any(step.line <= at <= step.end_line for step in own):
                continue
            node = _node(file, called, at, steps, (*above, unit.name))
            if node is not None:
                calls.append(node)
    return Node(unit.name, file.path, line, own, tuple(calls)) if own or calls else None


def _called(file: File, unit: Unit) -> list[tuple[Unit, int]]:
    found = []
    for node in ast.walk(unit.tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name = node.func.attr if node.func.value.id in ("self", "cls") else ""
            name = f"{unit.name.rpartition('.')[0]}.{name}" if name else ""
        called = file.unit(name) if name else None
        if called is not None and called.is_function and called is not unit:
            # An argument's call ends, and runs, before the call that it is handed to.
            ended = (node.end_lineno or node.lineno, node.end_col_offset or 0)
            found.append((ended, node.lineno, called))
    return [(called, line) for _, line, called in sorted(found, key=lambda one: one[0])]
