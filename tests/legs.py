"""What tests of parity runs share: a run of a few rows, and waiting for what its processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

# Twelve rows, decoded four at a time, so that the kill finds some done, some cut, and some not begun.
SMALL = ("--steps", "1", "--prompts", "4", "--samples", "3", "--at-a-time", "4",
         "--min-unequal-groups", "0.2")  # fmt: skip


def until(found: Callable[[], Found], seconds: float = 60.0) -> Found:
    """What `found` gives, as soon as it is true."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return result
