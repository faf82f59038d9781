"""The GPU's kernel, run by Triton's interpreter: the same noise, and the best of what it was added to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import torch

from reviewbot.parity import noise

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import json, sys, torch
from reviewbot.parity.engines import noise_kernel
given = json.load(sys.stdin)
logits = torch.tensor(given["logits"])
best = noise_kernel.draw(logits, given["slots"], given["keys"], given["temperatures"], 5)
json.dump([logits.tolist(), best.tokens.tolist(), best.scores.tolist(), best.there()], sys.stdout)
"""
pytestmark = pytest.mark.slow
SLOTS, TEMPERATURES = [3, 0, 2], [0.7, 1.0, 0.25]


def drawn(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The logits with their noise, and each row's best tokens and their scores."""
    given = {
        "logits": logits.tolist(),
        "slots": SLOTS,
        "keys": [noise.key(7, f"row-{slot}", slot) for slot in SLOTS],
        "temperatures": TEMPERATURES,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        check=True,
    )
    noised, tokens, scores, there = json.loads(done.stdout)
    assert there
    return torch.tensor(noised), torch.tensor(tokens), torch.tensor(scores)


@pytest.mark.parametrize("vocabulary", [1024, 2500])
@pytest.mark.parametrize("ruled_out", [0, 1100])
def test_the_kernel_draws_as_the_cpu_does(vocabulary, ruled_out):
    logits = torch.randn(4, vocabulary, generator=torch.Generator().manual_seed(vocabulary)) * 3
    logits[2, : min(ruled_out, vocabulary - 100)] = float("-inf")
    expected = logits.clone()
    for slot, temperature in zip(SLOTS, TEMPERATURES, strict=True):
        key = noise.key(7, f"row-{slot}", slot)
        expected[slot] += temperature * torch.from_numpy(noise.at(key, numpy.arange(vocabulary)))
    noised, tokens, scores = drawn(logits)
    assert torch.equal(noised[1], logits[1])  # a row that asked for none
    torch.testing.assert_close(noised, expected, rtol=1e-6, atol=1e-6)
    top = torch.topk(expected[SLOTS], 5)
    assert tokens.tolist() == top.indices.tolist()
    torch.testing.assert_close(
        scores, top.values - torch.logsumexp(logits[SLOTS], -1, keepdim=True), rtol=1e-5, atol=1e-5
    )
