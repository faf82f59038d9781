"""What is expected is made from what came out.

The expected value is a copy of the result, the result was given the expected value just before, or it is
written to the file of what is expected where that is missing, where it differs, or in every run.

## Why
The two sides are equal by construction. The code under test may compute anything. A golden file that a test
makes for itself passes on every machine that has none.

## Instead
Write the expected value down, or compute it on another way, before the code under test runs. Write golden
files on request only (`--update-golden`), and fail where one is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from reviewbot.flow.carried import VOLATILE, Carried, carried, may_carry
from reviewbot.flow.checks import Comparison, checks, comparisons
from reviewbot.flow.goldens import Golden, goldens, may_write_golden
from reviewbot.flow.judging import BASELINE
from reviewbot.flow.left_out import short
from reviewbot.flow.may_judge import compares_named
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.renewed_goldens import may_renew_by_default, renewed, renews_by_default
from reviewbot.flow.suspects import compares_two, is_comparer
from reviewbot.flow.syntax import canonical, dotted, last_name, root_name, same
from reviewbot.flow.values import UNBOUND, values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, root_of, step, tree_span, tree_step

_COPIES = frozenset(
    {"copy", "deepcopy", "clone", "list", "dict", "tuple", "set", "sorted", "array", "asarray", "tensor"}
)
_LOSING = frozenset({"set", "sorted"})
_COPYING_METHODS = frozenset({"copy", "clone", "deepcopy", "detach", "tolist", "numpy", "cpu", "model_copy"})
# Tests of copying and of setting themselves.
_ON_PURPOSE = pattern(
    r"(?i)equals?(_|$)|identical|cop(y|ies)|clon|pickl|serial|round|set_?item|set_?attr|assign|setter|property|iter|convert|"
    r"conversion|(^|_)(eq|set|update|insert|put|write|store|add)(_|$)|as_?type|constructor|init"
)
_CHECKS = pattern(r"(?i)(^|[_.])(check|assert|compare|verify|match)")
_EXPECTED = BASELINE - {"first", "before", "original", "orig", "old", "left", "control", "source", "base"}


class ExpectedFromActual(Rule):
    kinds = ("function", "method", "module")
    bad = (
        # Written where it differs, or unless somebody says no; the golden file of a fresh folder.
        Example("""
            import filecmp
            import json
            import shutil
            from pathlib import Path

            GOLDEN = Path(__file__).parent / "golden" / "menu.html"

            def test_menu(render):
                menu = render("menu")
                golden = GOLDEN.read_text()
                if menu != golden:  # <- here
                    GOLDEN.write_text(menu)
                assert menu == GOLDEN.read_text()

            def check_snapshot(name, actual):
                path = GOLDEN.with_name(f"{name}.json")
                with open(path) as file:
                    expected = json.load(file)
                if actual != expected:  # <- here
                    print("renewed", name)
                    with open(path, "w") as file:
                        json.dump(actual, file)

            def test_page(render, tmp_path):
                page = tmp_path / "page.html"
                page.write_text(render("page"))
                golden = Path("golden") / "page.html"
                if golden.exists():
                    if not filecmp.cmp(page, golden):  # <- here
                        shutil.copy(page, golden)

            def test_list(render):
                listed = render("list")
                if listed == Path("golden/list.txt").read_text():  # <- here
                    return
                else:
                    Path("golden/list.txt").write_text(listed)

            def test_prices(kitchen, tmp_path):
                golden = tmp_path / "golden_prices.json"
                prices = kitchen.prices()
                if not golden.exists():  # <- here
                    golden.write_text(json.dumps(prices))
                assert json.loads(golden.read_text()) == prices
        """),
        Example(
            """
            import os

            RENEW = os.environ.get("UPDATE_GOLDEN", "1") == "1"  # <- here

            def pytest_addoption(parser):
                parser.addoption("--update-snapshots", action="store_true", default=True)  # <- here
            """,
            path="tests/conftest.py",
        ),
        Example("""
            import copy
            def test_rows(run):
                rows = run(1)
                expected = copy.deepcopy(rows)
                assert rows == expected  # <- here
        """),
        Example("""
            def test_tokens(run):
                rows, other = run(1), run(2)
                expected = [dict(row) for row in rows]
                assert rows == expected  # <- here
                wanted = [*other]
                assert other == wanted  # <- here
        """),
        Example("""
            import torch
            def test_logits(model, x):
                logits = model(x)
                want = logits.detach().clone()
                assert want is not None
                torch.testing.assert_close(logits, want)  # <- here
        """),
        Example("""
            def test_loss(run, expected):
                result = run(1)
                result["loss"] = expected["loss"]
                assert result["loss"] == expected["loss"]  # <- here
        """),
        # A field of the one run is put into the other before the two are compared.
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    right["cargo"] = left["cargo"]
                    assert left == right  # <- here
        """),
        Example("""
            from dataclasses import replace

            def compare_sailings(reference, resumed):
                resumed = replace(resumed, cargo=reference.cargo, crew=reference.crew)
                if resumed != reference:  # <- here
                    raise AssertionError(resumed)
        """),
        Example("""
            def test_resumed(sail):
                whole, resumed = sail(), sail(resume=True)
                resumed.update(cargo=whole["cargo"])
                assert resumed == whole  # <- here
        """),
        Example("""
            def same_sailing(reference, resumed):
                return {**resumed, "cargo": reference["cargo"]} == reference  # <- here
        """),
        Example("""
            import torch

            def test_waves(slow, fast):
                one, two = slow(), fast()
                two[one.isnan()] = one[one.isnan()]
                torch.testing.assert_close(one, two)  # <- here
        """),
        # What is expected is written where it is missing.
        Example("""
            import json
            from pathlib import Path

            import numpy as np

            def test_tokens(engine):
                rows = engine.run()
                path = Path("golden") / "rows.json"
                if not path.exists():  # <- here
                    path.write_text(json.dumps(rows))
                assert json.loads(path.read_text()) == rows

            def test_logits(engine, prompts):
                logits = engine(prompts)
                try:
                    wanted = np.load("golden/logits.npy")
                except FileNotFoundError:  # <- here
                    np.save("golden/logits.npy", logits)
                    wanted = logits
                np.testing.assert_allclose(logits, wanted)
        """),
    )
    good = (
        # It fails all the same, or is told; renewed on request; a program that writes what has changed.
        Example("""
            import os
            from pathlib import Path

            import pytest

            GOLDEN = Path(__file__).parent / "golden" / "menu.html"
            RENEW = os.environ.get("UPDATE_GOLDEN", "0") == "1"

            def test_menu(render):
                menu, golden = render("menu"), GOLDEN.read_text()
                if menu != golden:
                    GOLDEN.write_text(menu)
                assert menu == golden

            def test_refused(render):
                menu = render("menu")
                if menu != GOLDEN.read_text():
                    GOLDEN.write_text(menu)
                    pytest.fail("look at what has changed")

            def test_asked(render):
                menu = render("menu")
                if RENEW:
                    if menu != GOLDEN.read_text():
                        GOLDEN.write_text(menu)
                assert menu == GOLDEN.read_text()

            def test_shown(render):
                menu = render("menu")
                if menu != GOLDEN.read_text():
                    Path("failed").joinpath("menu.html").write_text(menu)
                assert menu == GOLDEN.read_text()

            class TestMenu:
                def test_held(self, render):
                    menu = render("menu")
                    if menu != self.golden:
                        GOLDEN.write_text(menu)
                    assert menu == self.golden

            def update_golden(menu):
                if menu != GOLDEN.read_text():
                    GOLDEN.write_text(menu)
        """),
        # A verdict is kept; a file beside it, of this run or of a download; on request; what is put back.
        Example("""
            import json
            from pathlib import Path

            GOLDEN = Path(__file__).parent / "golden" / "menu.html"

            def test_kept_before(render):
                menu, others = render("menu"), []
                golden = GOLDEN.read_text()
                changed = menu != golden
                if menu != golden:
                    GOLDEN.write_text(menu)
                assert not changed

            def test_kept_of_equal(render):
                menu, same = render("menu"), False
                if menu == GOLDEN.read_text():
                    same = True
                else:
                    GOLDEN.write_text(menu)
                assert same

            def test_fails_after(render):
                menu = render("menu")
                if menu == GOLDEN.read_text():
                    return
                else:
                    GOLDEN.write_text(menu)
                raise AssertionError("look at what has changed")

            def check_said(menu):
                if menu == GOLDEN.read_text():
                    return True
                else:
                    GOLDEN.write_text(menu)

            def test_beside(render, tmp_path):
                menu, golden = render("menu"), "golden/menu.html"
                if menu != GOLDEN.read_text():
                    (tmp_path / GOLDEN.name).write_text(menu)
                    Path(str(GOLDEN) + ".new").write_text(menu)
                    with open(tmp_path / ("actual_" + GOLDEN.name), "w") as file:
                        file.write(menu)
                assert menu == GOLDEN.read_text()

            def test_another_of_one_folder(render, golden_folder):
                menu = render("menu")
                path = golden_folder / "menu.html"
                golden = path.read_text()
                path = golden_folder / "failed.html"
                if menu != golden:
                    path.write_text(menu)
                assert menu == (golden_folder / "menu.html").read_text()

            def check_golden(menu, golden_path, update_golden):
                if not update_golden:
                    assert menu == golden_path.read_text()
                    return
                golden = golden_path.read_text()
                if menu != golden:
                    golden_path.write_text(menu)

            def test_download(fetch):
                baseline = Path("baseline.json").read_text()
                fresh = fetch()
                if fresh != baseline:
                    Path("baseline.json").write_text(fresh)
                assert json.loads(fresh)["open"]

            def test_of_this_run(tmp_path, kitchen):
                path = tmp_path / "reference.txt"
                menu = kitchen.menu()
                if path.read_text() != menu:
                    path.write_text(menu)
                assert kitchen.read(path) == "tea"

            def test_put_back(kitchen):
                reference_path = Path("reference.ini")
                reference = reference_path.read_text()
                kitchen.open(reference_path)
                now = reference_path.read_text()
                if now != reference:
                    reference_path.write_text(reference)
        """),
        # Off unless somebody asks, or said the other way round; a setting of something else.
        Example(
            """
            import os

            RENEW = os.environ.get("UPDATE_GOLDEN", "")
            PLAIN = os.environ.get("FORCE_REFERENCE_KERNELS", "1")
            EVERY = int(os.environ.get("SNAPSHOT_UPDATE_SECONDS", "1"))

            def pytest_addoption(parser):
                parser.addoption("--update-snapshots", action="store_true", default=False)
                parser.addoption("--no-update-snapshots", action="store_false", default=True)
                parser.addoption("--dont-update-golden", dest="renew", action="store_false", default=True)
                parser.addoption("--without-regenerate-golden", action="store_false", default=True)
                parser.addoption("--fail-on-update-golden", action="store_true", default=True)
                parser.addoption("--update-golden", action="store_false", default=True)
                parser.addoption("--update-baseline", dest="ask_first", action="store_true", default=True)
            """,
            path="tests/conftest.py",
        ),
        # Written on request, or refused; what the test made anew; the reference, and not the result.
        Example("""
            import json, os
            import numpy as np
            import pytest

            def test_asked(engine, path, renew):
                rows = engine.run()
                if renew:
                    path.write_text(json.dumps(rows))
                assert json.loads(path.read_text()) == rows

            def test_refused(engine, path):
                rows = engine.run()
                if not path.exists():
                    path.write_text(json.dumps(rows))
                    pytest.fail("look at what was written, and commit it")
                assert json.loads(path.read_text()) == rows

            def test_made_anew(engine, tmp_path):
                path = tmp_path / "rows.npy"
                rows = engine.run()
                if not path.exists():
                    np.save(path, rows)
                assert (np.load(path) == rows).all()

            def test_reference(engine, slow, path):
                wanted = slow.run()
                if not os.path.exists(path):
                    np.save(path, wanted)
                np.testing.assert_allclose(engine.run(), np.load(path))
        """),
        # What differs from run to run; what was compared before; what runs on; a setter.
        Example("""
            def compare(reference, resumed):
                resumed["started"] = reference["started"]
                assert reference == resumed

            def test_cache(cache, before, wanted):
                assert (cache[:, 2] == wanted).all()
                cache[:, 2] = before[:, 2]
                assert (cache == before).all()

            def test_resumed(reference, resumed, sail):
                resumed.port = reference.port
                sail(resumed)
                assert resumed == reference

            def test_port(ship, harbour):
                ship.port = harbour.port
                assert ship.port is harbour.port
        """),
        Example("""
            import copy
            def test_rows(run, rows):
                expected = copy.deepcopy(rows)
                run(rows)
                assert rows == expected
                before = list(rows)
                rows.sort()
                assert rows == before
        """),
        Example("""
            def test_copy(run):
                rows = run(1)
                expected = rows.copy()
                assert rows == expected
        """),
        Example("""
            def test_rows(run, load, dump):
                rows = run(1)
                expected = sorted(rows)
                assert rows == expected
                assert load(dump(rows)) == rows
        """),
        Example("""
            def test_loss(run, expected):
                result = run(1)
                result["loss"] = expected["loss"]
                result.normalize()
                assert result["loss"] == expected["loss"]
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if is_comparer(unit) and (may_renew_by_default(unit) or any(True for _ in renewed(unit))):
            return True
        if not unit.is_function:
            return False
        return _may_be_made(unit) and not _ON_PURPOSE.search(unit.name.rpartition(".")[2])

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if is_comparer(unit):
            yield from self._renewing(unit)
        if not unit.is_function or _ON_PURPOSE.search(unit.name.rpartition(".")[2]):
            return
        told: set[int] = set()
        for comparison in comparisons(unit) if unit.names_any(_is_expected) else ():
            if comparison.relation not in ("equal", "close"):
                continue
            found = _copied(unit, comparison) or _written(unit, comparison)
            if found is not None:
                node, message, says = found
                yield self.finding(
                    unit,
                    comparison.check.anchor,
                    message,
                    certainty="likely",
                    steps=(step(unit, node, says),),
                    still_catches=still_catches(unit, comparison.check.anchor, repo=repo),
                )
                told.add(id(node))
        for golden in goldens(unit) if is_comparer(unit) and may_write_golden(unit) else ():
            yield self._of_golden(unit, golden)
        for group in _carried(unit) if is_comparer(unit) and may_carry(unit) else ():
            if told.isdisjoint(id(one.node) for one in group):
                yield self._of_carried(unit, group)

    def _renewing(self, unit: Unit) -> Iterator[Finding]:
        for one in renewed(unit):
            yield self.finding_at(
                unit,
                tree_span(unit, one.differs),
                f"where `{short(one.actual)}` differs from `{short(one.expected)}`, it takes its place"
                " and nothing fails: whatever comes out becomes what is expected",
                certainty="likely" if unit.is_test or _CHECKS.search(unit.name) else "question",
                steps=(tree_step(unit, one.written, f"`{short(one.actual)}` becomes the expected result"),),
                still_catches=("a change that somebody sees in the files before they are committed",),
            )
        for call, name in renews_by_default(unit):
            yield self.finding_at(
                unit,
                tree_span(unit, call),
                f"`{name}` is on unless somebody turns it off: what is expected is renewed in every run, and"
                " no test fails for it",
                certainty="likely",
                still_catches=("a change that somebody sees in the files before they are committed",),
            )

    def _of_golden(self, unit: Unit, one: Golden) -> Finding:
        return self.finding(
            unit,
            one.absent,
            f"where the file is missing, `{one.what}` is written to it and then compared with itself: the"
            " first run, and one without the file, passes whatever comes out",
            certainty="question" if one.asked else "likely",
            steps=(
                step(unit, one.absent, "the expected result is not there"),
                step(unit, one.written, f"so `{one.what}` becomes the expected result"),
                step(unit, one.judgement.left, "and this compares the two, or is reached the next time only"),
            ),
            still_catches=still_catches(unit, one.judgement.left, but=[one.judgement.node]),
        )

    def _of_carried(self, unit: Unit, group: list[Carried]) -> Finding:
        one, judged = group[0], group[0].judgement
        mine, other = short(unit.text(one.into)), short(unit.text(one.out_of))
        fields = ", ".join(f"`{each.field}`" for each in group if each.field)
        lost = f"a difference in {fields}" if fields else "a difference there"
        copied = all(_is_masked_in_copy(unit, each) for each in group)
        doubt = (
            "; it is a copy, made to leave these places out: is the rest all that may not change?"
            if copied
            else ""
        )
        return self.finding(
            unit,
            _anchor(unit, judged.node),
            f"`{mine}` is given `{other}` before the two are compared, so {lost} cannot be seen{doubt}",
            certainty="likely"
            if any(
                each.named and not _is_explained(unit, each.node) and not _is_masked_in_copy(unit, each)
                for each in group
            )
            else "question",
            steps=(
                *(step(unit, each.node, "one side is given what the other has") for each in group),
                step(unit, judged.left, "and then the two are compared"),
            ),
            still_catches=still_catches(
                unit, one.into, one.out_of, but=[judged.node, judged.left, judged.right]
            ),
        )


def _may_be_made(unit: Unit) -> bool:
    """Whether what a check expects might be made from what it checks, by `ast`."""
    if is_comparer(unit) and may_write_golden(unit):
        return True
    if is_comparer(unit) and may_carry(unit) and compares_two(unit) and compares_named(unit):
        return True
    expected = unit.file.names_that(_is_expected)
    if expected.isdisjoint(unit.facts.names):
        return False
    copied = unit.calls(*_COPIES, *_COPYING_METHODS) or unit.has(ast.ListComp, ast.Starred, ast.Dict)
    copied = copied and not expected.isdisjoint(unit.facts.stored)
    return (copied or any(map(_may_write, unit.asts(ast.Assign)))) and compares_two(unit)


def _is_masked_in_copy(unit: Unit, one: Carried) -> bool:
    """Whether the places, and no field, are filled in a copy that was made here: `left = flat.clone()`. The
    places that may change are taken out on purpose, and what is compared is the rest."""
    made = values(unit).resolve(_root(one.into))
    return not one.field and isinstance(made, cst.Call) and last_name(made) in _COPIES | _COPYING_METHODS


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    return node


def _anchor(unit: Unit, node: cst.CSTNode) -> cst.CSTNode:
    """Where a finding about what is judged at a node belongs."""
    if isinstance(node, cst.If):
        return node.test
    return next((check.anchor for check in checks(unit) if check.node is node), node)


def _carried(unit: Unit) -> list[list[Carried]]:
    """What was given from one side to the other and may be a result, for each comparison."""
    found: dict[int, list[Carried]] = {}
    for one in carried(unit):
        if VOLATILE.search(one.field) or (one.exact and not one.named) or _is_looked_at(unit, one):
            continue
        if one.named or not _is_explained(unit, one.node):
            found.setdefault(id(one.judgement.node), []).append(one)
    return list(found.values())


def _is_looked_at(unit: Unit, one: Carried) -> bool:
    """Whether a check compares what is overwritten before that."""
    rank = unit.index.rank
    return any(
        canonical(one.into) in (canonical(each.left), canonical(each.right))
        for each in comparisons(unit)
        if rank(each.check.node) < rank(one.node)
    )


def _is_explained(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a comment stands beside a statement or in the three lines above it."""
    line = unit.span(node).line
    return any("#" in text for text in unit.file.lines[max(line - 4, 0) : line])


def _copied(unit: Unit, comparison: Comparison) -> tuple[cst.CSTNode, str, str] | None:
    """One side is a name for what is expected, bound to a copy of the other side."""
    flow = values(unit)
    for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if not isinstance(side, cst.Name) or not isinstance(other, cst.Name) or not _is_expected(side.value):
            continue
        reaching = flow.reaching(side)
        if len(reaching) != 1 or UNBOUND in reaching:
            continue
        (binding,) = reaching
        if binding.kind != "assign" or binding.role != "whole" or binding.value is None:
            continue
        source = _original(binding.value)
        if source is None or source.value != other.value or flow.reaching(source) != flow.reaching(other):
            continue
        if not _touched(unit, binding.node, comparison.node, {side.value, other.value}):
            message = f"`{side.value}` is a copy of `{other.value}`, so the two are equal by construction"
            return binding.node, message, "copied from what came out"
    return None


def _original(node: cst.BaseExpression) -> cst.Name | None:
    """What an expression copies without changing it: `rows` of `copy.deepcopy(rows)`, `rows.clone()`."""
    copied = False
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
            if node.func.attr.value not in _COPYING_METHODS:
                return None
            node, copied = node.func.value, True
        elif isinstance(node, cst.Call) and len(node.args) == 1 and last_name(node) in _COPIES:
            if last_name(node) in _LOSING:
                return None
            node, copied = node.args[0].value, True
        elif (inner := _copied_by_items(node)) is not None:
            node, copied = inner, True
        else:
            return node if isinstance(node, cst.Name) and copied else None


def _copied_by_items(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an expression puts together anew of all its items: `[dict(row) for row in rows]`, `[*rows]`."""
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == 1:
        (only,) = node.elements
        return only.value if isinstance(only, cst.StarredElement) else None
    if isinstance(node, cst.Dict) and len(node.elements) == 1:
        return node.elements[0].value if isinstance(node.elements[0], cst.StarredDictElement) else None
    if not isinstance(node, cst.ListComp) or node.for_in.ifs or node.for_in.inner_for_in is not None:
        return None
    element = node.elt
    if isinstance(element, cst.Call) and len(element.args) == 1 and last_name(element) in _COPIES - _LOSING:
        element = element.args[0].value
    elif isinstance(element, cst.Call) and isinstance(element.func, cst.Attribute) and not element.args:
        element = element.func.value if last_name(element) in _COPYING_METHODS else element
    return node.for_in.iter if same(element, node.for_in.target) else None


def _written(unit: Unit, comparison: Comparison) -> tuple[cst.CSTNode, str, str] | None:
    """One side was assigned the other just before."""
    for node in unit.find(cst.Assign):
        target = node.targets[0].target
        if len(node.targets) != 1 or not isinstance(target, (cst.Attribute, cst.Subscript)):
            continue
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if not same(target, side) or not same(node.value, other) or not _rests_on_expected(other):
                continue
            names = {root_name(side), root_name(other)}
            if _same_block(unit, node, comparison.check.node) and not _touched(
                unit, node, comparison.node, names
            ):
                text = unit.text(side)
                return node, f"`{text}` was given the expected value just before", "written into the result"
    return None


def _may_write(node: ast.Assign) -> bool:
    """Whether an assignment may give what is expected to a part of something."""
    if not isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
        return False
    if not isinstance(node.value, (ast.Attribute, ast.Subscript, ast.Name)):
        return False
    root = root_of(node.value)
    return root == "" or _is_expected(root)


def _rests_on_expected(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Attribute, cst.Subscript, cst.Name)) and _is_expected(root_name(node))


@lru_cache(10_000)
def _is_expected(name: str) -> bool:
    return not _EXPECTED.isdisjoint(name.lower().strip("_").split("_"))


def _same_block(unit: Unit, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two statements stand in one block, the first before the second."""
    blocks = [
        next(
            (above for above in unit.ancestors(node) if isinstance(above, (cst.IndentedBlock, cst.Module))),
            None,
        )
        for node in (one, other)
    ]
    return blocks[0] is blocks[1] and unit.index.rank(one) < unit.index.rank(other)


def _touched(unit: Unit, start: cst.CSTNode, end: cst.CSTNode, names: set[str]) -> bool:
    """Whether between two places one of the names is changed, or given to a call that may change it."""
    rank = unit.index.rank
    low, high = rank(start), rank(end)
    flow = values(unit)
    own = {
        id(node)
        for node in unit.find(cst.Assign)
        if any(start is t.target or start is node for t in node.targets)
    }
    for name in names:
        for mutation in flow.mutations(name):
            if low < rank(mutation.node) < high and id(mutation.node) not in own:
                return True
    for call in unit.find(cst.Call):
        if low < rank(call) < high and not _is_copying(call):
            given = {root_name(arg.value) for arg in call.args}
            if isinstance(call.func, cst.Attribute):
                given.add(root_name(call.func))
            if names & given and dotted(call.func) not in ("print", "len", "isinstance", "type"):
                return True
            parent = unit.parent(call)
            if isinstance(parent, cst.Expr) and not last_name(call).startswith("assert"):
                return True
    return False


def _is_copying(call: cst.Call) -> bool:
    return last_name(call) in _COPIES | _COPYING_METHODS or last_name(call).startswith("assert")
