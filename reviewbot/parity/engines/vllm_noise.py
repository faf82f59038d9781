"""Keyed noise inside vLLM: added to the logits before the argmax, position by position."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy
import torch
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from reviewbot.parity import noise
from reviewbot.parity.engines.engine import CANDIDATES

# What was drawn from, a step an entry: names, tokens, scores, and whether the last two hold already. vLLM
# reports candidates of the log-probs without noise, among which the one that nearly won need not be. The
# worker processes of tensor parallelism all keep theirs and one is asked, so old entries go.
drawn_from: deque[tuple[list[tuple[str, int]], torch.Tensor, torch.Tensor, Callable[[], bool]]] = deque(
    maxlen=64
)


class KeyedNoise(LogitsProcessor):  # type: ignore[misc]  # vLLM is not there when types are checked
    """Adds to each request's log-probs the noise that its `extra_args` name.

    Follows vLLM's own contract: `update_state` tells of requests that come, go and move within the batch, and
    the list of a request's output tokens is the engine's own and grows.
    """

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._device = device
        self._slots: dict[int, tuple[dict[str, Any], int, list[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._slots.pop(index, None)
        for index, parameters, prompt, output in batch_update.added:
            keyed = parameters.extra_args or {}
            if keyed.get("temperature"):
                self._slots[index] = (keyed, len(prompt or ()), output)
            else:
                self._slots.pop(index, None)
        for one, other, direction in batch_update.moved:
            ours, theirs = self._slots.pop(one, None), self._slots.pop(other, None)
            if ours is not None:
                self._slots[other] = ours
            if theirs is not None and direction == MoveDirectionality.SWAP:
                self._slots[one] = theirs

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        slots = list(self._slots)
        if not slots:
            return logits
        names = [(keyed["row"], prompt + len(output)) for keyed, prompt, output in self._slots.values()]
        seeds = [keyed["seed"] for keyed, _, _ in self._slots.values()]
        keys = [noise.key(seed, *name) for seed, name in zip(seeds, names, strict=True)]
        temperatures = [float(keyed["temperature"]) for keyed, _, _ in self._slots.values()]
        keep = min(CANDIDATES, logits.shape[-1])
        if logits.is_cuda:
            from reviewbot.parity.engines import noise_kernel

            best = noise_kernel.draw(logits, slots, keys, temperatures, keep)
            drawn_from.append((names, best.tokens, best.scores, best.there))
            return logits
        at = torch.tensor(slots)
        scale = torch.logsumexp(logits[at].float(), -1, keepdim=True)
        entries = numpy.arange(logits.shape[-1])
        for slot, key, temperature in zip(slots, keys, temperatures, strict=True):
            drawn = torch.from_numpy(noise.at(key, entries))
            logits[slot] += temperature * drawn.to(logits.dtype)
        scores, tokens = torch.topk(logits[at].float(), keep)
        drawn_from.append((names, tokens, scores - scale, lambda: True))
        return logits


def candidates() -> dict[tuple[str, int], dict[int, float]]:
    """The best candidates at each row and position since the last call: log-probs with their noise.

    What the GPU has not come to yet is left for the next call: vLLM prepares a step while another runs.
    """
    found: dict[tuple[str, int], dict[int, float]] = {}
    while drawn_from and drawn_from[0][3]():
        names, tokens, scores, _ = drawn_from.popleft()
        for name, at, values in zip(names, tokens.tolist(), scores.tolist(), strict=True):
            found[name] = dict(zip(at, values, strict=True))
    return found


class Drawn:
    """What a worker process of tensor parallelism can be asked, beside what vLLM's own can."""

    def drawn_candidates(self) -> dict[tuple[str, int], dict[int, float]]:
        """`candidates` of this process."""
        return candidates()
