"""A test's cases give it a value that it never reads.

## Why
A column of what is expected that nothing compares is green whatever it holds: each case says what should come
out, and none of them can fail for it. Where the test reads nothing of its cases, it runs the same thing again
and again under different names, and what the cases were written for is not tested.

## Instead
Compare the column, or hand it to what is tested. Remove a column that nothing needs, and start the name of
one that only labels the cases with an underscore.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, tree_span

_EXPECTED = pattern(r"(?i)(^|_)(expect(s|ed|ations?)?|want(s|ed)?|golden|oracle)(_|$)")
# What only says which case it is.
_LABEL = pattern(
    r"(?i)(^_|(^|_)(names?|ids?|labels?|titles?|desc|descr|descriptions?|reasons?|comments?|notes?|scenarios?"
    r"|case|repeats?|run|runs|iterations?|trials?|attempts?|rounds?|i|n|unused|dummy)$)"
)
_POSITIONAL = frozenset({"expand", "parameters"})
_KEYED = frozenset({"named_parameters", "product"})
_TABLES = frozenset({"parametrize", *_POSITIONAL, *_KEYED})
# With these a body reads its parameters without naming them.
_ALL = frozenset({"locals", "vars", "eval", "exec", "callspec", "getfixturevalue", "f_locals"})


class UnreadCase(Rule):
    folds = True
    bad = (
        Example("""
            import pytest

            @pytest.mark.parametrize(
                "kind, expected_sails",  # <- here
                [("sloop", 2), ("ketch", 3)],
            )
            def test_rig(build, kind, expected_sails):
                boat = build(kind)
                assert boat.kind == kind

            @pytest.mark.parametrize("knots", [3, 9, 20])  # <- here
            def test_sails(crew, knots):
                assert crew.reefed(15) is True
        """),
        Example("""
            from absl.testing import parameterized

            class RigTest(parameterized.TestCase):
                @parameterized.named_parameters(  # <- here
                    dict(testcase_name="sloop", kind="sloop", expected_masts=1),
                    dict(testcase_name="ketch", kind="ketch", expected_masts=2),
                )
                def test_masts(self, kind, expected_masts):
                    self.assertEqual(rig(kind).kind, kind)

                @parameterized.parameters(("sloop", 1), ("ketch", 2))  # <- here
                def test_more(self, kind, want):
                    self.assertEqual(rig(kind).kind, kind)

                @parameterized.product(kind=("sloop", "ketch"), reefed=(True, False))  # <- here
                def test_reefed(self, kind, reefed):
                    self.assertEqual(rig(kind).kind, kind)
        """),
        # Every value with every other, of which one is never read; one that is overwritten before it is.
        Example("""
            import itertools
            from parameterized import parameterized

            class CrewTest(TestCase):
                @parameterized.expand(itertools.product([100], [0, 2], ["sloop", "ketch"]))  # <- here
                def test_watch(self, hours, cooks, kind):
                    self.watch(100, 0, kind)

                @parameterized.expand(itertools.product([1, 4, 8], ["sloop", "ketch"]))  # <- here
                def test_hands(self, hands, kind):
                    hands = 4
                    self.assertEqual(rig(kind, hands).crew, 4)
        """),
    )
    good = (
        # A label, a column that a fixture takes, and one that other tests of the same table read.
        Example("""
            import pytest

            CASES = [("sloop", 2), ("ketch", 3)]

            @pytest.fixture
            def boat(build, kind):
                return build(kind)

            @pytest.mark.parametrize("name, kind", [("small", "sloop"), ("large", "ketch")])
            def test_rig(boat, name, kind):
                assert boat.sails

            @pytest.mark.parametrize("kind, expected", CASES)
            def test_runs(build, kind, expected):
                build(kind).sail()

            @pytest.mark.parametrize("kind, expected", CASES)
            def test_sails(build, kind, expected):
                assert build(kind).sails == expected

            @pytest.mark.parametrize("attempt", range(20))
            def test_again(build, attempt):
                assert build("sloop").sails == 2
        """),
        # It is read under another name, or by what stands around the test.
        Example("""
            import pytest

            @pytest.mark.parametrize("kind, expected", [("sloop", 2), ("ketch", 3)])
            def test_rig(request, kind, expected):
                assert request.node.callspec.params["expected"] == sails(kind)

            @pytest.mark.parametrize("storm", [1, 2], indirect=True)
            def test_storm(harbour, storm):
                assert harbour.safe

            @with_weather
            @pytest.mark.parametrize("weather", ["calm", "gale"])
            def test_weather(harbour, weather):
                assert harbour.safe

            @pytest.mark.parametrize("wind", [1, 2])
            def test_wind(harbour, wind):
                raise NotImplementedError

            @pytest.mark.parametrize("unit", ["knots"])
            def test_unit(harbour, unit):
                assert harbour.safe

            @pytest.mark.parametrize("tide", ["low", "high"])
            def test_default(harbour, tide):
                tide = tide or "low"
                assert harbour.at(tide)

            @pytest.mark.parametrize("tide", ["low", None])
            def test_absent(harbour, tide):
                if tide is None:
                    tide = "low"
                assert harbour.at(tide)

            class TestHarbour(TestCase):
                @parameterized.expand(itertools.product([100], [2], ["sloop", "ketch"]))
                def test_watch(self, hours, cooks, kind):
                    self.watch(100, 2, kind)
        """),
        Example(
            """
            import pytest

            @pytest.mark.parametrize("tide", ["low", "high"])
            def test_tide(harbour, tide):
                assert harbour.safe
            """,
            files={
                "tests/conftest.py": """
import pytest

@pytest.fixture
def tide():
    return "low"

@pytest.fixture
def harbour(tide):
    return Harbour(tide)
"""
            },
        ),
    )

    def concerns(self, file: File) -> bool:
        return file.calls(*_TABLES)

    def suspect(self, unit: Unit) -> bool:
        return unit.is_test and any(_unread(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for table in _tables(unit):
            dead = [name for name in table.columns if name in set(_unread(unit))]
            dead = [name for name in dead if not _is_fixture(name, unit, repo)]
            expected = [name for name in dead if _EXPECTED.search(name)]
            # Where each value meets every other, one that is not read runs the rest again.
            whole = table.crosses or len(dead) == len(table.columns)
            # A table that other tests read as well may hold more than this one needs.
            shared = not table.is_written_here and not whole and _is_read_elsewhere(table, dead, unit)
            if not dead or shared:
                continue
            named = expected or dead
            names = " and ".join(f"`{name}`" for name in named)
            them, its = ("them", "their") if len(named) > 1 else ("it", "its")
            if expected:
                says = f"each case gives {names}, and the test never looks at {them}"
                wrong = f"nothing: a case passes whatever {names} {'are' if len(named) > 1 else 'is'}"
            elif whole:
                lost = len(named) == 1 and _overwritten(unit, named[0]) is not None
                does = f"overwrites {names} before it reads it" if lost else f"never reads {names}"
                says = f"the test {does}, so that each of {its} values runs the same test"
                wrong = f"nothing: what {names} would change is not tested here"
            else:
                says = f"each case gives {names}, and the test never reads {them}"
                wrong = "what the other columns change"
            parameter = next(arg for arg in _parameters(unit) if arg.arg == named[0])
            yield self.finding_at(
                unit,
                tree_span(unit, table.place),
                says,
                certainty="likely" if expected or whole else "question",
                steps=(
                    Step(
                        unit.file.path,
                        parameter.lineno,
                        parameter.lineno,
                        f"`{named[0]}` is handed in here, and {_left(unit, named[0])}",
                    ),
                ),
                still_catches=(wrong,),
            )


@dataclass(frozen=True, slots=True)
class _Table:
    """A decorator that gives a test its cases: the parameters that it fills, where it names them, the values
    that it lists, whether these are written out in it, and whether each of them meets every other."""

    columns: tuple[str, ...]
    place: ast.expr
    values: str
    is_written_here: bool
    crosses: bool = False


def _parameters(unit: Unit) -> list[ast.arg]:
    arguments = unit.tree.args  # type: ignore[union-attr]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _unread(unit: Unit) -> Iterator[str]:
    """The parameters of a test that only a table of cases fills, and that its body does not name."""
    marks = unit.tree.decorator_list  # type: ignore[union-attr]
    if not any(isinstance(mark, ast.Call) and _last(mark) in _TABLES for mark in marks):
        return
    read = _read(unit.tree)
    if not read or not read.isdisjoint(_ALL):
        return
    for parameter in _parameters(unit):
        name = parameter.arg
        unread = name not in read or _overwritten(unit, name) is not None
        if name not in ("self", "cls") and unread and not _LABEL.search(name):
            yield name


def _overwritten(unit: Unit, name: str) -> int | None:
    """The line on which a test gives one of its parameters a value of its own, before anything reads it."""
    if name not in unit.facts.stored:
        return None
    for statement in unit.tree.body:  # type: ignore[union-attr]
        named = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if named:
            plain = isinstance(statement, ast.Assign) and statement.targets == named
            return statement.lineno if plain else None
    return None


def _left(unit: Unit, name: str) -> str:
    line = _overwritten(unit, name)
    return f"line {line} overwrites it first" if line is not None else "nothing in the body reads it"


def _read(function: ast.AST) -> frozenset[str]:
    """The names and texts in the body of a function; none where it does nothing or only refuses to run."""
    body: list[ast.stmt] = function.body  # type: ignore[attr-defined]
    if all(
        isinstance(one, (ast.Pass, ast.Raise, ast.Expr))
        and not (isinstance(one, ast.Expr) and isinstance(one.value, (ast.Call, ast.Await)))
        for one in body
    ):
        return frozenset()
    found: set[str] = set()
    for node in (below for one in body for below in ast.walk(one)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return frozenset(found)


def _last(mark: ast.Call) -> str:
    return dotted_name(mark.func).rpartition(".")[2]


def _tables(unit: Unit) -> Iterator[_Table]:
    marks = unit.tree.decorator_list  # type: ignore[union-attr]
    for mark in marks:
        if not isinstance(mark, ast.Call):
            # A decorator of the project's own may read what it hands on.
            if not dotted_name(mark).startswith(("pytest.", "unittest.", "mock.", "jtu.", "torch.")):
                return
            continue
        table = _table(mark, unit)
        if table is not None and table.columns:
            yield table


def _table(mark: ast.Call, unit: Unit) -> _Table | None:
    last = _last(mark)
    if last == "parametrize":
        return _parametrized(mark)
    names = [one.arg for one in _parameters(unit) if one.arg not in ("self", "cls")]
    defaults = len(unit.tree.args.defaults)  # type: ignore[union-attr]
    if last in _POSITIONAL and len(mark.args) > 0:
        rows = mark.args[0] if last == "expand" else ast.Tuple(list(mark.args), ast.Load())
        rows = mark.args[0] if len(mark.args) == 1 and isinstance(mark.args[0], ast.Name) else rows
        crossed = _crossed(rows)
        if crossed is not None:
            columns = tuple(name for name, count in zip(names, crossed, strict=False) if count != 1)
            alone = len(unit.tree.decorator_list) == 1 and len(names) == len(crossed)  # type: ignore[union-attr]
            return _Table(columns, mark.func, ast.unparse(rows), True, crosses=True) if alone else None
        written = _rows(rows)
        if not isinstance(rows, ast.Name) and (written is None or min(written) < len(names)):
            return None
        # Of several such decorators, and behind ones of mock, nobody knows which fills what.
        others = [one for one in unit.tree.decorator_list if one is not mark]  # type: ignore[union-attr]
        if any(
            isinstance(one, ast.Call) and not dotted_name(one.func).startswith("pytest.") for one in others
        ):
            return None
        return _Table(tuple(names), mark.func, ast.unparse(rows), written is not None)
    if last == "product" and mark.keywords:
        columns = tuple(one.arg for one in mark.keywords if one.arg in names)
        return _Table(columns, mark.func, ast.unparse(mark), True, crosses=True)
    if last == "named_parameters" and mark.args and all(_is_dict(one) for one in mark.args):
        keys = [frozenset(one.arg for one in row.keywords) for row in mark.args if isinstance(row, ast.Call)]
        columns = tuple(name for name in names if keys and all(name in row for row in keys))
        return _Table(columns, mark.func, ast.unparse(mark), True) if defaults == 0 or columns else None
    return None


def _is_dict(row: ast.expr) -> bool:
    return isinstance(row, ast.Call) and dotted_name(row.func) == "dict" and not row.args


def _crossed(table: ast.expr) -> list[int] | None:
    """How many values each argument of `itertools.product` has, 0 where that is not written out; None for any
    other table."""
    if not isinstance(table, ast.Call) or dotted_name(table.func) not in ("product", "itertools.product"):
        return None
    if table.keywords or any(isinstance(one, ast.Starred) for one in table.args):
        return None
    return [len(one.elts) if isinstance(one, (ast.List, ast.Tuple)) else 0 for one in table.args]


def _rows(table: ast.expr) -> list[int] | None:
    """How many values each row of a table that is written out has; None where it is not, or has none."""
    if not isinstance(table, (ast.List, ast.Tuple)) or not table.elts:
        return None
    if not all(isinstance(row, (ast.Tuple, ast.List)) for row in table.elts):
        return None
    return [len(row.elts) for row in table.elts if isinstance(row, (ast.Tuple, ast.List))]


def _parametrized(mark: ast.Call) -> _Table | None:
    if len(mark.args) < 2 or any(one.arg in ("indirect", None) for one in mark.keywords):
        return None
    try:
        names = ast.literal_eval(mark.args[0])
    except ValueError:
        return None
    if isinstance(names, str):
        names = [part.strip() for part in names.split(",")]
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return None
    rows = mark.args[1]
    one = isinstance(rows, (ast.List, ast.Tuple)) and len(rows.elts) < 2
    counted = isinstance(rows, ast.Call) and dotted_name(rows.func) == "range"
    if one or counted:  # One case is a name for a value, and a count runs a test many times.
        return None
    return _Table(tuple(names), mark.args[0], ast.unparse(rows), isinstance(rows, (ast.List, ast.Tuple)))


def _is_fixture(name: str, unit: Unit, repo: Repo) -> bool:
    """Whether a parameter is one that a fixture takes or stands for, or that a fixture of the file reads."""
    if any(in_test_file(path) and one.kind == "function" for path, one in repo.index.definitions(name)):
        return True
    own = unit.tree
    functions = [one for one in unit.file.units if one.is_function and not one.is_test]
    return any(
        name in {arg.arg for arg in _parameters(one)}
        for one in functions
        if one.tree is not own and one.tree.decorator_list  # type: ignore[union-attr]
    )


def _is_read_elsewhere(table: _Table, dead: list[str], unit: Unit) -> bool:
    """Whether another test of the file takes the same table and reads what this one leaves."""
    for other in unit.file.units:
        if other.is_test and other is not unit:
            for again in _tables(other):
                if again.values == table.values and not set(dead) <= set(_unread(other)):
                    return True
    return False
