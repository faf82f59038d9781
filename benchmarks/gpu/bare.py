"""What bare vLLM takes for the tokens of a run's reference: `python benchmarks/gpu/bare.py RUN`.

The same prompts, as many tokens of each call, the same log-probs, batch size, mode and attention; no noise,
no journal, no rows. Prints one JSON object: its seconds, and the run's over them. What starting an engine
takes is in neither.
"""

from __future__ import annotations

import json
import os
import sys
import time
from itertools import pairwise
from pathlib import Path


def calls(run: Path) -> list[list[tuple[list[int], int]]]:
    """By turn, each row's prompt and how many tokens follow."""
    turns: list[list[tuple[list[int], int]]] = []
    for file in sorted((run / "reference").glob("train_data_step*.jsonl")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            mask = [0, *row["loss_mask"], 0]
            edges = [at for at, (one, other) in enumerate(pairwise(mask)) if one != other]
            for turn, (start, end) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
                turns += [[]] * (turn + 1 - len(turns))
                turns[turn] = [*turns[turn], (row["token_ids"][:start], end - start)]
    return turns


def main(run: Path) -> None:
    account = json.loads((run / "reference" / "account.json").read_text())
    settings = json.loads((run / "run.json").read_text())["settings"]
    engine = account["engine"]
    os.environ["VLLM_BATCH_INVARIANT"] = str(int(engine["batch_invariant"]))
    from vllm import LLM, SamplingParams

    llm = LLM(
        settings["model"], skip_tokenizer_init=True, dtype=settings["dtype"], seed=0, enforce_eager=True,
        max_model_len=settings["max_length"], max_num_seqs=settings["at_a_time"], enable_prefix_caching=False,
        disable_log_stats=True, attention_backend=engine["attention_backend"],
        gpu_memory_utilization=settings["gpu_memory_utilization"],
        tensor_parallel_size=settings["tensor_parallel_size"],
        max_num_batched_tokens=engine["max_num_batched_tokens"],
    )  # fmt: skip

    def generate(turn: list[tuple[list[int], int]]) -> int:
        outputs = llm.generate(
            [{"prompt_token_ids": prompt} for prompt, _ in turn],
            [
                SamplingParams(
                    temperature=0, max_tokens=tokens, logprobs=5, ignore_eos=True, detokenize=False
                )
                for _, tokens in turn
            ],
            use_tqdm=False,
        )
        return sum(len(output.outputs[0].token_ids) for output in outputs)

    turns = calls(run)
    generate([(prompt, 2) for prompt, _ in turns[0][:8]])  # kernels compiled before the clock starts
    begun = time.monotonic()
    tokens = sum(generate(turn) for turn in turns)
    seconds = time.monotonic() - begun
    own = account["decoded"] / account["seconds"]
    said = {
        "tokens": tokens,
        "seconds": round(seconds, 3),
        "tokens_per_second": round(tokens / seconds, 1),
        "harness_tokens_per_second": round(own, 1),
        "harness_over_bare": round(own / (tokens / seconds), 3),
        "three_legs_seconds": round(legs := three_legs(run, account["seconds"]), 3),
        "three_legs_over_bare": round(legs / seconds, 3),
    }
    print(json.dumps(said))


def three_legs(run: Path, reference: float) -> float:
    """Seconds of a run's three legs, one after the other, without the starts of their engines."""
    killed = json.loads((run / "cut" / "killed.json").read_text())
    restored = json.loads((run / "restored" / "account.json").read_text())
    return float(reference + killed["seconds"] - killed["load"] + restored["seconds"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
