"""What a command costs: processor time of it and of all processes it waits for, in seconds."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def processor_time(command: Sequence[str], cwd: Path, env: Mapping[str, str] = {}) -> float:
    """Runs a command once. Raises `RuntimeError` with what it said where it ends otherwise than a linter that
    found something, or nothing."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    with subprocess.Popen(
        command,
        cwd=cwd,
        # As where it is installed: modules are compiled once, in the first run, not in each.
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "", **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 20):  # falsegreen ends with 20
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {said.strip()[-400:]}")
    return used.ru_utime + used.ru_stime


def side_by_side(
    commands: Mapping[str, Sequence[str]], cwd: Path, turns: int, env: Mapping[str, str] = {}
) -> dict[str, float]:
    """The median cost of each of several commands, run by turns, so that whatever else the machine does meets
    them all alike; after a run of each that does not count, which compiles modules and fills disk caches."""
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        processor_time(command, cwd, env)
    for _ in range(turns):
        for name, command in commands.items():
            costs[name].append(processor_time(command, cwd, env))
    return {name: statistics.median(each) for name, each in costs.items()}


def python(*words: str) -> list[str]:
    """A command of this Python."""
    return [sys.executable, *words]


def bare(what: str, folder: str = ".") -> list[str]:
    """`bare.py`, in a process of its own."""
    return python(str(Path(__file__).with_name("bare.py")), what, folder)
