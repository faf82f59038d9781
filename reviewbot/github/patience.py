"""Writing a thing exactly once, to a server that asks for patience and loses answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from reviewbot.errors import Busy, Unreachable, Unsure

LONGEST_WAIT = 300.0  # seconds; a server that asks for more is left alone
LONGEST_SILENCE = 60.0  # seconds in which a read is begun again that brought no answer
LONGEST_AWAY = 8.0  # and where not even a connection comes about
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast requests follow one another, in seconds, and how often a read is tried."""

    between_requests: float = 0.25
    between_writes: float = 1.0
    secondary_wait: float = 60.0
    backoff: float = 1.0
    tries: int = 5


PACE = Pace()


def once(do: Callable[[], _T], stored: Callable[[], _T | None], pace: Pace) -> _T:
    """What `do` writes, written once.

    Before it is tried again, and before it is given up where no answer came, `stored` looks whether an
    earlier try was stored after all. Raises what the last try raised, and at once what is no matter of
    patience.
    """
    try:
        for attempt in Retrying(
            retry=retry_if_exception_type((Busy, Unsure)),
            stop=lambda state: (
                stop_after_attempt(pace.tries)(state) or _wait(state, pace) > LONGEST_WAIT or gone(state)
            ),
            wait=lambda state: _wait(state, pace),
            reraise=True,
        ):
            with attempt:
                found = stored() if attempt.retry_state.attempt_number > 1 else None
                return do() if found is None else found
    except Unsure:
        found = stored()
        if found is None:
            raise
        return found
    raise AssertionError


def gone(state: RetryCallState) -> bool:
    """Whether it has been tried for long enough where nothing answers."""
    error = state.outcome.exception() if state.outcome else None
    longest = LONGEST_AWAY if isinstance(error, Unreachable) else LONGEST_SILENCE
    return isinstance(error, Unsure) and (state.seconds_since_start or 0.0) + state.upcoming_sleep > longest


def _wait(state: RetryCallState, pace: Pace) -> float:
    """Seconds until the next try."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Busy):
        return pace.secondary_wait if error.wait is None else error.wait
    return float(pace.backoff * 2 ** (state.attempt_number - 1))
