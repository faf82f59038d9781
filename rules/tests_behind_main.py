"""Tests stand behind the call that runs the tests of their file.

## Why
`unittest.main()` runs what the file has defined up to there, and ends the program. Who runs the file itself
(`python tests/test_rows.py`, as the scripts of a cluster do) sees a green run without the tests that stand
below, and nothing says that they were left out.

## Instead
Let the call be the last thing in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, tree_span

# `pytest.main` imports the file once more, so that it finds all of it.
_RUNS = frozenset({"unittest.main", "absltest.main", "googletest.main", "test.main", "run_tests", "main"})
_MODULES = ("unittest", "absl", "tensorflow", "torch.testing")


class TestsBehindMain(Rule):
    kinds = ("module",)
    bad = (
        Example("""
            import unittest

            class HullTest(unittest.TestCase):
                def test_dry(self):
                    self.assertEqual(pump(), 0)

            if __name__ == "__main__":
                unittest.main()  # <- here

            class SailTest(unittest.TestCase):
                def test_reefed(self):
                    self.assertEqual(reef(3), 3)
        """),
        Example("""
            from torch.testing._internal.common_utils import TestCase, run_tests

            if __name__ == "__main__":
                run_tests()  # <- here

            class SailTest(TestCase):
                def test_reefed(self):
                    self.assertEqual(reef(3), 3)

            class MastTest(TestCase):
                def test_up(self):
                    self.assertTrue(mast().up)
        """),
    )
    good = (
        Example("""
            import unittest

            class HullTest(unittest.TestCase):
                def test_dry(self):
                    self.assertEqual(pump(), 0)

            if __name__ == "__main__":
                unittest.main()

            class Pump:
                def test(self):
                    return 0
        """),
        Example("""
            import pytest

            if __name__ == "__main__":
                pytest.main([__file__])

            class TestSail:
                def test_reefed(self):
                    assert reef(3) == 3
        """),
        # Not unittest's, or for another file.
        Example("""
            import sys
            import unittest
            from harbour import main

            def run():
                unittest.main()

            if __name__ == "__main__":
                main()

            if __name__ == "__main__" and "hull" in sys.argv:
                unittest.main(module="tests.test_hull")

            class SailTest(unittest.TestCase):
                def test_reefed(self):
                    self.assertEqual(reef(3), 3)
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return unit.calls("main", "run_tests") and bool(_behind(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        found = _behind(unit)
        if not found:
            return
        call, classes = found
        names = [f"`{one.name}`" for one in classes]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        first = classes[0]
        yield self.finding_at(
            unit,
            tree_span(unit, call),
            f"{names[0]}{more} stand{'' if more else 's'} below this call: running the file as a script"
            f" leaves {'them' if more else 'it'} out",
            certainty="question",
            steps=(
                Step(unit.file.path, first.lineno, first.lineno, "defined when the tests have run already"),
            ),
            still_catches=("a run by pytest, which imports the whole file first",),
        )


def _behind(unit: Unit) -> tuple[ast.Call, list[ast.ClassDef]] | None:
    """The call that runs a file's tests under `if __name__ == "__main__"`, and the test classes below it."""
    body = unit.file.tree.body
    for place, statement in enumerate(body):
        if not isinstance(statement, ast.If) or "__name__" not in ast.unparse(statement.test):
            continue
        for call in (node for inner in statement.body for node in ast.walk(inner)):
            if isinstance(call, ast.Call) and _runs_all(unit, call):
                below = [one for one in body[place + 1 :] if isinstance(one, ast.ClassDef) and _tests(one)]
                return (call, below) if below else None
    return None


def _runs_all(unit: Unit, call: ast.Call) -> bool:
    name = dotted_name(call.func)
    target = unit.file.imports.get(name.partition(".")[0], "")
    given = {one.arg for one in call.keywords} | ({"module"} if call.args else set())
    return name in _RUNS and target.startswith(_MODULES) and not given & {"module", "defaultTest"}


def _tests(one: ast.ClassDef) -> bool:
    """Whether unittest finds tests in a class, as its bases' names say."""
    return any(
        dotted_name(base).rpartition(".")[2].endswith(("TestCase", "Test")) for base in one.bases
    ) and any(
        isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner.name.startswith("test")
        for inner in one.body
    )
