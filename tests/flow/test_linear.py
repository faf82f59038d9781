"""Sums and lengths at one place of a function."""

from __future__ import annotations

import libcst as cst
import pytest

from reviewbot.flow.linear import state_at
from reviewbot.source.tree import walk


def difference(body: str, left: str, right: str) -> bool:
    """Whether `left - right` is zero, whatever the rest is, just before the call of `here`."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    module = cst.parse_module(f"def f(a, b, rows, flag):\n{lines}")
    function = module.body[0]
    assert isinstance(function, cst.FunctionDef)
    (target,) = [n for n in walk(function) if isinstance(n, cst.Name) and n.value == "here"]
    state = state_at(function, target)
    values = (state.value(cst.parse_expression(side)) for side in (left, right))
    one, other = values
    return one.plus(other, -1).is_zero


@pytest.mark.parametrize(
    ("body", "left", "right"),
    [
        ("n = len(a)\nhere()", "n", "len(a)"),
        ("n = len(a)\nif flag:\n    k = len(b)\n    n += k\n    here()", "n", "len(a) + len(b)"),
        ("n = a + 2 * b - 1\nhere()", "n + 1", "b + a + b"),
        ("both = [*a, *b, 7]\nhere()", "len(both)", "len(a) + len(b) + 1"),
        # Of arrays this would be false, and no check that passes says it of them.
        ("both = a + b\nhere()", "len(both)", "len(a) + len(b)"),
        ("both = list(a) + list(b)\nhere()", "len(both) - len(b)", "len(a)"),
        ("if flag:\n    n = len(a)\nelse:\n    n = len(a)\nhere()", "n", "len(a)"),
        ("n = len(a)\nif flag:\n    n = 0\n    return n\nhere()", "n", "len(a)"),
        ("for row in rows:\n    n = len(row)\n    m = n + 1\n    here()", "m", "len(row) + 1"),
        ("n = int(a)\nprint(n, a)\nhere()", "n", "a"),
        ("with a:\n    n = len(b)\n    try:\n        here()\n    finally:\n        pass", "n", "len(b)"),
    ],
)
def test_equal_on_every_path(body, left, right):
    assert difference(body, left, right)


@pytest.mark.parametrize(
    ("body", "left", "right"),
    [
        ("n = len(a)\na.append(1)\nhere()", "n", "len(a)"),
        ("n = len(a)\nfill(a)\nhere()", "n", "len(a)"),
        ("n = len(a)\na = b\nhere()", "n", "len(a)"),
        ("n = len(a)\nif flag:\n    n += 1\nhere()", "n", "len(a)"),
        ("n = len(a)\nfor row in rows:\n    n += 1\nhere()", "n", "len(a)"),
        ("n = 0\nfor row in rows:\n    here()\n    n += 1", "n", "0"),
        ("n = len(a)\ntry:\n    n = len(b)\nexcept KeyError:\n    pass\nhere()", "n", "len(b)"),
        ("n, m = len(a), 2\nhere()", "n", "len(a)"),
        ("n = a * b\nhere()", "n", "a + b"),
        ("both = a + 1\nhere()", "len(both)", "len(a) + 1"),
        ("n = len(a)\na[0:0] = b\nhere()", "n", "len(a)"),
        ("n = len(a)\nif flag:\n    a.clear()\nhere()", "n", "len(a)"),
    ],
)
def test_what_may_differ_is_not_taken_for_equal(body, left, right):
    assert not difference(body, left, right)
