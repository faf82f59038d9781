"""Whether `reviewbot lint` on files that it has never seen costs little beside a bare LibCST parse of them.

Both as whole processes, on one core, in turn: what else the machine does meets the two of one turn alike, so
their ratio is taken turn by turn, and the median of these is judged. Where it is above `--limit`, as many
turns again are made, and the least that each of the two ever cost counts too: a busy machine only adds, and
adds more to Python than to compiled code. Exits with 1 when both are above the limit then. The goal is 0.5.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus import copy_sample
from cost import bare, processor_time, python

LINT = python("-m", "reviewbot", "lint", "--no-cache", "--jobs", "1", "--quiet", "--fail-on", "never", ".")
PARSE = bare("libcst")


def main() -> int:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--turns", type=int, default=7, help="how often each is run (default: 7)")
    options.add_argument("--limit", type=float, default=0.7, help="the ratio (default: 0.7)")
    options.add_argument("--bytes", type=int, default=1_000_000, help="how much code (default: 1000000)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = copy_sample(folder, given.bytes)
        for command in (LINT, PARSE):
            processor_time(command, folder)  # compiles modules and fills disk caches
        found = _in_turn(folder, given.turns)
        if _ratio(found) > given.limit:
            found += _in_turn(folder, given.turns)
    lints, parses = zip(*found, strict=True)
    ratios = sorted(lint / parse for lint, parse in found)
    print(f"{count} files of the standard library's tests, {len(found)} turns, processor time")
    print(f"libcst.parse_module  {statistics.median(parses):6.2f} s")
    print(f"reviewbot lint       {statistics.median(lints):6.2f} s")
    print(
        f"ratio, turn by turn  {_ratio(found):6.2f} (from {ratios[0]:.2f} to {ratios[-1]:.2f}),"
        f" limit {given.limit:.2f}"
    )
    least = min(lints) / min(parses)
    print(f"ratio of the least   {least:6.2f}")
    return int(min(_ratio(found), least) > given.limit)


def _in_turn(folder: Path, turns: int) -> list[tuple[float, float]]:
    """What the two cost, in seconds, turn by turn."""
    return [(processor_time(LINT, folder), processor_time(PARSE, folder)) for _ in range(turns)]


def _ratio(found: list[tuple[float, float]]) -> float:
    return statistics.median(lint / parse for lint, parse in found)


if __name__ == "__main__":
    sys.exit(main())
