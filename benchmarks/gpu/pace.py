"""The harness and bare vLLM in turns, with one engine: `python benchmarks/gpu/pace.py MODEL OUT [PROMPTS]`.

Each round makes the reference leg of the big run, then has `LLM.generate` decode the same tokens with the
same log-probs, batch width and mode: no noise, no journal, no rows. What a machine does to one it does to
the other, and kernels are compiled before the first round counts. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from reviewbot.parity import leg, task
from reviewbot.parity.engines.engine import Settings, started
from reviewbot.parity.spec import Out, Spec, Work

ROUNDS = 4  # the first one is not counted
AT_A_TIME = 64


def main(model: str, out: Path, prompts: int = 64) -> None:
    settings = Settings(engine="vllm", model=model, dtype="bfloat16", at_a_time=AT_A_TIME)
    work = Work(steps=1, prompts=prompts, samples=4, budget=80, task="digest")
    engine: Any = started(settings)
    codec, about = task.codec(Path(model)), engine.about()
    harness, bare = [], []
    for number in range(ROUNDS):
        folder = out / str(number)
        spec = Spec(work=work, settings=settings, outs=(Out(folder=str(folder), at_a_time=AT_A_TIME),))
        leg.Making(spec, engine, codec, spec.outs[0]).run(0, about)
        account = json.loads((folder / "account.json").read_text())
        harness.append(account["decoded"] / account["seconds"])
        bare.append(decoded(engine.llm, calls(folder)))
    ratios = [one / other for one, other in zip(harness[1:], bare[1:], strict=True)]
    said = {
        "tokens_a_round": account["decoded"],
        "harness_tokens_per_second": [round(one, 1) for one in harness],
        "bare_tokens_per_second": [round(one, 1) for one in bare],
        "harness_over_bare": [round(one, 3) for one in ratios],
        "median": round(median(ratios), 3),
        "engine": about,
    }
    print(json.dumps(said))


def calls(folder: Path) -> list[list[tuple[list[int], int]]]:
    """By turn, each row's prompt and how many tokens follow."""
    turns: list[list[tuple[list[int], int]]] = []
    for file in sorted(folder.glob("train_data_step*.jsonl")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            mask = [0, *row["loss_mask"], 0]
            edges = [at for at, (one, other) in enumerate(pairwise(mask)) if one != other]
            for turn, (start, end) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
                turns += [[]] * (turn + 1 - len(turns))
                turns[turn] = [*turns[turn], (row["token_ids"][:start], end - start)]
    return turns


def decoded(llm: Any, turns: list[list[tuple[list[int], int]]]) -> float:
    """Tokens a second of `LLM.generate`."""
    from vllm import SamplingParams

    tokens, begun = 0, time.monotonic()
    for turn in turns:
        outputs = llm.generate(
            [{"prompt_token_ids": prompt} for prompt, _ in turn],
            [
                SamplingParams(
                    temperature=0, max_tokens=length, logprobs=5, ignore_eos=True, detokenize=False
                )
                for _, length in turn
            ],
            use_tqdm=False,
        )
        tokens += sum(len(output.outputs[0].token_ids) for output in outputs)
    return tokens / (time.monotonic() - begun)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
