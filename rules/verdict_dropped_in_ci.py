"""A test or a comparison runs in CI, and its verdict does not count.

## Why
`pytest || true`, `compare.py a b | tee compare.log` in a shell without `pipefail`, `set +e` and
`continue-on-error: true` make the job green whatever the tests say. GitHub runs a step that names no
shell with `bash -e`, in which a pipe ends with the status of its last command.

## Instead
Let the command end the step. For a log write `set -o pipefail` or name `shell: bash`; what may fail today is
better marked in the tests one by one, as an expected failure that must fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reviewbot.flow.ci import is_ci
from reviewbot.flow.ci_verdicts import Lost, counts_elsewhere, of_script, of_workflow
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, line_span

_LOSES = (
    "||",
    "tee",
    "set +",
    "continue-on-error",
    "exit 0",
    "--deselect",
    "--ignore",
    "not ",
    "tail",
    "; true",
)
_STARTS = ("python", "python3", "torchrun", "bash", "sh", ".", "uv", "coverage", "srun", "accelerate")


class VerdictDroppedInCi(Rule):
    kinds = ("script", "settings")
    folds = True
    bad = (
        Example(
            """
            set -e
            python scripts/compare_rows.py a b || true  # <- here
            """,
            path="ci/nightly.sh",
        ),
        Example(
            """
            set -e
            bash tests/gpu/restore.sh "$(mktemp -d)" | tee restore.log  # <- here
            """,
            path="ci/gpu.sh",
        ),
        Example(
            """
            jobs:
              unit:
                steps:
                  - run: pytest tests -q || true  # <- here
                  - run: pytest tests -q | tee tests.log  # <- here
                  - run: pytest tests --deselect tests/test_parity.py::test_restored  # <- here
                  - run: |
                      set +e
                      python scripts/compare_rows.py a b  # <- here
                      echo finished
                  - run: python scripts/compare_rows.py a b
                    continue-on-error: true  # <- here
            """,
            path=".github/workflows/ci.yml",
        ),
    )
    good = (
        Example(
            """
            set -euo pipefail
            mkdir out || true
            docker rm -f box || true
            state=$(git diff --cached --name-status -- "$1" | awk '{print $1}')
            first=$(diff old.txt new.txt | head -1)
            bash tests/gpu/restore.sh | tee restore.log
            set +e
            python scripts/compare_rows.py a b
            status=$?
            set -e
            pytest tests || exit 1
            exit $status
            """,
            path="ci/gpu.sh",
        ),
        Example(
            """
            jobs:
              unit:
                steps:
                  - run: pytest tests -q | tee tests.log
                    shell: bash
                  - run: ruff check . || true
                  - id: parity
                    run: python scripts/compare_rows.py a b
                    continue-on-error: true
                  - run: exit 1
                    if: steps.parity.outcome == 'failure'
                  - run: pytest tests -k "not slow" --ignore=docs
            """,
            path=".github/workflows/ci.yml",
        ),
        # What is no list of CI, and no shell.
        Example("jobs:\n  unit:\n    steps:\n      - run: pytest || true\n", path="docs/example.yml"),
    )

    def suspect(self, unit: Unit) -> bool:
        return any(word in unit.file.text for word in _LOSES)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        path, text = unit.file.path, unit.file.text
        if unit.kind == "settings":
            found = of_workflow(text) if is_ci(path, repo) else iter(())
        elif path.endswith((".sh", ".bash")):
            found = of_script(text)
        else:
            return
        told = list(found)
        if not told:
            return  # which files name it takes the facts of all of them
        asked = not any(is_ci(where, repo) for where in (path, *_named_in(path, repo)))
        for one in told:
            if not one.without:
                asked_about = replace(one, certainty="question") if asked else one
                again = counts_elsewhere(text, one, told, repo.pytest.testpaths)
                yield self._lost(unit, asked_about, again)
        for line in sorted({one.line for one in told if one.without}):
            kept = [one for one in told if one.without and one.line == line]
            apart = [one for one in kept if not _is_run_elsewhere(path, one, told, repo)]
            if apart:
                yield self._left_out(unit, apart)

    def _lost(self, unit: Unit, one: Lost, again: int | None) -> Finding:
        """`again` is the line of another command that runs the same, and whose verdict counts."""
        return self.finding_at(
            unit,
            line_span(unit, one.line, one.end_line),
            f"the verdict of {'this run of ' if again else ''}`{_short(one)}` does not count: {one.how}",
            certainty=one.certainty if again is None else "question",
            steps=[Step(unit.file.path, one.by, one.by, one.says)] if one.by else [],
            still_catches=(
                "nothing here: the job goes on, and passes, whatever the command says"
                if again is None
                else f"line {again} runs these tests as well, and its verdict counts",
            ),
        )

    def _left_out(self, unit: Unit, apart: list[Lost]) -> Finding:
        names = ", ".join(f"`{one.without}`" for one in apart)
        return self.finding_at(
            unit,
            line_span(unit, apart[0].line, apart[0].end_line),
            f"{names} {'is' if len(apart) == 1 else 'are'} left out of `{_short(apart[0])}`: what else runs"
            f" {'it' if len(apart) == 1 else 'them'}?",
            certainty="question",
            still_catches=("nothing, if no other command runs it",),
        )


def _named_in(path: str, repo: Repo) -> Iterator[str]:
    """The scripts and CI files that name a script. Of one that none of CI's names nobody may wait for."""
    for where, _ in repo.index.mentions(path.rpartition("/")[2]):
        if where != path:
            yield where


def _is_run_elsewhere(path: str, one: Lost, told: list[Lost], repo: Repo) -> bool:
    """Whether another line of CI names a file that a command leaves out, and does not leave it out too."""
    name = one.without.partition("::")[0].rpartition("/")[2]
    left = {line for other in told if name in other.without for line in range(other.line, other.end_line + 1)}
    return name.endswith(".py") and any(
        where != path or mention.line not in left
        for where, mention in repo.index.mentions(name)
        if is_ci(where, repo)
    )


def _short(one: Lost) -> str:
    """What is run, without its options."""
    words = one.command.split()
    named = next((word for word in words if word.endswith((".py", ".sh", ".bash"))), words[0])
    return named if words[0] in _STARTS else words[0]
