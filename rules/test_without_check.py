"""A test that checks nothing.

## Why
It passes whatever the code under test computes, as long as nothing raises. It counts as coverage, and the
value that it was written for is not looked at.

## Instead
Compare what comes out with what should come out. If the point is that nothing raises, say so in the name or
in a line of comment.
"""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow import assertions, collection
from reviewbot.flow.calls import callers
from reviewbot.flow.fixtures import fixture
from reviewbot.flow.foreign import asserts_elsewhere, checks_elsewhere
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries, dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, once
from reviewbot.model import Certainty

# Words that say that running through is the point.
_TRIVIAL = pattern(r"(?i)trivial|dummy|placeholder|not_?implemented|(?<![a-z])imports?(?![a-z])")
_PROMISES = pattern(r"(?i)(todo|fixme|xxx)\b")
_PROMPT = pattern(r">>>|^\s*In ?\[\d+\]:", re.M)
_RUNS_THROUGH = pattern(
    r"(?i)smoke|crash|hang|segfault|leak|deadlock|import|compil|no[_ ]?errors?|not[_ ]?rais|"
    r"(does|should)n.?t|without|no_?exception|should_?(work|run|pass|not)|can_|works|runs?(_|\b)|noop|no_op|nothing|silent|"
    r"survive|robust|stress|fuzz|bench|perf|speed|timing|profil|example|demo|tutorial|doctest|warn|deprec|"
    r"\bbuilds\b|just (check|see|test|make sure)|"
    r"issue|bug|regress|gh_?\d|\d{3,}|accept|allow|valid|ok\b|close|clean|shutdown|idempot|twice|repeated"
)
_SHOWS = pattern(r"(?i)(^|_)(print|show|display|plot|repr)")
_EXPECTED = pattern(r"(?i)^(expected|want|wanted|desired|golden|reference|baseline)(_|$)|_expected$")
# Fixtures and parameters that check something by being there or by being called.
_CHECKING_FIXTURES = pattern(
    r"(?i)snapshot|regression|benchmark|pytester|testdir|check|assert|expect|verif|golden|approv|mypy|runner|"
    r"tester|harness|mock|monkeypatch|caplog|capsys|recwarn"
)
_SKIPPING = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_VERDICTS = frozenset({"check_call", "check_output", "check_returncode", "raise_for_status"})


class TestWithoutCheck(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def test_loss(run):  # <- here
                expected = 0.5
                loss = run(1).loss
                print(loss)
        """),
        Example("""
            def test_rows():  # <- here
                pass

            class TestRows:
                def test_more(self):  # <- here
                    \"\"\"Rows are kept.\"\"\"
        """),
        Example("""
            def test_loss(run):  # <- here
                loss = run(1).loss
                print("loss", loss)
        """),
        Example("""
            def test_loss(run):  # <- here
                model = build(1)
                model.fit(2)
        """),
        Example(
            """
            from checks.compare import same_rows

            def test_rows(run):  # <- here
                same_rows(run(1), run(2))
            """,
            files={"checks/compare.py": "def same_rows(left, right):\n    print(left, right)\n"},
        ),
    )
    good = (
        # It is skipped, and counted so.
        Example("""
            import pytest

            class TestOther:
                def test_length(self):
                    pytest.skip("this engine knows no lengths")
        """),
        # What it runs last fails where the other process does.
        Example("""
            import subprocess
            import sys

            def test_command(chart):
                subprocess.run([sys.executable, "-m", "sail", str(chart)], check=True)

            def test_answer(client):
                client.get("/harbours").raise_for_status()
        """),
        # A hook that the tests register.
        Example(
            """
            def test_hook():
                pass

            class TestHooks:
                def setup_method(self):
                    hooks.register("on_row", test_hook)

                def test_registered(self):
                    assert hooks.get("on_row") == [test_hook]
            """
        ),
        # A benchmark that is run by hand, where pytest looks in other folders.
        Example(
            """
            from timeit import timeit

            def test_hoisting():
                took = timeit("hoist()")
                print(took)

            if __name__ == "__main__":
                test_hoisting()
            """,
            path="benchmarks/test_hoisting.py",
            files={"setup.cfg": "[tool:pytest]\ntestpaths = tests\n"},
        ),
        # A command's own function, which is given what it asks for.
        Example(
            """
            import sys

            def test_engine(engine):
                for line in ("ahead", "astern"):
                    print(line, engine.run(line))

            def main():
                test_engine(build(sys.argv[1]))

            if __name__ == "__main__":
                main()
            """,
            path="tools/test_engine.py",
        ),
        # Under a condition of a script, which calls it.
        Example("""
            import sys

            if "--loss" in sys.argv:
                def test_loss():
                    print(sum(float(line) for line in open(sys.argv[1])))

                test_loss()
        """),
        # The function under test asserts; a method of a base in another file checks.
        Example(
            """
            from parser import parse
            from harness import ModelTest

            def test_parse():
                parse("1 + 2")

            class TestSmall(ModelTest):
                def test_small(self):
                    self.train_and_compare("small")
            """,
            files={
                "tests/harness.py": """
import unittest

class ModelTest(unittest.TestCase):
    def train_and_compare(self, name):
        self._close(train(name))

    def _close(self, result):
        self.assertAlmostEqual(result.loss, 1.0)
""",
                "parser.py": """
def parse(text):
    tree = build(text)
    assert tree.end == len(text)
    return tree
""",
            },
        ),
        # Another rule reports the comparison itself.
        Example("""
            def test_statement(run):
                run(1) == [2]
        """),
        Example("""
            import pytest
            def check(rows):
                assert rows
            def test_rows(run):
                check(run(1))
            def test_refuses(run):
                with pytest.raises(ValueError):
                    run(-1)
            def test_warns(run):
                if run(1) != 2:
                    raise RuntimeError
        """),
        Example("""
            from unittest import mock
            from tests.tools import run_case
            class TestRows(Base):
                def test_one(self):
                    sender = mock.Mock()
                    sender.send.assert_called_once_with(1)
                def test_two(self):
                    run_case("rows")
                def test_three(self):
                    self.check_rows(1)
        """),
        Example("""
            def test_does_not_raise(run):
                run(1)
            def test_load(run):
                # Must not raise although the file is empty.
                run("empty")
            def test_snapshot(run, snapshot):
                snapshot(run(1))
            def test_fit(fitted):
                # Fitting does not raise.
                pass
        """),
        Example("""
            import pytest
            @pytest.mark.skip(reason="not written yet")
            def test_rows():
                pass
            @pytest.fixture
            def test_data():
                return 1
            class BaseRows:
                def test_rows(self):
                    raise NotImplementedError
        """),
        # What it is given checks: a fixture hands out a function that asserts.
        Example(
            """
            def test_sails(same, sail):
                same(sail("north"), 4.0)
            """,
            files={
                "tests/conftest.py": (
                    "import pytest\n\n@pytest.fixture\ndef same():\n"
                    "    def check(left, right):\n        assert left == right\n    return check\n"
                )
            },
        ),
        Example("""
            from unittest import TestCase
            class TestRunner(TestCase):
                class Sample(TestCase):
                    def test_nothing(self):
                        pass
                def test_runs(self):
                    self.assertTrue(run(self.Sample("test_nothing")).ok)
        """),
        Example("""
            def test_close(run, rows):
                run(rows)
                for row in rows:
                    row.verify()
                expect(rows).to_be(1)
        """),
        Example("""
            def test_rows():
                \"\"\"
                >>> run(1)
                [2]
                \"\"\"
            def test_verbose(run, verbose):
                # An old kernel hangs here.
                loss = run(1)
                if verbose:
                    print(loss)
        """),
        Example(
            """
            from checks.compare import same_rows

            def test_rows(run):
                same_rows(run(1), run(2))
            """,
            files={"checks/compare.py": "def same_rows(left, right):\n    assert left == right\n"},
        ),
        Example(
            """
            def test_rows():
                pass
            """,
            path="testing/example_scripts/collect/test_rows.py",
        ),
        Example(
            """
            def test(model, batches):
                for batch in batches:
                    print(model(batch))
            """,
            path="src/train.py",
        ),
        # What is entered awaits a failure.
        Example("""
            import pytest
            REFUSED = pytest.raises(ValueError)

            def test_overload(ferry):
                with REFUSED:
                    ferry.load(900)
        """),
    )

    told_by = (
        ("check-result-dropped", "unit"),
        ("unreachable-check", "unit"),
        ("skip-after-compare", "unit"),
        ("mock-assert-typo", "unit"),
    )

    def suspect(self, unit: Unit) -> bool:
        if not unit.is_test or unit.has(ast.Assert, ast.Raise, ast.Yield, ast.YieldFrom):
            return False
        return not unit.calls_any(assertions.asserts_by_name)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        tree = unit.tree
        if not self.suspect(unit) or not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        path = unit.file.path
        if not repo.pytest.collects_file(path) or collection.is_example(path):
            return
        if not _is_collected(unit, tree, repo):
            return
        if unit.owner is None and tree.col_offset:
            return  # under a condition of a script, which calls it
        if (
            _is_set_aside(tree)
            or _only_skips(tree)
            or _ends_in_a_verdict(unit, tree)
            or _may_check(unit, tree)
        ):
            return
        if unit.owner is not None and any(map(_skips, unit.owner.decorator_list)):
            return
        if unit.owner is None and tree.args.args and callers(unit):
            return  # called with what it needs: no test, for all its name
        if unit.owner is None and tree.name in _handed_on(unit.file):
            return
        if _is_run_by_hand(unit, repo):
            return
        called = list(dict.fromkeys(dotted_name(call.func) for call in unit.asts(ast.Call)))
        if any(checks_elsewhere(unit, name, repo) or asserts_elsewhere(unit, name, repo) for name in called):
            return
        if any(_is_given_a_check(unit, name.partition(".")[0], repo) for name in called):
            return
        said = self._say(unit, tree)
        if said is not None:
            message, certainty, steps = said
            node = unit.node
            assert isinstance(node, cst.FunctionDef)
            yield self.finding(
                unit,
                node.name,
                message,
                certainty=certainty,
                steps=steps,
                still_catches=(f"nothing but an exception inside `{unit.name}`",),
            )

    def _say(
        self, unit: Unit, tree: collection.FunctionTree
    ) -> tuple[str, Certainty, tuple[Step, ...]] | None:
        name = tree.name
        if _PROMPT.search(ast.get_docstring(tree) or ""):
            return None  # a doctest
        if all(_is_nothing(statement) for statement in tree.body):
            overrides = unit.owner is not None and len(collection.bases(unit.owner, unit.file)) > 0
            inherits = overrides and not _extends_test_case_alone(unit)
            fixed = len(tree.args.args) > (unit.owner is not None) and _explains_itself(unit, tree)
            meant = _says_why(unit) or _is_trivial(tree) or _is_run_by_others(unit, tree) or _sets_up(unit)
            certainty: Certainty = "question" if meant else "likely"
            return None if inherits or fixed else (f"`{name}` is empty", certainty, ())
        if _explains_itself(unit, tree) or _throws_away(tree):
            return None
        unread = _unread_expectation(tree)
        if unread is not None:
            says = (Step(unit.file.path, unread.lineno, unread.lineno, f"`{unread.id}` is read nowhere"),)
            return f"`{name}` has something to expect and compares nothing with it", "likely", says
        if _prints_results(tree):
            tried = _is_an_example(unit, tree) or _SHOWS.search(name) or _tries_out(unit.file)
            shown = "question" if tried else "likely"
            return f"`{name}` prints what it computed and checks nothing", shown, ()
        return f"`{name}` checks nothing: it passes unless something raises", "question", ()


def _is_collected(unit: Unit, tree: collection.FunctionTree, repo: Repo) -> bool:
    if unit.owner is None:
        return repo.pytest.collects_function(tree.name) and not collection.is_fixture(tree)
    kind = collection.owner(unit.owner, unit.file, repo.pytest)
    # Neither runner looks for a TestCase in a class.
    if kind not in ("unittest", "pytest") or (kind == "unittest" and unit.name.count(".") > 1):
        return False
    abstract = any(word in unit.owner.name for word in ("Base", "Mixin", "Abstract"))
    return not abstract and not collection.is_fixture(tree)


def _is_run_by_hand(unit: Unit, repo: Repo) -> bool:
    """Whether pytest is told to look in other folders, and the file runs the test itself: a benchmark."""
    root = posixpath.dirname(repo.pytest.where)
    folders = [posixpath.join(root, folder).rstrip("/") for folder in repo.pytest.testpaths]
    looked = any(fnmatch.fnmatchcase(unit.file.path, f"{folder}*") for folder in folders)
    return (
        bool(folders) and not looked and unit.owner is None and _is_script(unit.file) and bool(callers(unit))
    )


@once
def _tries_out(file: File) -> bool:
    """Whether a file stands in no folder of tests and runs functions that are called tests itself: one to try
    things out with."""
    folders = file.path.lower().split("/")[:-1]
    return (
        not any("test" in folder for folder in folders)
        and _is_script(file)
        and any(callers(one) for one in file.units if one.is_test and one.owner is None)
    )


def _is_script(file: File) -> bool:
    return any(
        isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"
        for statement in file.tree.body
    )


@once
def _handed_on(file: File) -> frozenset[str]:
    """The names that the file gives to calls: a function among them is a hook that is registered, no test."""
    return frozenset(
        given.id
        for unit in file.units
        for call in unit.asts(ast.Call)
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(given, ast.Name)
    )


def _extends_test_case_alone(unit: Unit) -> bool:
    """Whether the class has no other base than a TestCase, whose tests an empty one could switch off."""
    assert unit.owner is not None
    return all(dotted_name(base).rpartition(".")[2] in ("TestCase", "object") for base in unit.owner.bases)


def _is_set_aside(tree: collection.FunctionTree) -> bool:
    """Whether the test is skipped, or a decorator that is not known runs it in its own way."""
    return any(map(_skips, tree.decorator_list)) or not collection.keeps_name(tree)


def _skips(decorator: ast.expr) -> bool:
    return collection.decorator_name(decorator).rpartition(".")[2] in _SKIPPING


def _only_skips(tree: collection.FunctionTree) -> bool:
    """Whether all that a test does is to skip itself: it counts as skipped, not as passed."""
    first = next((one for one in tree.body if not _is_nothing(one)), None)
    call = first.value if isinstance(first, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted_name(call.func) in ("pytest.skip", "self.skipTest")


def _ends_in_a_verdict(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether a test ends by running what fails where another process does, or where an answer is no good
    one: that is what it asks."""
    if _VERDICTS.isdisjoint(unit.facts.calls) and "check" not in unit.facts.names:
        return False
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, (ast.Attribute, ast.Name)) and _last(node.func) in _VERDICTS)
            or any(word.arg == "check" and _is_true(word.value) for word in node.keywords)
        )
        for node in ast.walk(tree.body[-1])
    )


def _last(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _may_check(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether anything that the test calls, enters or is given could hold a check."""
    arguments = tree.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if _CHECKING_FIXTURES.search(argument.arg):
            return True
    summaries = Summaries.of(unit.file)
    for node in unit.asts(ast.Call):
        if any(summaries.judges(node, unit)):
            return True
        if isinstance(node.func, ast.Attribute) and not dotted_name(node.func) and _is_fluent(node.func):
            return True
    withs: list[ast.With | ast.AsyncWith] = [*unit.asts(ast.With), *unit.asts(ast.AsyncWith)]
    for block in withs:
        if _enters_unknown(block):
            return True
    return any(assertions.asserts_by_name(node.attr) for node in unit.asts(ast.Attribute))


def _is_fluent(node: ast.Attribute) -> bool:
    """`expect(x).to_be(1)`, `assert_that(x).equals(1)`."""
    owner = node.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Call) and assertions.may_assert_by_name(
        dotted_name(owner.func).rpartition(".")[2]
    )


def _enters_unknown(node: ast.With | ast.AsyncWith) -> bool:
    """Whether a `with` enters something that may check when it is left."""
    known = re.compile(
        r"(?i)^(open|.*no_grad|.*inference_mode|.*patch.*|.*tempdir.*|.*temporary.*|.*autocast|.*lock)$"
    )
    entered = [item.context_expr for item in node.items]
    names = [dotted_name(one.func) for one in entered if isinstance(one, ast.Call)]
    # `with REFUSED:`, after `REFUSED = pytest.raises(ValueError)`.
    kept = any(isinstance(one, (ast.Name, ast.Attribute)) for one in entered)
    return kept or any(not known.match(name) for name in names)


def _is_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Return):
        return statement.value is None
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _unread_expectation(tree: collection.FunctionTree) -> ast.Name | None:
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        if node.id not in read and _EXPECTED.search(node.id):
            return node
    return None


def _says_why(unit: Unit) -> bool:
    """Whether a comment in an empty test gives a reason, or promises it, and is no code that is left out:
    whoever wrote it knows that it checks nothing."""
    # A comment behind the last statement still belongs to the test.
    lines, indent = unit.file.lines, unit.tree.col_offset
    end = unit.end_line
    while end < len(lines) and lines[end].lstrip().startswith("#") and lines[end][indent : indent + 1] == " ":
        end += 1
    comments = (line.partition("#")[2].strip("# ") for line in lines[unit.line : end])
    return any(text and (_PROMISES.match(text) or not _is_code(text)) for text in comments)


def _is_run_by_others(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether something runs although the test is empty: a decorator that is none of the runner's, or the
    fixtures that it asks for, by parameters or by marks, or that run without being asked for; or a docstring
    tells what it is there for."""
    given = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args)]
    given = given[1:] if unit.owner is not None else given
    decorated = (collection.decorator_name(one).partition(".")[0] for one in tree.decorator_list)
    return (
        any(_may_do_something(unit, name) for name in given)
        or any(name not in ("pytest", "unittest", "mark") for name in decorated)
        # An exception for a decorator hides the test, and is meant to skip it.
        or any(collection.decorator_name(one).endswith("SkipTest") for one in tree.decorator_list)
        or ast.get_docstring(tree) is not None
        or any("usefixtures" in one.facts.calls for one in unit.file.units)
        or _has_automatic_fixtures(unit.file)
    )


def _sets_up(unit: Unit) -> bool:
    """Whether the set-up of a test's own class, or what puts it away, runs something for an empty test."""
    owner = unit.name.rpartition(".")[0]
    return bool(owner) and any(
        one.name.rpartition(".")[0] == owner
        and one.name.rpartition(".")[2] in _SET_UPS
        and not one.facts.calls <= _OF_BASE | {one.name.rpartition(".")[2]}
        for one in unit.file.units
    )


_SET_UPS = frozenset({"setUp", "tearDown", "asyncSetUp", "asyncTearDown", "setup_method", "teardown_method"})
_OF_BASE = frozenset({"super"})


@once
def _has_automatic_fixtures(file: File) -> bool:
    """Whether a fixture of the file runs for tests that do not name it."""
    return any(
        keyword.arg == "autouse" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for call in file.asts(ast.Call)
        if dotted_name(call.func).rpartition(".")[2] in ("fixture", "yield_fixture")
        for keyword in call.keywords
    )


def _is_given_a_check(unit: Unit, name: str, repo: Repo) -> bool:
    """Whether a name that is called is a fixture, here or in a `conftest.py`, in which something can fail."""
    arguments = unit.tree.args if isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    if arguments is None or name not in {one.arg for one in (*arguments.posonlyargs, *arguments.args)}:
        return False
    made = fixture(unit, name, repo)
    return made is not None and (
        made.has(ast.Assert, ast.Raise) or bool(made.calls_any(assertions.asserts_by_name))
    )


def _may_do_something(unit: Unit, name: str) -> bool:
    """Whether a fixture may run something for the test: all but one of the file that calls nothing and has
    nothing to put away again."""
    made = fixture(unit, name, None)
    return (
        made is None
        or made.has(ast.Call, ast.Yield, ast.With)
        or len(made.tree.args.args) > (made.owner is not None)
    )


def _is_trivial(tree: collection.FunctionTree) -> bool:
    """Whether the name or the docstring says that there is nothing to check."""
    return _TRIVIAL.search(f"{tree.name} {ast.get_docstring(tree) or ''}") is not None


def _is_code(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _explains_itself(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether the name, the docstring or a comment says that running through is the point."""
    lines = unit.file.lines[unit.line - 1 : unit.end_line]
    comments = " ".join(line.partition("#")[2] for line in lines if "#" in line)
    said = " ".join((unit.name, ast.get_docstring(tree) or "", comments))
    return _RUNS_THROUGH.search(said) is not None


def _throws_away(tree: collection.FunctionTree) -> bool:
    """Whether the test compares and drops the outcome: the comparison is the fault, reported by itself."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Compare):
            return True
        called = value.func if isinstance(value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in assertions.PREDICATE_METHODS:
            return True
    return False


def _prints_results(tree: collection.FunctionTree) -> bool:
    """Whether values that the test computed are printed."""
    computed = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(isinstance(below, ast.Call) for below in ast.walk(node.value))
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    return any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and dotted_name(node.value.func) in ("print", "pprint", "pprint.pprint")
        and any(
            isinstance(below, ast.Name) and below.id in computed
            for arg in node.value.args
            for below in ast.walk(arg)
        )
        for node in _always_run(tree)
    )


def _is_an_example(unit: Unit, tree: collection.FunctionTree) -> bool:
    """Whether a script shows how something is used: it runs the test itself, under
    `if __name__ == "__main__"` at its end, and whatever fails in it is printed."""
    shows = any(
        isinstance(statement, ast.Try)
        and statement.handlers
        and all(_only_prints(handler.body) for handler in statement.handlers)
        for statement in tree.body
    )
    return shows and _is_script(unit.file) and unit.is_function and bool(callers(unit))


def _only_prints(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Call)
        and dotted_name(one.value.func) in ("print", "traceback.print_exc")
        for one in body
    )


def _always_run(tree: collection.FunctionTree) -> Iterator[ast.stmt]:
    """The statements that stand under no condition such as `if verbose`, and in no function of their own."""
    stack: list[ast.stmt] = list(tree.body)
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.Try)):
            stack.extend(statement.body)
