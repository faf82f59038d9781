"""Progress of a long run, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 2.0  # seconds before anything is shown

_Item = TypeVar("_Item")
_shown: list[str] = []


def watched(
    items: Iterable[_Item], total: int, what: str, *, quiet: bool = False, colour: bool = True
) -> Iterator[_Item]:
    """The same items; after `PATIENCE` a bar on stderr counts them, if stderr is a terminal.

    What is worked on while another bar is there shows none of its own.
    """
    if quiet or _shown or not sys.stderr.isatty():
        yield from items
        return
    started = time.monotonic()
    iterator = iter(items)
    done = 0
    for item in iterator:
        done += 1
        yield item
        if done < total and time.monotonic() - started > PATIENCE:
            break
    else:
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    _shown.append(what)
    try:
        with Progress(
            *columns, console=Console(stderr=True, no_color=not colour), transient=True
        ) as progress:
            task = progress.add_task(what, total=total, completed=done)
            for item in iterator:
                progress.advance(task)
                yield item
    finally:
        _shown.remove(what)


@contextmanager
def reading(
    total: int | None, what: str, *, quiet: bool = False, colour: bool = True
) -> Iterator[Callable[[int], None]]:
    """Takes the number of bytes that have been read; after `PATIENCE` a bar on stderr shows them.

    Without a `total` it shows how many there were. Only if stderr is a terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True, no_color=not colour), transient=True)
    task = bar.add_task(what, total=total)
    begun, shown = time.monotonic(), False

    def read(count: int) -> None:
        nonlocal shown
        if not shown and time.monotonic() - begun > PATIENCE:
            shown = True
            bar.start()
        bar.update(task, completed=count)

    try:
        yield read
    finally:
        if shown:
            bar.stop()
