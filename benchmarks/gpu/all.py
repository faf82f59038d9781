"""Everything that is measured on a GPU, in one go: `python benchmarks/gpu/all.py OUT [STAGE...]`.

Needs one GPU, torch, transformers and vLLM; no network. Each stage leaves OUT/STAGE.json; a stage that fails
leaves its output there, and the others go on. docs/gpu-runs has what came of it.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = Path(os.environ.get("GPU_WORK", "/tmp/reviewbot-gpu"))
BIG = (
    "--model", WORK / "model", "--task", "digest", "--steps", "1", "--prompts", "64", "--samples", "4",
    "--budget", "80", "--at-a-time", "64", "--min-cut", "16",
)  # fmt: skip
TOY = ("--prompts", "16", "--min-unequal-groups", "0.25")  # in bfloat16 it is sure of more of its answers
TWO = ("--workload", "engines", "--other-tensor-parallel-size", "2")
INVARIANT, FLASH = ("--trainer",), ("--no-batch-invariant", "--attention-backend", "FLASH_ATTN", "--control")


def parity(name: str, *words: object) -> list[object]:
    """A run on vLLM, as a user would type it."""
    run = ["-m", "reviewbot", "parity", "run", "--engine", "vllm", "--out", WORK / name]
    return [*run, *words, "--profile", "--output-format", "json"]


STAGES: dict[str, list[list[object]]] = {
    "model": [[HERE / "model.py", WORK / "model"]],
    "noise": [[HERE / "noise.py"]],
    "pace": [[HERE / "pace.py", WORK / "model", WORK / "pace"]],
    "toy": [parity("toy", *TOY, "--plant", "all", "--control", "--trainer")],
    "toy-default": [parity("toy-default", *TOY, *FLASH)],
    "big": [parity("big", *BIG, *INVARIANT), [HERE / "bare.py", WORK / "big"]],
    "big-default": [parity("big-default", *BIG, *FLASH), [HERE / "bare.py", WORK / "big-default"]],
    "tensor-parallel": [parity("tensor-parallel", *BIG, *TWO)],
    "toy-tensor-parallel": [parity("toy-tensor-parallel", *TOY, *TWO)],
    "toy-tensor-parallel-float32": [parity("toy-tensor-parallel-float32", *TOY, *TWO, "--dtype", "float32")],
    "data-parallel": [
        parity("data-parallel", *BIG, "--workload", "engines", "--other-data-parallel-size", "2")
    ],
}


def main(out: Path, chosen: list[str]) -> int:
    out.mkdir(parents=True, exist_ok=True)
    (out / "about.json").write_text(json.dumps(about(), indent=1))
    failed = 0
    for stage in chosen or list(STAGES):
        said = []
        for command in STAGES[stage]:
            begun = time.monotonic()
            done = subprocess.run(
                [sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False
            )
            said.append({"command": " ".join(map(str, command)), "code": done.returncode})
            said[-1]["seconds"] = round(time.monotonic() - begun, 1)
            line = done.stdout.strip().splitlines()[-1:] or ["null"]
            try:
                said[-1]["result"] = json.loads(line[0] if line[0][:1] in "{n" else done.stdout)
            except ValueError:
                said[-1]["output"] = done.stdout[-4000:]
            if done.returncode:
                failed += 1
                said[-1]["errors"] = done.stderr[-4000:] + logs(command)
            print(stage, done.returncode, said[-1]["seconds"], "s", flush=True)
        (out / f"{stage}.json").write_text(json.dumps(said, indent=1))
    return min(failed, 1)


def logs(command: list[object]) -> str:
    """The ends of the legs' logs."""
    if "--out" not in command:
        return ""
    folder = Path(str(command[command.index("--out") + 1]))
    return "".join(
        f"\n{log.name}:\n{log.read_text(errors='replace')[-3000:]}" for log in folder.glob("*.log")
    )


def about() -> dict[str, object]:
    """What the figures hold for."""
    names = ("torch", "transformers", "vllm", "triton", "numpy")
    found = {dist.name: dist.version for dist in importlib.metadata.distributions() if dist.name in names}
    smi = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    asked = subprocess.run(smi, capture_output=True, text=True, check=False)
    return {
        # `git rev-parse HEAD:reviewbot`: what ran, whatever commit it comes from.
        "git_tree_of_reviewbot": os.environ.get("TREE"),
        "python": sys.version.split()[0],
        "versions": found,
        "gpus": asked.stdout.strip().splitlines(),
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
