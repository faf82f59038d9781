import pytest
from resume_parity import check

ROW = {
    "episode": 0,
    "tokens": [13, 3, 3, 1, 11, 3, 3, 2],
    "sampled": [0, 1, 1, 1, 0, 1, 1, 1],
    "score": 1.0,
}


def test_equal_rows_pass():
    check([ROW], [dict(ROW)], {0: 2})


def test_another_score_fails():
    with pytest.raises(AssertionError, match="score"):
        check([ROW], [{**ROW, "score": 0.0}], {0: 2})


def test_another_fresh_move_fails():
    with pytest.raises(AssertionError, match="tokens"):
        check([ROW], [{**ROW, "tokens": [13, 3, 3, 1, 11, 3, 3, 3]}], {0: 2})
