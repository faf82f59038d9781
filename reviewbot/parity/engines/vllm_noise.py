"""Keyed noise inside vLLM: added to the logits before the argmax, position by position."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from reviewbot.parity import noise


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
        keys = [
            noise.key(keyed["seed"], keyed["row"], prompt + len(output))
            for keyed, prompt, output in self._slots.values()
        ]
        temperatures = [float(keyed["temperature"]) for keyed, _, _ in self._slots.values()]
        if not slots:
            return logits
        if logits.is_cuda:
            from reviewbot.parity.engines import noise_kernel

            noise_kernel.add(logits, slots, keys, temperatures)
            return logits
        entries = numpy.arange(logits.shape[-1])
        for slot, key, temperature in zip(slots, keys, temperatures, strict=True):
            drawn = torch.from_numpy(noise.at(key, entries))
            logits[slot] += temperature * drawn.to(logits.dtype)
        return logits
