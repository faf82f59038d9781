"""What probing costs: a sandbox's start beside a bare Python, changes a second, time to the first witness.

Everything is measured in one run on the example whose excuse is wider than its prefix. Prints a table.
With --peers, CrossHair, Hypothesis and mutmut are run on the same check beside it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import probe_peers

from reviewbot.probe import harvest, target
from reviewbot.probe.changes import of_sides
from reviewbot.probe.mentions import Function
from reviewbot.probe.run import Wish, look, opened
from reviewbot.probe.sandbox import Box, Wants
from reviewbot.probe.witness import witness

CASE = Path(__file__).parent.parent / "tests" / "cases" / "excuse-branch" / "repo"


def timed(run: Callable[[], object], turns: int) -> float:
    """The median wall time of a few runs, in milliseconds."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def sandbox_start() -> None:
    """One child, shut in and ended."""
    with Box(Wants("boot")):
        pass


def bare_start() -> None:
    """One Python that does nothing, as isolated as the child's."""
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)


def first_witness(aim: target.Target, call: harvest.Call) -> int:
    """Inputs at hand: the check loaded, changes tried, one that passes made small. Its runs to shrink."""
    until = time.monotonic() + 30
    with opened(aim, call, Wish()) as (session, base):
        return witness(session, base, look(session, base, until=until).passing[0], until=until).calls


def main() -> int:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--turns", type=int, default=9, help="how often a start is measured (default: 9)")
    options.add_argument(
        "--peers",
        type=Path,
        metavar="FOLDER",
        help="measure CrossHair, Hypothesis and mutmut too, from an environment in FOLDER (made if absent)",
    )
    given = options.parse_args()
    turns, peers = given.turns, given.peers and given.peers.absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(shutil.copytree(CASE, Path(name) / "repo"))
        (folder / "pyproject.toml").touch()
        bare, shut_in = timed(bare_start, turns), timed(sandbox_start, turns)
        print(f"bare Python                    {bare:8.1f} ms")
        print(f"sandbox                        {shut_in:8.1f} ms   {shut_in / bare:.1f} x")
        aim = target.parse(f"{folder / 'tests' / 'parity.py'}::main")
        start = time.perf_counter()
        found = harvest.from_tests(aim.root, [Function(aim.root / aim.path, aim.unit)])
        recorded = time.perf_counter() - start
        with opened(aim, found.calls[0], Wish()) as (session, base):
            listed = [[change.edit] for change in of_sides(base.world, base.sides)] * 10
            before = time.perf_counter()
            session.judge(base.number, listed)
            rate = len(listed) / (time.perf_counter() - before)
        begun = time.perf_counter()
        calls = first_witness(aim, found.calls[0])
        first = time.perf_counter() - begun
        print(f"inputs recorded from tests     {recorded * 1000:8.1f} ms")
        print(f"changes tried                  {rate:8.0f} a second")
        print(f"first witness, inputs at hand  {first * 1000:8.1f} ms")
        print(f"runs to shrink the witness     {calls:8d}")
        command = [sys.executable, "-m", "reviewbot", "probe", "tests/parity.py::main", "--witness"]
        root = str(Path(__file__).parent.parent)

        def whole() -> None:
            subprocess.run(
                command,
                cwd=folder,
                env={"PYTHONPATH": root, "PATH": "/usr/bin"},
                capture_output=True,
                check=False,
            )

        print(f"whole command                  {timed(whole, 3):8.1f} ms")
        if peers is not None:
            beside = Path(name) / "peers"
            beside.mkdir()
            for line in probe_peers.lines(probe_peers.environment(peers), CASE, beside):
                print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
