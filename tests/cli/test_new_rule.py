"""`reviewbot new-rule` and `reviewbot completion`, through the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow
def test_a_new_rule_passes_its_own_tests_style_and_types(tmp_path):
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns("__pycache__", "cases", ".*_cache")
    for name in ("reviewbot", "rules", "templates", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", copy)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(copy)}
        return subprocess.run(
            [sys.executable, "-m", *words], cwd=copy, env=env, capture_output=True, text=True
        )

    made = run("reviewbot", "new-rule", "sleep-in-test")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("rules/sleep_in_test.py is written")
    tested = run("pytest", "-q", "tests/test_rules.py", "tests/test_floors.py", "-k", "sleep")
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
    for words in (("ruff", "check", "rules"), ("ruff", "format", "--check", "rules/sleep_in_test.py")):
        styled = run(*words)
        assert styled.returncode == 0, styled.stdout
    (copy / "a.py").write_text("def test_rows(run):\n    sleep(1)\n")
    found = run("reviewbot", "lint", "--select", "sleep-in-test", "--fail-on", "likely", "a.py")
    assert found.returncode == 1
    assert "a.py:2:5: likely: `test_rows` sleeps for a fixed time [sleep-in-test]" in found.stdout
    again = run("reviewbot", "new-rule", "sleep-in-test")
    assert (again.returncode, "already" in again.stderr) == (2, True)


def test_the_hint_says_where_pytest_comes_from(reviewbot, tmp_path):
    (tmp_path / "rules").mkdir()
    hint = reviewbot("new-rule", "sleep-in-test").out.splitlines()
    assert hint[1] == "  python -m pytest tests/test_rules.py -k sleep-in-test"
    assert "python -m pip install pytest" in hint[2] and "make test" in hint[2]


@pytest.mark.parametrize("name", ["sleep", "Sleep-In-Test", "../evil-rule", "sleep_in_test", "a-b/c-d"])
def test_a_name_that_cannot_be_a_rule_is_refused(reviewbot, tmp_path, name):
    (tmp_path / "rules").mkdir()
    ran = reviewbot("new-rule", name)
    assert ran.code == 2
    assert "cannot be a rule's id" in ran.err
    assert list((tmp_path / "rules").iterdir()) == []


def test_an_empty_name_is_refused(reviewbot, tmp_path):
    (tmp_path / "rules").mkdir()
    ran = reviewbot("new-rule", "")
    assert (ran.code, ran.out) == (2, "")
    assert "an argument is empty" in ran.err
    assert list((tmp_path / "rules").iterdir()) == []


def test_without_a_folder_for_it_the_way_out_is_named(reviewbot):
    ran = reviewbot("new-rule", "sleep-in-test")
    assert ran.code == 2
    assert "rules: no such folder; run this in a checkout" in ran.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_completion_knows_commands_and_options(reviewbot, shell):
    ran = reviewbot("completion", shell)
    assert ran.code == 0
    for word in ("lint", "review", "output-format", "sarif", "show-fixes", "verdict-dropped-in-ci"):
        assert word in ran.out


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("lint --output-format sa", "sarif"),
        ("lint --select shad", "shadowed-test"),
        ("lint --ignore shad", "shadowed-test"),
        ("rule shad", "shadowed-test"),
    ],
)
def test_bash_completes(reviewbot, tmp_path, typed, completed):
    script = tmp_path / "completion.bash"
    script.write_text(reviewbot("completion", "bash").out)
    asks = (
        f"source {script}; COMP_WORDS=(reviewbot {typed}); COMP_CWORD={len(typed.split())}; COMP_LINE='x';"
        " $(complete -p reviewbot | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", asks], capture_output=True, text=True)
    assert done.stdout.split() == [completed], done.stderr


def test_a_rule_that_there_is_not_is_answered_with_the_one_that_was_meant(reviewbot):
    ran = reviewbot("rule", "shadowed-tets")
    assert (ran.code, "did you mean 'shadowed-test'?" in ran.err) == (2, True)
