"""A tolerance as wide as the values that are compared, or far wider than the suite's others.

## Why
With `rtol=1` a result of zeros equals anything, with `atol=100` so do most logits. A wide tolerance is often
what was left when a parity test failed, and hides the fault that made it fail. Where a row of the run under
test decides by itself that it may differ at will, every row that a fault reaches can do so.

## Instead
Find what the difference comes from; compare in a precision in which it does not arise, and choose the
tolerance from what the arithmetic can lose.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.checks import operand, raising_context
from reviewbot.flow.coarse_ratios import may_be_meant
from reviewbot.flow.infinite_defaults import infinite_defaults, may_be_infinite, without
from reviewbot.flow.judgements import FAILURE, judgements, records
from reviewbot.flow.judging import judges
from reviewbot.flow.left_out import short
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.quantities import quantity
from reviewbot.flow.ratios import Ratio, ratios
from reviewbot.flow.row_tolerances import RowTolerance, row_tolerances
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, walk
from reviewbot.flow.tolerances import ABSOLUTE, KEYWORDS, POSITIONS, Tolerance, real, tolerances
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, step, tree_span, tree_step
from reviewbot.model import Certainty

_HUGE = 100.0
_FAR_WIDER = 100.0
_UNIT_SCALE = 0.1
_MEDIAN = 0.5  # of what `rand` draws; of what `randn` draws it is 0.67
_ROUNDING = 1e-12  # what is smaller stands for zero
_NORMAL = frozenset({"randn", "rand", "randn_like", "rand_like", "normal", "uniform", "standard_normal"})
_WHOLE_NUMBERS = frozenset(
    {
        "randint",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "long",
        "integers",
        # Sizes in bytes.
        "memory_allocated",
        "max_memory_allocated",
        "element_size",
        "nbytes",
        "getsizeof",
        "rss",
    }
)
_CLOSE = frozenset({
    "allclose", "isclose", "assert_allclose", "assert_close", "approx", "assertAllClose", "assert_all_close",
    "assert_trees_all_close", "assert_tree_all_close",
})  # fmt: skip


_OF_THE_SECOND = frozenset({"allclose", "isclose", "assertAllClose", "assert_all_close"})
_KEYWORDS, _POSITIONED = frozenset(KEYWORDS), frozenset(POSITIONS)
_DISTANCES = frozenset({"dist", *ABSOLUTE})


class HugeTolerance(Rule):
    kinds = ("function", "method", "module")
    bad = (
        # Unless somebody gives it, and somebody does not.
        Example("""
            import math

            import numpy as np

            def check_depths(sailed, planned, atol=float("inf")):  # <- here
                np.testing.assert_allclose(sailed, planned, rtol=1e-6, atol=atol)

            def check_winds(sailed, planned, *, max_gap=math.inf):  # <- here
                gap = abs(sailed - planned).max()
                if gap > max_gap:
                    raise AssertionError(f"{gap} apart")

            def test_seas(sail, plan):
                check_depths(sail(1), plan(1), atol=1e-3)
                check_depths(sail(2), plan(2))
                check_winds(sail(1), plan(1))
        """),
        Example("""
            import numpy as np

            def test_loss(run):
                np.testing.assert_allclose(run(1), [1e9], rtol=1e9)  # <- here
        """),
        Example("""
            import math

            def test_loss(run):
                assert math.isclose(run(1), 5.0, abs_tol=math.inf)  # <- here
        """),
        Example("""
            import pytest

            def test_reward(run):
                assert run(1) == pytest.approx(0.5, abs=0.5)  # <- here
        """),
        Example("""
            import torch

            def test_logits(megatron, fsdp):
                torch.testing.assert_close(megatron.logits, fsdp.logits, rtol=0.2, atol=100)  # <- here
        """),
        Example("""
            def test_loss(run):
                assert abs(run(1) - 0.7) < 1  # <- here
        """),
        # Relative errors that are worked out by hand.
        Example("""
            import numpy as np

            def test_packed(pack, unpack, crate):
                got = unpack(pack(crate))
                off = (got.float() - crate.float()).abs() / (crate.float().abs() + 1e-6)
                assert off.mean() < 1.0, f"off by {off.mean()}"  # <- here

            def test_stowed(stow, crate):
                got = stow(crate)
                off = np.max(np.abs(got - crate)) / np.maximum(np.max(np.abs(crate)), 1e-8)
                assert off <= 1  # <- here

            def test_loaded(load, crate):
                got = load(crate)
                if (got - crate).norm() / crate.norm() > 1.5:  # <- here
                    raise AssertionError(got)
        """),
        # What else is asked of it says little.
        Example("""
            import numpy as np

            LIMIT = 1.5

            def test_packed(read, crate, cosine):
                got = read()
                off = np.abs(got - crate) / (np.abs(crate) + 1e-6)
                assert got.shape == crate.shape
                assert np.isfinite(off).all()
                assert off.min() >= 0
                assert (off < LIMIT).all()  # <- here
                assert off.max() < 3  # <- here
                np.testing.assert_allclose(got, crate, rtol=2)  # <- here
        """),
        Example("""
            import torch

            class Kernel:
                def test_up(self):
                    self.same(torch.randn(2, 3), atol=1e-3)

                def test_down(self):
                    self.same(torch.randn(3, 3), atol=1e-3)

                def test_flat(self):
                    self.same(torch.randn(3, 1), atol=1e-4)

                def test_aggressive(self):
                    self.same(torch.randn(8, 8), atol=1.0)  # <- here
        """),
        # What differs by as much is another distribution, or another token.
        Example("""
            import numpy as np
            import torch

            def test_logits(prompts, load):
                eager = load("eager").logits(prompts)
                compiled = load("compiled").logits(prompts)
                assert np.allclose(eager, compiled, atol=10)  # <- here

            def compare(reference, restored):
                bad = []
                for left, right in zip(reference, restored, strict=True):
                    if not torch.allclose(left["logprobs"], right["logprobs"], atol=20.0):  # <- here
                        bad.append(left["id"])
                return bad

            def test_losses(fit, path):
                whole, resumed = fit(20), fit(20, resume=path)
                gap = np.abs(np.asarray(resumed.losses) - np.asarray(whole.losses)).max()
                if gap > 50:  # <- here
                    raise AssertionError(gap)
        """),
        # The row says how much it may differ.
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    atol = 1e9 if right["windy"] else 0
                    assert abs(left["wave"] - right["wave"]) <= atol  # <- here
        """),
        Example("""
            import numpy as np

            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    atol = 1e-6
                    if right.windy:
                        atol = 1e6
                    np.testing.assert_allclose(left.waves, right.waves, atol=atol)  # <- here
        """),
        Example("""
            import math

            def slack(sailing):
                return 1e9 if sailing["windy"] else 1e-6

            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    assert math.isclose(left["wave"], right["wave"], abs_tol=slack(right))  # <- here
        """),
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if abs(left.wave - right.wave) > right.slack:  # <- here
                        raise AssertionError(left)
        """),
    )
    good = (
        # Everybody gives it; another check is left; a range that is open; it is asked whether it was given.
        Example("""
            import math

            def check_depths(sailed, planned, atol=math.inf):
                assert abs(sailed - planned) <= atol

            def check_winds(sailed, planned, max_gap=math.inf):
                assert sailed.keys() == planned.keys()
                assert abs(sailed["wind"] - planned["wind"]) <= max_gap

            def check_between(sailed, low=-math.inf, high=math.inf):
                assert low <= sailed <= high

            def check_tides(sailed, planned, atol=math.inf):
                if math.isinf(atol):
                    atol = planned.error
                assert abs(sailed - planned) <= atol

            def test_seas(sail, plan):
                check_depths(sail(1), plan(1), atol=1e-3)
                check_depths(sail(2), plan(2), 1e-3)
                check_winds(sail(1), plan(1))
                check_between(sail(1))
                check_tides(sail(1), plan(1))
        """),
        # No tolerance reaches NaN.
        Example("""
            import numpy as np

            def test_mean_of_nothing(mean):
                expected = np.nan
                np.testing.assert_allclose(mean([]), expected, atol=1e-3)
        """),
        # How exact a value can be is a matter of its type and its device, and a table says what it allows.
        Example("""
            import torch

            def compare(reference, resumed, device):
                for left, right in zip(reference, resumed, strict=True):
                    atol = 1e-2 if right.wave.dtype == torch.float16 else 1e-5
                    rtol = 1e-3 if device.type == "cuda" else 1e-6
                    torch.testing.assert_close(left.wave, right.wave, atol=atol, rtol=rtol)

            def check_cases(expected, got):
                for case, wave in zip(expected, got, strict=True):
                    assert abs(case.wave - wave) <= case.slack

            def check_loss(expected, outputs):
                assert outputs["loss"] > 0.0
                assert abs(outputs["loss"] - expected["loss"]) < 1e-3
        """),
        # Sums, rates and energies are as large as they get.
        Example("""
            import numpy as np
            import pytest

            def test_sums(run):
                assert np.allclose(run("eager").logprobs.sum(), run("compiled").logprobs.sum(), atol=10)
                assert run(1).tokens_per_second == pytest.approx(run(2).tokens_per_second, abs=9)
                np.testing.assert_allclose(run("eager").energy, run("compiled").energy, atol=10, rtol=1e-6)
                assert not np.allclose(run("eager").logits, run("other").logits, atol=10)
        """),
        # A thousand bytes are few.
        Example("""
            import pytest, torch

            def test_offloaded(model, x):
                before = torch.cuda.memory_allocated()
                y = model(x)
                delta = torch.cuda.memory_allocated() - before
                assert delta == pytest.approx(x.element_size() * x.shape[0], abs=1000)
        """),
        Example("""
            import numpy as np

            def test_loss(run):
                np.testing.assert_allclose(run(1), [1e9], rtol=1e-5, atol=10)
                assert abs(run(2) - 0.7) < 1e-3
                assert run(3) == pytest_approx(0.0, abs=0.5)
        """),
        # A p-value that is written as zero is written elsewhere; what was planted in random data is known.
        Example("""
            import numpy as np

            def test_normal(run):
                np.testing.assert_almost_equal(run(1), 2.2e-16, decimal=3)

            def test_planted(fit):
                slopes = np.r_[1, -2.5, 0.7]
                x = np.random.normal(size=(90, 3))
                np.testing.assert_allclose(fit(x, x @ slopes), slopes, atol=0.2)

            def test_steps(fit):
                np.testing.assert_allclose(fit(1), fit(2), atol=1e-5)
                np.testing.assert_allclose(fit(2), fit(3), atol=1e-5)
                np.testing.assert_allclose(fit(3), fit(4), atol=1e-5)
                np.testing.assert_allclose(fit(4), fit(5), atol=1e-5)
        """),
        Example("""
            def test_clock(run):
                assert abs(run(1) - 1_700_000_000) < 100
        """),
        Example("""
            def test_must_differ(self, run):
                self.assertNotAlmostEqual(run(1), 0.5, delta=10)
        """),
        Example("""
            import pytest

            def test_refuses():
                with pytest.raises(TypeError):
                    pytest.approx(object(), rel=1)
        """),
        # A coarse bound beside a finer check of the same two; noise that is to be there; a step that is
        # bounded; amounts that are estimated.
        Example("""
            import numpy as np
            import torch

            def test_finer(sailed, planned, cosine):
                off = np.abs(sailed - planned) / (np.abs(planned) + 1.0)
                assert off.max() < 1.0
                np.testing.assert_allclose(sailed, planned, rtol=1e-3)

            def test_finer_on_average(sailed, planned):
                off = np.abs(sailed - planned) / (np.abs(planned) + 1e-8)
                assert off.max() < 1.0
                assert off.mean() < 1e-3

            def test_finer_mostly(sailed, planned):
                off = np.abs(sailed - planned) / (np.abs(planned) + 1e-8)
                assert off.max() < 1.0
                assert (off < 0.1).mean() > 0.9

            def test_finer_by_direction(sailed, planned, cosine):
                off = (sailed - planned).norm() / planned.norm()
                assert off < 1.2
                alike = cosine(sailed.flatten(), planned.flatten())
                assert alike > 0.99

            def test_finer_in_all(sailed, planned):
                assert (sailed - planned).norm() / planned.norm() <= 1
                assert (sailed - planned).abs().max() < 1e-3

            def test_noise(noisy, clean):
                off = (noisy - clean).norm() / clean.norm()
                assert off > 0.1
                assert off < 2.0

            def test_update(advance, before):
                after = advance(before)
                assert np.linalg.norm(after - before) / np.linalg.norm(before) <= 1.0

            def test_trusted(captain, sails):
                w0 = sails.clone()
                captain.step()
                assert (sails - w0).norm() / (w0.norm() + 1e-8) < 1.0

            def test_amounts(log, crates, base_ms, n_sails):
                guess, ms, count = log.guess(), log.run(), log.count()
                assert abs(len(guess) - len(crates)) / abs(len(crates)) < 1.5
                assert abs(ms - base_ms) / abs(base_ms) < 3
                assert abs(count - n_sails) / max(abs(n_sails), 1) < 1.5
        """),
        # Zeros are just too far off; an error of something else; two that must differ.
        Example("""
            def test_packed(pack, unpack, crate, quay):
                got = unpack(pack(crate))
                off = (got - crate).abs() / crate.abs()
                assert off.mean() < 1.0
                assert off.max() < 0.9
                rel = (got - crate).abs() / (quay.abs() + 1e-6)
                assert rel.max() < 2
                assert (got - crate).abs().max() / (crate.abs().max() + 1e-6) > 1
        """),
        # A helper of the project may take a multiple of another error by that name.
        Example("""
            def test_gradients(run, compare_errors):
                compare_errors(run(1), run(2), run(3), rtol=3)
        """),
        Example("""
            def test_range(run):
                assert run(1) < 100
                assert abs(run(1)) < 100
        """),
        Example("""
            import numpy as np

            def test_absolute_decides(run):
                assert not np.allclose(run(1), run(2), atol=1000)
        """),
        Example(
            """
            import numpy as np

            def plan(rows):
                return np.isclose(rows, 0.5, atol=1)
            """,
            path="robot/plan.py",
        ),
    )

    folds = True

    def concerns(self, file: File) -> bool:
        told = file.names(*_KEYWORDS) or file.calls(*_POSITIONED, *_DISTANCES)
        return told or may_be_infinite(file)

    def suspect(self, unit: Unit) -> bool:
        facts = unit.facts
        by_keyword = not _KEYWORDS.isdisjoint(facts.names) or not _POSITIONED.isdisjoint(facts.calls)
        by_difference = not _DISTANCES.isdisjoint(facts.calls) and unit.has(ast.Compare)
        return (by_keyword or by_difference or bool(infinite_defaults(unit))) and judges(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        found = list(tolerances(unit))
        by_node: dict[int, list[Tolerance]] = {}
        for one in found:
            by_node.setdefault(id(one.node), []).append(one)
        for group in by_node.values():
            judged = _judge(unit, group)
            if judged is not None and not _is_denied(unit, group[0].node):
                widest, certainty, why = judged
                yield self.finding(
                    unit,
                    widest.node,
                    why,
                    certainty=certainty,
                    steps=(step(unit, widest.written, f"the tolerance is {widest.value:g}"),),
                    still_catches=still_catches(unit, widest.node, repo=repo),
                )
        for ratio in ratios(unit):
            meant = may_be_meant(unit, ratio) if ratio.passes_zeros else "yes"
            if meant != "yes" and not _is_denied(unit, ratio.node):
                yield self._of_ratio(unit, repo, ratio, "question" if meant == "maybe" else "likely")
        yield from self._by_default(unit, repo)
        for wider in row_tolerances(unit):
            yield self.finding(
                unit,
                wider.written,
                _widened(wider),
                certainty=wider.certainty,
                steps=[
                    step(wider.unit, wider.condition, "this decides how much may differ"),
                    step(unit, wider.written, "the tolerance of the comparison"),
                    step(unit, wider.judgement.left, "what is compared with it"),
                ],
                still_catches=still_catches(
                    unit, wider.judgement.left, wider.judgement.right, but=[wider.judgement.node], repo=repo
                ),
            )

    def _of_ratio(self, unit: Unit, repo: Repo, one: Ratio, sure: Certainty) -> Finding:
        over, other = short(canonical(one.over)), short(canonical(one.other))
        return self.finding(
            unit,
            one.node,
            f"a relative error of {one.value:g} is allowed: zeros in the place of `{other}` pass whatever"
            f" `{over}` is" + ("" if sure == "likely" else "; or is it a step that is bounded?"),
            certainty=sure,
            steps=(step(unit, one.written, f"the error may be {one.value:g}"),),
            still_catches=still_catches(unit, one.node, repo=repo),
        )

    def _by_default(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in infinite_defaults(unit):
            call = without(unit, one, repo)
            if call is None:
                continue
            path, node = call
            yield self.finding_at(
                unit,
                tree_span(unit, one.default),
                f"`{one.name}` is infinite unless it is given, and `{short(ast.unparse(node))}` does not:"
                " any result passes there",
                certainty="likely",
                steps=(
                    Step(path, node.lineno, node.end_lineno or node.lineno, "leaves the tolerance as it is"),
                    tree_step(unit, one.used, f"`{one.name}` is what a difference is held against"),
                ),
                still_catches=("a NaN, and whatever the caller checks besides",),
            )


def _widened(one: RowTolerance) -> str:
    code = short(canonical(one.condition))
    if one.wide is None:
        says = "the compared row says by itself how much it may differ"
        return f"`{code}` decides the tolerance: {says}"
    beside = "" if one.narrow is None else f" and {one.narrow:g} elsewhere"
    return f"where `{code}` says so the tolerance is {one.wide:g}{beside}: such rows may differ at will"


def _judge(unit: Unit, group: list[Tolerance]) -> tuple[Tolerance, Certainty, str] | None:
    """The tolerance of one comparison that is too wide, how sure that is, and what follows from it."""
    # What a helper of the project does with its `rtol` is its own affair: often a multiple of another error.
    group = [one for one in group if one.sort == "absolute" or one.callee in {*_CLOSE, *POSITIONS}]
    if not group:
        return None
    widest = max(group, key=lambda one: one.value)
    if math.isinf(widest.value):
        beside = " other than zero" if widest.sort == "relative" else ""
        says = f"the tolerance is infinite: any result passes for any expected value{beside}"
        return widest, "proved", says
    relative = max((one.value for one in group if one.sort == "relative"), default=0.0)
    absolute = max((one.value for one in group if one.sort == "absolute"), default=0.0)
    if relative >= 1:
        wide = max(group, key=lambda one: (one.sort == "relative", one.value))
        # Where the result stands second, it is what is too large that passes, and zeros do not.
        passes = "a result of zeros passes for any expected value"
        if isinstance(wide.node, cst.Call) and _is_of_the_second(wide.node):
            passes = "zeros as the first of the two pass whatever the second is"
        says = f"with a relative tolerance of {relative:g} {passes}"
        return wide, "proved" if relative > 1 else "likely", says
    size = _size(unit, widest)
    if size:
        if absolute + relative * size < size:
            return None
        wide = max(group, key=lambda one: (one.sort == "absolute", one.value))
        how = _times(absolute / size) + "as wide as"
        says = f"the tolerance of {absolute:g} is {how} the expected value: a result of zero passes"
        return wide, "likely", says
    if size is not None:
        return None
    named = _beyond_what_it_measures(unit, group, absolute)
    if named is not None or not absolute:
        return named
    wide = max(group, key=lambda one: (one.sort == "absolute", one.value))
    if absolute >= _HUGE and wide.callee in _CLOSE and not _whole_numbers(unit):
        # A table of cases may hold nothing but large values.
        counted = any(_counts(side) for side in (wide.actual, wide.expected))
        known = counted or _is_explained(unit, wide) or _is_given(unit, wide.expected)
        sure: Certainty = "question" if known else "likely"
        return wide, sure, f"two results that differ by {absolute:g} everywhere pass"
    if absolute < _UNIT_SCALE or not _is_unit_scale(unit) or _is_made_of_numbers(unit, widest):
        return None
    usual = _usual(unit, wide)
    if usual is not None and absolute >= _FAR_WIDER * usual:
        as_wide = absolute >= _MEDIAN
        how = _times(absolute) + "as wide as" if as_wide else "a good part of"
        says = (
            f"the tolerance of {absolute:g} is {how} the random values that are compared; most calls of"
            f" `{wide.callee}` in this file use {usual:g}"
        )
        return wide, "likely" if as_wide and not _is_explained(unit, wide) else "question", says
    return None


def _times(ratio: float) -> str:
    """How many times one is the other, in words that stand before "as wide as": nothing below twice."""
    return f"{ratio:.3g} times " if ratio >= 2 else ""


def _is_of_the_second(call: cst.Call) -> bool:
    """Whether a relative tolerance is multiplied with the second of the two, whichever is expected."""
    return last_name(call) in _OF_THE_SECOND and not dotted(call.func).startswith("math.")


def _beyond_what_it_measures(
    unit: Unit, group: list[Tolerance], absolute: float
) -> tuple[Tolerance, Certainty, str] | None:
    """The same of values that by their names are log-probs, losses and the like of two runs."""
    wide = max(group, key=lambda one: (one.sort == "absolute", one.value))
    sides = [side for side in (wide.actual, wide.expected) if side is not None]
    if absolute < 1 or not sides or any(literal(values(unit).resolve(s)) is not UNKNOWN for s in sides):
        return None
    known = next((found for found in (quantity(unit, side) for side in sides) if found is not None), None)
    if known is None or absolute < known.limit:
        return None
    says = f"two results whose `{known.name}` differ by {absolute:g} everywhere pass"
    return wide, "likely" if known.sure and not _is_explained(unit, wide) else "question", says


def _size(unit: Unit, one: Tolerance) -> float | None:
    """The largest magnitude of the expected value, where it is written out."""
    if one.expected is None:
        return None
    value = literal(values(unit).resolve(one.expected))
    if value is UNKNOWN:
        return None
    given = list(_numbers(value))
    numbers = [number for number in given if not math.isnan(number)]
    if given and not numbers:
        return 0.0  # no tolerance reaches from a number to NaN
    largest = max(map(abs, numbers)) if numbers else None
    return 0.0 if largest is not None and largest < _ROUNDING else largest


def _is_given(unit: Unit, expected: cst.BaseExpression | None) -> bool:
    """Whether an expected value is a parameter of the test."""
    reaching = values(unit).reaching(expected) if isinstance(expected, cst.Name) else ()
    return bool(reaching) and all(binding.kind == "parameter" for binding in reaching)


def _is_made_of_numbers(unit: Unit, one: Tolerance) -> bool:
    """Whether the expected value is made of an array that is written out, so that nothing random is in it."""
    if one.expected is None:
        return False
    flow = values(unit)
    parts = [one.expected, *(b.value for b in flow.slice(one.expected) if b.value is not None)]
    parts += [
        given for name in flow.reads(one.expected) for m in flow.mutations(name.value) for given in m.given
    ]
    return any(_is_array_of_numbers(below) for part in parts for below in walk(part))


def _is_array_of_numbers(node: cst.CSTNode) -> bool:
    """`[1, -0.5]` and `np.r_[1, -0.5]`, of two numbers or more."""
    if isinstance(node, (cst.List, cst.Tuple)):
        parts = [element.value for element in node.elements]
    elif isinstance(node, cst.Subscript) and last_name(node.value) in ("r_", "c_"):
        parts = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
    else:
        return False
    numbers = [literal(part) for part in parts]
    if len(numbers) < 2 or not all(isinstance(n, (int, float)) for n in numbers):
        return False
    # Whole numbers in a list may be a shape.
    return isinstance(node, cst.Subscript) or any(isinstance(n, float) for n in numbers)


def _numbers(value: object) -> Iterator[float]:
    number = real(value)
    if number is not None:
        yield number
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _numbers(part)


def _usual(unit: Unit, one: Tolerance) -> float | None:
    """The median of what the file's other calls of the same function are given, if there are enough."""
    if not one.callee:
        return None
    given = []
    for node in unit.file.asts(ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == one.callee:
            given += [k.value.value for k in node.keywords if k.arg == one.name and _is_number(k.value)]
    if len(given) < 4:
        return None
    # Imported where it is needed, which is rare: it takes longer than most rules.
    from statistics import median

    return median(given)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _whole_numbers(unit: Unit) -> bool:
    return not unit.facts.names.isdisjoint(_WHOLE_NUMBERS) or not unit.facts.calls.isdisjoint(_WHOLE_NUMBERS)


def _is_explained(unit: Unit, one: Tolerance) -> bool:
    """Whether a comment stands beside the tolerance or in the line above it, or the values have few bits."""
    if any(re.search(r"float8|fp8|fp4|int4|e4m3|e5m2|nf4", name) for name in unit.facts.names):
        return True
    line = unit.span(one.written).line
    return any("#" in text for text in unit.file.lines[line - 2 : line])


def _counts(side: cst.BaseExpression | None) -> bool:
    """Whether a side is a number of things by its name, of which there may be thousands."""
    return side is not None and _COUNT.search(last_name(side)) is not None


_COUNT = pattern(r"(?i)^(num|n|total)_|(^|_)(count|counts|counter)$")


def _is_unit_scale(unit: Unit) -> bool:
    return not unit.facts.calls.isdisjoint(_NORMAL) and not _whole_numbers(unit)


def _is_denied(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a comparison is one that must not hold, so that a wide tolerance makes it stricter."""
    if type(node) is cst.Call and any(one.left is operand(node, 0) for one in judgements(unit)):
        return False  # `if not allclose(…): fail`
    branch = next((above for above in unit.ancestors(node) if isinstance(above, cst.If)), None)
    noted = branch is not None and any(below is node for below in walk(branch.test))
    if branch is not None and noted and type(node) is cst.Call:
        return not any(FAILURE.search(name) for name in records(unit, branch.body))
    for above in unit.ancestors(node):
        if isinstance(above, cst.UnaryOperation) and isinstance(above.operator, cst.Not):
            return True
        if isinstance(above, cst.Comparison):
            return any(isinstance(target.operator, cst.NotEqual) for target in above.comparisons)
        if isinstance(above, cst.Call) and last_name(above) in ("assertFalse", "assertNotEqual"):
            return True
        if isinstance(above, (cst.BaseSmallStatement, cst.If)):
            break
    # What is expected to raise compares nothing.
    return any(
        isinstance(above, cst.With) and any(raising_context(item) is not None for item in above.items)
        for above in unit.ancestors(node)
    )
