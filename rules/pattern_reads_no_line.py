"""A test reads log lines by a regular expression that no line of the code matches any more.

## Why
The line was reworded and the expression was not: `tokens=5` where it once said `tokens: 5`. It finds nothing,
and a check of each of the lines found checks none; that no line tells of a failure holds for the same reason.

## Instead
Let both come from one place (a constant, a structured record), or require that at least one line was found.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.flow.log_patterns import may_read_lines, may_read_logs, no_line
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, tree_span

_SHIP = {
    "src/ship.py": """
import logging
log = logging.getLogger("ship")

def moor(name, ropes):
    log.info("moored ship: %s, ropes=%d, tide %s", name, ropes, tide())

def report(day, knots):
    print(f"day {day} knots: {knots:.2f}")
"""
}


class PatternReadsNoLine(Rule):
    kinds = ("module", "function", "method")
    bad = (
        Example(
            r"""
            import re

            MOORED = re.compile(r"moored ship (\w+) ropes: (\d+)")  # <- here

            def test_moored(harbour_log):
                for name, ropes in MOORED.findall(harbour_log):
                    assert int(ropes) > 0
            """,
            files=_SHIP,
        ),
        Example(
            r"""
            import re
            import sys

            def knots(path):
                return [float(m[2]) for m in map(LINE.search, open(path)) if m]

            LINE = re.compile(r"day (\d+): knots=([0-9.]+)")  # <- here

            if __name__ == "__main__":
                sys.exit(knots(sys.argv[1]) != knots(sys.argv[2]))
            """,
            path="tools/compare_logs.py",
            files=_SHIP,
        ),
    )
    good = (
        # It matches; the line comes from elsewhere; the test makes lines of its own.
        Example(
            r"""
            import re

            MOORED = re.compile(r"moored ship: (\w+), ropes=(\d+)")
            DAY = re.compile(r"(?i)day\s+(\d+)\s+knots:\s*([0-9.]+)")
            LIGHT = re.compile(r"lighthouse (\w+) is dark")
            ANCHOR = re.compile(r"day (\d+) knots = (\d+)")

            def test_anchor(parse):
                assert ANCHOR.search("day 3 knots = 2")
            """,
            files=_SHIP,
        ),
    )

    def concerns(self, file: File) -> bool:
        return may_read_logs(file)

    def suspect(self, unit: Unit) -> bool:
        return may_read_lines(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in no_line(unit, repo) if may_read_lines(unit) else ():
            shown = one.meant.template.replace("\0", "…")
            yield self.finding_at(
                unit,
                tree_span(unit, one.text),
                f"no line that the code logs matches this: `{one.lacks.strip()}` does not stand in `{shown}`;"
                " is another line meant?",
                certainty="question",
                steps=[Step(one.meant.path, one.meant.line, one.meant.line, "the line with its words")],
                still_catches=("nothing that is asked of each line found; only a check that some are",),
            )
