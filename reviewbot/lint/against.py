"""What the files under review are compared with."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.source.diff import FileDiff
from reviewbot.source.files import Files


@dataclass(frozen=True, slots=True)
class Against:
    """The files before a change, and what the change did. Paths are those under which findings name files."""

    files: Files
    diff: tuple[FileDiff, ...]
