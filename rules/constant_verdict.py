"""A check whose condition has the same value on every run.

## Why
Python takes a non-empty tuple, a generator or a message as true. An assertion over one of them passes
whatever the code under test does.

## Instead
Assert the comparison itself, and put the message after a comma outside the parentheses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.nearby import still_catches
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite


class ConstantVerdict(Rule):
    kinds = ("function", "method", "module")
    bad = (Example("def test_rows(run):\n    assert (run(1) == [2], 'wrong')  # <- here\n"),)
    good = (Example("def test_rows(run):\n    assert run(1) == [2], 'wrong'\n"),)

    def suspect(self, unit: Unit) -> bool:
        return unit.has(ast.Assert)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for node in unit.find(cst.Assert):
            if isinstance(node.test, cst.Tuple) and node.test.elements:
                yield self.finding(
                    unit,
                    node,
                    "the assertion is about a tuple, which is true whatever stands in it",
                    certainty="proved",
                    still_catches=still_catches(unit, node),
                    fix=self._unwrap(unit, node),
                )

    def _unwrap(self, unit: Unit, node: cst.Assert) -> Fix | None:
        assert isinstance(node.test, cst.Tuple)
        if len(node.test.elements) != 2 or node.msg is not None:
            return None
        condition, message = (unit.text(element.value) for element in node.test.elements)
        text = f"assert {condition}, {message}"
        return Fix("assert the comparison and give the message after it", (rewrite(unit, node, text),))
