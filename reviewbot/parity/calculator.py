"""The task for a model that has learnt it: questions about amounts, a calculator, a verifier of the answers.

A model writes `call add(12,30)`, the tool answers `got 42`, and the model goes on, until it ends its text.
The verifier pays 1 for an answer whose last number is the last one that the tool gave, 0 for any other, so
rewards follow from tokens that were sampled and from tool results alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewbot.parity.task import Codec

CALL = re.compile(r"call (add|sub)\((-?\d{1,9}),(-?\d{1,9})\)$")
NUMBER = re.compile(r"-?\d+")
TURNS = 4  # model calls of one row, at most


class Calculator:
    """`reviewbot.parity.task.Task` in words and numbers."""

    def stop(self, codec: Codec) -> frozenset[int]:
        return codec.ends | codec.closing

    def answer(self, codec: Codec, call: Sequence[int], finish: str | None, turn: int) -> str | None:
        found = CALL.search(codec.decode(list(call))) if finish == "stop" and turn < TURNS else None
        if found is None:
            return None
        left, right = int(found[2]), int(found[3])
        return f"\ngot {left + right if found[1] == 'add' else left - right}\n"

    def reward(self, codec: Codec, tokens: Sequence[int], mask: Sequence[int]) -> float:
        _, got, after = codec.decode(list(tokens)).rpartition("\ngot ")
        result, _, answer = after.partition("\n")
        numbers = NUMBER.findall(answer)
        return float(bool(got and numbers) and numbers[-1] == result)
