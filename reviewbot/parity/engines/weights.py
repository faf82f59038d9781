"""Which weights a model has."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256(model: str) -> str | None:
    """The hash of a model folder's weights; None where the model comes by name from elsewhere."""
    files = sorted(Path(model).glob("*.safetensors")) if Path(model).is_dir() else []
    if not files:
        return None
    hashed = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while data := opened.read(1 << 20):
                hashed.update(data)
    return hashed.hexdigest()
