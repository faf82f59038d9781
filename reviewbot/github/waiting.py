"""What is waited for is said, on a terminal and in a log: nobody else knows why nothing happens."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.5  # seconds before anything is said


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """After `PATIENCE` a line on standard error says that `what` is waited for."""
    timer = threading.Timer(PATIENCE, say, [f"waiting for {what}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def say(what: str) -> None:
    """A line on standard error."""
    print(f"reviewbot: {what}", file=sys.stderr, flush=True)
