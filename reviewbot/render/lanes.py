"""Two lanes beside each other: the path on which something is kept, and the path on which it is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewbot.render.drawing import MONO, SANS, WIDE, Drawing, cut, wrapped

GAP, PAD, LINE = 18, 8, 16


@dataclass(frozen=True, slots=True)
class Stop:
    """One place of a lane: where it is, what happens there, and whether the thing is there after it."""

    where: str
    says: str
    style: str  # node, kept or lost


@dataclass(frozen=True, slots=True)
class Lane:
    """A path, in order. `ends` says in a word what becomes of the thing."""

    title: str
    ends: str
    stops: tuple[Stop, ...]


def in_words(lanes: Sequence[Lane]) -> str:
    """Both lanes as text."""
    said = []
    for lane in lanes:
        stops = ", then ".join(stop.says.replace("`", "") for stop in lane.stops)
        said.append(f"{lane.title}: {stops}; {lane.ends}.")
    return " ".join(said)


def draw(lanes: Sequence[Lane], width: int) -> Drawing:
    """The lanes side by side, on a narrow canvas below each other."""
    drawing = Drawing(width, in_words(lanes))
    if width < WIDE:
        y = 0.0
        for lane in lanes:
            y = _Column(drawing, 0, width, _heights([lane], width)).draw(lane, y) + 14
        return drawing
    each = (width - GAP * (len(lanes) - 1)) / len(lanes)
    heights = _heights(lanes, each)
    for number, lane in enumerate(lanes):
        _Column(drawing, number * (each + GAP), each, heights).draw(lane, 0)
    return drawing


def _lines(stop: Stop, width: float) -> list[str]:
    return wrapped(stop.says.replace("`", ""), int((width - 2 * PAD - 4) / SANS), 4)


def _heights(lanes: Sequence[Lane], width: float) -> list[float]:
    """How high each stop is, so that stops of equal number stand beside each other."""
    most = max(len(lane.stops) for lane in lanes)
    return [
        max(
            PAD * 2 + (LINE + 2) * bool(lane.stops[n].where) + LINE * len(_lines(lane.stops[n], width))
            for lane in lanes
            if n < len(lane.stops)
        )
        for n in range(most)
    ]


@dataclass
class _Column:
    drawing: Drawing
    x: float
    width: float
    heights: list[float]

    def draw(self, lane: Lane, y: float) -> float:
        """Draws a lane from y on; returns where it ends."""
        drawing, x = self.drawing, self.x
        lost = lane.stops[-1].style == "lost"
        drawing.text("strong", x + 1, y + 15, cut(lane.title, self.width / 8.2))
        y += 24
        for number, stop in enumerate(lane.stops):
            if number:
                drawing.line("lead", x + 20, y - 14, 0, 14)
                drawing.line("lead", x + 16, y - 5, 4, 5)
                drawing.line("lead", x + 24, y - 5, -4, 5)
            high = self.heights[number]
            drawing.box(stop.style, x + 1, y, self.width - 2, high)
            at = y + PAD + 12
            if stop.where:
                drawing.text("mono", x + PAD + 2, at, cut(stop.where, (self.width - 2 * PAD - 4) / MONO))
                at += LINE + 2
            for line in _lines(stop, self.width):
                drawing.text("small on-tint", x + PAD + 2, at, line)
                at += LINE
            y += high + 14
        drawing.text("strong", x + 1, y + 4, ("✗ " if lost else "✓ ") + cut(lane.ends, self.width / 8.2 - 2))
        return y + 8
