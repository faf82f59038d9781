"""A test script that nothing runs stands among scripts that CI runs.

## Why
A functional test that CI does not name has never failed, and never can: it only looks as if the change were
covered. The scripts beside it are listed, so this one was most likely forgotten. Of a comparison in Python
that nothing runs, imports or tells of it is only asked.

## Instead
Add it to the list that names its neighbours. If it is a helper that is sourced, or is to be run by hand
alone, say so in its first lines.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from reviewbot.flow.ci import is_ci
from reviewbot.flow.patterns import pattern
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Span, Step, Unit

_HELPERS = ("helper", "common", "lib", "util", "env", "setup", "config", "prepare", "source", "functions")
_TESTS = ("test", "functional", "e2e", "integration", "nightly")
_RUNS_ALL = {".ci/a.sh": "for f in tests/*.sh; do bash $f; done\n", "tests/resume.sh": "bash a.sh\n"}
_RUNS_BOTH = {".ci/list.sh": "run bash tests/resume.sh\n", "tests/resume.sh": "python -c 1\n"}
_COMPARES = """
import sys

def main(left, right):
    return 0 if open(left).read() == open(right).read() else 1

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
"""
_SAYS_COMPARE = pattern(r"(?i)(^|_)(compare\w*|comparison|parity|verify\w*|equivalence|diff)(_|$)")
_MAIN = pattern(r"^if __name__ == ['\"]__main__['\"]:", re.MULTILINE)
_FAILS = pattern(r"\bsys\.exit\(|\bSystemExit\b|^\s*(assert|raise)\b", re.MULTILINE)
_CI_FOLDERS = (".github/workflows", ".ci", "ci", ".buildkite", ".circleci")
_READ = 200  # files that are looked through for the name of a script


class NeverRunScript(Rule):
    kinds = ("script", "module")
    bad = (
        Example(
            """
            set -e  # <- here
            python tests/compare.py "$@"
            """,
            path="tests/restore.sh",
            files=_RUNS_BOTH,
        ),
        # A loop over names leaves it out.
        Example(
            """
            set -e  # <- here
            python tests/compare.py "$@"
            """,
            path="tests/restore.sh",
            files={
                ".ci/list.sh": "for name in resume restart; do\n  bash tests/$name.sh\ndone\n",
                "tests/resume.sh": "python -c 1\n",
            },
        ),
        # A comparison that is run by hand, if at all: a question.
        Example(
            _COMPARES.replace("import sys", "import sys  # <- here"),
            path="tools/compare_rows.py",
            files={".ci/list.sh": "run bash tests/resume.sh\n"},
        ),
    )
    good = (
        Example(
            _COMPARES,
            path="tools/compare_rows.py",
            files={".ci/list.sh": "python tools/compare_rows.py a b\n"},
        ),
        Example(
            _COMPARES,
            path="tools/compare_rows.py",
            files={".ci/list.sh": "run tests\n", "tools/README.md": "Run `compare_rows.py` by hand.\n"},
        ),
        Example(
            _COMPARES,
            path="tools/compare_rows.py",
            files={
                ".ci/list.sh": "run tests\n",
                "tests/test_tools.py": "import subprocess\n\nsubprocess.run(['tools/compare_rows.py'])\n",
            },
        ),
        Example(
            _COMPARES,
            path="tools/compare_rows.py",
            files={
                ".ci/list.sh": "run tests\n",
                "tests/test_rows.py": "from tools.compare_rows import main\n",
            },
        ),
        Example("python -c 1\n", path="tests/resume.sh", files=_RUNS_BOTH),
        Example("set -e\n", path="tests/common.sh", files=_RUNS_BOTH),
        Example("set -e\n", path="tests/restore.sh", files=_RUNS_ALL),
        Example(
            "set -e\n",
            path="tests/restore.sh",
            files={**_RUNS_BOTH, "tests/resume.sh": 'source "$(dirname $0)/restore.sh"\n'},
        ),
        Example(
            "set -e\n",
            path="tests/restore.sh",
            files={
                **_RUNS_BOTH,
                ".ci/all.sh": 'for name in resume restore; do\n  bash "tests/${name}.sh"\ndone\n',
            },
        ),
        Example(
            "set -e\n",
            path="tests/restore_cpu_test.sh",
            files={**_RUNS_BOTH, "Jenkinsfile": 'sh "bash tests/restore_${device}_test.sh"\n'},
        ),
        Example("set -e\n", path="tools/build.sh", files=_RUNS_BOTH),
        Example(
            "set -e\n./tests/resume.sh\n./tests/restart.sh\n",
            path="tests/everything.sh",
            files={**_RUNS_BOTH, "tests/restart.sh": "python -c 1\n"},
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if unit.kind == "module":
            return _is_comparison_script(unit)
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
        if unit.kind == "module":
            yield from self._python(unit, repo)
            return
        listed = list(_neighbours(path, repo))
        if not listed or _starts_others(unit, repo):
            return
        where, line, neighbour = listed[0]
        last = len(unit.file.lines)
        yield self.finding_at(
            unit,
            Span(path, 1, 1, min(3, last), len(unit.file.lines[min(3, last) - 1].rstrip("\n")) + 1),
            f"no CI file and no script names `{name}`: does anybody run it?",
            certainty="question",  # people run some scripts by hand
            steps=[
                Step(where, line, line, f"its neighbour `{neighbour.rpartition('/')[2]}` is run from here"),
            ],
            still_catches=(f"nothing: whatever `{name}` checks is checked only by hand",),
        )

    def _python(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        path = unit.file.path
        name = path.rpartition("/")[2]
        if not _has_ci(path, repo) or _is_imported(unit, repo) or _is_told_of(path, repo):
            return
        main = unit.file.text.count("\n", 0, _MAIN.search(unit.file.text).start()) + 1  # type: ignore[union-attr]
        first = min(one.lineno for one in unit.file.tree.body)
        yield self.finding_at(
            unit,
            Span(path, first, 1, first, len(unit.file.lines[first - 1].rstrip("\n")) + 1),
            f"no CI file, Makefile, README or test names `{name}`: does anybody run this comparison?",
            certainty="question",
            steps=[Step(path, main, main, "it is there to be run, and to fail where the two sides differ")],
            still_catches=(f"nothing: whatever `{name}` compares is compared only by hand",),
        )


def _starts_others(unit: Unit, repo: Repo) -> bool:
    """Whether a script starts several neighbours of its own kind one by one, which saves people typing. What
    it has its work done by, such as a program that compares, is none."""
    folder, _, own = unit.file.path.rpartition("/")
    names = {path.rpartition("/")[2] for path in repo.index.paths_in(folder)} - {own}
    alike = [name for name in names if name.rpartition(".")[2] == own.rpartition(".")[2]]
    tests = [name for name in alike if not any(word in name.lower() for word in _HELPERS)]
    return sum(name in unit.file.text for name in tests) > 1


def _is_comparison_script(unit: Unit) -> bool:
    """Whether a Python file is a script that by its name compares, and that can fail."""
    stem = unit.file.path.rpartition("/")[2].removesuffix(".py")
    if stem.startswith("test_") or stem.endswith("_test") or not _SAYS_COMPARE.search(stem):
        return False
    return _MAIN.search(unit.file.text) is not None and _FAILS.search(unit.file.text) is not None


def _above(path: str) -> Iterator[str]:
    """The folders above a path, each with a slash at its end, nearest first; "" is the working folder."""
    folder = path.rpartition("/")[0]
    while folder:
        yield f"{folder}/"
        folder = folder.rpartition("/")[0]
    if not path.startswith(("/", "..")):
        yield ""


def _has_ci(path: str, repo: Repo) -> bool:
    """Whether the repository has a list of what its CI runs at all."""
    return any(
        repo.index.paths_in(f"{above}{folder}") for above in _above(path) for folder in _CI_FOLDERS
    ) or any(repo.read(f"{above}{name}") for above in _above(path) for name in ("Makefile", "tox.ini"))


def _is_imported(unit: Unit, repo: Repo) -> bool:
    """Whether another file imports the script, or something from it."""
    path = unit.file.path
    stem = path.rpartition("/")[2].removesuffix(".py")
    own = [stem, *(one.name for one in unit.file.units if one.kind in ("function", "class"))]
    found = [at for name in own for at in repo.index.look("import", name) if at.path != path]
    return any(f".{stem}." in f".{at.fact.target}." for at in found)


def _is_told_of(path: str, repo: Repo) -> bool:
    """Whether a README or a Python file beside the script, or among the tests, names it."""
    name = path.rpartition("/")[2].encode()
    for above in _above(path):
        for document in ("README.md", "README.rst", "CONTRIBUTING.md"):
            if name in (repo.read(f"{above}{document}") or b""):
                return True
    folders = {path.rpartition("/")[0], *(f"{above}{tests}" for above in _above(path) for tests in _PLACES)}
    others = [one for folder in sorted(folders) for one in repo.index.paths_in(folder) if one != path]
    return any(name in (repo.read(one) or b"") for one in others[:_READ] if one.endswith(".py"))


_PLACES = ("tests", "test", "tests/functional", "tests/integration", "scripts", "tools")


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
