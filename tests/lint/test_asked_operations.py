"""How sure two rules are of an operation that one operand decides, and of a dictionary taken twice."""

from __future__ import annotations

from textwrap import dedent

import pytest

from reviewbot.lint import registry
from reviewbot.lint.engine import lint_file
from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory
from reviewbot.source.units import file_of


def certainties(rule_id: str, code: str) -> list[str]:
    path, content = "tests/test_rows.py", dedent(code).encode()
    repo = Repo(files=InMemory({path: content}))
    found = lint_file(file_of(path, content), [registry.load(rule_id)], repo.of(path))
    return [finding.certainty for finding in found]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ('("tea" and "salt") in shelf.log()', ["proved"]),
        ('shelf.kind() == ("tea" or shelf.name)', ["proved"]),
        ('shelf.kind == ("tea" or "salt")', ["likely"]),
        ("2 < (3 or shelf.low) < 5", ["likely"]),
        ('shelf.kind() == ("tea" or "salt")', ["question"]),
        ('kind == ("tea" or "salt")', ["question"]),
        ('("tea" or None) == "tea"', ["question"]),
        ("evaluate(shelf) == (2 or shelf.rows)", ["question"]),
        ('shelf.ask("2 or rows") == (2 or shelf.rows)', ["question"]),
        ('("tea" and "salt") in shelf.ask("tea and salt")', ["question"]),
        ('("tea" f"{shelf}" and "salt") in shelf.log()', []),
    ],
)
def test_what_python_itself_makes_of_an_operation_is_asked_about(check, expected):
    code = f"""
        def test_rows(shelf, evaluate):
            kind = shelf.kind()
            assert {check}
        """
    assert certainties("constant-verdict", code) == expected


def test_an_operation_that_is_handed_over_is_asked_about():
    code = """
        def test_rows(quick, rows):
            def either(x):
                return {}

            assert quick(either)(5) == (1 or rows)
        """
    assert certainties("constant-verdict", code.format("1 or x")) == ["question"]
    assert certainties("constant-verdict", code.format("x + 1")) == ["proved"]


@pytest.mark.parametrize(
    ("between", "check", "expected"),
    [
        ("sail(trip)", "trip.__dict__ == was", ["likely"]),
        ("pickle.dumps(trip)", "trip.__dict__ == was", ["likely"]),
        ("trip.restore({})", "trip.__dict__ == was", ["question"]),
        ("load_into(trip)", "vars(trip) == was", ["question"]),
        ("other.restore({})", "trip.__dict__ == was", ["likely"]),
        ("trip.__dict__ = sail()", "trip.__dict__ == was", []),
        ("sail(trip)", "trip.__dict__ is was", []),
    ],
)
def test_attributes_that_may_be_given_anew_are_asked_about(between, check, expected):
    code = f"""
        def test_rows(trip, other, sail):
            was = trip.__dict__
            {between}
            assert {check}
        """
    assert certainties("self-compare", code) == expected
