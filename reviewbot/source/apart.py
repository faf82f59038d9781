"""How further processes are started: forked on Linux, afresh elsewhere.

One that starts afresh is a `python -c`, and that looks for modules in the working folder first. What stands
there may be under review: its `struct.py` would run before any line of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

FORKS = sys.platform == "linux"
METHOD = "fork" if FORKS else "spawn"
_SAFE = "PYTHONSAFEPATH"


@contextmanager
def starting() -> Iterator[None]:
    """Processes that are started inside take no module from the working folder."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = before
