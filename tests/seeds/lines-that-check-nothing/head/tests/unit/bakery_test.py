import pytest

from bakery.price import price
from bakery.snapshot import Snapshot


def test_refuses_a_smaller_snapshot():
    saved = Snapshot("rye", ["a", "b", "c"])
    with pytest.raises(ValueError, match="not 2"):
        saved.check(2)


def test_refuses_a_wrong_snapshot():
    snapshot = Snapshot("rye", ["a", "b", "c"])
    with pytest.raises(ValueError, match="not 2"):
        snapshot.check(2)


def test_price(weight, rate, discount):
    whole = weight * rate
    assert price(weight, rate, discount) == whole - whole * discount
