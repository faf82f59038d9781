"""What lint says of files that it cannot read as Python, and of findings that a baseline holds."""

from __future__ import annotations

import json

CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": ["assert a == a"]}
BOOK = json.dumps({"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
TWICE = """\
def test_a(load):
    a = load()
    assert a == a


def test_b(load):
    b = load()
    assert b == b
"""


def test_a_notebook_is_not_read_and_that_is_said(reviewbot, tmp_path):
    (tmp_path / "a.ipynb").write_text(BOOK)
    ran = reviewbot("lint", "--no-cache", "a.ipynb", cwd=tmp_path)
    assert ran.code == 2
    assert "a.ipynb: a notebook is not read" in ran.err
    assert "nothing found in 0 files; 1 not read" in ran.out
    (tmp_path / "test_b.py").write_text(TWICE)
    ran = reviewbot("lint", "--no-cache", "a.ipynb", "test_b.py", cwd=tmp_path)
    assert ran.code == 1
    assert "a.ipynb: a notebook is not read" in ran.err


def test_a_baseline_is_said_to_hold_what_it_hides(reviewbot, tmp_path):
    (tmp_path / "test_b.py").write_text(TWICE)
    known = ("lint", "--no-cache", "--select", "self-compare", "--baseline", "known.json")
    assert reviewbot(*known, "--write-baseline", "test_b.py", cwd=tmp_path).code == 0
    ran = reviewbot(*known, "test_b.py", cwd=tmp_path)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "nothing found in 1 file; 2 in the baseline")
    (tmp_path / "test_b.py").write_text(TWICE + "\n\ndef test_c(load):\n    c = load()\n    assert c == c\n")
    ran = reviewbot(*known, "test_b.py", cwd=tmp_path)
    assert ran.code == 1
    assert "1 finding (1 proved) in 1 of 1 file; 2 more in the baseline" in ran.out
