"""Rows are left out of both sides of a comparison by how they ended, and nothing compares how many are left.

## Why
`[row for row in rows if row.done]` on both sides compares the rows that ended well and no others. Rows that
end badly in both runs are never looked at, and where no row ends well nothing is compared. With a `zip` that
stops at the shorter side, one that ends badly in one run alone shifts all that follow it. So do masks of both
that are applied to both: what one run alone masks, or has as NaN, is compared on neither side.

## Instead
Compare how the rows ended first: `assert [r.done for r in before] == [r.done for r in after]`, and require as
many as there should be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.calls import callee
from reviewbot.flow.checks import checks
from reviewbot.flow.judgements import Judgement
from reviewbot.flow.judging import judges, side
from reviewbot.flow.masked import Masked, OneSided, masked, may_mask, one_sided
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.sides import sides
from reviewbot.flow.suspects import compares_two, may_fail
from reviewbot.flow.syntax import canonical, dotted, walk
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import every_judgement
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, once, step

_LISTS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
# How a row ended, and not what kind of row it is.
_ENDED = pattern(
    r"(?i)(^|[^a-z])(done|finish\w*|complet\w*|ok|okay|status|succe\w+|valid|error\w*|fail\w*|state|reason"
    r"|stopped|alive|ready|converged|isnan|isfinite|isinf|truncated|aborted|skipped|solved)($|[^a-z])"
)


class FilteredOnBothSides(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def test_ports(sail, plan, sea):
                sailed = [ship for ship in sail(sea) if ship.done]  # <- here
                planned = [ship for ship in plan(sea) if ship.done]
                for one, other in zip(sailed, planned, strict=True):
                    assert one.port == other.port

            def test_winds(sail, plan, seas):
                sailed = [wind for wind in map(sail, seas) if wind is not None]  # <- here
                planned = [wind for wind in map(plan, seas) if wind is not None]
                assert sailed == planned

            def test_crews(sail, plan, sea):
                sailed = {s["name"]: s for s in sail(sea) if s["status"] == "ok"}  # <- here
                planned = {s["name"]: s for s in plan(sea) if s["status"] == "ok"}
                assert sailed == planned
        """),
        Example("""
            def completed(rows):
                return [row for row in rows if row["complete"]]

            def test_ports(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                assert completed(sailed) == completed(planned)  # <- here

            def test_crews(sail, plan, sea):
                sailed = list(filter(lambda ship: ship.status == "ok", sail(sea)))  # <- here
                planned = list(filter(lambda ship: ship.status == "ok", plan(sea)))
                assert sailed == planned
        """),
        # Masks of both are applied to both.
        Example("""
            import numpy as np
            import torch

            def test_waves(slow, fast):
                a, b = slow(), fast()
                mask = a.mask & b.mask
                assert torch.equal(a.waves[mask], b.waves[mask])  # <- here

            def test_winds(baseline, resumed):
                both = ~np.isnan(baseline) & ~np.isnan(resumed)
                np.testing.assert_allclose(baseline[both], resumed[both])  # <- here

            def test_sails(baseline, resumed):
                left, right = baseline.sails[baseline.mask], resumed.sails[resumed.mask]
                np.testing.assert_array_equal(left, right)  # <- here
        """),
        # The mask of one of them.
        Example("""
            import numpy as np
            from torch.testing import assert_close

            def test_winds(sail, plan):
                sailed, expected = sail(1), plan(1)
                valid = ~np.isnan(sailed)
                np.testing.assert_allclose(sailed[valid], expected[valid])  # <- here

            def test_waves(sail, other):
                a, b = sail(1), other(1)
                assert_close(a[a.isfinite()], b[a.isfinite()])  # <- here
        """),
    )
    good = (
        # The mask of what is expected, or of both; what is masked is counted, or asked of the other one.
        Example("""
            import numpy as np

            def test_winds(sail, plan):
                sailed, expected = sail(1), plan(1)
                valid = ~np.isnan(expected)
                np.testing.assert_allclose(sailed[valid], expected[valid])

            def test_counted(sail, plan):
                a, b = sail(1), plan(1)
                valid = np.isfinite(a)
                assert valid.sum() == 12
                np.testing.assert_allclose(a[valid], b[valid])

            def test_holes(sail, plan):
                a, b = sail(1), plan(1)
                valid = np.isfinite(a)
                np.testing.assert_array_equal(valid, np.isfinite(b))
                np.testing.assert_allclose(a[valid], b[valid])

            def test_rest(sail, plan):
                a, b = sail(1), plan(1)
                valid = np.isfinite(a)
                assert np.isnan(b[~valid]).all()
                np.testing.assert_allclose(a[valid], b[valid])

            def test_padded(sail, plan, batch):
                a, b = sail(1), plan(1)
                valid = np.isfinite(batch.weights)
                np.testing.assert_allclose(a[valid], b[valid])
        """),
        # The masks are compared, or what they let through is counted; one mask for both.
        Example("""
            import numpy as np
            import torch

            def test_waves(slow, fast):
                a, b = slow(), fast()
                assert torch.equal(a.mask, b.mask)
                mask = a.mask & b.mask
                assert torch.equal(a.waves[mask], b.waves[mask])

            def test_winds(baseline, resumed):
                both = ~np.isnan(baseline) & ~np.isnan(resumed)
                assert both.mean() > 0.99
                np.testing.assert_allclose(baseline[both], resumed[both])

            def test_sails(baseline, resumed, mask):
                np.testing.assert_array_equal(baseline.sails[mask], resumed.sails[mask])

            def test_nan(baseline, resumed):
                np.testing.assert_array_equal(np.isnan(baseline), np.isnan(resumed))
                both = ~np.isnan(baseline) & ~np.isnan(resumed)
                np.testing.assert_allclose(baseline[both], resumed[both])
        """),
        # How they ended is compared, too, or how many there are; a kind of row; one side alone; a key.
        Example("""
            def test_ports(sail, plan, sea):
                before, after = plan(sea), sail(sea)
                assert [ship.done for ship in before] == [ship.done for ship in after]
                sailed = [ship for ship in after if ship.done]
                planned = [ship for ship in before if ship.done]
                assert sailed == planned

            def test_counted(sail, plan, sea):
                sailed = [ship for ship in sail(sea) if ship.done]
                planned = [ship for ship in plan(sea) if ship.done]
                assert len(sailed) == len(planned) == len(sea)
                assert sailed == planned

            def test_kinds(sail, plan, sea):
                sailed = [ship for ship in sail(sea) if ship.kind == "brig"]
                planned = [ship for ship in plan(sea) if ship.kind == "brig"]
                assert sailed == planned

            def test_one_side(sail, plan, sea):
                sailed = [ship for ship in sail(sea) if ship.done]
                assert sailed == plan(sea)

            def test_fields(sail, plan, sea):
                sailed = {key: value for key, value in sail(sea).items() if key != "status"}
                planned = {key: value for key, value in plan(sea).items() if key != "status"}
                assert sailed == planned
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if not judges(unit) or not may_fail(unit) or not compares_two(unit):
            return False
        if may_mask(unit):
            return True
        return _may_filter(unit) > 1 or not _filtering(unit.file).isdisjoint(unit.facts.calls)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        for mask in masked(unit) if may_mask(unit) else ():
            yield self._masked(unit, mask, repo)
        for one_mask in one_sided(unit) if may_mask(unit) else ():
            # Where what is expected is no number there may be nothing to compare with.
            if side(one_mask.of) != "baseline":
                yield self._of_one(unit, one_mask, repo)
        seen: set[int] = set()
        for one in every_judgement(unit):
            pair = None if "len(" in canonical(one.left) else _pair(unit, one)
            if pair is None or id(pair[0].node) in seen:
                continue
            seen.add(id(pair[0].node))
            if _is_asked(unit, one, pair[0]) or sides(unit, [one], up=False) is None:
                continue
            first, other = sorted(pair, key=lambda side: unit.index.rank(side.node))
            yield self.finding(
                unit,
                first.node,
                f"both sides keep only rows of which `{first.asks}` holds: does anything compare how many"
                " they are?",
                certainty="question",
                steps=[
                    step(unit, other.node, "and the same is left out here"),
                    step(unit, one.left, "what is left is compared here"),
                ],
                still_catches=still_catches(unit, one.left, one.right, but=[one.node], repo=repo),
            )

    def _masked(self, unit: Unit, one: Masked, repo: Repo) -> Finding:
        mine, theirs = (" ".join(unit.text(mask).split()) for mask in (one.mine, one.theirs))
        if one.shared:
            says = f"what `{mine}` or `{theirs}` leaves out on one side is compared on neither"
        else:
            says = f"each side is cut by a mask of its own, `{mine}` and `{theirs}`"
        return self.finding(
            unit,
            one.check,
            f"{says}, and nothing compares the two masks",
            certainty="likely" if one.shared else "question",
            steps=[step(unit, one.mine, "the one mask"), step(unit, one.theirs, "and the other")],
            still_catches=still_catches(unit, one.left, one.right, but=[one.check], repo=repo),
        )

    def _of_one(self, unit: Unit, one: OneSided, repo: Repo) -> Finding:
        mask = " ".join(unit.text(one.mask).split())
        return self.finding(
            unit,
            one.check,
            f"`{one.of}` itself says by `{mask}` where it is compared with `{one.beside}`: where it is no"
            " number nothing looks at it",
            certainty="likely" if side(one.beside) == "baseline" else "question",
            steps=[step(unit, one.mask, f"this asks of `{one.of}` alone")],
            still_catches=still_catches(unit, one.left, one.right, but=[one.check], repo=repo),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Filter:
    """`node` keeps the rows of `over` for which `asks` holds; the row stands in `asks` as `row`."""

    node: cst.CSTNode
    asks: str
    over: cst.BaseExpression


def _pair(unit: Unit, one: Judgement) -> tuple[_Filter, _Filter] | None:
    """The filters of one condition through which the two values of a judgement came, one on each side."""
    left, right = (list(_filters(unit, side)) for side in (one.left, one.right))
    for mine in left:
        for other in right:
            apart = mine.node is not other.node and canonical(mine.over) != canonical(other.over)
            if apart and mine.asks == other.asks:
                return mine, other
    return None


def _filters(unit: Unit, side: cst.BaseExpression) -> Iterator[_Filter]:
    """The filters that a value came through."""
    flow = values(unit)
    for node in [side, *(b.value for b in flow.slice(side) if b.value is not None)]:
        for below in walk(node):
            found = _filter(unit, below)
            if found is not None:
                yield found


def _filter(unit: Unit, node: cst.CSTNode) -> _Filter | None:
    if isinstance(node, _LISTS):
        return _of_list(node, node)
    if not isinstance(node, cst.Call):
        return None
    if dotted(node.func) == "filter" and len(node.args) == 2:
        asked, over = node.args[0].value, node.args[1].value
        if not isinstance(asked, cst.Lambda) or len(asked.params.params) != 1:
            return None
        return _made(node, asked.body, asked.params.params[0].name.value, over)
    function = callee(unit, node) if len(node.args) == 1 else None
    returns = function.find(cst.Return) if function is not None and function is not unit else []
    if len(returns) != 1 or not isinstance(returns[0].value, _LISTS):
        return None
    found = _of_list(node, returns[0].value)
    return None if found is None else _Filter(node, found.asks, node.args[0].value)


def _of_list(node: cst.CSTNode, made: cst.BaseComp) -> _Filter | None:
    clause = made.for_in
    if clause.inner_for_in is not None or len(clause.ifs) != 1:
        return None
    target = clause.target
    if not isinstance(target, cst.Name):
        return None
    return _made(node, clause.ifs[0].test, target.value, clause.iter)


def _made(node: cst.CSTNode, test: cst.BaseExpression, row: str, over: cst.BaseExpression) -> _Filter | None:
    """A filter, if it asks how a row ended."""
    asks = _NAMES.sub(lambda word: "row" if word[0] == row else word[0], canonical(test))
    apart = asks.replace("row", "", 1)
    if asks != "row is not None" and ("row" not in asks or not _ENDED.search(apart)):
        return None
    return _Filter(node, asks, over)


_NAMES = pattern(r"(?<![\w.])[A-Za-z_]\w*")


def _is_asked(unit: Unit, one: Judgement, found: _Filter) -> bool:
    """Whether another check asks how the rows ended, or how many are left."""
    words = set(_WORDS.findall(found.asks)) - {"row", "is", "not", "None", "get", "and", "or"}
    held = {b.name for side in (one.left, one.right) for b in values(unit).slice(side) if b.kind == "assign"}
    for check in checks(unit):
        looks_at = check.node if check.condition is None else check.condition
        if check.node is one.node:
            continue
        text = canonical(looks_at)
        if any(f"len({name})" in text for name in held):
            return True
        if words & set(_WORDS.findall(text)):
            return True
    return False


_WORDS = pattern(r"[A-Za-z_]\w*")


@once
def _filtering(file: File) -> frozenset[str]:
    """The functions of a file that could filter by how a row ended."""
    return frozenset(unit.name for unit in file.units if unit.kind == "function" and _may_filter(unit))


@once
def _may_filter(unit: Unit) -> int:
    """How many filters of a unit could ask how a row ended, by `ast`."""
    tests = [node.ifs[0] for node in unit.asts(ast.comprehension) if len(node.ifs) == 1]
    asked = [call.args[0] for call in unit.calls_of(frozenset({"filter"})) if len(call.args) == 2]
    return sum(map(_may_ask, tests)) + sum(
        isinstance(one, ast.Lambda) and _may_ask(one.body) for one in asked
    )


def _may_ask(test: ast.expr) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.IsNot):
            return True
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
        word = node.value if isinstance(node, ast.Constant) else word
        if isinstance(word, str) and _ENDED.search(word):
            return True
    return False
