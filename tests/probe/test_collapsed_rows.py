"""Rows of a run that are compared by a key of which there are several, and by a helper item by item."""

from __future__ import annotations

import pytest

KEYED = """\
def index(rows):
    return {(r["step"], r["prompt"]): r for r in rows}


def excused(left, right, restored_at):
    left, right = index(left), index(right)
    assert left.keys() == right.keys()
    drifted = {k for k in left if parting(left[k], right[k]) == restored_at.get(k)}
    for key, row in left.items():
        if key in drifted:
            continue
        assert row["reward"] == right[key]["reward"]


def parting(a, b):
    for at, (x, y) in enumerate(zip(a["tokens"], b["tokens"])):
        if x != y:
            return at
    return None
"""
TEST = """\
import copy
from parity import excused

ROWS = [{"step": 0, "prompt": 0, "tokens": [1, 2, 3, 4], "reward": 1.0},
        {"step": 0, "prompt": 0, "tokens": [1, 2, 9, 4], "reward": 0.0},
        {"step": 0, "prompt": 1, "tokens": [1, 2, 9, 5], "reward": 0.0}]


def test_excused():
    excused(ROWS, copy.deepcopy(ROWS), {})
"""
RUN = """\
def run():
    tokens = [[1, 2, n, 4, 5] for n in range(3)]
    return [{"id": n, "tokens": row, "mask": [0, 0, 1, 1, 1]} for n, row in enumerate(tokens)]


def check(a, b):
    assert a["mask"] == b["mask"]
"""
ROWS = """\
import pytest
from m import run, check


@pytest.fixture
def legs():
    return run(), run()


def test_rows(legs):
    reference, resumed = legs
    for a, b in zip(reference, resumed):
        check(a, b)
"""


def test_a_branch_that_excuses_every_row_is_shown_on_a_row_that_is_compared(probed, tmp_path):
    (tmp_path / "parity.py").write_text(KEYED)
    (tmp_path / "test_p.py").write_text(TEST)
    code, document = probed(tmp_path, "parity.py::excused")
    assert code == 1
    rewards = [one for one in document["witnesses"] if one["changes"][0]["where"].endswith(".reward")]
    assert [one["why"] for one in rewards] == ["excuse"]
    assert rewards[0]["escapes"][0]["text"] == "key in drifted"


def test_a_branch_that_was_taken_is_told_beside_the_checks_that_decide_nothing(reviewbot, tmp_path):
    more = "            assert len(right[key]) > 0\n            continue"
    (tmp_path / "parity.py").write_text(KEYED.replace("            continue", more))
    (tmp_path / "test_p.py").write_text(TEST)
    ran = reviewbot("probe", "parity.py::excused", cwd=tmp_path)
    assert "checks that decided nothing here:" in ran.out
    assert "(key in drifted) was taken 2 times in the recorded passing calls; checks that" in ran.out


@pytest.mark.slow
def test_rows_that_a_helper_compares_in_one_late_field_are_held_against_each_other(probed, tmp_path):
    (tmp_path / "m.py").write_text(RUN)
    (tmp_path / "test_e.py").write_text(ROWS)
    code, document = probed(tmp_path, "test_e.py::test_rows")
    assert code == 1
    assert any("row dropped" in one["changes"][0]["says"] for one in document["witnesses"])


SCORES = """\
def compare_scores(reference, resumed):
    for key in reference.keys() & resumed.keys():
        assert reference[key].get("score") == resumed[key].get("score")
"""


@pytest.mark.parametrize(
    ("resumed", "says"),
    [
        ("{1: {'reward': 1.0}}", "no recorded row has `score`, so that the check compares None with None"),
        ("{}", "`resumed` is empty in every recorded call"),
    ],
)
def test_what_the_recorded_calls_cannot_show_is_told(reviewbot, tmp_path, resumed, says):
    (tmp_path / "parity.py").write_text(SCORES)
    test = f"from parity import compare_scores\n\n\ndef test_s():\n    compare_scores(BOTH, {resumed})\n"
    (tmp_path / "test_p.py").write_text(test.replace("BOTH", "{1: {'reward': 1.0}}"))
    ran = reviewbot("probe", "parity.py::compare_scores", cwd=tmp_path)
    assert says in ran.out.splitlines()[0] and says in ran.err
    assert ran.code == 3
