"""One case of a parametrised test, named by its pytest id."""

from __future__ import annotations

import textwrap

import pytest

TEST = """
    import pytest

    def rows(kind):
        return [{"kind": kind, "loss": 2.5}, {"kind": kind, "loss": 1.5}]

    def copies(kind):
        return [dict(row) for row in rows(kind)]

    @pytest.mark.parametrize("kind", ["saved", "killed", "moved"])
    def test_runs_agree(kind):
        assert rows(kind) == copies(kind)

    def check(kind):
        assert rows(kind) == copies(kind)
"""


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "test_runs.py").write_text(textwrap.dedent(TEST))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["saved", "killed"])
def test_only_the_case_that_is_named_is_tried(probed, runs, kind):
    _, document = probed(runs, f"test_runs.py::test_runs_agree[{kind}]", "--budget", "3s")
    assert document["target"] == f"test_runs.py::test_runs_agree[{kind}]"
    assert f"test_runs_agree[{kind}]" in document["inputs"]
    assert not any("cases tried" in one for one in document["not_run"])


def test_a_test_without_a_named_case_says_how_many_were_left(probed, runs):
    _, document = probed(runs, "test_runs.py::test_runs_agree", "--budget", "3s")
    says = "1 of 3 cases tried; name another one, as in 'test_runs.py::test_runs_agree[moved]'"
    assert says in document["not_run"]


def test_an_unknown_case_is_wrong_use_and_the_known_ones_are_told(reviewbot, runs):
    ran = reviewbot("probe", "test_runs.py::test_runs_agree[nosuch]", cwd=runs)
    assert ran.code == 2
    says = "test_runs.py::test_runs_agree has no case [nosuch]; it has [saved], [killed], [moved]"
    assert says in ran.err


def test_a_function_that_is_no_test_has_no_cases(reviewbot, runs):
    ran = reviewbot("probe", "test_runs.py::check[saved]", cwd=runs)
    assert ran.code == 2
    assert "is no test that pytest runs, so that it has no case [saved]" in ran.err
