"""The example repository is what the demo says it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def example(tmp_path) -> Path:
    """The example repository, its branch checked out."""
    folder = tmp_path / "parcel-robot"
    subprocess.run([sys.executable, ROOT / "demo" / "history.py", folder], check=True)
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_history_is_the_same_everywhere(example):
    tips = git(example, "rev-parse", "main", "resume-mid-turn").split()
    assert tips == ["a363e8d8e9efdaaf971f8f50ad51f9b5c440af7f", "f8f9efe26e0bdfd6f1b337068adc413a2c67d7cd"]
    assert git(example, "status", "--porcelain") == ""
    days = git(example, "log", "--all", "--format=%as").split()
    assert len(set(days)) > 3


@pytest.mark.slow
def test_its_own_tests_pass_on_every_commit(example):
    for commit in git(example, "rev-list", "--all", "--reverse").split():
        git(example, "checkout", "--quiet", commit)
        if not (example / "tests").is_dir():
            continue
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
        done = subprocess.run(words, cwd=example, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        parity = example / "tests" / "resume_parity.py"
        if parity.exists():
            subprocess.run([sys.executable, parity], cwd=example, check=True, capture_output=True)
