"""What would still catch a fault if one check went away."""

from __future__ import annotations

import libcst as cst
import pytest

from reviewbot.flow.nearby import still_catches
from reviewbot.source.units import File


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert run(1) == 2\nassert other == 3", "nothing: no other check in `test` looks at `run`"),
        ("assert run(1) == 2\nassert run(2) == 3", "line 3 checks `run`: `assert run(2) == 3`"),
        ("rows = load()\nassert rows\nassert rows[0] == 1", "line 4 checks `rows`: `assert rows[0] == 1`"),
        ("a = 1\nassert a\na = 2\nassert a", "nothing: no other check in `test` looks at `a`"),
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
