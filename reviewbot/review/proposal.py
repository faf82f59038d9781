"""A fix as a comment can show it: a suggestion where its lines are in the diff, else a diff to be applied."""

from __future__ import annotations

import ast
import difflib
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from reviewbot.lint.fixes import quoted
from reviewbot.model import Anchor, Edit, Fix, Proposal

CONTEXT = 3
SUGGESTION_LINES = 30  # a longer one hides what it changes

# The lines of a file at the head, each with its end; None where it is not to be had.
Read = Callable[[str], list[str] | None]
# The shown range of the diff that holds all of these lines of a file, or None.
Shown = Callable[[str, int, int], tuple[int, int] | None]


def propose(fix: Fix, near: Anchor, read: Read, shown: Shown) -> tuple[Proposal, Anchor] | None:
    """How to show `fix` in a comment that would stand at `near`, and where the comment then stands.

    None if the fix cannot be shown: it names lines that are not there, changes nothing, or would leave a file
    that is not Python.
    """
    edits = _possible(fix, read)
    if not edits:
        return None
    suggestion = _suggestion(fix.says, edits, near, read, shown)
    if suggestion is not None:
        return suggestion
    return Proposal("diff", fix.says, "".join(_patches(edits, read))), near


def patch(fix: Fix, read: Read) -> str:
    """The fix as a diff that `git apply` takes, "" where it names lines that are not there. That the
    file parses after it is for `propose` to say."""
    edits = _changing(fix)
    return "".join(_patches(edits, read)) if _applicable(edits, read) else ""


def _patches(edits: tuple[Edit, ...], read: Read) -> Iterator[str]:
    for path, of_path in _by_path(edits):
        yield f"--- {quoted('a/' + path)}\n+++ {quoted('b/' + path)}\n"
        lines, grown = read(path) or [], 0
        for cluster in _clusters(of_path):
            first = max(1, cluster[0].line - CONTEXT)
            last = min(len(lines), max(edit.end_line for edit in cluster) + CONTEXT)
            before, after = _window(lines, cluster, first, last)
            # A side without lines counts from the line before it.
            old, new = first - (not before), first + grown - (not after)
            yield f"@@ -{old},{len(before)} +{new},{len(after)} @@\n"
            for line in list(difflib.unified_diff(before, after, n=len(before)))[3:]:
                yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            grown += len(after) - len(before)


def _possible(fix: Fix, read: Read) -> tuple[Edit, ...]:
    """The edits that change something; none if one names lines that are not there, or breaks its file."""
    edits = _changing(fix)
    whole = _applicable(edits, read) and all(_python(*one, read) for one in _by_path(edits))
    return edits if whole else ()


def _changing(fix: Fix) -> tuple[Edit, ...]:
    return tuple(edit for edit in fix.edits if edit.text or edit.end_line >= edit.line)


def _by_path(edits: Iterable[Edit]) -> list[tuple[str, list[Edit]]]:
    ordered = sorted(edits, key=lambda edit: (edit.path, edit.line, edit.end_line))
    return [(path, list(of_path)) for path, of_path in groupby(ordered, lambda edit: edit.path)]


def _python(path: str, edits: list[Edit], read: Read) -> bool:
    lines = read(path) or []
    if not path.endswith(".py"):
        return True
    around = _function_around(lines, edits)
    if around is not None:
        # Where one function stands in the place of another the file is what it was. To parse all of a file
        # for each of its fixes would take quadratic time.
        first, last = around
        parts = (lines[first - 1 : last], _applied(lines, edits, first, last))
        if all(_is_one_function("".join(part)) for part in parts):
            return True
    return _parsed("".join(_applied(lines, edits, 1, len(lines)))) is not None


def _function_around(lines: list[str], edits: list[Edit]) -> tuple[int, int] | None:
    """The lines of what looks like a function that holds all edits under its first line, or None."""
    above = range(min(edits[0].line, len(lines) + 1) - 1, 0, -1)
    first = next((number for number in above if _DEF.match(lines[number - 1])), None)
    if first is None:
        return None
    indent = _indent(lines[first - 1])
    last = first
    for number in range(first + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if text and text[0] not in ")]}" and _indent(lines[number - 1]) <= indent:
            break
        last = number
    inside = all(edit.line <= last and edit.end_line <= last for edit in edits)
    return (first, last) if inside else None


_DEF = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _is_one_function(text: str) -> bool:
    indented = text[:1] in (" ", "\t")
    tree = _parsed(f"if _:\n{text}" if indented else text)
    body = tree.body if tree is not None else []
    if indented and len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
        body = body[0].body
    return len(body) == 1 and isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef))


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _applicable(edits: Iterable[Edit], read: Read) -> bool:
    """Whether all edits name lines that are there, and no line twice."""
    ends: dict[str, int] = {}
    for edit in sorted(edits, key=lambda edit: (edit.path, edit.line, edit.end_line)):
        lines = read(edit.path)
        if lines is None or not ends.get(edit.path, 0) < edit.line <= edit.end_line + 1 <= len(lines) + 1:
            return False
        ends[edit.path] = edit.end_line
    return True


def _suggestion(
    says: str, edits: tuple[Edit, ...], near: Anchor, read: Read, shown: Shown
) -> tuple[Proposal, Anchor] | None:
    if {edit.path for edit in edits} != {near.path}:
        return None
    ((_, ordered),) = _by_path(edits)
    if len(list(_clusters(ordered))) > 1:  # as an import far above: it would give again what does not change
        return None
    first, last = ordered[0].line, max(edit.end_line for edit in edits)
    if last < first:  # it only puts lines in: the line that comes after them is given again
        last = first
    lines = read(near.path)
    beside = first <= near.end_line + 1 and near.line <= last + 1
    if lines is None or last > len(lines) or not beside or shown(near.path, first, last) is None:
        return None
    # What GitHub makes of a suggestion's line ends is its own affair; a diff changes nothing by itself.
    if last - first >= SUGGESTION_LINES or any(line.endswith("\r\n") for line in lines[first - 1 : last]):
        return None
    text = "".join(_applied(lines, ordered, first, last))
    return Proposal("suggestion", says, text), Anchor(near.path, first, last)


def _applied(lines: list[str], edits: list[Edit], first: int, last: int) -> Iterator[str]:
    """Lines `first` to `last` with the edits (sorted, apart from one another) applied."""
    at = first
    for edit in edits:
        yield from lines[at - 1 : edit.line - 1]
        yield edit.text
        at = max(at, edit.end_line + 1)
    yield from lines[at - 1 : last]


def _window(lines: list[str], edits: list[Edit], first: int, last: int) -> tuple[list[str], list[str]]:
    """Lines `first` to `last` before the edits and after them."""
    # Not `splitlines`, which also splits at a form feed and the like.
    after = io.StringIO("".join(_applied(lines, edits, first, last)), newline="").readlines()
    return lines[first - 1 : last], after


def _clusters(edits: list[Edit]) -> Iterator[list[Edit]]:
    """Edits of one file, those together whose context lines would meet."""
    cluster: list[Edit] = []
    for edit in edits:
        if cluster and edit.line - max(e.end_line for e in cluster) > 2 * CONTEXT:
            yield cluster
            cluster = []
        cluster.append(edit)
    yield cluster
