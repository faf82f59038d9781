"""Tests whose assertion is on what a helper makes of two sides: the helper judges what is changed."""

from __future__ import annotations

import textwrap

import pytest

COMPARE = """
    from dataclasses import dataclass, field

    def rows_equal(reference, resumed):
        return reference == resumed

    def row_problems(reference, resumed):
        found = []
        if len(reference) != len(resumed):
            found.append("count")
        for left, right in zip(reference, resumed):
            found += [name for name in left if left[name] != right.get(name)]
            found += [name for name in right if name not in left]
        return found

    def exit_code(reference, resumed):
        return int(bool(row_problems(reference, resumed)))

    def first_difference(reference, resumed):
        found = row_problems(reference, resumed)
        return (0, found[0]) if found else None

    @dataclass
    class Report:
        rows: int
        problems: list = field(default_factory=list)

        @property
        def ok(self):
            return not self.problems

    def report(reference, resumed):
        return Report(len(reference), row_problems(reference, resumed))

    async def same_later(reference, resumed):
        return rows_equal(reference, resumed)

    def total(rows):
        return [(row["step"], tuple(row["tokens"]), row["reward"]) for row in rows]

    def rows():
        return [{"step": step, "tokens": [step, 7, 9], "reward": 0.5 * step} for step in range(1, 4)]

    def resumed_rows():
        return rows()
"""
FIXTURES = """
    import pytest
    from compare import rows

    @pytest.fixture
    def reference():
        return rows()

    @pytest.fixture
    def resumed():
        return rows()

    @pytest.fixture
    def both():
        return rows(), rows()
"""
STRICT = """
    import unittest
    import asyncio
    import compare
    from compare import exit_code, first_difference, report, row_problems, rows, rows_equal, same_later, total
    from compare import resumed_rows

    def test_result(reference, resumed):
        assert compare.rows_equal(reference, resumed)

    def test_imported(reference, resumed):
        assert rows_equal(reference, resumed) is True

    def test_named_first(reference, resumed):
        found = row_problems(reference, resumed)
        assert found == []

    def test_not_any(reference, resumed):
        assert not row_problems(reference, resumed), "rows differ"

    def test_code(reference, resumed):
        assert exit_code(reference, resumed) == 0

    def test_none(reference, resumed):
        assert first_difference(reference, resumed) is None

    def test_report(reference, resumed):
        assert report(reference, resumed).ok

    def test_chained():
        left = rows()
        right = resumed_rows()
        assert rows_equal(left, right)

    def test_nested():
        assert rows_equal(rows(), resumed_rows())

    def test_both(both):
        left, right = both
        assert rows_equal(left, right)

    def test_each(reference, resumed):
        assert len(reference) == len(resumed)
        assert all(rows_equal(left, right) for left, right in zip(reference, resumed))

    def test_of_each(reference, resumed):
        assert total(reference) == total(resumed)

    def test_later(reference, resumed):
        assert asyncio.run(same_later(reference, resumed))

    def test_local(reference, resumed):
        def same(left, right):
            return left == right
        assert same(reference, resumed)

    class Resumed(unittest.TestCase):
        def test_result(self):
            left, right = rows(), resumed_rows()
            self.assertTrue(rows_equal(left, right))

        def test_problems(self):
            left, right = rows(), resumed_rows()
            self.assertEqual(row_problems(left, right), [])

        def test_nested(self):
            self.assertFalse(row_problems(rows(), resumed_rows()))
"""
STRICT_TESTS = [
    "test_result",
    "test_imported",
    "test_named_first",
    "test_not_any",
    "test_code",
    "test_none",
    "test_report",
    "test_chained",
    "test_nested",
    "test_both",
    "test_each",
    "test_of_each",
    "test_later",
    "test_local",
    "Resumed.test_result",
    "Resumed.test_problems",
    "Resumed.test_nested",
]
# What each helper leaves out is what a probe must find.
LOOSE = """
    import compare
    from compare import rows, resumed_rows

    def same_tokens(reference, resumed):
        return all(left["tokens"] == right["tokens"] for left, right in zip(reference, resumed))

    def problems(reference, resumed):
        found = ["count"] if len(reference) != len(resumed) else []
        for left, right in zip(reference, resumed):
            if left["reward"] > 100 or right["reward"] > 100:
                continue
            if left != right:
                found.append(left["step"])
        return found

    def far(reference, resumed):
        found = [] if len(reference) == len(resumed) else ["count"]
        for left, right in zip(reference, resumed):
            if abs(left["reward"] - right["reward"]) > 0.1:
                found.append("reward")
        return found

    def test_fewer(reference, resumed):
        assert same_tokens(reference, resumed)

    def test_excused():
        left = rows()
        right = resumed_rows()
        found = problems(left, right)
        assert found == []

    def test_not_a_number(reference, resumed):
        assert not far(reference, resumed)
"""


@pytest.fixture
def helpers(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for name, text in (
        ("compare", COMPARE),
        ("conftest", FIXTURES),
        ("test_strict", STRICT),
        ("test_loose", LOOSE),
    ):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    return tmp_path


# Each is a probe of its own.
SHOWN = ("test_result", "test_nested")


@pytest.mark.parametrize(
    "name", [one if one in SHOWN else pytest.param(one, marks=pytest.mark.slow) for one in STRICT_TESTS]
)
def test_a_strict_helper_lets_nothing_through(probed, helpers, name):
    code, document = probed(helpers, f"test_strict.py::{name}", "--witness")
    assert document["witnesses"] == []
    assert code == 0
    said = " ".join(one["edit"] for one in document["kills"])
    assert "step changed" in said or "item 0 changed" in said, "the sides themselves were changed"
    assert "__probe" not in str(document)


@pytest.mark.parametrize(
    ("name", "why", "says"),
    [
        ("test_fewer", "gap", "last row dropped"),
        pytest.param("test_excused", "excuse", "reward far off", marks=pytest.mark.slow),
        pytest.param("test_not_a_number", "nan", "reward is NaN", marks=pytest.mark.slow),
    ],
)
def test_what_a_helper_leaves_out_is_a_witness(probed, helpers, name, why, says):
    code, document = probed(helpers, f"test_loose.py::{name}", "--witness")
    assert code == 1
    found = [(one["why"], one["changes"][0]["says"]) for one in document["witnesses"]]
    assert found[0] == (why, says), found
