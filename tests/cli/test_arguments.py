"""What is mistyped on the command line is answered with what may have been meant."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("reviw --base main", "did you mean 'review'?"),
        ("review --bsae main", "did you mean '--base'?"),
        ("lint --selct=constant-verdict .", "did you mean '--select'?"),
        ("review --output-format jsn", "did you mean 'json'?"),
        ("parity compre a b", "did you mean 'compare'?"),
        ("parity run --plnt all", "did you mean '--plant'?"),
    ],
)
def test_the_nearest_command_option_or_value_is_named(reviewbot, line, meant):
    ran = reviewbot(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(f"; {meant}\n")


@pytest.mark.parametrize("command", ["lint", "review", "parity compare"])
def test_an_unknown_option_is_answered_with_the_usage_of_its_command(reviewbot, command):
    ran = reviewbot(*command.split(), "--frobnicate", "a", "b")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"usage: reviewbot {command} [-h]")
    assert "unrecognized arguments: --frobnicate" in ran.err


def test_nothing_is_guessed_at_where_nothing_is_near(reviewbot):
    ran = reviewbot("xyzzy")
    assert ran.code == 2
    assert "invalid choice: 'xyzzy'" in ran.err
    assert "did you mean" not in ran.err
