"""Work in which Python looks for no circles of objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Python looks for no circles inside: syntax trees hold none, a file lets go of its own, and looking for
    others costs a tenth of a run."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
