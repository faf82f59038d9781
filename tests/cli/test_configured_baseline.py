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


def test_it_holds_from_whatever_folder_the_command_runs_in(reviewbot, tree):
    reviewbot("lint", "--write-baseline")
    written = (tree / "known.json").read_text()
    assert json.loads(written)["findings"][0]["path"] == "tests/test_a.py"
    for folder, paths in ((tree / "tests", ["."]), (tree.parent, [tree.name]), (tree, [str(tree)])):
        ran = reviewbot("lint", *paths, cwd=folder)
        assert (ran.code, ran.out) == (0, "nothing found in 1 file; 1 in the baseline\n"), folder
        # What is kept between runs is not that of another folder.
        assert reviewbot("lint", "--output-format", "json", *paths, cwd=folder).code == 0, folder
    reviewbot("lint", "--write-baseline", cwd=tree / "tests")
    assert (tree / "known.json").read_text() == written


def test_what_was_not_looked_at_stays_in_it(reviewbot, tree):
    (tree / "scripts").mkdir()
    (tree / "scripts" / "test_b.py").write_text(WEAK + "\n\ndef test_same(run):\n    assert run == run\n")
    (tree / "tests" / "test_gone.py").write_text(WEAK)
    ran = reviewbot("lint", "--write-baseline")
    assert ran.err == "reviewbot: known.json holds 4 findings\n"
    (tree / "tests" / "test_gone.py").unlink()
    ran = reviewbot("lint", "--write-baseline", cwd=tree / "tests")
    assert ran.err == "reviewbot: ../known.json holds 3 findings, 2 of them of what was not looked at\n"
    # Nor does what other rules found go.
    ran = reviewbot("lint", "--write-baseline", "--select", "self-compare")
    assert ran.err == "reviewbot: known.json holds 3 findings, 2 of them of what was not looked at\n"
    assert reviewbot("lint").code == 0
    # What was mended does.
    (tree / "scripts" / "test_b.py").write_text(WEAK)
    assert reviewbot("lint", "--write-baseline").err == "reviewbot: known.json holds 2 findings\n"


def test_in_a_repository_fingerprints_are_those_of_its_root(reviewbot, tree):
    (tree / "pyproject.toml").unlink()
    (tree / ".git").mkdir()
    printed = [
        json.loads(reviewbot("lint", "--output-format", "json", *paths, cwd=folder).out)
        for folder, paths in ((tree, []), (tree / "tests", []), (tree.parent, [tree.name]))
    ]
    assert len({one[0]["fingerprint"] for one in printed}) == 1
    assert [one[0]["path"] for one in printed] == [
        "tests/test_a.py",
        "test_a.py",
        f"{tree.name}/tests/test_a.py",
    ]
