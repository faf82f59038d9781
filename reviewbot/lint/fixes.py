"""Fixes put into files: whole lines replaced, from the end of a file to its start."""

from __future__ import annotations

import ast
import difflib
import io
import warnings
from collections.abc import Iterable, Sequence

from reviewbot.model import Edit, Finding
from reviewbot.source.units import File


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, split where Python splits them."""
    return io.StringIO(text, newline="").readlines()


def applied(path: str, content: bytes, fixes: Iterable[Sequence[Edit]]) -> tuple[bytes, int]:
    """A file's content with fixes applied, and how many of them were. Each is the edits of one fix.

    A fix that touches lines which an earlier one has changed, or after which the file would not be Python
    any more, is left out. New lines end as the file's own do. Raises `UnreadableFile`.
    """
    file = File(path, content)
    lines = file.lines
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    taken: list[Edit] = []
    count = 0
    for edits in fixes:
        candidate = sorted((*taken, *edits), key=lambda edit: (edit.line, edit.end_line))
        if _apart(candidate, len(lines)) and _parses(_put(lines, candidate, newline)):
            taken, count = candidate, count + 1
    try:
        return _put(lines, taken, newline).encode(file.encoding), count
    except UnicodeEncodeError:
        return content, 0


def safe(findings: Iterable[Finding], path: str) -> list[Sequence[Edit]]:
    """The edits of each safe fix that changes this file alone."""
    return [
        finding.fix.edits
        for finding in findings
        if finding.fix is not None
        and finding.fix.safe
        and {edit.path for edit in finding.fix.edits} == {path}
    ]


def diff(path: str, before: bytes, after: bytes) -> str:
    """The change of one file as a unified diff that `git apply` and `patch -p1` take."""
    old, new = (File(path, content).lines for content in (before, after))
    name = path.lstrip("/")
    parts = []
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
        parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _apart(edits: Sequence[Edit], count: int) -> bool:
    end = 0
    for edit in edits:
        if not end < edit.line <= edit.end_line + 1 <= count + 1:
            return False
        end = max(edit.line, edit.end_line)
    return True


def _put(lines: Sequence[str], edits: Sequence[Edit], newline: str) -> str:
    out = list(lines)
    for edit in reversed(edits):
        new = [line.rstrip("\r\n") + newline for line in lines_of(edit.text)]
        if new and edit.end_line == len(lines) and not lines[-1].endswith(("\n", "\r")):
            new[-1] = new[-1].rstrip("\r\n")
        out[edit.line - 1 : edit.end_line] = new
    return "".join(out)


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
