"""What the driver says of the GPUs, without a context of our own on any of them."""

from __future__ import annotations

import shutil
import subprocess
import time

SLACK = 512  # MiB that may stay in use: the driver's own


def used() -> tuple[int, ...]:
    """MiB in use on each GPU; empty where there is no driver to ask."""
    return tuple(int(value) for value in _asked("memory.used"))


def capability() -> tuple[int, int] | None:
    """The lowest compute capability of all GPUs; None where there is none to ask."""
    found = [tuple(map(int, value.split("."))) for value in _asked("compute_cap")]
    return min((major, minor) for major, minor in found) if found else None


def freed(before: tuple[int, ...], seconds: float = 60.0) -> bool:
    """Waits until no GPU has more in use than before, but for the driver's own; False if in vain."""
    end = time.monotonic() + seconds
    while any(now > then + SLACK for now, then in zip(used(), before, strict=False)):
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _asked(what: str) -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    asked = [program, f"--query-gpu={what}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip() and "N/A" not in line]
