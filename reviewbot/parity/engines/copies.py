"""Several copies of an engine, each in a process of its own and with GPUs of its own: data parallelism.

Which copy decodes a row depends on the row's name alone. The processes are in the leg's process group, so
that the signal that kills it takes them along.
"""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections import Counter
from multiprocessing.connection import Connection, wait
from typing import Any

import msgspec

from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.parity import tied
from reviewbot.parity.engines import engine as engines
from reviewbot.parity.engines.engine import Engine, Piece, Request, Settings


class Copies:
    """`settings.data_parallel_size` engines that work side by side."""

    def __init__(self, settings: Settings) -> None:
        self._count = settings.data_parallel_size
        one = msgspec.structs.replace(settings, data_parallel_size=1)
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        for index in range(self._count):
            ours, theirs = context.Pipe()
            visible = _visible(index, settings.tensor_parallel_size)
            # vLLM may start processes itself, which a daemon must not.
            context.Process(target=_work, args=(one, visible, theirs), daemon=False).start()
            theirs.close()
            self._pipes.append(ours)
        abouts = [self._received(pipe) for pipe in self._pipes]
        self._about = {**abouts[0], "data_parallel_size": self._count}
        self._open: Counter[int] = Counter()

    def add(self, request: Request) -> None:
        index = zlib.crc32(request.row.encode()) % self._count
        self._open[index] += 1
        self._pipes[index].send(request)

    def busy(self) -> bool:
        return self._open.total() > 0

    def step(self) -> list[Piece]:
        waiting = {self._pipes[index]: index for index, calls in self._open.items() if calls}
        pieces = []
        for pipe in wait(list(waiting)):
            assert isinstance(pipe, Connection)
            said: list[Piece] = self._received(pipe)
            self._open[waiting[pipe]] -= sum(piece.finish is not None for piece in said)
            pieces += said
        return pieces

    def about(self) -> dict[str, Any]:
        return self._about

    def _received(self, pipe: Connection) -> Any:
        try:
            said = pipe.recv()
        except EOFError:
            raise UsageError("a copy of the engine ended without a word; the log has its last ones") from None
        if isinstance(said, ReviewbotError):
            raise said
        return said


def _visible(index: int, each: int) -> str:
    """The GPUs of one copy, as CUDA is told of them."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    ours = range(index * each, (index + 1) * each)
    if not given:
        return ",".join(map(str, ours))
    devices = given.split(",")
    if max(ours) >= len(devices):
        raise UsageError(
            f"--data-parallel-size: {len(devices)} GPUs are visible, and copy {index + 1} has none"
        )
    return ",".join(devices[one] for one in ours)


def _work(settings: Settings, visible: str, pipe: Connection) -> None:
    """One copy: calls come in, pieces go out, until the other end is gone."""
    tied.to_parent()
    os.environ["CUDA_VISIBLE_DEVICES"] = visible
    try:
        engine: Engine = engines.started(settings)
    except ReviewbotError as error:
        pipe.send(error)
        return
    pipe.send(engine.about())
    try:
        while True:
            while pipe.poll(None if not engine.busy() else 0):
                engine.add(pipe.recv())
            if pieces := engine.step():
                pipe.send(pieces)
    except (EOFError, BrokenPipeError):
        return
