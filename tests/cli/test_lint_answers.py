"""What `reviewbot lint` says of what it could not do, and how that is explained."""

from __future__ import annotations

import pytest

WEAK = "def test_rows(run):\n    assert (run(1), 'rows')\n"


@pytest.mark.parametrize("more", [(), ("--write-baseline",)])
def test_a_folder_is_no_baseline(reviewbot, tmp_path, more):
    (tmp_path / "known").mkdir()
    ran = reviewbot("lint", "--baseline", "known", *more)
    assert ran.code == 2
    assert ran.err == "reviewbot: --baseline known: is a folder; name the file of a baseline\n"


def test_only_files_that_could_be_read_are_counted(reviewbot, tmp_path):
    (tmp_path / "test_a.py").write_text(WEAK)
    (tmp_path / "test_b.py").write_text("def test_b(:\n")
    assert reviewbot("lint", "test_b.py").out == "nothing found in 0 files; 1 not read\n"
    ran = reviewbot("lint", "test_b.py", "--output-format", "markdown")
    assert ran.out.startswith("**reviewbot**: nothing found in 0 files\n\n### Not read\n")
    assert " in 1 of 1 file; " in reviewbot("lint").out


def test_the_help_says_what_the_exit_codes_mean(reviewbot):
    told = reviewbot("lint", "--help").out.partition("exit codes:\n")[2]
    assert [line.split()[0] for line in told.splitlines() if line[2:3].isdigit()] == ["0", "1", "2"]


def test_a_comment_that_silences_nothing_is_explained_like_a_rule(reviewbot, tmp_path):
    ran = reviewbot("rule", "suppression")
    assert (ran.code, ran.err) == (0, "")
    bad, good = (part.partition("```\n")[0] for part in ran.out.split("```python\n")[1:])
    for number, comments in enumerate((bad, good)):
        body = "".join(f"    {line}\n" for line in comments.splitlines())
        (tmp_path / f"test_{number}.py").write_text(f"def test_left(left):\n{body}")
        told = reviewbot("lint", f"test_{number}.py").out
        assert told.count("[suppression]") == (len(bad.splitlines()), 0)[number], told
