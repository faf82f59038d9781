"""What bare vLLM takes for the tokens of a run's reference: `python benchmarks/gpu/bare.py RUN`.

The same prompts, as many tokens of each call, the same log-probs, batch size, mode and attention; no noise,
no journal, no rows. Prints one JSON object: its seconds, and the run's over them. What starting an engine
takes is in neither.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pace import calls, decoded


def main(run: Path) -> None:
    account = json.loads((run / "reference" / "account.json").read_text())
    settings = json.loads((run / "run.json").read_text())["settings"]
    engine = account["engine"]
    os.environ["VLLM_BATCH_INVARIANT"] = str(int(engine["batch_invariant"]))
    from vllm import LLM

    llm = LLM(
        settings["model"], skip_tokenizer_init=True, dtype=settings["dtype"], seed=0, enforce_eager=True,
        max_model_len=settings["max_length"], max_num_seqs=settings["at_a_time"], enable_prefix_caching=False,
        disable_log_stats=True, attention_backend=engine["attention_backend"],
        gpu_memory_utilization=settings["gpu_memory_utilization"],
        tensor_parallel_size=settings["tensor_parallel_size"],
        max_num_batched_tokens=engine["max_num_batched_tokens"],
    )  # fmt: skip

    turns = calls(run / "reference")
    decoded(llm, [[(prompt, 2) for prompt, _ in turns[0][:8]]])  # kernels compiled before the clock starts
    rate, own = decoded(llm, turns), account["decoded"] / account["seconds"]
    seconds = account["decoded"] / rate
    legs = three_legs(run, account["seconds"])
    said = {
        "tokens": account["decoded"],
        "seconds": round(seconds, 3),
        "tokens_per_second": round(rate, 1),
        "harness_tokens_per_second": round(own, 1),
        "harness_over_bare": round(own / rate, 3),
        "three_legs_seconds": round(legs, 3),
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
