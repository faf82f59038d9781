"""A test script that nothing runs stands among scripts that CI runs.

## Why
A functional test that CI does not name has never failed, and never can: it only looks as if the change were
covered. The scripts beside it are listed, so this one was most likely forgotten.

## Instead
Add it to the list that names its neighbours. If it is a helper that is sourced, or is to be run by hand
alone, say so in its first lines.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from reviewbot.flow.ci import is_ci
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Span, Step, Unit

_HELPERS = ("helper", "common", "lib", "util", "env", "setup", "config", "prepare", "source", "functions")
_TESTS = ("test", "functional", "e2e", "integration", "nightly")
_RUNS_ALL = {".ci/a.sh": "for f in tests/*.sh; do bash $f; done\n", "tests/resume.sh": "bash a.sh\n"}
_RUNS_BOTH = {".ci/list.sh": "run bash tests/resume.sh\n", "tests/resume.sh": "python -c 1\n"}


class NeverRunScript(Rule):
    kinds = ("script",)
    bad = (
        Example(
            """
            set -e  # <- here
            python tests/compare.py "$@"
            """,
            path="tests/restore.sh",
            files=_RUNS_BOTH,
        ),
    )
    good = (
        Example("python -c 1\n", path="tests/resume.sh", files=_RUNS_BOTH),
        Example("set -e\n", path="tests/common.sh", files=_RUNS_BOTH),
        Example("set -e\n", path="tests/restore.sh", files=_RUNS_ALL),
        Example(
            "set -e\n",
            path="tests/restore.sh",
            files={**_RUNS_BOTH, "tests/resume.sh": 'source "$(dirname $0)/restore.sh"\n'},
        ),
        Example("set -e\n", path="tools/build.sh", files=_RUNS_BOTH),
    )

    def suspect(self, unit: Unit) -> bool:
        folders = unit.file.path.lower().split("/")[:-1]
        name = unit.file.path.rpartition("/")[2].lower()
        return any(any(word in folder for word in _TESTS) for folder in folders) and not any(
            word in name for word in _HELPERS
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        path = unit.file.path
        name = path.rpartition("/")[2]
        if _named(path, repo):
            return
        listed = list(_neighbours(path, repo))
        if not listed:
            return
        where, line, neighbour = listed[0]
        last = len(unit.file.lines)
        yield self.finding_at(
            unit,
            Span(path, 1, 1, min(3, last), len(unit.file.lines[min(3, last) - 1].rstrip("\n")) + 1),
            f"no CI file and no script names `{name}`: it has never run there",
            certainty="likely",
            steps=[
                Step(where, line, line, f"its neighbour `{neighbour.rpartition('/')[2]}` is run from here"),
            ],
            still_catches=(f"nothing: whatever `{name}` checks is checked only by hand",),
        )


def _named(path: str, repo: Repo) -> bool:
    """Whether anything else names a script: by its name, by a pattern, by the folder that it stands in, or
    from Python code."""
    folder, _, name = path.rpartition("/")
    if any(other != path for other, _ in repo.index.mentions(name)):
        return True
    for other, mention in repo.index.mentions("*"):
        pattern = mention.word.lstrip("./")
        if other != path and (fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"*/{pattern}")):
            return True
    for other, mention in repo.index.mentions(folder.rpartition("/")[2]):
        if other != path and mention.word.strip("./") and folder.endswith(mention.word.strip("./")):
            return True
    return False


def _neighbours(path: str, repo: Repo) -> Iterator[tuple[str, int, str]]:
    """Scripts of the same folder and kind that a CI file names: that file, the line, the script."""
    folder, _, name = path.rpartition("/")
    suffix = name.rpartition(".")[2]
    for other in repo.index.paths_in(folder):
        if other == path or not other.endswith(f".{suffix}"):
            continue
        for where, mention in repo.index.mentions(other.rpartition("/")[2]):
            if is_ci(where, repo) and where != path:
                yield where, mention.line, other
