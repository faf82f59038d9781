"""A call tree with its repeated builds as a drawing."""

from __future__ import annotations

from reviewbot.render.drawing import MONO, SANS, Drawing, columns, cut
from reviewbot.review.call_tree import Node

INDENT, HIGH = 22, 24


def in_words(node: Node) -> str:
    """The tree as one sentence a function."""
    return " ".join(_sentences(node))


def _sentences(node: Node) -> list[str]:
    said = [f"{node.name} {step.says.replace('`', '')} in line {step.line}." for step in node.steps]
    if node.calls:
        said.insert(0, f"{node.name} calls {', '.join(call.name for call in node.calls)}.")
    return said + [sentence for call in node.calls for sentence in _sentences(call)]


def draw(root: Node, width: int) -> Drawing:
    """The tree on a canvas of that width, from the top down."""
    drawing = Drawing(width, in_words(root))
    _Tree(drawing).node(root, 0, 2.0)
    return drawing


class _Tree:
    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._numbers: dict[tuple[int, str], int] = {}

    def node(self, node: Node, depth: int, y: float) -> float:
        """Draws a node and what is below it; returns where it ends."""
        drawing, x = self._drawing, depth * INDENT + 2.0
        room = drawing.width - x - 4
        label = cut(f"{node.name}()", (room - 70) / MONO)
        drawing.box("node", x, y, MONO * len(label) + 16, HIGH)
        drawing.text("mono", x + 8, y + 17, label)
        drawing.text("small", x + MONO * len(label) + 22, y + 17, f"line {node.line}")
        y += HIGH + 6
        hangs = y - 6
        last = hangs
        for step in node.steps:
            # What is reached twice keeps its number.
            number = self._numbers.setdefault((step.line, step.says), len(self._numbers) + 1)
            said = cut(f"{number}. {step.says.replace('`', '')}", (room - INDENT - 16) / SANS)
            drawing.box("again", x + INDENT, y, min(room - INDENT, SANS * columns(said) + 16), HIGH)
            drawing.text("small on-tint", x + INDENT + 8, y + 16, said)
            drawing.line("lead", x + 10, y + HIGH / 2, INDENT - 10, 0)
            last = y + HIGH / 2
            y += HIGH + 6
        for call in node.calls:
            drawing.line("lead", x + 10, y + HIGH / 2, INDENT - 10, 0)
            last = y + HIGH / 2
            y = self.node(call, depth + 1, y)
        drawing.line("lead", x + 10, hangs, 0, last - hangs)
        return y
