"""A finding's message is the title of its comment: a sentence in plain words."""

from __future__ import annotations

import json

import pytest

ZIP = """
def test_rows(run, load):
    rows, other = run(1), load("rows.jsonl")
    for a, b in zip(rows, other):
        assert a["tokens"] == b["tokens"]
"""
FIELDS = """
def test_same_rows(run):
    reference, restored = run(1), run(2)
    assert [(FIELDS) for r in reference] == [(FIELDS) for r in restored]
"""
LACKS = "the rest of the longer of `rows` and `other` is never looked at: `zip` stops at the shorter one"


@pytest.mark.parametrize(
    ("text", "rule", "title"),
    [
        (ZIP, "zip-truncates", LACKS),
        (
            FIELDS.replace("FIELDS", 'r["name"], r["price"]'),
            "projection-before-compare",
            "of `reference` and `restored` only `name` and `price` are compared, and nothing compares the",
        ),
        (
            FIELDS.replace("FIELDS", 'r["name"]'),
            "projection-before-compare",
            "of `reference` and `restored` only `name` is compared, and nothing compares the rest",
        ),
    ],
)
def test_what_is_wrong_comes_first_and_is_counted_right(reviewbot, text, rule, title):
    words = ("lint", "--select", rule, "--output-format", "json", "--fail-on", "never")
    ran = reviewbot(*words, "--stdin-filename", "tests/test_rows.py", "-", stdin=text)
    (finding,) = json.loads(ran.out)
    assert finding["message"].startswith(title)
