"""A comparison that a NaN passes.

## Why
Every ordering with NaN is false, so `if difference > tolerance: fail` lets a NaN through, and Python's
`max()` drops it unless it comes first. A run whose loss or log-probs turned to NaN then equals its baseline.

## Instead
Write what must hold, so that NaN fails it: `assert difference <= tolerance`, `torch.testing.assert_close`;
or require `math.isfinite` first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from reviewbot.flow.calls import callee
from reviewbot.flow.checks import checks
from reviewbot.flow.control import statements
from reviewbot.flow.gaps import gap
from reviewbot.flow.guards import deciding, finite
from reviewbot.flow.handlers import following
from reviewbot.flow.judgements import judged_names
from reviewbot.flow.judging import judges
from reviewbot.flow.loops import quantified
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.not_a_number import lets_nan_pass
from reviewbot.flow.noticing import between
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import (
    UNKNOWN,
    canonical,
    dotted,
    keyword_argument,
    last_name,
    literal,
    same,
    subscript,
    walk,
)
from reviewbot.flow.tolerances import ABSOLUTE, difference
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import collected
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, once, step

_LIMIT = pattern(r"(?i)(^|_)(tol|tolerance|atol|rtol|eps|epsilon|threshold|thresh|limit|delta|max_diff)(_|$)")
_FLOATS = pattern(r"(?i)(loss|log_?prob|logit|grad|norm|reward|advantage|score|prob|entropy|kl|ratio|rel)")
_WHOLE = pattern(
    r"(?i)(^|_)(steps?|index|idx|counts?|num|len(gth)?|size|lines?|pos(ition)?|offset|tokens?|ids?|days?|years?"
    r"|cents|bytes|epochs?|turns?|rows?|n|no|number|age|ports?)(_|$)"
)
_RECORDS = pattern(r"(?i)(error|mismatch|diff|fail|problem|violation|bad|ok|passed|match|wrong|issue|equal)")


class NanPasses(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            def worst_gap(whole, parts):
                worst = 0.0
                for a, b in zip(whole, parts, strict=True):
                    worst = max(worst, abs(a - b))
                return worst

            def check_stream(whole, parts, tolerance):
                if worst_gap(whole, parts) > tolerance:  # <- here
                    raise AssertionError("samples differ")
        """),
        Example("""
            def check(before, after, slack):
                for one, other in zip(before, after, strict=True):
                    if abs(one["twist"] - other["twist"]) > slack:  # <- here
                        raise AssertionError(one)
        """),
        Example("""
            def test_loss(run, baseline):
                difference = abs(run(1) - baseline)
                if difference > 1e-3:  # <- here
                    raise AssertionError(f"loss differs by {difference}")
        """),
        # The greatest is kept by an `if`, and what differs is handed back.
        Example("""
            def widest(whole, parts):
                gap = 0.0
                for a, b in zip(whole, parts, strict=True):
                    apart = abs(a - b)
                    if apart > gap:
                        gap = apart
                return gap

            def test_stream(run, baseline):
                assert widest(run(1), baseline) < 1e-6  # <- here
        """),
        Example(
            """
            def check_draught(sounding, wanted):
                draught = float(sounding.read())
                if abs(draught - wanted) > 0.5:  # <- here
                    raise SystemExit(f"draws {draught}")
                return round(draught, 2)

            def compare_losses(before, after, tolerance):
                out = []
                for step in sorted(before.keys() | after.keys()):
                    gap = abs(before[step]["loss"] - after[step]["loss"])
                    if gap > tolerance:  # <- here
                        out.append((step, gap))
                return out
            """,
            path="tools/compare_runs.py",
        ),
        Example("""
            def test_worst(run, baseline):
                worst = 0.0
                for key in baseline:
                    worst = max(worst, abs(run(1)[key] - baseline[key]))
                assert worst < 1e-3  # <- here
        """),
        Example("""
            def test_no_gap(run, baseline):
                worst = 0.0
                for key in baseline:
                    worst = max(worst, abs(run(1)[key] - baseline[key]))
                assert worst == 0.0  # <- here
        """),
        Example("""
            def test_max(run, baseline):
                assert max(abs(a - b) for a, b in zip(run(1), baseline, strict=True)) < 1e-3  # <- here
        """),
        # The differences have a name.
        Example("""
            def test_named(run, baseline):
                gaps = [abs(a - b) for a, b in zip(run(1), baseline, strict=True)]
                assert max(gaps) < 1e-5  # <- here
        """),
        Example("""
            def test_named_twice(run, baseline):
                one, other = run(1), baseline
                gaps = [float(abs(one[0] - other[0])), float(abs(one[1] - other[1]))]
                worst = max(gaps, default=0.0)
                if worst > 1e-5:  # <- here
                    raise AssertionError(worst)
        """),
        # They are told to unittest, or gathered one by one.
        Example("""
            def test_told(self, run, baseline):
                gaps = [abs(a - b) for a, b in zip(run(1), baseline, strict=True)]
                self.assertLess(max(gaps), 1e-5)  # <- here
        """),
        Example("""
            def test_told_the_other_way(self, run, baseline):
                worst = 0.0
                for a, b in zip(run(1), baseline, strict=True):
                    worst = max(worst, abs(a - b))
                self.assertGreaterEqual(1e-5, worst)  # <- here
        """),
        Example("""
            def test_gathered(run, baseline):
                gaps = []
                for a, b in zip(run(1), baseline, strict=True):
                    gap = abs(a - b)
                    gaps.append(float(gap))
                worst = max(gaps)
                assert worst < 1e-5  # <- here
        """),
        Example("""
            def test_gathered_and_told(self, run, baseline):
                gaps = []
                for a, b in zip(run(1), baseline, strict=True):
                    self.assertEqual(a["step"], b["step"])
                    gaps.append(abs(a["loss"] - b["loss"]))
                self.assertLessEqual(max(gaps), 1e-5)  # <- here
        """),
        Example("""
            def test_last_of_sorted(run, baseline):
                losses = [abs(a - b) for a, b in zip(run(1), baseline, strict=True)]
                assert sorted(losses)[-1] < 1e-5  # <- here
        """),
        Example("""
            import numpy as np

            def test_nanmax(run, baseline):
                assert np.nanmax(np.abs(run(1) - baseline)) < 1e-3  # <- here
        """),
        Example(
            """
            def compare(reference, restored, tolerance):
                mismatches = []
                for step, loss in reference.items():
                    gap = abs(loss - restored[step])
                    if gap >= tolerance:  # <- here
                        mismatches.append(step)
                return mismatches
            """,
            path="tools/parity.py",
        ),
        Example("""
            import torch

            def test_logprobs(run, baseline):
                assert torch.allclose(run(1).logprobs, baseline.logprobs, equal_nan=True)  # <- here
        """),
        # The distance is taken by a function of the file, the bound is a share of something.
        Example("""
            def farthest(sailed, planned):
                return (sailed - planned).abs().max().item()

            def test_courses(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                off = farthest(sailed, planned)
                if off > 0.05 * planned.norm().item():  # <- here
                    raise AssertionError(off)
        """),
    )
    good = (
        # The widest is only told; what fails is said where the gap is compared.
        Example("""
            import torch

            def test_reloaded(weights, reloaded):
                max_diff, off = 0.0, []
                for key, weight in weights.items():
                    diff = torch.abs(weight - reloaded[key]).max().item()
                    if diff > max_diff:
                        max_diff = diff
                    if not diff <= 1e-5:
                        off.append(key)
                assert not off, max_diff
        """),
        # Bytes, by what the bound is.
        Example("""
            def assert_loads(seen, planned, *, load_threshold: int = 100, slack_limit=8):
                for hold, load in planned.items():
                    if abs(seen[hold] - load) >= load_threshold:
                        raise AssertionError(hold)
                    if abs(seen[hold] - load) > slack_limit:
                        raise AssertionError(hold)
        """),
        # What the function returns is no distance of the two that it is given.
        Example("""
            def farthest(sailed, planned):
                return max(len(sailed), len(planned))

            def test_courses(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                off = farthest(sailed, planned)
                if off > 0.05 * planned.stops:
                    raise AssertionError(off)
        """),
        Example("""
            def check(before, after, most):
                for one, other in zip(before, after, strict=True):
                    if abs(one["step"] - other["step"]) > most:
                        raise AssertionError(one)
        """),
        Example("""
            def test_loss(run, baseline):
                assert abs(run(1) - baseline) <= 1e-3
                if not abs(run(2) - baseline) <= 1e-3:
                    raise AssertionError("loss differs")
        """),
        Example("""
            import math

            def test_loss(run, baseline):
                loss = run(1)
                assert math.isfinite(loss)
                if abs(loss - baseline) > 1e-3:
                    raise AssertionError("loss differs")
        """),
        # What passes is made a whole number, which raises for NaN.
        Example("""
            def check_draught(sounding, wanted):
                draught = float(sounding.read())
                if abs(draught - wanted) > 0.5:
                    raise SystemExit(f"draws {draught}")
                return int(round(draught))

            def check_load(scale, wanted):
                load = float(scale.read())
                if abs(load - wanted) > 0.5:
                    raise SystemExit(f"weighs {load}")
                tons = round(load)
                print(tons)
        """),
        Example("""
            def test_counts(run, baseline):
                if abs(len(run(1)) - len(baseline)) > 2:
                    raise AssertionError("rows were lost")
        """),
        Example("""
            import numpy as np

            def test_nan_is_kept(run):
                rows = np.array([1.0, np.nan])
                assert np.allclose(run(rows), rows, equal_nan=True)
        """),
        Example("""
            import torch

            def test_torch_keeps_nan(run, baseline):
                assert (run(1) - baseline).abs().max() < 1e-3
                assert torch.max(torch.abs(run(1) - baseline)) < 1e-3
        """),
        # Every one of them is held to it, or they count whole things, or the greatest fails at NaN.
        Example("""
            import numpy as np

            def test_named(run, baseline):
                gaps = [abs(a - b) for a, b in zip(run(1), baseline, strict=True)]
                assert all(gap < 1e-5 for gap in gaps)
                assert np.max(gaps) < 1e-5
                lines = [abs(len(a) - len(b)) for a, b in zip(run(2), baseline, strict=True)]
                assert max(lines) < 3
                places = [abs(a - b) for a, b in zip(run(3), baseline, strict=True)]
                assert max(places) <= 2
                assert sorted(places)[0] >= 0.0
        """),
        # What is gathered was held to its bound before, counts whole things, or is to be more than something.
        Example("""
            import numpy as np

            def test_gathered(self, run, baseline):
                gaps, lines, moved = [], [], []
                for a, b in zip(run(1), baseline, strict=True):
                    gap = abs(a - b)
                    assert gap < 1e-5
                    gaps.append(gap)
                    lines.append(abs(len(a) - len(b)))
                    moved.append(abs(a - b))
                self.assertLess(max(gaps), 1e-5)
                self.assertLess(max(lines), 3)
                self.assertGreater(max(moved), 1e-5)
                self.assertLess(np.max(moved), 1e5)
        """),
        # The greatest is what is expected; NaN in what is tested equals nothing.
        Example("""
            from pytest import approx

            def test_metric(metric, rows, wanted):
                worst = 0.0
                for row, right in zip(rows, wanted, strict=True):
                    metric.update(row, right)
                    worst = max(worst, abs(row - right))
                    assert metric.compute() == approx(worst)
        """),
        # What is missing on purpose is NaN in a table of floats.
        Example("""
            import numpy as np

            def test_gaps(table):
                logged = table([1.5, None, 2.5])
                np.testing.assert_allclose(logged.knots(), table([1.5, None, 2.5]), equal_nan=True)
        """),
        Example("""
            def test_slow(run, started, clock):
                if abs(clock() - started) > 2.5:
                    print("slow")
        """),
    )

    told_by = (("self-compare", "place"),)

    def concerns(self, file: File) -> bool:
        return file.calls(*ABSOLUTE) or file.names("equal_nan")

    def suspect(self, unit: Unit) -> bool:
        if not judges(unit):
            return False
        if unit.calls(*ABSOLUTE) or "equal_nan" in unit.facts.names:
            return True
        return (unit.has(ast.Compare) or unit.calls(*_LESS)) and not _of_greatest(unit.file).isdisjoint(
            unit.facts.calls
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        looked = False
        sure = [(*one, True) for one in _greatest(unit)]
        for node, place, says, certain in (*_over_limit(unit), *sure):
            if not looked and finite(unit):
                break
            looked = True
            yield self.finding(
                unit,
                node,
                f"NaN passes here{'' if certain else ', if these may be floats'}: {says}",
                certainty="likely" if certain else "question",
                steps=(step(unit, place, "what is NaN here does not fail the check"),),
                still_catches=_still_catches(unit, repo, node),
            )
        yield from self._equal_nan(unit, repo)

    def _equal_nan(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if "nan" in unit.name.lower() or any(n in ("nan", "NaN", "isnan", "NAN") for n in unit.facts.names):
            return
        for call in unit.find(cst.Call):
            told = keyword_argument(call, "equal_nan")
            if told is not None and literal(told) is True and not _says_nan(unit):
                yield self.finding(
                    unit,
                    call,
                    "NaN on both sides counts as equal here, and nothing in this function puts NaN there on"
                    " purpose",
                    certainty="question",
                    steps=(step(unit, told, "two runs that both broke would be equal"),),
                    still_catches=_still_catches(unit, repo, call),
                )


def _still_catches(unit: Unit, repo: Repo, node: cst.CSTNode) -> tuple[str, ...]:
    """The checks that NaN fails: of a distance, those of the two values between which it lies, too."""
    sides = (node.left, *(one.comparator for one in node.comparisons)) if type(node) is cst.Comparison else ()
    values = [value for side in sides for value in between(unit, side) or ()]
    return still_catches(unit, node, *values, blind=lets_nan_pass, fault="nan", repo=repo)


@once
def _of_greatest(file: File) -> frozenset[str]:
    """The last names of the functions of a file that may return a running maximum."""
    return frozenset(
        one.name.rpartition(".")[2]
        for one in file.units
        if one.is_function and (one.calls("max") or one.has(ast.If)) and one.calls(*ABSOLUTE)
    )


Found = tuple[cst.BaseExpression, cst.CSTNode, str]


def _over_limit(unit: Unit) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode, str, bool]]:
    """`if difference > limit:` before a failure, and `assert not difference > limit`; at the end whether the
    difference is known to be one of floats."""
    for node in unit.find(cst.If):
        if _fails(unit, node) and not _is_made_whole_after(unit, node):
            yield from ((c, c, says, sure) for c, says, sure in _ordered(unit, node.test, fails_when=True))
    for check in checks(unit):
        if check.kind == "assert" and check.condition is not None:
            found = _ordered(unit, check.condition, fails_when=False)
            yield from ((c, c, says, sure) for c, says, sure in found)


def _is_made_whole_after(unit: Unit, node: cst.If) -> bool:
    """Whether what is compared is made a whole number wherever it passes: `int` and `round` raise for NaN."""
    flow = values(unit)
    compared = {bound for name in flow.reads(node.test) for bound in flow.reaching(name)}
    for statement in following(unit, node):
        if isinstance(statement, (cst.BaseCompoundStatement, cst.Continue, cst.Break)):
            return False
        for call in (below for below in walk(statement) if isinstance(below, cst.Call)):
            whole = dotted(call.func) in _WHOLE_OF and len(call.args) == 1
            given = _unrounded(call.args[0].value) if whole else None
            if isinstance(given, cst.Name) and not compared.isdisjoint(flow.reaching(given)):
                return True
    return False


def _unrounded(node: cst.BaseExpression) -> cst.BaseExpression:
    """What is made a whole number, within any further such call: `load` of `int(round(load))`."""
    while isinstance(node, cst.Call) and dotted(node.func) in _WHOLE_OF and len(node.args) == 1:
        node = node.args[0].value
    return node


_WHOLE_OF = frozenset({"int", "round", "math.floor", "math.ceil", "math.trunc"})


def _fails(unit: Unit, node: cst.If) -> bool:
    """Whether the branch of an `if` fails, answers that something differs, or records it."""
    for statement in statements(node.body):
        if isinstance(statement, cst.Raise):
            return True
        if isinstance(statement, cst.Return):
            return statement.value is not None and literal(statement.value) is False
        if isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
            call = statement.value
            name = dotted(call.func)
            if name in ("pytest.fail", "self.fail", "sys.exit"):
                return True
            if last_name(call) in ("append", "add"):
                noted = name.rpartition(".")[0]
                if noted in collected(unit) or _RECORDS.search(noted):
                    return True
        if isinstance(statement, cst.Assign):
            target = statement.targets[0].target
            if _is_greatest(unit, node.test, target):
                continue
            if isinstance(target, cst.Name) and _RECORDS.search(target.value):
                return True
    return False


def _is_greatest(unit: Unit, test: cst.BaseExpression, target: cst.BaseAssignTargetExpression) -> bool:
    """`if gap > widest: widest = gap`, of which no check reads the widest: it is only told."""
    if not isinstance(target, cst.Name) or not isinstance(test, cst.Comparison):
        return False
    sides = (test.left, *(one.comparator for one in test.comparisons))
    return any(same(side, target) for side in sides) and target.value not in judged_names(unit)


def _ordered(
    unit: Unit, node: cst.BaseExpression, *, fails_when: bool
) -> Iterator[tuple[cst.BaseExpression, str, bool]]:
    """The orderings in a condition that are false, and so let it pass, when a difference is NaN."""
    if isinstance(node, cst.BooleanOperation):
        yield from _ordered(unit, node.left, fails_when=fails_when)
        yield from _ordered(unit, node.right, fails_when=fails_when)
    elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        yield from _ordered(unit, node.expression, fails_when=not fails_when)
    elif isinstance(node, cst.Comparison) and fails_when and len(node.comparisons) == 1:
        target = node.comparisons[0]
        greater, limit = node.left, target.comparator
        if isinstance(target.operator, (cst.LessThan, cst.LessThanEqual)):
            greater, limit = limit, greater
        elif not isinstance(target.operator, (cst.GreaterThan, cst.GreaterThanEqual)):
            return
        sure = _is_float_difference(unit, greater, limit)
        if sure or _may_be_floats(unit, greater, limit):
            yield (
                node,
                f"`{unit.text(node)}` is false when the difference is NaN, and then nothing fails",
                sure and not _is_symbolic(unit, greater),
            )


def _is_symbolic(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether the numbers are rather sympy's, whose NaN refuses to be ordered, than floats."""
    made = walk(values(unit).resolve(node))
    floats = any(isinstance(below, cst.Call) and dotted(below.func) == "float" for below in made)
    return not floats and any(name.partition(".")[0] == "sympy" for name in unit.file.imports.values())


def _may_be_floats(unit: Unit, node: cst.BaseExpression, limit: cst.BaseExpression) -> bool:
    """Whether a bound that is a name is put on the difference of two fields of rows, by whose names they need
    not be whole numbers: `abs(one["twist"] - other["twist"]) > slack`."""
    sides = difference(values(unit).resolve(node))
    if sides is None or any(_is_count(side) for side in sides):
        return False
    bound = values(unit).resolve(limit)
    if not isinstance(bound, (cst.Name, cst.Attribute)) or _WHOLE.search(canonical(bound)):
        return False
    fields = [found for side in sides if (found := subscript(values(unit).resolve(side))) is not None]
    names = {key for _, key in fields}
    return len(fields) == 2 and len(names) == 1 and not _WHOLE.search(str(*names))


def _is_float_difference(unit: Unit, node: cst.BaseExpression, limit: cst.BaseExpression) -> bool:
    resolved = values(unit).resolve(node)
    sides = difference(resolved) or gap(unit, resolved)
    if sides is None or any(_is_count(side) for side in sides):
        return False
    bound = values(unit).resolve(limit)
    factors = (bound.left, bound.right) if isinstance(bound, cst.BinaryOperation) else (bound,)
    if any(isinstance(literal(factor), float) for factor in factors):
        return True
    if _is_whole(unit, limit):
        return False
    if _LIMIT.search(last_name(limit)):
        return True
    return any(_FLOATS.search(name.value) for name in walk(resolved) if isinstance(name, cst.Name))


def _is_whole(unit: Unit, limit: cst.BaseExpression) -> bool:
    """Whether a bound is a parameter that is a whole number by its annotation or its default, or is called a
    number of things: `size_threshold: int = 100`."""
    if _WHOLE.search(last_name(limit)):
        return True
    if not isinstance(limit, cst.Name) or not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = unit.tree.args
    positional = [*arguments.posonlyargs, *arguments.args]
    given = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    given |= {
        arg: default
        for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default
    }
    for arg in (*positional, *arguments.kwonlyargs):
        if arg.arg == limit.value:
            default = given.get(arg)
            whole = isinstance(default, ast.Constant) and type(default.value) is int and default.value > 0
            return whole or (isinstance(arg.annotation, ast.Name) and arg.annotation.id == "int")
    return False


def _is_count(node: cst.BaseExpression) -> bool:
    calls = [last_name(part) for part in walk(node) if isinstance(part, cst.Call)]
    return any(name in ("len", "count", "time", "perf_counter", "monotonic", "numel") for name in calls)


def _greatest(unit: Unit) -> Iterator[Found]:
    """Checks of a figure for which NaN is dropped: Python's `max`, `nanmax`, a running maximum."""
    for part in quantified(unit):
        call = unit.parent(part.node)
        call = unit.parent(call) if isinstance(call, cst.Arg) else call
        if (
            not isinstance(call, cst.Call)
            or dotted(call.func) != "max"
            or isinstance(part.node, cst.DictComp)
        ):
            continue
        if difference(_plain(part.node.elt)) is not None:
            yield _shown(unit, part.check), call, "Python's `max` drops a NaN that does not come first"
    lesser = ((call, sides[:1]) for call, sides in _asserted_less(unit))
    for expression, ordered_sides in (*_orderings(unit), *lesser):
        for call in _figures(unit, ordered_sides):
            if last_name(call) in ("nanmax", "nanmean", "nanmedian") and call.args:
                if difference(values(unit).resolve(call.args[0].value)) is not None:
                    yield expression, call, f"`{last_name(call)}` leaves NaN out"
            elif (ordered := _of_named(unit, call)) is not None:
                says = f"Python's `{ordered}` drops a NaN that does not come first"
                yield expression, call, says if ordered != "sorted" else "`sorted` puts a NaN anywhere"
            elif _keeps_greatest(unit, call):
                yield expression, call, _KEEPS
            elif (made := callee(unit, call)) is not None and made is not unit and _returns_greatest(made):
                who = f"`max` in `{made.name}`" if made.calls("max") else f"`{made.name}`"
                yield expression, call, _KEEPS.replace("`max`", who)


_KEEPS = "`max` keeps the greatest so far when the new difference is NaN"


def _of_named(unit: Unit, call: cst.Call) -> str | None:
    """`max`, `min` or `sorted` where one takes the greatest or least of a list of differences that has a name
    and a bound that is no whole number; else None."""
    name = dotted(call.func)
    positional = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if name not in ("max", "min", "sorted") or len(positional) != 1 or type(positional[0]) is not cst.Name:
        return None
    if name == "sorted" and not _takes_end(unit, call):
        return None
    parts = _parts(unit, positional[0])
    sides = [pair for part in parts if (pair := difference(_made(unit, part))) is not None]
    if not sides or any(_is_count(side) for pair in sides for side in pair):
        return None
    return name if _bounded_by_float(unit, call, positional[0]) else None


def _parts(unit: Unit, named: cst.Name) -> list[cst.BaseExpression]:
    """What the items of a list are made of, where it is made, or as it is filled in a loop."""
    listed = values(unit).resolve(named)
    if isinstance(listed, (cst.ListComp, cst.GeneratorExp)):
        return [listed.elt]
    if isinstance(listed, (cst.List, cst.Tuple)) and listed.elements:
        return [element.value for element in listed.elements]
    made = [binding.value for binding in values(unit).reaching(named)]
    if not made or not all(isinstance(one, cst.List) and not one.elements for one in made):
        return []
    filled = [
        call.args[0].value
        for call in unit.find(cst.Call)
        if isinstance(call.func, cst.Attribute) and same(call.func.value, named)
        if call.func.attr.value == "append" and len(call.args) == 1
    ]
    return [part for part in filled if not _is_held(unit, part)]


def _is_held(unit: Unit, part: cst.BaseExpression) -> bool:
    """Whether a check that NaN fails is on each item before it goes into the list."""
    item = canonical(_made(unit, part))
    return any(
        check.condition is not None
        and any(
            isinstance(below, (cst.Name, cst.Call)) and canonical(_made(unit, below)) == item
            for below in walk(check.condition)
        )
        and not lets_nan_pass(unit, check)
        for check in checks(unit)
    )


def _takes_end(unit: Unit, call: cst.Call) -> bool:
    """Whether the last of what a call returns is taken."""
    above = unit.parent(call)
    found = subscript(above) if isinstance(above, cst.Subscript) else None
    return found is not None and found[1] == -1


def _bounded_by_float(unit: Unit, call: cst.Call, listed: cst.Name) -> bool:
    """Whether no bound that a figure is put to is a whole number, unless it is named as one of floats."""
    if _FLOATS.search(listed.value):
        return True
    flow = values(unit)
    held = unit.parent(call)
    named = held.targets[0].target if isinstance(held, cst.Assign) else None
    for sides in (*map(_sides, unit.find(cst.Comparison)), *(found for _, found in _asserted_less(unit))):
        reached = [below for side in sides for below in walk(side)]
        if call in reached or (
            isinstance(named, cst.Name)
            and any(isinstance(one, cst.Name) and flow.resolve(one) is call for one in reached)
        ):
            bounds = [literal(flow.resolve(side)) for side in sides]
            return not any(type(bound) is int for bound in bounds)
    return False


def _keeps_greatest(unit: Unit, call: cst.Call) -> bool:
    return dotted(call.func) == "max" and len(call.args) == 2 and _runs(unit, call)


@once
def _returns_greatest(function: Unit) -> bool:
    """Whether a function returns a running maximum of differences, and looks for no NaN itself."""
    if not (function.calls("max") or function.has(ast.If)) or finite(function):
        return False
    flow = values(function)
    kept = {id(value) for branch in function.find(cst.If) for value in _kept(function, branch)}
    return any(
        id(binding.value) in kept
        or (isinstance(binding.value, cst.Call) and _keeps_greatest(function, binding.value))
        for node in function.find(cst.Return)
        if isinstance(node.value, cst.Name)
        for binding in flow.reaching(node.value)
    )


def _kept(function: Unit, branch: cst.If) -> Iterator[cst.BaseExpression]:
    """The difference of `if gap > widest: widest = gap`."""
    test, body = branch.test, statements(branch.body)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or len(body) != 1:
        return
    one, operator = body[0], test.comparisons[0].operator
    sides = [test.left, test.comparisons[0].comparator]
    if isinstance(operator, (cst.LessThan, cst.LessThanEqual)):
        sides.reverse()
    elif not isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual)):
        return
    gap, widest = sides
    kept = isinstance(one, cst.Assign) and same(one.targets[0].target, widest) and same(one.value, gap)
    if kept and difference(_made(function, gap)) is not None:
        assert isinstance(one, cst.Assign)
        yield one.value


Ordering = tuple[cst.BaseExpression, tuple[cst.BaseExpression, ...]]


def _orderings(unit: Unit) -> Iterator[Ordering]:
    """The expressions that decide, each with the sides of a comparison in it."""
    for expression in deciding(unit):
        for node in walk(expression):
            if isinstance(node, cst.Comparison) and not _requires_equal(node):
                yield expression, _sides(node)


def _asserted_less(unit: Unit) -> Iterator[Ordering]:
    """The calls that assert that something is less than a bound, each with the two in that order."""
    for call in unit.find(cst.Call):
        less = _LESS.get(last_name(call))
        sides = tuple(arg.value for arg in call.args if arg.keyword is None and not arg.star)[:2]
        if less is not None and len(sides) == 2:
            yield call, (sides[less], sides[1 - less])


_LESS = {"assertLess": 0, "assertLessEqual": 0, "assertGreater": 1, "assertGreaterEqual": 1}
"""Which of the two arguments of an assertion is to be the lesser."""


def _sides(node: cst.Comparison) -> tuple[cst.BaseExpression, ...]:
    return (node.left, *(target.comparator for target in node.comparisons))


def _figures(unit: Unit, sides: Sequence[cst.BaseExpression]) -> Iterator[cst.Call]:
    """The calls in an ordering that decides, and those that its names stand for."""
    flow = values(unit)
    for below in (below for side in sides for below in walk(side)):
        if isinstance(below, cst.Call):
            yield below
        elif isinstance(below, cst.Name):
            for binding in flow.reaching(below):
                if isinstance(binding.value, cst.Call) and binding.role == "whole":
                    yield binding.value


def _requires_equal(node: cst.Comparison) -> bool:
    """Whether a figure must be the very value that something else gives: a NaN there fails."""
    sides = _sides(node)
    equal = all(isinstance(target.operator, cst.Equal) for target in node.comparisons)
    return equal and all(literal(side) is UNKNOWN for side in sides)


def _runs(unit: Unit, call: cst.Call) -> bool:
    """Whether a `max` is of a name with itself and a difference: `worst = max(worst, abs(a - b))`."""
    above = unit.parent(call)
    if not isinstance(above, cst.Assign) or not isinstance(above.targets[0].target, cst.Name):
        return False
    name = above.targets[0].target.value
    own = [arg.value for arg in call.args if isinstance(arg.value, cst.Name) and arg.value.value == name]
    others = [arg.value for arg in call.args if arg.value not in own]
    return bool(own) and any(difference(_plain(values(unit).resolve(other))) is not None for other in others)


def _plain(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression without a conversion around it: `abs(a - b)` of `float(abs(a - b))`."""
    while isinstance(node, cst.Call) and dotted(node.func) == "float" and node.args:
        node = node.args[0].value
    return node


def _made(unit: Unit, node: cst.BaseExpression) -> cst.BaseExpression:
    """What an item is made of, by whatever names, without a conversion around it."""
    flow = values(unit)
    return _plain(flow.resolve(_plain(flow.resolve(node))))


def _shown(unit: Unit, check: cst.CSTNode) -> cst.BaseExpression:
    if isinstance(check, cst.Assert):
        return check.test
    for above in unit.ancestors(check):
        if isinstance(above, cst.If):
            return above.test
    value = getattr(check, "value", None)
    assert isinstance(value, cst.BaseExpression)
    return value


def _says_nan(unit: Unit) -> bool:
    """Whether a function names NaN, or lists a value that is missing, which a table of floats has as NaN."""
    texts = (node.value for node in unit.find(cst.SimpleString))
    if any("nan" in text.lower() for text in texts):
        return True
    listed = (one.value for node in unit.find(cst.List, cst.Tuple) for one in node.elements)
    return any(isinstance(one, cst.Name) and one.value == "None" for one in listed)
