"""Where in the rows a change is made, and what rows are told apart by, decide what a check notices."""

from __future__ import annotations

import os

import pytest

CHECKS = '''\
"""Compares the samples that a run trained on with those of a resumed run."""


def compare_worst(baseline, resumed):
    assert len(baseline) == len(resumed)
    worst = max(abs(one["loss"] - two["loss"]) for one, two in zip(baseline, resumed))
    assert worst < 1e-3, worst


def compare_first(baseline, resumed):
    assert len(baseline) == len(resumed)
    if abs(baseline[0]["loss"] - resumed[0]["loss"]) > 1e-3:
        raise AssertionError("the first loss differs")
    for one, two in zip(baseline[1:], resumed[1:]):
        assert abs(one["loss"] - two["loss"]) < 1e-3


def compare_by_uid(baseline, resumed):
    assert len(baseline) == len(resumed)
    known = {row["uid"]: row for row in resumed}
    for row in baseline:
        assert known[row["uid"]]["loss"] == row["loss"], row["uid"]


def compare_sums(baseline, resumed):
    assert len(baseline) == len(resumed)
    assert sum(row["loss"] for row in baseline) == sum(row["loss"] for row in resumed)


def compare_but_drifted(baseline, resumed):
    drifted = {one["uid"] for one, two in zip(baseline, resumed) if abs(one["loss"] - two["loss"]) > 0.5}
    gaps = []
    for one, two in zip(baseline, resumed):
        if one["uid"] in drifted:
            continue
        assert one["uid"] == two["uid"]
        gaps.append(abs(one["loss"] - two["loss"]))
    assert max(gaps, default=0.0) < 0.5


def compare_but_outliers(baseline, resumed):
    assert len(baseline) == len(resumed)
    for one, two in zip(baseline, resumed):
        gap = abs(one["loss"] - two["loss"])
        if gap > 1000:
            continue
        assert gap < 1e-3


def compare_pairs(baseline, resumed):
    assert baseline == resumed
    assert [row["loss"] for row in doubled(baseline)] == [row["loss"] for row in doubled(resumed)]


def doubled(rows):
    return [{**row, "loss": 2 * row["loss"]} for row in rows for _ in range(2)]


def differs(baseline, resumed):
    return any(one["loss"] != two["loss"] for one, two in zip(baseline, resumed))
'''
TEST = """\
import pytest

from tests import parity


@pytest.mark.parametrize("name", [name for name in dir(parity) if name.startswith("compare_")])
def test_resumed_like_baseline(name):
    rows = [{"uid": f"s{at}", "loss": 1.5 + at, "bucket": 8} for at in range(6)]
    if name == "compare_pairs":
        rows = [{"day": at // 2, "mean": 1.5 + at // 2, "count": 4 * (at // 2)} for at in range(6)]
        rows = [{**row, "loss": at} for at, row in enumerate(rows)]
    getattr(parity, name)(rows, [dict(row) for row in rows])


def test_differs():
    rows = [{"uid": f"s{at}", "loss": 1.5 + at, "bucket": 8} for at in range(6)]
    assert not parity.differs(rows, [dict(row) for row in rows])
"""


@pytest.fixture
def losses(tmp_path):
    """Checks of a resumed run's losses, by place, by uid and in sum."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "parity.py").write_text(CHECKS)
    (tmp_path / "tests" / "test_parity.py").write_text(TEST)
    return tmp_path


def says(document):
    return {(one["why"], one["changes"][0]["says"]) for one in document["witnesses"]}


@pytest.mark.parametrize(
    ("check", "row"), [("compare_worst", range(1, 6)), ("compare_first", range(1))], ids=["later", "first"]
)
def test_a_nan_that_passes_in_one_row_alone_is_found_there(probed, losses, check, row):
    _, document = probed(losses, f"tests/parity.py::{check}")
    (witness,) = [one for one in document["witnesses"] if one["why"] == "nan"]
    operation, path, *_ = witness["changes"][0]["edit"]
    assert operation == "set" and path[0] == "resumed" and path[2] == "loss"
    passed = {one["edit"] for one in document["let_through"] if one["edit"].startswith("loss is NaN")}
    places = {int(edit.partition("[")[2].partition("]")[0]) for edit in passed}
    assert places and places <= set(row)


def test_rows_matched_by_a_key_may_stand_in_any_order(probed, losses):
    _, document = probed(losses, "tests/parity.py::compare_by_uid")
    assert not any(change == "rows swapped" for _, change in says(document))
    (why,) = {one["why"] for one in document["set_aside"] if one["edit"].startswith("rows swapped")}
    assert why == "the rows are told apart by what they hold, in whatever order they stand"


def test_rows_that_are_only_summed_may_not(probed, losses):
    code, document = probed(losses, "tests/parity.py::compare_sums")
    assert code == 1
    assert ("gap", "rows swapped") in says(document)


def test_rows_that_an_excuse_lets_change_places_are_not_told_apart(probed, losses):
    _, document = probed(losses, "tests/parity.py::compare_but_drifted")
    assert any(one["edit"].startswith("rows swapped") for one in document["let_through"])
    assert not any("told apart" in one["why"] for one in document["set_aside"])


def test_a_nan_is_a_witness_where_no_other_number_gets_to_the_check(probed, losses):
    _, document = probed(losses, "tests/parity.py::compare_but_drifted")
    assert ("nan", "loss is NaN") in says(document)
    assert "loss" not in document["never_compared"]


def test_what_is_taken_for_an_outlier_is_let_through_by_a_branch(probed, losses):
    code, document = probed(losses, "tests/parity.py::compare_but_outliers")
    assert code == 1
    (witness,) = [one for one in document["witnesses"] if one["why"] == "excuse"]
    assert witness["changes"][0]["says"] == "loss far off"
    assert witness["escapes"][0]["text"] == "gap > 1000"


def test_fields_that_follow_from_one_are_asked_about_once(reviewbot, losses):
    ran = reviewbot("probe", "tests/parity.py::compare_pairs", cwd=losses)
    (asked,) = [line for line in ran.out.splitlines() if line.startswith("question: ")]
    assert "mean and count follow from day (6 of 6 rows could have said otherwise)" in asked


def test_a_function_whose_value_is_too_long_to_show_is_left_out(reviewbot, losses):
    ran = reviewbot("probe", "tests/parity.py::compare_worst", cwd=losses)
    shown = [line.strip() for line in ran.out.splitlines() if line.strip().startswith("compare_worst")]
    assert set(shown) == {"compare_worst returned None, with worst=0"}


def test_a_false_that_means_no_difference_is_told_as_a_pass(reviewbot, losses):
    ran = reviewbot("probe", "tests/parity.py::differs", cwd=losses)
    assert ran.code == 1
    assert (
        "The check passes: it says no when it returns another value than for the unchanged arguments, and "
        "here it does not." in ran.out
    )
    assert "differs returned False" in ran.out


def test_of_a_constant_field_that_nothing_compares_nothing_is_asked(probed, losses):
    _, document = probed(losses, "tests/parity.py::compare_by_uid")
    assert "bucket" in document["never_compared"]
    assert not any("bucket" in question for question in document["questions"])


@pytest.mark.timeout(60)
def test_a_named_pipe_beside_the_tests_keeps_nobody_waiting(probed, losses):
    os.mkfifo(losses / "tests" / "pipe.py")
    _, document = probed(losses, "tests/parity.py::compare_worst")
    assert document["witnesses"]


ROWS = [
    {"uid": f"s{at}", "loss": 1.5 + at // 2, "step": at // 4, "meta": {}, "mode": "train"} for at in range(8)
]


def test_of_what_only_shares_a_measured_number_nothing_is_asked_and_constants_are_asked_about_once(
    probed, losses
):
    (losses / "tests" / "test_parity.py").write_text(
        f"from tests import parity\n\nROWS = {ROWS!r}\n\n\n"
        "def test_pairs():\n    parity.compare_pairs(ROWS, [dict(row) for row in ROWS])\n"
    )
    _, document = probed(losses, "tests/parity.py::compare_pairs")
    assert document["questions"] == [
        "baseline: meta is {} and mode is train in all 8 rows: "
        "is comparing them meant to notice anything here?"
    ]
