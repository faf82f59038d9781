"""A witness in a long row is made small, also where other rows are shorter."""

from __future__ import annotations

import pytest

CHECK = """\
def compare_tokens(a, b):
    for left, right in zip(a["tokens"], b["tokens"]):
        if left != right:
            raise AssertionError(f"token {left} != {right}")
"""
TEST = """\
import copy
from parity import compare_tokens


def test_tokens():
    for row in (list(range(1, LENGTH + 1)), [1, 2, 3]):
        r = {"tokens": row, "loss_mask": [0, 0] + [1] * (len(row) - 2)}
        compare_tokens(r, copy.deepcopy(r))
"""


@pytest.mark.parametrize("length", [12, 23])
def test_the_last_token_of_a_long_row_that_may_be_lost_is_shown_in_a_short_one(probed, tmp_path, length):
    (tmp_path / "parity.py").write_text(CHECK)
    (tmp_path / "test_p.py").write_text(TEST.replace("LENGTH", str(length)))
    code, document = probed(tmp_path, "parity.py::compare_tokens")
    assert code == 1
    (witness,) = document["witnesses"]
    (change,) = witness["changes"]
    assert (change["where"], change["before"], change["after"]) == ("b.tokens[9]", length, None)
    assert len(witness["input"]["a"]["tokens"]) == 10
