"""What `reviewbot --help` costs beside a Python that imports argparse and stops.

Runs both by turns and prints, in milliseconds of wall time, each one's median and the median of the
differences within a turn. Exits with 1 when that difference is above `--limit`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
BARE = [sys.executable, "-c", "import argparse"]
HELP = [sys.executable, "-m", "reviewbot", "--help"]


def milliseconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1000


def main() -> int:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--turns", type=int, default=30, help="how often each is run (default: 30)")
    options.add_argument("--limit", type=float, default=60, help="milliseconds (default: 60)")
    given = options.parse_args()

    for command in (BARE, HELP):
        milliseconds(command)  # Bytecode and disk caches are filled.
    turns = [(milliseconds(BARE), milliseconds(HELP)) for _ in range(given.turns)]
    bare, full = (statistics.median(column) for column in zip(*turns, strict=True))
    more = statistics.median(full - bare for bare, full in turns)
    print(f"python -c 'import argparse'  {bare:6.1f} ms")
    print(f"reviewbot --help             {full:6.1f} ms")
    print(f"difference                   {more:6.1f} ms  (limit {given.limit:.0f} ms)")
    return int(more > given.limit)


if __name__ == "__main__":
    sys.exit(main())
