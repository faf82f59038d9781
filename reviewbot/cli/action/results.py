"""The one file that a job without rights hands to the job that reports."""

from __future__ import annotations

import shutil
from pathlib import Path

from reviewbot.cli.action import runner
from reviewbot.review.outcome import LARGEST, Kind


def place(kind: Kind) -> Path:
    """Where the result lies to be uploaded; whatever lay there is gone."""
    folder = runner.temporary() / "reviewbot-result"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = folder / f"{kind}.json"
    runner.outputs({"result": str(path)})
    return path


def take(left: Path, path: Path) -> bool:
    """Copies what foreign code left, if it is a file of a size that is read later, and no link to another."""
    if left.is_symlink() or not left.is_file() or left.stat().st_size > LARGEST:
        return False
    shutil.copyfile(left, path)
    return True
