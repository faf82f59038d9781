"""What is told once for one cause, with the exit code: fields that are never compared, failures that the
check itself catches, a branch that leads around everything."""

from __future__ import annotations

import textwrap

import pytest

CHECKS = """
    import logging

    FIELDS = ("id", "tokens", "weights", "score", "host")

    def right(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            for name in FIELDS:
                assert left[name] == right[name], name

    def unread(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            assert left["id"] == right["id"]
            assert left["tokens"] == right["tokens"]
            assert left["host"] == right["host"]

    def of_the_run_alone(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            for name in FIELDS[:-1]:
                assert left[name] == right[name], name

    def led_on(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            if left["score"] != right["score"]:
                continue
            for name in ("id", "tokens", "weights", "host"):
                assert left[name] == right[name], name

    def led_around(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            assert left["id"] == right["id"]
            gone = left["tokens"] != right["tokens"] or left["weights"] != right["weights"]
            if gone or left["score"] != right["score"]:
                continue
            assert left == right

    def same_row(left, right):
        for name in FIELDS:
            if left[name] != right[name]:
                raise ValueError(name)

    def logged(baseline, other):
        known = {row["id"]: row for row in baseline}
        try:
            for row in other:
                same_row(known[row["id"]], row)
        except Exception:
            logging.exception("rows differ")

    def masked(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            for name in ("id", "score", "host"):
                assert left[name] == right[name], name
            assert left["tokens"] == right["tokens"] and left["loss_mask"] == right["loss_mask"]
            assert len(left["weights"]) == len(right["weights"])
            for one, two, counts in zip(left["weights"], right["weights"], left["loss_mask"]):
                if counts and not abs(one - two) <= 0.001:
                    raise AssertionError("weights")
"""
TESTS = """
    import pytest
    import parity
    import product

    def rows():
        return [
            {"id": f"r{n}", "tokens": [4, 5 + n, 6], "weights": [0.0, 0.5, 0.25 + n], "score": 0.5 * n,
             "host": "east", "loss_mask": [0, 1, 1]}
            for n in (1, 2)
        ]

    def without_mask():
        return [{name: value for name, value in row.items() if name != "loss_mask"} for row in rows()]

    NAMES = ["right", "unread", "of_the_run_alone", "led_on", "led_around", "logged"]

    @pytest.mark.parametrize("name", NAMES)
    def test_compared(name):
        getattr(parity, name)(without_mask(), without_mask())

    def test_named():
        parity.right, parity.unread, parity.of_the_run_alone, parity.led_on, parity.led_around, parity.logged

    def test_masked():
        parity.masked(rows(), rows())

    def test_logged():
        known = {row["id"]: row for row in without_mask()}
        other = without_mask()[::1]
        try:
            for row in other:
                parity.same_row(known[row["id"]], row)
        except Exception as error:
            print(error)

    def test_is_to_raise():
        one, other = without_mask(), without_mask()
        other[0]["score"] = 9.0
        try:
            parity.same_row(one[0], other[0])
        except ValueError:
            pass
        else:
            pytest.fail("they are the same")

    def test_skips_what_is_no_number():
        scores = []
        for row in without_mask():
            try:
                scores.append(float(row["score"]))
            except (TypeError, ValueError, KeyError):
                continue
        assert len(scores) == 2

    def test_skips_what_the_product_refuses():
        scores = []
        for row in without_mask():
            try:
                scores.append(product.score(row))
            except ValueError:
                continue
        assert scores
"""
PRODUCT = """
    def score(row):
        if row.get("score") is None:
            raise ValueError("no score")
        return row["score"]
"""


@pytest.fixture
def parity(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "parity.py").write_text(textwrap.dedent(CHECKS))
    (tmp_path / "product.py").write_text(textwrap.dedent(PRODUCT))
    (tmp_path / "test_parity.py").write_text(textwrap.dedent(TESTS))
    return tmp_path


def told(document):
    """Of each witness why it is one, what changes, and what else it says passes."""
    return [(one["why"], one["changes"][0]["says"], set(one["like"])) for one in document["witnesses"]]


@pytest.mark.parametrize("name", ["right", "masked", "of_the_run_alone"])
def test_a_check_that_compares_what_counts_ends_with_0(probed, parity, name):
    code, document = probed(parity, f"parity.py::{name}")
    assert (code, document["witnesses"], document["never_fails"]) == (0, [], False)


def test_fields_that_are_never_compared_are_one_witness(reviewbot, probed, parity):
    code, document = probed(parity, "parity.py::unread")
    assert code == 1 and document["never_compared"] == ["weights", "score"]
    assert told(document) == [("unread", "weights[0] changed", {"score changed"})]
    ran = reviewbot("probe", "parity.py::unread", cwd=parity)
    assert ran.code == 1
    first = "parity.py::unread: it never compares weights, score; 1 witness and 1 like it in "
    assert ran.out.startswith(first)
    assert "1. A field of the rows is never compared: weights[0] changed" in ran.out
    assert "and 1 like it: score changed" in ran.out


def test_where_a_run_was_may_differ_and_is_told(probed, parity):
    _, document = probed(parity, "parity.py::of_the_run_alone")
    assert document["never_compared"] == ["host"]
    assert any("by its name it may differ" in one["why"] for one in document["set_aside"])


def test_a_comparison_that_only_leads_on_is_one_of_which_nothing_comes(reviewbot, probed, parity):
    code, document = probed(parity, "parity.py::led_on")
    assert (code, document["never_compared"]) == (1, [])
    assert told(document) == [("excuse", "rows swapped", {"score changed"})]
    (place,) = document["witnesses"][0]["escapes"]
    assert place["text"] == "left['score'] != right['score']"
    assert "never compares" not in reviewbot("probe", "parity.py::led_on", cwd=parity).out


def test_everything_that_one_branch_leads_around_is_one_witness(reviewbot, probed, parity):
    code, document = probed(parity, "parity.py::led_around")
    assert (code, document["never_compared"]) == (1, [])
    ((why, says, like),) = told(document)
    assert (why, says) == ("excuse", "token 0 changed")
    assert {"weights[0] changed", "score changed"} <= like
    ran = reviewbot("probe", "parity.py::led_around", cwd=parity)
    assert f"1 witness and {len(like)} like it in " in ran.out.splitlines()[0]
    assert f"and {len(like)} like it: " in ran.out and "2. " not in ran.out


@pytest.mark.parametrize("target", ["parity.py::logged", "test_parity.py::test_logged"])
def test_a_failure_that_the_check_itself_catches_ends_with_1(probed, parity, target):
    code, document = probed(parity, target)
    assert (code, document["never_fails"]) == (1, True)
    why, says, like = told(document)[0]
    assert (why, says) == ("swallowed", "token 0 changed")
    assert {"weights[0] changed", "score changed", "id changed"} <= like
    assert document["witnesses"][0]["escapes"][0]["text"] == "Exception"


@pytest.mark.parametrize(
    "name", ["test_is_to_raise", "test_skips_what_is_no_number", "test_skips_what_the_product_refuses"]
)
def test_an_error_that_is_to_come_or_is_left_out_is_none_that_is_swallowed(probed, parity, name):
    code, document = probed(parity, f"test_parity.py::{name}")
    assert (code, document["witnesses"], document["never_fails"]) == (0, [], False)


def test_the_time_of_all_of_it_is_told(probed, parity):
    import time

    start = time.monotonic()
    _, document = probed(parity, "parity.py::right", "--kill-matrix")
    took = time.monotonic() - start
    assert 0.5 * took < document["seconds"] <= took
