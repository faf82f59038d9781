"""Legs as processes: started, listened to, killed in mid-generation, and never left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

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


def trainer(spec: Mapping[str, Any], folder: Path, threads: int, python: str = sys.executable) -> None:
    """The trainer's pass over a leg's rows. Raises `LegFailed` where it ended with an error."""
    path, log = folder / "trainer.spec.json", folder / "trainer.log"
    writer.whole(path, msgspec.json.encode(spec))
    with log.open("wb") as errors, _started("trainer", path, errors, threads, python, {}) as process:
        process.wait()
    if process.returncode:
        raise LegFailed(_failed("trainer", log))


def run(
    name: str, spec: Spec, folder: Path, hear: Hear, python: str = sys.executable, env: Mapping[str, str] = {}
) -> int:
    """One leg to its end; the exit code, which is -9 where it was killed in mid-generation as it had asked.

    Raises `LegFailed` where it ended with an error, and names its log.
    """
    path = folder / f"{name}.spec.json"
    writer.whole(path, msgspec.json.encode(spec))
    log = folder / f"{name}.log"
    with (
        log.open("wb") as errors,
        _started("leg", path, errors, spec.settings.threads, python, env) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            said = _said(line)
            hear(said)
            if "holding" in said:
                os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    if status not in (0, -signal.SIGKILL):
        raise LegFailed(_failed(name, log))
    return status


@contextlib.contextmanager
def _started(
    module: str, spec: Path, errors: IO[bytes], threads: int, python: str, env: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours that nothing is left of, whatever happens meanwhile."""
    root = str(Path(__file__).parent.parent.parent)
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [python, "-m", f"reviewbot.parity.{module}", str(spec)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": str(threads), **env},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _failed(name: str, log: Path) -> str:
    said_last = log.read_text(errors="replace").strip().splitlines()[-1:]
    return f"the {name} leg failed ({''.join(said_last)[:300]}); its log: {log}"


def _said(line: bytes) -> dict[str, Any]:
    """A line of a leg's output; libraries may print lines of their own."""
    try:
        said = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return {}
    return said if isinstance(said, dict) else {}
