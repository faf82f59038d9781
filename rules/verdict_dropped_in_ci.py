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

from reviewbot.flow.ci import is_ci
from reviewbot.flow.ci_verdicts import Lost, of_script, of_workflow
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
_LONGEST = 70


class VerdictDroppedInCi(Rule):
    kinds = ("script", "settings")
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
            bash tests/gpu/restore.sh | tee restore.log  # <- here
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
        for one in found:
            command = _short(one)
            says = f"the verdict of `{command}` does not count: {one.how}"
            if one.without:
                says = f"`{one.without}` is left out of `{command}`: is it run anywhere else?"
            catches = "nothing here: the job goes on, and passes, whatever the command says"
            yield self.finding_at(
                unit,
                line_span(unit, one.line, one.end_line),
                says,
                certainty=one.certainty,
                steps=[Step(path, one.by, one.by, one.says)] if one.by else [],
                still_catches=("nothing, if no other command runs it" if one.without else catches,),
            )


def _short(one: Lost) -> str:
    return one.command if len(one.command) <= _LONGEST else f"{one.command[: _LONGEST - 1]}…"
