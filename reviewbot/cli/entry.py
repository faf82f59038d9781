"""Where every command begins and ends: an interrupt ends it quietly from its first line to its last."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:  # what `typing` imports takes longer than all of this
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """The handler while nothing is under way: before a command has begun, and after it has ended."""
    os._exit(INTERRUPTED)


def _handle(handler: object) -> None:
    # Who starts us with interrupts ignored, as nohup and shells in the background do, wants it so.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


_handle(leave)


def run() -> NoReturn:
    """The console script."""
    from reviewbot.cli import main

    code = INTERRUPTED
    try:
        _handle(signal.default_int_handler)
        code = main.run()
    except KeyboardInterrupt:
        pass
    finally:
        _handle(leave)
    if code == INTERRUPTED:
        # An interrupt inside of generated code makes Python end by the signal, however well it was handled.
        os._exit(INTERRUPTED)
    raise SystemExit(code)
