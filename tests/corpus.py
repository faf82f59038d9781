"""Real Python files that every machine has: the standard library, its own tests first."""

from __future__ import annotations

import hashlib
import sysconfig
from pathlib import Path

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def sample(count: int) -> list[Path]:
    """`count` files of the running Python's tests, or of its library where it came without: the same every
    time, of all sizes."""
    tests = STANDARD_LIBRARY / "test"
    folder = tests if (tests / "test_list.py").exists() else STANDARD_LIBRARY
    files = [path for path in folder.rglob("*.py") if "site-packages" not in path.parts]
    return sorted(
        files, key=lambda path: hashlib.blake2b(path.relative_to(folder).as_posix().encode()).digest()
    )[:count]
