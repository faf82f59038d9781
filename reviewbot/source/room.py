"""Room for a chain of many `elif`: each arm is a level of its own to whoever walks the tree by recursion, and
Python allows a thousand levels, to its own parser too."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FEW, _MOST = 60, 5_000  # arms
_PLAIN = 1_000  # levels, for all else


@contextmanager
def room(arms: int, frames: int) -> Iterator[None]:
    """Lets code recurse inside through a chain of so many arms, with so many calls for each, up to some
    thousands of arms. Real nesting of the same depth would need room for more: it is refused before."""
    before = sys.getrecursionlimit()
    if arms > _FEW:
        sys.setrecursionlimit(max(before, _PLAIN + frames * min(arms, _MOST)))
    try:
        yield
    finally:
        if arms > _FEW:
            sys.setrecursionlimit(before)
