"""What a probe says first: that nothing makes a check fail, what it never compares, that it wants files."""

from __future__ import annotations

import json
import textwrap

import pytest

SCRIPT = """
    import json
    import sys

    def read(path):
        return [json.loads(line) for line in open(path)]

    def main():
        found = [a for a, b in zip(read(sys.argv[1]), read(sys.argv[2])) if a["tokens"] != b["tokens"]]
        print(found)
        return 1 if found else 0

    main()
"""
CHECK = """
    import json

    def check_rows(reference, resumed):
        if len(reference) != len(resumed):
            raise ValueError("rows")
        for left, right in zip(reference, resumed):
            if left["tokens"] != right["tokens"]:
                raise ValueError("tokens")

    def same_files(left, right):
        with open(left) as one, open(right) as other:
            assert [json.loads(line) for line in one] == [json.loads(line) for line in other]
"""
TESTS = """
    import json
    from check import check_rows, same_files

    def rows():
        return [{"tokens": [step, 8, 9], "reward": 0.5 * step} for step in range(1, 4)]

    def test_rows():
        check_rows(rows(), rows())

    def test_files(tmp_path):
        for name in "ab":
            (tmp_path / name).write_text("".join(json.dumps(row) + "\\n" for row in rows()))
        same_files(tmp_path / "a", tmp_path / "b")
"""


@pytest.fixture
def repo(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for name, text in (("script", SCRIPT), ("check", CHECK), ("test_check", TESTS)):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    rows = "".join(json.dumps({"tokens": [step, 8, 9], "reward": 0.5}) + "\n" for step in range(3))
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(rows)
    return tmp_path


def test_a_script_whose_exit_code_is_lost_says_so_first(reviewbot, repo):
    ran = reviewbot("probe", "python script.py a.jsonl b.jsonl", cwd=repo)
    assert ran.code == 1
    first = ran.out.splitlines()[0]
    assert "no change whatever makes it fail, but for " in first and "never compares" not in first


def test_what_is_never_compared_stands_in_the_first_line(reviewbot, repo):
    ran = reviewbot("probe", "check.py::check_rows", cwd=repo)
    assert "check.py::check_rows: it never compares reward; " in ran.out.splitlines()[0]
    assert "whatever" not in ran.out


def test_calls_of_what_a_conftest_imports_are_recorded(reviewbot, repo):
    (repo / "conftest.py").write_text("import check\n")
    ran = reviewbot("probe", "check.py::check_rows", cwd=repo)
    assert "check.py::check_rows: it never compares reward; " in ran.out, ran.err


def test_a_check_that_reads_files_says_what_works(reviewbot, repo):
    ran = reviewbot("probe", "check.py::same_files", cwd=repo)
    assert (ran.code, ran.out) == (3, "")
    assert "same_files reads files by the paths that it is given" in ran.err
    assert "reviewbot probe 'python compare.py A.jsonl B.jsonl'" in ran.err
