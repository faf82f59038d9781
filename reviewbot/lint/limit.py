"""A limit on the processor time of a piece of Python code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeIsUp(BaseException):
    """The limit was reached. Not an `Exception`, so that a rule's own `except` does not swallow it."""


def _raise(signum: int, frame: FrameType | None) -> None:
    raise TimeIsUp


@contextmanager
def limited() -> Iterator[None]:
    """Makes `arm` work inside. Off the main thread, and on systems without such a timer, it does nothing."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    global _works
    before, worked = signal.signal(signal.SIGVTALRM, _raise), _works
    _works = True
    try:
        yield
    finally:
        arm(0)
        _works = worked
        signal.signal(signal.SIGVTALRM, before)


_works = False


def arm(seconds: float) -> None:
    """Raises `TimeIsUp` after that much processor time from now on; 0 calls it off."""
    if _works:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


_apart = 0.0


@contextmanager
def untimed() -> Iterator[None]:
    """What runs inside counts against no limit: work done once for everybody, at whoever's first question."""
    global _apart
    left = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0] if _works else 0.0
    started = time.process_time()
    try:
        yield
    finally:
        _apart += time.process_time() - started
        if left:
            signal.setitimer(signal.ITIMER_VIRTUAL, left)


def untimed_seconds() -> float:
    """The processor time that `untimed` has set apart in this process so far."""
    return _apart
