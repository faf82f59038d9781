"""The example repository is what the demo says it is."""

from __future__ import annotations

import json
import re
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
    assert tips == ["0e32a2632f5b7c54b18f0dfdda2c858aaa79946d", "32fca9f84747e79ba29bc06dfbc0ee0a6e208e14"]
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


# What is planted in the branch's parity test: the rule, and a piece of the line that it is about.
PLANTED = [
    ("excuse-branch", "if episode in noisy:"),
    ("constant-verdict", 'or "the runs reach different parcels"'),
    ("loop-may-be-empty", 'assert rows[episode]["sampled"][-1] == 1'),
    ("repeated-row-index", "def check(baseline, resumed, kept):"),
]


def test_every_planted_weakness_is_found(example, reviewbot):
    ran = reviewbot("lint", "--output-format", "json", "tests", cwd=example)
    assert ran.code == 1
    found = json.loads(ran.out)
    lines = (example / "tests" / "resume_parity.py").read_text().splitlines()
    for rule, piece in PLANTED:
        (line,) = (number for number, code in enumerate(lines, 1) if piece in code)
        at = [one for one in found if one["rule"] == rule and one["line"] <= line <= one["end_line"]]
        assert len(at) == 1, f"{rule} at line {line}: {found}"
        assert at[0]["path"] == "tests/resume_parity.py"


def test_a_changed_sight_passes_the_parity_test_and_a_changed_fresh_move_does_not(example):
    code = """
import sys
sys.path[:0] = ["tests", "."]
from resume_parity import check, run
baseline, resumed, kept = run()
resumed[2]["tokens"][int(sys.argv[1])] = 19
check(baseline, resumed, kept)
"""
    sight, fresh = (
        subprocess.run([sys.executable, "-c", code, index], cwd=example, capture_output=True, text=True)
        for index in ("4", "7")
    )
    assert sight.returncode == 0, sight.stderr
    assert "AssertionError: episode 2: tokens differs" in fresh.stderr


@pytest.mark.slow
def test_the_demo_shows_the_findings_and_the_comments(tmp_path, example):
    out = tmp_path / "out"
    words = [sys.executable, ROOT / "demo" / "run.py", out]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    head = git(example, "rev-parse", "resume-mid-turn")
    review = (out / "review.md").read_text()
    for rule, _ in PLANTED:
        assert rule in (out / "lint.txt").read_text()
        assert f"`{rule}`" in review or f"<code>{rule}</code>" in review  # claimed, or asked in the summary
    assert f"https://github.com/example/parcel-robot/blob/{head}/tests/resume_parity.py#L" in review
    assert "**Run:** `tests/resume_parity.py::check`: token 1 changed passes through the branch." in review
    assert "resumed[0].tokens[1]: 3 -> 77" in (out / "probe.txt").read_text()
    assert f"Open {out / 'pages' / 'index.html'} in a browser" in done.stdout
    (page,) = (
        text
        for path in (out / "pages").glob("C*.html")
        if "A row can differ at index 1 to 6" in (text := path.read_text())
    )
    assert "<svg" in page
    assert (out / "pages" / "probe-1.html").exists()
    for kept in ("lint.txt", "review.txt", "review.md", "probe.txt"):
        assert (out / kept).read_text() in done.stdout
    shown = re.findall(r"^```text\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert [part in done.stdout for part in shown] == [True, True], "README.md is old: make readme"
