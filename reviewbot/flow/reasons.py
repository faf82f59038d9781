"""The reason that code itself gives for excusing a range, compared with what the range is made from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import walk

if TYPE_CHECKING:
    from reviewbot.flow.excuses import Excuse
    from reviewbot.flow.intervals import Interval
    from reviewbot.source.units import Unit

_WORD = pattern(r"[A-Z]?[a-z]{3,}")
# Words of any range, row or comparison: they say nothing of what a range is for.
_COMMON = frozenset({
    "begin", "start", "end", "stop", "first", "last", "index", "range", "length", "size", "count", "row",
    "rows", "token", "tokens", "mask", "loss", "difference", "differs", "diff", "where", "name", "names",
    "lies", "this", "that", "with", "from", "only", "because", "and", "the", "for", "are", "not", "may",
    "excused", "excuse", "skip", "skipped", "allowed", "ids", "turn", "value", "values", "data", "find",
    "return", "before", "after", "between", "inside", "within",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reason:
    """What code says a range is excused for: `text` as written on `line` of `unit`'s file, and the words by
    which only one end of the range, its `end` ("begins" or "ends"), has to do with it."""

    unit: Unit
    line: int
    text: str
    words: tuple[str, ...]
    end: str


def narrower_reason(excuse: Excuse) -> Reason | None:
    """The first reason given for an excused range that speaks of one of its ends alone."""
    for interval in excuse.ranges[:1]:
        low = _words(_code(interval.low), _code(interval.low_from))
        high = _words(_code(interval.high), _code(interval.high_from))
        for unit, line, text in _said(excuse, interval):
            said = _words(text)
            begins, ends = sorted(said & low), sorted(said & high)
            if bool(begins) is not bool(ends):
                return Reason(unit, line, text, tuple(begins or ends), "begins" if begins else "ends")
    return None


def _said(excuse: Excuse, interval: Interval) -> Iterator[tuple[Unit, int, str]]:
    """Labels that the range's function gives, then comments on it, its name and its docstring."""
    unit = interval.unit
    compared = {
        below.evaluated_value
        for _, node in excuse.opened.comparisons()
        for below in walk(node)
        if isinstance(below, cst.SimpleString)
    }
    for node in unit.find(cst.Return):
        if isinstance(node.value, cst.SimpleString) and node.value.evaluated_value in compared:
            yield unit, unit.span(node).line, str(node.value.evaluated_value)
    first, last = unit.span(interval.low_from).line, unit.span(interval.high_from).line
    for where, line in ((unit, first), (unit, last), (unit, unit.span(interval.subject).line)):
        yield from _comments(where, line)
    yield unit, unit.line, unit.name.rpartition(".")[2]
    if isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        text = ast.get_docstring(unit.tree)
        if text:
            yield unit, unit.tree.body[0].lineno, text.partition("\n\n")[0]


def _comments(unit: Unit, line: int) -> Iterator[tuple[Unit, int, str]]:
    """The comment at the end of a line, and those right above it."""
    lines = unit.file.lines
    code, _, trailing = lines[line - 1].partition("#")
    if trailing and code.count('"') % 2 == 0 and code.count("'") % 2 == 0:
        yield unit, line, trailing.strip()
    above = line - 1
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        yield unit, above, lines[above - 1].strip().lstrip("# ")
        above -= 1


def _code(node: cst.BaseExpression) -> str:
    return " ".join(below.value for below in walk(node) if isinstance(below, (cst.Name, cst.SimpleString)))


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text)) - _COMMON
