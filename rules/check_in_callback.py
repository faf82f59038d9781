"""All checks of a test stand in a function that something else is to call.

## Why
A callback, a stand-in or a hook that nothing calls checks nothing, and the test passes. What calls it may
also take the failure: a loop of events, a thread, a runner that logs the errors of its tasks.

## Instead
Let it write down what it was given, and look at that at the end of the test: `seen.append(row)`, then
`assert seen == [1]`. Or require that it ran: `stand_in.assert_called_once()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.flow.assertions import asserts_by_name, may_assert_by_name
from reviewbot.flow.foreign import asserts_elsewhere, checks_elsewhere
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries, dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, called_last, tree_span, tree_step

_CHECKING = frozenset({"raises", "warns", "fail", "deprecated_call"})
# What runs a function at once, or once the test has ended.
_RUNS_IT = pattern(
    r"(?i)^_?(a?run|call|execute|map|apply|invoke|retry|measure|time|filter|transform|sort|spawn|launch|exec)"
    r"|cleanup|finalizer"
)
_PATCHING = frozenset({"patch", "object"})
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Callback:
    """`function` is handed on at `at`, to what is called `to`."""

    function: ast.FunctionDef
    at: ast.expr
    to: str


class CheckInCallback(Rule):
    bad = (
        Example("""
            def test_tides(harbour):
                tides = harbour.tides()

                def on_tide(tide):
                    assert tide.height == 3  # <- here

                def on_end():
                    assert True

                tides.subscribe(on_tide, on_end)

            def test_charter(monkeypatch, office):
                def charter(ship, days):
                    assert days == 7  # <- here
                    return ship

                monkeypatch.setattr(office, "charter", charter)
                office.book("week")
        """),
        Example("""
            from unittest import TestCase, mock

            from harbour import crane

            class TestCrane(TestCase):
                def test_lifts(self):
                    def lift(load):
                        self.assertEqual(load, 12)  # <- here
                        return True

                    with mock.patch("harbour.crane.lift", wraps=lift):
                        crane.unload("barge")

                def test_hook(self):
                    def hook(load):
                        self.assertEqual(load, 12)  # <- here

                    self.crane.hooks.before = hook
                    self.crane.unload("barge")
        """),
    )
    good = (
        # It says that it ran; something else is checked; it is called by the test, or for sure.
        Example("""
            import pytest

            def test_seen(tides):
                seen = []

                def on_tide(tide):
                    assert tide.height == 3
                    seen.append(tide)

                tides.subscribe(on_tide)
                assert seen

            def test_waits(tides, event):
                def on_tide(tide):
                    assert tide.height == 3
                    event.set()

                tides.subscribe(on_tide)
                event.wait()

            def test_refused(tides):
                def on_tide(tide):
                    assert tide.height == 3

                tides.subscribe(on_tide)
                with pytest.raises(ValueError):
                    tides.subscribe(None)

            def test_called(tides):
                def look(tide):
                    assert tide.height == 3

                tides.subscribe(look)
                look(tides.last())

            def test_each(pool, tides):
                def look(tide):
                    assert tide.height == 3

                pool.map(look, tides)

            def test_bench(benchmark):
                def work():
                    assert sum([1, 2]) == 3

                benchmark(work)
        """),
        # It must not run; what comes of it is handed back; it only lasts until the next one.
        Example("""
            def test_never(office, monkeypatch):
                def charter(ship, days):
                    assert False, "no ship was asked for"

                monkeypatch.setattr(office, "charter", charter)
                office.book("none")

            def test_deferred(tides):
                def look(tide):
                    assert tide.height == 3

                later = tides.next()
                later.addCallback(look)
                return later

            def test_counted(tides):
                count = 0

                def look(tide):
                    nonlocal count
                    assert tide.height == 3
                    count += 1

                tides.subscribe(look)
                tides.require(count)
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        # One of them is the test itself.
        return unit.is_test and len(unit.asts(ast.FunctionDef)) > 1 and _found(unit) is not None

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        found = _found(unit) if unit.is_test else None
        if found is None:
            return
        outside = [node for node in _outside(unit.tree) if isinstance(node, ast.Call)]
        names = dict.fromkeys(dotted_name(call.func) for call in outside)
        if any(checks_elsewhere(unit, name, repo) or asserts_elsewhere(unit, name, repo) for name in names):
            return
        name = found.function.name
        check = next(node for node in ast.walk(found.function) if _is_check(node))
        yield self.finding_at(
            unit,
            tree_span(unit, check),
            f"every check of this test stands in `{name}`, which `{found.to}` is given: where nothing calls"
            " it, or what calls it takes its failure, the test passes; does anything require that it ran?",
            certainty="question",
            steps=(tree_step(unit, found.at, f"`{name}` is handed on here"),),
            still_catches=(f"nothing where `{name}` is not called",),
        )


def _found(unit: Unit) -> _Callback | None:
    """The function of a test that holds its checks, and is handed on; None where something else checks."""
    tree = unit.tree
    if not isinstance(tree, ast.FunctionDef) or unit.has(ast.Yield, ast.YieldFrom, ast.Nonlocal, ast.Global):
        return None
    # Most tests check something themselves, in a statement of their own.
    if any(_may_check(getattr(statement, "value", None) or statement) for statement in tree.body):
        return None
    outside = list(_outside(tree))
    if any(map(_may_check, outside)):
        return None
    inner = [node for node in outside if isinstance(node, _OWN_SCOPE)]
    checking = [node for node in inner if any(map(_is_check, ast.walk(node)))]
    if not checking or not all(isinstance(one, ast.FunctionDef) and _is_silent(one) for one in checking):
        return None
    judges = Summaries.of(unit.file).judges
    if any(isinstance(node, ast.Call) and any(judges(node, unit)) for node in outside):
        return None
    called = {
        node.func.id for node in outside if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    handed = {found.function.name: found for found in _handed(outside, checking)}
    if len(handed) < len(checking) or not called.isdisjoint(handed):
        return None
    return next(iter(handed.values()))


def _outside(tree: ast.AST) -> Iterator[ast.AST]:
    """What a test holds but for the bodies of functions and classes in it, in source order."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, _OWN_SCOPE):
            yield from _outside(node)


def _is_check(node: ast.AST) -> bool:
    """Whether a node asks something: `assert False` and `assert True` ask nothing."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    return isinstance(node, ast.Call) and called_last(node) != "fail" and asserts_by_name(called_last(node))


def _may_check(node: ast.AST) -> bool:
    """Whether what stands outside of the inner functions could by its name fail by itself, or hands something
    back."""
    if isinstance(node, (ast.Assert, ast.Raise)) or (isinstance(node, ast.Return) and node.value is not None):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = called_last(node)
    own = isinstance(node.func, ast.Attribute) and dotted_name(node.func.value) in ("self", "cls", "super")
    return own or name in _CHECKING or may_assert_by_name(name)


def _is_silent(function: ast.FunctionDef) -> bool:
    """Whether a function leaves no trace of having run: it writes nothing that stands outside of it, and
    calls nothing for its effect."""
    if function.decorator_list:
        return False
    for node in ast.walk(function):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_check(node.value):
            return False
    return True


def _handed(outside: list[ast.AST], functions: list[ast.AST]) -> Iterator[_Callback]:
    """Where functions are given to a method of what the test holds, to a patch, or to an attribute."""
    named = {one.name: one for one in functions if isinstance(one, ast.FunctionDef)}
    for node in outside:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            value = node.value
            if isinstance(value, ast.Name) and value.id in named:
                yield _Callback(named[value.id], node.targets[0], ast.unparse(node.targets[0]))
        called = node.value if isinstance(node, ast.Expr) else getattr(node, "context_expr", None)
        if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Attribute):
            continue
        name = called_last(called)
        if isinstance(node, ast.Expr) and _RUNS_IT.search(name):
            continue
        if not isinstance(node, ast.Expr) and name not in _PATCHING:
            continue
        for given in (*called.args, *(word.value for word in called.keywords)):
            if isinstance(given, ast.Name) and given.id in named:
                yield _Callback(named[given.id], called, ast.unparse(called.func))
