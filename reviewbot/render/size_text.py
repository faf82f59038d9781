"""A change's size as tables with bars, for a terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reviewbot.render.inert import visible
from reviewbot.review.size.result import KINDS, Cut, FileSize, Kind, RoundSize, Size

MOST = 60  # rows of a table; JSON has all
BAR, SHORT_BAR = 24, 12  # columns of the longest bar, with room for it and without
ROOM = 110
PIPED = 120  # columns where there is no terminal to ask
NARROWEST = 60  # columns that the tables need
# Colours that are told apart without red against green.
COLOURS: dict[Kind, str] = {
    "product": "blue",
    "check": "cyan",
    "test": "bright_blue",
    "set-up": "white",
    "report": "bright_black",
    "duplicate": "magenta",
    "cannot-fail": "yellow",
    "other": "bright_black",
}
# What tells them apart where there are no colours.
GLYPHS: dict[Kind, str] = {
    "product": "█",
    "check": "▓",
    "test": "▒",
    "set-up": "░",
    "report": "·",
    "duplicate": "x",
    "cannot-fail": "!",
    "other": "─",
}
STANDINGS = {
    "estimate": "about",
    "applies": "diff",
    "tested": "diff, run",
    "withdrawn": "diff withdrawn",
}


def text(size: Size, *, colour: bool = False, diffs: bool = False) -> str:
    """The last round by kind and by file, all rounds side by side, what the findings would change."""
    out = io.StringIO()
    width = shutil.get_terminal_size((PIPED, 24)).columns  # of $COLUMNS, else of the terminal
    console = Console(
        file=out,
        width=max(NARROWEST, width),
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    last = size.rounds[-1]
    bar = BAR if console.width >= ROOM else SHORT_BAR
    console.print(Text(claim(size), style="bold"))
    console.print(_kinds(last, bar))
    console.print(_files(last, bar))
    if len(size.rounds) > 1:
        console.print(_rounds(size.rounds))
    if size.cuts:
        console.print(_cuts(size.cuts))
        for cut in size.cuts:
            _along(console, cut)
    if size.checks:
        console.print(_checks(size, console.width))
    for note in size.notes:
        console.print(Text(note))
    if diffs:
        for cut in size.cuts:
            if cut.diff and cut.state != "withdrawn":
                console.print(Text(f"{cut.id} {visible(cut.claim)}", style="bold"))
                console.print(Text(visible(cut.diff, keep="\n\t")), soft_wrap=True)
    # Rich fills its tables up with blanks.
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def claim(size: Size, quote: str = "") -> str:
    """What the page is about, as a sentence; commits stand between `quote`s."""
    last = size.rounds[-1]
    lines = f"adds {last.lines.added:,} and deletes {last.lines.deleted:,} lines"
    head, base = (f"{quote}{commit[:12]}{quote}" for commit in (last.head, last.merge_base))
    what = f"{head} {lines} since {base}"
    tests = sum(file.test_lines for file in last.files)
    if tests:
        each = f", {last.lines_per_check:.1f} lines for each" if last.lines_per_check else ""
        count = f"{last.checks} check{'' if last.checks == 1 else 's'} that can fail"
        what += f"; {tests:,} of the added lines are tests, with {count}{each}"
    removed, added = sum(file.own for file in size.after), sum(file.adds for file in size.after)
    if removed or added:
        back = f", {added:,} {'comes' if added == 1 else 'come'} back" if added else ""
        what += f"; {removed:,} of the added lines can go{back}"
    return what + "."


def _table(*columns: tuple[str, bool]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for name, number in columns:
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    return table


def _long(value: int, most: int, bar: int) -> int:
    """How long a bar is of at most `bar`: at least one for anything above nothing."""
    return max(1, round(bar * value / most)) if value and most else 0


def _kinds(last: RoundSize, bar: int) -> Table:
    table = _table(("lines added by kind", False), ("+", True), ("−", True), ("", False))
    most = max((count.added for count in last.kinds.values()), default=0)
    for kind, count in last.kinds.items():
        drawn = Text(GLYPHS[kind] * _long(count.added, most, bar), style=COLOURS[kind])
        table.add_row(KINDS[kind], f"{count.added:,}", f"{count.deleted:,}", drawn)
    table.add_row("all, as git counts", f"{last.lines.added:,}", f"{last.lines.deleted:,}", "", style="bold")
    return table


def _files(last: RoundSize, bar: int) -> Table:
    table = _table(
        ("file", False), ("+", True), ("−", True), ("checks", True), ("lines a check", True), ("", False)
    )
    most = max((file.lines.added for file in last.files), default=0)
    ordered = sorted(last.files, key=lambda one: (-one.lines.added, one.path))
    for file in ordered[:MOST]:
        name = (
            visible(file.path)
            if file.old_path is None
            else f"{visible(file.old_path)} → {visible(file.path)}"
        )
        if file.binary:
            table.add_row(name, "-", "-", "", "", "binary")
            continue
        each = f"{file.test_lines / file.checks:.1f}" if file.checks else ""
        checks = f"{file.checks}" if file.checks else ""
        if file.cannot_fail:
            checks = f"{checks or 0} (+{file.cannot_fail} cannot)"
        table.add_row(
            name, f"{file.lines.added:,}", f"{file.lines.deleted:,}", checks, each, _parts(file, most, bar)
        )
    return table


def _parts(file: FileSize, most: int, bar: int) -> Text:
    """The file's bar, its parts in the colours of their kinds."""
    length = _long(file.lines.added, most, bar)
    drawn = Text()
    done = 0
    sofar = 0
    for kind, count in file.kinds.items():
        sofar += count.added
        end = round(length * sofar / file.lines.added) if file.lines.added else 0
        drawn.append(GLYPHS[kind] * (end - done), style=COLOURS[kind])
        done = end
    return drawn


def _rounds(rounds: Iterable[RoundSize]) -> Table:
    listed = list(rounds)
    table = _table(("round", False), *((f"{one.number}: {one.head[:9]}", True) for one in listed))
    for kind, label in KINDS.items():
        counts = [one.kinds.get(kind) for one in listed]
        if any(counts):
            table.add_row(label, *(f"{count.added:,}" if count else "0" for count in counts))
    table.add_row("all added", *(f"{one.lines.added:,}" for one in listed), style="bold")
    table.add_row("all deleted", *(f"{one.lines.deleted:,}" for one in listed), style="bold")
    table.add_row("checks that can fail", *(str(one.checks) for one in listed))
    per = (f"{one.lines_per_check:.1f}" if one.lines_per_check else "-" for one in listed)
    table.add_row("test lines a check", *per)
    return table


def _cuts(cuts: Iterable[Cut]) -> Table:
    table = _table(
        ("", False), ("finding", False), ("takes", True), ("adds", True), ("", False), ("why", False)
    )
    for cut in cuts:
        what = f"{cut.rule} {visible(cut.path)}:{cut.line}"
        gone = f"−{cut.removes:,}" if cut.removes else "0"
        come = f"+{cut.adds:,}" if cut.adds else "0"
        style = "dim" if cut.state == "withdrawn" else ""
        table.add_row(cut.id, what, gone, come, STANDINGS[cut.state], visible(cut.says), style=style)
    return table


def _along(console: Console, cut: Cut) -> None:
    if cut.along and cut.state != "withdrawn":
        named = ", ".join(f"{one.what} {visible(one.name)} (L{one.line})" for one in cut.along)
        console.print(Text(f"{cut.id} takes along: {named}"))


def _checks(size: Size, width: int) -> Table:
    table = _table(("check", False), ("today", True), ("after", False))
    table.columns[0].overflow, table.columns[0].no_wrap = "ellipsis", True
    table.columns[0].max_width = min(64, width // 2)
    path = ""
    for check in size.checks[:MOST]:
        if check.path != path:
            path = check.path
            table.add_row(Text(visible(path), style="bold"), "", "")
        after = (
            f"L{check.after}"
            if check.after
            else f"gone with {check.gone_with}: {visible(check.still_catches)}"
        )
        table.add_row(f"  {visible(check.text)}", f"L{check.line}", after)
    if len(size.checks) > MOST:
        table.add_row(f"and {len(size.checks) - MOST} more", "", "")
    return table
