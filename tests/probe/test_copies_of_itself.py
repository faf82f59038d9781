"""Rows that a test holds against nothing but a copy of themselves, or only hands on, are no side."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

TEST = """
import copy
import json

import pytest


def run():
    return [{"id": n, "tokens": [n, 5]} for n in (1, 2)]


def use(rows):
    for row in rows:
        if "tokens" not in row:
            raise KeyError("tokens")


def save(rows, path):
    path.write_text(json.dumps(rows))


def test_raises_on_more():
    rows = run()
    kept = copy.deepcopy(rows)
    assert rows == kept
    with pytest.raises(KeyError):
        use([{"id": 3}, *rows])


def test_left_as_it_was():
    rows = run()
    before = copy.deepcopy(rows)
    use(rows)
    assert rows == before


def test_saved(tmp_path):
    rows = run()
    save(rows, tmp_path / "rows")
    assert (tmp_path / "rows").exists()


def test_written_and_saved(tmp_path):
    rows = [{"id": 1, "tokens": [1, 2]}, {"id": 2, "tokens": [3, 4]}]
    save(rows, tmp_path / "rows")
    assert (tmp_path / "rows").exists()


def test_with_itself():
    rows = run()
    assert rows == rows


def test_read_again(tmp_path):
    rows = run()
    save(rows, tmp_path / "rows")
    for one, other in zip(rows, json.loads((tmp_path / "rows").read_text())):
        assert one == other
"""


@pytest.fixture
def tests(tmp_path):
    (tmp_path / "test_copies.py").write_text(TEST)
    return "test_copies.py"


@pytest.mark.parametrize("name", ["raises_on_more", "left_as_it_was", "saved", "written_and_saved"])
def test_what_is_only_handed_on_is_no_side(reviewbot, tests, name):
    ran = reviewbot("probe", f"{tests}::test_{name}")
    assert ran.code in (0, 3), ran.out + ran.err
    assert "1. " not in ran.out and "no change whatever" not in ran.out


def test_what_is_compared_with_itself_alone_notices_nothing(reviewbot, tests):
    ran = reviewbot("probe", f"{tests}::test_with_itself")
    assert ran.code == 1, ran.out + ran.err
    assert "no change whatever makes it fail; 1 witness and " in ran.out.splitlines()[0]
