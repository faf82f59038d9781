"""What Python says of the code under review stays between it and that code's author."""

from __future__ import annotations

import shutil
from pathlib import Path


def test_what_python_thinks_of_a_pattern_under_review_is_not_told_to_whoever_runs_this(reviewbot, tmp_path):
    case = Path(__file__).parents[1] / "cases" / "restated-arithmetic" / "repo"
    folder = Path(shutil.copytree(case, tmp_path / "repo"))
    file = folder / "tests" / "restore_parity.py"
    file.write_text(file.read_text().replace('r"prefix completed', 'r"[[]?prefix completed'))
    ran = reviewbot("lint", "--no-cache", "--select", "restated-arithmetic", ".", cwd=folder)
    assert "restated-arithmetic" in ran.out
    assert "Warning" not in ran.err
