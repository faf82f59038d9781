"""What an executor has to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reviewbot.errors import ReviewbotError
from reviewbot.parity.spec import Spec

# Told a leg's name and what it says: how many tokens it has decoded, that it stands and waits to be killed.
Hear = Callable[[str, dict[str, Any]], None]


class LegFailed(ReviewbotError):
    """A leg ended without its rows."""


class LegLost(LegFailed):
    """A leg is missing because what it ran on went away, or the one before it left nothing for it to do; the
    command ends with 3."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One process of a run. `python` is the interpreter that has its engine, None this one."""

    name: str
    spec: Spec
    python: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a leg ended: its exit code, -9 where it was killed as it had asked; seconds in all, and to load."""

    status: int
    seconds: float
    load: float


class Executor(Protocol):
    """Runs legs that do not need one another, to their ends."""

    def run(self, legs: Sequence[Leg], folder: Path, hear: Hear) -> dict[str, Ended]:
        """How each ended, by name; `folder` then has each leg's log beside what its spec says.

        Raises `LegFailed` for one that ended with an error, naming its log; `LegLost` for a missing one.
        """
