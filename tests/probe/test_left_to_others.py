"""What `reviewbot probe` takes for no difference: what lies where the loss does not look, and what an
`__eq__` leaves to the other side."""

from __future__ import annotations

import pytest

PARITY = '''\
"""Compares a baseline run with a resumed one."""

import dataclasses


def kept(row):
    return [number for number, keep in zip(row["logprobs"], row["loss_mask"], strict=True) if keep]


def compare_trained(baseline, resumed):
    for one, two in zip(baseline, resumed, strict=True):
        assert one["token_ids"] == two["token_ids"]
        assert one["loss_mask"] == two["loss_mask"]
        for a, b in zip(kept(one), kept(two), strict=True):
            assert abs(a - b) <= 1e-3


def compare_loosely(baseline, resumed):
    for one, two in zip(baseline, resumed, strict=True):
        assert one["token_ids"] == two["token_ids"]
        assert one["loss_mask"] == two["loss_mask"]
        for a, b in zip(kept(one), kept(two), strict=True):
            if abs(a - b) > 1e-3:
                raise AssertionError("log-probs differ")


@dataclasses.dataclass(eq=False)
class Step:
    number: int
    tokens: list

    def __eq__(self, other):
        if not isinstance(other, Step):
            return NotImplemented
        return (self.number, self.tokens) == (other.number, other.tokens)
'''
TEST = """\
import pytest

from tests import parity


def row(sample):
    return {
        "sample": sample,
        "token_ids": [7, 1, 3, 21, 15, 16 + sample],
        "loss_mask": [0, 0, 1, 1, 1, 0],
        "logprobs": [-0.5, -1.5, -2.0, -3.25, -3.5 - sample, -3.0],
    }


@pytest.mark.parametrize("check", [parity.compare_trained, parity.compare_loosely])
def test_resumed_like_baseline(check):
    check([row(0), row(1)], [row(0), row(1)])


def test_steps():
    assert parity.Step(1, [2, 3]) == parity.Step(1, [2, 3])
"""


@pytest.fixture
def probed(tmp_path, reviewbot):
    """Probes one function of the checks above."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "parity.py").write_text(PARITY)
    (tmp_path / "tests" / "test_parity.py").write_text(TEST)
    return lambda name: reviewbot("probe", f"tests/parity.py::{name}", cwd=tmp_path)


def test_a_number_that_is_not_trained_on_may_be_none(probed):
    ran = probed("compare_trained")
    assert "not a number passes" not in ran.out
    told = [line for line in ran.out.splitlines() if line.endswith("where the comparison does not count")]
    assert any("is NaN" in line for line in told)


def test_one_that_is_trained_on_may_not(probed):
    ran = probed("compare_loosely")
    assert "A value that is not a number passes: logprobs[2] is NaN" in ran.out
    assert ran.code == 1


def test_an_eq_that_leaves_it_to_the_other_side_says_no(probed):
    ran = probed("Step.__eq__")
    assert "no witness" in ran.out
    assert ran.code == 0
