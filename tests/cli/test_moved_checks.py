"""A check in a block that must raise is moved behind it only where that leaves a test that can pass."""

from __future__ import annotations

import json

import pytest

TEST = """
import pytest


def test_errors(load, folder):
    with pytest.raises(KeyError):
        load("missing")
LINES        assert load("empty") == {}
"""


def found(reviewbot, lines):
    words = ("lint", "--select", "unreachable-check", "--output-format", "json", "--fail-on", "never")
    text = TEST.replace("LINES", lines)
    ran = reviewbot(*words, "--stdin-filename", "tests/test_errors.py", "-", stdin=text)
    (finding,) = json.loads(ran.out)
    return finding


def test_behind_the_one_line_that_raises_it_is_moved(reviewbot):
    finding = found(reviewbot, "")
    assert finding["fix"]["edits"][0]["text"] == '    assert load("empty") == {}\n'
    assert finding["steps"][0]["line"] == 7 and "must raise here: " in finding["steps"][0]["says"]


@pytest.mark.parametrize(
    "line", ['        folder.write("empty", "{}")\n', '        folder.make()\n        load("b")\n']
)
def test_behind_several_lines_it_stays_for_those_between_would_not_have_run(reviewbot, line):
    finding = found(reviewbot, line)
    assert finding["fix"] is None
    assert finding["steps"][0]["line"] == 7
    assert "must raise here, or between here and the check: " in finding["steps"][0]["says"]
