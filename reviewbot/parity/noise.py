"""The randomness of sampling, as a function of what is sampled and not of when or where.

A token is the argmax of its logits plus Gumbel noise times the temperature, which samples from the softmax at
that temperature. The noise comes from a counter-based generator keyed on seed, row and position, so it is the
same in every engine, in every batch, and after a restore.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy


def gumbel(seed: int, row: str, position: int, size: int) -> Any:
    """The noise for the token at index `position` of a row: an array of float32, `size` long."""
    digest = hashlib.sha256(f"{seed}/{row}/{position}".encode()).digest()
    key = numpy.frombuffer(digest[:16], dtype=numpy.uint64)
    uniform = numpy.random.Generator(numpy.random.Philox(key=key)).random(size)
    # Never 0 or 1. In float64: logarithms that differ in the last bit agree after rounding.
    inside = (uniform * (1 - 2e-12)) + 1e-12
    return (-numpy.log(-numpy.log(inside))).astype(numpy.float32)


def digest() -> str:
    """The hash of some noise: two processes that agree on it sample alike."""
    hashed = hashlib.sha256()
    for position in range(16):
        hashed.update(gumbel(7, "digest", position, 257).tobytes())
    return hashed.hexdigest()
