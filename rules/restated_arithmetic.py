"""A check repeats the arithmetic by which the checked value was made.

## Why
A producer writes `total` as `prefix + tail`; the check reads the three numbers back and requires
`prefix + tail == total`. It compares a sum with itself: a dropped or doubled token changes both sides, and
the check can only fail if writing or reading the numbers is broken.

## Instead
Count the total another way, from what was stored or trained: `total == len(row["token_ids"])`. Or delete
the check and keep those that look at the tokens.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.linear import Linear, State
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.producers import constructed
from reviewbot.flow.records import bare, group_of, worth_at
from reviewbot.flow.syntax import canonical, subscript, walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Step, Unit, delete, step

_WORKER = """
import logging

log = logging.getLogger(__name__)

def finish(call, saved, sampled):
    total = len(saved)
    if saved:
        total += len(sampled)
        log.info("resumed call=%s kept=%d new=%d total=%d", call, len(saved), len(sampled), total)
    return [*saved, *sampled]
"""
_COUNTED = _WORKER.replace("saved, sampled):", "saved, sampled, stored):")
_COUNTED = _COUNTED.replace("total = len(saved)", "total = len(stored)").replace(
    "total += len(sampled)", "print(call)"
)
_CHECK = """
import re

def check(text):
    pattern = r"resumed call=(\\S+) kept=(\\d+) new=(\\d+) total=(\\d+)"
    for call, kept, new, total in re.findall(pattern, text):
        if int(kept) + int(new) != int(total):
            raise AssertionError(call)
"""


@dataclass(frozen=True, slots=True)
class _Producer:
    """A place that writes down what is checked."""

    path: str
    line: int
    end_line: int
    function: str


class RestatedArithmetic(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            import re

            DONE = re.compile(r"resumed call=(\\S+) kept=(\\d+) new=(\\d+) total=(\\d+)")

            def check(text):
                for line in text.splitlines():
                    match = DONE.search(line)
                    if match:
                        assert int(match[2]) + int(match[3]) == int(match[4])  # <- here
            """,
            path="tests/restored.py",
            files={"worker/run.py": _WORKER},
        ),
        Example(
            _CHECK.replace("int(total):", "int(total):  # <- here"),
            path="tests/restored.py",
            files={"worker/run.py": _WORKER},
        ),
        Example(
            """
            def check(row):
                if row["total"] - row["tail"] != row["prefix"]:  # <- here
                    raise AssertionError("gap")
            """,
            path="tests/restored.py",
            files={
                "worker/record.py": """
def record(prefix, tail):
    return {"prefix": len(prefix), "tail": len(tail), "total": len([*prefix, *tail])}
"""
            },
        ),
        Example(
            """
            import json
            def check(path):
                for line in open(path):
                    row = json.loads(line)
                    if row["event"] == "loaded":
                        assert row["old"] + row["new"] == row["total"]  # <- here
            """,
            path="tests/check_dock.py",
            files={
                "ferry/dock.py": """
import structlog
log = structlog.get_logger()
def load(old, new):
    log.info("loaded", old=len(old), new=len(new), total=len(old) + len(new))
""",
            },
        ),
        Example(
            """
            def test_sum(caplog, dock):
                dock.load(3, 4)
                record = caplog.records[0]
                assert record.old + record.new == record.total  # <- here
            """,
            path="tests/check_dock.py",
            files={
                "ferry/dock.py": """
import logging
log = logging.getLogger(__name__)
def load(old, new):
    log.info("loaded", extra={"old": old, "new": new, "total": old + new})
""",
            },
        ),
        Example(
            """
            def check(row):
                if row["prefix"] + row["tail"] != row["total"]:  # <- here
                    raise AssertionError(row)
            """,
            path="tests/check_dock.py",
            files={
                "ferry/dock.py": """
def record(prefix_ids, tail_ids):
    all_ids = prefix_ids + tail_ids
    return {"prefix": len(prefix_ids), "tail": len(tail_ids), "total": len(all_ids)}
""",
            },
        ),
        # The numbers come as a record of the match that another function made.
        Example(
            """
            import re

            DOCKED = re.compile(r"docked cars=(?P<cars>\\d+) vans=(?P<vans>\\d+) all=(?P<all>\\d+)")

            def read(text):
                return [match.groupdict() for match in DOCKED.finditer(text)]

            def check(call):
                cars, vans, every = int(call["cars"]), int(call["vans"]), int(call["all"])
                assert vans > 0
                assert every - cars == vans  # <- here
            """,
            path="tests/check_dock.py",
            files={
                "ferry/dock.py": """
import logging

log = logging.getLogger(__name__)

def dock(cars, vans):
    log.info("docked cars=%d vans=%d all=%d", len(cars), len(vans), len(cars) + len(vans))
""",
            },
        ),
    )
    good = (
        Example(_CHECK, path="tests/restored.py", files={"worker/run.py": _COUNTED}),
        # Two patterns have a group of that name, so that nothing says whose record it is.
        Example(
            """
            import re

            CARS = re.compile(r"docked cars=(?P<cars>\\d+) vans=(?P<vans>\\d+) all=(?P<all>\\d+)")
            SEEN = re.compile(r"seen cars=(?P<cars>\\d+) vans=(?P<vans>\\d+) all=(?P<all>\\d+)")

            def read(text):
                return [match.groupdict() for match in (CARS.search(text), SEEN.search(text))]

            def check(call):
                cars, vans, every = int(call["cars"]), int(call["vans"]), int(call["all"])
                assert every - cars == vans
            """,
            path="tests/check_dock.py",
            files={
                "ferry/dock.py": """
import logging

log = logging.getLogger(__name__)

def dock(cars, vans):
    log.info("docked cars=%d vans=%d all=%d", len(cars), len(vans), len(cars) + len(vans))
""",
            },
        ),
        Example(
            """
            def check(row):
                if row["total"] - row["tail"] != row["prefix"]:
                    raise AssertionError("gap")
            """,
            path="tests/restored.py",
            files={
                "worker/record.py": """
def record(prefix, tail, stored):
    return {"prefix": len(prefix), "tail": len(tail), "total": len(stored)}
"""
            },
        ),
        Example("""
            def test_total():
                row = {"prefix": 2, "tail": 3, "total": 5}
                assert row["prefix"] + row["tail"] == row["total"]
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return any(
            any(isinstance(side, ast.BinOp) for side in (node.left, *node.comparators))
            for node in unit.asts(ast.Compare)
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for check in checks(unit):
            if check.condition is None:
                continue
            for node in walk(check.condition):
                if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
                    target = node.comparisons[0]
                    if isinstance(target.operator, (cst.Equal, cst.NotEqual)):
                        yield from self._judge(unit, check.node, node, target.comparator, repo)

    def _judge(
        self, unit: Unit, at: cst.CSTNode, node: cst.Comparison, right: cst.BaseExpression, repo: Repo
    ) -> Iterator[Finding]:
        if not any(isinstance(side, cst.BinaryOperation) for side in (node.left, right)):
            return
        state = State()
        equation = state.value(node.left).plus(state.value(right), -1)
        leaves = {canonical(leaf): leaf for leaf in _leaves(node.left, right)}
        if len(leaves) < 3 or not equation.atoms <= set(leaves):
            return
        origin = (
            self._from_log(unit, leaves, repo)
            or self._from_record(unit, leaves, repo)
            or self._from_object(leaves, repo)
        )
        if origin is None:
            return
        producer, worth = origin
        if not equation.substituted(worth).is_zero:
            return
        text = " ".join(unit.text(node).split())
        yield self.finding(
            unit,
            node,
            f"`{text}` repeats the arithmetic by which `{producer.function}` makes these numbers",
            certainty="likely",
            steps=[
                Step(
                    producer.path,
                    producer.line,
                    producer.end_line,
                    f"`{producer.function}` writes {_how(unit, leaves, worth)}",
                ),
                step(unit, node, "checked here, where both sides come from the same sum"),
            ],
            still_catches=still_catches(unit, node, repo=repo),
            fix=self._without(unit, at, node),
        )

    def _without(self, unit: Unit, at: cst.CSTNode, node: cst.Comparison) -> Fix | None:
        """The edit that deletes the check, where it stands alone."""
        statement: cst.CSTNode | None = unit.parent(at)
        if not isinstance(at, cst.Assert):
            statement = next((above for above in unit.ancestors(at) if isinstance(above, cst.If)), None)
            if statement is None or statement.orelse is not None or statement.test is not node:
                return None
            if len(statement.body.body) != 1 or isinstance(unit.parent(statement), cst.If):
                return None
        elif at.test is not node or not isinstance(statement, cst.SimpleStatementLine):
            return None
        block = None if statement is None else unit.parent(statement)
        if statement is None or not isinstance(block, cst.IndentedBlock) or len(block.body) == 1:
            return None
        return Fix("delete the check: the others look at the values themselves", (delete(unit, statement),))

    def _from_log(
        self, unit: Unit, leaves: dict[str, cst.BaseExpression], repo: Repo
    ) -> tuple[_Producer, dict[str, Linear]] | None:
        groups = {atom: group_of(leaf, unit) for atom, leaf in leaves.items()}
        patterns = {group.pattern for group in groups.values() if group is not None}
        if len(patterns) != 1 or None in groups.values():
            return None
        readings = repo.index.read_by(patterns.pop())
        if len(readings) != 1:
            return None
        (reading,) = readings
        worth: dict[str, Linear] = {}
        for atom, group in groups.items():
            assert group is not None
            place = reading.groups[group.number] if 0 <= group.number < len(reading.groups) else None
            if place is None:
                return None
            source = reading.log.values[place].source
            value = self._worth(repo, reading.path, reading.log.function, reading.log.line, source)
            if value is None:
                return None
            worth[atom] = value
        log = reading.log
        return _Producer(reading.path, log.line, log.end_line, log.function), worth

    def _from_record(
        self, unit: Unit, leaves: dict[str, cst.BaseExpression], repo: Repo
    ) -> tuple[_Producer, dict[str, Linear]] | None:
        keys = {atom: _key(leaf) for atom, leaf in leaves.items()}
        if None in keys.values() or len({key[0] for key in keys.values() if key}) != 1:
            return None
        places: set[tuple[str, str]] = set()
        worth: dict[str, Linear] = {}
        lines: list[int] = []
        for atom, key in keys.items():
            assert key is not None
            written = repo.index.writers(key[1])
            if len(written) != 1:
                return None
            path, fact = written[0]
            places.add((path, fact.function))
            lines.append(fact.line)
            value = self._worth(repo, path, fact.function, fact.line, fact.source)
            if value is None:
                return None
            worth[atom] = value
        if len(places) != 1:
            return None
        path, function = places.pop()
        if path == unit.file.path and function == unit.name:
            return None
        return _Producer(path, min(lines), max(lines), function), worth

    def _from_object(
        self, leaves: dict[str, cst.BaseExpression], repo: Repo
    ) -> tuple[_Producer, dict[str, Linear]] | None:
        named = {atom: leaf.attr.value for atom, leaf in leaves.items() if isinstance(leaf, cst.Attribute)}
        receivers = {canonical(leaf.value) for leaf in leaves.values() if isinstance(leaf, cst.Attribute)}
        made = (
            constructed(repo, named.values()) if len(named) == len(leaves) and len(receivers) == 1 else None
        )
        if made is None:
            return None
        worth = {atom: made.worth[name] for atom, name in named.items()}
        return _Producer(made.path, made.line, made.end_line, made.function), worth

    def _worth(self, repo: Repo, path: str, function: str, line: int, source: str) -> Linear | None:
        file = repo.file(path)
        producer = file.unit(function) if file is not None and function else None
        return None if producer is None else worth_at(producer, line, source)


def _leaves(*sides: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    for side in sides:
        side = bare(side)
        if isinstance(side, cst.BinaryOperation):
            yield from _leaves(side.left, side.right)
        elif not isinstance(side, cst.Integer):
            yield side


def _key(node: cst.BaseExpression) -> tuple[str, str] | None:
    """The record and the key that `row["key"]` asks for, or `record.key` of a log record."""
    if isinstance(node, cst.Attribute):
        return canonical(node.value), node.attr.value
    found = subscript(node)
    return (canonical(found[0]), found[1]) if found is not None and isinstance(found[1], str) else None


def _short(node: cst.BaseExpression, unit: Unit) -> str:
    return f"`{' '.join(unit.text(node).split())}`"


def _how(unit: Unit, leaves: dict[str, cst.BaseExpression], worth: dict[str, Linear]) -> str:
    return ", ".join(f"{_short(leaves[atom], unit)} as {_written(value)}" for atom, value in worth.items())


def _written(value: Linear) -> str:
    # Behind an @ stand names that were set anew before, each with a number.
    terms = ((re.sub(r"@\w+", "", atom), n) for atom, n in sorted(value.terms))
    parts = [text if n == 1 else f"{n}*{text}" for text, n in terms]
    if value.constant:
        parts.append(str(value.constant))
    return f"`{' + '.join(parts) or '0'}`"
