"""Restore records that say nothing, and how a call that has a bare number for a name is told of."""

from __future__ import annotations

import json

ROW = {"step": 1, "prompt": 0, "sample": 0, "token_ids": [5, 6, 7], "loss_mask": [0, 1, 1]}
WORDS = ("parity", "compare", "one", "other", "--restores", "restores.jsonl")


def _write(folder, record):
    for side in ("one", "other"):
        (folder / side).mkdir()
        (folder / side / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    (folder / "restores.jsonl").write_text(json.dumps(record) + "\n")


def test_a_record_without_any_known_field_is_broken_input(reviewbot, tmp_path):
    _write(tmp_path, {"nonsense": 1})
    ran = reviewbot(*WORDS)
    assert (ran.code, ran.out) == (2, "")
    assert "restores.jsonl:1: not a restore record: it has none of the fields step, prompt, sample" in ran.err
    assert "prefix_tokens, tail_tokens" in ran.err


def test_a_call_that_is_a_number_is_said_to_be_a_call(reviewbot, tmp_path):
    record = {"step": 1, "prompt": 0, "sample": 0, "call": 0, "prefix_tokens": 3, "tail_tokens": 3}
    _write(tmp_path, record)
    ran = reviewbot(*WORDS)
    assert (ran.code, "call 0 says it has 6 tokens, and the row has 3" in ran.out) == (1, True), ran.out
