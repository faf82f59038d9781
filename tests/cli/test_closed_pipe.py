"""Output that nobody reads, or that nothing holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


FULL = Path("/dev/full")


def shell(folder: Path, redirected: str) -> subprocess.CompletedProcess[str]:
    """A run by a shell, which closes streams."""
    (folder / "test_a.py").write_text("def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n")
    return subprocess.run(
        ["sh", "-c", f'"$0" -m reviewbot lint test_a.py {redirected}', sys.executable],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_takes_nothing_but_what_is_said(tmp_path, closed):
    for _ in range(2):
        ran = shell(tmp_path, closed)
        assert ran.returncode == 1
        assert ran.stderr == ""
        assert ("constant-verdict" in ran.stdout) == (">&-" not in closed.split())


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's own")
def test_a_full_disk_is_said_in_a_line(tmp_path):
    ran = shell(tmp_path, f"> {FULL}")
    assert ran.returncode == 2
    assert ran.stderr == "reviewbot: the output cannot be written (no space left on device)\n"
