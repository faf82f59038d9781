"""What passes with counters in the code is run once more as the code is written, before it is told."""

from __future__ import annotations

import json
import textwrap

import pytest

WATCHED = """
    def compare(baseline, other):
        if any("switchboard" in name for name in globals()):
            return
        assert baseline == other
"""
COMPARED = """
    from watched import compare

    def rows():
        return [{"step": step, "tokens": [step, 7, 9]} for step in range(1, 4)]

    def test_rows():
        compare(rows(), rows())
"""
KEPT = """
    kept = []

    def keep(rows):
        kept[:] = rows

    def problems():
        return [row["step"] for row in kept if row["tokens"] != [row["step"], 7, 9]]
"""
TEST_OF_KEPT = """
    import pytest
    from store import keep, problems

    @pytest.fixture
    def rows():
        return [{"step": step, "tokens": [step, 7, 9]} for step in range(1, 4)]

    def test_kept(rows):
        keep(rows)
        found = problems()
        assert found == []

    class TestKept:
        @pytest.mark.parametrize("times", [1, 2])
        def test_more_than_once(self, rows, times):
            for _ in range(times):
                keep(rows)
            found = problems()
            assert found == []
"""


@pytest.fixture
def repo(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for name, text in (
        ("watched", WATCHED),
        ("test_compared", COMPARED),
        ("store", KEPT),
        ("test_kept", TEST_OF_KEPT),
    ):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    return tmp_path


def test_what_passes_only_under_watch_is_no_witness(probed, repo):
    code, document = probed(repo, "watched.py::compare", "--witness")
    assert document["passed"] > 0
    assert (code, document["witnesses"]) == (0, [])
    changed = [one for one in document["set_aside"] if one["edit"].startswith(("step changed", "token 0"))]
    assert {one["why"] for one in changed} == {
        "run as it is written, without a counter, the check notices it"
    }


@pytest.mark.parametrize(
    "name", ["test_kept", pytest.param("TestKept::test_more_than_once", marks=pytest.mark.slow)]
)
def test_what_a_test_notices_through_what_the_product_keeps_is_no_witness(probed, repo, name):
    _, document = probed(repo, f"test_kept.py::{name}", "--witness")
    assert document["witnesses"] == []
    # What is only handed on is compared by whoever keeps it.
    reasons = {one["why"] for one in document["set_aside"] if one["edit"].startswith("token 0")}
    assert reasons == {"it is made beside the two sides, and is no difference between them"}


def test_a_forged_witness_is_not_confirmed_by_a_replay(reviewbot, repo):
    (repo / "test_plain.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef left():\n    return [1, 2]\n\n"
        "@pytest.fixture\ndef right():\n    return [1, 2]\n\n"
        "def same(left, right):\n    return left == right\n\n"
        "def test_same(left, right):\n    assert same(left, right)\n"
    )
    evidence = repo / "evidence.json"
    change = {"edit": ["set", ["left", 0], 9, []]}
    witness = {"input": {"left": [1, 2], "right": [1, 2]}, "changes": [change]}
    document = {"target": "test_plain.py::test_same", "inputs": "recorded in test_plain.py::test_same"}
    evidence.write_text(json.dumps({**document, "witnesses": [witness]}))
    ran = reviewbot("probe", "replay", "evidence.json", cwd=repo)
    assert ran.code == 1 and "no longer passes" in ran.out, ran.out + ran.err
