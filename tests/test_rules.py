"""Every rule's own examples and documentation hold."""

from __future__ import annotations

import ast
from difflib import SequenceMatcher

import pytest

from reviewbot.lint import registry
from reviewbot.lint.against import Against
from reviewbot.lint.engine import lint_file
from reviewbot.lint.fixes import applied
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example
from reviewbot.source.diff import FileDiff
from reviewbot.source.files import InMemory
from reviewbot.source.units import file_of

RULES = [registry.load(rule_id) for rule_id in registry.rule_ids()]
BAD = [
    pytest.param(rule, example, id=f"{rule.id}-{n}") for rule in RULES for n, example in enumerate(rule.bad)
]
GOOD = [
    pytest.param(rule, example, id=f"{rule.id}-{n}") for rule in RULES for n, example in enumerate(rule.good)
]


def repository(example: Example) -> Repo:
    """The files of an example; with a change under review where it says what was before."""
    head = {**example.files, example.path: example.code}
    base = {**head, **example.before}
    diff = tuple(file_diff(path, text, head.get(path)) for path, text in example.before.items())
    against = Against(InMemory(encoded(base)), diff) if example.before else None
    return Repo(files=InMemory(encoded(head)), against=against)


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


def file_diff(path: str, before: str, after: str | None) -> FileDiff:
    """What a diff would say of one file, without context; `after` is None for one that is deleted."""
    if after is None:
        return FileDiff(None, path, (), ((1, len(before.splitlines())),))
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    edits = [edit for edit in matcher.get_opcodes() if edit[0] != "equal"]
    changed = tuple((first + 1, last) for *_, first, last in edits)
    removed = tuple((first + 1, last) for _, first, last, *_ in edits if last > first)
    return FileDiff(path, path, changed, removed)


def reported(rule, example: Example, *, prefilter: bool) -> set[int]:
    file = file_of(example.path, example.code.encode())
    repo = repository(example)
    found = list(lint_file(file, [rule], repo, prefilter=prefilter))
    assert len({(finding.span, finding.message) for finding in found}) == len(found), "reported twice"
    return {finding.span.line for finding in found}


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_a_bad_example_is_reported_where_it_is_marked(rule, example):
    assert example.marked(), "a bad example marks no line"
    assert reported(rule, example, prefilter=True) == example.marked()


@pytest.mark.parametrize(("rule", "example"), GOOD)
def test_a_good_example_is_left_alone(rule, example):
    assert reported(rule, example, prefilter=True) == set()


@pytest.mark.parametrize(("rule", "example"), BAD + GOOD)
def test_the_prefilter_changes_nothing(rule, example):
    with_it, without = (reported(rule, example, prefilter=on) for on in (True, False))
    assert with_it == without


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_a_proposed_fix_leaves_valid_python(rule, example):
    file = file_of(example.path, example.code.encode())
    for finding in lint_file(file, [rule], repository(example)):
        if finding.fix is not None and {edit.path for edit in finding.fix.edits} == {example.path}:
            assert applied(example.path, file.content, [finding.fix.edits])[1] == 1, finding.fix


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_explains_itself(rule):
    text = registry.docstring(rule.id)
    assert text.split("\n", 1)[0].endswith(".")
    assert "\n## Why\n" in text
    assert "\n## Instead\n" in text
    assert rule.bad
    assert rule.good
    for example in (*rule.bad, *rule.good):
        if example.path.endswith(".py"):
            ast.parse(example.code)
