"""Where a test has its rows: on its class, in a global name, written out in it, from a process that a helper
starts; and a function that a fixture makes, which compares them."""

from __future__ import annotations

import textwrap

import pytest

pytestmark = pytest.mark.slow

CASES = """
    import unittest
    from runs import run

    FIRST = OTHER = None

    def setUpModule():
        global FIRST, OTHER
        FIRST, OTHER = run(), run()

    class OfTheClass(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            cls.first = run()
            cls.other = run()

        def test_hole(self):
            for one, other in zip(self.first, self.other):
                self.assertEqual(one, other)

        def test_strict(self):
            self.assertEqual(self.first, self.other)

    class OfTheObject(unittest.TestCase):
        def setUp(self):
            self.first, self.other = run(), run()

        def test_unused(self):
            self.assertTrue(callable(run))

        def compare(self):
            for one, other in zip(self.first, self.other):
                with self.subTest(one["id"]):
                    self.assertEqual(one, other)

        def test_hole(self):
            self.compare()

        def test_strict(self):
            self.assertEqual(len(self.first), len(self.other))
            self.compare()

    class OfTheModule(unittest.TestCase):
        def test_hole(self):
            for one, other in zip(FIRST, OTHER):
                self.assertEqual(one, other)

        def test_strict(self):
            self.assertEqual(FIRST, OTHER)

    class TestOfTheClass:
        @classmethod
        def setup_class(cls):
            cls.first, cls.other = run(), run()

        def test_hole(self):
            for one, other in zip(self.first, self.other):
                assert one == other

        def test_strict(self):
            assert self.first == self.other
"""
TESTS = """
    import json
    import subprocess
    import sys
    import pytest
    from runs import copied, run

    def test_written_hole():
        wanted = [{"id": 1, "tokens": [1, 2]}, {"id": 2, "tokens": [2, 3]}]
        found = [{"id": 1, "tokens": [1, 2]}, {"id": 2, "tokens": [2, 3]}]
        for one, other in zip(wanted, found):
            assert one == other

    def test_written_strict():
        wanted = [{"id": n, "tokens": [n, n + 1]} for n in (1, 2)]
        assert copied([{"id": 1, "tokens": [1, 2]}, {"id": 2, "tokens": [2, 3]}]) == wanted

    @pytest.fixture
    def same():
        def compare(first, other):
            for one, two in zip(first, other):
                assert one == two

        return compare

    def test_made_hole(same):
        same(run(), run())

    def test_made_strict(near):
        near(run(), run())

    def worker():
        code = "import json; print(json.dumps([{'id': n, 'tokens': [n, 3]} for n in (1, 2)]))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return json.loads(done.stdout)

    def test_started_hole():
        for one, other in zip(worker(), worker()):
            assert one == other

    def test_started_strict():
        first, other = worker(), worker()
        assert first == other

    def test_starts_itself():
        done = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, check=True)
        assert run() == run() and done.stdout
"""
CONFTEST = """
    import pytest

    @pytest.fixture
    def distance():
        return 0

    @pytest.fixture
    def near(distance):
        def compare(first, other):
            assert len(first) == len(other)
            for one, two in zip(first, other):
                assert abs(one["id"] - two["id"]) <= distance
                assert one["tokens"] == two["tokens"]

        yield compare
"""
RUNS = """
    def run():
        return [{"id": n, "tokens": [n, 5]} for n in (1, 2)]

    def copied(rows):
        return [dict(row) for row in rows]
"""


@pytest.fixture
def tests(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    files = {"runs": RUNS, "test_cases": CASES, "test_runs": TESTS, "conftest": CONFTEST}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    return tmp_path


KINDS = [
    *(f"test_cases.py::{name}::test_" for name in ("OfTheClass", "OfTheObject", "OfTheModule")),
    "test_cases.py::TestOfTheClass::test_",
    *(f"test_runs.py::test_{name}_" for name in ("written", "made", "started")),
]


@pytest.mark.parametrize("kind", KINDS)
def test_what_zip_hides_is_a_witness(probed, tests, kind):
    code, document = probed(tests, f"{kind}hole")
    assert code == 1
    assert [one["changes"][0]["says"] for one in document["witnesses"]] == ["last row dropped"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_strict_test_has_none_and_notices(probed, tests, kind):
    code, document = probed(tests, f"{kind}strict")
    noticed = {one["edit"].partition(":")[0] for one in document["kills"] if not one.get("crash")}
    assert (code, document["witnesses"]) == (0, [])
    assert {"id changed", "last row dropped"} <= noticed or {"id changed", "row dropped"} <= noticed


def test_rows_that_the_test_does_not_read_are_none_of_its_sides(reviewbot, tests):
    ran = reviewbot("probe", "test_cases.py::OfTheObject::test_unused", cwd=tests)
    assert ran.code in (0, 3), ran.out
    assert "no change whatever" not in ran.out and "1. " not in ran.out


def test_a_test_that_starts_a_process_itself_is_told_the_way_out(reviewbot, tests):
    ran = reviewbot("probe", "test_runs.py::test_starts_itself", cwd=tests)
    assert (ran.code, ran.out) == (3, "")
    assert "test_starts_itself itself starts a process or opens a connection" in ran.err
    assert "put that into a function that returns the rows" in ran.err
