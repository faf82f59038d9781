"""A baseline that the configuration names holds wherever below it the command is run."""

from __future__ import annotations

import json

import pytest

WEAK = "def test_rows(run):\n    assert (run(1), 2)\n"


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(WEAK)
    (tmp_path / "pyproject.toml").write_text("[tool.reviewbot]\nbaseline = 'known.json'\n")
    return tmp_path


def test_it_is_written_and_read_without_being_named(reviewbot, tree):
    ran = reviewbot("lint", "--write-baseline")
    assert (ran.code, ran.err) == (0, "reviewbot: known.json holds 1 finding\n")
    assert len(json.loads((tree / "known.json").read_text())["findings"]) == 1
    ran = reviewbot("lint")
    assert (ran.code, ran.out) == (0, "nothing found in 1 file; 1 in the baseline\n")
    (tree / "tests" / "test_b.py").write_text(WEAK)
    assert reviewbot("lint").code == 1


def test_the_command_line_stands_above_it(reviewbot, tree):
    (tree / "other.json").write_text('{"findings": []}\n')
    reviewbot("lint", "--write-baseline")
    assert reviewbot("lint", "--baseline", "other.json").code == 1


def test_one_that_is_not_there_is_named_with_the_way_to_make_it(reviewbot, tree):
    ran = reviewbot("lint", cwd=tree / "tests")
    assert (ran.code, ran.err) == (
        2,
        "reviewbot: ../known.json: no such baseline; --write-baseline makes one\n",
    )
