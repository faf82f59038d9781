"""What a leg's process is told: which rows to make, on which engine, in which folders."""

from __future__ import annotations

import msgspec

from reviewbot.parity.engines.engine import Settings
from reviewbot.parity.task import TaskName
from reviewbot.parity.writer import DumpFormat


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is decoded: `steps` x `prompts` x `samples` rows, each model call by at most `budget` tokens."""

    steps: int = 2
    prompts: int = 4
    samples: int = 4
    budget: int = 48
    temperature: float = 0.7
    task: TaskName = "calculator"
    dump_format: DumpFormat = "plain"


class Out(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of one leg, the fault to plant into it, and the calls that it decodes together."""

    folder: str
    fault: str | None = None
    at_a_time: int


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """One process, which makes the legs of `outs` one after the other with one start of the engine.

    `cut` is the folder of the leg that was killed, `min_cut` the calls to be cut in this one.
    """

    work: Work
    settings: Settings
    outs: tuple[Out, ...]
    cut: str | None = None
    min_cut: int = 0
