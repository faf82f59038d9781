"""What the standard streams of a command can show, and what may be shown there."""

from __future__ import annotations

import os
import sys


def wants_colour(unwanted: bool) -> bool:
    """Whether standard output takes colours: on a terminal, unless --no-color or NO_COLOR says otherwise."""
    if unwanted or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def tell(says: str) -> None:
    """Prints `reviewbot: ` and these words as one line on standard error, in which nothing acts: they may be
    those of code under review, of a file's name or of an argument."""
    put_error(f"reviewbot: {inert(says)}\n")


def inert(says: str) -> str:
    """The words on one line that steers neither a terminal nor a workflow's runner."""
    from reviewbot.render.inert import visible

    return visible(says).replace("##[", "##<U+005B>")  # which a runner obeys in the midst of a line


def put_error(text: str) -> None:
    """Writes to standard error. Where that cannot be written, nobody is left to tell, and a command ends as
    it would have ended."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        # What could not be written is still held, and would be tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
