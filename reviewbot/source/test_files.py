"""Which files hold tests, by their paths."""

from __future__ import annotations

import re
from functools import lru_cache

_TEST_FILE = re.compile(
    r"(^|/)(tests?|testing|conftest\.py|test_[^/]*|[^/]*_tests?\.py|testlib)(/|$)"
    r"|(^|/)(auto|unit|[a-z0-9]+[_-])tests?/"
)


@lru_cache(1024)
def in_test_file(path: str) -> bool:
    """Whether a path is one where tests and their helpers stand."""
    return _TEST_FILE.search(path) is not None
