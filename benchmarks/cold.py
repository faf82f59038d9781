"""Whether `reviewbot lint` on files that it has never seen costs little beside a bare LibCST parse of them.

Both as whole processes, one core, by turns; the ratio of the medians. Exits with 1 when it is above
`--limit`. The goal is 0.5. It is not reached: a run costs 0.66 to 0.70 of the bare parse, by
machine and by what else that does, as a lint run has more in memory than a parse. So the limit stands
a little above, where it catches a change for the worse, and is to go down with the figure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus import copy_sample
from cost import bare, python, side_by_side

LINT = python("-m", "reviewbot", "lint", "--no-cache", "--jobs", "1", "--quiet", "--fail-on", "never", ".")


def main() -> int:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--turns", type=int, default=5, help="how often each is run (default: 5)")
    options.add_argument("--limit", type=float, default=0.75, help="the ratio (default: 0.75)")
    options.add_argument("--bytes", type=int, default=1_000_000, help="how much code (default: 1000000)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = copy_sample(folder, given.bytes)
        found = side_by_side({"lint": LINT, "parse": bare("libcst")}, folder, given.turns)
    ratio = found["lint"] / found["parse"]
    print(f"{count} files of the standard library's tests, medians of {given.turns} turns, processor time")
    print(f"libcst.parse_module  {found['parse']:6.2f} s")
    print(f"reviewbot lint       {found['lint']:6.2f} s  {ratio:.2f} times as much (limit {given.limit:.2f})")
    return int(ratio > given.limit)


if __name__ == "__main__":
    sys.exit(main())
