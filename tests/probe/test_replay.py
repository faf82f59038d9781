"""Evidence that was saved shows the same again, until the check is mended."""

from __future__ import annotations

import json

EXCUSE_STARTS, EXCUSE_ENDS = "        if index in excused:", "        for field in EXACT:"


def test_a_witness_passes_again_and_is_caught_after_the_fix(reviewbot, weak):
    saved = reviewbot("probe", "tests/parity.py::main", "--save", "evidence.json", cwd=weak)
    assert saved.code == 1
    again = reviewbot("probe", "replay", "evidence.json", cwd=weak)
    assert (again.code, again.out.count("still passes")) == (0, 1)
    file = weak / "tests" / "parity.py"
    text = file.read_text()
    file.write_text(text[: text.index(EXCUSE_STARTS)] + text[text.index(EXCUSE_ENDS) :])
    mended = reviewbot("probe", "replay", "evidence.json", cwd=weak)
    assert mended.code == 1
    assert "its file is not the one that was probed" in mended.out
    assert "AssertionError: row 0: token_ids differs" in mended.out


def test_an_edit_without_a_place_is_an_error_and_no_pass(reviewbot, weak):
    reviewbot("probe", "tests/parity.py::main", "--save", "evidence.json", cwd=weak)
    document = json.loads((weak / "evidence.json").read_text())
    document["witnesses"][0]["changes"][0]["edit"][1] = ["restored_rows", 0, "token_ids", 40]
    (weak / "evidence.json").write_text(json.dumps(document))
    ran = reviewbot("probe", "replay", "evidence.json", cwd=weak)
    assert ran.code == 2
    assert "has no place in its arguments" in ran.err


def test_a_file_that_is_no_evidence_is_named(reviewbot, weak):
    (weak / "other.json").write_text("[]")
    ran = reviewbot("probe", "replay", "other.json", cwd=weak)
    assert ran.code == 2
    assert "other.json: is not evidence" in ran.err
