"""Rows in the making: model calls and tool results in turn, from scratch or from what a journal holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from reviewbot.parity import task
from reviewbot.parity.engines.engine import Request
from reviewbot.parity.rows import Identity
from reviewbot.parity.task import Codec, Task


@dataclass
class Rollout:
    """One row: its tokens so far, and the model call that it waits for."""

    step: int
    prompt: int
    sample: int
    tokens: list[int]
    mask: list[int]
    logprobs: list[float]
    top: list[dict[int, float] | None]
    scores: list[dict[int, float] | None]
    start: int
    turn: int = 1
    done: bool = False
    finish: str | None = None
    saved: list[int] = field(default_factory=list)

    @property
    def identity(self) -> Identity:
        return self.step, self.prompt, self.sample

    @property
    def name(self) -> str:
        """The row's key for noise, and the start of its calls' names."""
        return f"{self.step}-{self.prompt}-{self.sample}"

    @property
    def call(self) -> str:
        return f"{self.name}-{self.turn}"

    def begin_call(self) -> None:
        """The next model call begins where the row ends now."""
        self.start = len(self.tokens)

    def sampled(
        self,
        tokens: tuple[int, ...],
        logprobs: tuple[float, ...],
        top: tuple[dict[int, float], ...],
        scores: tuple[dict[int, float], ...],
    ) -> None:
        """Appends what the model gave."""
        self.tokens += tokens
        self.mask += [1] * len(tokens)
        self.logprobs += logprobs
        self.top += top
        self.scores += scores

    def told(self, tokens: tuple[int, ...]) -> None:
        """Appends a tool's answer, which is not trained, and begins the next call."""
        self.tokens += tokens
        self.mask += [0] * len(tokens)
        self.logprobs += [0.0] * len(tokens)
        self.top += [None] * len(tokens)
        self.scores += [None] * len(tokens)
        self.turn += 1
        self.begin_call()

    def answer(self, codec: Codec, work: Task) -> tuple[int, ...] | None:
        """The tool's answer to the call that just ended, or None where the row ends with it."""
        said = work.answer(codec, self.tokens[self.start :], self.finish, self.turn)
        return None if said is None else tuple(codec.encode(said))

    def request(self, stop: frozenset[int], budget: int, temperature: float) -> Request:
        """The call as it goes to the engine: all tokens so far, and what is left of the budget."""
        return Request(
            call=self.call,
            row=self.name,
            tokens=tuple(self.tokens),
            max_tokens=budget - (len(self.tokens) - self.start),
            stop=stop,
            # The first sample of a prompt is greedy, the others are drawn.
            temperature=temperature if self.sample else 0.0,
        )


def begun(codec: Codec, seed: int, step: int, prompt: int, sample: int) -> Rollout:
    """A row that holds its prompt alone."""
    tokens = [*codec.begin, *codec.encode(task.question(seed, step, prompt))]
    return Rollout(
        step=step,
        prompt=prompt,
        sample=sample,
        tokens=tokens,
        mask=[0] * len(tokens),
        logprobs=[0.0] * len(tokens),
        top=[None] * len(tokens),
        scores=[None] * len(tokens),
        start=len(tokens),
    )
