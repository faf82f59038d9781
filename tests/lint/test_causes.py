"""One finding for one cause, through the command line."""

from __future__ import annotations

import json
import textwrap

DROPPED = """
import torch


def _close(a, b):
    return torch.allclose(a, b)


def test_rows(baseline, restored):
    _close(baseline, restored)
"""
DEAD = """
def test_rows(baseline, restored):
    rows = [row for row in restored if row.id in baseline]
    for row in rows:
        continue
        assert row.token == baseline[row.id].token
"""
SKIPPED = """
import pytest


def test_courses(sail, plan, sea):
    off = abs(sail(sea) - plan(sea))
    if off > 1.0:
        pytest.skip("rough sea")
"""


def found(reviewbot, *options: str) -> list[dict]:
    return json.loads(reviewbot("lint", "--no-cache", "--output-format", "json", *options).out)


def test_what_follows_from_a_dropped_verdict_is_told_with_it(reviewbot, tmp_path):
    (tmp_path / "test_rows.py").write_text(DROPPED)
    (one,) = found(reviewbot)
    assert (one["rule"], one["line"]) == ("check-result-dropped", 10)
    assert [step["line"] for step in one["steps"]] == [5, 9]
    # Asked alone, each rule still says it.
    for rule, line in (("single-caller-helper", 5), ("test-without-check", 9)):
        assert [(one["rule"], one["line"]) for one in found(reviewbot, "--select", rule)] == [(rule, line)]


def test_a_dead_check_is_no_empty_loop_too(reviewbot, tmp_path):
    (tmp_path / "test_rows.py").write_text(DEAD)
    assert [(one["rule"], one["line"]) for one in found(reviewbot)] == [("unreachable-check", 6)]
    assert [one["line"] for one in found(reviewbot, "--select", "loop-may-be-empty")] == [6]


def test_a_difference_that_skips_is_no_test_without_a_check_too(reviewbot, tmp_path):
    (tmp_path / "test_courses.py").write_text(SKIPPED)
    (one,) = found(reviewbot)
    assert (one["rule"], one["line"]) == ("skip-after-compare", 7)
    assert [step["line"] for step in one["steps"]] == [8, 5]
    assert [one["line"] for one in found(reviewbot, "--select", "test-without-check")] == [5]


def test_the_same_tolerance_in_many_places_is_one_finding(reviewbot, tmp_path):
    lines = ["import numpy as np", ""]
    for number in range(55):
        ignored = "  # reviewbot: ignore[huge-tolerance] a rough estimate" if number == 3 else ""
        lines += [f"def test_{number}(run):"]
        lines += [f"    np.testing.assert_allclose(run({number + 1}), run(0), rtol=10){ignored}", ""]
    lines += ["def test_other(run):", "    np.testing.assert_allclose(run(1), run(0), rtol=30)", ""]
    (tmp_path / "test_rows.py").write_text("\n".join(lines))
    first, more, other = found(reviewbot)
    assert [one["line"] for one in (first, more, other)] == [4, 157, 169]
    assert "49 more places" in first["message"]
    assert len(first["steps"]) == 50
    assert 13 not in {step["line"] for step in first["steps"]}
    assert "the same stands" in first["message"]
    assert "the same stands" not in other["message"]


def test_keys_that_one_side_lacks_are_told_by_one_rule(reviewbot, tmp_path):
    code = """
    def test_same(eager, compiled):
        assert all(eager[k].equal(compiled[k]) for k in eager if k in compiled)
    """
    (tmp_path / "test_rows.py").write_text(textwrap.dedent(code))
    assert [one["rule"] for one in found(reviewbot)] == ["pair-keys-intersect"]
    assert [one["rule"] for one in found(reviewbot, "--select", "loop-may-be-empty")] == ["loop-may-be-empty"]


def test_of_two_rules_that_say_the_same_of_one_place_the_surer_one_does(reviewbot, tmp_path):
    code = """
    def check_rows(baseline, restored):
        for left, right in zip(baseline, restored, strict=True):
            refused = set(right.refused)
            bad = [
                at
                for at, (a, b) in enumerate(zip(left.tokens, right.tokens, strict=True))
                if a != b and at not in refused
            ]
            assert not bad
    """
    (tmp_path / "test_rows.py").write_text(textwrap.dedent(code))
    assert [one["rule"] for one in found(reviewbot, "--select", "or-escape,excuse-branch")] == [
        "excuse-branch"
    ]
    assert [one["rule"] for one in found(reviewbot, "--select", "or-escape")] == ["or-escape"]
