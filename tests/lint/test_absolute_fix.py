"""What `signed-difference` suggests is Python, and takes the absolute value of the difference alone."""

from __future__ import annotations

import ast

import pytest

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory
from reviewbot.source.units import File


def _suggested(line: str) -> str:
    content = f"import numpy as np\n\n\ndef test_a(g, w):\n    {line}\n".encode()
    file, rule = File("tests/test_a.py", content), registry.load("signed-difference")
    repo = Repo(Config(), InMemory({"tests/test_a.py": content}))
    (one,) = [found for unit in file.units if rule.suspect(unit) for found in rule.confirm(unit, repo)]
    assert one.fix is not None
    (edit,) = one.fix.edits
    return edit.text.strip()


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("assert np.max(g - w) < 1e-5", "assert np.max(abs(g - w)) < 1e-5"),
        ("assert np.max (g - w) < 1e-5", "assert np.max (abs(g - w)) < 1e-5"),
        ("assert np.max  ( g - w ) < 1e-5", "assert np.max  ( abs(g - w) ) < 1e-5"),
        ("assert (g - w).max() < 1e-5", "assert abs(g - w).max() < 1e-5"),
        ("assert(g - w).max() < 1e-5", "assert(abs(g - w)).max() < 1e-5"),
        ("assert 1e-5 > (g - w).max()", "assert 1e-5 > abs(g - w).max()"),
        ("assert max((g - w)) < 1e-5", "assert max(abs(g - w)) < 1e-5"),
        (
            "assert max(a - b for a, b in g) < 1e-5",
            "assert max(abs(a - b) for a, b in g) < 1e-5",
        ),
    ],
)
def test_what_is_suggested_is_python(line, fixed):
    suggested = _suggested(line)
    assert suggested == fixed
    ast.parse(suggested)
