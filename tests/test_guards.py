"""The table of guards is about the code as it stands; `python tests/guards.py` sees each test fail."""

from __future__ import annotations

from pathlib import Path

import guards
import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guards.md"


@pytest.mark.parametrize("guard", guards.GUARDS, ids=lambda one: one.failure)
def test_a_guard_stands_where_the_table_says_and_so_does_its_test(guard):
    assert (ROOT / guard.file).read_text(encoding="utf-8").count(guard.guard) == 1
    assert guard.guard != guard.without
    file, _, name = guard.test.partition("::")
    assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")


def test_every_failure_mode_has_one_and_the_page_shows_them():
    numbers = {one.failure.split()[0] for one in guards.GUARDS}
    assert numbers == {*map(str, range(1, 21)), "beyond:"}
    assert guards.table() in PAGE.read_text(encoding="utf-8")
