"""A test or a comparison runs in CI, and its verdict does not count.

## Why
`pytest || true`, `compare.py a b | tee compare.log` in a shell without `pipefail`, `set +e`, `pytest &`, an
`if ! pytest` that only tells, `jq` without `-e` and `continue-on-error: true` make the job green whatever the
tests say. GitHub runs a step that names no shell with `bash -e`, in which a pipe ends with the status of its
last command, one that says `shell: bash` with `bash -eo pipefail`, and `bash -l {0}` as it stands, without
either. Nothing is said where a later command of the job reads what the command leaves, its log, its report
or an output of its step, and fails by it; where it cannot be told whether it does, that is asked.

## Instead
Let the command end the step. For a log write `set -o pipefail` or name `shell: bash`; what may fail today is
better marked in the tests one by one, as an expected failure that must fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from reviewbot.flow.ci import is_ci
from reviewbot.flow.ci_verdicts import Lost, counts_elsewhere, of_script, of_workflow
from reviewbot.flow.patterns import pattern
from reviewbot.flow.verdict_scripts import ends_by_a_verdict, may_fail_by_what_it_reads
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
    "jq",
    "&\n",
    "if ",
    "{0}",
)
_STARTS = ("python", "python3", "torchrun", "bash", "sh", ".", "uv", "coverage", "srun", "accelerate")
_TOOLS = ("pytest", "py.test", "unittest", "tox", "nox")
_RUNNERS = ("make", "cargo", "go", "npm")
_PASSED_ON = pattern(r"(^|[\s;&|])((ba|da|z)?sh\s+(-\w+\s+)*-\w*e|source\s|\.\s)")


class VerdictDroppedInCi(Rule):
    kinds = ("script", "settings")
    folds = True
    bad = (
        Example(
            """
            set -e
            python scripts/compare_rows.py a b || true  # <- here
            if [ -f planted.txt ]; then
              diff planted.txt picked.txt || true  # <- here
              compared=1; echo compared
            fi
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
        # What runs them is known by what it runs; a shell as it stands has neither -e nor pipefail.
        Example(
            """
            jobs:
              tides:
                steps:
                  - run: python -m tides.check a b || true  # <- here
                  - run: jq '.lost == 0' report.json  # <- here
                  - run: jq '.boats[] | .name' report.json
                  - run: pytest -q
                    continue-on-error: ${{ true }}  # <- here
                  - run: |
                      pytest tests/slow &  # <- here
                      wait
                  - run: |
                      if ! python -m unittest tests.boats; then  # <- here
                        echo "::warning::boats differ"
                      fi
                  - shell: bash -l {0}
                    run: |
                      pytest tests/fast  # <- here
                      echo done
                  - shell: bash -l {0}
                    run: pytest tests/fast | tee log  # <- here
            """,
            path=".github/workflows/ci.yml",
            files={
                "tides/__init__.py": "",
                "tides/check.py": "import sys\nfrom tides.rows import compare\n"
                "def main():\n    return 1 if compare(*map(open, sys.argv[1:])) else 0\n"
                "if __name__ == '__main__':\n    sys.exit(main())\n",
                "tides/rows.py": "def compare(one, other):\n"
                "    return [row for row in one if row != next(other)]\n",
            },
        ),
        Example(
            """
            #!/bin/bash
            if [ -n "$1" ]; then
              python -m pytest tests/fast  # <- here
            fi
            echo done
            """,
            path="ci/fast.sh",
        ),
        # What is printed, kept or uploaded fails nobody; nor does a reader whose own end is lost.
        Example(
            """
            jobs:
              orchard:
                steps:
                  - run: |
                      diff picked.csv planted.csv > rows.txt || true  # <- here
                      cat rows.txt
                  - run: pytest tests/trees --junitxml=trees.xml || true  # <- here
                  - run: |
                      pytest tests/apples 2>&1 | tee apples.log  # <- here
                      grep FAILED apples.log || true
                      if [ -f apples.log ]; then exit 1; fi
                  - run: |
                      pytest tests/pears > pears.log || true  # <- here
                      if grep -q FAILED pears.log; then
                        echo "::warning::pears differ"
                      fi
                  - run: |
                      pytest tests/plums > plums.log || true  # <- here
                      ! grep FAILED plums.log
                      echo done
                  - id: figs
                    run: pytest tests/figs || echo "rotten=1" >> $GITHUB_OUTPUT  # <- here
                  - if: steps.figs.outputs.rotten == '1'
                    run: echo "figs differ"
                  - run: |
                      pytest tests/nuts > nuts.log || true  # <- here
                      python tools/draw.py nuts.log
                      python -c "print(open('nuts.log').read())"
                  - run: pytest tests/dates > dates.log || true  # <- here
                  - run: grep passed dates.log || true
                  - run: pytest tests/limes > limes.log || true  # <- here
                  - if: failure()
                    run: |
                      ! grep FAILED limes.log
                  - uses: actions/upload-artifact@v4
                    if: always()
                    with:
                      name: trees
                      path: trees.xml
            """,
            path=".github/workflows/ci.yml",
        ),
    )
    good = (
        Example(
            """
            jobs:
              tides:
                steps:
                  - run: python -m tides.draw a b || true
                  - run: python -m tides.serve &
                  - run: jq -e '.lost == 0' report.json
                  - run: lost=$(jq '.lost == 0' report.json)
                  - run: jq '.lost == 0' report.json | grep -q true
                  - run: jq '.boats[] | select(.lost == 0)' report.json
                  - run: jq --exit-status '.lost == 0' report.json
                  - run: pytest -q
                    continue-on-error: ${{ matrix.next }}
                  - run: |
                      pytest tests/slow &
                      wait $!
                  - run: |
                      if ! pytest tests/boats; then
                        echo "::warning::boats differ"
                        exit 1
                      fi
                  - run: |
                      if ! pytest tests/boats; then
                        echo "lost=1" >> "$GITHUB_OUTPUT"
                      fi
                  - run: |
                      for _ in 1 2 3; do
                        if pytest tests/boats; then break; fi
                      done
                  - shell: bash -el {0}
                    run: |
                      pytest tests/fast
                      echo done
                  - shell: bash -l {0}
                    run: |
                      echo go
                      pytest tests/fast
            """,
            path=".github/workflows/ci.yml",
            files={
                "tides/__init__.py": "",
                "tides/draw.py": "import sys\n"
                "def main():\n    if len(sys.argv) != 3:\n        raise SystemExit('two files')\n"
                "if __name__ == '__main__':\n    main()\n",
            },
        ),
        # The last to run, one whose end is asked for, one in a function, and a script that bash -e runs.
        Example(
            """
            #!/bin/bash
            echo go
            if [ -n "$1" ]; then
              pytest tests/fast
            else
              pytest tests/slow
            fi
            """,
            path="ci/fast.sh",
        ),
        Example("pytest tests\nstatus=$?\necho done\nexit $status\n", path="ci/fast.sh"),
        Example("#!/bin/bash -e\npytest tests\necho done\n", path="ci/fast.sh"),
        Example("run() {\n  pytest tests\n  echo done\n}\nrun\n", path="ci/fast.sh"),
        Example(
            "pytest tests\necho done\n",
            path="ci/fast.sh",
            files={".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: bash -ex ci/fast.sh\n"},
        ),
        Example(
            """
            set -euo pipefail
            mkdir out || true
            docker rm -f box || true
            state=$(git diff --cached --name-status -- "$1" | awk '{print $1}')
            first=$(diff old.txt new.txt | head -1)
            bash tests/gpu/restore.sh | tee restore.log
            failed=0
            if ! diff -q planted.txt picked.txt; then
              diff planted.txt picked.txt || true
              failed=1
            fi
            [ "$failed" -eq 0 ] || exit 1
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
        # What the command leaves is read by a later one that fails by it.
        Example(
            """
            jobs:
              orchard:
                steps:
                  - run: |
                      diff picked.csv planted.csv > rows.txt || true
                      if [ -s rows.txt ]; then
                        cat rows.txt
                        exit 1
                      fi
                  - run: |
                      cmp picked.bin planted.bin > bytes.txt || true
                      test ! -s bytes.txt
                  - run: |
                      diff picked.json planted.json > json.txt || true
                      [ ! -s json.txt ] || exit 1
                  - run: |
                      pytest tests/apples > apples.log 2>&1 || true
                      grep -q '7 passed' apples.log
                  - run: |
                      pytest tests/pears 2>&1 | tee pears.log
                      ! grep -E 'FAILED|ERROR' pears.log
                  - run: pytest tests/plums | tee plums.log
                  - run: tail -1 "./plums.log" | grep passed
                  - run: |
                      pytest tests/figs | tee figs.log
                      rotten=$(grep -c FAILED figs.log)
                      echo "$rotten rotten"
                      [ "$rotten" -eq 0 ] || { echo rotten; exit 1; }
                  - run: pytest tests/nuts --json-report --json-report-file=nuts.json || true
                  - run: |
                      python -c "
                      import json, sys
                      sys.exit(json.load(open('nuts.json'))['exitcode'])
                      "
                  - run: pytest tests/limes --json-report || true
                  - run: jq -e '.summary.failed == 0' .report.json
                  - run: pytest tests/trees --junitxml=trees.xml || true
                  - run: python tools/count_rotten.py trees.xml
            """,
            path=".github/workflows/ci.yml",
            files={
                "tools/count_rotten.py": "import sys\n"
                "def main():\n    return open(sys.argv[1]).read().count('<failure')\n"
                "if __name__ == '__main__':\n    sys.exit(main())\n",
            },
        ),
        # A value that is handed on, by which a later step fails.
        Example(
            """
            jobs:
              orchard:
                steps:
                  - id: apples
                    run: pytest tests/apples || echo "rotten=1" >> $GITHUB_OUTPUT
                  - if: steps.apples.outputs.rotten == '1'
                    run: exit 1
                  - run: pytest tests/pears || echo "PEARS=rotten" >> "$GITHUB_ENV"
                  - if: env.PEARS == 'rotten'
                    run: |
                      echo "pears differ"
                      exit 1
                  - run: pytest tests/plums || echo "PLUMS=rotten" >> "$GITHUB_ENV"
                  - run: test "$PLUMS" != rotten
                  - id: figs
                    run: pytest tests/figs || echo "rotten=1" >> $GITHUB_OUTPUT
                  - env:
                      FIGS: ${{ steps.figs.outputs.rotten }}
                    run: |
                      if [ -n "$FIGS" ]; then exit 1; fi
                  - run: pytest tests/nuts || echo rotten > nuts.failed
                  - run: test ! -e nuts.failed
            """,
            path=".github/workflows/ci.yml",
        ),
        Example(
            """
            set -u
            pytest tests/apples | tee apples.log
            python - <<END
            text = open("apples.log").read()
            assert "failed" not in text
            END
            """,
            path="ci/apples.sh",
        ),
        # What is no list of CI, and no shell.
        Example("jobs:\n  unit:\n    steps:\n      - run: pytest || true\n", path="docs/example.yml"),
    )

    def suspect(self, unit: Unit) -> bool:
        text = unit.file.text
        return any(word in text for word in _LOSES) or (unit.kind == "script" and "set -" not in text)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        path, text = unit.file.path, unit.file.text
        ends = partial(ends_by_a_verdict, repo=repo)
        can_fail = partial(may_fail_by_what_it_reads, repo=repo)
        if unit.kind == "settings":
            found = of_workflow(text, ends, can_fail) if is_ci(path, repo) else iter(())
        elif path.endswith((".sh", ".bash")):
            found = of_script(text, ends, can_fail, ends_at_once=_is_run_with_errexit(path, repo))
        else:
            return
        told = list(found)
        if not told:
            return  # which files name it takes the facts of all of them
        asked = not any(is_ci(where, repo) for where in (path, *_named_in(path, repo)))
        for one in told:
            if not one.without:
                asked_about = replace(one, certainty="question") if asked else one
                workflow = unit.kind == "settings"
                again = counts_elsewhere(text, one, told, repo.pytest.testpaths, workflow=workflow)
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
            still_catches=(_still(one, again),),
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


def _still(one: Lost, again: int | None) -> str:
    if again is not None:
        return f"line {again} runs these tests as well, and its verdict counts"
    if one.read:
        return f"nothing for sure; line {one.read} reads what it leaves, and may fail by it"
    return "nothing here: the job goes on, and passes, whatever the command says"


def _named_in(path: str, repo: Repo) -> Iterator[str]:
    """The scripts and CI files that name a script. Of one that none of CI's names nobody may wait for."""
    for where, _ in repo.index.mentions(path.rpartition("/")[2]):
        if where != path:
            yield where


def _is_run_with_errexit(path: str, repo: Repo) -> bool:
    """Whether a line that names a script hands it to a shell with `-e`, or reads it into its own."""
    for where, mention in repo.index.mentions(path.rpartition("/")[2]):
        lines = (repo.read(where) or b"").decode("utf-8", "replace").splitlines() if where != path else []
        if mention.line <= len(lines) and _PASSED_ON.search(lines[mention.line - 1]):
            return True
    return False


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
    if "-m" in words[:-1] and words[0] in _STARTS:
        module = words[words.index("-m") + 1]
        return module if module == "pytest" else f"python -m {module}"
    if words[0] in _RUNNERS:
        return " ".join(words[:2])
    if words[0] == "jq":
        return one.command
    named = next((word for word in words if word.endswith((".py", ".sh", ".bash"))), words[0])
    if words[0] in _STARTS:
        return named if named != words[0] else next((word for word in words if word in _TOOLS), named)
    return words[0]
