"""Legs on this machine, side by side where it has room for them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.parity import gpu, process, writer
from reviewbot.parity.engines import weights
from reviewbot.parity.engines.engine import Settings
from reviewbot.parity.executors.executor import Ended, Hear, Leg, LegFailed

WEIGHED = 3  # times the size of its weights is what a leg may take of memory


class Local:
    """The default: each leg has GPUs of its own, or on a CPU cores, as many at once as there are."""

    def __init__(self, at_once: int | None = None) -> None:
        self._at_once = at_once

    def run(self, legs: Sequence[Leg], folder: Path, hear: Hear) -> dict[str, Ended]:
        ended: dict[str, Ended] = {}
        before = gpu.used()
        waiting = list(legs)
        while waiting:
            places = _places([leg.spec.settings for leg in waiting], len(before))[: self._at_once]
            together, waiting = waiting[: len(places)], waiting[len(places) :]
            placed = [
                replace(leg, env={**leg.env, **place}) for leg, place in zip(together, places, strict=False)
            ]
            ended |= _side_by_side(placed, folder, hear)
            # The next leg starts on GPUs that nothing of the last one is left on.
            if not gpu.freed(before):
                names = ", ".join(leg.name for leg in together)
                raise LegFailed(f"a GPU still holds memory a minute after its leg ended ({names})")
        return ended


def _places(settings: Sequence[Settings], gpus: int) -> list[Mapping[str, str]]:
    """What tells each of the legs that fit side by side where it runs; at least one."""
    if gpus:
        each = max(one.tensor_parallel_size * one.data_parallel_size for one in settings)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        devices = visible.split(",") if visible else [str(number) for number in range(gpus)]
        if len(devices) < 2 * each:
            return [{}]
        starts = range(0, len(devices) - each + 1, each)
        return [{"CUDA_VISIBLE_DEVICES": ",".join(devices[start : start + each])} for start in starts]
    room = len(os.sched_getaffinity(0)) // max(one.threads for one in settings)
    sizes = [weights.size(one.model) for one in settings]
    if None in sizes:  # a model by name, of whatever size
        return [{}]
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    room = min(room, free // (WEIGHED * max(size for size in sizes if size is not None) or 1))
    return [{}] * max(1, room)


def _side_by_side(legs: Sequence[Leg], folder: Path, hear: Hear) -> dict[str, Ended]:
    if len(legs) == 1:
        return {legs[0].name: one(legs[0], folder, hear)}
    with ThreadPoolExecutor(len(legs)) as threads:
        running = {leg.name: threads.submit(one, leg, folder, hear) for leg in legs}
        try:
            wait(running.values(), return_when=FIRST_EXCEPTION)
            for leg in running.values():
                if leg.done():
                    leg.result()  # raises what failed it, before the others are at their ends
            return {name: leg.result() for name, leg in running.items()}
        finally:
            while not all(leg.done() for leg in running.values()):
                process.end_all()
                wait(running.values(), timeout=0.1)


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
