"""Keyed noise on a GPU: `reviewbot.parity.noise` as one kernel over a batch and its vocabulary."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit  # type: ignore[untyped-decorator]  # Triton is not there when types are checked
def _add(logits, stride, slots, keys, temperatures, vocabulary, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    # SplitMix64 in signed arithmetic: the same bits, and a shift that is masked where a sign would come in.
    one = tl.program_id(0)
    entry = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = entry < vocabulary
    mixed = tl.load(keys + one) + (entry.to(tl.int64) + 1) * -7046029254386353131
    mixed = (mixed ^ ((mixed >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    mixed = (mixed ^ ((mixed >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    mixed = mixed ^ ((mixed >> 31) & 0x1FFFFFFFF)
    uniform = (((mixed >> 12) & 0xFFFFFFFFFFFFF).to(tl.float64) + 0.5) * 2.220446049250313e-16
    drawn = (-tl.log(-tl.log(uniform))).to(tl.float32)
    at = logits + tl.load(slots + one) * stride + entry
    before = tl.load(at, mask=inside).to(tl.float32)
    tl.store(at, before + tl.load(temperatures + one) * drawn, mask=inside)


def add(logits: torch.Tensor, slots: torch.Tensor, keys: list[int], temperatures: list[float]) -> None:
    """Adds noise to rows of logits in place: row `slots[i]` that of `keys[i]` times `temperatures[i]`."""
    device = logits.device
    signed = [key - (1 << 64) if key >> 63 else key for key in keys]
    keyed = torch.tensor(signed, dtype=torch.int64, device=device)
    scale = torch.tensor(temperatures, dtype=torch.float32, device=device)
    vocabulary = logits.shape[-1]
    grid: Any = (len(keys), triton.cdiv(vocabulary, BLOCK))
    _add[grid](logits, logits.stride(0), slots, keyed, scale, vocabulary, BLOCK=BLOCK)
