"""Success is reported on a path on which nothing has looked at the outcome.

## Why
The line "restored successfully" is printed after a command whose exit status nobody reads, or after a handler
that swallows every failure. Whoever reads the log, and whatever greps it, takes the failure for a success.
So does whoever looks at the exit status of a script that ends with `sys.exit(ok)` (True is 1, a
failure; False is 0), with the number of differences (256 is 0), or with 0 whatever it has printed of what
differs.

## Instead
Say so only where the outcome was looked at: `subprocess.run(..., check=True)`, the report inside the `try` or
in its `else`, `set -e` in a script, `sys.exit(not ok)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from reviewbot.flow.always_well import AlwaysWell, always_well
from reviewbot.flow.exit_status import (
    Counted,
    Inverted,
    Unread,
    counted_status,
    inverted_status,
    unread_verdicts,
)
from reviewbot.flow.handlers import caught
from reviewbot.flow.judging import judges
from reviewbot.flow.outcomes import Claim, claims, claims_of_script, may_claim
from reviewbot.flow.syntax import dotted
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Span, Step, Unit, step, tree_span
from reviewbot.model import Edit


class SuccessLoggedUnchecked(Rule):
    kinds = ("function", "method", "module", "script")
    bad = (
        Example(
            """
            import sys

            def different(left, right):
                return [a for a, b in zip(left, right, strict=True) if a != b]

            def main():
                found = different(load(sys.argv[1]), load(sys.argv[2]))
                print(len(found), "differ")
                return len(found)

            if __name__ == "__main__":
                sys.exit(main())  # <- here
            """,
            path="tools/compare_rows.py",
        ),
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
            import logging

            class TideError(AssertionError):
                pass

            def compare_tides(left, right):
                if left != right:
                    raise TideError("tides")

            def main(a, b):
                try:
                    compare_tides(a, b)
                except TideError as error:
                    logging.warning("tides: %s", error)
                print("tides ok")  # <- here
            """,
            path="harbour/tides.py",
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
        Example(
            """
            import sys

            def main():
                if read(sys.argv[1]) != read(sys.argv[2]):
                    print("differ")
                    return False
                print("equal")
                return True

            if __name__ == "__main__":
                sys.exit(main())  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            same = read(sys.argv[1]) == read(sys.argv[2])
            sys.exit(same)  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def main(left, right):
                ok = True
                for one, other in zip(left, right, strict=True):
                    if one != other:
                        print(one, other)
                        ok = False
                return ok

            if __name__ == "__main__":
                raise SystemExit(main(read(sys.argv[1]), read(sys.argv[2])))  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys
            import numpy as np

            def main():
                left, right = np.load(sys.argv[1]), np.load(sys.argv[2])
                sys.exit(np.allclose(left, right))  # <- here

            def rows_equal(left, right):
                return len(left) == len(right) and all(a == b for a, b in zip(left, right, strict=True))

            def rows():
                equal = rows_equal(read(sys.argv[1]), read(sys.argv[2]))
                sys.exit(equal)  # <- here

            def counted(left, right):
                failures = [a for a, b in zip(left, right, strict=True) if a != b]
                sys.exit(not failures)  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def compare(ref, new):
                bad = 0
                for key in ref:
                    if ref[key]["tokens"] != new[key]["tokens"]:
                        bad += 1
                return bad

            if __name__ == "__main__":
                bad = compare(read(sys.argv[1]), read(sys.argv[2]))
                print(f"{bad} rollouts differ")
                sys.exit(0)  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def differences(left, right):
                found = []
                for one, other in zip(left, right, strict=True):
                    if one != other:
                        found.append(one)
                return found

            def main():
                found = differences(read(sys.argv[1]), read(sys.argv[2]))
                for row in found:
                    print(row)
                sys.exit(0)  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def rows_equal(left, right):
                return left == right

            def main():
                equal = rows_equal(read(sys.argv[1]), read(sys.argv[2]))
                if equal:
                    print("equal")
                else:
                    print("differ")
                raise SystemExit(0)  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import logging
            import sys

            def mismatches(left, right):
                errors = []
                for one, other in zip(left, right, strict=True):
                    if one != other:
                        errors.append(one)
                return errors

            errors = mismatches(read(sys.argv[1]), read(sys.argv[2]))
            if errors:
                logging.error("%d rows differ", len(errors))
            exit()  # <- here
            """,
            path="scripts/rows.py",
        ),
        # A comparison that tells what differs, and always ends with 0.
        Example(
            """
            import sys

            def main():
                left, right = read(sys.argv[1]), read(sys.argv[2])
                for ship in left:
                    if left[ship] != right[ship]:
                        print(f"{ship} differs")
                sys.exit(0)  # <- here

            def count():
                status = 0
                left, right = read(sys.argv[1]), read(sys.argv[2])
                for ship in left:
                    if left[ship] != right[ship]:
                        print(ship, "differs")
                return status  # <- here

            def flagged():
                failed = False
                left, right = read(sys.argv[1]), read(sys.argv[2])
                for ship in left:
                    if left[ship] != right[ship]:
                        print(ship, "differs")
                        ok = False
                return 1 if failed else 0  # <- here

            if __name__ == "__main__":
                if sys.argv[3:]:
                    sys.exit(count())
                sys.exit(flagged())
            """,
            path="tools/compare_ships.py",
        ),
    )
    good = (
        Example(
            """
            import sys

            def main():
                found = different(load(sys.argv[1]), load(sys.argv[2]))
                if len(sys.argv) > 3:
                    sys.exit(min(len(found), 255))
                if found:
                    sys.exit(f"{len(found)} differ")
                return bool(found)

            if __name__ == "__main__":
                sys.exit(main())
            """,
            path="tools/compare_rows.py",
        ),
        # The status is set, the script raises, or a helper of it does.
        Example(
            """
            import sys

            def main():
                status = 0
                left, right = read(sys.argv[1]), read(sys.argv[2])
                for ship in left:
                    if left[ship] != right[ship]:
                        print(ship, "differs")
                        status = 1
                return status

            def either():
                left, right = read(sys.argv[1]), read(sys.argv[2])
                for ship in left:
                    if left[ship] != right[ship]:
                        print(ship, "differs")
                        return 1
                return 0

            def later():
                left, right = read(sys.argv[1]), read(sys.argv[2])
                differing = []
                for ship in left:
                    if left[ship] != right[ship]:
                        print(ship, "differs")
                        differing.append(ship)
                refuse(differing)
                sys.exit(0)

            def refuse(ships):
                if ships:
                    raise SystemExit(1)

            if __name__ == "__main__":
                sys.exit(main() or either())
            """,
            path="tools/compare_ships.py",
        ),
        # What a difference ends in, and what is said of something else.
        Example(
            """
            from tides import TideMismatch, compare_tides

            def main(left, right, strict):
                try:
                    compare_tides(left, right)
                except TideMismatch as error:
                    print(error)
                    return 1
                print("tides ok")
                return 0

            def counted(left, right):
                failures = 0
                try:
                    compare_tides(left, right)
                except TideMismatch as error:
                    print(error)
                    failures += 1
                print("ok" if not failures else "no")

            def otherwise(left, right):
                try:
                    compare_tides(left, right)
                except TideMismatch as error:
                    print(error)
                else:
                    print("tides ok")

            def parsed(left):
                try:
                    left = int(left)
                except ValueError:
                    print("no number")
                print("ok")
            """,
            path="harbour/main.py",
        ),
        Example(
            """
            import sys

            def main():
                failed = False
                for left, right in zip(read(sys.argv[1]), read(sys.argv[2]), strict=True):
                    if left != right:
                        failed = True
                return failed

            def say():
                print(read(sys.argv[1]) == read(sys.argv[2]))

            def rows_equal(left, right):
                return left == right

            def check():
                ok = rows_equal(read(sys.argv[1]), read(sys.argv[2]))
                sys.exit(not ok)

            def status():
                ok = rows_equal(read(sys.argv[1]), read(sys.argv[2]))
                sys.exit(0 if ok else 1)

            def differ():
                sys.exit(read(sys.argv[1]) != read(sys.argv[2]))

            def wrong():
                if read(sys.argv[1]) != read(sys.argv[2]):
                    return True
                return False

            if __name__ == "__main__":
                if sys.argv[3] == "say":
                    sys.exit(say())
                if sys.argv[3] == "wrong":
                    sys.exit(wrong())
                sys.exit(main())
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def differences(left, right):
                errors = []
                for one, other in zip(left, right, strict=True):
                    if one != other:
                        errors.append(one)
                return errors

            def main():
                errors = differences(read(sys.argv[1]), read(sys.argv[2]))
                if errors:
                    print(errors)
                    sys.exit(1)
                sys.exit(0)

            def written(out):
                errors = differences(read(sys.argv[1]), read(sys.argv[2]))
                out.write(str(errors))
                sys.exit(0)

            def strict():
                errors = differences(read(sys.argv[1]), read(sys.argv[2]))
                assert not errors
                sys.exit(0)
            """,
            path="scripts/rows.py",
        ),
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
        if unit.kind == "script":
            return "echo" in unit.file.text
        if may_claim(unit) or (
            _exits(unit) and (inverted_status(unit) or unread_verdicts(unit) or counted_status(unit))
        ):
            return True
        return always_well(unit) is not None

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if unit.kind == "script":
            yield from self._of_script(unit)
            return
        for one in inverted_status(unit) if _exits(unit) else ():
            yield self._inverted(unit, one)
        for counted in counted_status(unit) if _exits(unit) else ():
            yield self._counted(unit, counted)
        for verdict in unread_verdicts(unit) if _exits(unit) else ():
            yield self._unread(unit, verdict)
        well = always_well(unit)
        if well is not None:
            yield self._always_well(unit, well)
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

    def _inverted(self, unit: Unit, one: Inverted) -> Finding:
        span, value = tree_span(unit, one.call), tree_span(unit, one.value)
        text, fix = ast.unparse(one.value), None
        if value.line == value.end_line:
            line = unit.file.lines[value.line - 1]
            given = line[value.column - 1 : value.end_column - 1]
            turned = f"not ({given})" if isinstance(one.value, (ast.BoolOp, ast.UnaryOp)) else f"not {given}"
            new = line[: value.column - 1] + turned + line[value.end_column - 1 :]
            fix = Fix("end with 0 where all is well", (Edit(value.path, value.line, value.line, new),))
        decides = tree_span(unit, one.decides)
        return self.finding_at(
            unit,
            span,
            f"the exit status is the wrong way round: `{text}` is True where all is well, True ends with 1 "
            "and False with 0",
            certainty="proved" if one.sure else "likely",
            steps=(Step(decides.path, decides.line, decides.end_line, "this decides it"),),
            still_catches=("nothing: a difference ends with 0, and agreement with 1",),
            fix=fix,
        )

    def _counted(self, unit: Unit, one: Counted) -> Finding:
        span, count = tree_span(unit, one.call), tree_span(unit, one.count)
        text = ast.unparse(one.count)
        line, fix = unit.file.lines[span.line - 1], None
        if (
            span == replace(count, column=span.column, end_column=span.end_column)
            and one.call.args[0] is one.count
        ):
            given = line[count.column - 1 : count.end_column - 1]
            new = line[: count.column - 1] + f"min({given}, 1)" + line[count.end_column - 1 :]
            fix = Fix("end with 1 for any number of them", (Edit(span.path, span.line, span.line, new),))
        return self.finding_at(
            unit,
            span,
            f"`{text}` as an exit status is 0, a success, for 256 of them and for each multiple of it",
            certainty="likely" if judges(unit) else "question",
            steps=(Step(count.path, count.line, count.end_line, "so many there are"),),
            still_catches=("every other number of them: only 256, 512 and so on pass",),
            fix=fix,
        )

    def _unread(self, unit: Unit, verdict: Unread) -> Finding:
        made = tree_span(unit, verdict.made)
        return self.finding_at(
            unit,
            tree_span(unit, verdict.call),
            f"this ends with 0, a success, whatever `{verdict.name}` says",
            certainty="likely",
            steps=(Step(made.path, made.line, made.end_line, "what comes out here is at most shown"),),
            still_catches=("nothing that looks at how the script ends: only who reads its output",),
        )

    def _always_well(self, unit: Unit, found: AlwaysWell) -> Finding:
        asked = tree_span(unit, found.asked)
        steps = [Step(asked.path, asked.line, asked.end_line, "this difference is only told")]
        if found.given is not None:
            given = tree_span(unit, found.given)
            says = "it is given this, and nothing else"
            steps.append(Step(given.path, given.line, given.end_line, says))
        because = f"`{found.name}` is never anything else" if found.name else "a difference is only told"
        return self.finding_at(
            unit,
            tree_span(unit, found.ends),
            f"this ends with 0, a success, whatever the script has found: {because}",
            certainty="proved" if found.name else "likely",
            steps=steps,
            still_catches=("nothing that looks at how the script ends: only who reads its output",),
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


def _exits(unit: Unit) -> bool:
    """Whether a unit ends the process somewhere."""
    return unit.calls("exit", "_exit", "quit", "SystemExit")


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
