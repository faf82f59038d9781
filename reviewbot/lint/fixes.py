"""Fixes put into files: whole lines replaced, from the end of a file to its start."""

from __future__ import annotations

import difflib
import io
import os
from collections.abc import Iterable, Sequence

from reviewbot.errors import UnreadableFile
from reviewbot.model import CERTAINTIES, Edit, Finding
from reviewbot.source.newer import tree_of_text
from reviewbot.source.units import File

_ESCAPED = {'"': '\\"', "\\": "\\\\"}


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, split where Python splits them."""
    return io.StringIO(text, newline="").readlines()


def applied(path: str, content: bytes, fixes: Iterable[Sequence[Edit]]) -> tuple[bytes, int]:
    """A file's content with fixes applied, and how many of them were. Each is the edits of one fix.

    A fix that touches lines which an earlier one has changed, or after which the file would not be Python
    any more, is left out. A new line ends as the one that it replaces. Raises `UnreadableFile`, also where
    the file's encoding writes its text as other bytes than it has.
    """
    file = File(path, content)
    lines = file.lines
    if not _same(file):
        raise UnreadableFile(path, f"not fixed: {file.encoding} would change bytes that no fix is about")
    taken: list[Edit] = []
    count = 0
    for edits in fixes:
        candidate = sorted((*taken, *edits), key=lambda edit: (edit.line, edit.end_line))
        if _apart(candidate, len(lines)) and _parses(_put(lines, candidate)):
            taken, count = candidate, count + 1
    try:
        return _put(lines, taken).encode(file.encoding), count
    except UnicodeEncodeError:
        return content, 0


def first_on_their_lines(findings: Sequence[Finding]) -> list[bool]:
    """Of each finding whether its fix, if it has one, changes no line that the fix of another one does which
    is more certain, or as certain and safer, or comes first: of two such, only one can be applied."""
    taken: set[tuple[str, int]] = set()
    first = [True] * len(findings)

    def rank(at: int) -> tuple[int, bool]:
        fix = findings[at].fix
        return CERTAINTIES.index(findings[at].certainty), fix is not None and not fix.safe

    for at in sorted(range(len(findings)), key=rank):
        fix = findings[at].fix
        changed = {
            (edit.path, line)
            for edit in (fix.edits if fix else ())
            for line in range(edit.line, max(edit.line, edit.end_line) + 1)
        }
        first[at] = taken.isdisjoint(changed)
        taken |= changed if first[at] else set()
    return first


def safe(findings: Iterable[Finding], path: str) -> list[Sequence[Edit]]:
    """The edits of each safe fix that changes this file alone."""
    return [
        finding.fix.edits
        for finding in findings
        if finding.fix is not None
        and finding.fix.safe
        and {edit.path for edit in finding.fix.edits} == {path}
    ]


def diff(path: str, before: bytes, after: bytes) -> bytes:
    """The change of one file as a unified diff that `git apply` and `patch -p1` take."""
    # In a diff a line ends at a newline and nowhere else.
    old, new = (io.BytesIO(content).readlines() for content in (before, after))
    name = path.lstrip("/")
    a, b = (os.fsencode(quoted(f"{side}/{name}")) for side in "ab")
    parts = []
    for line in difflib.diff_bytes(difflib.unified_diff, old, new, a, b):
        parts.append(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n")
    return b"".join(parts)


def quoted(name: str) -> str:
    """A file's name as git writes it at the head of a diff: what cannot be seen as the octal of its bytes."""
    if name.isprintable() and not set(name) & set(_ESCAPED):
        return name + "\t" * (" " in name)
    return '"' + "".join(map(_quoted, name)) + '"'


def _quoted(character: str) -> str:
    if character.isprintable():
        return _ESCAPED.get(character, character)
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def _same(file: File) -> bool:
    try:
        return file.text.encode(file.encoding) == file.content
    except UnicodeEncodeError:
        return False


def _apart(edits: Sequence[Edit], count: int) -> bool:
    end = 0
    for edit in edits:
        if not end < edit.line <= edit.end_line + 1 <= count + 1:
            return False
        end = max(edit.line, edit.end_line)
    return True


def _put(lines: Sequence[str], edits: Sequence[Edit]) -> str:
    out = list(lines)
    open_end = bool(lines) and not _end(lines[-1])
    if open_end:
        out[-1] += _end_at(lines, len(lines))
    for edit in reversed(edits):
        first = edit.line - 1
        old = [_bare(line) for line in lines[first : edit.end_line]]
        new = [_bare(line) for line in lines_of(edit.text)]
        put = []
        for _, i, end, j, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            # A line ends as the one that it replaces, or pushes down.
            for n in range(stop - j):
                put.append(new[j + n] + _end_at(lines, first + min(i + n, max(i, end - 1))))
        out[first : edit.end_line] = put
    last = edits[-1] if edits else None
    if open_end and not (last and last.end_line == len(lines) and not last.text):
        out[-1] = _bare(out[-1])
    return "".join(out)


def _end_at(lines: Sequence[str], at: int) -> str:
    return next(filter(None, map(_end, reversed(lines[max(0, at - 2) : at + 1]))), "\n")


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _end(line: str) -> str:
    return line[len(_bare(line)) :]


def _parses(text: str) -> bool:
    try:
        tree_of_text(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
