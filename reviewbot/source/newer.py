"""Code in a syntax that is newer than the Python that runs, which its `ast` cannot parse and LibCST can.

What is newer in it is put in older words of the same length, so that every place stays where it is: type
parameters become white space, a `type` statement becomes `pass`, a formatted string that only a newer Python
reads becomes one of a single name. Rules then look at it as at any other, and LibCST at the code as it is.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from typing import TYPE_CHECKING

from reviewbot.source.files import python_text
from reviewbot.source.room import room

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import libcst as cst

_SECONDS = 20.0
_MARKS = re.compile(
    r"^\s*type\s+\w+[^=\n]*=|^\s*(async\s+)?def\s+\w+\s*\[|^\s*class\s+\w+\s*\[|^\s*except\*?\s+[\w.]+\s*,",
    re.MULTILINE,
)
_FORMATTED = re.compile(r"(?i)\b(r?[ft]|[ft]r)['\"]")
_NEWLINE = re.compile(r"\r\n?|\n")
_SHORTEST = 6  # characters of `f'{_}'`


def tree_of(path: str, content: bytes) -> ast.Module:
    """The tree of a Python file, with every place as it is written.

    Raises `SyntaxError` where neither this Python nor LibCST can parse it, `UnreadableFile` where it is no
    text, and what else `ast.parse` raises.
    """
    try:
        return parse(content)
    except SyntaxError as error:
        # Python says that bytes do not decode as if that were a fault of the grammar.
        found = _newer(python_text(path, content), error)
        if found is None:
            raise
        return found


def tree_of_text(text: str) -> ast.Module:
    """The same of code that is text already."""
    try:
        return parse(text)
    except SyntaxError as error:
        found = _newer(text, error)
        if found is None:
            raise
        return found


def _newer(text: str, error: SyntaxError) -> ast.Module | None:
    """The tree of code over which `ast.parse` raised `error`; None where nothing in it is known to be newer,
    or LibCST cannot parse it either."""
    lines = text.splitlines()
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    formatted = "f-string" in (error.msg or "") or _FORMATTED.search(line)
    if not formatted and not _MARKS.search(text):
        return None
    older = _apart(text)
    if older is None:
        return None
    try:
        return parse(older)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse(code: str | bytes) -> ast.Module:
    """`ast.parse`, without the warnings that are meant for whoever wrote the code."""
    arms = code.count("elif") if isinstance(code, str) else code.count(b"elif")
    with warnings.catch_warnings(), room(arms, 1):
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _apart(text: str) -> str | None:
    """`older` in a process of its own: hostile code can make LibCST's parser run for hours, or crash."""
    import multiprocessing

    from reviewbot.source.apart import METHOD, starting

    ours, theirs = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context(METHOD)
    process = context.Process(target=_send, args=(theirs, text))  # type: ignore[attr-defined]
    with starting():
        process.start()
    theirs.close()
    try:
        found = ours.recv() if ours.poll(_SECONDS) else None
    except EOFError:
        found = None
    process.kill()
    process.join()
    return found if isinstance(found, str) else None


def _send(connection: Connection, text: str) -> None:
    try:
        connection.send(older(text))
    except Exception:  # Whatever it is, the code stays unread.
        connection.send(None)


def older(text: str) -> str:
    """The code with what is newer in it put in older words of the same length.

    Raises `ValueError` where that cannot be done, LibCST's own errors where it cannot parse the code.
    """
    import libcst as cst

    from reviewbot.source.position import Positions
    from reviewbot.source.tree import children

    module = cst.parse_module(text)
    positions = Positions(module, 0)
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def place(node: cst.CSTNode) -> tuple[int, int]:
        found = positions.range(node)
        first, last = starts[found.line - 1], starts[found.end_line - 1]
        return first + found.column - 1, last + found.end_column - 1

    edits: list[tuple[int, int, str]] = []
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.TypeAlias):
            edits.append((*place(node), "pass"))
            continue
        if isinstance(node, cst.TypeParameters):
            edits.append((*place(node), ""))
            continue
        if isinstance(node, (cst.FormattedString, cst.TemplatedString)):
            start, end = place(node)
            if not _parses(text[start:end]):
                edits.append((start, end, _name_for(text[start:end])))
                continue
        if isinstance(node, cst.ExceptHandler) and isinstance(node.type, cst.Tuple) and not node.type.lpar:
            # Of several exceptions without parentheses the first stays.
            edits.append((place(node.type.elements[0].value)[1], place(node.type)[1], ""))
        stack += children(node)
    edits.sort()
    out, at = [], 0
    for start, end, words in edits:
        out += [text[at:start], _fitted(text[start:end], words)]
        at = end
    return "".join([*out, text[at:]])


def _parses(code: str) -> bool:
    try:
        parse(f"({code})")
    except SyntaxError:
        return False
    return True


def _name_for(code: str) -> str:
    """A formatted string of one name that only equal code shares, without its end."""
    return f"f'{{_{hashlib.blake2b(code.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _fitted(piece: str, words: str) -> str:
    """The words in as many bytes and lines as a piece of code takes, which are joined by backslashes.

    Raises `ValueError` where they do not fit.
    """
    parts = _NEWLINE.split(piece)
    ends = [*_NEWLINE.findall(piece), ""]
    room = [
        len(part.encode("utf-8", "surrogatepass")) - bool(end) for part, end in zip(parts, ends, strict=True)
    ]
    if min(room) < 0:
        raise ValueError("a line of it is empty")
    at = 0 if words == "pass" else room.index(max(room))
    if words.startswith("f'"):
        words = words[: room[at] - 2] + "}'"
        if room[at] < _SHORTEST:
            raise ValueError("no line of it is long enough")
    if len(words) > room[at]:
        raise ValueError("it is too short")
    lines = [
        (words if number == at else "").ljust(size) + ("\\" + end if end else "")
        for number, (size, end) in enumerate(zip(room, ends, strict=True))
    ]
    return "".join(lines)
