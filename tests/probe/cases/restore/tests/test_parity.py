import copy

import pytest
from parity import compare
from product.worker import add_advantages, finish_restored_call

TOKENS = [10, 11, 20, 21, 30, 40, 41, 42, 43]
MASK = [0, 0, 1, 1, 0, 1, 1, 1, 1]


def run():
    rows = [
        {"group_id": "a", "token_ids": list(TOKENS), "loss_mask": list(MASK), "reward": 1.0},
        {"group_id": "a", "token_ids": [*TOKENS[:6], 44], "loss_mask": MASK[:7], "reward": 0.0},
        {"group_id": "b", "token_ids": [10, 12, 50, 51], "loss_mask": [0, 0, 1, 1], "reward": 1.0},
        {"group_id": "b", "token_ids": [10, 12, 50, 52], "loss_mask": [0, 0, 1, 1], "reward": 0.0},
    ]
    add_advantages(rows)
    return rows


def cuts():
    return [{"row": 0, "prefix_start": 5, **finish_restored_call(9, 2, 2)}]


def test_equal_runs_pass():
    compare(run(), run(), cuts())


def test_a_changed_reward_fails():
    restored = copy.deepcopy(run())
    restored[3]["reward"] = 1.0
    with pytest.raises(AssertionError, match="reward"):
        compare(run(), restored, cuts())
