"""What is said to still catch a fault has to see it."""

from __future__ import annotations

import json

import pytest

LOOP = """
def compare(baseline, resumed):
    left, right = by_key(baseline), by_key(resumed)
    for key in left.keys() & right.keys():
        assert left[key]["token_ids"] == right[key]["token_ids"]
        assert left[key]["reward"] == right[key]["reward"]
"""


def found(reviewbot, text, rule):
    words = ("lint", "--select", rule, "--output-format", "json", "--fail-on", "never")
    ran = reviewbot(*words, "--stdin-filename", "tests/test_rows.py", "-", stdin=text)
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def caught(reviewbot, text, rule="pair-keys-intersect"):
    (finding,) = found(reviewbot, text, rule)
    return finding["still_catches"]


def test_a_check_in_the_loop_over_common_keys_sees_no_missing_key(reviewbot):
    assert caught(reviewbot, LOOP) == ["nothing else in `compare`"]


def test_a_check_behind_the_loop_does(reviewbot):
    (clause,) = caught(
        reviewbot, LOOP + "    assert len(left) == len(right) + len(baseline) - len(resumed)\n"
    )
    assert clause == "nothing in `compare` for sure; line 7 only checks `len(left)`"


SWALLOWED = """
def test_rows(run):
    rows = run(1)
    try:
        assert rows == [2, 3]
        assert len(rows) == 2
    except Exception as error:
        print(error)
"""


def test_the_next_check_of_the_same_try_is_swallowed_too(reviewbot):
    assert caught(reviewbot, SWALLOWED, "swallowed-failure") == ["nothing else in `test_rows`"]


def test_a_check_behind_the_try_is_not_swallowed(reviewbot):
    text = SWALLOWED + "    assert rows[0] == 2\n"
    assert caught(reviewbot, text, "swallowed-failure") == [
        "nothing in `test_rows` for sure; line 9 only checks `rows[0]`"
    ]


@pytest.mark.parametrize("leaving", ["return", "pytest.skip('no rows')"])
def test_a_check_behind_a_handler_that_leaves_is_not_reached(reviewbot, leaving):
    text = SWALLOWED.replace("print(error)", leaving) + "    assert rows[0] == 2\n"
    (clause,) = caught(reviewbot, text, "swallowed-failure")
    assert clause == "nothing else in `test_rows`"


def test_a_check_in_finally_is_reached_although_the_handler_leaves(reviewbot):
    text = SWALLOWED.replace("print(error)", "return") + "    finally:\n        assert rows[0] == 2\n"
    assert caught(reviewbot, text, "swallowed-failure") == [
        "nothing in `test_rows` for sure; line 10 only checks `rows[0]`"
    ]


def test_what_a_suppress_swallows_catches_nothing(reviewbot):
    text = """
import contextlib

def test_rows(run):
    rows = run(1)
    with contextlib.suppress(AssertionError):
        assert rows == [2, 3]
        assert len(rows) == 2
"""
    (clause,) = caught(reviewbot, text, "swallowed-failure")
    assert clause == "nothing else in `test_rows`"


IMPLIED = """
def test_rows(run, old, new):
    try:
        assert old == new
        assert len(old) == len(new)
    except ZeroDivisionError:
        print("empty")
"""


def test_an_implied_check_rests_on_no_swallowed_one(reviewbot):
    assert len(found(reviewbot, IMPLIED, "implied-check")) == 1
    assert found(reviewbot, IMPLIED.replace("ZeroDivisionError", "AssertionError"), "implied-check") == []


SKIPPED = """
import pytest

def test_rows(run):
    left, right = run(1, engine="eager"), run(1, engine="compiled")
    if left != right:
        pytest.skip("they differ")
    assert left == right
"""


def test_a_check_behind_a_skip_is_not_reached(reviewbot):
    assert caught(reviewbot, SKIPPED, "skip-after-compare") == ["nothing else in `test_rows`"]


def test_a_check_before_a_skip_is(reviewbot):
    text = SKIPPED.replace("    if left", "    assert left == right\n    if left")
    (clause,) = caught(reviewbot, text, "skip-after-compare")
    assert clause.startswith("line 6 checks ")


def test_no_check_behind_an_early_return_is_reached(reviewbot):
    text = """
def test_rows(run):
    rows = run(1)
    if not rows:
        return
    assert rows[0] == 2
"""
    assert caught(reviewbot, text, "early-return-test") == ["nothing: no check of `test_rows` runs then"]


NAN = """
import math

def compare(left, right):
    assert len(left) == len(right)
    if max(abs(float(a) - float(b)) for a, b in zip(left, right)) > 1e-3:
        raise AssertionError("they differ")
"""


@pytest.mark.parametrize(
    "check",
    [
        "assert left == right",
        "assert all(abs(a - b) < 2.5 for a, b in zip(left, right))",
        "assert max(left) < 2.5 and sum(right) < 2.5 and left == right",
    ],
)
def test_a_check_that_nan_fails_does(reviewbot, check):
    (clause,) = caught(reviewbot, NAN.replace("assert len(left) == len(right)", check), "nan-passes")
    assert clause.startswith("line 5 checks `left`: ")


def test_a_check_of_one_item_sees_a_nan_there_alone(reviewbot):
    text = NAN.replace("assert len(left) == len(right)", "assert left[0] < 2.5")
    assert caught(reviewbot, text, "nan-passes") == [
        "nothing in `compare` for sure; line 5 only checks `left[0]`"
    ]


NAMED = """
def test_loss(run, baseline):
    one, other = run(1), baseline
    CHECK
    difference = abs(one["loss"] - other["loss"])
    if difference > 1e-3:
        raise AssertionError(f"loss differs by {difference}")
"""


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("assert one == other", "line 4 checks `one`: `assert one == other`"),
        (
            'assert one["loss"] < 9.5 and other["loss"] < 9.5',
            'line 4 checks `one`: `assert one["loss"] < 9.5 and other["loss"] < 9.5`',
        ),
        (
            'assert one["step"] == other["step"]',
            """nothing in `test_loss` for sure; line 4 only checks `one['step']`""",
        ),
        (
            'if one["flag"]:\n        assert one == other',
            "nothing in `test_loss` for sure; line 5 also looks at `one`: `assert one == other`",
        ),
        ("assert one.keys() == other.keys()", "nothing else in `test_loss`"),
    ],
)
def test_of_a_difference_that_has_a_name_the_checks_of_its_two_sides_count(reviewbot, check, says):
    (clause,) = caught(reviewbot, NAMED.replace("CHECK", check), "nan-passes")
    assert clause.startswith(says)


@pytest.mark.parametrize(
    "check",
    [
        "assert len(left) == len(right)",
        "assert left != right",
        "assert not left[0] > 2.5",
        "assert not (left[0] > 2.5 or right[0] > 2.5)",
        "assert type(left) is type(right)",
        "assert isinstance(left, list) and left is not None",
        "assert left.shape == right.shape",
        "assert set(left) <= {str(one) for one in right} or left[0] != right[0]",
        "np.testing.assert_allclose(left, right, equal_nan=True)",
        "assert np.allclose(left, right, equal_nan=True)",
    ],
)
def test_a_check_that_nan_passes_does_not(reviewbot, check):
    text = "import numpy as np\n" + NAN.replace("assert len(left) == len(right)", check)
    said = [one["still_catches"] for one in found(reviewbot, text, "nan-passes")]
    assert said and all(clause == "nothing else in `compare`" for (clause,) in said)


def test_two_lookups_on_one_line_are_one_step(reviewbot):
    text = """
def test_rewards(run):
    left, right = run(1), run(2)
    assert left.get("reward") == right.get("reward")
"""
    (finding,) = found(reviewbot, text, "missing-equals-missing")
    assert [(one["line"], one["says"]) for one in finding["steps"]] == [
        (4, "both lookups here answer although nothing is there")
    ]


def test_a_check_that_mentions_the_same_name_is_not_said_to_catch_it(reviewbot):
    text = """
def compare(whole, back):
    assert back.rng.getstate()
    assert back.weights
    for row, other in zip(whole.log, back.log):
        assert row == other
"""
    (clause,) = caught(reviewbot, text, "zip-truncates")
    assert clause == (
        "nothing in `compare` for sure; line 3 also looks at `back`: `assert back.rng.getstate()`; "
        "line 4 also looks at `back`: `assert back.weights`"
    )


def test_a_check_that_cannot_fail_catches_nothing(reviewbot):
    text = """
import torch

def test_weights(run):
    back = run(1)
    assert torch.equal(back.w, back.w)
    torch.testing.assert_close(back.w, back.w)
"""
    clauses = [one["still_catches"][0] for one in found(reviewbot, text, "self-compare")]
    assert clauses == ["nothing else in `test_weights`"] * 2


def test_the_check_that_is_loosened_is_not_what_is_left(reviewbot, repository):
    old = "def test_loss(run):\n    assert abs(run(1) - run(2)) < 1e-6\n"
    repository.commit({"tests/test_loss.py": old})
    repository.write({"tests/test_loss.py": old.replace("1e-6", "1e-1")})
    words = (
        "lint",
        "--select",
        "loosened-check",
        "--diff",
        "main",
        "--output-format",
        "json",
        "--fail-on",
        "never",
    )
    ran = reviewbot(*words, cwd=repository.folder)
    assert [one["still_catches"] for one in json.loads(ran.out)] == [
        ["nothing: no other check is left in `test_loss`"]
    ]


def test_a_mark_silences_a_test_only_where_its_condition_holds(reviewbot):
    text = """
import pytest, sys

@pytest.mark.xfail(sys.platform == "darwin", reason="paths differ")
def test_rows(run):
    assert run(1) == [2]
"""
    (finding,) = found(reviewbot, text, "xfail-not-strict")
    assert finding["message"].startswith("where the condition of its mark holds, this test is green")
    assert finding["still_catches"] == ["the same checks, wherever the condition of the mark does not hold"]


COMPARING = """
def compare_rows(left, right):
    assert left["loss"] == right["loss"]
    assert left["reward"] == right["reward"]

def rows_agree(left, right):
    if left != right:
        raise AssertionError("rows differ")

def check_ids(left, right):
    assert left["id"] == right["id"]

def check_some(left, right, strict=False):
    if strict:
        assert left == right

def note_rows(left, right):
    print(left, right)
"""
HANDED = """
from tests.comparing import check_ids, check_some, compare_rows, note_rows, rows_agree

def test_rows(run):
    one, other = run(1), run(2)
    if abs(one["loss"] - other["loss"]) > 1e-3:
        raise AssertionError("they differ")
    CALLED(one, other)
"""


@pytest.mark.parametrize(
    ("called", "says"),
    [
        ("compare_rows", "line 8 checks `one`: `compare_rows(one, other)`"),
        ("rows_agree", "line 8 checks `one`: `rows_agree(one, other)`"),
        ("check_ids", "nothing in `test_rows` for sure; line 8 only checks `one['id']`"),
        ("check_some", "nothing in `test_rows` for sure; line 8 also looks at `one`: "),
        ("note_rows", "nothing else in `test_rows`"),
    ],
)
def test_an_imported_function_is_asked_what_it_demands(reviewbot, tmp_path, called, says):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "comparing.py").write_text(COMPARING)
    (tmp_path / "tests" / "test_rows.py").write_text(HANDED.replace("CALLED", called))
    words = ("lint", "--select", "nan-passes", "--output-format", "json", "--fail-on", "never")
    (finding,) = json.loads(reviewbot(*words, "tests", cwd=tmp_path).out)
    (clause,) = finding["still_catches"]
    assert clause.startswith(says)
    if called == "check_ids":  # what a finding says follows the other file
        comparing = tmp_path / "tests" / "comparing.py"
        comparing.write_text(COMPARING.replace('assert left["id"] == right["id"]', "assert left == right"))
        (finding,) = json.loads(reviewbot(*words, "tests", cwd=tmp_path).out)
        assert finding["still_catches"] == ["line 8 checks `one`: `check_ids(one, other)`"]


WORKFLOW = """
jobs:
  tests:
    steps:
      - run: FIRST
      - run: python -m pytest tests/test_parity.py 2>&1 | tee parity.log
"""


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("python -m pytest", "line 5 runs these tests as well, and its verdict counts"),
        ("pytest -q tests", "line 5 runs these tests as well, and its verdict counts"),
        ("pytest docs", "nothing here: "),
        ("pytest -m slow", "nothing here: "),
        ("pytest || true", "nothing here: "),
        ("pytest -q & sleep 9", "nothing here: "),
        ("pytest -q\n        if: github.event_name == 'schedule'", "nothing here: "),
        ('|\n          if [ -n "$ALL" ]; then\n          pytest -q\n          fi', "nothing here: "),
        ("ruff check tests", "nothing here: "),
    ],
)
def test_a_command_of_ci_that_runs_the_same_tests_with_a_verdict_is_named(reviewbot, tmp_path, first, says):
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["tests"]\n')
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    text = WORKFLOW.replace("FIRST", first)
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(text)
    words = ("lint", "--select", "verdict-dropped-in-ci", "--output-format", "json", "--fail-on", "never")
    finding = json.loads(reviewbot(*words, ".", cwd=tmp_path).out)[-1]
    assert finding["line"] == len(text.splitlines())
    (clause,) = finding["still_catches"]
    assert clause.startswith(says)
    assert (finding["certainty"] == "question") is says.startswith("line 5")


@pytest.mark.parametrize(
    ("later", "asked"),
    [
        ("python tools/count.py parity.log", True),
        ("./tools/count.sh parity.log", True),
        ("grep -q passed parity.log\n        if: github.event_name == 'push'", True),
        ("grep -q passed parity.log\n        if: failure()", False),
        ("cat parity.log", False),
        ("python tools/count.py other.log", False),
    ],
)
def test_a_later_command_of_ci_that_may_fail_by_what_one_leaves_is_named(reviewbot, tmp_path, later, asked):
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    text = WORKFLOW.replace("FIRST", "echo go") + f"      - run: {later}\n"
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(text)
    words = ("lint", "--select", "verdict-dropped-in-ci", "--output-format", "json", "--fail-on", "never")
    (finding,) = json.loads(reviewbot(*words, ".", cwd=tmp_path).out)
    says = "nothing for sure; line 7 reads what it leaves, and may fail by it" if asked else "nothing here: "
    (clause,) = finding["still_catches"]
    assert clause.startswith(says)
    assert finding["certainty"] == ("question" if asked else "likely")


def test_that_nothing_else_catches_it_is_said_where_it_is_asked_for(reviewbot):
    """A line on nearly each finding that says nothing of it is left out; scripts still read it."""
    words = ("lint", "--select", "pair-keys-intersect", "--stdin-filename", "tests/test_rows.py", "-")
    shown = {form: reviewbot(*words, "--output-format", form, stdin=LOOP).out
             for form in ("text", "github", "markdown", "sarif")}  # fmt: skip
    assert [form for form, text in shown.items() if "till catches" in text] == []
    assert caught(reviewbot, LOOP) == ["nothing else in `compare`"]
    more = LOOP + "    assert len(left) == len(right) + len(baseline) - len(resumed)\n"
    assert "still catches it: nothing in `compare` for sure; line 7" in reviewbot(*words, stdin=more).out
