"""The repositories that probe's tests run on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "cases"


@pytest.fixture
def weak(tmp_path):
    """The parity check with an excuse wider than what was restored, and its two tests."""
    return Path(shutil.copytree(CASES / "excuse-branch" / "repo", tmp_path / "weak"))


@pytest.fixture
def probed(reviewbot):
    """Runs `reviewbot probe` in a folder and gives its exit code and its JSON."""

    def run(folder, *words):
        ran = reviewbot("probe", *words, "--output-format", "json", cwd=folder)
        assert ran.out, ran.err
        return ran.code, json.loads(ran.out)

    return run
