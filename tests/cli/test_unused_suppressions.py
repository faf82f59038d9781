"""A suppression that silences nothing is asked about, and only where its rule has really looked."""

from __future__ import annotations

import json

import pytest

QUIET = "def test_rows(run):\n    assert run(1) == 2  # reviewbot: ignore[{rules}] the rows are typed\n"
WEAK = "def test_rows(run):\n    assert (run(1), 2)  # reviewbot: ignore[{rules}] the rows are typed\n"


@pytest.fixture
def lint(reviewbot, tmp_path):
    def run(text: str, *words: str) -> list[tuple[str, int, str]]:
        (tmp_path / "test_rows.py").write_text(text)
        ran = reviewbot("lint", "test_rows.py", "--output-format", "json", *words)
        assert ran.err == ""
        return [(one["rule"], one["line"], one["certainty"]) for one in json.loads(ran.out)]

    return run


def test_one_that_silences_nothing_is_asked_about(lint, reviewbot):
    assert lint(QUIET.format(rules="constant-verdict")) == [("suppression", 2, "question")]
    assert "silences nothing: `constant-verdict` is silent here" in reviewbot("lint", "test_rows.py").out


def test_one_that_silences_something_is_not(lint):
    assert lint(WEAK.format(rules="constant-verdict")) == []


def test_each_rule_that_is_named_counts(lint):
    assert lint(WEAK.format(rules="constant-verdict, zip-truncates")) == [("suppression", 2, "question")]


def test_alone_on_the_line_above_it_is_the_same(lint):
    above = "def test_rows(run):\n    # reviewbot: ignore[{}] typed\n    assert {}\n"
    assert lint(above.format("constant-verdict", "run(1) == 2")) == [("suppression", 2, "question")]
    assert lint(above.format("constant-verdict", "(run(1), 2)")) == []


@pytest.mark.parametrize(
    "words",
    [("--select", "zip-truncates"), ("--select", "constant-verdict"), ("--ignore", "constant-verdict")],
)
def test_where_rules_are_chosen_or_left_out_nothing_is_said(lint, words):
    assert lint(QUIET.format(rules="constant-verdict"), *words) == []


@pytest.mark.parametrize("rule", ["verdict-dropped-in-ci", "loosened-check"])
def test_a_rule_that_does_not_look_at_such_a_file_is_not_held_against_it(lint, rule):
    assert lint(QUIET.format(rules=rule)) == []


def test_a_change_elsewhere_in_the_file_does_not_bring_it_up(reviewbot, repository):
    text = QUIET.format(rules="constant-verdict")
    repository.commit({"test_rows.py": text})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"test_rows.py": text + "\n\ndef test_more(run):\n    assert run(3) == 4\n"})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    assert json.loads(ran.out)["threads"] == []
    repository.commit({"test_rows.py": text.replace("typed", "typed twice")})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    assert [one["finding"]["rule"] for one in json.loads(ran.out)["threads"]] == ["suppression"]
