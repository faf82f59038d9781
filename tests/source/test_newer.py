"""Code that only a newer Python, or LibCST, can parse."""

from __future__ import annotations

import ast
import json

import pytest

from reviewbot.source.newer import older

NEWER = """
import pytest

type Rows = list[int]
type Pairs[
    T
] = list[T]


class Box[T]:
    def get[U: (int, str)](self, key: U) -> T:
        return f"{self.rows["é"]}"


def test_tuple(run):
    row = run()
    assert (row, "x")
    note = f"{row["a"]!r:>{row["w"]}}"; assert row == row, f"{
        row["b"]
    } and more text"


def test_loop[T](run):
    for row in [one for one in run(f'{"\\n".join(["ä"])}') if one.done]:
        assert row.reward == 1


def test_dropped(run):
    try:
        run()
    except ValueError, KeyError:
        pass
    run() == f"{run()["a"]}"
""".lstrip()


def test_every_rule_finds_what_stands_in_newer_syntax_at_its_place(reviewbot, tmp_path):
    path = tmp_path / "tests" / "test_newer.py"
    path.parent.mkdir()
    path.write_text(NEWER, encoding="utf-8")
    ran = reviewbot("lint", "--no-cache", "--output-format", "json", "tests", cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    found = {one["rule"]: (one["line"], one["column"]) for one in json.loads(ran.out)}
    assert found == {
        "constant-verdict": (16, 5),
        "self-compare": (17, 41),
        "loop-may-be-empty": (24, 9),
        "check-result-dropped": (32, 5),
    }


def test_a_fix_in_newer_syntax_is_applied(reviewbot, tmp_path):
    (tmp_path / "test_newer.py").write_text(NEWER, encoding="utf-8")
    assert reviewbot("lint", "--no-cache", "--fix", ".", cwd=tmp_path).err == ""
    fixed = NEWER.replace('assert (row, "x")', 'assert row, "x"')
    assert (tmp_path / "test_newer.py").read_text(encoding="utf-8") == fixed


@pytest.mark.parametrize("code", ["def f(:\n", "type = = 1\n", "def f[T](:\n    pass\n", 'x = f"{(}"\n'])
def test_what_nothing_can_parse_is_named_in_a_line(reviewbot, tmp_path, code):
    (tmp_path / "broken.py").write_text(code)
    (tmp_path / "test_fine.py").write_text("def test(x):\n    assert (x, 1)\n")
    ran = reviewbot("lint", "--no-cache", ".", cwd=tmp_path)
    assert ran.code == 1
    assert ran.err.startswith("reviewbot: broken.py:1: not valid Python")
    assert ran.err.count("\n") == 1
    assert "test_fine.py:2:5" in ran.out


def test_every_byte_keeps_its_place():
    made = older(NEWER)
    assert [len(line.encode()) for line in made.splitlines()] == [
        len(line.encode()) for line in NEWER.splitlines()
    ]
    ast.parse(made)
