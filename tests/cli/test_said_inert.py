"""What a command says on standard error holds text of others: names, arguments, messages of probed code."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOSTILE = "no\n::error::such\x1b[31m\x1b]0;own\x07\u202e##[error]x"
SPELLED = "no<U+000A>::error::such<U+001B>[31m<U+001B>]0;own<U+0007><U+202E>##<U+005B>error]x"


def held(err: str) -> None:
    """All of it is inert, and the text stands in it all the same."""
    assert SPELLED in err
    assert all(character.isprintable() for character in err.replace("\n", ""))
    assert not [line for line in err.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in err


@pytest.mark.parametrize(
    "words",
    [
        ("lint", HOSTILE),
        ("lint", "--diff", HOSTILE, "."),
        ("lint", "--baseline", HOSTILE, "."),
        ("lint", "--baseline", HOSTILE, "--write-baseline", "."),
        ("review", "--base", HOSTILE),
        ("size", "--base", HOSTILE),
        ("report", "--size", HOSTILE, "--out", "pages"),
        ("parity", "compare", HOSTILE, HOSTILE),
        ("probe", "replay", HOSTILE),
        ("lint", f"--{HOSTILE}"),
        ("size", HOSTILE),
    ],
)
def test_an_argument_acts_nowhere(reviewbot, repository, words):
    repository.commit({"test_a.py": "def test_rows(run):\n    assert run(1) == [2]\n"})
    ran = reviewbot(*words, cwd=repository.folder)
    assert "\x1b" not in ran.err
    held(ran.err.replace(repr(HOSTILE)[1:-1], SPELLED))


def test_the_message_of_probed_code_acts_nowhere(reviewbot, tmp_path):
    (tmp_path / "rows.py").write_text(f"def compare(left, right):\n    raise AssertionError({HOSTILE!r})\n")
    (tmp_path / "rows.json").write_text(json.dumps({"left": [{"id": 1}], "right": [{"id": 1}]}))
    ran = reviewbot("probe", "rows.py::compare", "--example", "rows.json", cwd=tmp_path)
    assert ran.code == 3, ran.err
    held(ran.err)


def test_a_name_of_a_file_acts_nowhere(reviewbot, tmp_path):
    (tmp_path / f"test_{HOSTILE}.py").write_text("def test_rows(:\n")
    ran = reviewbot("lint", "--no-cache", ".", cwd=tmp_path)
    held(ran.err)


def _prints_to_stderr(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    said = ast.unparse(node)
    return (said.startswith("print(") and "sys.stderr" in said) or said.startswith("sys.stderr.write(")


def test_every_command_says_it_in_one_way():
    commands = sorted((ROOT / "reviewbot" / "cli").rglob("*.py"))
    assert commands
    by_hand = {
        path.name
        for path in commands
        if any(map(_prints_to_stderr, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert by_hand == {"streams.py"}


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's own")
@pytest.mark.parametrize(
    ("words", "code"),
    [("lint test_none.py", 2), ("lint --nothing", 2), ("size", 2), ("lint", 1), ("lint --stats", 1)],
)
def test_words_that_nothing_holds_leave_the_exit_code(tmp_path, words, code):
    (tmp_path / "test_a.py").write_text("def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n")
    (tmp_path / "test_b.py").write_text("def test_rows(:\n")
    for _ in range(2):  # the second is told from what the first has kept
        with FULL.open("w") as full:
            ran = subprocess.run(
                [sys.executable, "-m", "reviewbot", *words.split()],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=full,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        assert ran.returncode == code
