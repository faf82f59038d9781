"""The chart of a change's size: what is said after a bar stands inside of the drawing."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from reviewbot.render.size_chart import svg
from reviewbot.review.size.result import Count, Cut, CutFile, FileSize, RoundSize, Size

PATH = "tests/functional/a_rather_long_name_of_a_file.py"
SPACE = "{http://www.w3.org/2000/svg}"
NARROWEST = 5.0  # of 10 points a character takes more


def size(added: int) -> Size:
    lines = Count(added, 0)
    file = FileSize(PATH, None, "added", lines, {"test": lines})
    cuts = tuple(
        Cut(
            f"C{n}",
            "zip-truncates",
            "likely",
            PATH,
            n,
            "a claim",
            "applies",
            "applies",
            files=(CutFile(PATH, 1, 1, 1),),
        )
        for n in range(1, 7)
    )
    last = RoundSize(1, "a" * 40, "b" * 40, lines, {"test": lines}, (file,), 3, 1)
    return Size(None, "main", (last,), cuts, after=(CutFile(PATH, 120, 120, 40),))


@pytest.mark.parametrize("added", [160, 40_000])
def test_what_stands_after_the_longest_bar_ends_inside(added):
    root = ElementTree.fromstring(svg(size(added)))
    width = float(root.get("viewBox").split()[2])
    placed = {"".join(text.itertext()).strip(): float(text.get("x")) for text in root.iter(f"{SPACE}text")}
    (note,) = [said for said in placed if said.endswith("(C1, C2, C3, C4, …)")]
    assert placed[note] + NARROWEST * len(note) <= width
