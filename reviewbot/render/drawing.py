"""Small drawings as SVG: boxes, lines and labels at places that Python works out, so that nothing overlaps.

Each comes in two widths, one for a phone; the style sheet shows one of them, at its own size, so that letters
are never scaled down. Colours are classes of the style sheet.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from markupsafe import Markup

from reviewbot.render.inert import visible

WIDE, NARROW = 700, 310  # pixels
MONO, SANS = 8.0, 7.0  # pixels that a letter takes at most, at 13 and at 12 pixels; fonts differ

Draw = Callable[[int], "Drawing"]
_IDS = count(1)


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle, a line from (x, y) by (width, height), or a text whose base line starts at (x, y)."""

    kind: Literal["rect", "line", "text"]
    style: str
    x: float
    y: float
    width: float = 0
    height: float = 0
    text: str = ""


@dataclass
class Drawing:
    """Shapes on a canvas. `says` is the whole drawing in words."""

    width: int
    says: str
    height: float = 0
    shapes: list[Shape] = field(default_factory=list)

    def box(self, style: str, x: float, y: float, width: float, height: float) -> None:
        """A rectangle."""
        self.shapes.append(Shape("rect", style, x, y, width, height))
        self.height = max(self.height, y + height + 2)

    def line(self, style: str, x: float, y: float, dx: float, dy: float) -> None:
        """A line."""
        self.shapes.append(Shape("line", style, x, y, dx, dy))
        self.height = max(self.height, y + dy + 2, y + 2)

    def text(self, style: str, x: float, y: float, text: str) -> None:
        """A text on one line; `style` may be `middle` or `end` too, which is where x is then."""
        self.shapes.append(Shape("text", style, x, y, text=visible(text)))
        self.height = max(self.height, y + 5)


def columns(text: str) -> int:
    """How many letters of usual width a text takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide


def cut(text: str, letters: float) -> str:
    """The text, not longer than that many letters; an ellipsis says what is cut off."""
    text = " ".join(text.split())
    if columns(text) <= letters:
        return text
    while text and columns(text) > letters - 1:
        text = text[:-1]
    return text + "…"


def wrapped(text: str, letters: int, most: int) -> list[str]:
    """The text on at most `most` lines, as few as can be, and these about as long as one another."""
    text = " ".join(text.split())
    lines = textwrap.wrap(text, letters, break_long_words=True) or [""]
    if len(lines) > most:
        return [*lines[: most - 1], cut(" ".join(lines[most - 1 :]), letters)]
    for fewer in range(letters - 1, letters // 2, -1):
        closer = textwrap.wrap(text, fewer, break_long_words=False) or [""]
        if len(closer) > len(lines) or max(map(len, closer)) > fewer:
            break
        lines = closer
    return lines


def svg(draw: Draw) -> Markup:
    """The drawing at both widths."""
    return Markup("\n").join(Markup("\n").join(_svg(draw(width), kind)) for width, kind in _WIDTHS)


_WIDTHS = ((WIDE, "wide"), (NARROW, "narrow"))


def _svg(drawing: Drawing, kind: str) -> Iterator[Markup]:
    name = f"drawing-{next(_IDS)}"
    size = {"w": drawing.width, "h": round(drawing.height)}
    yield Markup(
        '<svg class="{kind}" role="img" aria-labelledby="{name}" width="{w}" height="{h}" '
        'viewBox="0 0 {w} {h}"><title id="{name}">{says}</title>'
    ).format(kind=kind, name=name, says=drawing.says, **size)
    # Hatching: what is excused can be told without colours too.
    yield Markup(
        '<defs><pattern id="{0}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>'
        '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>'
    ).format(name)
    for shape in drawing.shapes:
        yield _shape(shape, name)
    yield Markup("</svg>")


def _shape(shape: Shape, name: str) -> Markup:
    x, y = round(shape.x, 1), round(shape.y, 1)
    if shape.kind == "text":
        return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(shape.style, x, y, shape.text)
    if shape.kind == "line":
        end = round(shape.x + shape.width, 1), round(shape.y + shape.height, 1)
        return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(shape.style, x, y, *end)
    fill = Markup(' fill="url(#{}-hatch)"').format(name) if "hatched" in shape.style else ""
    size = round(shape.width, 1), round(shape.height, 1)
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="3"{}/>').format(
        shape.style, x, y, *size, fill
    )
