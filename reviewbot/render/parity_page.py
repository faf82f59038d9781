"""The page of a parity run: the verdict, the first differences as strips, what it could not notice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reviewbot.errors import UsageError
from reviewbot.parity.result import DIGEST_OF, Context, Failure, Result, SetAside
from reviewbot.render import example, parity_plots, parity_text
from reviewbot.render.example import Example
from reviewbot.render.pages import HOME, Crumbs, Extra, counted, render
from reviewbot.render.parity_plots import Plot
from reviewbot.render.strip import Strip, shown
from reviewbot.render.strip import restored as restored_words

MOST = 12  # differences that are drawn
VERDICTS = {
    "pass": "Both runs trained on the same rows",
    "fail": "The second run trained on other rows",
    "set_aside": "Rows had to be set aside",
    "inconclusive": "The runs show nothing either way",
}


def extra(result: Result, saved: str, file: str) -> Extra:
    """The page of a result that was read from the file named `saved`, among others."""
    title = VERDICTS[result.verdict]
    rows = f"{counted(result.rows, 'row')} compared, {counted(result.failures_total, 'difference')}"
    try:
        plots, missing = parity_plots.drawn(result), ""
    except UsageError as error:  # the other pages need no plots
        plots, missing = [], str(error)
    text = _page(result, saved, (HOME, ("Parity run", "")), plots, missing)
    return Extra(file, f"Parity run {saved}", f"{title[:1].lower()}{title[1:]}; {rows}.", text)


def page(result: Result, saved: str) -> str:
    """The page of a result named `saved`. Raises `UsageError` where the library for plots is missing."""
    return _page(result, saved, (("Parity run", ""),), parity_plots.drawn(result))


def _page(result: Result, saved: str, crumbs: Crumbs, plots: list[Plot], missing: str = "") -> str:
    title = VERDICTS[result.verdict]
    return render(
        "parity_page.html.j2",
        crumbs,
        result=result,
        title=title,
        saved=saved,
        failures=[(one, _example(one, result.sides)) for one in parity_text.telling(result.failures, MOST)],
        aside=[(one, _example(one, result.sides)) for one in result.set_aside[:MOST]],
        most=MOST,
        plots=plots,
        missing=missing,
        figures=parity_text.figures(result.run) if result.run else "",
        digest_of=DIGEST_OF,
        mismatch=parity_text.mismatch(result.mismatch) if result.mismatch else "",
    )


def _example(one: Failure | SetAside, sides: tuple[str, str]) -> Example | None:
    if one.context is None or not one.context.tokens or one.first_difference is None:
        return None
    field = one.field if isinstance(one, Failure) else "token_ids"
    values = (one.reference, one.restored)
    return example.of_strip(strip_of(one.context, field, sides, one.first_difference, values))


def strip_of(
    context: Context, field: str, sides: tuple[str, str], at: int, values: tuple[object, object]
) -> Strip:
    """The tokens around index `at`, at which a field has two values. Positions count from the first shown."""
    tokens = context.tokens
    first = tokens[0].index
    mask = [token.trained for token in tokens]
    restored = None
    if context.restored_prefix is not None:
        start, end = (min(max(at - first, 0), len(tokens)) for at in context.restored_prefix)
        restored = (start, end) if start < end else None
    strip = Strip(
        field=field,
        sides=sides,
        baseline=_side((token.reference, token.reference_text) for token in tokens),
        other=_side((token.restored, token.restored_text) for token in tokens),
        at=min(max(at - first, 0), len(tokens) - 1),
        mask=tuple(int(bool(one)) for one in mask) if None not in mask else (),
        restored=restored,
        first=first,
    )
    if field == "token_ids":
        return strip
    # Its tokens are equal: what differs at them is said in words.
    words = " → ".join("nothing" if value is None else shown(value) for value in values)
    kept = restored_words(strip, restored) if restored else ""
    return replace(strip, labels=("", kept, f"first difference of {field}: index {at} ({words})"))


def _side(tokens: Iterable[tuple[int | None, str | None]]) -> tuple[int | str, ...]:
    """The tokens of one row, as text where they have been decoded, up to the row's end."""
    written = ((value, text) for value, text in tokens if value is not None)
    return tuple(value if text is None else parity_text.shown(value, text) for value, text in written)
