"""Rows are left out of a pooled figure by what was measured of them, and nobody counts how many.

## Why
A mean or a maximum over the rows that are left says nothing of the others. Where a row is left out because
its value is missing, is NaN, or could not be computed, the worst rows are the ones that go: the figure gets
better as the run gets worse, and with every row but one gone it still passes.

## Instead
Let a missing value fail, or count what is left out and require a number: `assert len(kept) == len(rows)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.handlers import caught
from reviewbot.flow.pools import FIGURES, Dropped, dropped
from reviewbot.flow.syntax import canonical, dotted, walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step


class RowsDropped(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            import math

            def test_mean_gap(rows, reference, restored):
                gaps = []
                for row in rows:
                    gap = reference.score(row) - restored.score(row)
                    if math.isnan(gap):  # <- here
                        continue
                    gaps.append(abs(gap))
                assert sum(gaps) / len(gaps) < 1e-3
        """),
        Example(
            """
            def compare(rows, run):
                errors = []
                for row in rows:
                    try:
                        answer = run(row)
                    except ValueError:  # <- here
                        continue
                    errors.append(abs(answer - row["answer"]))
                return max(errors)
            """,
            path="tools/compare_runs.py",
        ),
        Example("""
            def test_accuracy(model, rows):
                found = [model.answer(row) for row in rows]
                assert max(abs(one) for one in found if one is not None) < 0.5  # <- here
        """),
        Example("""
            import math

            def test_loss(runs):
                losses = [loss for loss in map(train, runs) if math.isfinite(loss)]  # <- here
                assert sum(losses) / len(losses) < 2.0
        """),
    )
    good = (
        # Counted by the loop before, and handed back beside the figure.
        Example(
            """
            def compare_replies(replies, wanted, score):
                silent = 0
                for reply in replies:
                    if reply == "":
                        silent += 1
                scores = []
                for text, one in zip(replies, wanted, strict=True):
                    if text == "":
                        continue
                    scores.append(score(text, one))
                return {"silent": silent, "mean": sum(scores) / len(scores)}
            """,
            path="tools/compare_replies.py",
        ),
        Example("""
            import math

            def test_mean_gap(rows, reference, restored):
                gaps, aside = [], 0
                for row in rows:
                    gap = reference.score(row) - restored.score(row)
                    if math.isnan(gap):
                        aside += 1
                        continue
                    gaps.append(abs(gap))
                assert sum(gaps) / len(gaps) < 1e-3 and not aside

            def test_all_rows(rows, reference, restored):
                gaps = []
                for row in rows:
                    gap = reference.score(row) - restored.score(row)
                    if gap is not None:
                        gaps.append(abs(gap))
                assert len(gaps) == len(rows)
                assert max(gaps) < 1e-3
        """),
        # The whole is what it is divided by: a row left out counts as wrong.
        Example("""
            def test_accuracy(model, rows):
                right = 0
                for row in rows:
                    answer = model.answer(row)
                    if answer is None:
                        continue
                    right += answer == row["answer"]
                assert right / len(rows) > 0.9
        """),
        # Which is the last that is there.
        Example("""
            def test_length(run):
                with run() as result:
                    last = max(i + 1 for i, v in enumerate(result.histogram()) if v)
                    assert last == 12
        """),
        # Rows chosen by what they are, not by what came out.
        Example("""
            def test_long_rows(model, rows):
                gaps = []
                for row in rows:
                    if row["length"] < 10:
                        continue
                    gaps.append(abs(model.score(row) - row["score"]))
                assert max(gaps) < 1e-3
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        pools = not unit.facts.calls.isdisjoint(FIGURES)
        if not pools and not any(isinstance(node.op, ast.Div) for node in unit.asts(ast.BinOp)):
            return False
        return any(node.ifs for node in unit.asts(ast.comprehension)) or (
            unit.has(ast.For) and unit.has(ast.If, ast.Try)
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in dropped(unit):
            if one.why == "other" or _is_a_place(one):
                continue
            figure = f"`{canonical(one.figure)}`"
            yield self.finding(
                unit,
                _anchor(one),
                f"{_says(one)} never reach {figure}, and nothing counts how many",
                certainty="question",
                steps=[
                    step(unit, one.pool, "the rows that are left are collected here"),
                    step(unit, _anchor(one), "this leaves the others out"),
                    step(unit, one.figure, f"{figure} is over what is left"),
                ],
                still_catches=("nothing: no check or output says how many rows the figure is over",),
            )


def _is_a_place(one: Dropped) -> bool:
    """`max(i for i, row in enumerate(rows) if row)`: which is the last that is there, and no figure over what
    the rows hold."""
    made = one.pool
    if isinstance(made, cst.Call) and made.args:
        made = made.args[0].value
    if not isinstance(made, (cst.GeneratorExp, cst.ListComp)):
        return False
    over, target = made.for_in.iter, made.for_in.target
    if (
        not isinstance(over, cst.Call)
        or dotted(over.func) != "enumerate"
        or not isinstance(target, cst.Tuple)
    ):
        return False
    counter = canonical(target.elements[0].value)
    names = {name.value for name in walk(made.elt) if isinstance(name, cst.Name)}
    return names == {counter}


def _anchor(one: Dropped) -> cst.CSTNode:
    handler = one.condition
    return handler.type if isinstance(handler, cst.ExceptHandler) and handler.type is not None else handler


def _says(one: Dropped) -> str:
    if one.why == "raised":
        kinds = sorted(caught(one.condition)) if isinstance(one.condition, cst.ExceptHandler) else []
        return f"rows that raise {' or '.join(filter(None, kinds)) or 'anything'}"
    asked = canonical(one.subject) if one.subject is not None else "a value"
    if one.why == "nothing":
        return f"rows without `{asked}`"
    return f"rows whose `{asked}` is {'not finite' if one.why == 'not finite' else 'zero or empty'}"
