"""What a workload asks of a model: prompts, a tool that answers, and a verifier of the whole row."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from reviewbot.errors import UsageError

TaskName = Literal["calculator", "digest"]


@dataclass(frozen=True, slots=True)
class Codec:
    """Text to token ids and back, the ids that begin a text, those that end one, and those of a `)`."""

    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    begin: tuple[int, ...]
    ends: frozenset[int]
    closing: frozenset[int]


class Task(Protocol):
    """A workload's questions and answers. Nothing in it may depend on when or where a row is decoded."""

    def stop(self, codec: Codec) -> frozenset[int]:
        """The ids that end a model call; without any, every call has as many tokens as its budget."""

    def answer(self, codec: Codec, call: Sequence[int], finish: str | None, turn: int) -> str | None:
        """What the tool answers to the tokens of a model call; None where the row ends with it."""

    def reward(self, codec: Codec, tokens: Sequence[int], mask: Sequence[int]) -> float:
        """The verifier's 0 or 1 for a row: its tokens, and a mask of those that the model gave."""


def named(name: TaskName) -> Task:
    """The task of that name."""
    if name == "digest":
        from reviewbot.parity.digest import Digest

        return Digest()
    from reviewbot.parity.calculator import Calculator

    return Calculator()


def codec(model: Path | str) -> Codec:
    """The tokenizer of a model folder or name; the characters themselves for a folder without one.

    Raises `UsageError` where there is no tokenizer.
    """
    if isinstance(model, Path) and not any(model.glob("tokenizer*")):
        return Codec(
            encode=lambda text: [min(ord(character), 127) for character in text],
            decode=lambda tokens: "".join(map(chr, tokens)),
            begin=(1,),
            ends=frozenset({2}),
            closing=frozenset({ord(")")}),
        )
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(model))
    except (OSError, ValueError) as error:
        raise UsageError(f"--model {model}: no tokenizer: {str(error).splitlines()[0][:200]}") from None
    return Codec(
        encode=lambda text: list(tokenizer.encode(text, add_special_tokens=False)),
        decode=lambda tokens: str(tokenizer.decode(tokens, skip_special_tokens=False)),
        begin=(tokenizer.bos_token_id,) if tokenizer.bos_token_id is not None else (),
        ends=frozenset({tokenizer.eos_token_id} - {None}),
        closing=frozenset(token for text, token in tokenizer.get_vocab().items() if text.endswith(")")),
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


def advantages(rewards: list[float]) -> list[float]:
    """Each reward relative to its group: less the mean, over the standard deviation (GRPO)."""
    mean = sum(rewards) / len(rewards)
    deviation = (sum((value - mean) ** 2 for value in rewards) / len(rewards)) ** 0.5
    return [(value - mean) / (deviation + 1e-6) for value in rewards]
