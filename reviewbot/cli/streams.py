"""What the standard streams of a command can show."""

from __future__ import annotations

import os
import sys


def wants_colour(unwanted: bool) -> bool:
    """Whether standard output takes colours: on a terminal, unless --no-color or NO_COLOR says otherwise."""
    if unwanted or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
