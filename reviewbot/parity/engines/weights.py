"""Which weights a model has."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

# Names of layers whose state is not a cache of keys and values.
_RECURRENT = ("linear_attention", "mamba", "recurrent", "gated_delta")


def linear_attention(model: str) -> str | None:
    """The kind of a model's recurrent layers, as its configuration has it; None where there is none."""
    config = Path(model) / "config.json"
    if not config.is_file():
        return None
    said = json.loads(config.read_bytes())
    kinds = [str(kind) for kind in said.get("layer_types") or said.get("layers_block_type") or ()]
    return next((kind for kind in kinds if any(name in kind for name in _RECURRENT)), None)


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
