"""Regular expressions by which tests and comparison scripts read log lines, against those that the code logs.

An expression is cut into what it demands literally. A line that has its words, and not these pieces in their
order, is the one that it was written for, and it matches it no more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.judging import in_test_file, says_that_it_judges
from reviewbot.flow.patterns import pattern
from reviewbot.source.units import once, root_of

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_USES = frozenset({"compile", "search", "match", "fullmatch", "findall", "finditer"})
_WORD = pattern(r"[A-Za-z]{3,}")
_LONG = 4  # letters of a word that says something
_STEM = 5  # letters that two forms of one word share
_HOLE = "\0"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the code logs: where, and its text with `\\0` for each value."""

    path: str
    line: int
    template: str


@dataclass(frozen=True, slots=True, eq=False)
class NoLine:
    """`text`, an expression, matches no line of the repository, and `meant` has its words. `lacks`: the piece
    that `meant` has not, or not there. `sure`: many words are the same."""

    text: ast.Constant
    meant: Line
    lacks: str
    sure: bool


@once
def may_read_lines(unit: Unit) -> bool:
    """Whether a unit of tests or of a comparison script holds an expression that could read log lines."""
    return may_read_logs(unit.file) and any(True for _ in _expressions(unit))


@once
def may_read_logs(file: File) -> bool:
    """Whether a file is one of tests or a comparison script, and uses regular expressions."""
    path = file.path
    return file.calls(*_USES) and (in_test_file(path) or says_that_it_judges(path.rpartition("/")[2]))


def _expressions(unit: Unit) -> Iterator[ast.Constant]:
    for call in unit.calls_of(_USES):
        root = root_of(call.func) if isinstance(call.func, ast.Attribute) else ""
        given = call.args[0] if call.args else None
        known = unit.file.imports.get(root, root) in ("re", "regex")
        if not known or not isinstance(given, ast.Constant) or not isinstance(given.value, str):
            continue
        if len(_words(given.value)) > 1:
            yield given


def no_line(unit: Unit, repo: Repo) -> Iterator[NoLine]:
    """The expressions of a unit that read no line of the code."""
    lines = repo.once(logged)
    for text in _expressions(unit) if lines else ():
        pieces = _pieces(str(text.value))
        words = {word for piece in pieces or () for word in _words(piece)}
        if pieces is None or len(words) < 2 or _is_read_here(unit.file, str(text.value), words):
            continue
        if any(_lacks(pieces, one.template) == "" for one in lines):
            continue
        meant = [one for one in lines if _has_words(words, one.template)]
        if len({one.template for one in meant}) == 1:
            long = [word for word in words if len(word) >= _LONG]
            yield NoLine(text, meant[0], _lacks(pieces, meant[0].template), len(long) > 2)


def logged(repo: Repo) -> tuple[Line, ...]:
    """The lines that the code outside of tests logs, with some text of their own."""
    return tuple(
        Line(path, log.line, log.template)
        for path, log in repo.index.outside_tests.logs()
        if len(_words(log.template)) > 1
    )


def _pieces(text: str) -> list[str] | None:
    """What an expression demands literally, in order; None where it leaves a choice, or cannot be read."""
    try:
        parsed = re._parser.parse(text)  # type: ignore[attr-defined]
    except (re.error, OverflowError, RecursionError):
        return None
    pieces = [""]
    for kind, value in parsed:
        if str(kind) == "LITERAL":
            pieces[-1] += chr(value)
        elif str(kind) == "BRANCH":
            return None
        elif pieces[-1]:
            pieces.append("")
    return [piece for piece in pieces if piece.strip()]


def _lacks(pieces: list[str], template: str) -> str:
    """The first piece that a line has not behind those before it; "" where it has them all."""
    at, text = 0, template.lower()
    for piece in pieces:
        found = text.find(piece.lower().strip(), at)
        if found < 0:
            return piece
        at = found + len(piece.strip())
    return ""


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text.replace("\\d", " ").replace("\\w", " "))]


def _has_words(words: set[str], template: str) -> bool:
    """Whether a line has every one of some words, in that or another form."""
    theirs = set(_words(template))
    return all(
        word in theirs or any(word[:_STEM] == other[:_STEM] and len(word) >= _STEM for other in theirs)
        for word in words
    )


def _is_read_here(file: File, text: str, words: set[str]) -> bool:
    """Whether a text of the file is a line that the expression reads: a test that makes its own lines."""
    try:
        compiled = re.compile(text)
    except re.error:
        return True
    longest = max(words, key=len)
    return any(
        longest in lower and one != text and compiled.search(one) is not None for one, lower in _texts(file)
    )


@once
def _texts(file: File) -> tuple[tuple[str, str], ...]:
    """The texts that are written out in a file, each once, as they are and in small letters."""
    every = (node.value for node in ast.walk(file.tree) if isinstance(node, ast.Constant))
    return tuple((one, one.lower()) for one in dict.fromkeys(text for text in every if isinstance(text, str)))
