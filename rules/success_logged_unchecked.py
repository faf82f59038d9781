"""Success is reported on a path on which nothing has looked at the outcome.

## Why
The line "restored successfully" is printed after a command whose exit status nobody reads, or after a handler
that swallows every failure. Whoever reads the log, and whatever greps it, takes the failure for a success.

## Instead
Say so only where the outcome was looked at: `subprocess.run(..., check=True)`, the report inside the `try` or
in its `else`, `set -e` in a script.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.handlers import caught
from reviewbot.flow.outcomes import Claim, claims, claims_of_script, may_claim
from reviewbot.flow.syntax import dotted
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Span, Step, Unit, step


class SuccessLoggedUnchecked(Rule):
    kinds = ("function", "method", "module", "script")
    bad = (
        Example(
            """
            import subprocess

            def convert(source, target):
                subprocess.run(["convert", source, target])
                print(f"Converted {source} successfully")  # <- here
            """,
            path="tools/convert.py",
        ),
        Example(
            """
            import logging

            log = logging.getLogger(__name__)

            def restore(engine, saved):
                try:
                    engine.load(saved)
                except Exception as error:
                    log.warning("cannot load: %s", error)
                log.info("restored successfully")  # <- here
            """,
            path="worker/restore.py",
        ),
        Example(
            """
            #!/bin/bash
            python tests/parity.py
            echo "All tests passed"  # <- here
            """,
            path="tests/run.sh",
        ),
        Example(
            """
            python tests/compare.py a b
            echo "PASS: rows match"  # <- here
            """,
            path="tools/check.sh",
        ),
    )
    good = (
        Example(
            """
            import subprocess

            def convert(source, target):
                subprocess.run(["convert", source, target], check=True)
                print("converted successfully")
                done = subprocess.run(["check", target])
                if done.returncode:
                    raise RuntimeError(target)
                print("checked successfully")

            def restore(engine, saved, log):
                try:
                    engine.load(saved)
                except Exception as error:
                    log.warning("cannot load: %s", error)
                    return
                log.info("restored successfully")

            def load(engine, saved, log):
                try:
                    engine.load(saved)
                except Exception:
                    engine.reset()
                log.info("the engine started successfully")

            def make(engine, folder):
                engine.build(folder)
                try:
                    engine.warm(folder)
                except Exception as error:
                    print(f"Warning: could not warm it up (this is OK for a first run): {error}")
                print("SUCCESS: engine made")

            def clean(folder, log):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    pass
                log.info("removed successfully")

            def push(hub, folder, log):
                try:
                    hub.gate(folder)
                except Exception:
                    log.warning("cannot gate")
                hub.upload(folder)
                log.info("pushed successfully")

            def tell(engine, log):
                try:
                    engine.load()
                except Exception:
                    log.warning("cannot load")
                log.info("not successful if there is a warning above")
            """,
            path="tools/convert.py",
        ),
        Example(
            """
            #!/bin/bash
            set -euo pipefail
            python tests/parity.py
            echo "All tests passed"
            """,
            path="tests/run.sh",
        ),
        Example(
            """
            #!/bin/bash
            if python tests/parity.py; then
                echo "All tests passed"
            fi
            python tests/more.py || exit 1
            echo "All tests passed"
            """,
            path="tests/run_more.sh",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return "echo" in unit.file.text if unit.kind == "script" else may_claim(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if unit.kind == "script":
            yield from self._of_script(unit)
            return
        for claim in claims(unit) if may_claim(unit) else ():
            yield self.finding(
                unit,
                claim.says,
                f"success is reported here whether or not {_what(claim)}",
                certainty="likely",
                steps=[
                    step(unit, _anchor(claim.ignored), _how(claim)),
                    step(unit, claim.says, "and here it is said to have gone well"),
                ],
                still_catches=("nothing on this path: whoever reads the log takes a failure for a success",),
            )

    def _of_script(self, unit: Unit) -> Iterator[Finding]:
        path = unit.file.path
        for run, said in claims_of_script(unit.file.text):
            width = len(unit.file.lines[said.end_line - 1].rstrip("\n")) + 1
            yield self.finding_at(
                unit,
                Span(path, said.line, 1, said.end_line, width),
                f"success is reported here whether or not `{' '.join(run.program)}` fails, "
                "and the script does not end at a failure",
                certainty="likely",
                steps=[Step(path, run.line, run.end_line, "nothing looks at how this ends")],
                still_catches=("nothing: the script goes on, and ends with the status of its last command",),
            )


def _what(claim: Claim) -> str:
    if isinstance(claim.ignored, cst.Call):
        return f"the command that `{dotted(claim.ignored.func)}` runs fails"
    return "the `try` above has failed"


def _how(claim: Claim) -> str:
    if isinstance(claim.ignored, cst.ExceptHandler):
        kinds = " or ".join(sorted(filter(None, caught(claim.ignored)))) or "everything"
        return f"{kinds} is caught here, and the code goes on as if nothing had happened"
    return "nothing looks at how this command ends"


def _anchor(node: cst.CSTNode) -> cst.CSTNode:
    return node.type if isinstance(node, cst.ExceptHandler) and node.type is not None else node
