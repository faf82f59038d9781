"""Tests skip unless a launcher started them, and nothing in the repository starts them with one.

## Why
A test that waits for `torchrun` and is run by plain `pytest` has never looked at anything: it is skipped on
every run, and the run is green. What it was to check may be broken since the day it was written.

## Instead
Let CI start it by the launcher, or let the test start the processes itself: a subprocess that runs
`torchrun`, or `torch.multiprocessing.spawn`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, tree_span

_STATE = frozenset({"is_initialized", "is_torchelastic_launched"})
_RANKS = frozenset({
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK", "SLURM_PROCID", "SLURM_NTASKS",
})  # fmt: skip
_SKIPS = frozenset({"skip", "SkipTest", "skipTest"})
_MARKS = frozenset({"skipif", "skipIf", "skipUnless"})
_STARTS = frozenset(
    {"spawn", "start_processes", "Process", "Popen", "run", "check_call", "check_output", "launch"}
)
_LAUNCHER = pattern(
    r"torchrun|torch\.distributed\.(run|launch)|accelerate\s+launch|mpi(run|exec)|\bsrun\b|deepspeed\s|horovodrun"
)
_MANUAL = pattern(
    r"(?i)\bmanual(ly)?\b|\bby hand\b|\bnot (run|part|executed) (in|on|of|by) (the )?(ci|regular)\b"
)
_SHOWN = 6
_TEST = """
import os

import pytest
import torch.distributed as dist

if os.environ.get("RANK") is not None:
    dist.init_process_group("gloo")

def _needs_ranks():
    if not dist.is_initialized():
        pytest.skip("start it with torchrun"){}

def test_rows_are_shared(gather):
    _needs_ranks()
    assert gather() == [0, 1]
"""
_CI = {".github/workflows/test.yml": "jobs:\n  unit:\n    steps:\n      - run: pytest tests/ranks\n"}


class SkipWithoutLauncher(Rule):
    kinds = ("module",)
    bad = (
        Example(_TEST.format("  # <- here"), path="tests/ranks/test_rows.py", files=_CI),
        Example(
            """
            import os
            import pytest

            @pytest.mark.skipif("WORLD_SIZE" not in os.environ, reason="needs torchrun")  # <- here
            def test_rows(gather):
                assert gather() == [0, 1]
            """,
        ),
    )
    good = (
        Example(
            _TEST.format(""),
            path="tests/ranks/test_rows.py",
            files={".github/workflows/test.yml": "  - run: torchrun -n 2 -m pytest tests/ranks\n"},
        ),
        Example(
            _TEST.format(""),
            path="tests/ranks/test_rows.py",
            files={
                **_CI,
                "tests/ranks/run.sh": "torchrun -n 2 \\\\\n  -m pytest tests/ranks/test_rows.py\n",
            },
        ),
        # The process group is set up for it, or it starts the processes itself.
        Example(
            _TEST.format(""),
            path="tests/ranks/test_rows.py",
            files={
                "tests/ranks/conftest.py": "import torch.distributed as dist\ndist.init_process_group()\n"
            },
        ),
        Example(
            """
            import subprocess
            import torch.distributed as dist

            def test_itself():
                subprocess.run(["torchrun", "--nproc_per_node=2", __file__], check=True)

            def test_rows(gather, pytest):
                if not dist.is_initialized():
                    pytest.skip("by the other test")
                assert gather() == [0, 1]
            """
        ),
        Example("""
            import pytest
            import torch

            def test_rows(gather):
                if torch.cuda.device_count() < 2:
                    pytest.skip("needs two devices")
                assert gather() == [0, 1]
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return in_test_file(unit.file.path) and any(next(_skips(one), None) for one in unit.file.units)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        skips = [(one, place) for one in unit.file.units for place in _skips(one)]
        if not skips or _starts_itself(unit) or _is_set_up(unit, repo) or _is_launched(unit, repo):
            return
        one, place = skips[0]
        helpers = {at.name for at, _ in skips if not at.is_test}
        tests = [test for test in unit.file.units if test.is_test]
        waiting = [(at, skip.lineno) for at, skip in skips[1:]]
        waiting += [
            (test, call.lineno)
            for test in tests
            for call in test.asts(ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id in helpers
        ]
        count = len({at.name for at, _ in [(one, 0), *waiting] if at.is_test})
        whole = "the tests of this file skip" if not count else f"{count} tests skip"
        run = _plain_run(unit, repo)
        steps = [
            Step(unit.file.path, line, line, f"`{at.name}` waits for it") for at, line in waiting[:_SHOWN]
        ]
        if run is not None:
            steps.append(Step(*run, "CI runs it here, without a launcher"))
        yield self.finding_at(
            unit,
            tree_span(unit, place),
            f"{'this test skips' if count == 1 else whole} unless a launcher started"
            f" {'it' if count == 1 else 'them'}, and no CI file and no script here does",
            certainty="likely" if run is not None and not _by_hand(unit, place) else "question",
            steps=steps,
            still_catches=("nothing: what these tests check is checked only by hand",),
        )


def _waits(condition: ast.expr) -> bool:
    """Whether a condition asks for what a launcher leaves behind."""
    return any(
        (isinstance(node, ast.Call) and _last(node) in _STATE)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _RANKS)
        for node in ast.walk(condition)
    )


def _skips(unit: Unit) -> Iterator[ast.expr]:
    """The skips of a unit, by call or by decorator, under such a condition."""
    for branch in unit.asts(ast.If) if unit.calls(*_SKIPS) else ():
        if _waits(branch.test):
            for statement in branch.body:
                call = statement.value if isinstance(statement, ast.Expr) else None
                if isinstance(call, ast.Call) and _last(call) in _SKIPS:
                    yield call
    for mark in getattr(unit.tree, "decorator_list", []):
        if isinstance(mark, ast.Call) and _last(mark) in _MARKS and mark.args and _waits(mark.args[0]):
            yield mark


def _last(call: ast.Call) -> str:
    return dotted_name(call.func).rpartition(".")[2]


def _by_hand(unit: Unit, place: ast.expr) -> bool:
    """Whether the skip, or the file's docstring, says that somebody starts these tests by hand."""
    told = [node.value for node in ast.walk(place) if isinstance(node, ast.Constant)]
    told.append(ast.get_docstring(unit.file.tree))
    return any(isinstance(text, str) and _MANUAL.search(text) for text in told)


def _starts_itself(unit: Unit) -> bool:
    """Whether the file starts processes: then it may start these."""
    return any(one.calls(*_STARTS) for one in unit.file.units)


def _is_set_up(unit: Unit, repo: Repo) -> bool:
    """Whether a process group is set up for the file, by itself or by a conftest, whoever started it."""
    files = [unit.file]
    folder = unit.file.path.rpartition("/")[0]
    while True:
        beside = repo.file(f"{folder}/conftest.py".lstrip("/"))
        files += [] if beside is None else [beside]
        if not folder:
            break
        folder = folder.rpartition("/")[0]
    return any(_sets_up(one) for file in files for one in file.units)


def _sets_up(unit: Unit) -> bool:
    conditional = {
        id(node) for branch in unit.asts(ast.If) if _waits(branch.test) for node in ast.walk(branch)
    }
    return unit.calls("init_process_group", "init_distributed", "init_dist") and any(
        _last(call).startswith("init_") and id(call) not in conditional for call in unit.asts(ast.Call)
    )


def _is_launched(unit: Unit, repo: Repo) -> bool:
    """Whether a script or CI file names the file, or a folder above it, in a command of a launcher."""
    return any(_LAUNCHER.search(command) for _, _, command in _commands(unit, repo))


def _plain_run(unit: Unit, repo: Repo) -> tuple[str, int, int] | None:
    """Where a script or CI file hands the file, or a folder above it, to pytest."""
    return next(
        ((path, line, line) for path, line, command in _commands(unit, repo) if "pytest" in command), None
    )


def _commands(unit: Unit, repo: Repo) -> Iterator[tuple[str, int, str]]:
    """The commands outside of Python that name the file or a folder above it: path, line, and the lines
    around, up to those that a backslash joins."""
    parts = unit.file.path.split("/")
    for at, name in enumerate(parts):
        for path, mention in repo.index.mentions(name):
            below = "/".join(parts[: at + 1])
            if path.endswith(".py") or not mention.word.strip("./").endswith(below.strip("/")):
                continue
            content = repo.read(path)
            lines = (content or b"").decode("utf-8", "replace").splitlines()
            first = mention.line - 1
            while first > 0 and lines[first - 1].rstrip().endswith("\\"):
                first -= 1
            yield path, mention.line, " ".join(lines[first : mention.line])
