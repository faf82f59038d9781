"""Comparisons that tell of a difference and of which nothing comes."""

from __future__ import annotations

import textwrap

import pytest

CHECKS = """
    from contextlib import suppress

    def caught_again(baseline, other):
        for left, right in zip(baseline, other, strict=True):
            assert left["id"] == right["id"]
            try:
                assert left["counts"] == right["counts"]
            except AssertionError:
                print("counts differ")

    def suppressed(baseline, other):
        for left, right in zip(baseline, other, strict=True):
            assert left["id"] == right["id"]
            with suppress(AssertionError):
                assert left["counts"] == right["counts"]

    def printed(baseline, other):
        for left, right in zip(baseline, other, strict=True):
            assert left["id"] == right["id"]
            if left["counts"] != right["counts"]:
                print("counts differ")

    def all_of_it(baseline, other):
        try:
            assert baseline == other
        except AssertionError as error:
            print(error)

    def read_alone(baseline, other):
        for left, right in zip(baseline, other, strict=True):
            assert left["id"] == right["id"]
            if len(right["counts"]) > 2:
                print("a long row")

    def caught_and_judged(baseline, other):
        for left, right in zip(baseline, other, strict=True):
            assert left["id"] == right["id"]
            try:
                assert left["counts"] == right["counts"]
            except AssertionError:
                raise ValueError("counts differ")
"""
TESTS = """
    import pytest
    import parity

    def rows():
        return [{"id": "a", "counts": [1, 2, 3]}, {"id": "b", "counts": [4, 5]}]

    @pytest.mark.parametrize("name", [name for name in vars(parity) if "_" in name.strip("_")])
    def test_compared(name):
        getattr(parity, name)(rows(), rows())

    def test_others():
        parity.suppressed(rows(), rows())
        parity.printed(rows(), rows())

    def test_of_its_own():
        for left, right in zip(rows(), rows(), strict=True):
            assert left["id"] == right["id"]
            try:
                assert left["counts"] == right["counts"]
            except AssertionError:
                print("counts differ")
"""


@pytest.fixture
def checks(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "parity.py").write_text(textwrap.dedent(CHECKS))
    (tmp_path / "test_parity.py").write_text(textwrap.dedent(TESTS))
    return tmp_path


def through(document):
    """The text of the line that let each witness through, and each field that it lets pass."""
    return {
        (says.partition("[")[0], one["escapes"][0]["text"])
        for one in document["witnesses"]
        if one["why"] == "swallowed"
        for says in (one["changes"][0]["says"], *one["like"])
    }


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("parity.py::caught_again", "AssertionError"),
        ("parity.py::suppressed", "left['counts'] == right['counts']"),
        ("parity.py::printed", "left['counts'] != right['counts']"),
        ("test_parity.py::test_of_its_own", "AssertionError"),
    ],
)
def test_a_comparison_of_one_field_of_which_nothing_comes_is_a_witness(probed, checks, target, place):
    code, document = probed(checks, target)
    assert (code, through(document)) == (1, {("counts", place)})
    assert "counts" not in document["never_compared"]
    assert not any("counts" in one["edit"].partition(":")[0] for one in document["set_aside"])
    assert any(one["edit"].startswith("counts[0] changed") for one in document["let_through"])


def test_the_line_that_lets_it_through_is_named(reviewbot, checks):
    ran = reviewbot("probe", "parity.py::caught_again", cwd=checks)
    assert ran.code == 1
    assert "1. A comparison tells of this difference, and nothing comes of it: counts[0] changed" in ran.out
    assert "let through by parity.py:9: AssertionError" in ran.out
    assert reviewbot("probe", "parity.py::caught_again", "--kill-matrix", cwd=checks).code == 1


def test_a_check_whose_every_failure_is_caught_again_says_where(probed, checks):
    code, document = probed(checks, "parity.py::all_of_it")
    assert code == 1
    assert {("id changed", "AssertionError"), ("counts", "AssertionError")} <= through(document)


def test_a_field_that_is_only_read_is_never_compared(probed, checks):
    code, document = probed(checks, "parity.py::read_alone")
    assert (code, document["never_compared"], through(document)) == (1, ["counts"], set())
    assert [one["why"] for one in document["witnesses"]] == ["unread"]
    assert any(
        one["why"].endswith("it is not compared, or nothing comes of the comparison")
        for one in document["set_aside"]
    )


def test_a_failure_that_is_caught_and_raised_again_is_none_that_is_swallowed(probed, checks):
    code, document = probed(checks, "parity.py::caught_and_judged")
    assert (code, document["witnesses"]) == (0, [])
    assert any(one["edit"].startswith("counts[0] changed") for one in document["kills"])
