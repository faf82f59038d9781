"""What does not come with every installation: which extra brings a package, and what it is called there."""

from __future__ import annotations

import importlib.util

from reviewbot.errors import NeedsExtra

# extra: its modules, with the names of the packages that hold them. pyproject.toml says why each is needed.
EXTRAS = {
    "parity": {"zstandard": "zstandard", "pyarrow": "pyarrow", "tokenizers": "tokenizers"},
    "engines": {
        "torch": "torch",
        "transformers": "transformers",
        "safetensors": "safetensors",
        "numpy": "numpy",
    },
    "probe": {"pytest": "pytest"},
    # PyGithub brings requests.
    "github": {"github": "PyGithub", "requests": "PyGithub", "httpx": "httpx", "tenacity": "tenacity"},
    "pages": {"matplotlib": "matplotlib"},
    "ray": {"ray": "ray"},
}


def check(what: str, extra: str) -> None:
    """Raises `NeedsExtra` where `what` cannot be done for want of a package of that extra; imports none."""
    for module, package in EXTRAS[extra].items():
        if importlib.util.find_spec(module) is None:
            raise NeedsExtra(what, package, extra)


def lacking(error: ModuleNotFoundError, what: str) -> NeedsExtra | None:
    """What an import that failed in `what` means, where an extra brings the module."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return NeedsExtra(what, modules[module], extra)
    return None
