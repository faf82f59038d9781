"""What a run must remember to go on after a stop."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Checkpoint:
    """The seed of a run and the episodes that it had finished."""

    seed: int
    finished: tuple[int, ...] = ()


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint."""
    path.write_text(json.dumps(asdict(checkpoint)))


def load(path: Path) -> Checkpoint:
    """Reads a checkpoint."""
    stored = json.loads(path.read_text())
    return Checkpoint(stored["seed"], tuple(stored["finished"]))
