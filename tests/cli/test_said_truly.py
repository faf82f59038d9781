"""What is wrong is said as it is: of an empty argument, of JSON that is no object, of two encodings."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "words",
    [
        ("lint", ""),
        ("lint", "--no-cache", ""),
        ("lint", "--", ""),
        ("lint", "-q", "", "."),
        ("probe", "--kill-matrix", ""),
        ("parity", "compare", "--quiet", "", "b"),
    ],
)
def test_an_empty_argument_is_no_options_value(reviewbot, words):
    ran = reviewbot(*words)
    says = "reviewbot: an argument is empty; name what it should be, or leave it out\n"
    assert (ran.code, ran.err) == (2, says)


@pytest.mark.parametrize("words", [("--select", "", "."), ("--select=", ".")])
def test_an_options_empty_value_is_named_by_the_option(reviewbot, words):
    ran = reviewbot("lint", *words)
    assert (ran.code, ran.err.startswith("reviewbot: --select has an empty value")) == (2, True)


@pytest.mark.parametrize("line", ["null", "[1, 2]", "7", '"row"'])
def test_json_that_is_no_object_is_json(reviewbot, tmp_path, line):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.jsonl").write_text(f"{line}\n")
    ran = reviewbot("parity", "compare", "a", "b", cwd=tmp_path)
    assert (ran.code, ran.err) == (2, f"reviewbot: a/rows.jsonl:1: JSON, but no object: {line}\n")


def test_a_file_that_names_two_encodings(reviewbot, tmp_path):
    (tmp_path / "test_a.py").write_bytes(b"\xef\xbb\xbf# coding: latin-1\ndef test_rows():\n    assert 1\n")
    (tmp_path / "test_b.py").write_bytes(b"# \xff\n")
    ran = reviewbot("lint", "--no-cache", ".", cwd=tmp_path)
    assert ran.code == 2
    assert "test_a.py: its byte order mark says UTF-8, and its declaration another encoding\n" in ran.err
    assert "test_b.py: not text in UTF-8\n" in ran.err
