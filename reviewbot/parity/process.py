"""Legs as processes: started, listened to, killed in mid-generation, and never left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.errors import ReviewbotError
from reviewbot.parity import writer
from reviewbot.parity.leg import Spec


class LegFailed(ReviewbotError):
    """A leg ended without its rows."""


Hear = Callable[[dict[str, Any]], None]


@contextlib.contextmanager
def ended_with_us() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP unwind like an interrupt, so that legs are ended on the way out."""

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(
    name: str, spec: Spec, folder: Path, hear: Hear, python: str = sys.executable, env: Mapping[str, str] = {}
) -> int:
    """One leg to its end; the exit code, which is -9 where it was killed in mid-generation as it had asked.

    Raises `LegFailed` where it ended with an error, and names its log.
    """
    path = folder / f"{name}.spec.json"
    writer.whole(path, msgspec.json.encode(spec))
    log = folder / f"{name}.log"
    root = str(Path(__file__).parent.parent.parent)
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [python, "-m", "reviewbot.parity.leg", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": str(spec.settings.threads), **env},
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said = _said(line)
                hear(said)
                if "holding" in said:
                    os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if status not in (0, -signal.SIGKILL):
        said_last = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise LegFailed(f"the {name} leg failed ({''.join(said_last)[:300]}); its log: {log}")
    return status


def _said(line: bytes) -> dict[str, Any]:
    """A line of a leg's output; libraries may print lines of their own."""
    try:
        said = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return {}
    return said if isinstance(said, dict) else {}
