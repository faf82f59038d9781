"""A limit on the processor time of a piece of Python code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from types import FrameType


class TimeIsUp(BaseException):
    """The limit was reached. Not an `Exception`, so that a rule's own `except` does not swallow it."""


TICK = 0.005
"""Seconds of processor time between two looks at what is left: setting a timer anew for each rule and unit
takes longer than many a rule does."""


def _tick(signum: int, frame: FrameType | None) -> None:
    global _left
    _left -= 1
    if _left == 0:
        raise TimeIsUp


@contextmanager
def limited() -> Iterator[None]:
    """Makes `arm` work inside. Off the main thread, and on systems without such a timer, it does nothing; nor
    inside of another, for to set the timer takes as long as to look at a small file."""
    global _left, _ticking
    if (
        _ticking
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    _ticking = True
    before, left = signal.signal(signal.SIGVTALRM, _tick), _left
    _left = 0
    rest = signal.setitimer(signal.ITIMER_VIRTUAL, TICK, TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, *rest)
        _left, _ticking = left, False
        # A tick may come late, and by default it would end the process.
        if before != signal.SIG_DFL:
            signal.signal(signal.SIGVTALRM, before)


_left = 0  # ticks; none or fewer: nothing is limited
_ticking = False


def arm(seconds: float) -> None:
    """Raises `TimeIsUp` after that much processor time from now on, up to two ticks later; 0 calls it off."""
    global _left
    # The first tick may come at once.
    _left = 1 + ceil(seconds / TICK) if seconds else 0


_apart = 0.0


@contextmanager
def untimed() -> Iterator[None]:
    """What runs inside counts against no limit: work done once for everybody, at whoever's first question."""
    global _apart, _left
    left, _left = _left, 0
    started = time.process_time()
    try:
        yield
    finally:
        _apart += time.process_time() - started
        _left = left


def untimed_seconds() -> float:
    """The processor time that `untimed` has set apart in this process so far."""
    return _apart
