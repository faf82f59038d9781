"""Rows of a step as a file, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec

DumpFormat = Literal["plain", "nemo-rl"]


def write(folder: Path, step: int, rows: list[dict[str, Any]], form: DumpFormat) -> Path:
    """Writes `train_data_step<step>.jsonl`."""
    plain = [{name: value for name, value in row.items() if name != "index"} for row in rows]
    written = plain if form == "plain" else _nemo_rl(rows)
    data = b"".join(msgspec.json.encode(row) + b"\n" for row in written)
    path = folder / f"train_data_step{step}.jsonl"
    whole(path, data)
    return path


def whole(path: Path, data: bytes) -> None:
    """Puts a file in its place in one move, after its bytes have reached the disk."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _nemo_rl(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """NeMo-RL's shape: every value in a one-element list, padded to the longest row of the step."""
    longest = max((len(row["token_ids"]) for row in rows), default=0)

    def padded(values: list[Any], filler: int | float) -> list[list[Any]]:
        return [[*values, *[filler] * (longest - len(values))]]

    return [
        {
            "content": [""],
            "rewards": [row["reward"]],
            "input_lengths": [len(row["token_ids"])],
            "token_ids": padded(row["token_ids"], 0),
            "token_loss_mask": padded(row["loss_mask"], 0),
            "sample_loss_mask": [row["sample_mask"]],
            "advantages": padded(row["advantages"], 0.0),
            "generation_logprobs": padded(row["logprobs"], 0.0),
            "prev_logprobs": padded(row["logprobs"], 0.0),
            "idx": [row["index"]],
        }
        for row in rows
    ]
