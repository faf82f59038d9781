"""Results of jobs that ran code of a pull request: what is taken, and everything that is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.review.outcome import LARGEST, Outcome, Rejected, read

DUMPS = Path(__file__).parent.parent / "cases" / "dumps"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """What `reviewbot parity compare` writes of two equal runs and of two that differ."""
    import subprocess
    import sys

    def run(case: str) -> dict[str, object]:
        folder = DUMPS / case
        words = ["parity", "compare", folder / "reference", folder / "restored", "--output-format", "json"]
        words += ["--restores", folder / "restores.jsonl"]
        done = subprocess.run(
            [sys.executable, "-m", "reviewbot", *map(str, words)],
            cwd=Path(__file__).parent.parent.parent,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)

    return {"pass": run("same"), "fail": run("token-dropped")}


def taken(folder: Path, content: object, kind: str = "parity") -> Outcome:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / f"{kind}.json").write_bytes(raw)
    return read(folder, kind)


def test_what_a_parity_run_writes_is_taken(result, tmp_path):
    assert taken(tmp_path, result["pass"]).verdict == "pass"
    failed = taken(tmp_path, result["fail"])
    assert failed.verdict == "fail"
    assert failed.parity.failures[0].field == "token_ids"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rows": float("nan")}, "not in the form"),
        ({"rows": -1}, "not in the form"),
        ({"rows": 10**30}, "not in the form"),
        ({"rows": "12"}, "not in the form"),
        ({"rows": None}, "not in the form"),
        ({"verdict": "Pass"}, "not in the form"),
        ({"verdict": "success"}, "not in the form"),
        ({"restored_calls": True}, "not in the form"),
        ({"failures": [{"row": None, "field": "@all"}]}, "not in the form"),
        ({"failures": [{"row": ["<b>", 1, 1], "field": "reward"}]}, "not in the form"),
        ({"failures": [{"row": [1, "a\nb", 1], "field": "reward"}]}, "not in the form"),
        ({"failures": [{"row": None, "field": "reward"}] * 10_001}, "not in the form"),
        ({"sha": "f" * 40}, "fields that a parity run does not write"),
        ({"pull": 8}, "fields that a parity run does not write"),
        ({"failures_total": 1}, "contradicts itself"),
        ({"rows": 0}, "contradicts itself"),
        ({"failures": [{"row": None, "field": "reward"}]}, "contradicts itself"),
        ({"set_aside": [{}]}, "contradicts itself"),
    ],
)
def test_a_forged_one_is_not(result, tmp_path, change, says):
    with pytest.raises(Rejected, match=says):
        taken(tmp_path, {**result["pass"], **change})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b'"pass"',
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"environment": ' + b"[" * 100_000,
        b'{"verdict": "pass"}',
    ],
)
def test_neither_is_what_is_no_result_at_all(tmp_path, content):
    with pytest.raises(Rejected, match=r"not in the form|fields that"):
        taken(tmp_path, content)


def test_size_links_and_absence(result, tmp_path):
    with pytest.raises(Rejected, match="left no result"):
        read(tmp_path, "parity")
    with pytest.raises(Rejected, match="larger than 4 MiB"):
        taken(tmp_path, json.dumps(result["pass"]).encode() + b" " * LARGEST)
    (tmp_path / "parity.json").rename(tmp_path / "elsewhere.json")
    (tmp_path / "parity.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(Rejected, match="left no result"):
        read(tmp_path, "parity")
    (tmp_path / "parity.json").unlink()
    os.mkfifo(tmp_path / "parity.json")
    with pytest.raises(Rejected, match="left no result"):
        read(tmp_path, "parity")


def test_a_probe_fails_by_a_witness_passes_without_and_is_inconclusive_where_nothing_ran(tmp_path):
    change = {"where": "rows[0].token_ids[4]", "before": 3, "after": [77]}
    shown = {"edits_tried": 12, "witnesses": [{"changes": [change]}], "dead": [], "schema": 1}
    assert taken(tmp_path, shown, "probe").verdict == "fail"
    assert taken(tmp_path, {**shown, "witnesses": []}, "probe").verdict == "pass"
    assert taken(tmp_path, {"edits_tried": 0, "witnesses": []}, "probe").verdict == "inconclusive"
    for wrong in ({"witnesses": [{"changes": []}]}, {"edits_tried": -1}, {"not_run": ["x" * 2001]}):
        with pytest.raises(Rejected):
            taken(tmp_path, {**shown, **wrong}, "probe")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    key=st.sampled_from(["verdict", "rows", "failures", "failures_total", "set_aside", "restored_calls"]),
    value=_JSON,
)
def test_no_value_of_a_field_makes_a_pass_of_a_failure(result, tmp_path_factory, key, value):
    try:
        found = taken(tmp_path_factory.mktemp("forged"), {**result["fail"], key: value})
    except Rejected:
        return
    assert found.verdict != "pass"
