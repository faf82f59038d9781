"""A check that a change loosens is told with both versions, each pinned to its own commit."""

from __future__ import annotations

import pytest

from reviewbot.render import review_json

BEFORE = """\
import math


def test_loss(run, reference):
    loss = run(1)
    assert math.isclose(loss, reference, rel_tol=1e-6)
    assert loss > 0


def test_rows(run):
    assert run(2).rows == [1, 2]
"""
# What the change does: to the test file and beside it, and what is said of it.
CHANGES = {
    "a tolerance that grows": (
        {"tests/test_run.py": BEFORE.replace("1e-6", "1e-2")},
        ("likely", 6, "`rel_tol` goes from 1e-06 to 0.01"),
    ),
    "an equality that becomes a membership": (
        {"tests/test_run.py": BEFORE.replace("== [1, 2]", "in ([1, 2], [1, 3])")},
        ("likely", 11, "`run(2).rows == [1, 2]` is now `run(2).rows in ([1, 2], [1, 3])`"),
    ),
    "an assertion that goes": (
        {"tests/test_run.py": BEFORE.replace("    assert loss > 0\n", "")},
        ("likely", 6, "`loss > 0` is deleted"),
    ),
    "a test that is skipped": (
        {"tests/test_run.py": BEFORE.replace("def test_rows", "@pytest.mark.skip\ndef test_rows")},
        ("likely", 10, "`pytest.mark.skip` is added"),
    ),
    "an assertion that moves to another file": (
        {
            "tests/test_run.py": BEFORE.replace("    assert loss > 0\n", ""),
            "tests/test_more.py": "def test_more(run):\n    loss = run(1)\n    assert loss > 0\n",
        },
        None,
    ),
    "a test that is renamed and rewritten": (
        {
            "tests/test_run.py": BEFORE.replace("test_loss", "test_the_loss").replace(
                "assert loss > 0", "assert 0 < loss < 9"
            )
        },
        None,
    ),
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_what_became_looser_is_said_with_both_versions(reviewbot, repository, name):
    change, expected = CHANGES[name]
    repository.git("remote", "add", "origin", "git@github.com:acme/trainer.git")
    base = repository.commit({"tests/test_run.py": BEFORE})
    repository.git("checkout", "--quiet", "-b", "topic")
    head = repository.commit(change)
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    threads = review_json.decode(ran.out, "standard output").threads
    found = [one for one in threads if one.finding.rule == "loosened-check"]
    if expected is None:
        assert found == []
        return
    (thread,) = found
    certainty, line, says = expected
    assert (thread.finding.certainty, thread.finding.span.line) == (certainty, line)
    assert thread.finding.message == f"the change loosens a check: {says}"
    pinned = {
        step.base: f"/blob/{base if step.base else head}/tests/test_run.py#L" for step in thread.finding.steps
    }
    assert pinned
    assert all(link in thread.body for link in pinned.values())
    assert thread.place == "line"
