"""Two runs are compared in a part of what they made, and nothing compares the rest.

## Why
`assert set(restored) == set(baseline)` holds where every value differs; so do equal lengths, shapes, sums and
first items, and fields that are taken out of both sides first meet in no check. It looks like a comparison of
two runs, and a real difference in the rest cannot be seen.

## Instead
Compare the values themselves (`assert restored == baseline`, `torch.testing.assert_close`). Where only the
part is meant, say so in the test's name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.checks import comparisons
from reviewbot.flow.judging import compares, may_be_two_sides, says_that_it_judges
from reviewbot.flow.patterns import pattern
from reviewbot.flow.projections import (
    Projected,
    are_listings,
    are_named,
    may_project,
    part,
    projected,
    says_again,
    says_same,
)
from reviewbot.flow.rest_at_callers import rest_at_callers
from reviewbot.flow.suspects import compares_two, is_comparer
from reviewbot.flow.syntax import UNKNOWN, canonical, last_name, literal
from reviewbot.flow.two_runs import are_two_runs
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step

_SEES = {
    "keys": "the keys are",
    "length": "the lengths are",
    "shape": "the shapes are",
    "slice": "the first items are",
    "figure": "one pooled figure is",
    "rounded": "rounded numbers are",
    "case": "the text without its case is",
    "members": "the set of items is",
    "order": "the items in no order are",
    "decoded": "the texts without special tokens are",
}
_WEAK = ("keys", "fields", "members", "order", "decoded")
# A test that says which part it is about.
_ABOUT = {
    "keys": r"key|column|name|field",
    "length": r"len|size|count|number|num|empty|pad",
    "shape": r"shape|dim|size|dtype|batch|broadcast|pad|empty",
    "slice": r"prefix|first|head|begin|start|partial|trunc",
    "figure": r"(?<![a-z])sum|mean|norm|total|average|unit|scale|max|min(?![a-z])",
    "rounded": r"round|approx",
    "case": r"case|lower|upper",
    "fields": r"name|id|key|order|label|field|column|title",
    "members": r"set|member|unique|distinct|name|key|id",
    "order": r"(un|dis|re)order|(any|no|diff\w*|other|ignor\w*|without|regardless\w*)_(\w+_)?order|orderless"
    r"|order\w*_(in|not|does|doesn|is|ignor|agn|irr|free)|sort|shuffle|permut|count|set",
    "decoded": r"decod|detok|special|tokeniz",
    "without": r"without|except|ignor|but",
}


class ProjectionBeforeCompare(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            from engines import run

            def test_engines_agree():
                ours, theirs = run(steps=3), run(steps=3, engine="other")
                assert ours.logprobs.astype(int).tolist() == theirs.logprobs.astype(int).tolist()  # <- here
        """),
        # A helper takes a field out of both; the runs are told apart by what made them.
        Example("""
            def strip(row):
                row = dict(row)
                row.pop("wind")
                return row

            def calm(ship):
                ship.wind = None
                return ship

            def drop(row, *names):
                for name in names:
                    row.pop(name, None)

            def test_rows(straight, resumed):
                for one, other in zip(straight(), resumed(), strict=True):
                    assert strip(one) == strip(other)  # <- here

            def test_ships(straight, resumed):
                assert calm(straight()) == calm(resumed())  # <- here

            def test_crews(straight, resumed):
                one, other = straight(), resumed()
                drop(one, "wind", "crew")
                drop(other, "wind", "crew")
                assert one == other  # <- here

            def test_courses(straight, resumed):
                one, other = straight(), resumed()
                assert sorted(one) == sorted(other)  # <- here
        """),
        Example("""
            def test_restore_matches(train):
                baseline = train(steps=4)
                restored = train(steps=4, resume=2)
                assert baseline.keys() == restored.keys()  # <- here
                assert len(baseline) == len(restored)
        """),
        Example("""
            import torch

            def test_compiled(model, batch):
                eager = model(batch)
                compiled = torch.compile(model)(batch)
                torch.testing.assert_close(eager.sum(), compiled.sum())  # <- here
        """),
        Example("""
            def test_cache(mine, folder):
                first = mine(cache=folder)
                again = mine(cache=folder)

                # Both runs give the same rows.
                assert len(first) == len(again)  # <- here
        """),
        Example(
            """
            def check_rows(baseline, resumed):
                for left, right in zip(baseline["rows"], resumed["rows"], strict=True):
                    expected, actual = left["tokens"], right["tokens"]
                    assert expected[:8] == actual[:8]  # <- here
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            def test_menu(old_menu, new_menu):
                expected = old_menu("monday")
                actual = new_menu("monday")
                assert set(d["name"] for d in expected) == set(d["name"] for d in actual)  # <- here
            """,
            path="tests/test_menu.py",
        ),
        Example(
            """
            def project(row):
                return {"name": row["name"], "price": row["price"]}
            def compare(reference, restored):
                left = [project(r) for r in reference]
                right = [project(r) for r in restored]
                assert left == right  # <- here
            """,
            path="tests/compare_menu.py",
        ),
        Example(
            """
            def compare(reference, restored):
                assert [round(x, 1) for x in reference] == [round(x, 1) for x in restored]  # <- here
            """,
            path="tests/compare_menu.py",
        ),
        # The order, and how often each comes, are not compared; fields are taken out of both sides first.
        Example("""
            def compare(reference, restored):
                assert set(reference) == set(restored)  # <- here
        """),
        Example("""
            def compare(reference, restored):
                if sum(row.price for row in reference) != sum(row.price for row in restored):  # <- here
                    raise AssertionError(restored)
        """),
        Example("""
            def compare(reference, restored):
                for left, right in zip(reference, restored, strict=True):
                    left.pop("price")
                    del right["price"]
                    assert left == right  # <- here
        """),
        Example("""
            LOOSE = ("price", "chef")

            def without(row):
                return {key: value for key, value in row.items() if key not in LOOSE}

            def compare(reference, restored):
                for left, right in zip(reference, restored, strict=True):
                    assert without(left) == without(right)  # <- here
        """),
        Example("""
            from dataclasses import replace

            def compare(reference, restored):
                before = [replace(dish, price=None) for dish in reference]
                assert before == [replace(dish, price=None) for dish in restored]  # <- here
        """),
        Example(
            """
            def compare_masks(a, b):
                assert sum(a["loss_mask"]) == sum(b["loss_mask"])  # <- here

            def compare_tokens(one, other):
                assert one["tokens"][:8] == other["tokens"][:8]  # <- here
            """,
            path="tests/parity.py",
        ),
        Example("""
            def test_tokens(reference, resumed):
                assert sorted(len(r["tokens"]) for r in reference) == sorted(  # <- here
                    len(r["tokens"]) for r in resumed
                )
        """),
        # Put in order in place.
        Example("""
            import numpy as np

            def compare_waves(reference, resumed):
                reference.sort()
                resumed.sort()
                assert reference == resumed  # <- here

            def test_losses(run):
                whole = run(resume=False).losses
                again = run(resume=True).losses
                whole.sort()
                again.sort()
                np.testing.assert_allclose(whole, again)  # <- here
        """),
        # A digest of a part, texts without special tokens, whole numbers, a script's two files.
        Example("""
            import hashlib
            from engines import tokenizer

            def digest(rows):
                return hashlib.sha256(",".join(row["harbour"] for row in rows).encode()).hexdigest()

            def test_ships(sail, resume):
                straight, resumed = sail(), resume()
                assert digest(straight) == digest(resumed)  # <- here

            def test_words(slow, fast):
                expected = tokenizer.batch_decode(slow(), skip_special_tokens=True)
                actual = tokenizer.batch_decode(fast(), skip_special_tokens=True)
                assert expected == actual  # <- here

            def test_rewards(sail, resume):
                one, other = sail(), resume()
                assert one.rewards.astype(int).tolist() == other.rewards.astype(int).tolist()  # <- here

            def test_resumed_order(stream):
                base = [batch.ids for batch in stream()]
                resumed = [batch.ids for batch in stream(resume_at=0)]
                assert sorted(base) == sorted(resumed)  # <- here
        """),
        Example(
            """
            import json
            import sys

            def main():
                a, b = (json.load(open(path)) for path in sys.argv[1:3])
                for part in ("ships", "crews"):
                    if len(a[part]) != len(b[part]):  # <- here
                        sys.exit(f"{part} differ")

            if __name__ == "__main__":
                main()
            """,
            path="tools/compare_ships.py",
        ),
        # What a helper compares as a whole was not made of what it compares in part; nor does its caller.
        Example("""
            def same_sails(left, right, baseline, restored):
                assert len(baseline) == len(restored)  # <- here
                assert left == right

            def test_sails(sail, rig):
                baseline, restored = sail(), sail(resume=True)
                same_sails(rig(1), rig(2), baseline, restored)
                assert baseline is not None
                assert restored is not None
        """),
        # Nobody is known who calls it, or one of two does not compare the rest: it is asked.
        Example("""
            def same_sails(left, right, baseline, restored):
                assert len(baseline) == len(restored)  # <- here
                assert left == right

            def same_crews(baseline, restored):
                assert len(baseline) == len(restored)  # <- here

            def test_crews(sail):
                baseline, restored = sail(), sail(resume=True)
                same_crews(baseline, restored)
                assert baseline == restored

            def test_more_crews(sail):
                baseline, restored = sail(3), sail(3, resume=True)
                same_crews(baseline, restored)
        """),
    )
    good = (
        # A helper's caller has made what is compared as a whole of what is compared in part; the caller
        # compares the rest, also through a function between; one check asks for both.
        Example("""
            def same_rows(left, right, baseline, restored):
                assert len(left) == len(baseline) == len(restored)
                assert left and left == right

            def test_rows(sail):
                baseline, restored = sail(), sail(resume=True)
                left = {(row["day"], row["port"]): row for row in baseline}
                right = {(row["day"], row["port"]): row for row in restored}
                same_rows(left, right, baseline, restored)

            def same_crews(baseline, restored):
                assert baseline.keys() == restored.keys()

            def test_crews(sail):
                baseline, restored = sail(), sail(resume=True)
                same_crews(baseline, restored)
                assert baseline == restored

            def same_logs(days, again, *, baseline, restored):
                same_pages(days, again, baseline, restored)

            def same_pages(days, again, expected, actual):
                assert len(expected) == len(actual)
                for one, other in zip(days, again, strict=True):
                    assert one == other

            def test_logs(sail):
                baseline, restored = sail(), sail(resume=True)
                same_logs(baseline.days, restored.days, baseline=baseline, restored=restored)

            class TestPorts:
                def same_ports(self, left, right, expected, actual):
                    assert set(expected) == set(actual)
                    assert left == right

                def test_ports(self, sail):
                    expected, actual = sail(), sail(resume=True)
                    self.same_ports([d.port for d in expected], [d.port for d in actual], expected, actual)

            def test_same_winds(sail):
                def winds(left, right, baseline, restored):
                    assert len(baseline) == len(restored)
                    assert left == right

                baseline, restored = sail(), sail(resume=True)
                winds([day.wind for day in baseline], [day.wind for day in restored], baseline, restored)

            def same_ships(baseline, restored):
                assert len(baseline) == len(restored) and baseline == restored
        """),
        # The test's name says the field that it is about.
        Example("""
            def test_winds_equal(sail, resume):
                straight = [(day.wind_north, day.wind_east) for day in sail().days]
                resumed = [(day.wind_north, day.wind_east) for day in resume().days]
                assert straight == resumed
        """),
        # A digest of all, entries of a mapping, numbers that are whole, values that a branch writes out.
        Example("""
            import hashlib
            import json

            def digest(rows):
                return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

            def test_ships(sail, resume):
                straight, resumed = sail(), resume()
                assert digest(straight) == digest(resumed)

            def test_entries(sail, resume):
                straight, resumed = sail(), resume()
                assert sorted(straight.items()) == sorted(resumed.items())

            def test_tokens(sail, resume):
                one, other = sail(), resume()
                assert one.tokens.astype(int).tolist() == other.tokens.astype(int).tolist()

            def test_plans(sail):
                rows = sail()
                # One plan for each of the same days.
                plans = [row for row in rows if row.style == "plan"]
                days = [row for row in rows if row.style == "day"]
                assert len(plans) == len(days)

            def test_first(gather, rank, size):
                output = gather(rank)
                expected = [f"{at} read" for at in range(size)]
                assert set(expected) == set(output)

            def test_places(planned, edit):
                original_places = [chart["place"] for chart in planned.charts]
                new_places = [chart["place"] for chart in edit(planned).charts]
                assert new_places == original_places

            def test_files(folder, all_of_them):
                actual = [path.stem for path in folder.iterdir()]
                if all_of_them:
                    expected = ["crew", "cargo"]
                else:
                    expected = ["crew"]
                assert set(expected) == set(actual)
        """),
        # A condition that is no check asks for the rest, and a status tells.
        Example(
            """
            import json
            import sys

            def main():
                one, other = (json.load(open(path)) for path in sys.argv[1:3])
                assert one.keys() == other.keys()
                differing = 0
                for ship in one:
                    if one[ship] != other[ship]:
                        differing += 1
                return 1 if differing else 0

            if __name__ == "__main__":
                sys.exit(main())
            """,
            path="tools/compare_ships.py",
        ),
        # Rows by a key of theirs, names of files, and what is compared before it is put in order.
        Example("""
            import os

            def compare(reference, resumed):
                reference.sort(key=lambda row: row["id"])
                resumed.sort(key=lambda row: row["id"])
                assert reference == resumed

            def compare_files(reference, resumed):
                before, after = os.listdir(reference), os.listdir(resumed)
                before.sort()
                after.sort()
                assert before == after

            def compare_waves(reference, resumed):
                assert reference == resumed
                reference.sort()
                resumed.sort()
                assert reference == resumed
        """),
        # The shape of what the test fills; two fields of one object.
        Example("""
            import torch

            def test_sails_give_the_same_shape(hull):
                actual = hull(torch.rand(2, 8))
                expected = torch.rand(2, 4)
                assert actual.shape == expected.shape

            def test_one_each_and_the_same(parse):
                expected, actual = parse("north"), parse("<north>")
                assert len(expected) == len(actual) == 1

            def test_fleets_are_equal(train):
                fleet = train()
                assert len(fleet.old_ships) == len(fleet.new_captains)
        """),
        # What differs from run to run is taken out; what is taken out is compared before.
        Example("""
            def compare(reference, restored):
                for left, right in zip(reference, restored, strict=True):
                    left.pop("created_at")
                    right.pop("created_at")
                    assert left == right

            def compare_prices(reference, restored):
                for left, right in zip(reference, restored, strict=True):
                    assert left["price"] == right["price"]
                    left.pop("price")
                    right.pop("price")
                    assert left == right
        """),
        # Names of files of two kinds: those are not to be the same.
        Example("""
            def check_library(shelf):
                \"\"\"Whether the covers match the books.\"\"\"
                books = shelf.list_files(pattern="*.txt")
                covers = shelf.list_files(pattern="*.png")
                assert len(books) == len(covers)
        """),
        # The rest is compared as well, here or in a helper.
        Example("""
            def test_restore_matches(train):
                baseline = train(steps=4)
                restored = train(steps=4, resume=2)
                assert baseline.keys() == restored.keys()
                for name in baseline:
                    assert baseline[name] == restored[name]

            def test_compiled_matches(model, fast, batch):
                eager, compiled = model(batch), fast(batch)
                assert eager.shape == compiled.shape
                compare_rows(eager, compiled)
        """),
        # A value that is written out, the part that the name is about, two inputs, and no two runs.
        Example("""
            import torch

            def test_kernel(make):
                actual = make(5)
                expected = torch.ones(1)
                assert actual.sum() == expected.sum()

            def test_shape_is_kept(run, rows):
                before = run(rows)
                after = run(before)
                assert before.shape == after.shape

            def test_padding(encode):
                short = encode("a")
                long = encode("a b c")
                assert len(short) == len(long)

            def test_edited(write):
                before = "def test_a(): assert True"
                after = "def test_b(): assert None"
                assert len(before) == len(after)
                write(before)
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if not is_comparer(unit) or not may_project(unit) or not compares_two(unit):
            return False
        if may_be_two_sides(unit) or compares(unit) or unit.calls("sort") or says_same(unit):
            return True
        return says_that_it_judges(unit.file.path.rpartition("/")[2]) or unit.calls_any(says_again)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in projected(unit) if is_comparer(unit) else ():
            name = unit.name.rpartition(".")[2]
            if re.search(_ABOUT[one.left.kind], name, re.IGNORECASE) or _says_its_fields(name, one):
                continue
            if one.left.kind == "length" and are_listings(unit, one.left.of, one.right.of):
                continue
            if _is_filler(unit, one) or _are_fields_of_one(one) or _is_written(one):
                continue
            rest = rest_at_callers(unit, one, repo)
            if rest == "compared":
                continue
            left, right = canonical(one.left.of), canonical(one.right.of)
            # Keys may be made from what they name.
            told = says_same(unit) or (compares(unit) and are_named(one.left.of, one.right.of))
            sure = told and one.left.kind not in _WEAK and not _is_meant(unit, one)
            sure = sure and not _may_be_of_another_shape(unit, one) and _are_alike(unit, one)
            sure = sure and rest == "open"
            if one.left.kind == "without":
                sure = False
                says = f"`{left}` and `{right}` are compared without {one.left.how}, "
            else:
                says = f"of `{left}` and `{right}` only {_seen(one)}, "
            yield self.finding(
                unit,
                one.comparison.check.anchor,
                f"{says}and nothing compares {'that' if one.left.kind == 'without' else 'the rest'}",
                certainty="likely" if sure else "question",
                steps=[
                    step(unit, one.comparison.left, f"this is what is seen of `{left}`"),
                    step(unit, one.comparison.right, f"and of `{right}`"),
                    *(step(unit, check.anchor, "this check sees a part as well") for check in one.also[:2]),
                ],
                still_catches=(_rest(one),),
            )


def _says_its_fields(name: str, one: Projected) -> bool:
    """Whether a test's name says each field that is compared: `test_versions_equal` of `policy_version`."""
    said = _words(name)
    return one.left.kind == "fields" and all(said & _words(field) for field in one.left.how.split(", "))


def _words(name: str) -> frozenset[str]:
    """The words of a name, in the singular, without short ones."""
    return frozenset(word.removesuffix("s") for word in _WORD.findall(name.lower()) if len(word) > 2)


_WORD = pattern(r"[a-z]+")


def _seen(one: Projected) -> str:
    """Which part is compared, as a clause: fields by their names, all else by how it is taken."""
    kind, how = one.left.kind, one.left.how
    if kind == "fields":
        names = [f"`{name}`" for name in how.split(", ")]
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        return f"{listed} {'is' if len(names) == 1 else 'are'} compared"
    return f"{_SEES[kind]} compared (`{how}`)"


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HOW_MANY = pattern(r"(?i)\b(numbers?|counts?|how many|as many|totals?|amounts?)\b")
# What a comment speaks of that means a part.
_SPOKEN_OF = {
    "length": _HOW_MANY,
    "figure": _HOW_MANY,
    "shape": pattern(r"(?i)\b(shapes?|sizes?|dim(ension)?s?)\b"),
    "keys": pattern(r"(?i)\b(keys|names|columns)\b"),
}


def _is_meant(unit: Unit, one: Projected) -> bool:
    """Whether a comment above a check, in its paragraph, or what the test says of itself, is about the part
    that is compared: how many there are, or their shape."""
    line = unit.span(one.comparison.check.node).line - 1
    said = [ast.get_docstring(unit.tree) or ""] if isinstance(unit.tree, _FUNCTIONS) else []
    while line > unit.line and (text := unit.file.lines[line - 1].strip()):
        if text.startswith("#"):
            said.append(text)
        line -= 1
    about = _SPOKEN_OF.get(one.left.kind)
    return about is not None and any(map(about.search, said))


def _may_be_of_another_shape(unit: Unit, one: Projected) -> bool:
    """Whether one dimension of the two is compared, not the whole shape: `left.shape[0] == right.shape[0]`.
    What goes into a layer and what comes out of it is not to be the same."""
    asked = {id(one.comparison.check.node), *(id(check.node) for check in one.also)}
    seen = [part(unit, other.left) for other in comparisons(unit) if id(other.check.node) in asked]
    return any(of is not None and of.kind == "shape" and "[" in of.how for of in seen)


def _are_alike(unit: Unit, one: Projected) -> bool:
    """Whether two values are two of one kind: one field of two objects, or two runs by their names. What is
    made of one value before and after something is no such pair, and numbers of two things are none."""
    left, right = one.left.of, one.right.of
    if canonical(left) == canonical(right) or one.left.kind in ("shape", "slice", "figure"):
        return False
    if isinstance(left, cst.Attribute) and isinstance(right, cst.Attribute):
        return left.attr.value == right.attr.value
    return are_two_runs(unit, left, right)


_FILLING = pattern(r"(rand|randn|randint|rand_like|randn_like|ones|zeros|empty|full)(_like)?$")


def _is_filler(unit: Unit, one: Projected) -> bool:
    """Whether one of two shapes is that of an array which the test fills with whatever: it says which is
    meant, `out.shape == torch.rand(2, 8).shape`."""
    made = [values(unit).resolve(side.of) for side in (one.left, one.right)]
    filled = [type(node) is cst.Call and _FILLING.match(last_name(node)) is not None for node in made]
    return one.left.kind == "shape" and any(filled)


def _is_written(one: Projected) -> bool:
    """Whether the part is compared with what is written out as well: `len(left) == len(right) == 1`."""
    node = one.comparison.node
    return (
        isinstance(node, cst.Comparison)
        and len(node.comparisons) > 1
        and any(literal(target.comparator) is not UNKNOWN for target in node.comparisons)
    )


def _are_fields_of_one(one: Projected) -> bool:
    """Whether the lengths are those of two fields of one object, which go in step: `fleet.ships` and
    `fleet.captains`."""
    left, right = one.left.of, one.right.of
    return (
        one.left.kind == "length"
        and isinstance(left, cst.Attribute)
        and isinstance(right, cst.Attribute)
        and canonical(left.value) == canonical(right.value)
        and left.attr.value != right.attr.value
    )


def _rest(one: Projected) -> str:
    if one.also:
        return "the other checks of the two see a part as well: nothing compares the values"
    return f"nothing: `{canonical(one.left.of)}` and `{canonical(one.right.of)}` meet in no other check here"
