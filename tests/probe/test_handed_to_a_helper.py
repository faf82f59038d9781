"""A test that hands its values to a comparing function is run on changed values, and the function too."""

from __future__ import annotations

import pytest

COMPARING = """
def rows_equal(baseline, resumed):
    return baseline == resumed


def row_problems(baseline, resumed):
    found = []
    for one, other in zip(baseline, resumed, strict=True):
        if one["tokens"] != other["tokens"]:
            found.append("tokens")
    return found


def first_difference(baseline, resumed):
    for at, (one, other) in enumerate(zip(baseline, resumed, strict=True)):
        if one != other:
            return at
    return None


def total(rows):
    return sum(len(row["tokens"]) for row in rows)
"""
TEST = """
import pytest

import comparing
from comparing import rows_equal, total


def run(seed):
    return [{"step": n, "tokens": [seed, 2, n, 4]} for n in range(3)]


@pytest.fixture
def baseline():
    return run(1)


@pytest.fixture
def resumed():
    return run(1)


def test_truth(baseline, resumed):
    assert rows_equal(baseline, resumed)


def test_of_a_module(baseline, resumed):
    assert not comparing.row_problems(baseline, resumed)


def test_held(baseline, resumed):
    found = comparing.row_problems(baseline, resumed)
    assert found == []


def test_none(baseline, resumed):
    assert comparing.first_difference(baseline, resumed) is None


def test_made_here():
    one, other = run(1), run(1)
    assert rows_equal(one, other)


def test_made_of_them(baseline, resumed):
    left = [row["tokens"] for row in baseline]
    right = [row["tokens"] for row in resumed]
    assert rows_equal(left, right)


def test_total(baseline, resumed):
    count = total(baseline)
    assert count == 12 and baseline[0]["step"] == resumed[0]["step"]
"""


@pytest.fixture
def handed(tmp_path):
    (tmp_path / "comparing.py").write_text(COMPARING)
    (tmp_path / "test_handed.py").write_text(TEST)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    ["test_truth", "test_of_a_module", "test_held", "test_none", "test_made_here", "test_made_of_them"],
)
def test_what_the_test_fails_on_is_no_witness(probed, handed, test):
    code, document = probed(handed, f"test_handed.py::{test}")
    assert document["witnesses"] == [] and code == 0
    noticed = {kill["edit"].partition(": ")[0] for kill in document["kills"]}
    assert "token 0 changed" in noticed and "row dropped" in noticed
    passed = {one["edit"].partition(": ")[0] for one in document["set_aside"]}
    assert not any(one.startswith("token") and one.endswith("changed") for one in passed)


@pytest.mark.slow
def test_a_call_that_is_given_what_was_changed_runs_again(probed, handed):
    code, document = probed(handed, "test_handed.py::test_total")
    assert (code, document["witnesses"]) == (0, [])
    caught = {kill["edit"].partition(": ")[0] for kill in document["kills"] if "baseline" in kill["edit"]}
    assert {"row dropped", "tokens shorter by one", "step changed"} <= caught
