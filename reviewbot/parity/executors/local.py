"""Legs on this machine, one after the other."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.parity import gpu, process, writer
from reviewbot.parity.executors.executor import Ended, Hear, Leg, LegFailed


class Local:
    """The default: each leg has the machine for itself."""

    def run(self, legs: Sequence[Leg], folder: Path, hear: Hear) -> dict[str, Ended]:
        ended = {}
        before = gpu.used()
        for leg in legs:
            ended[leg.name] = one(leg, folder, hear)
            # The next leg starts on GPUs that nothing of the last one is left on.
            if not gpu.freed(before):
                raise LegFailed(f"a GPU still holds memory a minute after the {leg.name} leg ended")
        return ended


def one(leg: Leg, folder: Path, hear: Hear) -> Ended:
    """Runs one leg in a process of its own. Raises `LegFailed`."""
    path, log = folder / f"{leg.name}.spec.json", folder / f"{leg.name}.log"
    writer.whole(path, msgspec.json.encode(leg.spec))
    began, load = time.monotonic(), 0.0

    def heard(line: bytes) -> bool:
        nonlocal load
        said = _said(line)
        if "ready" in said:
            load = time.monotonic() - began
        hear(leg.name, said)
        return "holding" in said

    threads = leg.spec.settings.threads
    status = process.module("leg", path, heard, log=log, threads=threads, python=leg.python, env=leg.env)
    if status not in (0, -signal.SIGKILL):
        raise LegFailed(f"the {leg.name} leg failed {process.last_words(log)}")
    return Ended(status, round(time.monotonic() - began, 3), round(load, 3))


def _said(line: bytes) -> dict[str, Any]:
    """A line of a leg's output; libraries may print lines of their own."""
    try:
        said = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return {}
    return said if isinstance(said, dict) else {}
