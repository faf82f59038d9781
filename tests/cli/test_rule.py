"""`reviewbot rule`, through the command line."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from reviewbot.lint import registry


def test_all_rules_are_listed_one_a_line(reviewbot):
    ran = reviewbot("rule")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(registry.rule_ids())
    assert "A check whose condition has the same value on every run." in ran.out


def test_one_rule_is_explained_from_its_own_file(reviewbot):
    ran = reviewbot("rule", "constant-verdict", "--all")
    assert ran.code == 0
    assert ran.out.startswith("# constant-verdict\n\n" + registry.docstring("constant-verdict").strip())
    rule = registry.load("constant-verdict")
    for example in (*rule.bad, *rule.good):
        assert f"```python\n{example.code.strip()}\n```" in ran.out
    assert "# reviewbot: ignore[constant-verdict]" in ran.out


def test_without_all_it_is_a_page_that_is_read_at_a_glance(reviewbot):
    ran = reviewbot("rule", "excuse-branch")
    rule = registry.load("excuse-branch")
    shown = [
        [f"```python\n{example.code.strip()}\n```" in ran.out for example in examples]
        for examples in (rule.bad, rule.good)
    ]
    assert [sum(some) for some in shown] == [2, 1]
    assert registry.docstring("excuse-branch").strip() in ran.out
    assert "# reviewbot: ignore[excuse-branch]" in ran.out
    more = f"{len(rule.bad) - 2} more that are reported and {len(rule.good) - 1} more that are left alone"
    assert ran.out.endswith(f"`reviewbot rule excuse-branch --all` shows {more}.\n")
    assert len(ran.out.splitlines()) < 80


@pytest.mark.parametrize(
    ("word", "says"),
    [("constant-verdit", "did you mean 'constant-verdict'?"), ("zzz", "`reviewbot rule` lists all")],
)
def test_an_unknown_rule(reviewbot, word, says):
    ran = reviewbot("rule", word)
    assert (ran.code, ran.out) == (2, "")
    assert f"no rule {word!r}" in ran.err
    assert says in ran.err


@pytest.mark.parametrize("words", [["rule"], ["rule", "constant-verdict"]])
def test_on_a_terminal_it_is_laid_out_within_its_width(words):
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": "60", "TERM": "xterm"}
    command = [sys.executable, "-m", "reviewbot", *words]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # Linux says so when the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[" in seen
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).splitlines()
    assert "```" not in plain
    assert max(map(len, plain)) <= 60
    assert any("constant-verdict" in line for line in plain)


def test_a_rule_that_was_written_in_a_checkout_is_explained_there_by_an_installed_copy(tmp_path):
    root = registry.own_folder("")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": os.path.dirname(root)}
        command = [sys.executable, "-m", "reviewbot", *words]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)

    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "__init__.py").touch()
    assert run("new-rule", "sleep-in-test").returncode == 0
    elsewhere = run("rule", "sleep-in-test")
    assert (elsewhere.returncode, "no rule 'sleep-in-test'" in elsewhere.stderr) == (2, True)
    (tmp_path / "reviewbot" / "lint").mkdir(parents=True)
    (tmp_path / "reviewbot" / "lint" / "rule.py").touch()
    explained = run("rule", "sleep-in-test")
    assert explained.returncode == 0, explained.stderr
    assert explained.stdout.startswith("# sleep-in-test")


def test_an_example_whose_path_matters_shows_it(reviewbot):
    out = reviewbot("rule", "verdict-dropped-in-ci", "--all").out
    for heading in ("## Reported", "## Left alone"):
        blocks = out.partition(heading)[2].partition("## ")[0].split("```")
        # What stands before each piece of code.
        assert all(said.rstrip().endswith("`:") for said in blocks[2:-1:2]), heading
