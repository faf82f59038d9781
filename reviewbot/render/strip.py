"""One row drawn as a strip of tokens: both sides, where they differ, what is excused or restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from reviewbot.render.drawing import MONO, SANS, WIDE, Drawing, columns, cut

CELL, ROOMY, ROW, LABEL = 30, 44, 26, 20  # pixels
SLACK, APART = 4, 6  # pixels
LONGEST = 7  # letters of a token that are shown in its cell


@dataclass(frozen=True, slots=True)
class Strip:
    """Two sides of one field of a row. Ranges are [start, end) of positions.

    `at` is the position that was changed, `roles` the part of the row that each position belongs to,
    `let_through` where the same change passes, `restored` what the inputs say was restored. Positions count
    from 0 in here; `first` is the number that the first one is shown with. `labels` are other words for what
    is let through, what is restored, and where the sides differ.
    """

    field: str
    sides: tuple[str, str]
    baseline: tuple[Any, ...]
    other: tuple[Any, ...]
    at: int
    mask: tuple[int, ...] = ()
    roles: tuple[str, ...] = ()
    let_through: tuple[int, int] | None = None
    restored: tuple[int, int] | None = None
    first: int = 0
    labels: tuple[str, str, str] | None = None

    @property
    def length(self) -> int:
        """Positions of the longer side."""
        return max(len(self.baseline), len(self.other))

    @property
    def first_difference(self) -> int:
        """The first position at which the sides differ; the changed one if none does."""
        pairs = zip(self.baseline, self.other, strict=False)
        found = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
        if found is not None:
            return found
        return min(len(self.baseline), len(self.other)) if len(self.baseline) != len(self.other) else self.at


def shown(value: object) -> str:
    """A token as text."""
    if isinstance(value, float):
        return f"{value:g}"
    return "None" if value is None else str(value)


def of(values: Sequence[Any], index: int) -> str:
    """What a side holds at a position."""
    return shown(values[index]) if index < len(values) else "nothing"


def said(strip: Strip, bounds: tuple[int, int]) -> str:
    """A range in words."""
    start, end = (at + strip.first for at in bounds)
    return f"index {start}" if end - start == 1 else f"index {start} to {end - 1}"


def let_through(strip: Strip, bounds: tuple[int, int]) -> str:
    """What the range says in which the change passes."""
    return strip.labels[0] if strip.labels else f"passes all the same: {said(strip, bounds)}"


def restored(strip: Strip, bounds: tuple[int, int]) -> str:
    """What the range says that was restored."""
    if strip.labels:
        return strip.labels[1]
    length = bounds[1] - bounds[0]
    return f"really restored: {length} token{'' if length == 1 else 's'}, {said(strip, bounds)}"


def difference(strip: Strip) -> str:
    """Where the sides part, in words."""
    if strip.labels:
        return strip.labels[2]
    at = strip.first_difference
    return f"first difference: index {at + strip.first} ({of(strip.baseline, at)} → {of(strip.other, at)})"


def in_words(strip: Strip) -> str:
    """The whole drawing as text."""
    if strip.labels:
        return ". ".join(filter(None, (f"{strip.length} positions", *strip.labels))) + "."
    parts = [
        f"{strip.length} positions of {strip.field}",
        f"{strip.sides[0]}: {' '.join(map(shown, strip.baseline))}",
        f"{strip.sides[1]}: {' '.join(map(shown, strip.other))}",
        difference(strip),
    ]
    if strip.let_through:
        parts.append(f"let through: {said(strip, strip.let_through)}")
    if strip.restored:
        parts.append(f"restored: {said(strip, strip.restored)}")
    return ". ".join(parts) + "."


def draw(strip: Strip, width: int) -> Drawing:
    """The strip on a canvas of that width; a longer row goes on below."""
    drawing = Drawing(width, in_words(strip))
    beside = width >= WIDE
    values = [shown(value) for value in (*strip.baseline, *strip.other)]
    cell = max(CELL, MONO * min(LONGEST, max(map(columns, values), default=1)) + 10)
    left = MONO * min(14, max(map(columns, (*strip.sides, "loss mask")))) + 12 if beside else 0
    whole = (width - left - 2) / max(1, strip.length)
    # A little less room about each value, where the row then needs no second line.
    cell = whole if cell - SLACK <= whole < cell else max(cell, min(ROOMY, whole))
    per_line = max(1, int((width - left - 2) / cell))
    y = 0.0
    for start in range(0, strip.length, per_line):
        line = _Line(drawing, strip, start, min(start + per_line, strip.length), left, cell)
        y = line.draw(y) + 14
    drawing.height -= 2
    return drawing


@dataclass(frozen=True, slots=True)
class _Label:
    """A text from x on, in a row above the part that begins at `start`; if raised, with a line down to it."""

    x: float
    wide: float
    row: int
    start: float

    @property
    def lead(self) -> float:
        """Where the line goes."""
        return self.start + 3

    def meets(self, other: _Label) -> bool:
        """Whether the texts lie over each other, or the line from one runs through the other."""
        if self.row == other.row:
            return self.x < other.x + other.wide + APART and other.x < self.x + self.wide + APART
        high, low = (self, other) if self.row > other.row else (other, self)
        return low.x <= high.lead <= low.x + low.wide


@dataclass
class _Line:
    drawing: Drawing
    strip: Strip
    start: int
    end: int
    left: float
    cell: float

    def draw(self, y: float) -> float:
        """Draws positions `start` to `end` from y on; returns where it ends."""
        strip = self.strip
        y = self._roles(y)
        for index in range(self.start, self.end):
            self.drawing.text(
                "small middle", self._x(index) + self.cell / 2, y + 12, str(index + strip.first)
            )
        if self.left:
            self.drawing.text("small", 0, y + 12, "index")
        y += 18
        y = self._side(y, strip.sides[0], strip.baseline, changed="cell was")
        y = self._side(y, strip.sides[1], strip.other, changed="cell changed")
        if strip.mask:
            y = self._mask(y)
        return self._ranges(y + 4)

    def _x(self, index: int) -> float:
        return self.left + (index - self.start) * self.cell + 1

    def _within(self, bounds: tuple[int, int]) -> tuple[int, int] | None:
        start, end = max(bounds[0], self.start), min(bounds[1], self.end)
        return (start, end) if start < end else None

    def _roles(self, y: float) -> float:
        """The parts of the row over it, each label in the first line in which it has room."""
        parts = list(self._parts())
        placed = self._placed(parts)
        rows = max((label.row for label in placed), default=-1) + 1
        bottom = y + rows * 15
        for label, (start, end, name) in zip(placed, parts, strict=True):
            trained = "trained" if name.startswith("trained") else "untrained"
            self.drawing.line(
                f"span {trained}", self._x(start) + 2, bottom + 2, (end - start) * self.cell - 4, 0
            )
            if label.row:
                up = bottom - label.row * 15
                self.drawing.line("lead", label.lead, up, 0, bottom - up)
            self.drawing.text("small", label.x, bottom - label.row * 15 - 4, name)
        return y + rows * 15 + (7 if parts else 0)

    def _placed(self, parts: Sequence[tuple[int, int, str]]) -> list[_Label]:
        """Where the labels of parts go: each as low as it can be without another label or its line in it."""
        # From the right, so that what reaches over its neighbour rises above it; where that does not do, what
        # has to move to the left for want of room gives way to the rest.
        orders = (lambda label: -label.start, lambda label: (label.x < label.start, -label.start))
        for order in orders:
            placed: list[_Label] = []
            for label in sorted(map(self._wanted, parts), key=order):
                raised = (replace(label, row=row) for row in range(len(parts)))
                free = (one for one in raised if not any(map(one.meets, placed)))
                placed.append(next(free, replace(label, row=len(parts))))
            if all(label.row < len(parts) for label in placed):
                break
        return sorted(placed, key=lambda label: label.start)

    def _wanted(self, part: tuple[int, int, str]) -> _Label:
        start, _, name = part
        wide = SANS * columns(name)
        return _Label(min(self._x(start), self.drawing.width - wide), wide, 0, self._x(start))

    def _parts(self) -> Iterator[tuple[int, int, str]]:
        at = 0
        for name, group in groupby(self.strip.roles):
            size = len(list(group))
            part = self._within((at, at + size))
            at += size
            if part and name:
                yield (*part, name)

    def _side(self, y: float, name: str, values: Sequence[Any], *, changed: str) -> float:
        y = self._named(y, name)
        other = self.strip.baseline if values is self.strip.other else self.strip.other
        excused = self.strip.let_through or (0, 0)
        for index in range(self.start, self.end):
            style = "cell"
            if index >= len(values):
                style = "cell missing"
            elif index >= len(other) or values[index] != other[index]:
                style = changed
            elif values is self.strip.other and excused[0] <= index < excused[1]:
                style = "cell excused"
            self.drawing.box(style, self._x(index), y, self.cell - 2, ROW - 3)
            word = cut(shown(values[index]), LONGEST) if index < len(values) else "–"
            strong = " strong" if style == "cell changed" else ""
            self.drawing.text(f"mono middle{strong}", self._x(index) + self.cell / 2 - 1, y + 16, word)
        return y + ROW

    def _named(self, y: float, name: str) -> float:
        if self.left:
            self.drawing.text("mono", 0, y + 16, cut(name, 14))
            return y
        self.drawing.text("mono", 0, y + 13, cut(name, self.drawing.width / MONO))
        return y + LABEL - 2

    def _mask(self, y: float) -> float:
        y = self._named(y, "loss mask")
        for index in range(self.start, self.end):
            if index < len(self.strip.mask):
                self.drawing.text(
                    "small mono middle",
                    self._x(index) + self.cell / 2 - 1,
                    y + 14,
                    str(self.strip.mask[index]),
                )
        return y + 20

    def _ranges(self, y: float) -> float:
        strip = self.strip
        excused, kept = strip.let_through, strip.restored
        if excused and (part := self._within(excused)):
            label = let_through(strip, excused) if part[0] == excused[0] else ""
            y = self._range(y, part, "hatched", label)
        if kept and (part := self._within(kept)):
            label = restored(strip, kept) if part[0] == kept[0] else ""
            y = self._range(y, part, "restored", label)
        at = strip.first_difference
        if self.start <= at < self.end:
            middle = self._x(at) + self.cell / 2 - 1
            self.drawing.text("small middle", middle, y + 12, "▲")
            y = self._label(y, (middle + 8, middle - 8), difference(strip))
        return y

    def _range(self, y: float, part: tuple[int, int], style: str, label: str) -> float:
        start, wide = self._x(part[0]), (part[1] - part[0]) * self.cell - 2
        self.drawing.box(style, start, y, wide, 9)
        return self._label(y + 10, (start, start + wide), label) if label else y + 14

    def _label(self, y: float, ends: tuple[float, float], label: str) -> float:
        """A label to the right of the first end; where it has no room there, to the left of the second."""
        need = SANS * columns(label)
        if ends[0] + need <= self.drawing.width:
            self.drawing.text("small", ends[0], y + 12, label)
        elif need <= ends[1]:
            self.drawing.text("small end", ends[1], y + 12, label)
        else:
            y += 14 * (ends[0] > ends[1])  # below a mark that stands between the ends
            self.drawing.text("small", 0, y + 12, cut(label, self.drawing.width / SANS))
        return y + 20
