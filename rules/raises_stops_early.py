"""Of several calls that are each to raise, only the first one runs.

## Why
A block under `pytest.raises` ends with the first exception. The calls after it never run, so that nothing
says whether they raise as well; and where the first does not, the second may, and the test passes.

## Instead
Give each call a block of its own, or a case of its own: `@pytest.mark.parametrize`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow import assertions
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, tree_span, tree_step

_RAISING = frozenset({
    "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assertWarns", "assertWarnsRegex",
})  # fmt: skip
# What is done again and again until it raises.
_STEPWISE = pattern(
    r"(?i)next|add|append|put|push|update|feed|step|send|recv|receive|read|write|take|pop|acquire|consume|run|"
    r"register|set|insert|create|open|enter|sleep|wait|print"
)


class RaisesStopsEarly(Rule):
    bad = (
        Example("""
            import pytest
            from harbour import Ship, charts

            def test_ship_refuses():
                with pytest.raises(ValueError):
                    Ship(masts=-1)
                    Ship(masts=99)  # <- here

            def test_chart_refuses():
                with pytest.raises(TypeError, match="chart"):
                    charts.draw(None)
                    charts.draw(3)  # <- here
                    charts.draw("north")
        """),
        Example("""
            from unittest import TestCase
            from harbour import depth

            class TestDepth(TestCase):
                def test_refuses(self):
                    with self.assertRaises(ValueError):
                        depth(-1)
                        depth("deep")  # <- here
        """),
    )
    good = (
        # One call each; the same one until it raises; what is done before the one that raises.
        Example("""
            import pytest
            from harbour import Harbour, Ship, charts, fill

            @pytest.mark.parametrize("masts", [-1, 99])
            def test_ship_refuses(masts):
                with pytest.raises(ValueError):
                    Ship(masts=masts)

            def test_full(harbour):
                with pytest.raises(OverflowError):
                    harbour.moor(Ship(1))
                    harbour.moor(Ship(2))

            def test_at_the_end(days):
                walk = iter(days)
                with pytest.raises(StopIteration):
                    next(walk)
                    next(walk)

            def test_twice():
                with pytest.raises(ValueError):
                    fill("north")
                    fill("north")

            def test_set_up_first():
                with pytest.raises(ValueError):
                    charts.load("north")
                    charts.draw(3)

            def test_what_comes_of_it():
                with pytest.raises(ValueError):
                    ship = Ship(masts=2)
                    ship.sail(-1)
        """),
    )

    def concerns(self, file: File) -> bool:
        return file.calls(*_RAISING)

    def suspect(self, unit: Unit) -> bool:
        return unit.is_test and unit.calls(*_RAISING) and any(True for _ in _blocks(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not unit.is_test:
            return
        for first, second, more in _blocks(unit):
            name = ast.unparse(first.func)
            others = "the call after it" if not more else f"the {more + 1} calls after it"
            yield self.finding_at(
                unit,
                tree_span(unit, second),
                f"where the first `{name}(...)` raises, {others} never run{'s' if not more else ''}: is each"
                " of them to raise?",
                certainty="question",
                steps=(tree_step(unit, first, "the block ends here where this raises"),),
                still_catches=("that none of them raises",),
            )


def _blocks(unit: Unit) -> Iterator[tuple[ast.Call, ast.Call, int]]:
    """The first two calls of each block that must raise and only calls one function, with other arguments
    each time, and how many more there are."""
    for block in (*unit.asts(ast.With), *unit.asts(ast.AsyncWith)):
        if len(block.body) < 2 or not any(_raises(item.context_expr) for item in block.items):
            continue
        calls = [one.value for one in block.body if isinstance(one, ast.Expr)]
        found = [one for one in calls if isinstance(one, ast.Call) and _is_plain(one, unit)]
        others = len({ast.dump(one) for one in found}) == len(block.body)
        if others and len({ast.dump(one.func) for one in found}) == 1:
            yield found[0], found[1], len(found) - 2


def _raises(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] in _RAISING


def _is_plain(call: ast.Call, unit: Unit) -> bool:
    """Whether a call is one of a function or a class, which remembers nothing of the call before. An
    assertion that is never reached is unreachable-check's."""
    name = dotted_name(call.func)
    last = name.rpartition(".")[2]
    if not name or _STEPWISE.search(last) or assertions.asserts_by_name(last):
        return False
    return "." not in name or name.partition(".")[0] in unit.file.imports
