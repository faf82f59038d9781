"""A command that does not outlive the process that started it: `python tied.py COMMAND...`.

Stands alone, so that it runs in whatever environment the command needs.
"""

import ctypes
import os
import signal
import sys


def to_parent() -> None:
    """Whatever becomes of the process that started this one, this one ends with it (Linux)."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG, which outlasts exec
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    to_parent()
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)
