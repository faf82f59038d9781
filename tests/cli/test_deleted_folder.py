"""A working folder that was deleted is said in one line by every command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent.parent
WORDS = {
    "report": ("--out", "pages"),
    "probe": ("parity.py::compare",),
    "new-rule": ("my-rule",),
    "completion": ("bash",),
    "parity": ("compare", "a", "b"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_deleted_folder(tmp_path, command):
    (tmp_path / "gone").mkdir()
    words = " ".join([f"{sys.executable} -m reviewbot", command, *WORDS.get(command, ())])
    done = subprocess.run(
        ["sh", "-c", f"cd gone && rmdir ../gone && {words}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    said = "reviewbot: the working folder is not there any more: go to another one, or enter it anew\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
