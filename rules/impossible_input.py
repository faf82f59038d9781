"""A unit test feeds what its producer in the repository cannot write.

## Why
The record, line or value was made up by hand, and nothing else in the repository makes one like it: numbers
that the producer derives from one another and that disagree here, a mode that no caller can pass. The test
covers a branch that never runs, and what does run may go untested.

## Instead
Let the producer's own code make the input, or start from one that it wrote.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.checks import raising_context
from reviewbot.flow.control import enclosing
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.producers import Allowed, Broken, allowed, broken_line, broken_object, broken_record
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.syntax import dotted, keyword_argument, last_name, literal
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, called_last, once, step

_NUMBER = pattern(r"\w[=:] ?-?\d")
_ON_PURPOSE = pattern(r"(?i)invalid|unknown|bad|bogus|unsupported|wrong|raise|refuse|reject|error|fallback")
_WORKER = """
import logging
from dataclasses import dataclass
from typing import Literal

log = logging.getLogger(__name__)
Mode = Literal["exact", "candidate"]

@dataclass
class Ticket:
    job: str
    mode: Mode = "exact"

def finish(call, saved, sampled):
    total = len(saved) + len(sampled)
    log.info("resumed call=%s kept=%d new=%d total=%d", call, len(saved), len(sampled), total)
    return {"kept": len(saved), "new": len(sampled), "total": total}

def admit(ticket, level: Literal["turn", "prefix"] = "turn"):
    return ticket.mode == "exact"
"""


class ImpossibleInput(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example(
            """
            from worker.run import check

            def test_gap():
                assert not check("12:00 INFO resumed call=a kept=3 new=2 total=9")  # <- here

            def test_row():
                assert not check({"kept": 3, "new": 2, "total": 9})  # <- here
            """,
            path="tests/test_check.py",
            files={"worker/run.py": _WORKER},
        ),
        Example(
            """
            from worker.run import Ticket, admit

            def test_admit():
                assert not admit(Ticket("a", mode="skip"))  # <- here
                assert admit(Ticket("a"), level="call")  # <- here
            """,
            path="tests/test_admit.py",
            files={"worker/run.py": _WORKER},
        ),
        Example(
            """
            import pytest
            from ferry.audit import check_ticket
            from ferry.ticket import Ticket
            def test_sum():
                with pytest.raises(ValueError):
                    check_ticket(Ticket(base=2, extra=3, total=6))  # <- here
            """,
            path="tests/test_ticket.py",
            files={
                "ferry/ticket.py": """
from dataclasses import dataclass
@dataclass
class Ticket:
    base: int
    extra: int
    total: int
def make_ticket(base, extra):
    return Ticket(base=base, extra=extra, total=base + extra)
""",
                "ferry/audit.py": """
def check_ticket(ticket):
    if ticket.base + ticket.extra != ticket.total:
        raise ValueError("sum")
""",
            },
        ),
    )
    good = (
        # The constructor takes more than the field holds afterwards.
        Example(
            """
            from kitchen import Oven

            def test_fan():
                assert Oven(mode="bake-fan").mode == "bake"
            """,
            files={
                "kitchen.py": (
                    "from typing import Literal\n"
                    "class Oven:\n"
                    '    mode: Literal["bake", "grill"]\n'
                    '    def __init__(self, mode: Literal["bake", "bake-fan", "grill"]) -> None:\n'
                    '        self.mode = mode.removesuffix("-fan")\n'
                )
            },
        ),
        Example(
            """
            import pytest

            from worker.run import Ticket, admit, check

            def test_row():
                assert check({"kept": 3, "new": 2, "total": 5})
                assert check("resumed call=a kept=3 new=2 total=5")
                assert admit(Ticket("a", mode="candidate"), level="prefix")

            def test_refused():
                with pytest.raises(ValueError):
                    admit(Ticket("a", mode="skip"))

            def test_refused_later():
                ticket = Ticket("a", mode="skip")
                with pytest.raises(ValueError):
                    admit(ticket)

            def test_other_record():
                assert check({"kept": 3, "total": 9}) and check("kept=3 new=2 total=9")
            """,
            path="tests/test_check.py",
            files={"worker/run.py": _WORKER},
        ),
        # The function takes more than its annotation says: it lowers the case, or compares with the word.
        Example(
            """
            from ferry.load import trim

            def test_trim():
                assert trim([1], side="Both") == trim([1], side="both")
                assert trim([1], side="all") == []
            """,
            path="tests/test_trim.py",
            files={
                "ferry/load.py": """
from typing import Literal

def trim(rows, side: Literal["both", "left"] = "both"):
    side = word(side, options=("both", "left", "all"))
    return rows[1:] if side == "left" else rows[1:-1]
""",
            },
        ),
    )

    def concerns(self, file: File) -> bool:
        return in_test_file(file.path)

    def suspect(self, unit: Unit) -> bool:
        if not in_test_file(unit.file.path):
            return False
        if any(map(_has_numbers, unit.asts(ast.Dict))) or _has_line(unit):
            return True
        if not unit.has(ast.keyword):
            return False
        several = len(unit.asts(ast.keyword)) > 2
        return (several and any(map(_gives_numbers, unit.asts(ast.Call)))) or bool(_said(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not in_test_file(unit.file.path):
            return
        # The syntax tree is made only where something in it is wanted.
        for node in unit.find(cst.Dict) if any(map(_has_numbers, unit.asts(ast.Dict))) else ():
            given = _numbers(node)
            broken = broken_record(repo, given) if len(given) > 2 else None
            if broken is not None:
                yield self._broken(unit, node, broken, "record")
        for call in unit.find(cst.Call) if any(map(_gives_numbers, unit.asts(ast.Call))) else ():
            given = _fields(call)
            broken = broken_object(repo, given) if len(given) > 2 and last_name(call)[:1].isupper() else None
            if broken is not None:
                yield self._broken(unit, call, broken, "object")
        for text in unit.find(cst.SimpleString) if _has_line(unit) else ():
            said = text.evaluated_value
            broken = (
                broken_line(repo, said) if isinstance(said, str) and len(_NUMBER.findall(said)) > 2 else None
            )
            if broken is not None:
                yield self._broken(unit, text, broken, "line")
        odd = {
            (called, keyword): found
            for called, keyword, text in _said(unit)
            if (found := allowed(repo, unit, called, keyword)) is not None
            and text not in found.values
            and not found.takes(text)
        }
        for (called, keyword), found in odd.items():
            yield from self._not_allowed(unit, called, keyword, found)

    def _broken(self, unit: Unit, node: cst.CSTNode, broken: Broken, what: str) -> Finding:
        written, given = broken.written, broken.given
        parts = " + ".join(f"`{part}`" for part in broken.parts)
        numbers = ", ".join(f"{name}={given[name]}" for name in (*broken.parts, broken.total))
        return self.finding(
            unit,
            node,
            f"`{written.function}` writes `{broken.total}` as {parts}, and not this {what} ({numbers})",
            certainty="likely",
            steps=[
                Step(written.path, written.line, written.end_line, f"`{broken.total}` is {parts} here"),
                step(unit, node, f"given here: {numbers}"),
            ],
            still_catches=(
                "nothing that runs: whatever this input shows cannot happen with what is written",
            ),
        )

    def _not_allowed(self, unit: Unit, called: str, keyword: str, found: Allowed) -> Iterator[Finding]:
        those = ", ".join(repr(value) for value in found.values)
        for call in unit.find(cst.Call):
            given = keyword_argument(call, keyword) if dotted(call.func) == called else None
            text = None if given is None else literal(given)
            if given is None or not isinstance(text, str) or text in found.values or _is_refused(unit, call):
                continue
            yield self.finding(
                unit,
                given,
                f"`{keyword}` of `{found.owner}` is one of {those}, and {text!r} is given here",
                # An annotation binds nobody: what is called may well take more than it says.
                certainty="question",
                steps=[
                    Step(found.path, found.line, found.line, f"`{keyword}` is one of {those}"),
                    step(unit, given, f"given here: {text!r}"),
                ],
                still_catches=("a type checker would refuse it, where tests are checked",),
            )


def _said(unit: Unit) -> list[tuple[str, str, str]]:
    """What the calls of imported names say by keyword in one word: the name, the keyword, the text; each
    once."""
    found: dict[tuple[str, str, str], None] = {}
    for call in unit.asts(ast.Call) if unit.has(ast.keyword) else ():
        words = call.keywords and [
            k for k in call.keywords if isinstance(k.value, ast.Constant) and isinstance(k.value.value, str)
        ]
        name = dotted_name(call.func) if words else ""
        if name and name.partition(".")[0] in unit.file.imports:
            for word in words:
                assert isinstance(word.value, ast.Constant)
                if word.arg is not None:
                    found[name, word.arg, str(word.value.value)] = None
    return list(found)


@once
def _has_line(unit: Unit) -> bool:
    """Whether some text in a unit could hold a log line with three numbers in it."""
    found = _lines_with_numbers(unit.file)
    at = bisect_left(found, unit.line)
    if at == len(found) or found[at] > unit.end_line:
        return False
    nodes = (node for every in unit.facts.nodes.values() for node in every)
    texts = (
        inner.value
        for node in nodes
        for inner in ast.iter_child_nodes(node)
        if isinstance(inner, ast.Constant)
    )
    return any(isinstance(text, str) and len(_NUMBER.findall(text)) > 2 for text in texts)


@once
def _lines_with_numbers(file: File) -> list[int]:
    return [
        number
        for number, line in enumerate(file.lines, 1)
        if line.count("=") + line.count(":") > 2 and len(_NUMBER.findall(line)) > 2
    ]


def _has_numbers(node: ast.Dict) -> bool:
    return sum(isinstance(v, ast.Constant) and type(v.value) is int for v in node.values) > 2


def _gives_numbers(node: ast.Call) -> bool:
    if len(node.keywords) < 3 or not called_last(node)[:1].isupper():
        return False
    given = [k.value for k in node.keywords if k.arg is not None]
    return sum(isinstance(v, ast.Constant) and type(v.value) is int for v in given) > 2


def _fields(call: cst.Call) -> dict[str, int]:
    """The whole numbers that a call is given by keyword."""
    found: dict[str, int] = {}
    for arg in call.args:
        value = literal(arg.value) if arg.keyword is not None else None
        if arg.keyword is not None and isinstance(value, int) and not isinstance(value, bool):
            found[arg.keyword.value] = value
    return found


def _numbers(node: cst.Dict) -> dict[str, int]:
    found: dict[str, int] = {}
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key, value = literal(element.key), literal(element.value)
            if isinstance(key, str) and isinstance(value, int) and not isinstance(value, bool):
                found[key] = value
    return found


def _is_refused(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a call is made to see it refused, there or later in the unit."""
    if _ON_PURPOSE.search(unit.name) or any(
        raising_context(item) for block in unit.find(cst.With) for item in block.items
    ):
        return True
    return isinstance(enclosing(unit, node, cst.Try), cst.Try) or any(
        isinstance(above, cst.Call) and "raises" in dotted(above.func).lower()
        for above in unit.ancestors(node)
    )
