"""Where a node of a unit stands in its file, worked out only for units that have something to report."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider


@dataclass(frozen=True, slots=True)
class Range:
    """Lines from 1, columns from 1 in characters, the end column past the end."""

    line: int
    column: int
    end_line: int
    end_column: int


def ranges(module: cst.Module, line_offset: int) -> dict[int, Range]:
    """The range of every node of `module`, by `id(node)`.

    `line_offset` is added to each line: a unit's module starts at the unit's own first line.
    """
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {
        id(node): Range(
            where.start.line + line_offset,
            where.start.column + 1,
            where.end.line + line_offset,
            where.end.column + 1,
        )
        for node, where in positions.items()
    }
