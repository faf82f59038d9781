"""The repositories that probe's tests run on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "cases"


@pytest.fixture
def reviewbot(reviewbot):
    """As everywhere, with time enough: on a busy machine a search that is cut short answers otherwise."""

    def run(*words, **how):
        if words[:1] == ("probe",) and words[1] != "replay" and "--budget" not in words:
            words = (*words, "--budget", "60s")
        return reviewbot(*words, **how)

    return run


@pytest.fixture
def weak(tmp_path):
    """The parity check with an excuse wider than what was restored, and its two tests."""
    return Path(shutil.copytree(CASES / "excuse-branch" / "repo", tmp_path / "weak"))


@pytest.fixture(scope="session")
def known():
    """What was probed before: the same files and words give the same answer."""
    return {}


@pytest.fixture
def probed(reviewbot, known):
    """Runs `reviewbot probe` in a folder and gives its exit code and its JSON."""

    def run(folder, *words):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        key = (words, *((str(path.relative_to(folder)), path.read_bytes()) for path in files))
        if key not in known:
            known[key] = reviewbot("probe", *words, "--output-format", "json", cwd=folder)
        ran = known[key]
        assert ran.out, ran.err
        return ran.code, json.loads(ran.out)

    return run


@pytest.fixture
def restore(tmp_path):
    """A parity check with cuts, the worker and the trainer that write what it reads, and its tests."""
    return Path(shutil.copytree(Path(__file__).parent / "cases" / "restore", tmp_path / "restore"))
