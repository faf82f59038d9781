"""Which values of a test are its two sides: those on its own object, of calls in one line, of calls that run
several times, under keys; and not those that it has made to differ."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

TEST = """
import pytest


def run(seed):
    return [{"id": n, "tokens": [n, 5, seed]} for n in (1, 2)]


def by_id(seed):
    return {row["id"]: row for row in run(seed)}


def differing(baseline, resumed):
    found = [one["id"] for one, other in zip(baseline, resumed) if one != other]
    return found if len(baseline) == len(resumed) else [*found, "length"]


def first_difference(baseline, resumed):
    for at, (one, other) in enumerate(zip(baseline, resumed)):
        if one != other:
            return at
    return None


def require_same(baseline, resumed):
    if differing(baseline, resumed):
        raise ValueError("rows differ")


def checker(baseline):
    def check(resumed):
        return differing(baseline, resumed)

    return check


class TestHeld:
    def setup_method(self):
        self.baseline = run(3)
        self.resumed = run(3)

    def test_strict(self):
        self.found = differing(self.baseline, self.resumed)
        assert not self.found


class TestKeys:
    def setup_method(self):
        self.baseline = {row["id"]: row["tokens"] for row in run(3)}
        self.resumed = {row["id"]: row["tokens"] for row in run(3)}

    def test_hole(self):
        self.found = [key for key in self.resumed if self.baseline[key] != self.resumed[key]]
        assert not self.found


def test_one_line_strict():
    baseline, resumed = run(3), run(3)
    if problems := differing(baseline, resumed):
        pytest.fail(f"they differ: {problems}")


def test_one_line_hole():
    baseline, resumed = run(3), run(3)
    where = first_difference(baseline, resumed)
    assert where is None


def test_keys_hole():
    baseline, resumed = by_id(3), by_id(3)
    for key in resumed:
        assert baseline[key] == resumed[key]


def test_several_times():
    runs = []
    for _ in range(3):
        runs.append(run(3))
    problems = []
    for other in runs[1:]:
        problems.extend(differing(runs[0], other))
    assert not problems


def test_unequal():
    first, other = run(3), run(4)
    assert first != other


def test_raises():
    first, other = run(3), run(4)
    with pytest.raises(ValueError):
        require_same(first, other)


def test_made_to_differ():
    first = run(3)
    broken = run(3)[:1]
    require_same(first, run(3))
    with pytest.raises(ValueError, match="differ"):
        require_same(first, broken)


def test_closure():
    check = checker(run(3))
    problems = check(run(3))
    assert problems == []
"""


@pytest.fixture
def tests(tmp_path):
    (tmp_path / "test_sides.py").write_text(TEST)
    return "test_sides.py"


@pytest.mark.parametrize("name", ["TestHeld::test_strict", "test_one_line_strict", "test_several_times"])
def test_strict_tests_have_no_witness_and_notice(reviewbot, tests, name):
    ran = reviewbot("probe", f"{tests}::{name}")
    assert ran.code == 0, ran.out + ran.err
    assert "changes tried, no witness" in ran.out.splitlines()[0]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("test_one_line_hole", "last row dropped"),
        ("test_keys_hole", "[1] missing"),
        ("TestKeys::test_hole", "resumed[1] missing"),
    ],
)
def test_what_one_side_may_lack_is_a_witness(reviewbot, tests, name, where):
    ran = reviewbot("probe", f"{tests}::{name}")
    assert ran.code == 1, ran.out + ran.err
    assert f"1. This difference is not noticed: {where}" in ran.out or f"{where}\n" in ran.out
    assert "never compares" not in ran.out and "2. " not in ran.out


@pytest.mark.parametrize("name", ["test_unequal", "test_raises", "test_made_to_differ"])
def test_what_is_made_to_differ_is_no_side(reviewbot, tests, name):
    ran = reviewbot("probe", f"{tests}::{name}")
    assert ran.code in (0, 3), ran.out + ran.err
    assert "not noticed" not in ran.out and "No change of any kind" not in ran.out
    assert "no change whatever" not in ran.out and "notices nothing" not in ran.out


def test_a_function_made_in_another_one_stays_as_it_is(reviewbot, tests):
    ran = reviewbot("probe", f"{tests}::test_closure")
    assert ran.code == 0, ran.out + ran.err
    assert "no witness" in ran.out.splitlines()[0]


def test_monkeypatch_is_built_where_the_test_imports_no_pytest(reviewbot, tmp_path):
    own = "def run():\n    return [1, 2, 3]\n\n\ndef test_patched(monkeypatch):\n"
    own += "    monkeypatch.setenv('SEED', '3')\n    baseline, resumed = run(), run()\n"
    own += "    assert baseline == resumed\n"
    (tmp_path / "test_patched.py").write_text(own)
    ran = reviewbot("probe", "test_patched.py::test_patched")
    assert ran.code == 0, ran.out + ran.err
    assert "no witness" in ran.out.splitlines()[0]
