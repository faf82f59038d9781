"""What `reviewbot report` is given is read before it sets out on a review."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("option", ["--size", "--parity", "--probe"])
def test_a_broken_file_is_told_of_before_the_review(reviewbot, tmp_path, option):
    (tmp_path / "bad.json").write_text("{")
    # There is no repository here: a review that began would say that first.
    ran = reviewbot("report", "--base", "main", option, "bad.json", "--out", "pages")
    assert (ran.code, "bad.json: not " in ran.err) == (2, True), ran.err
    assert not (tmp_path / "pages").exists()
