"""The bar chart of a change's size as SVG: per file what stays, what findings take away, what they add."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from reviewbot.errors import NeedsExtra
from reviewbot.render.inert import visible
from reviewbot.render.size_text import claim
from reviewbot.review.size.result import KINDS, OF_TESTS, CutFile, Kind, RoundSize, Size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_IDS = 4  # findings named at a bar
MOST_FILES = 14  # bars; the rest is one bar
PAD = 12  # pixels between a bar, the text after it and the edge, together
LONGEST = 44  # characters of a file's name; of a longer one its end
INK = "#010203"  # becomes the colour of the text around it, light or dark
# Told apart by colour-blind people (Okabe and Ito), and by hatching in print.
KEPT, GONE, BACK = ("#0072b2", ""), ("#e69f00", "///"), ("#009e73", "\\\\\\")
PARTS: dict[Kind, str] = {
    "product": "#0072b2",
    "check": "#009e73",
    "test": "#56b4e9",
    "set-up": "#999999",
    "report": "#cccccc",
    "duplicate": "#cc79a7",
    "cannot-fail": "#e69f00",
    "other": "#f0e442",
}


def svg(size: Size) -> str:
    """Two panels: files with what findings change, and kinds. Text stays text; nothing outside is asked for.

    Raises UsageError where matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise NeedsExtra("a page with charts", "matplotlib", "pages") from None
    last = size.rounds[-1]
    rows = _rows(last, size.after, _findings(size))
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": last.head,
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "hatch.linewidth": 0.6,
    }
    with matplotlib.rc_context(settings):
        height = 1.6 + 0.26 * (len(rows) + len(last.kinds))
        figure = Figure(figsize=(8, height), layout="constrained")
        upper, lower = figure.subplots(2, 1, height_ratios=[max(2, len(rows)), max(2, len(last.kinds))])
        _files(upper, rows)
        _kinds(lower, last)
        if any(row[2] or row[3] for row in rows):
            figure.legend(
                *upper.get_legend_handles_labels(), loc="outside upper right", ncols=3, frameon=False
            )
        figure.draw_without_rendering()  # after which texts and axes have their sizes
        for axes in (upper, lower):
            _fitted(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _finished(out.getvalue(), size, rows)


# A name, lines that stay, that findings take away, that they add, and these findings.
_Row = tuple[str, int, int, int, str]


def _findings(size: Size) -> dict[str, str]:
    """The ids of the findings whose diffs change a file, by its path."""
    found: dict[str, list[str]] = {}
    for cut in size.cuts:
        for file in cut.files if cut.state in ("applies", "tested") else ():
            found.setdefault(file.path, []).append(cut.id)
    return {
        path: ", ".join(ids[:MOST_IDS]) + (", …" if len(ids) > MOST_IDS else "")
        for path, ids in found.items()
    }


def _rows(last: RoundSize, after: tuple[CutFile, ...], by: Mapping[str, str]) -> list[_Row]:
    """The largest files first; the small ones together."""
    changes = {one.path: one for one in after}
    rows = []
    for file in sorted(last.files, key=lambda one: (-one.lines.added, one.path)):
        change = changes.get(file.path)
        own, adds = (change.own, change.adds) if change else (0, 0)
        if file.lines.added or adds:
            rows.append((_short(file.path), file.lines.added - own, own, adds, by.get(file.path, "")))
    if len(rows) <= MOST_FILES:
        return rows
    rest = rows[MOST_FILES - 1 :]
    sums = (sum(row[1] for row in rest), sum(row[2] for row in rest), sum(row[3] for row in rest))
    return [*rows[: MOST_FILES - 1], (f"{len(rest)} smaller files", *sums, "")]


def _short(path: str) -> str:
    shown = visible(path)
    return shown if len(shown) <= LONGEST else "…" + shown[-LONGEST + 1 :]


def _files(axes: Axes, rows: list[_Row]) -> None:
    names = range(len(rows))
    left = [0] * len(rows)
    for place, label, (colour, hatch) in (
        (1, "stays", KEPT),
        (2, "can go", GONE),
        (3, "comes back", BACK),
    ):
        widths: list[Any] = [row[place] for row in rows]
        if any(widths):
            axes.barh(names, widths, left=left, color=colour, hatch=hatch, edgecolor="white", label=label)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    for number, (row, end) in enumerate(zip(rows, left, strict=True)):
        note = f"{row[1] + row[2]}" + (f" −{row[2]}" if row[2] else "") + (f" +{row[3]}" if row[3] else "")
        note += f" ({row[4]})" if row[4] and (row[2] or row[3]) else ""
        axes.annotate(note, (end, number), xytext=(4, 0), textcoords="offset points", va="center")
    _plain(axes, [row[0] for row in rows], "lines added, by file")


def _kinds(axes: Axes, last: RoundSize) -> None:
    kinds = [kind for kind in KINDS if kind in last.kinds]
    values = [last.kinds[kind].added for kind in kinds]
    bars = axes.barh(range(len(kinds)), values, color=[PARTS[kind] for kind in kinds], edgecolor="white")
    axes.bar_label(bars, padding=4)
    _plain(axes, [KINDS[kind] for kind in kinds], "lines added, by kind")


def _plain(axes: Axes, names: list[str], title: str) -> None:
    # A dollar sign would open a formula.
    axes.set_yticks(range(len(names)), [name.replace("$", "\\$") for name in names])
    axes.invert_yaxis()
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)
    axes.margins(x=0.28)


def _fitted(axes: Axes) -> None:
    """Makes the scale as wide as it takes for the text after each bar to stand inside."""
    width = axes.get_window_extent().width
    most = axes.get_xlim()[1]
    for text in axes.texts:
        end: float = text.xy[0]  # type: ignore[attr-defined]  # all of them are annotations of a bar
        room = width - text.get_window_extent().width - PAD
        most = max(most, end * width / max(room, width / 10))
    axes.set_xlim(0, most)


def _finished(drawn: str, size: Size, rows: list[_Row]) -> str:
    """Without the prologue, in the colour of the text around it, with its content in words."""
    body = drawn[drawn.index("<svg") :].replace(INK, "currentColor")
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    listed = "; ".join(
        f"{name}: {kept + gone} added"
        + (f", {gone} can go" if gone else "")
        + (f", {back} {'comes' if back == 1 else 'come'} back" if back else "")
        + (f" ({by})" if by and (gone or back) else "")
        for name, kept, gone, back, by in rows
    )
    tests = sum(size.rounds[-1].kinds[kind].added for kind in OF_TESTS if kind in size.rounds[-1].kinds)
    title = escape(claim(size))
    words = escape(f"{listed}. Lines of tests: {tests}.")
    opening = re.compile(r"<svg ([^>]*)>", re.DOTALL)
    return opening.sub(
        lambda match: (
            f'<svg role="img" aria-labelledby="size-title size-desc" {match[1]}>'
            f'\n <title id="size-title">{title}</title>\n <desc id="size-desc">{words}</desc>'
        ),
        body,
        count=1,
    )
