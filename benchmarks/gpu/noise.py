"""Whether a GPU's noise is the CPU's, bit for bit, and what adding it costs. Prints one JSON object."""

from __future__ import annotations

import json
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
    slots, warm = torch.arange(ROWS, device="cuda"), [1.0] * ROWS
    noise_kernel.add(logits, slots, keys, warm)
    ours = noise.at(numpy.array(keys, numpy.uint64)[:, None], numpy.arange(VOCABULARY))
    theirs = logits.cpu().numpy()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(50):
        noise_kernel.add(logits, slots, keys, warm)
    end.record()
    torch.cuda.synchronize()
    print(
        json.dumps(
            {
                "entries": ours.size,
                "different": int((ours != theirs).sum()),
                "largest_difference": float(abs(ours - theirs).max()),
                "milliseconds_a_step": begin.elapsed_time(end) / 50,
            }
        )
    )


if __name__ == "__main__":
    main()
