"""Legs as tasks of a real Ray on this machine: two at a time, and one whose worker is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from legs import SMALL, until

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def started(out: Path, *words: str, env: Mapping[str, str] = {}) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reviewbot", "parity", "run", "--executor", "ray", "--out", str(out)]
    return subprocess.Popen(
        [*command, *SMALL, "--output-format", "json", *words],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, **env},
    )  # fmt: skip


def below(process: subprocess.Popen[str], start: bytes) -> set[int]:
    """The processes that it started, itself or through others, whose command line begins so."""
    parents = {}
    named = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if (entry / "cmdline").read_bytes().startswith(start):
                named.add(int(entry.name))
        except (OSError, ValueError):
            continue

    def ours(pid: int) -> bool:
        while pid in parents and pid != process.pid:
            pid = parents[pid]
        return pid == process.pid

    return {pid for pid in named if ours(pid)}


def test_a_lost_worker_is_tried_again_and_nothing_is_left_behind(tmp_path):
    out = tmp_path / "out"
    process = started(out)
    try:
        victims = until(lambda: below(process, b"ray::_leg"), 120)
        os.kill(min(victims), signal.SIGKILL)
        said, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, said[-2000:] + errors[-2000:]
    result = json.loads(said)
    assert (result["verdict"], result["rows"]) == ("pass", 12)
    assert result["restored_calls"] == result["run"]["cut_calls"] >= 3
    assert json.loads((out / "cut" / "killed.json").read_text())["status"] == -signal.SIGKILL


def test_a_worker_lost_again_and_again_is_a_missing_leg_and_no_pass(tmp_path):
    process = started(tmp_path / "out")
    try:
        end = time.monotonic() + 200
        while process.poll() is None and time.monotonic() < end:
            for pid in below(process, b"ray::_leg"):
                with suppress(ProcessLookupError):  # it may have ended since it was seen
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
        said, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said) == (3, "")
    assert "leg was lost 2 times" in errors
    assert "Traceback" not in errors


def test_a_leg_that_no_machine_is_large_enough_for_is_missing_and_not_waited_for(tmp_path):
    process = started(tmp_path / "out", "--threads", "4096")
    try:
        said, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert (process.returncode, said) == (3, "")
    assert "no machine of the cluster has the 4096 CPUs that the" in errors


def test_a_stopped_run_leaves_nothing_of_ray_behind(tmp_path):
    process = started(tmp_path / "out", env={"STOPPED_BY_A_TEST": str(tmp_path)})
    try:
        until(lambda: below(process, b"ray::_leg"), 120)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
        _, errors = process.communicate()
    finally:
        process.kill()
    assert errors == ""
    assert with_environment(str(tmp_path)) == []


def with_environment(text: str) -> list[int]:
    """The processes of which an environment variable holds a text, whatever has become of their parents."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
