"""The interpreter that --probe runs the code under review in."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest

GAUGES = """
import gaugekit

def compare(before, after):
    for left, right in zip(before, after, strict=True):
        if abs(left["level"] - right["level"]) > gaugekit.TOLERANCE:
            raise AssertionError("level")
"""
TEST = """
from gauges import compare

def test_same():
    rows = [{"level": 2.5}, {"level": 1.5}]
    compare(rows, [dict(row) for row in rows])
"""


@pytest.fixture
def launcher(tmp_path):
    """A program that starts an environment of its own, in which alone a package stands."""
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.glob("lib/python3*/site-packages")
    (site / "gaugekit.py").write_text("TOLERANCE = 0.1\n")
    # Its own pytest is this one's.
    (site / "tests.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    started = tmp_path / "start-python"
    started.write_text(f'#!/bin/sh\nexec "{home}/bin/python" "$@"\n')
    started.chmod(0o755)
    return started


@pytest.fixture
def gauges(repository):
    """A change that adds a check which a NaN passes, and its test."""
    repository.commit({"pyproject.toml": "", "README.md": "x"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"gauges.py": GAUGES, "test_gauges.py": TEST})
    return repository.folder


COMMANDS = {
    "lint": ("lint", "--no-cache", "--probe", "--select", "nan-passes", "."),
    "review": ("review", "--base", "main", "--head", "topic", "--probe"),
    "report": ("report", "--base", "main", "--head", "topic", "--probe", "--out", "pages"),
    "size": ("size", "--base", "main", "--head", "topic", "--probe"),
    "probe": ("probe", "gauges.py::compare"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interpreter_that_is_none_is_wrong_use(reviewbot, gauges, name):
    ran = reviewbot(*COMMANDS[name], "--python", "/no/such/python", cwd=gauges)
    assert (ran.code, ran.err) == (
        2,
        "reviewbot: --python /no/such/python: no program of that name can be run\n",
    )
    ran = reviewbot(*COMMANDS[name], "--python", "/bin/false", cwd=gauges)
    assert ran.code == 2
    assert "reviewbot: --python /bin/false: it does not run as a Python" in ran.err


@pytest.mark.parametrize(
    "name",
    ["lint", *(pytest.param(name, marks=pytest.mark.slow) for name in ("review", "report"))],
)
def test_code_is_run_where_its_packages_are(reviewbot, gauges, launcher, name):
    ran = reviewbot(*COMMANDS[name], "--python", launcher, cwd=gauges)
    assert "gauges.py:6: nan-passes: confirmed" in ran.err
    without = reviewbot(*COMMANDS[name], cwd=gauges)
    assert "gauges.py:6: nan-passes: not run to an end" in without.err


def test_a_probe_runs_where_the_packages_are(reviewbot, gauges, launcher):
    ran = reviewbot(*COMMANDS["probe"], "--python", launcher, "--output-format", "json", cwd=gauges)
    assert ran.code == 1
    assert json.loads(ran.out)["witnesses"][0]["changes"][0]["after"] == "nan"
