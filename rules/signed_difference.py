"""A difference that must be small, and of which nobody takes the absolute value.

## Why
`np.max(restored - weights) < 1e-5` holds wherever the restored weights are smaller, by however much, and
`(restored - weights).sum() < 1e-5` also where what is too large here is too small there. Half of all faults
pass, or more.

## Instead
`abs(restored - weights).max() < 1e-5`, or `assert_allclose`, which says as well where the two differ. Where
one side may rightly be smaller, say so with a bound that has a name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, Finding, Fix, Rule, Unit, tree_span
from reviewbot.model import Certainty

_GREATEST = frozenset({"max", "amax", "nanmax"})
_CANCELLING = frozenset({"sum", "mean", "nansum", "nanmean"})
_PASSED_THROUGH = frozenset(
    {"float", "item", "numpy", "asscalar", "asnumpy", "cpu", "detach", "tolist", "squeeze"}
)
_LESS = frozenset({"assertLess", "assertLessEqual", "assert_less", "assert_less_equal"})
_TOLERANCE = pattern(r"(?i)^(a?tol(erance)?|r?tol|eps(ilon)?|abs_tol|max_err(or)?|precision)$")
_EXPECTED = pattern(
    r"(?i)(^|_)(expected|exp|reference|ref|golden|truth|want(ed)?|correct|target|baseline)(_|$)"
)
# One side may be smaller: bounds, times, sizes, what is to go down, and what is at most 1 by its nature.
_ONE_SIDED = pattern(
    r"(?i)bound|limit|upper|lower|cap(_|$)|thresh|clip|best|prev|before|after|old|new|init|first|last|start|end(_|$)|"
    r"time|elapsed|clock|now(_|$)|^t\d|mem|size|bytes|alloc|violat|constraint|budget|regret|gap|loss_\d|worst|"
    r"abs|norm|square|pow|dist|error|err(_|$)|cos|sim(_|$)|min(_|$)|max(_|$)"
)
_WIDEST = 1e-2  # a wider bound on a difference may well be meant for one side


class _Signed(NamedTuple):
    """A difference below a tolerance; `how` it is made one number, by name, or "" where it is one."""

    check: ast.expr
    measured: ast.expr
    difference: ast.BinOp
    how: str


class SignedDifference(Rule):
    folds = True
    bad = (
        Example("""
            import numpy as np
            import torch

            def test_restored(load, weights):
                restored = load()
                assert np.max(restored - weights) < 1e-5  # <- here

            def test_winds(sail, plan):
                sailed, planned = sail(), plan()
                assert (sailed.wind - planned.wind).sum() < 1e-6  # <- here
                assert 1e-4 >= torch.mean(sailed.course - planned.course).item()  # <- here

            def test_rows(sail, plan, tol):
                assert max(a - b for a, b in zip(sail(), plan(), strict=True)) <= tol  # <- here
        """),
        Example("""
            from unittest import TestCase

            class TestCharts(TestCase):
                def test_depth(self):
                    self.assertLess(np.max(read("a") - read("b")), 1e-3)  # <- here

                def test_knots(self):
                    expected_knots = 6.5
                    self.assertTrue(expected_knots - sail().knots < 1e-4)  # <- here
                    assert sail().drift - 0.3 < 0.01  # <- here
        """),
    )
    good = (
        # The absolute value, the square or the norm is taken, or both ways are asked.
        Example("""
            import numpy as np
            import torch

            def test_restored(load, weights):
                restored = load()
                assert np.max(np.abs(restored - weights)) < 1e-5
                assert abs(restored - weights).max() < 1e-5
                assert (restored - weights).abs().max() < 1e-5
                assert ((restored - weights) ** 2).sum() < 1e-5
                assert np.linalg.norm(restored - weights) < 1e-5
                assert abs(restored.mean() - weights.mean()) < 1e-5

            def test_both_ways(load, weights):
                restored = load()
                assert (restored - weights).max() < 1e-5
                assert (weights - restored).max() < 1e-5

            def test_least_too(load, weights):
                diff = load()
                assert (diff - weights).max() < 1e-5
                assert (diff - weights).min() > -1e-5

            def test_chained(load, weights):
                assert -1e-5 < load() - 0.5 < 1e-5

            def test_close_as_well(load, weights):
                restored = load()
                np.testing.assert_allclose(restored, weights)
                assert (restored - weights).max() < 1e-5
        """),
        # One side may be smaller.
        Example("""
            import time

            def test_speed(sail):
                start = time.perf_counter()
                sail()
                assert time.perf_counter() - start < 0.1

            def test_bound(sail, upper):
                assert (sail() - upper).max() < 1e-6

            def test_alike(cosine, sail, plan):
                assert 1 - cosine(sail(), plan()) < 1e-3
                assert 1.0 - sail().score < 1e-3

            def test_unit_ball(sail):
                assert sail().reach - 1.0 < 1e-6

            def test_goes_down(sail):
                first, later = sail(), sail()
                assert (later - first).mean() < 0.05

            def test_counts(sail):
                assert sail().days - 3 < 10
        """),
        # A function that a check is given may bound.
        Example(
            """
            def clipped(rows, most):
                return (rows - most).max() < 1e-6
            """,
            path="sailing/clip.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return unit.has(ast.Sub) and in_test_file(unit.file.path) and any(True for _ in _signed(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not in_test_file(unit.file.path):
            return
        for one in _signed(unit):
            if not _is_asked_elsewhere(unit, one):
                yield self._say(unit, one)

    def _say(self, unit: Unit, one: _Signed) -> Finding:
        left, right = (f"`{_short(side)}`" for side in (one.difference.left, one.difference.right))
        smaller = f"where {left} is far smaller than {right}"
        if one.how in _CANCELLING:
            smaller += ", or larger here and smaller there"
        sure: Certainty = "likely" if one.how else "question"
        return self.finding_at(
            unit,
            tree_span(unit, one.measured),
            f"nothing takes the absolute value of this difference: it is small enough {smaller}"
            + ("" if one.how else "; may it be?"),
            certainty=sure,
            still_catches=(f"{left} that is larger than {right} throughout",),
            fix=_absolute(unit, one.difference),
        )


def _signed(unit: Unit) -> Iterator[_Signed]:
    for node in unit.asts(ast.Assert):
        yield from _below(node.test)
    for node in unit.asts(ast.Call):
        last = dotted_name(node.func).rpartition(".")[2]
        if last == "assertTrue" and node.args:
            yield from _below(node.args[0])
        elif last in _LESS and len(node.args) > 1:
            yield from _measured(node, node.args[0], node.args[1])


def _below(test: ast.expr) -> Iterator[_Signed]:
    """What a condition, or one that is joined to it by `and`, wants below a tolerance."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _below(value)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    if isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        yield from _measured(test, test.left, test.comparators[0])
    elif isinstance(test.ops[0], (ast.Gt, ast.GtE)):
        yield from _measured(test, test.comparators[0], test.left)


def _measured(check: ast.expr, measured: ast.expr, bound: ast.expr) -> Iterator[_Signed]:
    most = bound.value if isinstance(bound, ast.Constant) and isinstance(bound.value, float) else None
    named = dotted_name(bound).rpartition(".")[2] if isinstance(bound, (ast.Name, ast.Attribute)) else ""
    if not (_TOLERANCE.search(named) if most is None else 0 < most <= _WIDEST):
        return
    inner, how = measured, ""
    while (below := _opened(inner)) is not None:
        inner, how = below[0], below[1] or how
    if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, ast.Sub):
        return
    sides = [_names(inner.left), _names(inner.right)]
    if any(map(_ONE_SIDED.search, [*sides[0], *sides[1]])) or _is_one(inner.left) or _is_one(inner.right):
        return
    expected = [any(map(_EXPECTED.search, names)) for names in sides]
    if how or _is_figure(inner.left) or _is_figure(inner.right) or expected[0] != expected[1]:
        yield _Signed(check, measured, inner, how)


def _opened(node: ast.expr) -> tuple[ast.expr, str] | None:
    """What a number is taken from, and by what: `(a - b)` of `np.max(a - b).item()`, by `max`."""
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return node.elt, ""
    if not isinstance(node, ast.Call):
        return None
    last = node.func.attr if isinstance(node.func, ast.Attribute) else dotted_name(node.func)
    if last not in _GREATEST | _CANCELLING | _PASSED_THROUGH:
        return None
    how = "" if last in _PASSED_THROUGH else last
    method = isinstance(node.func, ast.Attribute) and not dotted_name(node.func)
    if len(node.args) == 1 and not method and not isinstance(node.args[0], ast.Constant):
        return node.args[0], how
    return (node.func.value, how) if isinstance(node.func, ast.Attribute) and method else None


def _names(node: ast.expr) -> list[str]:
    return [
        below.id
        if isinstance(below, ast.Name)
        else below.attr
        if isinstance(below, ast.Attribute)
        else below.value
        for below in ast.walk(node)
        if isinstance(below, (ast.Name, ast.Attribute))
        or (isinstance(below, ast.Constant) and isinstance(below.value, str))
    ]


def _is_one(node: ast.expr) -> bool:
    """Whether it is 1 or 0, which bound by their nature: a likeness of at most 1, a size of at least 0."""
    return isinstance(node, ast.Constant) and node.value in (0, 1)


def _is_figure(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _is_asked_elsewhere(unit: Unit, one: _Signed) -> bool:
    """Whether the test also holds the two against each other the other way round, or as a whole."""
    left, right = ast.dump(one.difference.left), ast.dump(one.difference.right)
    for node in unit.asts(ast.BinOp):
        turned = isinstance(node.op, ast.Sub) and (ast.dump(node.left), ast.dump(node.right))
        if turned == (right, left) or (turned == (left, right) and node is not one.difference):
            return True
    for call in unit.asts(ast.Call):
        given = [ast.dump(arg) for arg in call.args]
        if left in given and right in given:
            return True
    return any(
        {left, right} <= {ast.dump(side) for side in (node.left, *node.comparators)}
        for node in unit.asts(ast.Compare)
    )


def _absolute(unit: Unit, node: ast.BinOp) -> Fix | None:
    span = tree_span(unit, node)
    if span.line != span.end_line:
        return None
    line = unit.file.lines[span.line - 1]
    before, text, after = (
        line[: span.column - 1],
        line[span.column - 1 : span.end_column - 1],
        line[span.end_column - 1 :],
    )
    alone = before.endswith("(") and after.startswith(")") and not before[:-1][-1:].isidentifier()
    made = f"{before[:-1]}abs({text}){after[1:]}" if alone else f"{before}abs({text}){after}"
    return Fix("take its absolute value", (Edit(span.path, span.line, span.line, made),))


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:49] + "…"
