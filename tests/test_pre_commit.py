"""The hooks that pre-commit is offered run what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

HOOKS = YAML(typ="safe").load(Path(__file__).parent.parent / ".pre-commit-hooks.yaml")
WEAK = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_checks_the_files_it_is_given_and_no_excluded_one(reviewbot, tmp_path, hook):
    (tmp_path / "pyproject.toml").write_text('[tool.reviewbot]\nexclude = ["gen"]\n')
    for name in ("test_a.py", "gen/test_b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(WEAK)
    program, *words = hook["entry"].split()
    assert program == "reviewbot"
    assert hook["language"] == "python"
    assert "python" in hook.get("types", hook.get("types_or"))
    assert reviewbot(*words, "gen/test_b.py").code == 0
    ran = reviewbot(*words, "test_a.py", "gen/test_b.py")
    fixes = hook["id"].endswith("-fix")
    assert ran.code == (0 if fixes else 1)
    assert ("assert run(1)" in (tmp_path / "test_a.py").read_text()) == fixes
    assert (tmp_path / "gen/test_b.py").read_text() == WEAK


WORKFLOW = """\
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: python -m pytest tests/test_a.py || true
"""


def test_the_hook_that_only_looks_is_given_what_runs_the_tests_too(reviewbot, tmp_path):
    """A workflow drops the verdict of the tests in a file that is no Python."""
    (hook,) = (hook for hook in HOOKS if hook["id"] == "reviewbot")
    assert {"python", "yaml", "shell"} == set(hook["types_or"])
    for name, text in {
        ".github/workflows/test.yml": WORKFLOW,
        "tests/test_a.py": "def test(): assert len('a')\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "other.yml").write_text("rows: [1\n")
    ran = reviewbot(*hook["entry"].split()[1:], ".github/workflows/test.yml", "other.yml")
    assert ".github/workflows/test.yml:6" in ran.out and "[verdict-dropped-in-ci]" in ran.out
