"""How the process deals with memory while rows go by."""

from __future__ import annotations

import ctypes
import gc

KEPT = 32 * 1024 * 1024  # bytes that were freed and are not handed back
_TRIM, _MMAP = -1, -3  # glibc's names for the two thresholds, in malloc.h


def settled() -> None:
    """What is there by now stays, and what rows leave behind is kept for the next ones.

    Lines come and go by the hundred kilobytes, and to hand each back to the system and get it again costs a
    quarter of the time of a comparison. Other C libraries than glibc are left as they are.
    """
    gc.freeze()
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for threshold in (_TRIM, _MMAP):
            mallopt(threshold, KEPT)
