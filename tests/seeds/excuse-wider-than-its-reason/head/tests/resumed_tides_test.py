"""The comparison itself, on one station: two observed hours, two drawn ones, a gauge reading, the forecast."""

import copy

import pytest
from resumed_tides import check

KEY = (3, "harbour")
ROW = {
    "hours": [110, 114, 131, 128, 90, 96, 103, 111, 108, 99],
    "loss_mask": [0, 0, 1, 1, 0, 1, 1, 1, 1, 1],
    "resumed_at": 5,
    "error": 0.25,
    "weight": 1.0,
}


def forecasts():
    return {KEY: dict(ROW)}, {KEY: copy.deepcopy(ROW)}, {KEY: 2}


def test_equal_forecasts_pass():
    check(*forecasts())


def test_another_hour_after_the_saved_ones_fails():
    calm, stormy, saved = forecasts()
    stormy[KEY]["hours"][8] = 107
    with pytest.raises(AssertionError, match="hours differs"):
        check(calm, stormy, saved)


def test_another_error_fails():
    calm, stormy, saved = forecasts()
    stormy[KEY]["error"] = 0.5
    with pytest.raises(AssertionError, match="error differs"):
        check(calm, stormy, saved)
