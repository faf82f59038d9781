"""Plots of a parity run as SVG: gaps of log-probs, first differences, gaps of near-ties, planted faults."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reviewbot.errors import NeedsExtra
from reviewbot.parity.result import Result
from reviewbot.render.inert import visible
from reviewbot.render.pages import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#010203"  # becomes the colour of the text around it, light or dark
# Told apart by colour-blind people (Okabe and Ito), and by shape or hatching in print.
BLUE, ORANGE, RED = "#0072b2", "#e69f00", "#d55e00"
ABOUT_ZERO = -60  # binary exponents below are as good as none


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn: its title, the same in words, and the SVG."""

    title: str
    says: str
    svg: Markup


def drawn(result: Result) -> list[Plot]:
    """The plots for which a result has something to show. Text stays text; nothing outside is asked for.

    Raises `UsageError` where matplotlib is not installed.
    """
    wanted = [plot for plot in (_logprobs(result), _first(result), _ties(result), _faults(result)) if plot]
    return [Plot(title, says, _svg(draw, title, says, number, height))
            for number, (title, says, draw, height) in enumerate(wanted)]  # fmt: skip


_Wanted = tuple[str, str, Callable[["Axes"], None], float]


def _logprobs(result: Result) -> _Wanted | None:
    found = result.logprobs
    if found is None or not found.gaps:
        return None
    exponents = [max(exponent, ABOUT_ZERO) for exponent, _ in found.gaps]
    counts = [tokens for _, tokens in found.gaps]

    def draw(axes: Axes) -> None:
        axes.bar([2.0**at for at in exponents], counts, width=[2.0**at for at in exponents], align="edge",
                 color=BLUE, edgecolor="white", label="tokens")  # fmt: skip
        if found.noise > 0:
            axes.axvline(found.noise, color=RED, linestyle="--", label=f"allowed: {found.noise:g}")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda *_: "")
        _whole(axes)
        axes.set_xlabel("gap in nats")
        axes.set_ylabel("tokens")
        axes.legend(frameon=False)

    says = (
        f"{found.bit_identical:,} of {found.tokens:,} log-probs are bit-identical; the others are up to "
        f"{found.max_difference or 0:.3g} nats apart, and {found.noise:g} is allowed"
    )
    return "How far log-probs of the same token are apart", says, draw, 2.6


def _first(result: Result) -> _Wanted | None:
    failed = [one.first_difference for one in result.failures if one.field == "token_ids"]
    wrong = [at for at in failed if at is not None]
    aside = [row.first_difference for row in result.set_aside]
    if not wrong and not aside:
        return None

    def draw(axes: Axes) -> None:
        named = (("failed", wrong, RED, "///"), ("set aside", aside, ORANGE, ""))
        last = max((*wrong, *aside))
        edges: list[float] = [index * (last + 1) / 24 for index in range(25)]
        shown = [(label, values, colour, hatch) for label, values, colour, hatch in named if values]
        _, _, bars = axes.hist(
            [values for _, values, _, _ in shown], bins=edges, stacked=True, edgecolor="white",
            color=[colour for _, _, colour, _ in shown], label=[label for label, *_ in shown],
        )  # fmt: skip
        groups: Any = bars if len(shown) > 1 else [bars]
        for group, (_, _, _, hatch) in zip(groups, shown, strict=True):
            for bar in group:
                bar.set_hatch(hatch)
        _whole(axes)
        axes.set_xlabel("index of the first different token in its row")
        axes.set_ylabel("rows")
        axes.legend(frameon=False)

    says = f"{counted(len(wrong), 'row')} failed and {counted(len(aside), 'row')} set aside"
    says += f"; the first difference is at index {min((*wrong, *aside))}"
    return "Where rows first differ", says, draw, 2.2


def _whole(axes: Axes) -> None:
    """Counts have no fractions."""
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _ties(result: Result) -> _Wanted | None:
    rows = result.set_aside
    if not rows:
        return None

    def draw(axes: Axes) -> None:
        axes.scatter(
            [row.gap_reference for row in rows], [row.gap_restored for row in rows], color=BLUE, s=18
        )
        most = max(row.tolerance for row in rows)
        axes.axvline(most, color=RED, linestyle="--")
        axes.axhline(most, color=RED, linestyle="--", label=f"allowed: {most:g}")
        axes.set_xlim(-0.05 * most, 1.2 * most)
        axes.set_ylim(-0.1 * most, 1.2 * most)
        axes.set_xlabel(f"gap in the {result.sides[0]} run, nats")
        axes.set_ylabel(f"in the {result.sides[1]} run")
        axes.legend(frameon=False)

    widest = max(max(row.gap_reference, row.gap_restored) for row in rows)
    says = f"{counted(len(rows), 'near-tie')}; the candidates are at most {widest:.3g} nats apart"
    return "How near the near-ties are", says, draw, 2.6


def _faults(result: Result) -> _Wanted | None:
    faults = result.planted
    if not faults:
        return None
    by = sorted({name for fault in faults for name in fault.caught_by})
    caught = [(number, by.index(name)) for number, fault in enumerate(faults) for name in fault.caught_by]

    def draw(axes: Axes) -> None:
        axes.scatter([at for _, at in caught], [number for number, _ in caught], color=BLUE, marker="s", s=30)
        axes.set_yticks(range(len(faults)), [fault.fault for fault in faults])
        axes.set_xticks(range(len(by)), by, rotation=45, ha="right")
        axes.set_xlim(-0.5, max(len(by), 1) - 0.5)
        axes.set_ylim(len(faults) - 0.5, -0.5)

    total = sum(fault.caught for fault in faults)
    missed = ", ".join(fault.fault for fault in faults if not fault.caught)
    says = f"{total} of {len(faults)} planted faults were caught" + (f"; not {missed}" if missed else "")
    return "Which check caught which planted fault", says, draw, 1.4 + 0.24 * len(faults)


def _svg(draw: Callable[[Axes], None], title: str, says: str, number: int, height: float) -> Markup:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise NeedsExtra("a page with plots", "matplotlib", "pages") from None
    settings: dict[Any, Any] = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK
    )
    settings |= {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 9, "text.parse_math": False}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(7, height), layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Markup("\n".join(_finished(out.getvalue(), title, says, f"plot-{number}")))


def _finished(drawn: str, title: str, says: str, name: str) -> Iterator[str]:
    """Without the prologue, under names of its own, in the colour of the text around it, and in words."""
    body = drawn[drawn.index("<svg") :].replace(INK, "currentColor")
    body = re.sub(r"\s*<(metadata|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", body)
    size = re.search(r'viewBox="[^"]*"', body)
    opening = f'<svg role="img" aria-labelledby="{name}-says" {size[0] if size else ""} class="plot">'
    yield f'{opening}<title id="{name}-says">{escape(visible(f"{title}: {says}"))}</title>'
    yield body[body.index(">") + 1 :].strip()
