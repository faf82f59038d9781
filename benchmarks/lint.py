"""What `reviewbot lint` costs beside bare parsers and beside other tools, on the standard library's own tests
and on folders given on the command line.

Processor time of whole processes on one core, each command by turns with the others, medians. Peers are
looked for in the environment that `--peers` names; `make bench` makes one for them alone. One that runs with
ten rules stands beside ten like rules of ours, and beside all of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

import peers
from cold import LINT
from corpus import copy_sample
from cost import ROOT, bare, processor_time, python, side_by_side
from memory import workers_hold

SMALL = "def test_{0}():\n    assert run({0}) == {0}\n"
QUIET = ("--quiet", "--fail-on", "never")
Row = tuple[str, float, str, float, float | None]  # what, seconds, beside what, its seconds, the goal


def main() -> int:
    """Measures and prints a table for each folder."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("folders", nargs="*", type=Path, help="further folders with Python files")
    options.add_argument("--turns", type=int, default=3, help="how often each is run (default: 3)")
    options.add_argument("--bytes", type=int, default=2_000_000, help="how much code (default: 2000000)")
    options.add_argument("--peers", type=Path, default=ROOT / ".venv-bench", help="their environment")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        sample = Path(name) / "sample"
        copy_sample(sample, given.bytes)
        for number, folder in enumerate((sample, *given.folders)):
            copy = Path(name) / str(number)
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git"))
            # By a list of its own semgrep would leave out folders of tests, and with them the whole sample.
            (copy / ".semgrepignore").write_text("")
            says = "the standard library's tests" if number == 0 else folder.name
            Console().print(table(says, copy, given.turns, given.peers))
    return 0


def table(says: str, folder: Path, turns: int, environment: Path) -> Table:
    """Everything measured on one folder."""
    files = list(folder.rglob("*.py"))
    size = sum(file.stat().st_size for file in files) / 1e6
    made = Table(title=f"{says}: {len(files)} files, {size:.1f} MB")
    for column in ("", "seconds", "beside", "seconds", "ratio", "goal"):
        made.add_column(column, justify="left" if column in ("", "beside") else "right")
    for what, seconds, beside, theirs, goal in (*_own(folder, turns), *_peers(folder, turns, environment)):
        wanted = "" if goal is None else f"{goal:g}"
        made.add_row(what, f"{seconds:.2f}", beside, f"{theirs:.2f}", f"{seconds / theirs:.2f}", wanted)
    there = peers.commands(environment)
    for absent in peers.NAMES:
        if absent not in there:
            made.add_row(absent, "-", "not installed", "", "", "")
    held = _memory(folder)
    made.add_row("a worker's own memory", "-" if held is None else f"{held:.0f} MB", "", "", "", "60 MB")
    return made


def _own(folder: Path, turns: int) -> list[Row]:
    cost = side_by_side(
        {
            "libcst": bare("libcst"),
            "ast": bare("ast"),
            "import": bare("import"),
            "cold": LINT,
            "index": python(str(Path(__file__).with_name("index.py")), "."),
        },
        folder,
        turns,
    )
    with tempfile.TemporaryDirectory() as name:
        env = {"XDG_CACHE_HOME": name}
        warm = python("-m", "reviewbot", "lint", "--jobs", "1", *QUIET, ".")
        database = str(Path(name) / "index.sqlite")
        index = python(str(Path(__file__).with_name("index.py")), ".", database)
        empty = Path(name) / "empty"
        empty.mkdir()
        start = python(str(Path(__file__).with_name("index.py")), str(empty), f"{database}.empty")
        for command in (warm, index):
            processor_time(command, folder, env)
        again = side_by_side({"warm": warm, "index": index, "start": start}, folder, turns, env)
        touched = [_touched(folder, warm, env) for _ in range(turns)]
        small = [_one_file(folder, SMALL.format(turn), env) for turn in range(turns)]
        near = _about(folder, 10_000)
        common = [_one_file(folder, f"{near}# {turn}\n", env) for turn in range(turns)]
    return [
        ("cold, all rules", cost["cold"], "libcst.parse_module", cost["libcst"], 0.5),
        ("warm", again["warm"], "libcst.parse_module", cost["libcst"], 0.02),
        # As after a checkout: every file is read, and every result found by its content.
        ("warm, files written anew", statistics.median(touched), "libcst.parse_module", cost["libcst"], None),
        ("one small file changed", statistics.median(small), "import libcst", cost["import"], 1.25),
        ("one file of 10 kB changed", statistics.median(common), "import libcst", cost["import"], None),
        ("index, cold", cost["index"], "ast.parse", cost["ast"], 2),
        ("index, nothing changed", again["index"], "ast.parse", cost["ast"], None),
        # A process of its own for no files at all costs more than looking at these.
        ("the same without start-up", again["index"] - again["start"], "ast.parse", cost["ast"], 0.02),
    ]


def _touched(folder: Path, command: list[str], env: dict[str, str]) -> float:
    """Runs a command over files that have another time than before, and the same content."""
    for file in folder.rglob("*.py"):
        file.touch()
    return processor_time(command, folder, env)


def _about(folder: Path, size: int) -> str:
    """The text of the file whose length comes nearest to a size."""
    files = sorted(folder.rglob("*.py"))
    nearest = min(files, key=lambda file: abs(file.stat().st_size - size))
    return nearest.read_text(encoding="utf-8", errors="replace")


def _one_file(folder: Path, text: str, env: dict[str, str]) -> float:
    """Lints one file that no run has seen, with the facts of all others at hand."""
    file = folder / "test_of_the_benchmark.py"
    file.write_text(text, encoding="utf-8")
    try:
        return processor_time(python("-m", "reviewbot", "lint", *QUIET, file.name), folder, env)
    finally:
        file.unlink()


def _peers(folder: Path, turns: int, environment: Path) -> list[Row]:
    rows: list[Row] = []
    for name, command in peers.commands(environment).items():
        ours = {"lint": LINT}
        if name in peers.WITH_TEN:
            ours["ten"] = [*LINT, "--select", ",".join(peers.LIKE)]
        cost = side_by_side({name: command, **ours}, folder, min(turns, 2))
        rows.append((name, cost[name], "reviewbot, cold, all rules", cost["lint"], peers.GOALS.get(name)))
        if "ten" in cost:
            like = "reviewbot, cold, ten like rules"
            rows.append((name, cost[name], like, cost["ten"], peers.GOALS.get(name)))
    return rows


def _memory(folder: Path) -> float | None:
    command = python("-m", "reviewbot", "lint", "--no-cache", "--jobs", "2", *QUIET, ".")
    return workers_hold(command, folder, {**os.environ, "PYTHONPATH": str(ROOT)})


if __name__ == "__main__":
    sys.exit(main())
