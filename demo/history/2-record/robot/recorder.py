"""Keeps every episode as one row, the way the trainer reads it."""

import json
from pathlib import Path


def row(number, tokens, sampled, score):
    """One trained row: token ids, the loss mask over them, the reward."""
    return {"episode": number, "tokens": tokens, "sampled": sampled, "score": score}


def write(path: Path, rows) -> None:
    """Writes rows as JSON lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))


def read(path: Path):
    """Reads what `write` wrote."""
    return [json.loads(line) for line in path.read_text().splitlines()]
