"""Whether a GPU's noise is the CPU's, bit for bit, and what drawing costs. Prints one JSON object."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from reviewbot.parity import noise
from reviewbot.parity.engines import noise_kernel

ROWS, VOCABULARY = 64, 151_936


def main() -> None:
    keys = [noise.key(7, f"row-{row}", row) for row in range(ROWS)]
    logits = torch.zeros(ROWS, VOCABULARY, device="cuda")
    slots, warm = list(range(ROWS)), [1.0] * ROWS
    best = noise_kernel.draw(logits, slots, keys, warm, 5)
    torch.cuda.synchronize()
    expected = torch.topk(logits, 5)
    unlike = (expected.indices.cpu() != best.tokens).sum()
    off = (expected.values.cpu() - math.log(VOCABULARY) - best.scores).abs().max()
    ours = noise.at(numpy.array(keys, numpy.uint64)[:, None], numpy.arange(VOCABULARY))
    theirs = logits.cpu().numpy()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(50):
        noise_kernel.draw(logits, slots, keys, warm, 5)
    end.record()
    torch.cuda.synchronize()
    print(
        json.dumps(
            {
                "entries": ours.size,
                "different": int((ours != theirs).sum()),
                "largest_difference": float(abs(ours - theirs).max()),
                "candidates_unlike_topk": int(unlike),
                "largest_gap_of_their_scores": float(off),
                "milliseconds_a_step": begin.elapsed_time(end) / 50,
            }
        )
    )


if __name__ == "__main__":
    main()
