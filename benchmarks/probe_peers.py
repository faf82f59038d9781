"""Other tools on the check that `benchmarks/probe.py` probes, each in its own way.

CrossHair solves for a token that passes, with a harness that names the row and the one token to change.
Hypothesis draws rows blindly, and draws the same single changes as the harness. mutmut changes the check
itself, and says which changes its own tests do not notice: another question, measured for its rate.
They are installed for this alone, into an environment of their own.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

CONSTRAINTS = Path(__file__).parent / "constraints-probe.txt"
PEERS = ("crosshair-tool", "hypothesis", "mutmut", "pytest")
HARNESS = '''
from parity import main

ROW = {
    "token_ids": [10, 11, 20, 21, 30, 40, 41, 42, 43, 44],
    "loss_mask": [0, 0, 1, 1, 0, 1, 1, 1, 1, 1],
    "reward": 1.0,
    "sample_mask": 1.0,
}


def caught(index: int, token: int) -> bool:
    """
    pre: 0 <= index < 10
    pre: 0 <= token <= 99
    pre: token != [10, 11, 20, 21, 30, 40, 41, 42, 43, 44][index]
    post: _
    """
    tokens = list(ROW["token_ids"])
    tokens[index] = token
    try:
        main([ROW], [{**ROW, "token_ids": tokens}], {0: 2})
    except AssertionError:
        return True
    return False
'''
DRAWN = """
import json, sys, time
import hypothesis
from hypothesis import strategies as st
from harness import ROW, caught
from parity import main

# Examples, those that pass, seconds for all, seconds to the first that passes.
FOUND = {"blind": [0, 0, 0.0, 0.0], "same": [0, 0, 0.0, 0.0]}
START = time.perf_counter()
settings = hypothesis.settings(max_examples=2000, database=None, deadline=None)
row = st.fixed_dictionaries({
    "token_ids": st.lists(st.integers(0, 99), min_size=1, max_size=10),
    "loss_mask": st.lists(st.integers(0, 1), min_size=1, max_size=10),
    "reward": st.floats(0, 1),
    "sample_mask": st.floats(0, 1),
})


def hit(name, passes):
    if passes and not FOUND[name][1]:
        FOUND[name][3] = time.perf_counter() - START
    FOUND[name][1] += passes


@settings
@hypothesis.given(row, row, st.integers(0, 4))
def blind(left, right, prefix):
    FOUND["blind"][0] += 1
    try:
        main([left], [right], {0: prefix})
    except Exception:
        return
    hit("blind", left != right)


@settings
@hypothesis.given(st.integers(0, 9), st.integers(0, 99))
def same(index, token):
    hypothesis.assume(token != ROW["token_ids"][index])
    FOUND["same"][0] += 1
    if not caught(index, token):
        hit("same", True)
        raise ValueError("it passes")


for name, search in (("blind", blind), ("same", same)):
    START = time.perf_counter()
    try:
        search()
    except ValueError:
        pass
    FOUND[name][2] = time.perf_counter() - START
print(json.dumps(FOUND))
"""
MUTMUT = "[mutmut]\npaths_to_mutate=parity.py\ntests_dir=tests/\nalso_copy=\n    tests\n"


def environment(folder: Path) -> Path:
    """The Python of an environment with the peers, made where there is none yet."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        words = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        for peer in PEERS:
            # One that cannot be had is named as missing, and the others are measured.
            subprocess.run([python, *words, "--constraint", CONSTRAINTS, peer], check=False)
    return python


def lines(python: Path, case: Path, folder: Path) -> Iterator[str]:
    """A line of figures for each peer; `case` is the example's repository, `folder` is empty."""
    (folder / "tests").mkdir()
    shutil.copy(case / "tests" / "parity.py", folder)
    shutil.copy(case / "tests" / "test_parity.py", folder / "tests")
    (folder / "harness.py").write_text(HARNESS)
    (folder / "drawn.py").write_text(DRAWN)
    (folder / "setup.cfg").write_text(MUTMUT)
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    yield from _crosshair(python, folder)
    yield from _hypothesis(python, folder)
    yield from _mutmut(python, folder)


def _has(python: Path, module: str) -> bool:
    ask = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", ask], check=False).returncode == 0


def _run(words: list[str | Path], folder: Path) -> tuple[str, float]:
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout + done.stderr, time.perf_counter() - start


def _crosshair(python: Path, folder: Path) -> Iterator[str]:
    if not _has(python, "crosshair"):
        yield "CrossHair, given row and token       missing: crosshair-tool is not installed"
        return
    command: list[str | Path] = [python.parent / "crosshair", "check", "harness.caught"]
    said, took = _run([*command, "--per_condition_timeout", "60"], folder)
    found = re.search(r"when calling (caught\(.*?\))", said)
    yield f"CrossHair, given row and token {took * 1000:8.1f} ms   {found[1] if found else 'no witness'}"


def _hypothesis(python: Path, folder: Path) -> Iterator[str]:
    if not _has(python, "hypothesis"):
        yield "Hypothesis                           missing: hypothesis is not installed"
        return
    said, _ = _run([python, "drawn.py"], folder)
    found = json.loads(said.splitlines()[-1])
    for name, label in (("blind", "Hypothesis, blind"), ("same", "Hypothesis, given row and token")):
        tried, hits, took, first = found[name]
        what = (
            f"first witness after {first * 1000:.1f} ms, {hits} in {tried} examples" if hits else "no witness"
        )
        yield f"{label:31}{took * 1000:8.1f} ms   {what}"


def _mutmut(python: Path, folder: Path) -> Iterator[str]:
    if not _has(python, "mutmut"):
        yield "mutmut, on the check's own code      missing: mutmut is not installed"
        return
    said, took = _run([python.parent / "mutmut", "run"], folder)
    counted = re.findall(r"(\d+)/(\d+)\s+\S+ (\d+).*?🙁 (\d+)", said)
    if not counted:
        yield f"mutmut, on the check's own code      failed: {said.strip().splitlines()[-1:]}"
        return
    done, _, killed, survived = counted[-1]
    rate = re.search(r"([\d.]+) mutations/second", said)
    figures = f"{done} mutants, {killed} noticed, {survived} not; {rate[1] if rate else '?'} a second"
    yield f"mutmut, on the check's own code{took * 1000:8.1f} ms   {figures}"
