"""The files that are measured on: tests of the running Python itself, which every machine has."""

from __future__ import annotations

import hashlib
import shutil
import sysconfig
from pathlib import Path


def copy_sample(folder: Path, size: int) -> int:
    """Copies tests of the standard library, or the library where it came without, into a folder: the same
    ones every time, of all lengths, `size` bytes in all. Returns how many."""
    library = Path(sysconfig.get_path("stdlib"))
    root = library / "test" if (library / "test" / "test_list.py").exists() else library
    files = [path for path in root.rglob("*.py") if "site-packages" not in path.parts]
    files.sort(key=lambda path: hashlib.blake2b(path.relative_to(root).as_posix().encode()).digest())
    left, count = size, 0
    for path in files:
        length = path.stat().st_size
        if length > left:
            continue
        target = folder / "test" / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        left, count = left - length, count + 1
    (folder / "pyproject.toml").write_text("")
    return count
