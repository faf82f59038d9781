"""A comparison of two runs has a second way to pass that says nothing about their agreement.

## Why
`assert left == right or right.retried` accepts any difference of a retried run. The second operand was meant
for one known case, and it opens the check for every other fault that comes with it.

## Instead
Take the known case out of the data, or check for it what can be checked (a tolerance, the other fields), and
fail on the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.equal_elsewhere import equal_elsewhere
from reviewbot.flow.escapes import Alternatives, alternatives
from reviewbot.flow.excuses import is_place
from reviewbot.flow.judgements import Judgement, judgements
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.sides import Sides, condition_trace, says, sides
from reviewbot.flow.suspects import compares_two, is_comparer, may_fail
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, literal, walk
from reviewbot.flow.tolerances import difference
from reviewbot.flow.truth import truth
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, step

# What the surroundings cannot do, no check can ask of them.


class OrEscape(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example(
            """
            def compare(before, after):
                for left, right in zip(before, after, strict=True):
                    assert left.tokens == right.tokens or right.retried  # <- here
            """
        ),
        Example(
            """
            def compare(before, after):
                for left, right in zip(before, after, strict=True):
                    if left.loss != right.loss and left.step == right.step:  # <- here
                        raise AssertionError(left.step)
            """
        ),
        Example(
            """
            import torch
            from unittest import TestCase

            class T(TestCase):
                def test(self):
                    eager, compiled = run(False), run(True)
                    self.assertTrue(torch.equal(eager, compiled) or eager.shape != compiled.shape)  # <- here
            """
        ),
        Example(
            """
            def compare(before, after, is_peft, limit):
                failures = []
                for left, right in zip(before, after, strict=True):
                    if not is_peft and abs(left - right) > limit:  # <- here
                        failures.append(left)
                assert not failures
            """
        ),
        # In what is listed as a difference, and in what is asked of each.
        Example(
            """
            def test_stops(left, sailed):
                late = set(sailed)
                bad = [i for i, (a, b) in enumerate(zip(left, sailed)) if a != b and i not in late]  # <- here
                assert not bad

            def test_ports(planned, sailed):
                late = set(sailed)
                assert all(a == b or n in late for n, (a, b) in enumerate(zip(planned, sailed)))  # <- here
            """
        ),
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    assert left["cargo"] == right["cargo"] or left["cut"] == right["back"]  # <- here
        """),
    )
    good = (
        # Which of the cases that the test writes out is run.
        Example("""
            def test_charts_are_equal(read):
                for kept in (None, False, True):
                    expected, actual = read(kept=False), read(kept=kept)
                    assert kept is not False or len(expected) == len(actual)
        """),
        # Another way to have the same field right.
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    assert left["cargo"] == right["cargo"] or left["cargo"] == right["load"]
        """),
        # What is listed is looked at further, or must be there.
        Example(
            """
            def test_stops(planned, sailed):
                late = set(sailed)
                moved = [n for n, (a, b) in enumerate(zip(planned, sailed)) if a != b and n not in late]
                assert len(moved) == 3
            """
        ),
        # As many as were asked for, or all that there are.
        Example(
            """
            def test_drawn(draw, graph, wanted):
                some, every = draw(graph), graph.edges()
                for kind in set(graph.kinds):
                    drawn = set(some[graph.kinds == kind])
                    there = set(every[graph.kinds == kind])
                    assert (len(drawn) == wanted[kind]) or (drawn == there)
            """
        ),
        # Two tolerances, several right answers, an absent value on both sides, an implication.
        Example(
            """
            import math

            def compare(left, right, other, limit, rank):
                assert abs(left - right) < limit or abs(left - right) / abs(right) < limit
                assert left == right or left == other
                assert left == right or math.isnan(left) and math.isnan(right)
                assert left is None or math.isfinite(left)
                assert rank > 0 or left == right
                if limit and left != right:
                    raise AssertionError(left)
            """
        ),
        Example(
            """
            def test_kernel(out, reference, eager, torch):
                error = (eager - reference).abs().max().item()
                assert (out - reference).abs().max().item() <= 2 * error or torch.allclose(out, eager)

            def test_gradients(eager, kernel):
                bad = []
                for name, a in eager.items():
                    b = kernel[name]
                    worst = (a - b).abs().max().item()
                    relative = worst / a.abs().max().item()
                    if relative > 0.1 and worst > 0.01:
                        bad.append(name)
                assert not bad

            def test_signal(run, noise_ratio, torch):
                fast, slow = run(1), run(2)
                ratio = noise_ratio(fast, slow).item()
                assert ratio == float("inf") or torch.equal(fast, slow)

            def test_words(render):
                text, wanted = render(), "a"
                assert text == wanted or text == wanted + "\\r"
                assert text == "x" or text.startswith("y")
            """
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return unit.has(ast.BoolOp) and is_comparer(unit) and may_fail(unit) and compares_two(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not is_comparer(unit):
            return
        every = judgements(unit)
        reported: set[int] = set()
        for check in alternatives(unit):
            if id(check.condition) in reported:
                continue
            inside = {id(below) for below in walk(check.condition)}
            own = [one for one in every if id(one.left) in inside or one.node is check.node]
            for found in self._escapes(unit, repo, check, own):
                reported.add(id(check.condition))
                yield found
                break

    def _escapes(
        self, unit: Unit, repo: Repo, check: Alternatives, own: list[Judgement]
    ) -> Iterator[Finding]:
        for one in own:
            between = sides(unit, [one], up=False)
            if between is None:
                continue
            agreeing = [way for way in check.ways if says(unit, *way, between) == "equal"]
            agreeing = [way for way in agreeing if not _is_of_others(unit, *way, one)]
            others = [way for way in check.ways if way not in agreeing]
            if not agreeing:
                continue
            for node, holds in others:
                if _is_a_case(unit, node) or not _is_escape(unit, node, holds, one, between):
                    continue
                code = canonical(node) if holds else _denied(node)
                yield self.finding(
                    unit,
                    check.condition,
                    f"where `{code}` holds, this check passes whatever `{canonical(one.left)}` is: is that"
                    " meant?",
                    certainty="question",  # each way to be right may have been thought of
                    steps=[
                        step(unit, agreeing[0][0], "the comparison"),
                        *_made(unit, node),
                        step(unit, node, "the other way to pass"),
                    ],
                    still_catches=still_catches(unit, one.left, one.right, but=[check.node], repo=repo),
                )


def _is_of_others(unit: Unit, node: cst.BaseExpression, holds: bool, one: Judgement) -> bool:
    """Whether a way to pass holds other fields of the two sides against each other."""
    if not holds or not equal_elsewhere(unit, node, one) or not isinstance(node, cst.Comparison):
        return False
    mine = {canonical(node.left), canonical(node.comparisons[0].comparator)}
    return mine.isdisjoint({canonical(one.left), canonical(one.right)})


def _made(unit: Unit, node: cst.BaseExpression) -> Iterator[Step]:
    """Where the collection that the other way asks is made."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    if isinstance(target.operator, (cst.In, cst.NotIn)) and isinstance(target.comparator, cst.Name):
        made = values(unit).resolve(target.comparator)
        if made is not target.comparator:
            yield step(unit, made, f"`{target.comparator.value}` is made of this")


def _denied(node: cst.BaseExpression) -> str:
    """The opposite of a condition as code: `i in late` for `i not in late`."""
    code = canonical(node)
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        opposite = _OPPOSITE.get(type(target.operator))
        if opposite is not None:
            return f"{canonical(node.left)} {opposite} {canonical(target.comparator)}"
        return f"not ({code})"
    if isinstance(node, cst.BooleanOperation):
        return f"not ({code})"
    return f"not {code}".replace("not not ", "")


_OPPOSITE: dict[type[cst.BaseCompOp], str] = {
    cst.In: "not in", cst.NotIn: "in", cst.Equal: "!=", cst.NotEqual: "==", cst.Is: "is not", cst.IsNot: "is",
}  # fmt: skip


def _is_escape(unit: Unit, node: cst.BaseExpression, holds: bool, one: Judgement, between: Sides) -> bool:
    """Whether a way to pass may let a difference through."""
    if truth(node, unit) is not None or _is_alternative(node, one) or _bounds(unit, node, one):
        return False
    if _measures_both(unit, node, one):
        return False
    if says(unit, node, holds, between) == "different":
        return True
    flow = values(unit)
    read = condition_trace(unit, node, between, control=False, up=False).bindings
    if not between.either(read):
        plain = isinstance(flow.resolve(node), (cst.Name, cst.Attribute)) or isinstance(node, cst.Name)
        return plain and holds and not is_place(node)
    return True


def _bounds(unit: Unit, node: cst.BaseExpression, one: Judgement) -> bool:
    """Whether a way to pass bounds how far one of the two values is from something: another tolerance."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return False
    codes = {canonical(one.left), canonical(one.right)}
    sides = (node.left, node.comparisons[0].comparator)
    made = [binding.value for binding in values(unit).slice(*sides, mutations=False)]
    for whole in (*sides, *(value for value in made if value is not None)):
        for below in walk(whole):
            pair = difference(below) if isinstance(below, cst.Call) else None
            if pair is not None and not codes.isdisjoint(map(canonical, pair)):
                return True
    return False


def _measures_both(unit: Unit, node: cst.BaseExpression, one: Judgement) -> bool:
    """Whether a way to pass looks at a figure that a function made of both values: another comparison."""
    if not isinstance(node, cst.Comparison):
        return False
    codes = {canonical(one.left), canonical(one.right)}
    sides = (node.left, *(target.comparator for target in node.comparisons))
    made = [values(unit).resolve(side) for side in sides]
    calls = [below for whole in made for below in walk(whole) if isinstance(below, cst.Call)]
    return any(codes <= {canonical(arg.value) for arg in call.args} for call in calls)


def _measured(node: cst.BaseExpression) -> Iterator[str]:
    """What a length is of: as many as were asked for, `len(some) == count`, or all that there are."""
    if isinstance(node, cst.Call) and dotted(node.func) == "len" and len(node.args) == 1:
        yield canonical(node.args[0].value)


def _is_alternative(node: cst.BaseExpression, one: Judgement) -> bool:
    """Whether a way to pass compares one of the two values with something else that is right as well."""
    codes = {canonical(one.left), canonical(one.right)}
    if isinstance(node, cst.Comparison):
        sides = (node.left, *(target.comparator for target in node.comparisons))
        parts = {canonical(side) for side in sides} | {code for side in sides for code in _measured(side)}
        codes |= {code for side in (one.left, one.right) for code in _measured(side)}
        return not codes.isdisjoint(parts)
    if isinstance(node, cst.Call):
        given = [canonical(arg.value) for arg in node.args]
        if isinstance(node.func, cst.Attribute):
            given.append(canonical(node.func.value))
        return not codes.isdisjoint(given)
    return False


def _is_a_case(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a condition asks which of the cases that the test writes out is run:
    `for cached in (None, False, True): ...; assert cached is not False or one == other`."""
    flow = values(unit)
    bound = [flow.reaching(name) for name in flow.reads(node) if literal(name) is UNKNOWN]
    return bool(bound) and all(
        reaching
        and all(
            binding.kind == "loop"
            and binding.value is not None
            and isinstance(literal(binding.value), (tuple, list))
            for binding in reaching
        )
        for reaching in bound
    )
