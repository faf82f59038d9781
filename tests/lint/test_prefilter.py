"""What is not looked at would not have been reported."""

from __future__ import annotations

import pytest

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import examine
from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory
from tests.corpus import STANDARD_LIBRARY, sample


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_findings_are_the_same_with_and_without_the_prefilter():
    rules = [registry.load(rule_id) for rule_id in registry.rule_ids()]
    files = {path.relative_to(STANDARD_LIBRARY).as_posix(): path.read_bytes() for path in sample(100)}
    repo = Repo(Config(rule_seconds=600), InMemory(files))
    found = {True: [], False: []}
    for path, content in files.items():
        for prefilter, findings in found.items():
            findings += examine(path, content, rules, repo, prefilter=prefilter).findings
    print(f"{len(files)} files, {len(found[True])} findings")
    assert found[True] == found[False]
    assert len(found[True]) > 20
