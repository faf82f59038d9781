"""A difference between two results skips the test, or is only printed or counted, where it should fail.

## Why
`if left != right: pytest.skip(...)` turns the very outcome that the test exists for into a pass. A mismatch
that is printed, logged, counted or put into a list that nothing looks at is read by nobody once the run is
green.

## Instead
Fail on the difference. If some difference is known and tolerated, write down which one, and mark the test as
an expected failure that must fail (`xfail(strict=True)`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

import libcst as cst

from reviewbot.flow.checks import call_of, checks
from reviewbot.flow.control import enclosing, statements
from reviewbot.flow.excuses import is_place
from reviewbot.flow.handed_tallies import Handed, handed_away
from reviewbot.flow.handlers import following
from reviewbot.flow.iteration import parametrized
from reviewbot.flow.judgements import Judgement, compared_in, judged_names, judgements, records
from reviewbot.flow.judging import compares, in_test_file, says_that_it_judges
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.noted import may_note, notes
from reviewbot.flow.patterns import pattern
from reviewbot.flow.raised_warnings import raises_warning
from reviewbot.flow.shown import Shown, may_be_shown_only, shown_only
from reviewbot.flow.sides import says, sides
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.suspects import compares_two, is_comparer, is_named_comparer
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, walk
from reviewbot.flow.tallies import (
    TELLS,
    counting,
    is_only_shown,
    kept_names,
    may_count,
    may_give_verdict,
    may_tally,
    tallied,
    verdicts,
)
from reviewbot.flow.two_calls import are_two_calls, says_apart
from reviewbot.flow.two_runs import says_two_runs
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, step, tree_span

_SKIPS = frozenset({"pytest.skip", "pytest.xfail", "self.skipTest", "unittest.skip", "skip", "xfail"})
Does = Literal["skips the test", "is only reported", "is only counted", "is only worked out"]


class SkipAfterCompare(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            import pytest

            def test_parity(run):
                eager, compiled = run(False), run(True)
                if eager.shape != compiled.shape:  # <- here
                    pytest.skip("shapes differ on this version")
                assert eager.sum() == compiled.sum()
            """
        ),
        Example(
            """
            import torch

            def test_packed(model, batch, packed):
                plain, fast = model(batch), model(packed)
                assert plain.shape == fast.shape
                if not torch.allclose(plain.loss, fast.loss):  # <- here
                    print("WARNING: losses differ", plain.loss, fast.loss)
            """
        ),
        Example(
            """
            def compare(before, after, limit):
                if len(before) != len(after):
                    raise AssertionError("row counts differ")
                for left, right in zip(before, after):
                    if abs(left.loss - right.loss) > limit:  # <- here
                        logger.warning("loss of %s drifted", left.step)
            """,
            path="tools/parity.py",
        ),
        # All that the test does about it.
        Example(
            """
            import warnings

            def test_courses(sail, plan, sea, allowed):
                sailed, planned = sail(sea), plan(sea)
                off = (sailed - planned).norm() / planned.norm()
                if off > allowed:  # <- here
                    warnings.warn(f"off course by {off}")
            """
        ),
        Example(
            """
            import pytest

            def farthest(sailed, planned):
                return abs(sailed - planned).max()

            def test_courses(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                if farthest(sailed, planned) > 0.1:  # <- here
                    pytest.skip("rough sea")
            """
        ),
        # Two calls that no name holds: of two functions, and of one that is told otherwise.
        Example(
            """
            import warnings

            def test_courses(sea):
                off = abs(sail(sea) - plan(sea))
                if off > 1.0:  # <- here
                    warnings.warn(f"off course by {off}")
            """
        ),
        Example(
            """
            import pytest

            def test_charts(draw):
                if draw("north", folded=False) != draw("north", folded=True):  # <- here
                    pytest.skip("charts fold badly here")
            """
        ),
        # Only counted, collected or summed up: nothing asks how many there are.
        Example(
            """
            def test_courses(sail, plan, seas):
                sailed, planned = sail(seas), plan(seas)
                off, lost = 0, []
                for mine, other in zip(sailed, planned, strict=True):
                    if mine.course != other.course:  # <- here
                        off += 1
                    if mine.crew != other.crew:  # <- here
                        lost.append(mine.name)
                        continue
                print(f"{off} courses differ, {len(lost)} crews")

            def test_ports(sail, plan, seas):
                sailed, planned = sail(seas), plan(seas)
                missed = sum(mine != other for mine, other in zip(sailed, planned, strict=True))  # <- here
                print("missed", missed)

            def test_winds(sail, plan, seas):
                sailed, planned = sail(seas), plan(seas)
                same = 0
                for mine, other in zip(sailed, planned, strict=True):
                    if mine == other:  # <- here
                        same += 1
                rate = same / len(planned)
                logger.info("agree: %.2f", rate)
            """
        ),
        Example(
            """
            def compare_courses(before, after):
                off = []
                for one, other in zip(before, after, strict=True):
                    if one.course != other.course:  # <- here
                        off.append(one.name)
                for name in off:
                    print(name, "is off course")
            """,
            path="tools/compare_courses.py",
        ),
        # The one side is only told of; both are then sailed by the charts of the other.
        Example(
            """
            import torch

            def test_courses(sail, plan, Ship, Boat):
                chart, tide = plan(8)
                sketch, swell = Ship().draw(8)
                chart = chart.unsqueeze(0)
                print(f"charts: {chart.shape}, {sketch.shape}")
                print(f"charts differ by {(chart - sketch).abs().max()}")  # <- here
                print(f"tides differ by {(tide - swell).abs().max()}")
                out, wanted = Boat().sail(chart, tide), Ship().sail(chart, tide)
                gap = (out - wanted).abs().max()
                print(f"they end {gap} apart")
                assert torch.allclose(out, wanted), f"{gap}"
            """
        ),
        # Worked out, and read by nothing; a flag; success whatever was found.
        Example(
            """
            def verify_courses(before, after):
                ok = before["course"] == after["course"]  # <- here
                print("courses verified")
                return True

            def compare_crews(before, after):
                ok = True
                for one, other in zip(before, after, strict=True):
                    if one.crew != other.crew:  # <- here
                        ok = False
                print("PASSED")
                return True
            """,
            path="tools/compare_courses.py",
        ),
        # A helper puts it into a list that nothing looks at; it goes into a file.
        Example("""
            def compare_ships(one, other, found):
                for ship in one.keys() | other.keys():
                    if one.get(ship, "not there") != other.get(ship, "nor there"):
                        found.append(ship)

            def test_ships(sail, resume):
                compare_ships(sail(), resume(), [])  # <- here
                assert resume()

            def test_again(sail, resume):
                found = []
                compare_ships(sail(), resume(), found)  # <- here
                print(found)
        """),
        Example("""
            def test_noted(baseline, resumed):
                with open("differences.txt", "w") as notes:
                    for ship in baseline:
                        if baseline[ship] != resumed[ship]:  # <- here
                            notes.write(f"{ship} differs")
        """),
    )
    good = (
        # Compared for its time, or for what it calls.
        Example(
            """
            class TimeCompare:
                def time_compare_courses(self):
                    _ = self.course == self.other_course
            """,
            path="benchmarks/compare_courses.py",
        ),
        # A warning that is an error there.
        Example("""
            import warnings

            def test_courses(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    if sailed != planned:
                        warnings.warn("off course")
        """),
        # It is told which of the two is taken, and it is taken.
        Example(
            """
            class Harbour:
                def verify_comparison(self, ship):
                    pilots = [pilot for pilot in self.pilots if pilot.awake]
                    if ship.deep:
                        sea_pilots = licensed(pilots)
                        if [one.name for one in sea_pilots] != [one.name for one in pilots]:
                            print("asks", [one.name for one in sea_pilots])
                        pilots = sea_pilots
                    votes = 0
                    for pilot in pilots:
                        votes += pilot.rate(ship)
                    if votes > 3:
                        raise ValueError(votes)
                    return votes
            """,
            path="harbour/app.py",
        ),
        # A product that warns which of two it takes; a check that bounds how far two numbers are apart.
        Example(
            """
            import warnings

            class Harbour:
                def validate_consistency(self, plan, given):
                    if not plan.ready:
                        raise ValueError(plan)
                    if plan.course != given:
                        warnings.warn(f"{given} is ignored in favour of {plan.course}")
            """,
            path="harbour/plans.py",
        ),
        Example("""
            def test_compare_harbours(sail, simulate, rows):
                sailed, simulated = len(sail()), len(simulate())
                if sailed != simulated:
                    print(sailed, simulated)
                assert len(rows) >= 0.7 * max(sailed, simulated)
        """),
        # What differs is gathered, and a check demands that there is none.
        Example("""
            def test_moored(harbour):
                off = []
                for boat in harbour:
                    found = any(boat.berth == one.berth for one in harbour.planned)
                    if not found:
                        off.append(boat)
                assert off == []
        """),
        # A helper that prints where two arrays differ, of which the test requires that they do not.
        Example(
            """
            def test_courses(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)

                def _print_error(left, right):
                    for at, (x, y) in enumerate(zip(left.flatten(), right.flatten())):
                        if not close(x, y):
                            print("@{} {} v.s. {}".format(at, x, y))

                if not close(sailed, planned):
                    _print_error(sailed, planned)
                assert close(sailed, planned)
            """
        ),
        Example(
            """
            def verify_courses(before, after):
                ok = before["course"] == after["course"]
                print("equal" if ok else "different")
                return ok

            def compare_crews(before, after):
                ok = True
                for one, other in zip(before, after, strict=True):
                    if one.crew != other.crew:
                        ok = False
                if not ok:
                    return 1
                return 0

            def main(before, after):
                same = verify_courses(before, after)
                print(same)
                raise SystemExit(0 if same else 1)
            """,
            path="tools/compare_courses.py",
        ),
        # The rows that are kept for this are led around the check: that is an excuse, and no count.
        Example("""
            def compare_runs(reference, resumed):
                drifted = {k for k in reference if reference[k]["tokens"][0] != resumed[k]["tokens"][0]}
                for key, row in reference.items():
                    if key in drifted:
                        continue
                    assert row["tokens"] == resumed[key]["tokens"]
        """),
        # Told, and then judged; times.
        Example(
            """
            import time
            import torch

            def test_courses(sail, plan, check_close):
                out, wanted, far = sail(8), plan(8), plan(9)
                print("apart", (out - wanted).abs().max(), (out - far).abs().max())
                check_close(out, far)
                start = time.perf_counter()
                sail(9)
                end = time.perf_counter()
                print("took", end - start)
                torch.testing.assert_close(out, wanted)
            """
        ),
        # Counted, and then judged, returned, handed on or put where the caller looks.
        Example(
            """
            def test_courses(sail, plan, seas, near):
                sailed, planned = sail(seas), plan(seas)
                off, lost, rest, same = 0, [], [], 0
                for mine, other in zip(sailed, planned, strict=True):
                    if mine.course != other.course:
                        off += 1
                    if mine.crew != other.crew:
                        lost.append(mine.name)
                    if mine.cargo != other.cargo:
                        rest.append(mine.name)
                    if mine.port == other.port:
                        same += 1
                print(off, lost, rest)
                share = same / len(planned)
                assert share > 0.9
                assert off == 0
                near(len(lost), 0)
                if rest:
                    raise AssertionError(rest)

            def test_shown_first(sail, plan, seas):
                sailed, planned = sail(seas), plan(seas)
                off = [at for at, (mine, other) in enumerate(zip(sailed, planned)) if mine != other]
                print(off)
                assert sailed == planned

            def run_course(before, after):
                same = before == after
                if not same:
                    off = [a for a, b in zip(before, after) if a != b]
                    print("off", len(off))
                if same:
                    return True, before
                return False, None

            def compare_into(before, after, off):
                for one, other in zip(before, after, strict=True):
                    if one.course != other.course:
                        off.append(one.name)
            """
        ),
        Example(
            """
            import pytest

            @pytest.mark.parametrize("left", [1, 4])
            @pytest.mark.parametrize("right", [1, 3])
            def test_parts(run, left, right):
                if left != right:
                    pytest.xfail("not yet implemented")
                assert run(left).rows == run(right).rows
            """
        ),
        # What a helper fills is looked at, handed on, or read by the helper itself.
        Example(
            """
            def compare_ships(one, other, found):
                for ship in one:
                    if one[ship] != other[ship]:
                        found.append(ship)

            def refuse_ships(one, other, found):
                for ship in one:
                    if one[ship] != other[ship]:
                        found.append(ship)
                if found:
                    raise AssertionError(found)

            def test_ships(sail, resume, report):
                found = []
                compare_ships(sail(), resume(), found)
                assert not found
                handed = []
                compare_ships(sail(), resume(), handed)
                report(handed)
                refuse_ships(sail(), resume(), [])

            def collect(sail, resume):
                found = []
                compare_ships(sail(), resume(), found)
                return found
            """
        ),
        # Said, and then judged.
        Example(
            """
            def compare(before, after):
                failures = []
                for left, right in zip(before, after, strict=True):
                    if left.tokens != right.tokens:
                        print("differs", left.step)
                        failures.append(left.step)
                    if left.loss != right.loss:
                        print(left.loss, right.loss)
                    assert left.loss == right.loss
                assert not failures
            """
        ),
        # A report that judges nothing; what the machine has, and not what the run gave.
        Example(
            """
            import pytest

            def report(before, after):
                for left, right in zip(before, after):
                    if left != right:
                        print(left, right)

            def test_values(run, reference, assert_near):
                out, wanted = run(1), reference(1)
                if (out - wanted).abs().max() > 0.01:
                    print("differs at", (out - wanted).argmax())
                assert_near(out, wanted, "values")

            def test_flash(run, installed_version, needed):
                if installed_version != needed:
                    pytest.skip("another version")
                if run.device_count() != needed:
                    pytest.skip("needs more devices")
                if any(name in run.environ for name in needed) != installed_version:
                    pytest.skip("the environment cannot be changed")
                if run.count("gpu", used=True) != run.size("gpu"):
                    pytest.skip("a device is taken")
                assert run()

            def drawn(charts, names, scale):
                if not set(names).issubset(charts):
                    raise ValueError(names)
                found = {}
                for name in names:
                    chart = charts[name]
                    if chart.shape[1:3] != scale:
                        logger.info("drawn anew: %s", chart.shape)
                        chart = resize(chart, *scale)
                    ink, shade = chart.ink()
                    if ink != scale.ink:
                        logger.warning("another ink: %s", ink)
                        chart, ink = inked(chart, scale.ink)
                    found[name] = chart
                return found

            def test_setting(settings, find, load, path):
                if settings.get("left") != settings.get("right"):
                    pytest.skip("set apart")
                if find(path) == load(path):
                    pytest.skip("nothing to do")
                assert load(path)
            """
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if is_comparer(unit) and handed_away(unit):
            return True
        if not is_comparer(unit) or not compares_two(unit):
            return False
        if may_be_shown_only(unit):
            return True
        return any(_may_do(node.body, unit) or _may_do(node.orelse, unit) for node in unit.asts(ast.If)) or (
            may_count(unit) or may_give_verdict(unit)
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not is_comparer(unit):
            return
        for handed in handed_away(unit):
            yield self._handed(unit, handed)
        for node in unit.find(cst.If):
            for outcome, body in ((True, statements(node.body)), (False, _otherwise(node))):
                does = _does(unit, body)
                if does is None or is_place(node.test) or _is_in_a_display(unit, node):
                    continue
                if any(records(unit, one) & judged_names(unit) for one in body):
                    continue
                if any(raises_warning(unit, call) for call in map(call_of, body) if call is not None):
                    continue
                found = self._told(unit, repo, node, node.test, outcome, body, does)
                if found is not None:
                    yield found
                    break
        for statement, name, asked in counting(unit):
            if not is_only_shown(unit, name):
                continue
            for condition in asked:
                found = self._told(unit, repo, statement, condition, True, [statement], "is only counted")
                if found is not None:
                    yield found
                    break

        shown = list(shown_only(unit)) if may_be_shown_only(unit) else []
        if shown:
            yield self._only_shown(unit, shown)
        for statement, name in verdicts(unit):
            # `_` says that only the comparison itself is wanted, as where it is timed.
            if name.strip("_") and is_only_shown(unit, name) and not _is_gathered(unit, name):
                found = self._told(
                    unit, repo, statement, statement.value, True, [statement], "is only worked out"
                )
                if found is not None:
                    yield found

    def _told(
        self,
        unit: Unit,
        repo: Repo,
        node: cst.CSTNode,
        condition: cst.BaseExpression,
        outcome: bool,
        body: list[cst.CSTNode],
        does: Does,
    ) -> Finding | None:
        judges = bool(checks(unit)) or unit.is_test
        # Elsewhere an assertion only tells a type checker what is known, and a warning is meant for a user.
        sure = judges and (in_test_file(unit.file.path) or compares(unit))
        sure = sure and not any(last_name(one).startswith("warn") for one in map(call_of, body) if one)
        if not judges and (_gives_back(unit) or (does == "is only reported" and not _says_well(unit))):
            return None
        for one in compared_in(unit, node, condition):
            between = sides(unit, [one], up=False)
            what = "difference"
            if does == "is only worked out":
                if between is None and not are_two_calls(unit, one.left, one.right):
                    continue
            elif between is None:
                apart = are_two_calls(unit, one.left, one.right)
                if not apart or not says_apart(unit, condition, outcome, one):
                    continue
            else:
                said = says(unit, condition, outcome, between)
                if said == "equal" and does == "is only counted":
                    what = "match"
                elif said != "different":
                    continue
            if does != "skips the test" and _judged_elsewhere(unit, one, node):
                continue
            if does == "is only reported" and (_warns(unit, body) or _is_bounded(unit, one, node)):
                continue
            if _is_given(unit, one.left) and _is_given(unit, one.right):
                continue  # which cases are run, and no outcome
            if unit.is_test and does == "skips the test" and not _is_of_a_run(unit, one):
                continue  # parts of one case
            if _is_mended(unit, one, body) or _is_taken_after(unit, node, one):
                continue
            left, right = canonical(one.left), canonical(one.right)
            ends = body[-1:] if does == "skips the test" else []
            becomes = "skips the test instead of failing it" if ends else f"{does}, and fails nothing"
            if what == "match":
                becomes = "is only counted, and no check asks how many there are"
            if does == "is only worked out":
                return self._worked_out(unit, repo, node, one)
            happens = (
                "where it goes is at most shown"
                if does == "is only counted"
                else "this is all that happens then"
            )
            return self.finding(
                unit,
                condition,
                f"a {what} between `{left}` and `{right}` {becomes}",
                certainty="likely"
                if sure and what == "difference" and says_two_runs(unit, one.left, one.right)
                else "question",
                steps=[step(unit, body[0], happens)],
                still_catches=still_catches(unit, one.left, one.right, but=[node], ends=ends, repo=repo),
            )
        return None

    def _handed(self, unit: Unit, one: Handed) -> Finding:
        span, put = tree_span(unit, one.call), tree_span(unit, one.put)
        fresh = not isinstance(one.given, ast.Name)
        where = f"a new list, `{one.parameter}`" if fresh else f"`{ast.unparse(one.given)}`"
        return self.finding_at(
            unit,
            span,
            f"`{one.function}` puts what differs into {where}, and nothing looks at that",
            certainty="likely",
            steps=[Step(put.path, put.line, put.end_line, "a difference goes here")],
            still_catches=("nothing here: a difference is put away, and the code goes on",),
        )

    def _only_shown(self, unit: Unit, shown: list[Shown]) -> Finding:
        """All that one test tells in this way is one thing."""
        one = shown[0]
        others = sorted({f"`{it.unread}`" for it in shown} - {f"`{one.unread}`"})
        also = f", nor {', '.join(others)}" if others else ""
        return self.finding(
            unit,
            one.call,
            f"how far `{one.left}` and `{one.right}` are apart is only shown: no check reads"
            f" `{one.unread}`{also}",
            certainty="question",
            steps=[step(unit, it.call, f"tells of `{it.unread}`") for it in shown[:4]],
            still_catches=("nothing here: the test passes however far they are apart",),
        )

    def _worked_out(self, unit: Unit, repo: Repo, node: cst.CSTNode, one: Judgement) -> Finding:
        assert isinstance(node, cst.Assign)
        name = canonical(node.targets[0].target)
        shown = any(read.value == name for read in values(unit).reads(unit.node))
        left, right = canonical(one.left), canonical(one.right)
        return self.finding(
            unit,
            node,
            f"whether `{left}` and `{right}` agree is worked out here, and nothing "
            + ("does more than show it" if shown else f"reads `{name}`"),
            certainty="question" if shown else "likely",
            steps=[step(unit, node, f"`{name}` holds the verdict")],
            still_catches=still_catches(unit, one.left, one.right, but=[node], repo=repo),
        )


_PLAIN = frozenset({
    "len", "int", "str", "float", "bool", "min", "max", "abs", "round", "list", "tuple", "range",
})  # fmt: skip
_SHOWS = pattern(r"(?i)(^|_)(print|show|report|log|dump|debug|display|describe|plot)(_|s?$)")
_ASKS = pattern(r"(?i)(^|_)(check|compare|assert|verify|same|equal|match|test)")


def _is_in_a_display(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a comparison stands in a helper inside of a test that by its name only shows something: what
    differs is printed there, and required elsewhere."""
    function = enclosing(unit, node, cst.FunctionDef)
    if type(function) is not cst.FunctionDef or function is unit.node:
        return False
    name = function.name.value
    return _SHOWS.search(name) is not None and _ASKS.search(name) is None


def _is_given(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value is one of those that `pytest.mark.parametrize` gives."""
    return isinstance(node, cst.Name) and parametrized(unit, node.value) is not None


def _is_of_a_run(unit: Unit, one: Judgement) -> bool:
    """Whether a side is, or is made of, what a call gave: an outcome, and no part of the case alone."""
    flow = values(unit)
    made = [binding.value for side in (one.left, one.right) for binding in flow.slice(side)]
    return any(
        isinstance(below, cst.Call) and dotted(below.func) not in _PLAIN
        for node in (one.left, one.right, *made)
        if node is not None
        for below in walk(node)
    )


def _is_mended(unit: Unit, one: Judgement, body: list[cst.CSTNode]) -> bool:
    """Whether the branch makes one of the two values anew: `chart = redraw(chart, scale)`."""
    compared = {name.value for side in (one.left, one.right) for name in values(unit).reads(side)}
    return any(
        not compared.isdisjoint(records(unit, statement))
        for statement in body
        if isinstance(statement, cst.Assign)
    )


def _is_taken_after(unit: Unit, node: cst.CSTNode, one: Judgement) -> bool:
    """Whether the next statement puts the one in the place of the other, told or not: `pilots = licensed`."""
    after = following(unit, node)
    if not after or not isinstance(after[0], cst.Assign) or not isinstance(after[0].value, cst.Name):
        return False
    stored, taken, flow = records(unit, after[0]), after[0].value.value, values(unit)
    left, right = ({name.value for name in flow.reads(side)} for side in (one.left, one.right))
    return any(stored & to and taken in of and taken not in to for to, of in ((left, right), (right, left)))


def _otherwise(node: cst.If) -> list[cst.CSTNode]:
    return statements(node.orelse) if isinstance(node.orelse, cst.Else) else []


def _does(unit: Unit, body: list[cst.CSTNode]) -> Does | None:
    told = counted = False
    for statement in body:
        if isinstance(statement, cst.Raise) and statement.exc is not None:
            return "skips the test" if last_name(statement.exc) in ("SkipTest", "Skipped") else None
        value = statement.value if isinstance(statement, cst.Return) else None
        call = value if isinstance(value, cst.Call) else call_of(statement)
        if call is not None and dotted(call.func) in _SKIPS:
            return "skips the test"
        if call is not None and (TELLS.match(dotted(call.func)) or notes(unit, call)):
            told = True
        elif tally := tallied(statement):
            if not is_only_shown(unit, tally):
                return None
            counted = True
        elif not isinstance(statement, (cst.Pass, cst.Assign)) and not (
            isinstance(statement, cst.Continue) and counted
        ):
            return None
    return "is only counted" if counted else "is only reported" if told else None


def _may_do(body: list[ast.stmt], unit: Unit) -> bool:
    """The same asked of `ast`, yes too often."""
    told = False
    for statement in body:
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            return True
        value = statement.value if isinstance(statement, (ast.Return, ast.Expr)) else None
        call = value.value if isinstance(value, ast.Await) else value
        if isinstance(call, ast.Call) and not may_tally(statement):
            name = dotted_name(call.func)
            if name in _SKIPS:
                return True
            if TELLS.match(name) is None and not may_note(unit, call):
                return False
            told = True
        elif tally := may_tally(statement):
            if tally in kept_names(unit):
                return False
            told = True
        elif not isinstance(statement, (ast.Pass, ast.Assign, ast.Continue)):
            return False
    return told


def _is_gathered(unit: Unit, name: str) -> bool:
    """Whether what a check reads is filled where a verdict says so: `if not same: off.append(row)`."""
    judged = judged_names(unit)
    return any(
        name in {read.value for read in values(unit).reads(node.test)}
        and any(records(unit, below) & judged for below in statements(node.body))
        for node in unit.find(cst.If)
    )


def _warns(unit: Unit, body: list[cst.CSTNode]) -> bool:
    """Whether the product warns who uses it, and goes on with one of the two."""
    file = unit.file.path
    if in_test_file(file) or says_that_it_judges(file.rpartition("/")[2]):
        return False
    calls = [call for one in body if (call := call_of(one)) is not None]
    return bool(calls) and all(last_name(call).startswith("warn") for call in calls)


def _is_bounded(unit: Unit, one: Judgement, node: cst.CSTNode) -> bool:
    """Whether a check reads the two numbers themselves: `assert len(rows) >= 0.7 * max(here, there)`."""
    if not isinstance(one.left, cst.Name) or not isinstance(one.right, cst.Name):
        return False
    names = {one.left.value, one.right.value}
    for check in checks(unit):
        if check.condition is None or check.node is node:
            continue
        read = {
            below.value
            for below in walk(check.condition)
            if isinstance(below, cst.Name) and not _is_measured(unit, below)
        }
        if names <= read:
            return True
    return False


def _is_measured(unit: Unit, name: cst.Name) -> bool:
    """Whether only a part of a value is read: its shape, or how long it is."""
    above = unit.parent(name)
    if isinstance(above, (cst.Attribute, cst.Subscript)):
        return True
    call = unit.parent(above) if isinstance(above, cst.Arg) else None
    return isinstance(call, cst.Call) and last_name(call) in ("len", "type", "set", "list", "isinstance")


def _judged_elsewhere(unit: Unit, one: Judgement, node: cst.CSTNode) -> bool:
    """Whether another place demands that the same two values, or what they are read from, agree."""
    codes = {canonical(one.left), canonical(one.right)}
    roots = {_root(one.left), _root(one.right)}
    if _handed_to_an_assertion(unit, one):
        return True
    for other in judgements(unit):
        if other.node is node:
            continue
        theirs = {canonical(other.left), canonical(other.right)}
        alike = theirs & codes or {_root(other.left), _root(other.right)} == roots or _whole(unit, one, other)
        if alike and (theirs == codes or not _is_part(other)):
            return True
    return False


def _gives_back(unit: Unit) -> bool:
    """Whether a function returns more than that it is done: it may say what it found in another way."""
    returned = [literal(node.value) for node in unit.find(cst.Return) if node.value is not None]
    if returned and all(value is not UNKNOWN and value in (True, 0, None) for value in returned):
        return len({repr(value) for value in returned}) > 1  # one and the same whatever it found
    return bool(returned)


def _says_well(unit: Unit) -> bool:
    """Whether a function that compares by its name returns that all is well, whatever it found."""
    returned = [literal(node.value) for node in unit.find(cst.Return) if node.value is not None]
    return is_named_comparer(unit) and bool(returned) and returned[-1] is True


def _whole(unit: Unit, one: Judgement, other: Judgement) -> bool:
    """Whether a judgement is about all that the values of another are items or parts of."""
    left, right = ({b.name for b in values(unit).slice(side)} for side in (one.left, one.right))
    apart = _root(other.left), _root(other.right)
    return any(a in left - right and b in right - left for a, b in (apart, apart[::-1]))


def _handed_to_an_assertion(unit: Unit, one: Judgement) -> bool:
    """Whether both values are given to a call that by its name asserts something of them."""
    roots = {_root(one.left), _root(one.right)}
    return any(
        last_name(call).lstrip("_").startswith(("assert", "check", "verify", "validate"))
        and roots <= {_root(arg.value) for arg in call.args}
        for call in unit.find(cst.Call)
    )


def _is_part(one: Judgement) -> bool:
    """Whether a judgement is about a size or a shape alone."""
    left = canonical(one.left)
    return left.endswith(".keys()") or any(
        word in left for word in ("len(", ".shape", ".size", ".dtype", "type(")
    )


def _root(node: cst.BaseExpression) -> str:
    return canonical(node).split(".")[0].split("[")[0]
