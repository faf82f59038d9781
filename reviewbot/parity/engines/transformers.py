"""Hugging Face Transformers on the CPU, or on a GPU if there is one: each call with a cache of its own."""

from __future__ import annotations

import inspect
import platform
from collections import deque
from dataclasses import dataclass
from typing import Any

import torch
import transformers

from reviewbot.errors import UsageError
from reviewbot.parity import noise
from reviewbot.parity.engines import weights
from reviewbot.parity.engines.engine import CANDIDATES, Piece, Request, Settings


@dataclass(slots=True)
class _Running:
    request: Request
    fed: list[int]  # tokens that the cache does not hold yet
    length: int  # tokens of the row so far
    decoded: int = 0
    cache: Any = None


class Transformers:
    """Calls take turns, one token each; a call's arithmetic does not depend on the others."""

    def __init__(self, settings: Settings) -> None:
        self._sha256 = weights.Sha256(settings.model)
        torch.set_num_threads(settings.threads)
        torch.use_deterministic_algorithms(True, warn_only=True)
        transformers.utils.logging.disable_progress_bar()
        self._settings = settings
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            model = transformers.AutoModelForCausalLM.from_pretrained(
                settings.model, dtype=getattr(torch, settings.dtype), attn_implementation=self._attention()
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"--model {settings.model}: {str(error).splitlines()[0][:200]}") from None
        self._model: Any = model
        self._model.eval()
        self._model.to(self._device)
        # The argument was renamed between releases.
        known = inspect.signature(self._model.forward).parameters
        self._cache = next((name for name in ("cache", "past_key_values") if name in known), "")
        if not self._cache:
            raise UsageError(
                f"--model {settings.model}: {type(model).__name__} keeps no cache of keys and values, which "
                "a restore fills again; choose a model with attention"
            )
        config = self._model.config.get_text_config()
        self._positions: int | None = getattr(config, "max_position_embeddings", None)
        self._waiting: deque[Request] = deque()
        self._running: list[_Running] = []

    def _attention(self) -> str | None:
        """What is asked for; None leaves it to the model, which has the fused kernel or the plain one."""
        if self._settings.attention_backend:
            return self._settings.attention_backend
        # On a CPU the fused kernel rounds bfloat16 differently in prefill and decode; the plain one does not.
        return "eager" if self._settings.dtype == "bfloat16" else None

    def add(self, request: Request) -> None:
        self._waiting.append(request)

    def busy(self) -> bool:
        return bool(self._waiting or self._running)

    def step(self) -> list[Piece]:
        while self._waiting and len(self._running) < self._settings.at_a_time:
            request = self._waiting.popleft()
            self._running.append(_Running(request, list(request.tokens), len(request.tokens)))
        pieces = [self._decode(running) for running in self._running]
        ended = {piece.call for piece in pieces if piece.finish}
        self._running = [running for running in self._running if running.request.call not in ended]
        return pieces

    def _decode(self, running: _Running) -> Piece:
        request = running.request
        if self._positions and running.length > self._positions:
            raise UsageError(
                f"--model {self._settings.model}: takes {self._positions} tokens, and row {request.row} has "
                "more: lower --budget"
            )
        ids = torch.tensor([running.fed], device=self._device)
        cached = {self._cache: running.cache}
        with torch.inference_mode():
            out = self._model(input_ids=ids, **cached, use_cache=True, logits_to_keep=1)
        running.cache = getattr(out, self._cache)
        logits = out.logits[0, -1].float().cpu()
        logprobs = torch.log_softmax(logits, -1)
        noised = logprobs
        if request.temperature:
            key = (self._settings.seed, request.row, running.length)
            drawn = noise.gumbel(*key, logits.shape[0])
            noised = logprobs + request.temperature * torch.from_numpy(drawn)
        token = int(noised.argmax())
        best = torch.topk(noised, min(CANDIDATES, len(noised))).indices.tolist()
        best = list(dict.fromkeys([token, *best]))
        running.decoded += 1
        running.length += 1
        running.fed = [token]
        stopped = token in request.stop
        finish = "stop" if stopped else "length" if running.decoded >= request.max_tokens else None
        return Piece(
            request.call,
            (token,),
            (float(logprobs[token]),),
            ({t: float(logprobs[t]) for t in best},),
            ({t: float(noised[t]) for t in best},),
            finish,
        )

    def about(self) -> dict[str, Any]:
        return {
            "engine": "transformers",
            "transformers": transformers.__version__,
            "torch": str(torch.__version__),
            "device": torch.cuda.get_device_name()
            if self._device == "cuda"
            else platform.processor() or "cpu",
            "attention_backend": self._attention() or self._model.config._attn_implementation,
            "threads": self._settings.threads,
            "dtype": self._settings.dtype,
            "model_sha256": self._sha256.value(),
        }
