"""What is said to still catch a fault has to see it."""

from __future__ import annotations

import json

LOOP = """
def compare(baseline, resumed):
    left, right = by_key(baseline), by_key(resumed)
    for key in left.keys() & right.keys():
        assert left[key]["token_ids"] == right[key]["token_ids"]
        assert left[key]["reward"] == right[key]["reward"]
"""


def caught(reviewbot, text):
    words = ("lint", "--select", "pair-keys-intersect", "--output-format", "json", "--fail-on", "never")
    ran = reviewbot(*words, "-", stdin=text)
    assert ran.code == 0, ran.err
    (finding,) = json.loads(ran.out)
    return finding["still_catches"]


def test_a_check_in_the_loop_over_common_keys_sees_no_missing_key(reviewbot):
    assert caught(reviewbot, LOOP) == ["nothing: no other check in `compare` looks at `left` or `right`"]


def test_a_check_behind_the_loop_does(reviewbot):
    (clause,) = caught(
        reviewbot, LOOP + "    assert len(left) == len(right) + len(baseline) - len(resumed)\n"
    )
    assert clause.startswith("line 7 checks `left`: ")
