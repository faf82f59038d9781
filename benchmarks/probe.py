"""What probing costs: a sandbox's start beside a bare Python, changes a second, time to the first witness.

Everything is measured in one run on the example whose excuse is wider than its prefix. Prints a table.
Hypothesis searches the same check beside it, with blind strategies of the same shape, where it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reviewbot.probe import harvest, target
from reviewbot.probe.base import base_of
from reviewbot.probe.changes import of_sides
from reviewbot.probe.harvest import Function
from reviewbot.probe.run import Wish, look, opened
from reviewbot.probe.sandbox import Box, Wants
from reviewbot.probe.witness import witness

CASE = Path(__file__).parent.parent / "tests" / "cases" / "excuse-branch" / "repo"
BLIND = 2_000


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


def hypothesis_calls(folder: Path) -> tuple[int, int]:
    """(examples that blind strategies made, those of them that are witnesses)."""
    import hypothesis
    from hypothesis import strategies as st

    spec = importlib.util.spec_from_file_location("parity", folder / "tests" / "parity.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    row = st.fixed_dictionaries(
        {
            "token_ids": st.lists(st.integers(0, 99), min_size=1, max_size=10),
            "loss_mask": st.lists(st.integers(0, 1), min_size=1, max_size=10),
            "reward": st.floats(0, 1),
            "sample_mask": st.floats(0, 1),
        }
    )
    found = [0, 0]

    @hypothesis.settings(max_examples=BLIND, database=None, deadline=None)
    @hypothesis.given(row, row, st.integers(0, 4))
    def search(left: dict[str, object], right: dict[str, object], prefix: int) -> None:
        found[0] += 1
        try:
            module.main([left], [right], {0: prefix})
        except Exception:
            return
        found[1] += left != right

    search()
    return found[0], found[1]


def main() -> int:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--turns", type=int, default=9, help="how often a start is measured (default: 9)")
    turns = options.parse_args().turns
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
            searched = look(session, base_of(session, found.calls[0]), until=time.monotonic() + 30)
            made = witness(session, base, searched.passing[0], until=time.monotonic() + 30)
            calls = made.calls
        print(f"inputs recorded from tests     {recorded * 1000:8.1f} ms")
        print(f"changes tried                  {rate:8.0f} a second")
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
        if importlib.util.find_spec("hypothesis"):
            start = time.perf_counter()
            tried, hits = hypothesis_calls(folder)
            took = (time.perf_counter() - start) * 1000
            print(f"Hypothesis, blind              {took:8.1f} ms   {hits} witnesses in {tried} examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
