"""What would still catch a fault if one check went away."""

from __future__ import annotations

import libcst as cst
import pytest

from reviewbot.flow.nearby import still_catches
from reviewbot.source.units import File


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert run(1) == 2\nassert other == 3", "nothing else in `test`"),
        (
            "assert run(1) == 2\nassert run(2) == 3",
            "nothing in `test` for sure; line 3 also looks at `run`: `assert run(2) == 3`",
        ),
        (
            "rows = load()\nassert rows\nassert rows[0] == 1",
            "nothing in `test` for sure; line 4 only checks `rows[0]`",
        ),
        ("a = 1\nassert a\na = 2\nassert a", "nothing else in `test`"),
        (
            "a = 1\nassert a\nif a != 2:\n    raise ValueError(a)",
            "line 5 checks `a`: `raise ValueError(a)`",
        ),
    ],
)
def test_other_checks_of_the_same_values_are_named(body, expected):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    unit = File("t.py", f"def test():\n{lines}\n".encode()).unit("test")
    (first, *_) = unit.find(cst.Assert)
    assert still_catches(unit, first) == (expected,)


def caught(code: str, wrong: str, fault: str = "value", function: str = "test") -> str:
    """What is said of a fault in the check that is written as `wrong`."""
    unit = File("t.py", code.encode()).unit(function)
    node = next(one for one in unit.find(cst.Assert) if unit.text(one) == wrong)
    (clause,) = still_catches(unit, node, fault=fault)
    return clause.removeprefix(f"nothing in `{function}` for sure; ")


TOKENS = 'assert a["tokens"][:3] == b["tokens"][:3]'


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("assert a == b", "line 4 checks `a`: "),
        ('assert a["tokens"] == b["tokens"]', "line 4 checks `a`: "),
        ('assert a["mask"] == 1 and a["tokens"] == b["tokens"]', "line 4 checks `a`: "),
        ('assert a["tokens"] == b["tokens"] or lenient', "line 4 also looks at "),
        ("if lenient:\n        assert a == b", "line 5 also looks at "),
        ("assert a and b", "line 4 also looks at "),
        ("assert a is not None and b is not None", "line 4 also looks at "),
        ("assert a != b", "line 4 also looks at "),
        ("assert a.keys() == b.keys()", "line 4 only checks `a.keys()`"),
        ('assert len(a["tokens"]) == len(b["tokens"])', "line 4 only checks `len(a['tokens'])`"),
        ('assert a["id"] == b["id"]', "line 4 only checks `a['id']`"),
        ("assert a == [1]", "line 4 only checks `a`"),
        ('if a["tokens"] != b["tokens"]:\n        raise ValueError(a)', "line 5 checks `a`: "),
        ("same(a, b)", "line 4 checks `a`: "),
        ("ids(a, b)", "line 4 only checks `a['id']`"),
        ("assert a == a", "nothing else in `test`"),
        ("assert a.called_once", "nothing else in `test`"),
    ],
)
def test_a_check_catches_what_it_compares(other, expected):
    code = f"""def test(load, lenient):
    a, b = load(1), load(2)
    {TOKENS}
    {other}

def same(one, two):
    assert one == two

def ids(one, two):
    assert one["id"] == two["id"]
"""
    assert caught(code, TOKENS).startswith(expected)


@pytest.mark.parametrize(
    ("fault", "wrong", "other", "expected"),
    [
        ("length", "assert pairs(a, b)", "assert len(a) == len(b)", "line 4 checks "),
        ("length", "assert pairs(a, b)", "assert a[0] == b[0]", "line 4 only checks `a[0]`"),
        ("keys", "assert pairs(a, b)", "assert set(a) == set(b)", "line 4 checks "),
        ("keys", "assert pairs(a, b)", "assert len(a) == len(b)", "line 4 only checks `len(a)`"),
        ("empty", "assert pairs(a)", "assert a", "line 4 checks "),
        ("empty", "assert pairs(a)", "assert len(a) > 0", "line 4 checks "),
        ("empty", "assert pairs(a)", "assert len(a) == len(b)", "line 4 also looks at "),
        ("missing", 'assert a.get("x") == b.get("x")', 'assert "x" in a', "line 4 checks "),
        ("missing", 'assert a.get("x") == b.get("x")', 'assert a["x"] > 0', "line 4 checks "),
        ("missing", 'assert a.get("x") == b.get("x")', "assert a is not None", "line 4 also looks at "),
    ],
)
def test_each_fault_is_caught_in_its_own_way(fault, wrong, other, expected):
    code = f"def test(load, pairs):\n    a, b = load(1), load(2)\n    {wrong}\n    {other}\n"
    assert caught(code, wrong, fault).startswith(expected)
