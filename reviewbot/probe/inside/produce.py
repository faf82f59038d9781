"""Runs a producer: code of the product that writes what a check reads."""

from __future__ import annotations

import inspect
import io
import logging
import signal
import sys
from collections.abc import Callable
from typing import Any

from reviewbot.probe.inside import judge, plain, stubs
from reviewbot.probe.inside.plain import Plain


class _Lines(logging.Handler):
    """What is logged, as text."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps the message."""
        if len(self.said) < 200:
            self.said.append(record.getMessage()[:10_000])


class Producer:
    """A function, called with plain arguments by name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.bind = judge.binder(function)
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            parameters = ()  # type: ignore[assignment]
        # [name, whether it must be given]
        self.parameters = [
            [p.name, p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
            for p in parameters
        ]

    def run(self, arguments: dict[str, Plain], seconds: float) -> dict[str, Any]:
        """What it returned, how it left its arguments, what it logged; `raised` if it did not finish."""
        stubs.forget()
        lines = _Lines()
        logger = logging.getLogger()
        level = logger.level
        logger.addHandler(lines)
        logger.setLevel(logging.DEBUG)
        signal.signal(signal.SIGALRM, judge.ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = io.StringIO()
        try:
            built = {name: plain.build(value) for name, value in arguments.items()}
            returned = judge.finished(self.bind(built)())
            made = {
                "returned": _plain(returned),
                "after": plain.encode(plain.flatten(built)),
                "log": lines.said,
            }
        except BaseException as error:
            return {"raised": f"{type(error).__name__}: {str(error)[:200]}"}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.stdout, sys.stderr = streams
            logger.removeHandler(lines)
            logger.setLevel(level)
        used = stubs.used()
        return {"raised": f"it depends on {used[0]}, which is not installed here"} if used else made


def _plain(value: Any) -> Any:
    try:
        return plain.encode(plain.flatten(value))
    except plain.NotPlain:
        return None
