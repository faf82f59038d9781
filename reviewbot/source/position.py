"""Where the nodes of a unit stand, worked out only for units that have something to report.

LibCST's position provider costs twice a parse. Writing the code out once and noting at which token each
node begins and ends costs a third of one; lines and columns are counted for the nodes that are asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

import libcst as cst

# Private to LibCST: the version is pinned, and a test compares every position with LibCST's own.
from libcst._nodes.internal import CodegenState

_NEWLINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Range:
    """Lines from 1, columns from 1 in characters, the end column past the end."""

    line: int
    column: int
    end_line: int
    end_column: int


class _Tokens(CodegenState):
    """Notes between which tokens each node stands, without the white space and parentheses it owns."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.places: dict[int, tuple[int, int]] = {}
        self._starts: list[int] = []

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(len(self.tokens))

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        self.places.setdefault(id(node), (start, len(self.tokens)))

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Iterator[None]:
        start = len(self.tokens)
        try:
            yield
        finally:
            end = len(self.tokens)
            first = self.places[id(start_node)][0] if start_node is not None else start
            last = self.places[id(end_node)][1] if end_node is not None else end
            self.places[id(node)] = (first, last)


class Positions:
    """The positions of the nodes of one module, whose first line is line `line_offset + 1` of its file."""

    def __init__(self, module: cst.Module, line_offset: int) -> None:
        state = _Tokens(module)
        module._codegen(state)
        text = "".join(state.tokens)
        self._places = state.places
        self._offset = line_offset
        # Where each token begins in the text, and each line.
        self._tokens = [0, *accumulate(map(len, state.tokens))]
        self._lines = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def range(self, node: cst.CSTNode) -> Range:
        """Where a node stands. `KeyError` for a node of another module."""
        start, end = self._places[id(node)]
        return Range(*self._position(start), *self._position(end))

    def _position(self, token: int) -> tuple[int, int]:
        # The newline that ends a module is taken back when everything is written.
        at = self._tokens[min(token, len(self._tokens) - 1)]
        line = bisect_right(self._lines, at)
        return line + self._offset, at - self._lines[line - 1] + 1
