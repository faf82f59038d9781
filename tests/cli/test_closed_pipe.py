"""A reader that goes away ends a command without a word, and not as a success."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_output_that_nobody_reads_is_no_success(tmp_path):
    (tmp_path / "test_a.py").write_text("def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "reviewbot", "lint", "test_a.py"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == b""
