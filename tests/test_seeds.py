"""Four changes that let a real fault pass, each as a small repository: the review of the change finds the
weakness, names the lines that make it one, and says what still catches the fault.

`base/` is the repository before the change, `head/` what the change brings in. In expected.toml a line is
named by how it begins, a step as `path: text`, where the text stands on one of the step's lines.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from reviewbot.lint.registry import rule_ids
from reviewbot.render import review_json

SEEDS = Path(__file__).parent / "seeds"
NAMES = sorted(folder.name for folder in SEEDS.iterdir() if folder.is_dir())
EXPECTED = {
    name: tomllib.loads((SEEDS / name / "expected.toml").read_text(encoding="utf-8")) for name in NAMES
}


def reviewed(reviewbot, repository, name):
    """The threads of the review of a seed's change."""
    shutil.copytree(SEEDS / name / "base", repository.folder, dirs_exist_ok=True)
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "topic")
    shutil.copytree(SEEDS / name / "head", repository.folder, dirs_exist_ok=True)
    repository.commit()
    words = ("--base", "main", "--fail-on", "never", "--output-format", "json")
    ran = reviewbot("review", *words, cwd=repository.folder)
    assert ran.code == 0, ran.err
    return review_json.decode(ran.out, "standard output").threads


def lines(name, path):
    head, base = SEEDS / name / "head" / path, SEEDS / name / "base" / path
    return (head if head.exists() else base).read_text(encoding="utf-8").splitlines()


def holds(name, step, wanted):
    """Whether a step shows a line with that text."""
    path, _, text = wanted.partition(": ")
    return step.path == path and any(
        text in line for line in lines(name, path)[step.line - 1 : step.end_line]
    )


def missed(name, expected, threads):
    """What the review does not say of one weakness; nothing where it says it all."""
    at = [n for n, line in enumerate(lines(name, expected["path"]), 1) if line.startswith(expected["at"])]
    found = [
        thread.finding
        for thread in threads
        if expected["rule"] in (thread.finding.rule, *thread.also)
        and thread.finding.span.path == expected["path"]
        and thread.finding.span.line in at
    ]
    steps = [step for finding in found for step in finding.steps]
    says = [finding.message for finding in found]
    clauses = [clause for finding in found for clause in finding.still_catches]
    if not found:
        yield expected["rule"]
    yield from (
        wanted for wanted in expected["steps"] if not any(holds(name, step, wanted) for step in steps)
    )
    yield from () if any(expected.get("says", "") in text for text in says) else (says,)
    yield from () if any(expected["still"] in clause for clause in clauses) else (clauses,)


@pytest.mark.parametrize("name", NAMES)
def test_each_weakness_is_found_with_its_argument_and_nothing_else_is_claimed(reviewbot, repository, name):
    threads = reviewed(reviewbot, repository, name)
    listed = [one for one in EXPECTED[name]["finding"] if one["rule"] in rule_ids()]
    told = "\n".join(f"{t.finding.rule} {t.finding.span.path}:{t.finding.span.line}" for t in threads)
    assert [list(missed(name, one, threads)) for one in listed] == [[] for _ in listed], told
    # Questions may be asked beside.
    claimed = {thread.finding.rule for thread in threads if thread.finding.certainty != "question"}
    assert claimed <= {one["rule"] for one in listed}


def test_the_table_of_weaknesses_names_each_and_no_other():
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in (SEEDS / "README.md").read_text(encoding="utf-8").splitlines()[7:]
    ]
    told = [(repository, rule, line.split("`")[1]) for _, repository, rule, line in rows]
    assert sorted(told) == sorted(
        (name, one["rule"], one["path"]) for name in NAMES for one in EXPECTED[name]["finding"]
    )
    for _, name, rule, line in rows:
        begins = line.split("`")[3]
        found = [one for one in EXPECTED[name]["finding"] if one["rule"] == rule]
        assert any(one["at"].strip().startswith(begins[: len(one["at"].strip())]) for one in found), line
