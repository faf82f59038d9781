"""Evidence that was saved shows the same again, until the check is mended."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest


def pythons():
    """The interpreter of the tests, and others on the path that run."""
    yield sys.executable
    for minor in range(11, 16):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            yield found


EXCUSE_STARTS, EXCUSE_ENDS = "        if index in excused:", "        for field in EXACT:"


def test_a_witness_passes_again_and_is_caught_after_the_fix(reviewbot, weak):
    saved = reviewbot("probe", "tests/parity.py::main", "--save", "evidence.json", cwd=weak)
    assert saved.code == 1
    again = reviewbot("probe", "replay", "evidence.json", cwd=weak)
    assert (again.code, again.out.count("still passes")) == (0, 1)
    assert re.search(r"restored_rows\[0\]\.token_ids\[\d+\] \d+ -> \d+: still passes", again.out)
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


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("witnesses", [None], "witness 1 is not one"),
        ("witnesses", [], "holds no witness to replay"),
        ("target", "tests/other.py::main", "speaks of tests/other.py::main, which is not here"),
        ("files", {"left": [99, "left.jsonl"]}, "names files where tests/parity.py::main has no words"),
        ("labels", {"left": "first"}, "is not evidence of `reviewbot probe --save`"),
    ],
)
def test_evidence_that_was_tampered_with_is_refused(reviewbot, weak, key, value, says):
    reviewbot("probe", "tests/parity.py::main", "--save", "evidence.json", cwd=weak)
    document = json.loads((weak / "evidence.json").read_text())
    (weak / "evidence.json").write_text(json.dumps({**document, key: value}))
    ran = reviewbot("probe", "replay", "evidence.json", cwd=weak)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_a_file_that_is_no_evidence_is_named(reviewbot, weak):
    (weak / "other.json").write_text("[]")
    ran = reviewbot("probe", "replay", "other.json", cwd=weak)
    assert ran.code == 2
    assert "other.json: is not evidence" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("python", list(pythons()))
def test_any_python_at_hand_comes_to_the_same_verdict(reviewbot, weak, python):
    reviewbot("probe", "tests/parity.py::main", "--save", "evidence.json", cwd=weak)
    ran = reviewbot("probe", "replay", "evidence.json", "--python", python, cwd=weak)
    assert (ran.code, ran.out.count("still passes")) == (0, 1), ran.err


def test_a_replay_in_another_folder_says_where_to_run_it(reviewbot, weak, tmp_path):
    reviewbot("probe", "tests/parity.py::main", "--save", "evidence.json", cwd=weak)
    ran = reviewbot("probe", "replay", weak / "evidence.json", cwd=tmp_path)
    assert ran.code == 2
    assert (
        "tests/parity.py::main, which is not here: run the replay in the folder of the repository" in ran.err
    )
