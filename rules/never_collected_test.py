"""A test that no runner picks up: its name, its class, its file or its kind is not one that is collected.

Likewise a test that is run once for each of no values, and a check beside the tests that none of them calls.

## Why
The suite is green without it. It is found when it breaks for good reason and nobody notices.

## Instead
Give the function, the class or the file a name that the settings collect, or call it where it is meant to
run.
"""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow import collection
from reviewbot.flow.computed_parameters import computed
from reviewbot.flow.coroutines import is_never_awaited
from reviewbot.flow.fixtures import fixture
from reviewbot.flow.judging import in_test_file, says_that_it_judges
from reviewbot.flow.parameter_sets import may_be_unfilled, unfilled
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries, own_nodes
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, once, tree_span
from reviewbot.model import Certainty

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LONGEST = 60  # of code that a message quotes
# Methods of a test class that a runner calls by other names.
_HOOKS = frozenset({
    "setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setup_method",
    "teardown_method", "setup_class", "teardown_class", "setup", "teardown", "runTest", "run", "debug",
    "shortDescription", "id", "countTestCases", "addTest", "setUpTestData", "subTest",
})  # fmt: skip
# Names that say that the author does not want it to run.
_SWITCHED_OFF = pattern(
    r"(?i)_*([a-z]_?(?=tests?_)|x+_|x{2,}|(disabled?|skip|dont|do_not|no|off|broken|todo|old|obsolete"
    r"|dep(re|er)\w{2,4}ted|manual|unused|notest)(?=_|\d|test|(?-i:[A-Z])|$))"
)
_OFF_AT_THE_END = pattern(
    r"(?i)_(disabled|skipped|skip|broken|obsolete|deprecated|manual|unused|old)(\.py)?$"
)
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "functional", "functional_tests", "unit_tests"})

# What pytest itself gives a test.
_PYTESTS_OWN = frozenset({
    "cache", "capfd", "capfdbinary", "caplog", "capsys", "capsysbinary", "doctest_namespace", "monkeypatch",
    "pytestconfig", "pytester", "record_property", "recwarn", "request", "subtests", "testdir", "tmp_path",
    "tmp_path_factory", "tmpdir", "tmpdir_factory",
})  # fmt: skip


class NeverCollectedTest(Rule):
    kinds = ("function", "method", "class")
    bad = (
        Example("""
            class TestRows(TestCase):
                def test_one(self):
                    self.assertTrue(run(1))
                def rows_are_kept(self):  # <- here
                    self.assertEqual(run(2), [3])
                def xxx_later(self):
                    self.assertEqual(run(3), [3])
        """),
        Example("""
            class RowsKept:  # <- here
                def test_one(self):
                    assert run(1)
        """),
        Example("""
            class TestRows:  # <- here
                def __init__(self):
                    self.rows = run(1)
                def test_one(self):
                    assert self.rows
        """),
        Example("""
            def test_rows(run):  # <- here
                for x in range(3):
                    yield check, run(x)
            def check(rows):
                assert rows
        """),
        Example("""
            def tset_rows(run):  # <- here
                assert run(1) == [2]
            def _test_more(run):  # <- here
                assert run(2) == [3]
        """),
        Example(
            """
            def check_rows(rows):
                assert rows
            def tests_rows():  # <- here
                assert check_rows([1])
            if __name__ == "__main__":
                check_rows([1])
            """,
            path="tests/functional/compare.py",
        ),
        # unittest calls it, gets a coroutine, and is content.
        Example(
            """
            import unittest
            from unittest import TestCase, mock
            from boats import BoatCase

            class TestTides(TestCase):
                async def test_one(self):  # <- here
                    self.assertEqual(await tide(1), 2)
                @mock.patch("boats.tide")
                async def test_two(self, tide):  # <- here
                    self.assertEqual(await tide(2), 3)

            class TestBoats(BoatCase):
                async def test_sail(self):  # <- here
                    self.assertEqual(await sail(1), 2)
            """,
            files={
                "tests/boats.py": "import unittest\n"
                "class BoatCase(unittest.TestCase):\n"
                "    def setUp(self):\n"
                "        self.boat = None\n"
            },
        ),
        # Run once for each of no values.
        Example(
            """
            import pytest
            from ports import PORTS

            SHIPS = []
            NAMES = ("brig.png", "sloop.png")
            CHARTS = [name for name in NAMES if name.endswith(".svg")]

            @pytest.mark.parametrize("ship", SHIPS)  # <- here
            def test_sails(ship):
                assert ship.sails

            @pytest.mark.parametrize("chart", CHARTS)  # <- here
            def test_charts(chart):
                assert draw(chart)

            @pytest.mark.parametrize("port", PORTS)  # <- here
            def test_ports(port):
                assert reach(port)

            @pytest.mark.parametrize(("knots", "wind"), [])  # <- here
            def test_speed(knots, wind):
                assert speed(wind) == knots
            """,
            files={"tests/ports.py": "PORTS = ()\n"},
        ),
        # A check of a name of its own that nothing runs, among others that do run.
        Example("""
            def check_crew(one, other):
                assert one.crew == other.crew

            def check_cargo(one, other):  # <- here
                assert one.cargo == other.cargo

            def test_ships(sail, resume):
                check_crew(sail(), resume())
        """),
        Example(
            """
            import sys

            def verify_crew(one, other):  # <- here
                if one["crew"] != other["crew"]:
                    raise SystemExit("the crews differ")

            def main():
                if read(sys.argv[1])["cargo"] != read(sys.argv[2])["cargo"]:
                    raise SystemExit("the cargoes differ")

            if __name__ == "__main__":
                main()
            """,
            path="tools/compare_ships.py",
        ),
        Example(
            """
            def test_rows(run):  # <- here
                assert run(1) == [2]
            """,
            files={"pyproject.toml": '[tool.pytest.ini_options]\npython_files = "check_*.py"\n'},
        ),
        # What is found by name may be none.
        Example("""
            import glob

            import pytest

            import rigs
            from harbour import FERRIES

            SLOOPS = [name for name in dir(rigs) if name.startswith("Sloop")]

            def with_cranes(every=FERRIES):
                return [ferry for ferry in FERRIES if "crane" in ferry]

            def tide_tables(pattern):
                return sorted(glob.glob(pattern))

            @pytest.mark.parametrize("name", SLOOPS)  # <- here
            def test_sloop(name):
                assert getattr(rigs, name)().sails

            @pytest.mark.parametrize("ferry", with_cranes())  # <- here
            def test_crane(ferry):
                assert FERRIES[ferry].lifts

            @pytest.mark.parametrize("table", tide_tables("tides/*.csv"))  # <- here
            def test_tide(table):
                assert open(table).read()
        """),
        # What takes fixtures was written for pytest to call.
        Example("""
            import pytest

            class TestTides:
                @pytest.fixture
                def table(self):
                    return {"noon": 4}

                def noon_is_high(self, table):  # <- here
                    assert table["noon"] == 4
        """),
    )
    good = (
        # A step that takes what a fixture is called too, and is called; one whose parameter is no fixture.
        Example("""
            import pytest

            class TestTides:
                @pytest.fixture
                def table(self):
                    return {"noon": 4}

                def test_noon(self, table):
                    self.noon_is_high(table)

                def noon_is_high(self, table):
                    assert table["noon"] == 4

                def is_low(self, hour):
                    assert hour < 2
        """),
        # Counted; exceptions left out; a table of the file; beside the test; filtered by nothing.
        Example("""
            from pathlib import Path

            import pytest

            import rigs
            from harbour import FERRIES

            HERE = Path(__file__).parent
            SLOOPS = [name for name in dir(rigs) if name.startswith("Sloop")]
            KNOWN = [ferry for ferry in FERRIES if ferry not in ("Old", "Lost")]

            def test_there_are_sloops():
                assert len(SLOOPS) > 2

            @pytest.mark.parametrize("name", SLOOPS)
            def test_sloop(name):
                assert getattr(rigs, name)().sails

            @pytest.mark.parametrize("ferry", KNOWN)
            def test_ferry(ferry):
                assert FERRIES[ferry].lifts

            @pytest.mark.parametrize("port", [port for port in ("Bern", "Basel") if port.startswith("B")])
            def test_port(port):
                assert rigs.ports[port]

            @pytest.mark.parametrize("chart", sorted(HERE.glob("charts/*.txt")))
            def test_chart(chart):
                assert chart.read_text()

            @pytest.mark.parametrize("every", list(FERRIES))
            def test_all(every):
                assert FERRIES[every].name
        """),
        # A plugin runs what is yielded.
        Example("""
            import pytest

            @pytest.mark.gen_test
            def test_tide(fetch):
                answer = yield fetch("tide")
                assert answer == 2
        """),
        # Doctests, which a suite reads from the texts.
        Example("""
            class TideTests:
                def test_tide(self):
                    '''
                    >>> tide(1)
                    2
                    '''
        """),
        # Coroutines that are awaited: by the class, by a decorator, by a base that nobody here knows.
        Example("""
            import asyncio
            import unittest
            import django.test
            from unittest import IsolatedAsyncioTestCase
            from ships import AsyncCase

            class TestTides(IsolatedAsyncioTestCase):
                async def test_one(self):
                    self.assertEqual(await tide(1), 2)

            class TestShips(AsyncCase):
                async def test_one(self):
                    self.assertEqual(await tide(1), 2)

            class TestPages(django.test.TestCase):
                async def test_one(self):
                    self.assertEqual(await tide(1), 2)

            class Awaiting(unittest.TestCase):
                def _callTestMethod(self, method):
                    asyncio.run(method())

            class TestBoats(Awaiting):
                async def test_one(self):
                    self.assertEqual(await tide(1), 2)

            class TestMixed(unittest.TestCase):
                @awaited
                async def test_one(self):
                    self.assertEqual(await tide(1), 2)
                async def test_two_later(self):
                    self.assertEqual(await tide(2), 3)
                def test_two(self):
                    asyncio.run(self.test_two_later())

            class TestWrapped(unittest.TestCase):
                async def test_one(self):
                    self.assertEqual(await tide(1), 2)

            await_all(TestWrapped)

            async def test_free():
                assert await tide(1) == 2
        """),
        # Filled later, by something else, or not to be known.
        Example(
            """
            import pytest
            from ports import PORTS

            SHIPS = []
            SHIPS.append("brig")
            BOATS = []
            collect(BOATS)
            NAMES = ("brig.png", "sloop.svg")
            CHARTS = [name for name in NAMES if name.endswith(".svg")]
            DRAWN = [name for name in NAMES if is_drawn(name)]

            @pytest.mark.parametrize("ship", SHIPS)
            def test_sails(ship):
                assert ship.sails

            @pytest.mark.parametrize("boat", BOATS)
            def test_boats(boat):
                assert boat.oars

            @pytest.mark.parametrize("chart", CHARTS)
            @pytest.mark.parametrize("drawn", DRAWN)
            def test_charts(chart, drawn):
                assert draw(chart, drawn)

            @pytest.mark.parametrize("port", PORTS)
            def test_ports(port):
                assert reach(port)
            """,
            files={"tests/ports.py": "PORTS = ()\nPORTS += ('Bergen',)\n"},
        ),
        # Given on, looked up by its name, there for others, commented out where it was called.
        Example("""
            def check_crew(one, other):
                assert one.crew == other.crew

            def check_cargo(one, other):
                assert one.cargo == other.cargo

            def test_ships(sail, resume):
                for check in (check_crew,):
                    check(sail(), resume())
                # check_cargo(sail(), resume())
        """),
        Example(
            """
            import sys

            def verify_crew(one, other):
                if one["crew"] != other["crew"]:
                    raise SystemExit("the crews differ")

            if __name__ == "__main__":
                globals()["verify_" + sys.argv[3]](read(sys.argv[1]), read(sys.argv[2]))
            """,
            path="tools/compare_ships.py",
        ),
        Example(
            """
            def verify_crew(one, other):
                assert one.crew == other.crew
            """,
            path="tests/ships.py",
        ),
        # Switched off by its name, for all its spelling.
        Example("""
            import unittest

            class TestRoles(unittest.TestCase):
                def deperacated_test_first(self):
                    self.assertEqual(role("a b"), "b")

                def test_second(self):
                    self.assertEqual(role("b"), "b")
        """),
        # Run by its name in a process of its own.
        Example("""
            class TestStrategy(TestCase):
                def worker(self, rank, name):
                    getattr(self, name)()

                def run_strategy(self):
                    assert strategy().ready

                def test_strategy(self):
                    start(self.worker, args=("run_strategy",))
        """),
        Example("""
            class RowChecks:
                def check_rows(self, rows):
                    assert rows
            class TestRows(RowChecks):
                def test_one(self):
                    self.check_rows(run(1))
                def helper(self):
                    assert run(2)
                def test_two(self):
                    self.helper()
        """),
        Example("""
            class Mixin:
                def test_one(self):
                    assert self.run(1)
            class TestRows(Mixin, TestCase):
                def run_one(self):
                    return 1
        """),
        Example("""
            import base
            class Rows(base.Case):
                def test_one(self):
                    assert self.run(1)
        """),
        Example(
            """
            def check_rows(run):
                assert run(1)
            """,
            files={"pytest.ini": "[pytest]\npython_functions = check_*\n"},
        ),
        Example(
            """
            def test_rows():
                assert run(1)
            if __name__ == "__main__":
                test_rows()
            """,
            path="tests/functional/compare.py",
        ),
        Example(
            """
            def test(model, batch):
                assert model(batch) is not None
            def test_step(model, batch):
                assert model
            """,
            path="src/train.py",
        ),
        Example(
            """
            def test_rows():
                assert run(1)
            """,
            path="tests/rows.py",
            files={"ci/unit.sh": "set -e\npytest -x tests/rows.py\n"},
        ),
        Example(
            """
            def test_rows():
                assert run(1)
            """,
            path="tests/rows.py",
            files={"tests/test_all.py": "from rows import test_rows\n"},
        ),
        # A pattern names the file; a benchmark is run by the name of its file.
        Example(
            """
            def test_tide(harbour):
                assert harbour.tide("noon") == 4
            """,
            path="tests/slow/tide_harbour.py",
            files={".github/workflows/slow.yml": "steps:\n  - run: uv run pytest -x tests/slow/tide*py\n"},
        ),
        Example(
            """
            def test_tide(benchmark, harbour):
                assert benchmark(harbour.tide) == 4
            """,
            path="tests/speed/tide_speed.py",
        ),
        # A helper that the package offers to its users.
        Example(
            """
            def test_rows(name, rows, decode=True):
                assert run(name, decode) == rows
            """,
            path="package/tests/rows.py",
        ),
        # One of several steps that the tests of the class are put together of.
        Example("""
            from unittest import TestCase

            class TestFerry(TestCase):
                def test_sails(self):
                    self.then_horn_sounds()
                    self.then_ramp_is_up()
                def then_horn_sounds(self):
                    self.assertTrue(self.ferry.horn)
                def then_ramp_is_up(self):
                    self.assertFalse(self.ferry.ramp)
                def then_bell_rings(self):
                    self.assertTrue(self.ferry.bell)
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        tree = unit.tree
        if unit.is_test and may_be_unfilled(unit):
            return True
        if isinstance(tree, ast.ClassDef):
            return any(isinstance(s, _FUNCTIONS) and s.name.startswith("test_") for s in tree.body)
        if unit.has(ast.Yield, ast.YieldFrom) or not isinstance(tree, _FUNCTIONS):
            return True
        if unit.owner is None:
            named = tree.name.startswith("test") or _is_misspelt(tree.name)
            return named or _is_uncalled_check(unit, tree)
        if isinstance(tree, ast.AsyncFunctionDef):
            return True
        return not tree.name.startswith("test") and (_could_be_a_test(tree) or _may_take_fixtures(tree))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        tree = unit.tree
        if collection.is_example(unit.file.path):
            return
        if isinstance(tree, ast.ClassDef):
            found = self._class(unit, tree, repo)
        elif isinstance(tree, _FUNCTIONS):
            found = (
                self._function(unit, tree, repo)
                or self._unfilled(unit, tree, repo)
                or self._computed(unit, tree, repo)
            )
        else:
            found = None
        if found is not None:
            yield found

    def _class(self, unit: Unit, tree: ast.ClassDef, repo: Repo) -> Finding | None:
        tests = [s for s in tree.body if isinstance(s, _FUNCTIONS) and s.name.startswith("test_")]
        if not tests or not repo.pytest.collects_file(unit.file.path) or _opts_out(tree):
            return None
        if all(len(one.body) == 1 and ast.get_docstring(one) for one in tests):
            return None  # doctests, which a suite reads from the texts
        kind = collection.owner(tree, unit.file, repo.pytest)
        if kind == "pytest":
            made = any(isinstance(s, _FUNCTIONS) and s.name in ("__init__", "__new__") for s in tree.body)
            if not made or len(collection.bases(tree, unit.file)) > 0:
                return None
            message = f"pytest does not collect `{tree.name}`, because it has a constructor of its own"
            return self._report(unit, message, "proved")
        if kind != "none" or _is_read(unit, tree.name) or collection.runs_itself(unit.file):
            return None
        if _is_used_elsewhere(unit, tree.name, repo) or tree.decorator_list:
            return None
        names = ", ".join(repo.pytest.python_classes)
        message = (
            f"nothing collects `{tree.name}`: it is no TestCase, and pytest collects classes named {names}"
        )
        return self._report(unit, message, "likely")

    def _function(self, unit: Unit, tree: collection.FunctionTree, repo: Repo) -> Finding | None:
        if collection.is_fixture(tree):
            return None
        if _is_uncalled_check(unit, tree) and self._has_check(unit, tree):
            return self._uncalled(unit, tree, repo)
        if not repo.pytest.collects_file(unit.file.path):
            return self._uncollected_file(unit, tree, repo)
        named = repo.pytest.collects_function(tree.name)
        if unit.owner is not None:
            return self._method(unit, unit.owner, tree, named, repo)
        if named:
            return self._generator(unit, tree, repo)
        if not _is_misspelt(tree.name) or tree.decorator_list or not self._has_check(unit, tree):
            return None
        if _is_read(unit, tree.name) or _is_used_elsewhere(unit, tree.name, repo):
            return None
        return self._report(
            unit,
            f"nothing collects or calls `{tree.name}`, which checks something",
            "question"
            if _is_off_by_name(tree.name) or _is_explained(unit) or _needs_a_caller(unit, tree, repo)
            else "likely",
        )

    def _unfilled(self, unit: Unit, tree: collection.FunctionTree, repo: Repo) -> Finding | None:
        """A test that is run once for each of no values."""
        if not repo.pytest.collects_file(unit.file.path):
            return None
        for one in unfilled(unit, repo) if unit.is_test else ():
            code = ast.unparse(one.values)
            made = Step(
                one.path, one.made.lineno, one.made.end_lineno or one.made.lineno, "this holds nothing"
            )
            return self.finding_at(
                unit,
                tree_span(unit, one.values),
                f"`{tree.name}` is run for each of `{code}`, which holds nothing: pytest skips it",
                certainty="proved" if one.sure else "likely",
                steps=(made,),
                still_catches=(f"nothing: what `{tree.name}` checks is not checked for any value",),
            )
        return None

    def _computed(self, unit: Unit, tree: collection.FunctionTree, repo: Repo) -> Finding | None:
        """A test that is run once for each of what a program finds, be it nothing."""
        if not unit.is_test or not repo.pytest.collects_file(unit.file.path):
            return None
        for one in computed(unit):
            code = ast.unparse(one.values)
            code = code if len(code) <= _LONGEST else f"{code[: _LONGEST - 1]}…"
            line: int = one.made.lineno  # type: ignore[attr-defined]
            return self.finding_at(
                unit,
                tree_span(unit, one.values),
                f"`{tree.name}` is run for each of `{code}`, and they {one.says}: may there be none? pytest"
                " skips it then, and nothing fails",
                certainty="question",
                steps=(Step(unit.file.path, line, line, "made here, and counted nowhere in this file"),),
                still_catches=(f"nothing in this file: what `{tree.name}` checks is checked for none",),
            )
        return None

    def _uncalled(self, unit: Unit, tree: collection.FunctionTree, repo: Repo) -> Finding | None:
        """A check of its own name among those that run: a test file's or a comparison script's."""
        if repo.pytest.collects_function(tree.name) or _is_used_elsewhere(unit, tree.name, repo):
            return None
        if _is_asked_for_by_name(unit, tree.name):
            return None
        # What takes something was made for tests to call, and may be left of one that is gone.
        asked = _is_off_by_name(tree.name) or _needs_a_caller(unit, tree, repo)
        message = f"nothing collects or calls `{tree.name}`, which checks something"
        return self._report(unit, message, "question" if asked else "likely")

    def _method(
        self, unit: Unit, owner: ast.ClassDef, tree: collection.FunctionTree, named: bool, repo: Repo
    ) -> Finding | None:
        if named or tree.name.startswith("test"):
            return self._generator(unit, tree, repo) or self._coroutine(unit, owner, tree, repo)
        if _SWITCHED_OFF.match(tree.name):
            return None
        given = _may_take_fixtures(tree) and _all_fixtures(unit, tree, repo)
        if not given and not _could_be_a_test(tree):
            return None
        if not given and not any(isinstance(s, _FUNCTIONS) and s.name.startswith("test") for s in owner.body):
            return None
        kind = collection.owner(owner, unit.file, repo.pytest)
        if (
            kind not in (("pytest",) if given else ("unittest", "pytest"))
            or _opts_out(owner)
            or not self._has_check(unit, tree)
        ):
            return None
        if _is_read(unit, tree.name) or _is_used_elsewhere(unit, tree.name, repo):
            return None
        if _is_a_step(unit, owner, tree.name):
            return None
        how = "is made to take fixtures" if given else f"checks something among tests of `{owner.name}`"
        message = f"nothing collects or calls `{tree.name}`, which {how}"
        return self._report(unit, message, "question" if tree.name in _commented(unit.file) else "likely")

    def _generator(self, unit: Unit, tree: collection.FunctionTree, repo: Repo) -> Finding | None:
        """A test that yields: pytest and unittest make the generator and never run it."""
        if not unit.has(ast.Yield, ast.YieldFrom):
            return None
        if not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(tree)):
            return None
        if not collection.keeps_name(tree) or _is_read(unit, tree.name) or _is_run_by_plugin(unit, tree):
            return None
        if unit.owner is not None and collection.owner(unit.owner, unit.file, repo.pytest) in (
            "none",
            "unknown",
        ):
            return None
        return self._report(unit, f"`{tree.name}` yields, so calling it runs nothing of it", "proved")

    def _coroutine(
        self, unit: Unit, owner: ast.ClassDef, tree: collection.FunctionTree, repo: Repo
    ) -> Finding | None:
        """A test that unittest calls, and whose coroutine nobody awaits."""
        if not is_never_awaited(unit, repo) or _is_read(unit, tree.name) or _is_handed_on(unit, owner.name):
            return None
        message = (
            f"`{tree.name}` is a coroutine, and `unittest.TestCase` awaits none: it passes, and never runs"
        )
        return self._report(unit, message, "proved")

    def _uncollected_file(self, unit: Unit, tree: collection.FunctionTree, repo: Repo) -> Finding | None:
        path = unit.file.path
        named = tree.name.startswith("test") and unit.owner is None
        in_tests = not _TEST_FOLDERS.isdisjoint(path.split("/")[:-1]) or repo.pytest.where
        if not named or not in_tests or not collection.keeps_name(tree) or not self._has_check(unit, tree):
            return None
        if _is_called_with(tree) or any(one.arg == "benchmark" for one in tree.args.args):
            return None  # a benchmark is run by the name of its file, when somebody wants to know
        if _is_read(unit, tree.name) or collection.runs_itself(unit.file) or path.endswith("conftest.py"):
            return None
        if not set(path.split("/")[:-1]) & _TEST_FOLDERS and not path.rpartition("/")[2].startswith("test"):
            return None
        if _is_used_elsewhere(unit, tree.name, repo) or _is_given_to_pytest(unit, repo):
            return None
        if _is_for_nose(unit, repo):
            return None
        patterns = ", ".join(repo.pytest.python_files)
        file = path.rpartition("/")[2]
        message = (
            f"nothing collects or calls `{tree.name}`: pytest looks into files named {patterns}, not {file}"
        )
        off = _is_off_by_name(file) or file.startswith("_")
        return self._report(unit, message, "question" if off else "likely")

    def _has_check(self, unit: Unit, tree: collection.FunctionTree) -> bool:
        summary = Summaries.of(unit.file).summary(tree, unit)
        return summary is not None and (
            summary.asserts or (summary.generator and tree.name.startswith("test"))
        )

    def _report(self, unit: Unit, message: str, certainty: Certainty) -> Finding:
        node = unit.node
        assert not isinstance(node, cst.Module)
        name = node.name.value
        message += "; is that meant?" if certainty == "question" else ""
        lost = f"nothing: what `{name}` checks is checked nowhere as long as it does not run"
        # Whoever changes any of it should know.
        runs = Step(unit.file.path, unit.line, unit.end_line, "none of this runs")
        return self.finding(
            unit, node.name, message, certainty=certainty, steps=(runs,), still_catches=(lost,)
        )


# Marks by which a plugin is asked to run a generator: pytest-tornado's, pytest-twisted's and their like.
_RUNNING = pattern(
    r"(?i)gen_test|tornado|twisted|inline_?callbacks|coroutine|async|trio|gevent|simulat|cocotb"
)


def _is_run_by_plugin(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether a mark of a test, of its class or of its file asks a plugin to run what it yields."""
    owners = unit.owner.decorator_list if unit.owner is not None else []
    marks = [collection.decorator_name(one) for one in (*tree.decorator_list, *owners)]
    marks += [
        ast.unparse(one.value)
        for one in unit.file.tree.body
        if isinstance(one, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in one.targets)
    ]
    return any(_RUNNING.search(mark) for mark in marks)


def _is_uncalled_check(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether a function is by its name a check, stands in a file that runs checks, and that file never names
    it. A module of helpers alone may be there for others."""
    if unit.owner is not None or tree.decorator_list or not _CHECKS.match(tree.name):
        return False
    return _runs_checks(unit.file) and not unit.file.naming(tree.name)


_CHECKS = pattern(r"_*(check|verify|assert|compare|ensure|validate|expect)_\w+$")


@once
def _runs_checks(file: File) -> bool:
    """Whether a file is one of tests, or a comparison that is started as a program."""
    if in_test_file(file.path):
        return any(unit.is_test for unit in file.units)
    name = file.path.rpartition("/")[2]
    return says_that_it_judges(name) and "__name__" in file.units[0].facts.names


def _is_asked_for_by_name(unit: Unit, name: str) -> bool:
    """Whether the file looks functions up by their names, or holds this one's as a text."""
    if any(unit.file.calling(one) for one in ("getattr", "globals", "locals", "vars", "eval", "exec")):
        return True
    quoted = (f'"{name}', f"'{name}", f"# {name}", f"#{name}")
    return any(one in line for line in unit.file.lines for one in quoted)


def _opts_out(node: ast.ClassDef) -> bool:
    """`__test__ = False`, an abstract base, a class by whose name it is one."""
    sets = any(
        isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__test__" for t in s.targets)
        for s in node.body
    )
    return sets or any(word in node.name for word in ("Base", "Mixin", "Abstract", "Template"))


def _could_be_a_test(method: collection.FunctionTree) -> bool:
    """Whether a method takes nothing and is by its name no hook, no helper and nothing private."""
    given = method.args
    if [*given.posonlyargs, *given.args][1:] or given.kwonlyargs or given.vararg or given.kwarg:
        return False
    private = method.name in _HOOKS or method.name.startswith(("__", "assert", "_"))
    return not private and not method.decorator_list


def _may_take_fixtures(method: collection.FunctionTree) -> bool:
    """Whether a method takes what may be fixtures, and nothing else, and is by its name nothing private."""
    given = method.args
    if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        return False
    private = method.name in _HOOKS or method.name.startswith(("__", "assert", "_"))
    return len(given.args) > 1 and not private and not method.decorator_list


def _all_fixtures(unit: Unit, method: collection.FunctionTree, repo: Repo) -> bool:
    """Whether each parameter of a method is a fixture, so that it was written for pytest to call."""
    return all(
        one.arg in _PYTESTS_OWN or fixture(unit, one.arg, repo) is not None for one in method.args.args[1:]
    )


@once
def _commented(file: File) -> frozenset[str]:
    """The words of its comments: one that is a test's name may be where it was taken out of a suite."""
    comments = (line.partition("#")[2] for line in file.lines if "#" in line)
    return frozenset(re.findall(r"\w+", "\n".join(comments)))


def _is_a_step(unit: Unit, owner: ast.ClassDef, name: str) -> bool:
    """Whether the tests of a class call other methods whose names begin alike, `then_date_is_known()`: one of
    several steps, which none of them needs any more."""
    first = name.partition("_")[0] + "_"
    alike = [
        one.name
        for one in owner.body
        if isinstance(one, _FUNCTIONS) and one.name != name and one.name.startswith(first)
    ]
    return sum(_is_read(unit, one) for one in alike) > 1


def _is_explained(unit: Unit) -> bool:
    """Whether a comment stands on the line of the definition, or is the first thing in one with an underscore
    in front of its name: who took it out of the tests says why."""
    if "  #" in unit.file.lines[unit.line - 1]:
        return True
    assert isinstance(unit.tree, _FUNCTIONS)
    inside = unit.file.lines[unit.line : unit.tree.body[0].lineno - 1]
    return unit.tree.name.startswith("_") and any(line.lstrip().startswith("#") for line in inside)


def _is_called_with(tree: collection.FunctionTree) -> bool:
    """Whether a function is made to be called: it needs some parameters and has defaults for others, to which
    pytest gives nothing."""
    given = tree.args
    needed = given.args[: len(given.args) - len(given.defaults)]
    return bool(given.defaults and needed) and not tree.decorator_list


def _needs_a_caller(unit: Unit, tree: collection.FunctionTree, repo: Repo) -> bool:
    """Whether a function takes what no fixture gives it: under a right name it would be an error, so that
    somebody calls it by hand, or has put it away with its table of cases."""
    asked = {
        argument.arg for other in unit.file.units if other.is_test for argument in _plain_arguments(other)
    }
    return bool(tree.args.defaults) or any(
        argument.arg not in asked | _PYTESTS_OWN and fixture(unit, argument.arg, repo) is None
        for argument in tree.args.args
    )


def _plain_arguments(unit: Unit) -> list[ast.arg]:
    """The parameters of a test that nothing but a fixture can give: it has no decorator."""
    tree = unit.tree
    return tree.args.args if isinstance(tree, _FUNCTIONS) and not tree.decorator_list else []


def _is_misspelt(name: str) -> bool:
    """Whether a name is nearly one of a test: `tset_rows`, `_test_rows`, `xtest_rows`, `tes_rows`."""
    first, _, rest = name.strip("_").partition("_")
    return bool(rest) and (
        first
        in ("tset", "tes", "tets", "tst", "tesst", "testt", "xtest", "xxtest", "dont", "disabled", "skip")
        or (first == "test" and name.startswith("_"))
    )


def _is_off_by_name(name: str) -> bool:
    """`skip_test_rows`, `rows_tests_disabled.py`: whoever named it so knows that it does not run."""
    return _SWITCHED_OFF.match(name.strip("_")) is not None or _OFF_AT_THE_END.search(name) is not None


def _is_read(unit: Unit, name: str) -> bool:
    """Whether the file uses the name, other than by defining it; as text too, where it asks for attributes by
    their names."""
    if unit.file.naming(name):
        return True
    asks = bool(unit.file.calling("getattr"))
    quoted = (f'"{name}"', f"'{name}'")
    return asks and any(one in line for line in unit.file.lines for one in quoted)


def _is_handed_on(unit: Unit, name: str) -> bool:
    """Whether the file uses a class in another way than as a base: something may make its tests run."""
    bases = {id(base) for node in unit.file.classes.values() for base in node.bases}
    return any(
        isinstance(node, ast.Name) and node.id == name and id(node) not in bases
        for node in ast.walk(unit.file.tree)
    )


def _is_used_elsewhere(unit: Unit, name: str, repo: Repo) -> bool:
    """Whether another file calls or imports something of that name."""
    here = unit.file.path
    if any(path != here for path, _ in repo.index.calls(name)):
        return True
    return any(at.path != here for at in repo.index.look("import", name))


_OF_NOSE = ("nose", "assert_raises", "assert_equal", "assert_true", "with_setup", "eq_", "ok_", "raises")


def _is_for_nose(unit: Unit, repo: Repo) -> bool:
    """Whether nose runs the tests of this folder, which looks into whatever has `test` in its name."""
    folder = unit.file.path.rpartition("/")[0]
    if any(target.partition(".")[0] == "nose" for target in unit.file.imports.values()):
        return True
    return any(
        at.path.rpartition("/")[0] == folder and at.fact.target.partition(".")[0] == "nose"
        for name in _OF_NOSE
        for at in repo.index.look("import", name)
    )


def _is_given_to_pytest(unit: Unit, repo: Repo) -> bool:
    """Whether a script or a CI file hands the file to pytest, by its name or by a pattern: then any name will
    do."""
    path = unit.file.path
    found = [*repo.index.mentions(path.rpartition("/")[2])]
    for where, mention in repo.index.mentions("*"):
        stars = mention.word.lstrip("./")
        if fnmatch.fnmatch(path, stars) or fnmatch.fnmatch(path, f"*/{stars}"):
            found.append((where, mention))
    for where, mention in found:
        lines = (repo.read(where) or b"").decode(errors="replace").splitlines()
        if "pytest" in " ".join(lines[max(0, mention.line - 3) : mention.line]):
            return True
    return False
