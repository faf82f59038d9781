"""The task for any model, trained or not: replies of one length; their hashes are tool results and rewards.

What a model without training writes is no answer to anything, so a verifier of answers would pay it nothing
and its rewards would never differ. A hash differs with every token, and pays about half of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from reviewbot.parity.rows import sha256
from reviewbot.parity.task import Codec

TURNS = 2


class Digest:
    """`reviewbot.parity.task.Task` in hashes of token ids."""

    def stop(self, codec: Codec) -> frozenset[int]:
        return frozenset()

    def answer(self, codec: Codec, call: Sequence[int], finish: str | None, turn: int) -> str | None:
        return f"\ngot {int(sha256(list(call))[:4], 16)}\n" if turn < TURNS else None

    def reward(self, codec: Codec, tokens: Sequence[int], mask: Sequence[int]) -> float:
        sampled = [token for token, trained in zip(tokens, mask, strict=True) if trained]
        return float(int(sha256(sampled)[0], 16) % 2)
