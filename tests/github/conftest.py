"""A pull request on a GitHub of our own, and what talks to it without waiting."""

from __future__ import annotations

import pytest

from reviewbot.github.client import GitHub, Pace

FAST = Pace(between_requests=0, between_writes=0, secondary_wait=0, backoff=0)


@pytest.fixture
def opened(fake, repository):
    """Pull request 7: `a.py` with a line changed, `b.py` removed, `c.py` added."""
    lines = [f"x{number} = {number}\n" for number in range(1, 41)]
    base = repository.commit({"a.py": "".join(lines), "b.py": "gone = 1\n", "kept.py": "kept = 1\n"})
    lines[9] = "x10 = 'ten'\n"
    head = repository.commit({"a.py": "".join(lines), "b.py": None, "c.py": "new = 1\nlast = 2"})
    return fake.open_pull(base, head)


@pytest.fixture
def github(fake):
    """The client with the token of the shipped workflow."""
    return GitHub.of_environment(fake.slug, fake.environ(), FAST)
