"""One pair that agrees passes for two runs that agree: `any` stands where `all` is meant.

## Why
`assert any(a == b for a, b in zip(slow, fast))` passes as soon as one token of many is the same. Two outputs
that share nothing but the token at their start, or the padding at their end, are taken for equal.

## Instead
Ask for all of them, and for as many on both sides: `all(a == b for a, b in zip(slow, fast, strict=True))`, or
compare the two as a whole. To require that two runs differ somewhere, say so: `any(a != b for ...)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.checks import Check, Comparison, checks, compared
from reviewbot.flow.judgements import Judgement
from reviewbot.flow.judging import judges, says_comparison
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.projections import are_named
from reviewbot.flow.sides import sides
from reviewbot.flow.suspects import compares_two
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.two_calls import are_two_calls
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, step
from reviewbot.model import Certainty

_LISTS = (cst.GeneratorExp, cst.ListComp)
_ASSERTED = {"assertTrue": True, "assertFalse": False, "assert_": True, "assert_true": True}


class AnyForAll(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def test_tokens(slow, fast, text):
                one, other = slow(text), fast(text)
                assert any(a == b for a, b in zip(one, other))  # <- here
        """),
        Example("""
            import numpy as np

            def test_courses(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                assert (sailed == planned).any()  # <- here
                assert np.any(np.isclose(sailed, planned))  # <- here
                same = [sailed[at] == planned[at] for at in range(len(planned))]
                assert any(same)  # <- here
                if not any(a.port == b.port for a, b in zip(sailed, planned)):  # <- here
                    raise AssertionError("no port is the same")
                assert not all(a.crew != b.crew for a, b in zip(sailed, planned))  # <- here
        """),
        Example("""
            import torch

            def test_batches(eager, compiled, batches):
                assert any(torch.allclose(eager(x), compiled(x)) for x in batches)  # <- here
        """),
    )
    good = (
        # Somewhere they differ; one of several; neighbours; two fields of one row; every pair of two lists.
        Example("""
            import numpy as np

            def test_tokens(slow, noisy, text):
                one, other = slow(text), noisy(text)
                assert any(a != b for a, b in zip(one, other))
                assert not any(a != b for a, b in zip(one, other))
                assert all(a == b for a, b in zip(one, other))
                assert not all(a == b for a, b in zip(one, other))

            def test_tries(draw, path):
                alike = any(draw(path, True) == draw(path, False) for _ in range(5))
                assert alike

            def test_rows(run, references, wanted):
                rows = run()
                assert any(rows == one for one in references)
                assert any(row.name == wanted for row in rows)
                assert any(a == b for a, b in zip(rows, rows[1:]))
                assert any(row.start == row.end for row in rows)
                assert any(row == one for row in rows for one in references)
                assert (rows == 3).any()
                assert np.any(rows[:, 0] == rows[:, 1])
        """),
        # Some are to differ and some are not: a mixture.
        Example("""
            import torch

            def test_half_of_the_sails_are_set(before, after):
                one, other = before(), after()
                moved = [not torch.allclose(one[i], other[i]) for i in range(9)]
                assert any(moved)
                assert not all(moved)

            def test_some_of_the_ports_stay(before, after):
                one, other = before(), after()
                same = [torch.equal(a, b) for a, b in zip(one, other)]
                assert any(same) and not all(same)

            def test_some_of_the_ports_move(before, after):
                one, other = before(), after()
                same = [torch.equal(a, b) for a, b in zip(one, other)]
                moved = [not torch.allclose(a, b) for a, b in zip(one, other)]
                assert any(same)
                assert any(moved)
        """),
    )

    def concerns(self, file: File) -> bool:
        return file.calls("any", "all")

    def suspect(self, unit: Unit) -> bool:
        return unit.calls("any", "all") and judges(unit) and compares_two(unit) and _has_place(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        differing = _to_differ(unit)
        for check in _asked(unit):
            for one in _demands(unit, check, check.condition, holds=not check.fails_when):
                pair = _pair(unit, check, one)
                if pair is None or _said(pair[0]) in differing:
                    continue
                left, right = canonical(pair[0].left), canonical(pair[0].right)
                yield self.finding(
                    unit,
                    check.anchor,
                    f"one pair in which `{left}` and `{right}` agree is enough: is `all` meant?",
                    certainty=pair[1],
                    steps=[step(unit, one.call, "this is content with the first pair that agrees")],
                    still_catches=still_catches(
                        unit, pair[0].left, pair[0].right, but=[check.node], repo=repo
                    ),
                )
                break


def _to_differ(unit: Unit) -> frozenset[tuple[str, str]]:
    """The pairs of which some check asks that one of many differs."""
    return frozenset(
        _said(found)
        for check in _asked(unit)
        for one in _demands(unit, check, check.condition, holds=not check.fails_when)
        for found in _each(unit, check, one, holds=not one.holds)
    )


def _said(found: Comparison) -> tuple[str, str]:
    return canonical(found.left), canonical(found.right)


def _each(unit: Unit, check: Check, one: _Demand, *, holds: bool) -> Iterator[Comparison]:
    """The equalities that an item must meet, or must not where it must not hold."""
    inner = values(unit).resolve(one.inner)
    for found in compared(unit, check, inner.elt if isinstance(inner, _LISTS) else inner, holds=holds):
        if found.relation in ("equal", "close"):
            yield found


def _has_place(unit: Unit) -> bool:
    """Whether there is a check, or a verdict to return."""
    return unit.has(ast.Assert, ast.Raise) or unit.calls(*_ASSERTED) or says_comparison(unit.name)


def _asked(unit: Unit) -> Iterator[Check]:
    """The checks of a unit, and what a function that compares by its name returns."""
    for check in checks(unit):
        if check.condition is not None:
            yield check
        elif (
            check.kind == "call"
            and isinstance(check.node, cst.Expr)
            and isinstance(check.node.value, cst.Call)
        ):
            call = check.node.value
            wanted = _ASSERTED.get(last_name(call))
            if wanted is not None and call.args:
                yield Check("assert", check.node, call.args[0].value, not wanted)
    if says_comparison(unit.name.rpartition(".")[2]):
        for node in unit.find(cst.Return):
            if node.value is not None:
                yield Check("assert", node, node.value)


@dataclass(frozen=True, slots=True, eq=False)
class _Demand:
    """`call` asks for one of many; `inner` is what it asks of each, which must be `holds`."""

    call: cst.Call
    inner: cst.BaseExpression
    holds: bool


def _demands(unit: Unit, check: Check, node: cst.BaseExpression | None, *, holds: bool) -> Iterator[_Demand]:
    node = None if node is None else values(unit).resolve(node)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        yield from _demands(unit, check, node.expression, holds=not holds)
    elif isinstance(node, cst.BooleanOperation):
        if isinstance(node.operator, cst.And) is holds:
            yield from _demands(unit, check, node.left, holds=holds)
            yield from _demands(unit, check, node.right, holds=holds)
    elif isinstance(node, cst.Call):
        name = last_name(node)
        if name in ("bool", "item") and holds:
            inside = node.args[0].value if node.args else getattr(node.func, "value", None)
            yield from _demands(unit, check, inside, holds=holds)
        elif name == ("any" if holds else "all"):
            if len(node.args) == 1 and not node.args[0].star:
                yield _Demand(node, node.args[0].value, holds)
            elif not node.args and isinstance(node.func, cst.Attribute):
                yield _Demand(node, node.func.value, holds)


def _pair(unit: Unit, check: Check, one: _Demand) -> tuple[Comparison, Certainty] | None:
    """The two values of which one pair must agree, if they are two runs item by item."""
    inner = values(unit).resolve(one.inner)
    row = inner if isinstance(inner, _LISTS) else None
    for found in _each(unit, check, one, holds=one.holds):
        if UNKNOWN is not literal(found.left):
            continue
        if literal(found.right) is not UNKNOWN:
            continue
        walked = (found.left, found.right) if row is None else _walked(unit, row, found)
        if walked is None:
            continue
        calls = are_two_calls(unit, *walked)
        of_one = root_name(walked[0]) == root_name(walked[1]) != ""
        judged = Judgement(check.node, found.left, found.right)
        if not calls and (of_one or sides(unit, [judged], up=False) is None):
            continue
        return found, "likely" if calls or are_named(*walked) else "question"
    return None


def _walked(
    unit: Unit, row: cst.GeneratorExp | cst.ListComp, found: Comparison
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The two collections whose items a comprehension compares, place by place; the two calls that are given
    its item."""
    clause = row.for_in
    if clause.inner_for_in is not None or clause.ifs:
        return None
    over = clause.iter
    names = dotted(over.func) if isinstance(over, cst.Call) else ""
    target: cst.BaseExpression = clause.target
    if isinstance(over, cst.Call) and names == "enumerate" and isinstance(target, cst.Tuple) and over.args:
        over, target = over.args[0].value, target.elements[-1].value
        names = dotted(over.func) if isinstance(over, cst.Call) else ""
    roots = root_name(found.left), root_name(found.right)
    if isinstance(over, cst.Call) and names == "zip" and isinstance(target, cst.Tuple):
        items = [canonical(element.value) for element in target.elements]
        given = [arg.value for arg in over.args if arg.keyword is None and not arg.star]
        if len(items) != len(given) or roots[0] == roots[1] or not set(roots) <= set(items):
            return None
        return given[items.index(roots[0])], given[items.index(roots[1])]
    if not isinstance(target, cst.Name):
        return None
    if isinstance(found.left, cst.Call) and isinstance(found.right, cst.Call):
        each = all(_reads(side, target.value) for side in (found.left, found.right))
        return (found.left, found.right) if each and are_two_calls(unit, found.left, found.right) else None
    counts = names == "range" or over is not clause.iter
    if counts and all(f"[{target.value}]" in canonical(side) for side in (found.left, found.right)):
        return _before(found.left, target.value), _before(found.right, target.value)
    return None


def _reads(node: cst.BaseExpression, name: str) -> bool:
    return any(isinstance(below, cst.Name) and below.value == name for below in walk(node))


def _before(node: cst.BaseExpression, index: str) -> cst.BaseExpression:
    """The collection of which an expression takes the item at a position: `rows` of `rows[at].tokens`."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        inner = node.value
        if isinstance(node, cst.Subscript) and canonical(node).endswith(f"[{index}]"):
            return inner
        node = inner
    return node
