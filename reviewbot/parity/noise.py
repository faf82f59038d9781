"""The randomness of sampling, as a function of what is sampled and not of when or where.

A token is the argmax of its logits plus Gumbel noise times the temperature, which samples from the softmax at
that temperature. The noise of a vocabulary entry is a hash of its index and of a key made from seed, row and
position, so it is the same in every engine, in every batch, and after a restore, and that of a few entries
costs no more than those few. The hash is the mixing function of SplitMix64 (Steele, Lea, Flood: Fast
splittable pseudorandom number generators, 2014).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy

GAMMA = 0x9E3779B97F4A7C15
MIX = 0xBF58476D1CE4E5B9
MIX_AGAIN = 0x94D049BB133111EB


def key(seed: int, row: str, position: int) -> int:
    """The 64 bits that the noise for the token at index `position` of a row comes from."""
    digest = hashlib.sha256(f"{seed}/{row}/{position}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def at(keys: Any, entries: Any) -> Any:
    """The noise of vocabulary entries under keys: two arrays that broadcast, to float32.

    The hash as a number between 0 and 1, ends excluded, is exact in float64; logarithms that differ in their
    last bit from one machine to the next agree after rounding.
    """
    with numpy.errstate(over="ignore"):  # the arithmetic is modulo 2**64
        mixed = numpy.asarray(keys, numpy.uint64) + (
            numpy.asarray(entries, numpy.uint64) + numpy.uint64(1)
        ) * numpy.uint64(GAMMA)
        mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(MIX)
        mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(MIX_AGAIN)
        mixed ^= mixed >> numpy.uint64(31)
    inside = ((mixed >> numpy.uint64(12)).astype(numpy.float64) + 0.5) * 2.0**-52
    return (-numpy.log(-numpy.log(inside))).astype(numpy.float32)


def gumbel(seed: int, row: str, position: int, size: int) -> Any:
    """The noise of a whole vocabulary for one token: an array of float32, `size` long."""
    return at(key(seed, row, position), numpy.arange(size))


def digest() -> str:
    """The hash of some noise: two processes that agree on it sample alike."""
    hashed = hashlib.sha256()
    for position in range(16):
        hashed.update(gumbel(7, "digest", position, 257).tobytes())
    return hashed.hexdigest()
