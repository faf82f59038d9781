"""Keyed noise on a GPU: `reviewbot.parity.noise` over a batch and its vocabulary.

The pass over the logits that adds it also keeps each block's best entries and its share of the log-sum-exp,
so that what was drawn from costs no other. Nothing here waits for the GPU: the engine prepares its next step
meanwhile.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit  # type: ignore[untyped-decorator]  # Triton is not there when types are checked
def _draw(  # type: ignore[no-untyped-def]
    logits, stride, asked, vocabulary, peaks, sums, scores, tokens, BLOCK: tl.constexpr, KEEP: tl.constexpr
):  # fmt: skip
    # SplitMix64 in signed arithmetic: the same bits, and a shift that is masked where a sign would come in.
    one, block, blocks = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    slot = tl.load(asked + one * 3)
    entry = block * BLOCK + tl.arange(0, BLOCK)
    inside = entry < vocabulary
    mixed = tl.load(asked + one * 3 + 1) + (entry.to(tl.int64) + 1) * -7046029254386353131
    mixed = (mixed ^ ((mixed >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    mixed = (mixed ^ ((mixed >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    mixed = mixed ^ ((mixed >> 31) & 0x1FFFFFFFF)
    uniform = (((mixed >> 12) & 0xFFFFFFFFFFFFF).to(tl.float64) + 0.5) * 2.220446049250313e-16
    drawn = (-tl.log(-tl.log(uniform))).to(tl.float32)
    temperature = tl.load(asked + one * 3 + 2).to(tl.float64, bitcast=True).to(tl.float32)
    at = logits + slot * stride + entry
    before = tl.load(at, mask=inside, other=float("-inf")).to(tl.float32)
    noised = before + temperature * drawn
    tl.store(at, noised, mask=inside)
    peak = tl.max(before, 0)
    # A block may be ruled out altogether.
    level = tl.where(peak == float("-inf"), 0.0, peak)
    tl.store(peaks + one * blocks + block, level)
    tl.store(sums + one * blocks + block, tl.sum(tl.exp(before - level), 0))
    noised = tl.where(inside, noised, float("-inf"))
    for place in tl.static_range(KEEP):
        score = tl.max(noised, 0)
        token = tl.min(tl.where(noised == score, entry, 2147483647), 0)
        kept = (one * blocks + block) * KEEP + place
        tl.store(scores + kept, score)
        tl.store(tokens + kept, token)
        noised = tl.where(entry == token, float("-inf"), noised)


@triton.jit  # type: ignore[untyped-decorator]  # as above
def _best(  # type: ignore[no-untyped-def]
    peaks, sums, scores, tokens, blocks, best_scores, best_tokens,
    BLOCKS: tl.constexpr, KEPT: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    one = tl.program_id(0)
    block = tl.arange(0, BLOCKS)
    inside = block < blocks
    total = tl.load(sums + one * blocks + block, mask=inside, other=0.0)
    level = tl.load(peaks + one * blocks + block, mask=inside & (total > 0), other=float("-inf"))
    peak = tl.max(level, 0)
    scale = peak + tl.log(tl.sum(total * tl.exp(level - peak), 0))
    kept = tl.arange(0, KEPT)
    there = kept < blocks * KEEP
    noised = tl.load(scores + one * blocks * KEEP + kept, mask=there, other=float("-inf"))
    token = tl.load(tokens + one * blocks * KEEP + kept, mask=there, other=2147483647)
    for place in tl.static_range(KEEP):
        score = tl.max(noised, 0)
        winner = tl.min(tl.where(noised == score, token, 2147483647), 0)
        tl.store(best_scores + one * KEEP + place, score - scale)
        tl.store(best_tokens + one * KEEP + place, winner)
        noised = tl.where(token == winner, float("-inf"), noised)


@dataclass(frozen=True, slots=True)
class Best:
    """The best entries of each row after its noise, on their way to the host.

    `tokens` (int32) and `scores` (float32, log-probs plus noise) are rows x kept, in falling order of score.
    They hold once `there` says so.
    """

    tokens: torch.Tensor
    scores: torch.Tensor
    copied: Any

    def there(self) -> bool:
        return self.copied is None or bool(self.copied.query())


def draw(
    logits: torch.Tensor, slots: list[int], keys: list[int], temperatures: list[float], keep: int
) -> Best:
    """Adds noise to rows of logits in place: row `slots[i]` that of `keys[i]` times `temperatures[i]`.

    Gives the `keep` best entries of each of these rows. `logits` is batch x vocabulary with the vocabulary
    contiguous.
    """
    device, rows, vocabulary = logits.device, len(slots), logits.shape[-1]
    asked = torch.frombuffer(
        bytearray(b"".join(struct.pack("<qQd", *one) for one in zip(slots, keys, temperatures, strict=True))),
        dtype=torch.int64,
    )
    asked = asked.pin_memory().to(device, non_blocking=True) if logits.is_cuda else asked
    blocks = triton.cdiv(vocabulary, BLOCK)
    floats = torch.empty(rows * (blocks * (2 + keep) + keep), dtype=torch.float32, device=device)
    peaks, sums, scores, best_scores = floats.split(
        [rows * blocks, rows * blocks, rows * blocks * keep, rows * keep]
    )
    tokens = torch.empty(rows * (blocks + 1) * keep, dtype=torch.int32, device=device)
    best_tokens = tokens[rows * blocks * keep :]
    grid: Any = (rows, blocks)
    _draw[grid](
        logits, logits.stride(0), asked, vocabulary, peaks, sums, scores, tokens, BLOCK=BLOCK, KEEP=keep
    )
    single: Any = (rows,)
    _best[single](
        peaks, sums, scores, tokens, blocks, best_scores, best_tokens,
        BLOCKS=triton.next_power_of_2(blocks), KEPT=triton.next_power_of_2(blocks * keep), KEEP=keep,
    )  # fmt: skip
    host_tokens, host_scores = (_copied(one.view(rows, keep)) for one in (best_tokens, best_scores))
    copied = torch.cuda.Event() if logits.is_cuda else None
    if copied is not None:
        copied.record()
    return Best(host_tokens, host_scores, copied)


def _copied(one: torch.Tensor) -> torch.Tensor:
    if not one.is_cuda:
        return one
    host = torch.empty(one.shape, dtype=one.dtype, pin_memory=True)
    return host.copy_(one, non_blocking=True)
