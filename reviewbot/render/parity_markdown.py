"""The outcome of a parity comparison in Markdown, as a comment shows it. Text out of dumps is inert."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.parity.result import DIGEST_OF, Context, Failure, Result, Token
from reviewbot.render import parity_text
from reviewbot.render.inert import Markdown, code, one_line
from reviewbot.render.markdown import render

MOST = 10  # failures, and rows set aside


def text(result: Result) -> str:
    """The document."""
    failures = parity_text.telling(result.failures, MOST)
    return render(
        "parity.md.j2",
        result=result,
        failures=failures,
        first=parity_text.first_drawn(failures),
        verdict=parity_text.NAMES[result.verdict],
        counts=list(parity_text.counts(result)),
        most=MOST,
        name=parity_text.row_name,
        place=lambda field, at: field if at is None else f"{field}[{at}]",
        values=_values,
        part=parity_text.part,
        drawn=lambda context, at: "\n".join(_drawn(context, at, result.sides)),
        figures=list(_figures(result)),
        digest_of=DIGEST_OF,
    )


def _values(failure: Failure) -> Markdown:
    if failure.reference is None and failure.restored is None:
        return Markdown("")
    shown = (
        "nothing" if value is None else code(str(value)) for value in (failure.reference, failure.restored)
    )
    return Markdown(" " + " became ".join(shown))


def _drawn(context: Context, at: int | None, sides: tuple[str, str]) -> Iterator[str]:
    """Columns of tokens, those that differ marked below."""
    lines: dict[str, list[str]] = {"index": [], "trained": [], sides[0]: [], sides[1]: [], "": []}
    for token in context.tokens:
        mark = "^" if token.index == at else "" if token.reference == token.restored else "-"
        trained = "." if token.trained is None else str(int(token.trained))
        cells = (str(token.index), trained, *_texts(token), mark)
        width = max(map(len, cells))
        for line, cell in zip(lines.values(), cells, strict=True):
            line.append(cell.rjust(width))
    widest = max(map(len, lines))
    for label, drawn in lines.items():
        yield f"{label:{widest}}  {'  '.join(drawn)}".rstrip()


def _texts(token: Token) -> tuple[str, str]:
    return (
        one_line(parity_text.shown(token.reference, token.reference_text)),
        one_line(parity_text.shown(token.restored, token.restored_text)),
    )


def _figures(result: Result) -> Iterator[str]:
    if result.run:
        yield parity_text.figures(result.run) + ".  "
    if result.mismatch:
        yield parity_text.mismatch(result.mismatch) + ".  "
    if result.profile:
        yield parity_text.stages(result.profile) + ".  "
