"""Puts what the demo shows into README.md: an excuse branch as lint tells it, and the witness of the probe.

`make readme` runs the demo first. The tests say when README.md shows what the demo no longer does.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
BLOCK = re.compile(r"(?<=^```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def shown(out: Path) -> list[str]:
    """The blocks of README.md, in order, from what the demo left in `out`."""
    lint = (out / "lint.txt").read_text(encoding="utf-8").split("\n\n")
    (finding,) = (part for part in lint if "[excuse-branch]" in part.split("\n", 1)[0])
    probe = (out / "probe.txt").read_text(encoding="utf-8")
    witness = re.search(r"^1\. .*?^ +let through by [^\n]*\n", probe, re.MULTILINE | re.DOTALL)
    assert witness, "the probe shows no witness"
    return [finding + "\n", witness[0]]


if __name__ == "__main__":
    blocks = iter(shown(HERE / "out"))
    text = README.read_text(encoding="utf-8")
    README.write_text(BLOCK.sub(lambda _: next(blocks), text), encoding="utf-8")
