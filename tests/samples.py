"""Code with findings, for tests of what becomes of findings."""

from __future__ import annotations


def weak(name: str, count: str = "3") -> str:
    """A test with a check that can never fail: it asserts a tuple. Rule `constant-verdict` proves it."""
    return f'def test_{name}(run):\n    assert (len(run) == {count}, "rows of {name}")\n\n\n'


def strong(name: str, count: str = "3") -> str:
    """The same test with a check that can fail."""
    return f'def test_{name}(run):\n    assert len(run) == {count}, "rows of {name}"\n\n\n'
