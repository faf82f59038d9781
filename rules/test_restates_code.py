"""A test computes its expected value as the code under test does, or looks at the code's text.

## Why
The same expression on both sides is equal whatever it says: a wrong sign in the code is written with the
wrong sign in the test. And a test that looks for a line in the source passes as long as the line is written,
whether or not it does what it should; it fails when somebody renames a variable.

## Instead
Write the expected value as a number that was worked out by hand for one small case, or check a property that
the code does not spell out. Run the code instead of reading it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from reviewbot.flow.foreign import helper_of
from reviewbot.flow.formulas import (
    called,
    formula,
    formula_past_guards,
    inlined,
    resolved,
    straight,
    text_of,
    work,
)
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, tree_span, tree_step

_OPERATIONS = 2
_SOURCE = frozenset({"getsource", "getsourcelines"})
_EQUAL = frozenset({
    "assertEqual", "assertAlmostEqual", "assert_equal", "assert_close", "assert_allclose",
    "assert_array_equal", "allclose", "isclose", "equal",
})  # fmt: skip
_PACKING = {
    "trainer/packing.py": """
def as_row(value):
    if value is not None:
        return value if isinstance(value, tuple) else (value,)
"""
}
_SCORE = {
    "trainer/score.py": """
def advantage(reward, mean, spread):
    centred = reward - mean
    return centred / (spread + 1e-6)

def clipped(ratio, low, high):
    return min(max(ratio, low), high)

def kept(rows, size, whole):
    if not whole:
        return []
    return rows[: len(rows) // size]
"""
}

_PARSES = frozenset({"ast.parse", "cst.parse_module", "libcst.parse_module", "tokenize.generate_tokens"})


class TestRestatesCode(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            from trainer.score import advantage

            def test_advantage():
                reward, mean, spread = draw()
                expected = (reward - mean) / (spread + 1e-6)
                assert advantage(reward, mean, spread) == expected  # <- here
            """,
            files=_SCORE,
        ),
        Example(
            """
            import math
            import pytest
            from trainer import score

            class TestScore:
                def test_clipped(self, ratio):
                    value = score.clipped(ratio, 0.8, high=1.2)
                    assert value == pytest.approx(min(max(ratio, 0.8), 1.2))  # <- here
            """,
            files=_SCORE,
        ),
        Example(
            """
            import inspect
            from trainer import score

            def test_score_is_clipped():
                text = inspect.getsource(score.clipped)
                assert "min(max(" in text  # <- here
            """,
            files=_SCORE,
        ),
        Example(
            """
            from trainer.score import kept

            def test_kept():
                rows, size = draw()
                assert kept(rows, size, True) == rows[: len(rows) // size]  # <- here
            """,
            files=_SCORE,
        ),
    )
    good = (
        # A text with a backslash is put into a formatted one.
        Example(
            """
            import hashlib
            from harbour import names

            def test_name():
                root = "C:\\\\harbour"
                wanted = hashlib.sha256(root.encode("utf-8")).hexdigest()
                assert names.of(root) == f"Global-{wanted}"
            """,
            files={
                "harbour/__init__.py": "",
                "harbour/names.py": """
import hashlib

def of(root):
    return "Global-" + hashlib.sha256(root.encode("utf-8")).hexdigest() + root
""",
            },
        ),
        Example(
            """
            import ast
            from pathlib import Path

            ROOT = Path(__file__).parents[1]

            def test_heavy_imports_wait():
                tree = ast.parse((ROOT / "trainer" / "score.py").read_text())
                names = {one.name for node in tree.body if isinstance(node, ast.Import) for one in node.names}
                assert "torch" not in names
            """,
            files=_SCORE,
        ),
        # Nothing stands past the condition of what it calls.
        Example(
            """
            from trainer.packing import as_row

            def test_a_number_is_a_row():
                assert as_row(3) == (3,)
            """,
            files=_PACKING,
        ),
        # What it returns where it leaves early is written out.
        Example(
            """
            from trainer.score import kept

            def test_nothing_is_kept():
                rows, size = draw()
                assert kept(rows, size, False) == []
            """,
            files=_SCORE,
        ),
        Example(
            """
            from trainer.score import advantage, clipped

            def test_advantage():
                assert advantage(3.0, 1.0, 2.0) == 2.0 / 2.000001
                assert clipped(5, 0, 3) == 3

            def test_advantage_has_the_sign_of_the_difference(reward, mean):
                assert (advantage(reward, mean, 1.0) > 0) == (reward > mean)

            def test_a_shift_changes_nothing(reward, mean):
                assert advantage(reward + 1, mean + 1, 1.0) == advantage(reward, mean, 1.0)
            """,
            files=_SCORE,
        ),
        # A file that was just written has the name of one of the repository.
        Example(
            """
            def test_generated(bake, tmp_path):
                bake(tmp_path)
                text = (tmp_path / "score.py").read_text()
                assert "min(max(" in text
            """,
            files=_SCORE,
        ),
        Example("""
            import inspect

            def double(rows):
                return [row * 2 for row in rows]

            def test_names():
                assert inspect.getsource(double).startswith("def")
                assert inspect.signature(double).parameters
        """),
    )

    folds = True

    def suspect(self, unit: Unit) -> bool:
        if not unit.is_test:
            return False
        return unit.calls(*_SOURCE, "read_text", "read") or any(_compared_to_tested(unit, straight(unit)))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        tree = unit.tree
        if not self.suspect(unit) or not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        known = straight(unit)
        for left, right, place in _compared_to_tested(unit, known):
            yield from self._formula(unit, left, right, place, known, repo)
        if unit.calls(*_SOURCE, "read_text", "read") and in_test_file(unit.file.path):
            yield from self._text(unit, known, repo)

    def _formula(
        self,
        unit: Unit,
        left: ast.expr,
        right: ast.expr,
        place: ast.expr | ast.stmt,
        known: dict[str, ast.expr],
        repo: Repo,
    ) -> Iterator[Finding]:
        for side, other in ((left, right), (right, left)):
            call = known.get(side.id, side) if isinstance(side, ast.Name) else side
            if not isinstance(call, ast.Call):
                continue
            expected = resolved(other, known)
            if work(expected) < _OPERATIONS:
                continue
            helper = _under_test(call, unit, repo)
            if helper is None or not isinstance(helper.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            whole, past = formula(helper.tree), ""
            if whole is None:
                whole, past = formula_past_guards(helper.tree), " past its conditions"
            if whole is None or work(whole) < _OPERATIONS:
                continue
            actual = resolved(call, known)
            given = called(actual, helper.tree) if isinstance(actual, ast.Call) else None
            if given is None:
                continue
            does = text_of(inlined(whole, given), {**unit.file.imports, **helper.file.imports})
            if does != text_of(expected, {**unit.file.imports, **helper.file.imports}):
                continue
            yield self.finding_at(
                unit,
                tree_span(unit, place),
                f"the expected value is computed as `{helper.name}` computes it{past}: would a fault "
                "there not be here as well?",
                certainty="question",
                steps=[
                    Step(helper.file.path, helper.line, helper.end_line, f"`{helper.name}` returns this"),
                    tree_step(unit, place, "and so does the test"),
                ],
                still_catches=("nothing in this comparison; a test with numbers worked out by hand would",),
            )
            return

    def _text(self, unit: Unit, known: dict[str, ast.expr], repo: Repo) -> Iterator[Finding]:
        found: dict[str, tuple[Step, list[ast.Assert]]] = {}
        for node in sorted(unit.asts(ast.Assert), key=lambda one: one.lineno):
            text = _looked_through(node.test)
            what = _source_of(resolved(text, known), unit, repo) if text is not None else None
            if what is not None:
                found.setdefault(what[0], (what[1], []))[1].append(node)
        for name, (source, places) in found.items():
            again = (Step(unit.file.path, one.lineno, one.lineno, "and so here") for one in places[1:])
            asks = all(map(_forbids, places)) or not all(map(_looks_for_text, unit.asts(ast.Assert)))
            yield self.finding_at(
                unit,
                tree_span(unit, places[0]),
                f"the test looks for text in the source of `{name}`"
                + (": could it run it?" if asks else " instead of running it"),
                certainty="question" if asks else "likely",
                steps=[source, *again],
                still_catches=(f"only a test that runs `{name}`",),
            )


def _looks_for_text(node: ast.Assert) -> bool:
    """Whether a check asks for pieces of text alone: one that looks at what was run tests more."""
    asked = [below for below in ast.walk(node.test) if isinstance(below, ast.Compare)]
    return bool(asked) and all(_looked_through(one) is not None for one in asked)


def _forbids(node: ast.Assert) -> bool:
    """Whether a text must not be there: running the code can hardly tell that an option is gone."""
    return isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.NotIn)


def _looked_through(test: ast.expr) -> ast.expr | None:
    """Where a condition looks for a piece of text."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)):
        said = test.left
        return test.comparators[0] if isinstance(said, ast.Constant) and isinstance(said.value, str) else None
    return None


def _compared(unit: Unit) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | ast.stmt]]:
    """What the checks of a test require to be equal, and where."""
    for node in unit.asts(ast.Assert):
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            yield _bare(test.left), _bare(test.comparators[0]), node
        elif isinstance(test, ast.Call) and _last(test) in _EQUAL and len(test.args) > 1:
            yield test.args[0], test.args[1], node
    for statement in unit.asts(ast.Expr):
        call = statement.value
        if isinstance(call, ast.Call) and _last(call) in _EQUAL and len(call.args) > 1:
            yield call.args[0], call.args[1], statement


def _compared_to_tested(
    unit: Unit, known: dict[str, ast.expr]
) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | ast.stmt]]:
    """Those of which one side may be what something imported returns."""
    for left, right, place in _compared(unit):
        # What is written out was not computed.
        if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
            continue
        if _may_be_tested(left, known, unit) or _may_be_tested(right, known, unit):
            yield left, right, place


def _may_be_tested(node: ast.expr, known: dict[str, ast.expr], unit: Unit) -> bool:
    """Whether an expression is a call of something imported, or a name for one."""
    node = known.get(node.id, node) if isinstance(node, ast.Name) else node
    return isinstance(node, ast.Call) and dotted_name(node.func).partition(".")[0] in unit.file.imports


def _bare(node: ast.expr) -> ast.expr:
    """What `approx(...)` is given, for a comparison within a tolerance."""
    return node.args[0] if isinstance(node, ast.Call) and _last(node) == "approx" and node.args else node


def _under_test(call: ast.Call, unit: Unit, repo: Repo) -> Unit | None:
    """The function of another file of the repository that a call means."""
    name = dotted_name(call.func)
    if not name or name.partition(".")[0] not in unit.file.imports:
        return None
    found = helper_of(unit, name, repo)
    return None if found is None or in_test_file(found.file.path) else found


def _source_of(node: ast.expr, unit: Unit, repo: Repo) -> tuple[str, Step] | None:
    """What an expression is the source text of: something imported from the repository, or a file of it."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    if any(dotted_name(call.func) in _PARSES for call in calls):
        return None  # how the code is made up, and not its text
    for call in calls:
        if _last(call) in _SOURCE and call.args:
            name = dotted_name(call.args[0])
            first = name.partition(".")[0]
            if not name or first not in unit.file.imports:
                return None
            target = unit.file.imports[first]
            found = helper_of(unit, name, repo)
            path = found.file.path if found is not None else repo.index.module(target, unit.file.path)
            if path is None:
                return None
            # Where it begins: a change further down is no reason to speak of an old test.
            line = found.line if found is not None else 1
            return name, Step(path, line, line, f"the source of `{name}`")
        if _last(call) in ("read_text", "read") and _is_of_the_repository(call, unit):
            paths = [
                one.value
                for one in ast.walk(call)
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.endswith(".py")
            ]
            found_at = [at.path for name in paths for at in repo.index.look("path", name.rpartition("/")[2])]
            fits = [path for path in found_at if any(path.endswith(name.lstrip("./")) for name in paths)]
            if len(set(fits)) == 1 and not in_test_file(fits[0]):
                return fits[0], Step(fits[0], 1, 1, "the file that is read as text")
    return None


def _is_of_the_repository(call: ast.Call, unit: Unit) -> bool:
    """Whether a path starts from a module, from `__file__` or from a constant, rather than from something
    that the test was given or has made, where a file of that name may just have been written."""
    return all(
        one.id == "__file__" or one.id.isupper() or one.id in unit.file.imports or hasattr(builtins, one.id)
        for one in ast.walk(call)
        if isinstance(one, ast.Name)
    )


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted_name(call.func)
