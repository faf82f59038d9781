"""A limit on the processor time of a piece of Python code."""

from __future__ import annotations

import signal
import threading
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
    before = signal.signal(signal.SIGVTALRM, _raise)
    try:
        yield
    finally:
        arm(0)
        signal.signal(signal.SIGVTALRM, before)


def arm(seconds: float) -> None:
    """Raises `TimeIsUp` after that much processor time from now on; 0 calls it off."""
    if signal.getsignal(signal.SIGVTALRM) is _raise:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
