"""Two engines, or one set up in two ways, decode the same prompts; their rows are compared."""

from __future__ import annotations

import json

import pytest
from legs import SMALL

pytestmark = pytest.mark.slow


@pytest.fixture
def engines(reviewbot, tmp_path):
    """`parity run --workload engines`; the exit code and the result, or the error."""

    def go(*words: str, out: str = "out") -> tuple[int, dict]:
        ran = reviewbot(
            "parity", "run", "--workload", "engines", "--out", tmp_path / out, *SMALL,
            "--output-format", "json", *words,
        )  # fmt: skip
        return ran.code, json.loads(ran.out) if ran.out else {"error": ran.err}

    return go


def test_two_attention_kernels_agree_in_float32_and_planted_faults_are_seen(engines):
    code, result = engines("--other-attention-backend", "eager", "--plant", "all", "--profile")
    assert (code, result["verdict"], result["rows"], result["sides"]) == (
        0,
        "pass",
        12,
        ["reference", "other"],
    )
    assert result["logprobs"]["max_difference"] > 0
    legs = [result["environment"][side]["run"]["attention_backend"] for side in result["sides"]]
    assert legs == ["sdpa", "eager"]
    given = [(fault["fault"], fault["caught"]) for fault in result["planted"] if fault["planted"]]
    rows = ("wrong-tool-result", "mask-shifted", "reward-changed", "row-lost", "row-twice")
    assert given == [(fault, True) for fault in rows]
    assert sum("this run gave it no occasion" in line for line in result["could_not_notice"]) == 8
    assert set(result["profile"]) == {"load", "generate", "write", "compare"}


def test_the_same_settings_twice_are_refused(engines):
    code, result = engines("--other-engine", "transformers")
    assert (code, "say what is different" in result["error"]) == (2, True)


def test_bfloat16_against_float32_differs_and_is_not_excused(engines):
    code, result = engines("--other-dtype", "bfloat16", "--temperature", "1.0")
    assert (code, result["verdict"]) == (1, "fail")
    assert "bfloat16 and float32" in result["failures"][0]["why"]
    assert result["set_aside"] == []


def test_log_probs_too_far_apart_name_the_settings_that_differ(engines):
    code, result = engines("--other-attention-backend", "eager", "--noise", "1e-9")
    assert (code, {failure["field"] for failure in result["failures"]}) == (1, {"logprobs"})
    assert "the engines differ in attention backend sdpa against eager: " in result["hints"][-1]
    assert f"{result['logprobs']['max_difference']:.2g} at most" in result["hints"][-1]
