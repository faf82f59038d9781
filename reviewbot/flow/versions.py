"""Two versions of a file: which functions belong together, and where what went would stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_ALIKE = 0.7  # of the lines of two functions: one is the other under a new name
_ALIKE_BY_NAME = 0.4  # of two functions of one name, in two classes


def pairs(old: File, new: File) -> Iterator[tuple[Unit, Unit]]:
    """The functions of both versions that differ, by name, or by their code where the name changed."""
    before = {unit.name: unit for unit in old.units if unit.is_function}
    after = {unit.name: unit for unit in new.units if unit.is_function}
    for name, unit in after.items():
        if name in before and _code(before[name]) != _code(unit):
            yield before[name], unit
    lost = [unit for name, unit in before.items() if name not in after]
    come = [unit for name, unit in after.items() if name not in before]
    for one, unit in _renamed_classes(lost, come):
        lost.remove(one)
        come.remove(unit)
        yield one, unit
    for unit in come:
        ratios = [(_alike(other, unit), other) for other in lost]
        best = max(ratios, key=lambda one: one[0], default=None)
        if best is not None and best[0] > _ALIKE:
            lost.remove(best[1])
            yield best[1], unit


def _renamed_classes(lost: list[Unit], come: list[Unit]) -> list[tuple[Unit, Unit]]:
    """The methods that stand under the same name in another class now."""
    found = []
    for name in sorted({unit.name.rpartition(".")[2] for unit in come if "." in unit.name}):
        was, now = (
            [unit for unit in units if unit.name.rpartition(".")[2] == name] for units in (lost, come)
        )
        if len(was) == len(now) == 1 and _alike(was[0], now[0]) > _ALIKE_BY_NAME:
            found.append((was[0], now[0]))
    return found


def _code(unit: Unit) -> str:
    return "".join(unit.file.lines[unit.line - 1 : unit.end_line])


def _alike(one: Unit, other: Unit) -> float:
    matcher = SequenceMatcher(
        None, _code(one).splitlines()[1:], _code(other).splitlines()[1:], autojunk=False
    )
    return matcher.ratio()


class Place:
    """Where in the new version of a function a line of the old one would stand."""

    def __init__(self, before: Unit, after: Unit) -> None:
        self._before, self._after = before, after
        self._matcher = SequenceMatcher(
            None, _code(before).splitlines(), _code(after).splitlines(), autojunk=False
        )

    def of(self, node: ast.AST) -> tuple[int, int]:
        """The lines in the new version on both sides of where a node of the old one stood."""
        line = lines_of(node)[0] - self._before.line
        for kind, first, last, start, end in self._matcher.get_opcodes():
            if first <= line < last:
                within = max(start, 1) - 1 if kind == "delete" else min(start + line - first, end - 1)
                above = self._after.line + within
                return above, min(above + 1, self._after.end_line) if kind == "delete" else above
        return self._after.line, self._after.line


def lines_of(node: ast.AST) -> tuple[int, int]:
    """The first and last line of a node; of a block those of its head."""
    first = node.lineno  # type: ignore[attr-defined]
    last = first if isinstance(node, (ast.With, ast.For)) else node.end_lineno  # type: ignore[attr-defined]
    return first, last or first


def beside(old: list[str], new: list[str], line: int) -> tuple[int, int]:
    """The lines of the new version on both sides of where a line of the old one stood."""
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if first < line <= last:
            if kind == "delete":
                return max(start, 1), min(max(start, 1) + 1, len(new))
            return start + 1, max(end, start + 1)
    return 1, 1


def where_stood(old: File, new: File, test: Unit, changed: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """The lines of the new version on both sides of where a test stood."""
    after = {unit.name: unit for unit in new.units}
    above = [
        after[u.name].end_line for u in old.units if u.line < test.line and u.is_function and u.name in after
    ]
    end = above[-1] if above else 1
    first, last = next((one for one in changed if one[1] >= end), changed[-1] if changed else (end, end))
    length = max(1, len(new.lines))
    low, high = min(first, last), max(first, last)
    return max(1, min(low, length)), max(1, min(high, length))
