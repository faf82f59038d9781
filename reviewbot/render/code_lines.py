"""Source lines and diffs as HTML: numbered, coloured by kind of token, the lines that matter marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from markupsafe import Markup, escape
from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashLexer
from pygments.token import Comment, Keyword, Number, Operator, String

from reviewbot.render.inert import visible

LONGEST = 300  # letters of a line
_LEXERS: dict[str, type[Lexer]] = {"py": PythonLexer, "sh": BashLexer, "bash": BashLexer, "jq": JsonLexer}
_KINDS = ((Comment, "c"), (String, "s"), (Keyword, "k"), (Operator.Word, "k"), (Number, "m"))
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def coloured(lines: Sequence[str], path: str) -> list[Markup]:
    """Each line, without its end, as HTML."""
    # As many lines come out as go in, whatever separates lines for others.
    plain = [visible(line.rstrip("\r\n"), keep="\t")[:LONGEST] for line in lines]
    plain = [line.replace("\n", " ").replace("\r", " ") for line in plain]
    out: list[list[Markup]] = [[]]
    lexer = _lexer(path.rpartition(".")[2])
    if lexer is None:
        return [escape(line) for line in plain]
    for kind, text in lex("\n".join(plain) + "\n", lexer):
        style = _style(kind)
        for number, part in enumerate(text.split("\n")):
            if number:
                out.append([])
            if part:
                out[-1].append(
                    Markup('<span class="{}">{}</span>').format(style, part) if style else escape(part)
                )
    joined = [Markup("").join(parts) for parts in out[: len(plain)]]
    return joined + [Markup("")] * (len(plain) - len(joined))


@lru_cache
def _lexer(suffix: str) -> Lexer | None:
    kind = _LEXERS.get(suffix)
    return kind(stripnl=False, ensurenl=False) if kind else None


@lru_cache(maxsize=512)
def _style(kind: object) -> str:
    return next((style for known, style in _KINDS if kind in known), "")


def listing(
    lines: Sequence[str], path: str, first: int, marked: Sequence[tuple[int, int]], most: int = 24
) -> Markup:
    """Lines of a file, the first of which has number `first`; those within a range of `marked` stand out.

    Of more than `most` lines the middle is left out.
    """
    rows = []
    shown = coloured(lines, path)
    for number, line in enumerate(shown, first):
        if len(shown) > most and most * 2 // 3 <= number - first < len(shown) - most // 3:
            if number - first == most * 2 // 3:
                rows.append(_row("", "…", Markup("…")))
            continue
        on = any(start <= number <= end for start, end in marked)
        rows.append(_row("on" if on else "", str(number), line))
    return Markup('<pre class="code"><code>{}</code></pre>').format(Markup("").join(rows))


# What git needs and a reader does not: each file is named once.
_FOR_GIT = ("diff --git ", "index ", "--- ")


def diff(text: str, path: str = "x.py", most: int = 400) -> Markup:
    """The first lines of a diff as HTML; the signs stay, so that it reads without colours too."""
    rows: list[Markup] = []
    lines = text.removesuffix("\n").split("\n")
    longer = len(lines) > most
    lines = lines[:most]
    left = 0  # lines of the hunk that are still to come, of both sides
    for line, body in zip(lines, coloured([line[1:] for line in lines], path), strict=True):
        hunk = _HUNK.match(line) if left <= 0 else None
        if left <= 0 and line.startswith(_FOR_GIT):
            continue
        if left <= 0 or line.startswith("\\"):
            left = int(hunk[1] or 1) + int(hunk[2] or 1) if hunk else left
            line = line.removeprefix("+++ b/")
            rows.append(_row("hunk", "", escape(visible(line))))
            continue
        left -= 2 if line[:1] == " " else 1
        rows.append(_row({"+": "add", "-": "del"}.get(line[:1], ""), line[:1], body))
    if longer:
        rows.append(_row("hunk", "", Markup("… and more, in the file")))
    return Markup('<pre class="code diff"><code>{}</code></pre>').format(Markup("").join(rows))


def _row(style: str, number: str, text: Markup) -> Markup:
    # The line end is for those who copy, and for readers that show no boxes.
    return Markup('<span class="row{}"><span class="n">{}</span><span class="t">{}\n</span></span>').format(
        f" {style}" if style else "", number, text
    )


def excerpt(lines: Iterable[str], first: int, last: int, around: int) -> tuple[list[str], int]:
    """The lines from `first` to `last` with some around, without the white space that all share; and the
    number of the first one."""
    known = list(lines)
    low, high = max(1, first - around), min(len(known), last + around)
    part = [line.rstrip("\r\n").expandtabs(4) for line in known[low - 1 : high]]
    while part and not part[0].strip() and low < first:
        part, low = part[1:], low + 1
    while part and not part[-1].strip() and low + len(part) - 1 > last:
        part = part[:-1]
    shared = min((len(line) - len(line.lstrip()) for line in part if line.strip()), default=0)
    return [line[shared:] for line in part], low
