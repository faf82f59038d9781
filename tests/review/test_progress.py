"""All of a review that takes long is shown: gathering the index, looking at files, looking at the base."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.review import local
from reviewbot.source.git import Repository as Git

_Item = TypeVar("_Item")
ROWS = "def rows():\n    return [1]\n"
TEST = """\
from rows import rows


def test_rows():
    for row in [one for one in rows() if one > 3]:
        assert row == 4
"""


def test_what_is_read_and_looked_at_is_passed_on_with_its_number(repository):
    base = repository.commit({"rows.py": ROWS, "test_rows.py": TEST})
    head = repository.commit({"rows.py": ROWS.replace("[1]", "[1, 2]")})
    shown: list[int] = []

    def watch(items: Iterable[_Item], total: int) -> Iterable[_Item]:
        passed = list(items)
        assert len(passed) == total
        shown.append(total)
        return passed

    rules = [registry.load("loop-may-be-empty"), registry.load("loosened-check")]
    local.look(Git(repository.folder), base, head, Config(), rules, watch=watch)
    # Two files are gathered and looked at; the test, of which something is said, also before the change.
    assert shown == [2, 2, 1]
