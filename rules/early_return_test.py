"""A test returns before its first check, and counts as passed.

## Why
A bare `return` in a test is a pass. Where the model, the device or the file is missing, or a result came back
empty, the report says that the test succeeded, and nobody learns that it looked at nothing.

## Instead
Call `pytest.skip("why")` (`self.skipTest` in unittest), so that the run shows what was left out; fail where a
result that must be there is missing.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.checks import Check, call_of, checks, may_assert
from reviewbot.flow.control import enclosing, statements
from reviewbot.flow.equal_as_a_whole import asks_again
from reviewbot.flow.excuses import excuses
from reviewbot.flow.fixtures import fixture
from reviewbot.flow.own_input import draws
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, conjuncts, dotted, last_name, literal, root_name, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Fix, Rule, Unit, once, rewrite, step

_WORKERS = frozenset({"rank", "local_rank", "world_size", "process_id", "queue"})
_MODE = 4
_FAILS = pattern(r"(?i)conver|fail|broken|breaks|bug|fixme|xxx|flaky|crash|not (yet )?work")
_MODES = pattern(r"(?i)(^|_)(mode|include|slow|quick|interactive)(_|$)|dry_?run")
# A decorator that runs a test for each of its cases.
_CASES = pattern(r"(?i)param|cases|expand|product|\bdata$|each")
_NOTHING = pattern(
    r"(?i)\bnot (relevant|applicable|needed|meaningful|of interest)|irrelevant|meaningless|\bn/a\b"
    r"|nothing (else |more |left )?(to|is) (be )?(test|check|assert|compare|verify|do\b)"
    r"|(do|does)(n't| not) (apply|matter|make sense|test any)|\bno sense\b"
    r"|(can't|cannot|can not) (check|test)"
)

_NO_CASE = pattern(
    r"(?i)\b(unsupported|invalid|impossible|incompatible|illegal|not supported)\b"
    r".*\b(combination|case|param|config)"
)

_Way = tuple[cst.If, cst.Return, list[tuple[Unit, cst.If]]]
"""A condition under which a test returns, that return, and the later tests that do so too."""


class EarlyReturnTest(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            import torch

            def test_generate(model):
                if not torch.cuda.is_available():  # <- here
                    return
                assert model.generate("a") == "b"
            """
        ),
        Example(
            """
            def test_rows(load):
                rows = load()
                if not rows:  # <- here
                    print("no rows")
                    return
                assert rows[0].tokens
            """
        ),
        Example(
            """
            from unittest import TestCase

            class T(TestCase):
                def test_rows(self):
                    for path in find():
                        if path is None:  # <- here
                            return None
                        self.assertTrue(path.exists())
            """
        ),
        # One condition is one remark, however many tests return under it.
        Example(
            """
            from mylib import HAS_KERNELS

            def test_forward(run):
                if not HAS_KERNELS:  # <- here
                    return
                assert run(1)

            def test_backward(run):
                if not HAS_KERNELS:
                    return
                assert run(2)
            """
        ),
        # One remark for a test, however many ways out it has; what does not converge is a skip unsaid.
        Example(
            """
            import pytest

            @pytest.mark.parametrize("case", CASES)
            def test_fit(fit, case):
                family, link = case
                if family == "gamma":  # <- here
                    return  # does not converge
                elif link == "log":
                    return  # does not converge
                assert fit(family, link) > 0
            """
        ),
        Example(
            """
            def test_engine(run):
                try:
                    import engine
                except ImportError:  # <- here
                    return
                assert engine.run() == run()
            """
        ),
        # What was equal is not what is checked, or not all of it.
        Example("""
            def test_same_tides(gauge, table):
                measured, printed = gauge.read(), table.read()
                if measured == printed:  # <- here
                    return
                for one, other in zip(measured, printed):
                    assert one == other
                assert gauge.is_dry

            def test_as_many_tides(gauge, table):
                measured, printed = gauge.read(), table.read()
                if len(measured) == len(printed):  # <- here
                    return
                assert measured[0] == printed[0]
        """),
    )
    good = (
        # What the branch itself checks, what was checked before, skips.
        Example(
            """
            import pytest

            def test_refuses(build, kind):
                if kind == "bad":
                    with pytest.raises(ValueError):
                        build(kind)
                    return
                assert build(kind)

            def test_twice(run):
                first = run()
                assert first
                if first.final:
                    return
                assert run() == first

            def test_device(run, device):
                if device is None:
                    pytest.skip("no device")
                assert run()
            """
        ),
        # An import that fails is said, or what is tested is how a test does without.
        Example(
            """
            import pytest

            def test_engine(run):
                try:
                    import engine
                except ImportError:
                    pytest.skip("no engine")
                assert engine.run() == run()

            def test_without(run):
                try:
                    import engine
                except ImportError:
                    assert run() is None
                    return
                assert engine.run() == run()
            """
        ),
        # The leaf of a tree that is walked down.
        Example(
            """
            class Garden:
                def test_is_balanced(self, tree):
                    if tree.is_leaf:
                        return
                    assert abs(tree.left.size - tree.right.size) <= 1
                    self.test_is_balanced(tree.left)
                    self.test_is_balanced(tree.right)
            """
        ),
        # Never so when it runs: the return is for the type checker.
        Example(
            """
            import sys
            from typing import TYPE_CHECKING

            def test_fork(run):
                if TYPE_CHECKING and sys.platform == "win32":
                    return
                assert run().forked
            """
        ),
        # Processes of one test, helpers that happen to be called test_…, closures.
        Example(
            """
            def test_all_reduce(rank, world_size):
                out = reduce(rank)
                if rank != 0:
                    return
                assert out == world_size

            def test_hook(run):
                def on_row(row):
                    if row is None:
                        return
                    assert row
                run(on_row)
                assert run.rows
            """
        ),
        # A helper that is named like a test, and given its arguments by another file.
        Example(
            """
            def test_round_trip(pack, unpack, crate):
                if crate.sealed:
                    return
                assert unpack(pack(crate)) == crate
            """,
            files={
                "tests/test_crates.py": (
                    "from tests.test_rows import test_round_trip\n\ndef test_wood(pack, unpack, wood):\n"
                    "    test_round_trip(pack, unpack, wood)\n"
                )
            },
        ),
        # It waits for something, and fails where that never comes.
        Example("""
            import time

            def test_bell(ferry, heard):
                ferry.sail()
                for _ in range(50):
                    time.sleep(0.1)
                    if len(heard) > 0:
                        return
                raise AssertionError("no bell was heard")

            def test_horn(ferry, heard):
                ferry.sail()
                while ferry.sails():
                    if "horn" in heard:
                        return
                assert False, "no horn was heard"
        """),
        # It returns where all is well, and else looks for what to say.
        Example("""
            import pytest

            def test_flags_differ(flags):
                boats = {}
                for boat, flag in flags.items():
                    boats.setdefault(flag, []).append(boat)
                if len(boats) == len(flags):
                    return
                for flag, flown in boats.items():
                    if len(flown) > 1:
                        pytest.fail(f"{flag} is flown by {flown}")

            def test_bell_or_horn(ferry):
                if "horn" in ferry.sounds:
                    return
                if ferry.bell is not None:
                    if ferry.bell.loud:
                        return
                pytest.fail("nobody hears the ferry")
        """),
        # Nothing but a return passes.
        Example("""
            import pytest

            def test_bell_or_horn(ferry):
                if "horn" in ferry.sounds:
                    return
                if ferry.bell is not None:
                    if ferry.bell.loud:
                        return
                    assert ferry.bell.muffled
                pytest.fail("nobody hears the ferry")

            def test_starts(shell):
                ended = shell.run("ferry --sail")
                if ended.returncode == 0:
                    return
                assert "fuel" in ended.stderr
        """),
        # The condition is the check: what follows it fails, or looks where the two differ.
        Example("""
            import numpy as np
            import pytest

            def test_same_tides(gauge, table):
                measured, printed = gauge.read(), table.read()
                if measured == printed:
                    return
                for at, (one, other) in enumerate(zip(measured, printed)):
                    assert one == other, at
                assert len(measured) == len(printed)

            def test_same_depths(gauge, table):
                measured, printed = gauge.depths(), table.depths()
                if np.array_equal(measured, printed):
                    return
                for place in range(len(printed)):
                    if measured[place] != printed[place]:
                        pytest.fail(f"{place}: {measured[place]}")
                np.testing.assert_array_equal(measured, printed)
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return unit.is_test and unit.has(ast.Return) and _may_return_early(unit) and _looks_like_test(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if _is_called_elsewhere(unit, repo):
            return
        for handler, back, name in _not_imported(unit):
            first = _first_check(unit, handler)
            yield self.finding(
                unit,
                handler,
                f"where `{name}` cannot be imported, this test passes without a single check",
                # Most of the standard library is there wherever Python is.
                certainty="question"
                if name.partition(".")[0] in sys.stdlib_module_names or _is_of_one_case(unit, handler)
                else "likely",
                steps=[step(unit, back, "returns"), step(unit, first.node, "the first check, not reached")],
                still_catches=(f"nothing: no check of `{unit.name}` runs then",),
                fix=_fix(unit, [(f"no {name}", back)]),
            )
        told: dict[str, list[_Way]] = {}
        for node, back in _returns(unit) if not _calls_itself(unit) else ():
            before, again = _elsewhere(unit, canonical(node.test))
            if before or _is_for_others(unit, node.test) or _fails_otherwise(unit, node):
                continue
            if _only_fails_after(unit, node):
                continue
            doubt = _doubt(unit, node, back, len(again), repo)
            # Beside it a comment says that the test would fail.
            gives_up = _remarks(unit, back, _FAILS) and _turn(unit, node) is None
            if doubt and _remarks(unit, back, _NO_CASE):
                gives_up = False  # of a table that is a product some cells make no sense
            doubt = "" if gives_up else doubt or _reason(unit, node, back)
            told.setdefault(doubt, []).append((node, back, again))
        for doubt, ways in told.items():
            yield self._told(unit, doubt, ways)

    def _told(self, unit: Unit, doubt: str, ways: list[_Way]) -> Finding:
        """One remark for a test, however many ways out it has; `doubt` says why it is only asked."""
        (node, back, again), *more = ways
        tests = f" and {len(again)} more of this file pass" if again else " passes"
        turn = " in the first turn of the loop" if _turn(unit, node) is not None else ""
        says = f"where `{canonical(node.test)}` holds{turn}, this test{tests} without a single check"
        if more:
            says += (
                f"; so it does under {len(more)} more conditions"
                if len(more) > 1
                else (f", and so where `{canonical(more[0][0].test)}` does")
            )
        says += f"; is that meant? {doubt}" if doubt else ""
        first = _first_check(unit, node)
        return self.finding(
            unit,
            node.test,
            says,
            certainty="question" if doubt else "likely",
            steps=[
                step(unit, back, "returns"),
                step(unit, first.node, "the first check, not reached"),
                *(step(other, place.test, f"`{other.name}` does so too") for other, place in again),
                *(step(unit, also.test, "returns here as well") for also, _, _ in more),
            ],
            still_catches=(f"nothing: no check of `{unit.name}` runs then",),
            fix=_fix(unit, [(f"nothing to check where {_said(node)}", back) for node, back, _ in ways]),
        )


def _is_called_elsewhere(unit: Unit, repo: Repo) -> bool:
    """Whether a function that is named like a test is given its arguments by another file: a helper."""
    assert isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    called = unit.owner is None and bool(unit.tree.args.args)
    return called and any(path != unit.file.path for path, _ in repo.index.calls(unit.tree.name))


def _said(node: cst.If) -> str:
    """A condition inside of a text."""
    return canonical(node.test).replace('"', "'")


def _calls_itself(unit: Unit) -> bool:
    """A check of a tree that walks down to its leaves, where there is nothing left to check."""
    name = unit.name.rpartition(".")[2]
    return any(dotted(call.func).rpartition(".")[2] == name for call in unit.find(cst.Call))


def _first_check(unit: Unit, node: cst.CSTNode) -> Check:
    rank = unit.index.rank
    return min((c for c in checks(unit) if rank(c.node) > rank(node)), key=lambda c: rank(c.node))


def _not_imported(unit: Unit) -> Iterator[tuple[cst.ExceptHandler, cst.Return, str]]:
    """The handlers that return where an import fails before the first check, with what is imported."""
    if not (unit.is_test and unit.has(ast.Try) and _looks_like_test(unit)):
        return
    rank = unit.index.rank
    placed = sorted(rank(check.node) for check in checks(unit))
    for node in unit.find(cst.Try):
        tried = statements(node.body)
        if enclosing(unit, node, cst.FunctionDef) is not unit.node or not tried:
            continue
        if not all(isinstance(one, (cst.Import, cst.ImportFrom)) for one in tried):
            continue
        for handler in node.handlers:
            back = _bare_return(statements(handler.body))
            if _is_there_anyway(unit, tried[0]):
                continue
            if back is not None and placed and rank(back) < placed[0]:
                yield handler, back, _imported(tried[0])


def _is_of_one_case(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether something stands in a branch that a parameter of the test decides."""
    flow = values(unit)
    deciding = [above.test for above in unit.ancestors(node) if isinstance(above, cst.If)]
    reaching = (one for test in deciding for name in flow.reads(test) for one in flow.reaching(name))
    return any(one.kind == "parameter" and one.name not in ("self", "cls") for one in reaching)


def _is_there_anyway(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether the file itself imports the package at its top, so that no test of it runs without."""
    package = _imported(node).partition(".")[0]
    return any(
        any(alias.name.partition(".")[0] == package for alias in one.names)
        if isinstance(one, ast.Import)
        else one.level == 0 and (one.module or "").partition(".")[0] == package
        for one in unit.file.tree.body
        if isinstance(one, (ast.Import, ast.ImportFrom))
    )


def _imported(node: cst.CSTNode) -> str:
    if isinstance(node, cst.ImportFrom):
        return dotted(node.module) if node.module is not None else "."
    assert isinstance(node, cst.Import)
    return dotted(node.names[0].name)


@once
def _returns(unit: Unit) -> list[tuple[cst.If, cst.Return]]:
    """The conditions under which a test returns although it has checked nothing yet, and those returns."""
    return list(_returning(unit))


def _returning(unit: Unit) -> Iterator[tuple[cst.If, cst.Return]]:
    if not unit.is_test or not _looks_like_test(unit):
        return
    found = [(node, back) for node in unit.find(cst.If) if (back := _bare_return(statements(node.body)))]
    if not found:
        return
    rank = unit.index.rank
    placed = sorted(rank(check.node) for check in checks(unit))
    asserting = min((rank(call) for call in unit.find(cst.Call) if may_assert(call, unit)), default=None)
    excused = {id(excuse.detour.node) for excuse in excuses(unit)}
    for node, back in found:
        place = rank(node)
        if not placed or placed[-1] <= place or placed[0] <= rank(back):
            continue
        if enclosing(unit, node, cst.FunctionDef) is not unit.node:
            continue
        if id(node) not in excused and (asserting is None or asserting > place):
            yield node, back


def _turn(unit: Unit, node: cst.If) -> cst.For | None:
    """The loop with a check behind a condition that asks about its item: an earlier turn may have checked."""
    flow, loop = values(unit), enclosing(unit, node, cst.For)
    if not isinstance(loop, cst.For):
        return None
    bound = {id(below) for below in walk(loop.target)}
    inside = {id(below) for below in walk(loop.body)}
    checked = any(id(check.node) in inside for check in checks(unit))
    return loop if checked and any(id(one.node) in bound for one in flow.slice(node.test)) else None


def _elsewhere(unit: Unit, condition: str) -> tuple[bool, list[tuple[Unit, cst.If]]]:
    """Whether an earlier test of the file returns under the same condition, and the later ones that do."""
    written = ast.unparse(ast.parse(condition, mode="eval"))
    again = []
    for at in _asking(unit.file).get(written, ()):
        other = unit.file.units[at]
        if other is unit:
            continue
        for node, _ in _returns(other):
            if canonical(node.test) == condition:
                if other.line < unit.line:
                    return True, []
                again.append((other, node))
    return False, again


@once
def _asking(file: File) -> dict[str, list[int]]:
    """The tests that return somewhere, as places in the file's units, by each condition that they ask."""
    found: dict[str, list[int]] = {}
    for at, unit in enumerate(file.units):
        if unit.is_test and unit.has(ast.Return):
            for written in {ast.unparse(node.test) for node in unit.asts(ast.If)}:
                found.setdefault(written, []).append(at)
    return found


def _looks_like_test(unit: Unit) -> bool:
    """Whether it is a test of the file's own, and not one of several processes of one."""
    assert isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    names = {argument.arg for argument in unit.tree.args.args}
    return names.isdisjoint(_WORKERS)


def _bare_return(body: list[cst.CSTNode]) -> cst.Return | None:
    """The `return` with which a block ends that otherwise only says something."""
    if not body or not isinstance(body[-1], cst.Return):
        return None
    for statement in body[:-1]:
        call = call_of(statement)
        if not isinstance(statement, cst.Pass) and (call is None or not _says(call)):
            return None
    value = body[-1].value
    plain = value is None or (isinstance(value, cst.Name) and value.value == "None")
    return body[-1] if plain else None


def _may_return_early(unit: Unit) -> bool:
    """Whether a branch or a handler ends as `_bare_return` wants it, by `ast`."""
    handlers = (handler.body for node in unit.asts(ast.Try) for handler in node.handlers)
    return any(map(_may_be_bare, (*(node.body for node in unit.asts(ast.If)), *handlers)))


def _may_be_bare(body: list[ast.stmt]) -> bool:
    back = body[-1]
    if not isinstance(back, ast.Return):
        return False
    if back.value is not None and not (isinstance(back.value, ast.Constant) and back.value.value is None):
        return False
    return all(isinstance(statement, (ast.Pass, ast.Expr)) for statement in body[:-1])


def _says(call: cst.Call) -> bool:
    name = dotted(call.func)
    return name == "print" or name.rpartition(".")[2] in ("info", "warning", "warn", "debug", "log")


def _only_fails_after(unit: Unit, node: cst.If) -> bool:
    """Whether a test returns where all is well, and what follows only looks for what to say of a failure."""
    rank = unit.index.rank
    after = [check for check in checks(unit) if rank(check.node) > rank(node)]
    if after and asks_again(unit, node.test, after):
        return True
    if not isinstance(node.test, cst.Comparison) or not isinstance(
        node.test.comparisons[0].operator, cst.Equal
    ):
        return False
    # `if rows == wanted: return` before a comparison of the same two in another way.
    names = [root_name(side) for side in (node.test.left, node.test.comparisons[0].comparator)]
    read = [{name.value for name in values(unit).reads(check.condition or check.node)} for check in after]
    if all(names) and len(set(names)) > 1 and any(set(names) <= one for one in read):
        return True
    if last_name(node.test.left) in ("returncode", "exit_code"):
        return literal(node.test.comparisons[0].comparator) == 0
    return bool(after) and all(check.kind in ("fail", "raise") for check in after)


def _fails_otherwise(unit: Unit, node: cst.If) -> bool:
    """Whether a test fails wherever it does not return: what follows the branch, or the loop that waits for
    it to be taken, fails on every way, `pytest.fail("never seen")`."""
    below: cst.CSTNode = node
    for above in unit.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            break
        orelse = above.orelse if isinstance(above, (cst.For, cst.While)) else None
        if orelse is not None and any(map(_fails, statements(orelse.body))):
            return True
        if isinstance(above, cst.IndentedBlock):
            rank = unit.index.rank
            if any(_fails(one) for one in statements(above) if rank(one) > rank(below)):
                return True
            below = unit.parent(above) or above
    return False


def _fails(statement: cst.CSTNode) -> bool:
    call = call_of(statement)
    if call is not None:
        return last_name(call) == "fail"
    if isinstance(statement, cst.Assert):
        return literal(statement.test) is False
    return isinstance(statement, cst.Raise)


def _is_for_others(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition holds for a type checker alone, or sends home all processes but one."""
    if any(dotted(part).rpartition(".")[2] == "TYPE_CHECKING" for part in conjuncts(condition)):
        return True
    words = canonical(condition).lower()
    return "rank" in words or "main_process" in words


def _doubt(unit: Unit, node: cst.If, back: cst.Return, again: int, repo: Repo) -> str:
    """Why such a return may be meant so, or nothing where a skip should stand."""
    if any(isinstance(below, cst.Name) and _MODES.search(below.value) for below in walk(node.test)):
        return "a mode of the whole run says so"
    if again + 1 >= _MODE:
        return "many tests of the file ask the same"
    if _turn(unit, node) is not None:
        return "an earlier turn may have checked"
    if draws(unit):
        return "what is drawn decides it"
    if _remarks(unit, back, _NOTHING):
        return "a comment says that there is nothing to test"
    names = _deciding(unit, node.test)
    if any(_is_switch(unit, name) for name in names):
        return "a switch in the code says so"  # `ram_limited = True  # set to False to run this`
    resolve = values(unit).resolve
    given = [_is_given(unit, name) for name in names if not _is_imported(unit, resolve(name))]
    if given and all(given):
        return "what the test is given decides it"
    # What the test writes out, `without = [a, b]`, only says which of the cases.
    asked = [
        name for name in names if not isinstance(resolve(name), (cst.List, cst.Tuple, cst.Set, cst.Dict))
    ]
    cases = _cases(unit, repo) if asked else set()
    made = [{one.name for one in values(unit).slice(name) if one.kind == "parameter"} for name in asked]
    if made and all(one & cases for one in made):
        return "it is one of several cases"
    read = [one for name in names for one in values(unit).slice(name)]
    given_any = any(one.kind == "parameter" and one.name not in ("self", "cls") for one in read)
    return "what the test is given may decide it" if given_any else ""


def _reason(unit: Unit, node: cst.If, back: cst.Return) -> str:
    """Why a test may return where neither its condition nor what it prints says that it cannot be run on this
    machine, or where a comment says another thing; "" where the machine is meant."""
    first, last = unit.span(node.test).line, unit.span(back).line
    said = " ".join(text.partition("#")[2].strip() for text in unit.file.lines[first - 1 : last])
    if said.strip() and _MACHINE.search(said) is None:
        return "a comment gives a reason"
    printed = [unit.text(one) for one in statements(node.body) if call_of(one) is not None]
    made = map(values(unit).resolve, values(unit).reads(node.test))
    words = [unit.text(node.test), said, *printed]
    words += [unit.text(one) for one in made if isinstance(one, (cst.Call, cst.Attribute, cst.Comparison))]
    told = any(map(_MACHINE.search, words)) or any(map(_SKIPS.search, words))
    return "" if told else "there may be nothing to test then"


# What is asked or said where a test cannot be run on a machine.
_MACHINE = pattern(
    r"(?i)platform|win32|windows|linux|darwin|macos|os\.name|pypy|implementation|version|cuda|gpu|\bmps\b"
    r"|\bxpu\b|device_count|available|installed|importable|environ|getenv|hasattr|find_spec|which\("
    r"|executing_eagerly|getuid|geteuid|\bis None\b.*(module|import)|(^|_)has_|ImportError"
)
_SKIPS = pattern(r"(?i)\bskip|support")


def _cases(unit: Unit, repo: Repo) -> set[str]:
    """The parameters that are given another value in each of several runs of a test."""
    assert isinstance(unit.node, cst.FunctionDef)
    taken = {param.name.value for param in unit.node.params.params} - {"self", "cls"}
    fixtures = {name: fixture(unit, name, repo) for name in taken}
    marks = [dotted(one.decorator) or last_name(one.decorator) for one in unit.node.decorators]
    free = {name for name in taken if fixtures[name] is None} if any(map(_CASES.search, marks)) else set()
    return free | {name for name, made in fixtures.items() if made is not None and _has_params(made, repo)}


def _has_params(made: Unit, repo: Repo, depth: int = 3) -> bool:
    """Whether a fixture is made once for each of several values, `@pytest.fixture(params=ROUTES)`, or takes
    one that is; also one that a hook gives its values, of which no fixture is found."""
    assert isinstance(made.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    if any(
        isinstance(one, ast.Call) and any(keyword.arg == "params" for keyword in one.keywords)
        for one in made.tree.decorator_list
    ):
        return True
    hooked = any(one.name == "pytest_generate_tests" for one in made.file.units)
    for name in (argument.arg for argument in made.tree.args.args):
        taken = fixture(made, name, repo) if name not in ("self", "request") else None
        if taken is None and hooked and name not in ("self", "request"):
            return True
        if taken is not None and depth and _has_params(taken, repo, depth - 1):
            return True
    return False


def _deciding(unit: Unit, condition: cst.BaseExpression) -> list[cst.Name]:
    """The names that decide a condition: no builtin, import, class or constant, and none of its own."""
    flow = values(unit)
    plain = {*dir(builtins), *unit.file.imports, *unit.file.classes}
    names = [name for name in flow.reads(condition) if flow.reaching(name) or name.value not in plain]
    names = [name for name in names if flow.reaching(name) or not _is_constant(unit, name.value)]
    inside = {id(below) for below in walk(condition)}
    return [name for name in names if not any(id(one.node) in inside for one in flow.reaching(name))]


def _is_switch(unit: Unit, name: cst.Name) -> bool:
    """Whether a name holds True or False as it is written, for a person to change."""
    held = [binding.value for binding in values(unit).reaching(name)]
    return bool(held) and all(value is not None and isinstance(literal(value), bool) for value in held)


def _is_given(unit: Unit, node: cst.BaseExpression, depth: int = 4) -> bool:
    """Whether an expression is a parameter, a part or a field of one, or what a table has for one: a cell of
    a table of cases."""
    node = values(unit).resolve(node)
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        if isinstance(node, cst.Subscript) and depth and _is_looked_up(unit, node, depth):
            return True
        node = values(unit).resolve(node.value)
    reaching = values(unit).reaching(node) if isinstance(node, cst.Name) else ()
    return bool(reaching) and all(
        one.kind == "parameter"
        or (
            depth > 0
            and one.role == "part"
            and one.value is not None
            and _is_given(unit, one.value, depth - 1)
        )
        for one in reaching
    )


def _is_looked_up(unit: Unit, node: cst.Subscript, depth: int) -> bool:
    """`TABLE[case]`."""
    place = node.slice[0].slice
    return (
        len(node.slice) == 1
        and isinstance(place, cst.Index)
        and isinstance(place.value, cst.Name)
        and _is_given(unit, place.value, depth - 1)
    )


def _is_imported(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a name stands for something of a module: `fam = sm.families`."""
    return isinstance(node, cst.Attribute) and dotted(node).partition(".")[0] in unit.file.imports


def _remarks(unit: Unit, back: cst.Return, what: re.Pattern[str]) -> bool:
    """Whether a comment beside a return says something."""
    line = unit.span(back).line
    return any(what.search(text.partition("#")[2]) for text in unit.file.lines[max(0, line - 3) : line])


def _is_constant(unit: Unit, name: str) -> bool:
    """Whether a name stands for something that the module sets once and names as a constant."""
    return name.isupper() and module_value(unit.file, name) is not None


def _fix(unit: Unit, backs: list[tuple[str, cst.Return]]) -> Fix | None:
    """Skips with a reason in place of each return."""
    if unit.owner is not None and "pytest" not in unit.file.imports:
        skip = "self.skipTest"
    elif unit.file.imports.get("pytest") == "pytest":
        skip = "pytest.skip"
    else:
        return None
    edits = tuple(rewrite(unit, back, f'{skip}("{why}")') for why, back in backs)
    return Fix("say that it is skipped", edits)
