"""A near-tie that both runs show has to be one in a clean pass of the engine too."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from reviewbot.parity.prefill import confirmed
from reviewbot.parity.result import Result

CASE = Path(__file__).parent.parent / "cases" / "dumps" / "near-tie"
ROW = (1, 2, 0)  # in which 28 became 95


@pytest.fixture
def found(reviewbot) -> Result:
    ran = reviewbot(
        "parity", "compare", CASE / "reference", CASE / "restored", "--restores", CASE / "restores.jsonl",
        "--output-format", "json",
    )  # fmt: skip
    return msgspec.json.decode(ran.out, type=Result)


def test_a_tie_that_the_engine_shows_again_stays_set_aside(found):
    judged = confirmed(found, {ROW: {28: -0.7, 95: -0.71, 3: -4.0}})
    assert (judged.verdict, judged.failures_total) == ("set_aside", 0)
    assert [row.gap_prefill for row in judged.set_aside] == [pytest.approx(0.01)]


@pytest.mark.parametrize(
    ("scores", "says"),
    [({28: -0.7, 95: -2.7}, "2 apart, more than 0.0625"), ({28: -0.7, 3: -0.7}, "not among the best"),
     ({28: -0.7, 95: -0.7, 3: -0.5}, "0.2 apart"), ({}, "not among the best")],
    ids=["far", "not-recorded", "below-another", "nothing"],
)  # fmt: skip
def test_a_tie_that_it_does_not_show_is_a_failure(found, scores, says):
    judged = confirmed(found, {ROW: scores})
    assert (judged.verdict, judged.failures_total, judged.set_aside) == ("fail", 1, ())
    assert (judged.failures[0].row, judged.failures[0].first_difference) == (ROW, 8)
    assert says in judged.failures[0].why


@pytest.mark.slow
def test_the_engine_is_asked_about_every_row_that_is_set_aside(reviewbot, tmp_path):
    """In bfloat16 the two attention kernels of a CPU round differently."""
    ran = reviewbot(
        "parity", "run", "--workload", "engines", "--out", tmp_path / "out", "--steps", "1", "--prompts", "8",
        "--dtype", "bfloat16", "--attention-backend", "sdpa", "--other-attention-backend", "eager",
        "--temperature", "1.2", "--min-unequal-groups", "0", "--output-format", "json",
    )  # fmt: skip
    aside = json.loads(ran.out)["set_aside"]
    assert len(aside) > 0
    assert all(0 <= row["gap_prefill"] <= row["tolerance"] for row in aside)
