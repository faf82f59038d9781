"""vLLM, on a GPU or built for the CPU: in the leg's own process, so that SIGKILL takes all of it.

On a GPU batch-invariant mode with the Triton attention backend is the default: measured on one H200, a reply
that is continued from its prefix then equals the uninterrupted one bit for bit, which neither of the two does
alone. On a CPU neither exists, and one thread does the same.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy

from reviewbot.errors import UsageError
from reviewbot.parity import gpu, noise
from reviewbot.parity.engines import weights
from reviewbot.parity.engines.engine import CANDIDATES, Piece, Request, Settings

ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_USE_FLASHINFER_SAMPLER": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",  # to ask for a GPU makes CUDA unfit for a fork
}

# From 256 tokens in a batch on vLLM's RMSNorm takes another block size, batch-invariant mode or not (issue
# 48271 of vllm-project/vllm); a prefill then rounds by what it is batched with.
NARROW = 255


class Vllm:
    """Calls are batched by vLLM; noise is added by a logits processor of ours."""

    def __init__(self, settings: Settings) -> None:
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        self._sha256 = weights.Sha256(settings.model)
        on_gpu = _on_gpu()
        if not on_gpu and settings.tensor_parallel_size > 1:
            # vLLM binds a worker to a NUMA node of its own, which few machines have enough of.
            os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", _cores(settings))
        hindered = _hindered(settings.model, on_gpu)
        if settings.batch_invariant and hindered:
            raise UsageError(f"--batch-invariant: {hindered}")
        invariant = settings.batch_invariant if settings.batch_invariant is not None else not hindered
        # Read when vLLM is imported; whoever set it before does not decide for the run.
        os.environ["VLLM_BATCH_INVARIANT"] = str(int(invariant))
        attention = settings.attention_backend or ("TRITON_ATTN" if on_gpu else None)
        print(
            f"vllm: batch-invariant mode {'on' if invariant else 'off'}, attention {attention}",
            file=sys.stderr,
        )

        import vllm

        from reviewbot.parity.engines.vllm_noise import KeyedNoise, candidates

        options: dict[str, Any] = {"attention_backend": attention} if attention else {}
        if on_gpu:
            options["gpu_memory_utilization"] = settings.gpu_memory_utilization
        narrow = max(NARROW, settings.at_a_time) if invariant else None
        if narrow:
            options["max_num_batched_tokens"] = narrow
        if settings.tensor_parallel_size > 1:
            options["tensor_parallel_size"] = settings.tensor_parallel_size
            options["worker_extension_cls"] = "reviewbot.parity.engines.vllm_noise.Drawn"
        self._settings, self._vllm = settings, vllm
        self._about: dict[str, Any] = {
            "batch_invariant": invariant,
            "attention_backend": attention,
            "max_num_batched_tokens": narrow,
            "gpu": on_gpu,
        }
        if hindered and on_gpu and settings.batch_invariant is None:
            self._about["fell_back"] = f"not in batch-invariant mode: {hindered}"
        self.llm = vllm.LLM(
            settings.model,
            skip_tokenizer_init=True,
            dtype=settings.dtype,
            seed=settings.seed,
            enforce_eager=True,
            max_model_len=settings.max_length,
            max_num_seqs=settings.at_a_time,
            enable_prefix_caching=settings.prefix_cache,
            disable_log_stats=True,
            logits_processors=[KeyedNoise],
            **options,
        )
        self._engine = self.llm.llm_engine
        self._requests: dict[str, Request] = {}
        self._seen: dict[str, int] = {}
        self._drawn: dict[tuple[str, int], dict[int, float]] = {}
        self._candidates = candidates if settings.tensor_parallel_size == 1 else self._asked
        self._warm()

    def add(self, request: Request) -> None:
        keyed = {"seed": self._settings.seed, "row": request.row, "temperature": request.temperature}
        parameters = self._vllm.SamplingParams(
            temperature=0.0,  # the noise is the sampling
            max_tokens=request.max_tokens,
            logprobs=CANDIDATES,
            stop_token_ids=sorted(request.stop),
            ignore_eos=True,  # ends by the same tokens as every other engine, and by no other
            detokenize=False,
            extra_args=keyed,
        )
        self._requests[request.call], self._seen[request.call] = request, 0
        self._engine.add_request(request.call, {"prompt_token_ids": list(request.tokens)}, parameters)

    def busy(self) -> bool:
        return bool(self._engine.has_unfinished_requests())

    def step(self) -> list[Piece]:
        heard = []
        for output in self._engine.step():
            request, reply = self._requests[output.request_id], output.outputs[0]
            seen = self._seen[request.call]
            tokens = tuple(reply.token_ids[seen:])
            self._seen[request.call] = seen + len(tokens)
            top = tuple(
                {token: float(entry.logprob) for token, entry in at.items()} for at in reply.logprobs[seen:]
            )
            finish = str(reply.finish_reason) if output.finished else None
            if tokens or finish:
                heard.append((request, len(request.tokens) + seen, tokens, top, finish))
            if finish:
                del self._requests[request.call], self._seen[request.call]
        scores = self._scores([(request, start, top) for request, start, _, top, _ in heard])
        return [
            Piece(
                request.call,
                tokens,
                tuple(at[token] for token, at in zip(tokens, top, strict=True)),
                top,
                score,
                finish,
            )
            for (request, _, tokens, top, finish), score in zip(heard, scores, strict=True)
        ]

    def _scores(
        self, heard: list[tuple[Request, int, tuple[dict[int, float], ...]]]
    ) -> list[tuple[dict[int, float], ...]]:
        """Candidates' log-probs with the noise of the draw: what was drawn from, where it is at hand."""
        self._drawn |= self._candidates()
        scores = []
        for request, start, top in heard:
            if not request.temperature:
                scores.append(top)
                continue
            names = [(request.row, position) for position in range(start, start + len(top))]
            scores.append(
                tuple(
                    self._drawn.pop(name) if name in self._drawn else self._noised(request, name[1], at)
                    for name, at in zip(names, top, strict=True)
                )
            )
        return scores

    def _asked(self) -> dict[tuple[str, int], dict[int, float]]:
        """The candidates of a worker process: all of them draw alike, so one is believed."""
        found: list[dict[tuple[str, int], dict[int, float]]] = self._engine.collective_rpc("drawn_candidates")
        return found[0]

    def _noised(self, request: Request, position: int, at: dict[int, float]) -> dict[int, float]:
        key = numpy.uint64(noise.key(self._settings.seed, request.row, position))
        drawn = noise.at(key, numpy.array(list(at))).tolist()
        return {
            token: score + request.temperature * one
            for (token, score), one in zip(at.items(), drawn, strict=True)
        }

    def _warm(self) -> None:
        """Decodes a little, so that kernels are compiled before anything is timed."""
        for index in range(min(4, self._settings.at_a_time)):
            self.add(Request(f"warm-{index}", f"warm-{index}", (1,) * (8 + index), 3, frozenset(), index / 4))
        while self.busy():
            self.step()
        self._drawn.clear()

    def about(self) -> dict[str, Any]:
        import torch

        return {
            "engine": "vllm",
            "vllm": str(self._vllm.__version__),
            "torch": str(torch.__version__),
            "device": torch.cuda.get_device_name() if self._about["gpu"] else "cpu",
            **self._about,
            "prefix_cache": self._settings.prefix_cache,
            "tensor_parallel_size": self._settings.tensor_parallel_size,
            "data_parallel_size": self._settings.data_parallel_size,
            "at_a_time": self._settings.at_a_time,
            "threads": self._settings.threads,
            "dtype": self._settings.dtype,
            "model_sha256": self._sha256.value(),
        }


def _cores(settings: Settings) -> str:
    """Cores for each worker process, as vLLM reads them."""
    cores = sorted(os.sched_getaffinity(0))
    shares = [cores[at :: settings.tensor_parallel_size] for at in range(settings.tensor_parallel_size)]
    return "|".join(",".join(map(str, share[: settings.threads] or cores[:1])) for share in shares)


def _on_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _hindered(model: str, on_gpu: bool) -> str | None:
    """Why batch-invariant mode cannot be had here (vLLM's own documentation of it), or None."""
    if not on_gpu:
        return "there is no GPU"
    capability = gpu.capability()
    if capability is not None and capability < (8, 0):
        return f"the GPU has compute capability {capability[0]}.{capability[1]}, and it needs 8.0"
    if mixed := weights.linear_attention(model):
        return f"the model has layers of {mixed}, which it does not cover"
    return None
