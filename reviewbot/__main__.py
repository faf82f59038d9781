"""`python -m reviewbot`."""

import sys

# `-m` puts the working folder first: what stands there is under review, and is never imported.
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]

from reviewbot.cli.entry import run

if __name__ == "__main__":
    run()
