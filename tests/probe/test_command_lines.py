"""A command line that cannot be probed is answered with what can be, and so are checks that are not there."""

from __future__ import annotations

import pytest

CHECK = """\
def compare(left, right):
    assert len(left) == len(right)
    for one, other in zip(left, right):
        assert one == other
"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "cli.py").write_text("print(1)\n")
    (tmp_path / "check.py").write_text(CHECK)
    (tmp_path / "empty.py").write_text("a = 1\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_rows.py").write_text(TESTS)
    return tmp_path


TESTS = """def load():
    return []

def check_rows(left, right):
    assert left == right

def test_rows():
    check_rows(load(), load())
"""
FORM = "[python] SCRIPT.py ARGUMENTS, with the files to be changed among them"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("python3 -m pkg.cli a b", "`-m` is not run: name its file, 'pkg/cli.py a b'"),
        ("/usr/bin/python3.11 -m nowhere a b", f"`-m` is not run; a command line is {FORM}"),
        ("bash scripts/parity.sh a", f"a shell is not run, for nothing under probe may start processes: name "
         f"the Python script that it calls, as {FORM}"),
        ("./parity.sh a", "a shell is not run"),
        ("empty.py", f"names no file that could be changed: a command line is {FORM}"),
        ("tests/test_rows.py", "names no file that could be changed: one of its functions is probed as "
         f"tests/test_rows.py::test_rows (or check_rows, load), a command line is {FORM}"),
        ("node compare.js a", f"is neither path.py::function nor a command line: that is {FORM}"),
        ("empty.py::compare", "empty.py has no function at all, so none that is called 'compare'"),
    ],
)  # fmt: skip
def test_what_is_no_command_line_is_told_what_is(reviewbot, tree, given, says):
    ran = reviewbot("probe", given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert says in ran.err


@pytest.mark.parametrize("python", ["python", "python3.11", "/opt/venv/bin/python3"])
def test_a_python_may_stand_before_the_script(reviewbot, tree, python):
    ran = reviewbot("probe", f"{python} pkg/missing.py a.jsonl")
    assert (ran.code, ran.err) == (
        2,
        "reviewbot: pkg/missing.py: cannot be read (No such file or directory)\n",
    )


@pytest.mark.slow
def test_each_check_that_is_to_be_dropped_has_to_be_there(reviewbot, tree):
    (tree / "rows.json").write_text('{"left": [1, 2], "right": [1, 2]}')
    words = ("probe", "check.py::compare", "--example", "rows.json", "--drop")
    ran = reviewbot(*words, "L2", "999")
    assert (ran.code, ran.out) == (3, "")
    assert "no check of check.py that was loaded stands at L999" in ran.err
    assert "without L2" in reviewbot(*words, "L2").out


READS = """\
import pathlib
import sys

left, right = (pathlib.Path(word) for word in sys.argv[1:])
for name in ("state.json", "weights.bin"):
    if (left / name).read_bytes() != (right / name).read_bytes():
        sys.exit(name)
"""


@pytest.mark.slow
def test_what_is_not_copied_is_told(reviewbot, tree):
    (tree / "compare.py").write_text(READS)
    for name in ("a", "b"):
        (tree / name).mkdir()
        (tree / name / "state.json").write_text('{"step": 3}')
        (tree / name / "weights.bin").write_bytes(b"1")
    ran = reviewbot("probe", "compare.py a b")
    assert ran.code == 3
    assert "reads a file that a probe does not copy" in ran.err
    assert "weights.bin" in ran.err
