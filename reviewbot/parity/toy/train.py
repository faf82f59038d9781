"""Trains the model of this folder on the CPU: `python -m reviewbot.parity.toy.train OUT [--steps 3000]`.

One thread and seeded, so the same Python, torch and machine give the same weights. 1,200 steps take two to
three CPU-minutes. It learns from made-up tool transcripts (three rows in four) and from source text of the
Python standard library that runs it (one row in four), so another Python version gives other weights; the
weights here took 3,002 steps of an earlier schedule, which followed the clock. OUT becomes a Hugging Face
folder without a tokenizer: a token is an ASCII code, 1 begins a text and 2 ends it.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import json
import os
import random
import time
from typing import Any

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

BOS, EOS, VOCAB = 1, 2, 128


def transcript(rng: random.Random) -> list[int]:
    """One conversation in which a bot adds and subtracts with tool calls, as token ids."""
    who = rng.choice(["ann", "bob", "cat", "dan"])
    thing = rng.choice(["apples", "coins", "books", "nails", "seeds"])
    total = rng.randint(0, 99)
    text = f"user: {who} has {total} {thing}. "
    steps = []
    for _ in range(rng.randint(1, 3)):
        op, amount = rng.choice(["add", "sub"]), rng.randint(0, 99)
        steps.append((op, amount))
        if op == "add":
            text += rng.choice([f"{who} gets {amount} more. ", f"then {amount} more come. "])
        else:
            text += rng.choice([f"{who} loses {amount}. ", f"then {amount} are gone. "])
    text += rng.choice(["how many now?", "what is left?"]) + "\n"
    for op, amount in steps:
        result = total + amount if op == "add" else total - amount
        text += rng.choice(["", "bot: let me see.\n", "bot: i will use the tool.\n", "bot: next step.\n"])
        text += f"call {op}({total},{amount})\ngot {result}\n"
        total = result
    text += "bot: " + rng.choice(
        [
            f"{who} has {total} {thing}",
            f"the answer is {total}",
            f"there are {total} {thing} now",
            f"so it is {total}",
        ]
    )
    text += rng.choice([".", "!", ""]) + "\n"
    return [BOS] + [min(ord(c), VOCAB - 1) for c in text] + [EOS]


def library_text() -> Any:
    """Source of the first 120 modules of the standard library, as token ids."""
    parts = []
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))[:120]:
        with open(path, encoding="utf-8", errors="ignore") as f:
            parts.append(f.read())
    return torch.tensor([min(ord(c), VOCAB - 1) for c in "".join(parts)], dtype=torch.uint8)


def batch(rng: random.Random, text: Any, rows: int, length: int) -> Any:
    """Token ids, rows x (length + 1)."""
    out = []
    for i in range(rows):
        if i % 4 == 3:
            start = rng.randint(0, len(text) - length - 2)
            out.append(text[start : start + length + 1].long())
        else:
            ids: list[int] = []
            while len(ids) < length + 1:
                ids += transcript(rng)
            out.append(torch.tensor(ids[: length + 1]))
    return torch.stack(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--rows", type=int, default=8, help="rows a step")
    parser.add_argument("--length", type=int, default=192, help="tokens a row")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    text = library_text()
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCAB,
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            rope_theta=10000.0,
            bos_token_id=BOS,
            eos_token_id=EOS,
            pad_token_id=0,
        )
    )
    peak = 3e-3
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=0.01, betas=(0.9, 0.95))
    model.train()
    recent: list[float] = []
    for step in range(args.steps):
        warm_up, decay = min(1, (step + 1) / 30), max(0.05, 1 - step / args.steps)
        for group in optimizer.param_groups:
            group["lr"] = peak * warm_up * decay
        ids = batch(rng, text, args.rows, args.length)
        logits = model(input_ids=ids[:, :-1]).logits
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, VOCAB), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent = [*recent, loss.item()][-50:]
        if (step + 1) % 50 == 0:
            print(
                f"step {step + 1}  loss {sum(recent) / len(recent):.3f} (mean of 50)  "
                f"cpu {time.process_time():.0f} s",
                flush=True,
            )

    model.eval().to(torch.bfloat16).save_pretrained(args.out)
    weights = os.path.join(args.out, "model.safetensors")
    with open(weights, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    print(
        json.dumps(
            {
                "parameters": sum(p.numel() for p in model.parameters()),
                "steps": args.steps,
                "loss": round(sum(recent) / len(recent), 4),
                "bytes": os.path.getsize(weights),
                "cpu_s": round(time.process_time()),
                "sha256": digest,
            }
        )
    )


if __name__ == "__main__":
    main()
