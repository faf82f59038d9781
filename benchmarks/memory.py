"""What the processes of a command hold for themselves at most, in megabytes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path


def workers_hold(command: Sequence[str], cwd: Path, env: dict[str, str]) -> float | None:
    """The most that any child of a command held, private to it, looked at ten times a second; None where
    it had none, or the system does not say."""
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    most = 0.0
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        while process.poll() is None:
            most = max([most, *map(_private, _children(process.pid))])
            time.sleep(0.1)
    return most or None


def _children(parent: int) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                yield int(folder.name)


def _private(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024
