"""The workload: questions about amounts, a calculator as the tool, and a verifier of the answers.

A model writes `call add(12,30)`, the tool answers `got 42`, and the model goes on, until it ends its text.
The verifier pays 1 for an answer whose last number is the last one that the tool gave, 0 for any other, so
rewards follow from tokens that were sampled and from tool results alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reviewbot.errors import UsageError

CALL = re.compile(r"call (add|sub)\((-?\d{1,9}),(-?\d{1,9})\)$")
NUMBER = re.compile(r"-?\d+")
TURNS = 4  # model calls of one row, at most


@dataclass(frozen=True, slots=True)
class Codec:
    """Text to token ids and back, and the ids that end a model call: end of text, closing parenthesis."""

    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    begin: tuple[int, ...]
    stop: frozenset[int]


def codec(model: Path | str) -> Codec:
    """The tokenizer of a model folder or name; the characters themselves for a folder without one.

    Raises `UsageError` where there is no tokenizer.
    """
    if isinstance(model, Path) and not any(model.glob("tokenizer*")):
        return Codec(
            encode=lambda text: [min(ord(character), 127) for character in text],
            decode=lambda tokens: "".join(map(chr, tokens)),
            begin=(1,),
            stop=frozenset({2, ord(")")}),
        )
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(model))
    except (OSError, ValueError) as error:
        raise UsageError(f"--model {model}: no tokenizer: {str(error).splitlines()[0][:200]}") from None
    closing = {token for text, token in tokenizer.get_vocab().items() if text.endswith(")")}
    ends = {tokenizer.eos_token_id} - {None}
    begin = (tokenizer.bos_token_id,) if tokenizer.bos_token_id is not None else ()
    return Codec(
        encode=lambda text: list(tokenizer.encode(text, add_special_tokens=False)),
        decode=lambda tokens: str(tokenizer.decode(tokens, skip_special_tokens=False)),
        begin=begin,
        stop=frozenset(ends | closing),
    )


def question(seed: int, step: int, prompt: int) -> str:
    """The text of one prompt; the same for the same numbers."""
    drawn = random.Random(f"{seed}/{step}/{prompt}")
    who = drawn.choice(["ann", "bob", "cat", "dan"])
    text = f"user: {who} has {drawn.randint(0, 99)} {drawn.choice(['apples', 'coins', 'books', 'nails'])}. "
    for _ in range(drawn.randint(1, 2)):
        amount = drawn.randint(0, 99)
        text += drawn.choice([f"{who} gets {amount} more. ", f"{who} loses {amount}. "])
    return text + drawn.choice(["how many now?", "what is left?"]) + "\n"


def tool(text: str) -> str | None:
    """What the tool answers to a text that ends in a call of it; None where it does not."""
    found = CALL.search(text)
    if found is None:
        return None
    left, right = int(found[2]), int(found[3])
    return f"\ngot {left + right if found[1] == 'add' else left - right}\n"


def reward(text: str) -> float:
    """1.0 where the last number after the last tool result is that result."""
    _, got, after = text.rpartition("\ngot ")
    result, _, answer = after.partition("\n")
    numbers = NUMBER.findall(answer)
    return float(bool(got and numbers) and numbers[-1] == result)


def advantages(rewards: list[float]) -> list[float]:
    """Each reward relative to its group: less the mean, over the standard deviation (GRPO)."""
    mean = sum(rewards) / len(rewards)
    deviation = (sum((value - mean) ** 2 for value in rewards) / len(rewards)) ** 0.5
    return [(value - mean) / (deviation + 1e-6) for value in rewards]
