"""Where every command begins and ends: an interrupt ends it quietly from its first line to its last."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

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
    # What is imported stays: looking for what could be let go costs a twentieth of it.
    gc.disable()
    # One that was closed before we began: the next file that is opened would take its place.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open to the end
    code = INTERRUPTED
    try:
        _handle(signal.default_int_handler)
        said = None
        if sys.argv[1:2] == ["lint"]:
            from reviewbot.lint import again

            said = again.told(sys.argv[1:])
        if said is None:
            from reviewbot.cli import main

            said = main.run()
        code = said
    except KeyboardInterrupt:
        pass
    except SystemExit as end:  # as argparse ends help and wrong use
        if not isinstance(end.code, int):
            raise
        code = end.code
    finally:
        _handle(leave)
    if code == INTERRUPTED:
        # An interrupt inside of generated code makes Python end by the signal, however well it was handled.
        os._exit(INTERRUPTED)
    _end(code)


def _end(code: int) -> NoReturn:
    """Ends the process as Python does, but takes nothing apart: the system gets all memory back at once, and
    Python's own way of it takes longer than a lint run over files that have not changed."""
    if sys.getprofile() or sys.gettrace():
        raise SystemExit(code)  # whoever measures has something to say at the end
    if threads := sys.modules.get("threading"):
        threads._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        raise SystemExit(code) from None
    os._exit(code)
