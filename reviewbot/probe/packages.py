"""Where an interpreter's packages stand, and which of that a child may read.

Packages that are being worked on ("editable") stand elsewhere: a `.pth` file names their folder, or a module
beside it maps their names to paths.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from reviewbot.errors import UsageError
from reviewbot.probe.sandbox import readable

MOST_LINKS = 40
_ASK = """
import json, site, sys, sysconfig
paths = sysconfig.get_paths()
user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
print(json.dumps([sys.executable, paths["purelib"], paths["platlib"], *site.getsitepackages(), *user]))
"""
_FINDER = re.compile(r"^import (__editable__\w+|_editable_impl_\w+)\b", re.MULTILINE)


def interpreter(python: str | None) -> str | None:
    """The interpreter itself behind a path, a name that stands on PATH, or a launcher.

    Raises UsageError where there is none, or where it does not run.
    """
    return python and _asked(python)[0]


@dataclass(frozen=True, slots=True)
class Packages:
    """`folders` go onto the path of the child, `read` and `list` are what it may read and list for that."""

    folders: tuple[str, ...]
    read: tuple[str, ...]
    list: tuple[str, ...]


def packages(python: str | None = None) -> Packages:
    """The packages of an interpreter (this one). Raises UsageError where it does not run."""
    return _packages(python or sys.executable)


@lru_cache(maxsize=8)
def _packages(python: str) -> Packages:
    own = [folder for folder in installed(python) if os.path.isdir(folder)]
    links = list(dict.fromkeys(link for folder in own for link in linked(Path(folder))))[:MOST_LINKS]
    read: list[str] = [*own, *_settings(python)]
    listed: list[str] = []
    for link in links:
        # What begins with a dot stays shut, as in the repository itself.
        names, itself = readable(Path(link))
        read += names
        listed += itself
    return Packages((*own, *links), tuple(read), tuple(listed))


def _settings(python: str) -> list[str]:
    """What an environment's interpreter reads before anything else, as where a test starts one."""
    file = Path(python).parent.parent / "pyvenv.cfg"
    return [str(file)] if file.is_file() else []


def installed(python: str) -> list[str]:
    """The folders of installed packages of an interpreter, the user's own among them where it looks there."""
    if python == sys.executable:
        paths = sysconfig.get_paths()
        user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
        return list(dict.fromkeys((paths["purelib"], paths["platlib"], *site.getsitepackages(), *user)))
    return list(dict.fromkeys(_asked(python)[1:]))


@lru_cache(maxsize=8)
def _asked(python: str) -> list[str]:
    """An interpreter's own path, then its folders of packages. Raises UsageError where it does not run."""
    found = shutil.which(python)
    if found is None:
        raise UsageError(f"--python {python}: no program of that name can be run")
    why = "it is no Python"
    try:
        # From a folder of nobody: what `-c` may import from there is not ours.
        done = subprocess.run(
            [os.path.abspath(found), "-c", _ASK],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
            cwd=os.sep,
        )
        if not done.returncode:
            return [str(part) for part in json.loads(done.stdout)]
        why = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1][:200]
    except subprocess.TimeoutExpired:
        why = "it did not answer within 20 s"
    except (OSError, ValueError, TypeError):
        pass
    raise UsageError(f"--python {python}: it does not run as a Python ({why})")


def linked(folder: Path) -> Iterator[str]:
    """The folders outside of it that a folder of packages refers to."""
    for file in sorted(folder.glob("*.pth")):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            path = line.strip()
            if path and not path.startswith(("#", "import ", "import\t")):
                yield from _elsewhere(folder, folder / path)
        for name in _FINDER.findall(text):
            for place in _mapped(folder / f"{name}.py"):
                yield from _elsewhere(folder, place.parent)


def _elsewhere(folder: Path, path: Path) -> Iterator[str]:
    if path.is_dir() and not path.is_relative_to(folder):
        yield str(path)


def _mapped(file: Path) -> Iterator[Path]:
    """The paths in the dictionaries of names to paths that a finder's module holds."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            values: Sequence[ast.expr] = node.values
            for value in values:
                if (
                    isinstance(value, ast.Constant)
                    and isinstance(value.value, str)
                    and os.path.isabs(value.value)
                ):
                    yield Path(value.value)
