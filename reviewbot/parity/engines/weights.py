"""Which weights a model has."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
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


def size(model: str) -> int | None:
    """The bytes of a model folder's weights; None where the model comes by name from elsewhere."""
    return sum(file.stat().st_size for file in _files(model)) or None


class Sha256:
    """The hash of a model folder's weights, taken while the engine loads them."""

    def __init__(self, model: str) -> None:
        self._hashing = ThreadPoolExecutor(1)
        self._hashed = self._hashing.submit(_sha256, model)
        self._hashing.shutdown(wait=False)

    def value(self) -> str | None:
        """In hexadecimal; None where the model comes by name from elsewhere."""
        return self._hashed.result()


def _files(model: str) -> list[Path]:
    return sorted(Path(model).glob("*.safetensors")) if Path(model).is_dir() else []


def _sha256(model: str) -> str | None:
    files = _files(model)
    if not files:
        return None
    hashed = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while data := opened.read(1 << 20):
                hashed.update(data)
    return hashed.hexdigest()
