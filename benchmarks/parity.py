"""What comparing two dumps costs beside decoding the same JSON with the fastest decoder.

    python benchmarks/parity.py [--megabytes 1000] [--folder DIR] [--times 3]

Writes NeMo-RL rows (padded to 2,048 tokens, real lengths 512 to 2,048) as a reference, and as the same rows:
byte for byte, with a log-prob in every row off by rounding, with every log-prob off by rounding, in another
order, and with NaN in one of fifty.
The yardstick is to decode both files of a pair and do nothing with them: line by line, by msgspec and by
orjson. Beside it the pair is compared by the command. Everything runs in a process of its own, in turns, and
the least CPU seconds of `--times` count, the start of Python included on both sides. Prints one line of JSON
for each pair: seconds, the ratio to the faster decoder, and the largest resident memory. Needs orjson, which
reviewbot itself does not.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DECODERS = {
    "msgspec": "import msgspec; decode = msgspec.json.Decoder().decode",
    "orjson": "import orjson; decode = orjson.loads",
}
LOOP = "{setup}\nfor name in {files!r}:\n  for line in open(name, 'rb'):\n    decode(line)"
KINDS = ("same", "noise", "every", "shuffled", "nan")
LONGEST = 2048


def line(drawn: random.Random, index: int) -> dict[str, object]:
    """One row as NeMo-RL writes it."""
    length = drawn.randint(512, LONGEST)
    padding = [0] * (LONGEST - length)
    mask = [int(at > 200 and at % 300 > 40) for at in range(length)]
    logprobs = [-drawn.random() * trained for trained in mask]
    return {
        "content": [""],
        "rewards": [float(drawn.random() < 0.5)],
        "input_lengths": [length],
        "token_ids": [
            [index // 8] * 100 + [drawn.randint(0, 150_000) for _ in range(length - 100)] + padding
        ],
        "token_loss_mask": [mask + padding],
        "sample_loss_mask": [1.0],
        "advantages": [[0.5 * trained for trained in mask] + padding],
        "generation_logprobs": [logprobs + padding],
        "prev_logprobs": [logprobs + padding],
        "idx": [index],
    }


def write(folder: Path, megabytes: int) -> None:
    """The reference and the others, each in a folder of its own."""
    drawn = random.Random(0)
    files = {}
    for kind in ("reference", "same", "noise", "every", "nan"):
        (folder / kind).mkdir(parents=True)
        files[kind] = (folder / kind / "train_data_step1.jsonl").open("w")
    index = 0
    while files["reference"].tell() < megabytes * 1_000_000:
        row = line(drawn, index)
        text = json.dumps(row)
        files["reference"].write(text + "\n")
        files["same"].write(text + "\n")
        values = row["generation_logprobs"][0]  # type: ignore[index]
        at = next(at for at in range(300, LONGEST) if values[at])
        kept, values[at] = values[at], values[at] - 0.001
        files["noise"].write(json.dumps(row) + "\n")
        values[at] = float("nan") if index % 50 == 0 else kept
        files["nan"].write(json.dumps(row) + "\n")
        values[at] = kept
        for name in ("generation_logprobs", "prev_logprobs"):
            row[name] = [[value and value + 1e-6 * drawn.random() for value in values]]
        files["every"].write(json.dumps(row) + "\n")
        index += 1
    for file in files.values():
        file.close()
    rows = (folder / "same" / "train_data_step1.jsonl").read_bytes().splitlines(keepends=True)
    drawn.shuffle(rows)
    (folder / "shuffled").mkdir()
    (folder / "shuffled" / "train_data_step1.jsonl").write_bytes(b"".join(rows))


def measured(command: list[str]) -> tuple[float, float, int]:
    """CPU seconds and peak resident megabytes of a command, and its exit code."""
    code = (
        "import resource, subprocess, sys;"
        f"done = subprocess.run({command!r}, stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, kilobytes, status = done.stdout.split()
    return float(seconds), int(kilobytes) / 1024, int(status)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000, help="of each file")
    parser.add_argument(
        "--folder", type=Path, help="where rows are written and left (default: a temporary one)"
    )
    parser.add_argument("--times", type=int, default=3, help="how often each is run (default: 3)")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "shuffled").exists():
            write(folder, options.megabytes)
        for kind in KINDS:
            files = [str(folder / side / "train_data_step1.jsonl") for side in ("reference", kind)]
            commands = {
                name: [sys.executable, "-c", LOOP.format(setup=setup, files=files)]
                for name, setup in DECODERS.items()
                if kind != "nan"  # which no fast decoder reads
            }
            commands["compare"] = [sys.executable, "-m", "reviewbot", "parity", "compare", *files]
            runs = [
                {name: measured(command) for name, command in commands.items()} for _ in range(options.times)
            ]
            best = {name: min(run[name] for run in runs) for name in commands}
            seconds, memory, status = best.pop("compare")
            assert all(code == 0 for _, _, code in best.values()), f"a decoder cannot read {kind}"
            if best:
                fastest = min(taken for taken, _, _ in best.values())
            print(
                json.dumps(
                    {
                        "rows": kind,
                        "exit": status,
                        "seconds": round(seconds, 2),
                        **{name: round(taken, 2) for name, (taken, _, _) in best.items()},
                        "ratio": round(seconds / fastest, 3),
                        "peak_mb": round(memory),
                    }
                ),
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
