"""The lines that can be commented: those of the head's side that GitHub's own diff shows.

A review with a single comment elsewhere is refused as a whole, and the answer does not say which one it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from reviewbot.github.client import ChangedFile
from reviewbot.model import Anchor
from reviewbot.review.threads import Shown
from reviewbot.source.diff import Lines

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def shown(files: Iterable[ChangedFile]) -> Shown:
    """The lines by file. A file whose patch GitHub leaves out (binary, too large, renamed only) has none, and
    can be commented as a whole."""
    return Shown({file.path: tuple(_ranges(file.patch or "")) for file in files})


def _ranges(patch: str) -> Iterator[Lines]:
    for match in _HUNK.finditer(patch):
        first, count = int(match[1]), int(match[2] or 1)
        if count:
            yield first, first + count - 1


def fields(anchor: Anchor) -> Mapping[str, object]:
    """An anchor as the API takes it. A range of one line is no range to it."""
    one = {"path": anchor.path, "side": "RIGHT", "line": anchor.end_line}
    if anchor.line >= anchor.end_line:
        return one
    return {**one, "start_line": anchor.line, "start_side": "RIGHT"}
