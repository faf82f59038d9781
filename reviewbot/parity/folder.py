"""A run's folder: one run at a time in it, and what is finished in it stays finished."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviewbot.errors import UsageError
from reviewbot.parity import writer

SETTINGS = "run.json"


@contextmanager
def claimed(folder: Path, settings: bytes, resume: bool) -> Iterator[None]:
    """Holds a folder for this process.

    A folder that holds a run is taken again only with `resume`, and only for the same settings; one in which
    a run was to be made and left nothing is free. Raises `UsageError` otherwise, and where another process
    holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{folder}: cannot hold a run: {why}; choose another --out") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{folder}: another run is going on here; choose another --out") from None
        known = folder / SETTINGS
        if known.exists() and _begun(folder):
            if not resume:
                raise UsageError(f"{folder}: holds a run; go on with --resume, or choose another --out")
            if known.read_bytes() != settings:
                raise UsageError(f"{folder}: holds a run with other settings; choose another --out")
        elif not known.exists() and any(entry.name != "lock" for entry in folder.iterdir()):
            raise UsageError(f"{folder}: not empty, and no run of reviewbot; choose another --out")
        else:
            writer.whole(known, settings)
            # What a run leaves in a repository is no part of it.
            writer.whole(folder / ".gitignore", b"*\n")
        yield
    finally:
        os.close(descriptor)


def _begun(folder: Path) -> bool:
    """Whether a run left anything: the account of a leg, or a file with content in a leg's folder.

    A tree of a commit is none, nor is what a leg is told, and what it says when it cannot start.
    """
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.name.endswith("-tree"):
            if any(file.is_file() and file.stat().st_size for file in entry.rglob("*")):
                return True
        elif entry.suffix == ".json" and entry.name != SETTINGS and not entry.name.endswith(".spec.json"):
            return True
    return False


def emptied(folder: Path) -> Path:
    """The folder, with nothing in it."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
