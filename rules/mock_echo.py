"""A check that asks a mock for what the test told it.

## Why
The mock answers with the value that it was configured with. No code under test stands between the two, so
the check cannot fail.

## Instead
Call the code that uses the mock, and check what that code makes of the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.checks import Comparison, comparisons
from reviewbot.flow.mocks import makes_mock, mock_call
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.syntax import argument, dotted, keyword_argument, last_name, literal, qualified, same
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, step


class MockEcho(Rule):
    bad = (
        Example("""
            from unittest.mock import Mock
            def test_rows():
                client = Mock()
                client.rows.return_value = [1, 2]
                assert client.rows(3) == [1, 2]  # <- here
        """),
        Example("""
            from unittest import mock
            class TestRows(TestCase):
                def test_rows(self):
                    rows = mock.MagicMock(return_value=7)
                    got = rows()
                    self.assertEqual(got, 7)  # <- here
        """),
        Example("""
            from unittest.mock import patch
            from service.rows import load
            @patch("service.rows.load", return_value=5)
            def test_load(fake):
                import service.rows
                assert service.rows.load("x") == 5  # <- here
        """),
        Example("""
            def test_resume():
                from unittest.mock import MagicMock as Fake

                trainer = Fake()
                trainer.resume.return_value = [3]
                assert trainer.resume("x") == [3]  # <- here
        """),
    )
    good = (
        Example("""
            from unittest.mock import Mock
            def test_rows(Service):
                client = Mock()
                client.rows.return_value = [1, 2]
                assert Service(client).rows() == [1, 2]
                assert client.other() != [1, 2]
        """),
        Example("""
            from unittest.mock import Mock
            def test_wrapped(cached):
                load = Mock(return_value=7)
                wrapped = cached(load)
                assert wrapped() == 7
                load = cached(load)
                assert load() == 7
        """),
        Example("""
            from unittest.mock import patch
            from service import report
            @patch("service.rows.load", return_value=5)
            def test_report(fake):
                assert report.load("x") == 5
                assert report.total() == 5
        """),
        Example("""
            from unittest.mock import Mock
            def test_mock_returns_what_it_is_told():
                fake = Mock(return_value=1)
                assert fake() == 1
        """),
    )

    def concerns(self, file: File) -> bool:
        return file.names("return_value")

    def suspect(self, unit: Unit) -> bool:
        if not unit.has(ast.Assert, ast.Call) or "mock" in unit.name.rpartition(".")[2].lower():
            return False
        return "return_value" in unit.facts.names

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if "mock" in unit.name.rpartition(".")[2].lower():
            return
        for comparison in comparisons(unit):
            if comparison.relation not in ("equal", "identical", "close"):
                continue
            echo = _echo(unit, comparison)
            if echo is not None:
                yield self.finding(
                    unit,
                    comparison.check.anchor,
                    f"`{unit.text(echo.call)}` asks the mock for what it was told to answer",
                    certainty="likely",
                    steps=(step(unit, echo.told, "the mock is told what to answer"),),
                    still_catches=still_catches(unit, comparison.check.anchor, repo=repo),
                )


@dataclass(frozen=True, slots=True)
class _Echo:
    call: cst.Call
    told: cst.CSTNode


def _echo(unit: Unit, comparison: Comparison) -> _Echo | None:
    for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        call = values(unit).resolve(side)
        if not isinstance(call, cst.Call):
            continue
        for told, answer in (*_told(unit, call), *_patched(unit, call)):
            if same(answer, other) or same(values(unit).resolve(answer), values(unit).resolve(other)):
                return _Echo(call, told)
    return None


def _told(unit: Unit, call: cst.Call) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """Where a local mock was told what this very call answers."""
    path = dotted(call.func)
    root: cst.BaseExpression = call.func
    while isinstance(root, cst.Attribute):
        root = root.value
    made = mock_call(unit, root) if path else None
    if made is None or not makes_mock(unit, made) or keyword_argument(made, "side_effect") is not None:
        return
    given = keyword_argument(made, "return_value")
    if given is not None and root is call.func:
        yield made, given
    for node in unit.find(cst.Assign):
        for target in node.targets:
            if dotted(target.target) == f"{path}.side_effect":
                return
            if dotted(target.target) == f"{path}.return_value":
                yield node, node.value


def _patched(unit: Unit, call: cst.Call) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """Where a patch of the called function itself was given what it answers."""
    name = qualified(call.func, unit.file.imports)
    if "." not in dotted(call.func):
        return  # a name imported before the patch still means the real function
    for patch in unit.find(cst.Call):
        if last_name(patch) != "patch":
            continue
        target, given = argument(patch, 0, "target"), keyword_argument(patch, "return_value")
        if target is not None and given is not None and literal(target) == name:
            yield patch, given
