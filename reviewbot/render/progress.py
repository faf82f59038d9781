"""Progress of a long run, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0  # seconds before anything is shown

_Item = TypeVar("_Item")
_shown: list[str] = []
_busy: list[_Busy] = []


@contextmanager
def busy(what: str, *, quiet: bool = False, colour: bool = True) -> Iterator[None]:
    """After `PATIENCE` a line on stderr says that `what` is done and for how long, if stderr is a terminal.

    What is `watched` meanwhile is counted in that line.
    """
    if quiet or _shown or _busy or not sys.stderr.isatty():
        yield
        return
    line = _Busy(what, colour)
    _busy.append(line)
    try:
        with line:
            yield
    finally:
        _busy.remove(line)


class _Busy:
    """A line that a thread shows: nobody needs to come by for it, whatever takes so long."""

    def __init__(self, what: str, colour: bool) -> None:
        self._what, self._colour = what, colour
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._at: tuple[str, int, int | None] = (what, 0, None)
        self._bar: Progress | None = None

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_error: object) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._bar is not None:
            self._bar.stop()

    def tell(self, what: str, done: int, total: int | None) -> None:
        """Counts what is worked on; without a total nobody knows how much there is."""
        with self._lock:
            self._at = (f"{self._what}: {what}" if what else self._what, done, total)
            if self._bar is not None:
                self._draw(self._bar)

    def _draw(self, bar: Progress) -> None:
        # A task that has a total once keeps one.
        for old in bar.task_ids:
            bar.remove_task(old)
        says, done, total = self._at
        bar.add_task(says, total=total, completed=done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        console = Console(stderr=True, no_color=not self._colour)
        # What goes to stdout is no business of a line on stderr.
        bar = Progress(*columns, console=console, transient=True, redirect_stdout=False)
        with self._lock:
            self._draw(bar)
            self._bar = bar
        bar.start()


def watched(
    items: Iterable[_Item], total: int, what: str, *, quiet: bool = False, colour: bool = True
) -> Iterator[_Item]:
    """The same items; after `PATIENCE` a bar on stderr counts them, if stderr is a terminal.

    What is worked on while another bar is there shows none of its own.
    """
    if _busy and not quiet:
        yield from _told(items, total, what, _busy[-1])
        return
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


def _told(items: Iterable[_Item], total: int, what: str, line: _Busy) -> Iterator[_Item]:
    line.tell(what, 0, total)
    for done, item in enumerate(items, 1):
        yield item
        line.tell(what, done, total)
    line.tell("", 0, None)


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
