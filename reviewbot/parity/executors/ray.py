"""Legs as tasks of a Ray cluster: at the same time, each on a machine that has room for it.

Nothing has to be shared between the machines but the model, where it is not the one that comes along: what
a leg reads goes to its task, what it leaves comes back. A task whose worker is lost is run once more; lost
again, it is a leg that is missing, and never a pass.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from reviewbot.errors import UsageError
from reviewbot.parity import process, writer
from reviewbot.parity.executors import driver
from reviewbot.parity.executors.executor import Ended, Hear, Leg, LegFailed, LegLost

_ERRORS = {"usage": UsageError, "failed": LegFailed, "lost": LegLost}


class Ray:
    """Runs legs on the cluster at `address`, or without one on a Ray of this machine alone."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address

    def run(self, legs: Sequence[Leg], folder: Path, hear: Hear) -> dict[str, Ended]:
        path, log = folder / "ray.spec.json", folder / "ray.log"
        spec = driver.Spec(address=self._address, folder=str(folder), legs=tuple(legs))
        writer.whole(path, msgspec.json.encode(spec))
        outcomes: list[driver.Outcome] = []

        def heard(line: bytes) -> bool:
            with contextlib.suppress(msgspec.DecodeError):
                outcomes.append(msgspec.json.decode(line, type=driver.Outcome))
            return False

        # A Ray of our own would let its workers wait for whatever else the machine has to do.
        env = {} if self._address else {"RAY_worker_niceness": "0"}
        status = process.module("executors.driver", path, heard, log=log, threads=1, env=env)
        if not outcomes:
            raise LegFailed(f"Ray ended with {status} {process.last_words(log)}")
        outcome = outcomes[-1]
        if outcome.kind != "ended":
            raise _ERRORS[outcome.kind](outcome.why)
        return outcome.ended
