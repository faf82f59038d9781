"""A comparison of two sequences that silently leaves out what the longer one has beyond the shorter.

## Why
`zip` stops at the shorter side, and so does a slice to the shorter length. A run that lost its last rows, or
all of them, or that wrote some twice, then equals the baseline as far as the loop looks.

## Instead
`zip(left, right, strict=True)`, or compare the lengths first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from reviewbot.flow.aligned import (
    callers_compare,
    filtered_alike,
    is_tabled_alike,
    kept_by_callers,
    left_by_setup,
    listed_length,
    made_alike,
    of_one_object,
    of_one_walk,
    returned_alike,
    tabled_alike,
    unpacked_by_callers,
)
from reviewbot.flow.alike_by_nature import alike_by_nature
from reviewbot.flow.checks import checks, comparisons
from reviewbot.flow.control import enclosing
from reviewbot.flow.cuts import Cut, cuts, may_cut
from reviewbot.flow.guards import is_strict, length_is_checked, same_length
from reviewbot.flow.judging import in_test_file, judges, may_check
from reviewbot.flow.loaded import loaded_alike
from reviewbot.flow.mappings import compares_keys_alone
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.pairing import (
    hands_in_pairs,
    is_as_long_as_written,
    is_endless,
    is_meant,
    looks_at_two,
)
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import (
    canonical,
    dotted,
    keyword_argument,
    last_name,
    literal,
    root_name,
    same,
    walk,
)
from reviewbot.flow.terms import counted_by, terms
from reviewbot.flow.told_apart import may_differ_in_length
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite, step, written
from reviewbot.model import Certainty

_WEIGHTS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers", "modules", "leaves"})
_PAGE = pattern(r"(?i)(^|_)(page|prefix|head|top|limited|sample|excerpt|subset)(_|$|\d)")
_DEPTH = 4  # names and comprehensions between a side and the model whose weights it lists


class ZipTruncates(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            def test_codes(ctx, codes, some, raw):
                if raw:
                    cells = [ctx.raw(one) for one in codes]
                else:
                    cells = [ctx.value(one) for one in some]
                for cell, code in zip(cells, codes):  # <- here
                    assert cell.value == code
        """),
        Example("""
            def test_rows(run):
                for left, right in zip(run(1), run(2)[1:]):  # <- here
                    assert left == right
        """),
        Example(
            """
            def compare(reference_rows, restored_rows):
                for index, (a, b) in enumerate(zip(reference_rows, restored_rows)):  # <- here
                    if a["token_ids"] != b["token_ids"]:
                        raise AssertionError(index)
            """,
            path="tools/parity.py",
        ),
        Example("""
            def test_all(run, baseline):
                assert all(a == b for a, b in zip(run(1), baseline))  # <- here
        """),
        Example("""
            def test_worst(run, baseline):
                worst = max(abs(a - b) for a, b in zip(run(1), baseline))  # <- here
                assert worst < 1e-3
        """),
        Example("""
            def test_tables(run):
                for given, wanted in zip([1, 2, 3], [4, 5]):  # <- here
                    assert run(given) == wanted
        """),
        Example("""
            import pytest

            @pytest.mark.parametrize("times, rates", [(["0ep", "1ep"], [0.0, 0.1]), (["2ep", "3ep"], [1.0])])
            def test_rates(run, times, rates):
                for time, rate in zip(times, rates):  # <- here
                    assert run(time) == rate
        """),
        # Cases of a table that no case reaches.
        Example("""
            def test_kinds(run, slow):
                for size, kind in zip([1, 2, 3], ["a", "b"]):  # <- here
                    assert run(size, kind) == slow(size, kind)
        """),
        # A measure of how far the two are apart takes both, and is a comparison of them.
        Example("""
            def test_texts(similarity, run, texts):
                for text, decoded in zip(texts, run(1)):  # <- here
                    assert similarity(text, decoded) > 0.9
        """),
        # The differences are noted in the loop, and what becomes of them is decided after it.
        Example(
            """
            def compare_frames(original, replayed):
                failures = []
                for number, (left, right) in enumerate(zip(original, replayed)):  # <- here
                    if left["units"] != right["units"]:
                        failures.append(number)
                return failures

            def check_frames(original, replayed):
                failures = []
                for left, right in zip(original, replayed):  # <- here
                    if left["units"] != right["units"]:
                        failures.append(left)
                assert not failures
            """,
            path="tools/compare_replays.py",
        ),
        Example("""
            def test_shorter(run, baseline):
                rows = run(1)
                for i in range(min(len(rows), len(baseline))):  # <- here
                    assert rows[i] == baseline[i]
        """),
        Example("""
            def test_both_cut(run, baseline):
                rows = run(1)
                n = min(len(rows), len(baseline))
                for left, right in zip(rows[:n], baseline[:n]):  # <- here
                    assert left == right
        """),
        Example("""
            def test_slices(run, baseline):
                rows = run(1)
                n = min(len(rows), len(baseline))  # <- here
                assert rows[:n] == baseline[:n]
        """),
        Example(
            """
            def differences(reference, restored):
                return [i for i, (a, b) in enumerate(zip(reference, restored)) if a != b]

            def test_restored(run):
                bad = [i for i, (a, b) in enumerate(zip(run(1), run(2))) if a != b]  # <- here
                assert not bad
            """
        ),
        # One remark for all places where the same two are cut.
        Example("""
            def test_parsed(parse, words):
                read = parse(list(words))
                assert all(a == b for a, b in zip(read, words))  # <- here
                read = parse(tuple(words))
                assert all(a == b for a, b in zip(read, words))
        """),
        # Both come of `self`, which is no input that holds the two side by side.
        Example("""
            class TestPages:
                def test_pages(self):
                    folder, wanted = self.bind(), self.counts()
                    for page, count in zip(folder.files("page"), wanted):  # <- here
                        words = folder.read(page)
                        assert len(words) == count
        """),
        # A comparer that is written inside of the test.
        Example("""
            def test_sailings(sail):
                def same(left, right):
                    return all(a == b for a, b in zip(left, right))  # <- here
                assert same(sail(), sail(resume=True))
        """),
        Example("""
            def test_sailings(sail):
                def match(left, right):
                    for a, b in zip(left, right):  # <- here
                        if a != b:
                            return False
                    return True
                assert match(sail(), sail(resume=True))
        """),
        Example("""
            def test_sailings(sail, alike):
                def ports_match(one, other):
                    return all(a.port == b.port for a, b in zip(one.values(), other.values()))  # <- here
                assert alike(sail(), sail(resume=True), match=ports_match)
        """),
        # No more of the baseline is looked at than the other has.
        Example("""
            def compare(reference, resumed):
                size = len(resumed)  # <- here
                expected = reference[:size]
                assert expected == resumed
        """),
        Example("""
            from rows import compare_rows

            def test_resumed(reference, resumed):
                for left, right in zip(reference, resumed):  # <- here
                    compare_rows(left, right)
        """),
        # A set of ids does not tell how often each of them is there, and the ids of a third are not theirs.
        Example("""
            def test_stored(store, load, tracks):
                stored = load(store(tracks))
                assert set(tracks.ids) == set(stored.ids)
                for track, again in zip(tracks, stored):  # <- here
                    assert track.length == again.length

            def test_other(store, load, tracks, index):
                stored = load(store(tracks))
                assert list(index.ids) == list(tracks.ids)
                for track, again in zip(tracks, stored):  # <- here
                    assert track.length == again.length
        """),
        # A mapping that is walked gives its keys.
        Example("""
            def test_kept(train, resume):
                kept = train(3).state_dict()
                again = resume(3).state_dict()
                for one, other in zip(kept, again):  # <- here
                    assert one == other

            def same_settings(left: dict, right: dict[str, int]):
                assert len(left) == len(right)
                assert all(one == other for one, other in zip(left, right))  # <- here
        """),
    )
    good = (
        # As long as the other side, whichever branch was taken.
        Example("""
            def test_codes(ctx, codes, raw):
                if raw:
                    cells = [ctx.raw(kind, start) for kind, start, end in codes]
                else:
                    cells = [ctx.value(kind, start) for kind, start, end in codes]
                for cell, code in zip(cells, codes):
                    assert cell.value == code[1]

            def test_either(ctx, codes, raw):
                cells = [ctx.raw(one) for one in codes] if raw else [ctx.value(one) for one in codes]
                for cell, code in zip(cells, codes):
                    assert cell.value == code
        """),
        Example("""
            def test_kept(train, resume):
                kept = train(3).state_dict()
                again = resume(3).state_dict()
                for one, other in zip(kept, again, strict=True):
                    assert one == other
                    assert kept[one] == again[other]

            def test_order(read, write):
                kept = dict(read())
                write(kept)
                again = dict(read())
                assert kept == again
                assert all(one == other for one, other in zip(kept, again))
        """),
        # An id for each item, and all of them are compared.
        Example("""
            def test_stored(store, load, tracks):
                stored = load(store(tracks))
                assert list(tracks.ids) == list(stored.ids)
                for track, again in zip(tracks, stored):
                    assert track.length == again.length
        """),
        # One value walked with itself, which `self-compare` reports, and a result for each that workers get.
        Example("""
            def test_scores(metric, eps):
                score = metric.compute()
                for found, wanted in zip(score, score):
                    for one, other in zip(found, wanted):
                        assert abs(one - other) < eps
        """),
        Example("""
            def test_grids(executor, run, grids):
                passed = executor.map(lambda grid: run(grid), grids)
                for grid, one in zip(grids, passed):
                    assert one == grid.wanted
        """),
        # Both grow by one in each turn, or are made for one number.
        Example("""
            def test_replies(client, cases):
                replies = []
                wanted = []
                for case in cases:
                    reply = ""
                    for part in client.ask(case):
                        if part:
                            reply += part
                    replies += [reply]
                    wanted += [case.wanted]
                assert all(reply == one for reply, one in zip(replies, wanted))

            def test_choices(client, number, ends):
                texts = ["" for _ in range(number)]
                reasons = ["" for _ in range(number)]
                for part in client.parts():
                    texts[part.index] += part.text
                    reasons[part.index] = part.reason
                for text, reason in zip(texts, reasons):
                    assert reason in ends and text
        """),
        # What a text begins with is asked; the lengths are compared as well.
        Example("""
            def test_begins(encode, prompt):
                tokens = encode(prompt + " more")
                assert tokens[: len(prompt)] == prompt

            def compare(reference, resumed):
                assert len(reference) == len(resumed)
                assert reference[: len(resumed)] == resumed
        """),
        # It measures how far apart two places are, and compares none.
        Example("""
            def test_ports(sail, reach):
                def dist(x, y):
                    return sum(abs(a - b) for a, b in zip(x, y))
                for here, there in sail():
                    assert dist(here, there) < reach
        """),
        # The function beside it returns as many values as there are names.
        Example("""
            NAMES = ("out", "state")

            def test_kernels(fast, slow):
                def run(kernel):
                    out, state = kernel(1)
                    return out, state

                wanted = run(slow)
                found = run(fast)
                for name, one, other in zip(NAMES, wanted, found):
                    assert one == other, name
        """),
        # As many in each row of a table whose rows say what is what.
        Example("""
            import numpy as np

            class TestCases(TestCase):
                @parameterized.parameters(
                    {"draws": np.array([0.1, 0.4]), "wanted": np.array([0, 1])},
                    dict(draws=[0.1, 0.4, 0.6], wanted=[0, 1, 1]),
                )
                def test_cases(self, draws, wanted):
                    for draw, one in zip(draws, wanted):
                        self.assertEqual(case(draw), one)
        """),
        # Two tables of the module, and the values of a table, that are of one length.
        Example("""
            WANTED = [0.1, 0.2]
            GIVEN = [{"a": 1}, {"a": 2}]

            def test_tables(run):
                for wanted, given in zip(WANTED, GIVEN):
                    assert abs(run(given) - wanted) < 1e-3

            def test_sides(run, axis):
                edges = {"x": ["top", "bottom"], "y": ["left", "right"]}
                shown = (True, False)
                for edge, wanted in zip(edges[axis], shown):
                    assert run(edge) == wanted
        """),
        Example("""
            def test_rows(run, baseline):
                rows = run(1)
                assert len(rows) == len(baseline)
                for left, right in zip(rows, baseline):
                    assert left == right
        """),
        Example("""
            def test_counted_one_by_one(run, baseline):
                rows = run(1)
                assert sum(1 for _ in rows) == sum(1 for _ in baseline)
                for left, right in zip(rows, baseline):
                    assert left == right
        """),
        Example("""
            def test_strict(run, baseline):
                for left, right in zip(run(1), baseline, strict=True):
                    assert left == right
        """),
        Example("""
            def test_derived(model, inputs):
                outputs = [model(x) for x in inputs]
                for x, y in zip(inputs, outputs):
                    assert y.shape == x.shape
        """),
        Example("""
            def test_sorted(run):
                rows = run(1)
                for earlier, later in zip(rows, rows[1:]):
                    assert earlier < later

            def test_offsets(self):
                for earlier, later in zip(self.offsets, self.offsets[1:]):
                    assert earlier < later
        """),
        # A loop outside of tests that compares nothing of the two.
        Example(
            """
            def check_named(names, values):
                for name, value in zip(names, values):
                    if not name:
                        raise TypeError("a name is missing")
                    setattr(names, name, value)
            """,
            path="tests/helpers.py",
        ),
        Example("""
            def test_first_three(run, reference):
                grads, wanted = run(1), reference(1)
                for name, a, b in zip(("q", "k", "v"), grads[:3], wanted[:3]):
                    assert a == b, name
        """),
        Example("""
            import itertools

            def test_endless(run):
                for n, row in zip(itertools.count(), run(1)):
                    assert row.index == n
        """),
        Example("""
            def test_plots(run):
                for row, colour in zip(run(1), run(2)):
                    print(row, colour)
                assert run(3)
        """),
        Example(
            """
            def compare(reference, restored):
                if len(reference) != len(restored):
                    raise AssertionError("rows were lost")
                for a, b in zip(reference, restored):
                    if a != b:
                        raise AssertionError("a row differs")
            """,
            path="tools/parity.py",
        ),
        Example("""
            def first_difference(left, right):
                for index, (a, b) in enumerate(zip(left, right)):
                    if a != b:
                        return index
                return None if len(left) == len(right) else min(len(left), len(right))
        """),
        Example("""
            def test_lengths_in_a_helper(run, same_rows, baseline):
                rows = run(1)
                check_lengths(rows, baseline)
                for left, right in zip(rows, baseline):
                    assert left == right

            def check_lengths(a, b):
                assert len(a) == len(b), "lengths"
        """),
        Example("""
            def test_filled(run, rows):
                expected = []
                for row in rows:
                    expected.append(row * 2)
                for row, wanted in zip(rows, expected):
                    assert run(row) == wanted
        """),
        Example("""
            def assert_trees_equal(actual, desired):
                leaves, structure = flatten(actual)
                wanted, wanted_structure = flatten(desired)
                if structure != wanted_structure:
                    raise AssertionError("structure")
                for x, y in zip(leaves, wanted):
                    assert x == y
        """),
        Example("""
            def test_columns(run):
                table = run(1)
                for left, right in zip(table["passage"], table["negative"]):
                    assert left == right
        """),
        Example("""
            def test_same_mapping(run):
                rows = run(1)
                for name, row in zip(rows.keys(), rows.values()):
                    assert row.name == name
        """),
        # Every caller has compared the lengths before.
        Example(
            """
            def same_lengths(original, replayed):
                if len(original) != len(replayed):
                    raise SystemExit("frame counts differ")

            def compare_frames(original, replayed):
                failures = []
                for left, right in zip(original, replayed):
                    if left["units"] != right["units"]:
                        failures.append(left)
                return failures

            def main(original, replayed):
                same_lengths(original, replayed)
                assert not compare_frames(original, replayed)
            """,
            path="tools/compare_replays.py",
        ),
        # An item for each of the same inputs, by one function of the file; as many in each row of a table.
        Example("""
            import pytest

            def forward(module, inputs):
                outputs = []
                for one in inputs:
                    outputs.append(module(one))
                return outputs

            def test_kernels(slow, fast, inputs):
                for left, right in zip(forward(slow, inputs), forward(fast, inputs)):
                    assert left == right

            @pytest.mark.parametrize("times, rates", [(["0ep", "1ep"], [0.0, 0.1]), (["2ep"], [1.0])])
            def test_rates(run, times, rates):
                for time, rate in zip(times, rates):
                    assert run(time) == rate

            @pytest.mark.parametrize("host, wanted", [("a", ["0", "2", "a"]), ("b", ["1", "2", "b"])])
            def test_environment(run, host, wanted):
                keys = ["RANK", "SIZE", "HOST"]
                found = run(host)
                for key, value in zip(keys, wanted):
                    assert found[key] == value
        """),
        # As many results as there are tasks.
        Example("""
            import asyncio

            async def test_answers(ask):
                tasks = [ask("a"), ask("b")]
                answers = await asyncio.gather(*tasks)
                for answer, wanted in zip(answers, ["A", "B"]):
                    assert answer == wanted
        """),
        # Each branch writes out as many.
        Example("""
            def test_kinds(read, wide):
                if wide:
                    kinds = (int, str)
                else:
                    kinds = (bool, bytes)
                for name, kind in zip(("a", "b"), kinds):
                    assert type(read(name)) is kind
        """),
        # What is drawn as one input; the values only choose which names are looked for.
        Example("""
            def test_left_out(drawn, pack):
                box, given, named = drawn
                packed = pack(box(*given, **named))
                for slot, value in zip(box.slots, given):
                    if slot.usual == value:
                        assert slot.name not in packed
        """),
        # A state of other groups is refused when it is loaded.
        Example("""
            from torch.optim import Adam

            def test_resumed(train, left, right):
                before, after = Adam([left]), Adam([right])
                train(before)
                state = before.state_dict()
                after.load_state_dict(state)
                for group, other in zip(before.param_groups, after.param_groups):
                    for weight, loaded in zip(group["params"], other["params"]):
                        assert before.state[weight] == after.state[loaded]
        """),
        # Factors that are multiplied and added up are not compared; as many steps as there are rows.
        Example("""
            import numpy as np

            def test_mix(mix, solve):
                weights, parts = solve(mix)
                assert mix == sum(weight * part for weight, part in zip(weights, mix.parts))

            def test_spread(spread, rows):
                shifts = np.linspace(0, 1, len(rows))
                for row, shift in zip(rows, shifts):
                    assert spread(row) == row + shift
        """),
        # What functions return is written out: as many values on each side.
        Example(
            """
            from kernels import quantize, quantize_grouped

            def test_quantized(rows):
                for one, other in zip(quantize(rows), quantize_grouped(rows)):
                    assert one == other
            """,
            files={
                "kernels.py": (
                    "def quantize(rows):\n    return rows, max(rows)\n"
                    "def quantize_grouped(rows) -> tuple[list[int], int]:\n    return _each(rows)\n"
                )
            },
        ),
        Example("""
            GIVEN = ("a", "b", "c")
            WANTED = (
                "A",
                "B",
                "C",
            )

            def test_letters(run):
                for given, wanted in zip(GIVEN, WANTED):
                    assert run(given) == wanted
        """),
        # Two inputs, handed in together; what one condition leaves of one list.
        Example("""
            from torch import allclose

            def test_symmetry(score, slow_score, batch):
                given, wanted = batch
                for one, other in zip(given, wanted):
                    one = one + 1
                    result = score(one, other)
                    assert allclose(result, slow_score(one, other))

            def test_other_groups(groups, move, chosen):
                before = [group for n, group in enumerate(groups) if n != chosen]
                move(chosen)
                after = [group for n, group in enumerate(groups) if n != chosen]
                assert all(old.rate == new.rate for old, new in zip(before, after))
        """),
        # A page of so many rows is held against as many of all rows.
        Example("""
            def test_first_page(rows):
                everything = rows()
                page = rows(limit=4)
                assert len(page) == 4
                for one, other in zip(page, everything):
                    assert one == other
        """),
        # What the shorter side leaves out of the expected value makes that value another.
        Example("""
            from pytest import approx

            def test_mean(metric, plain_diff, batch):
                given, wanted = batch
                metric.update(given, wanted)
                total = 0
                for one, other in zip(given, wanted):
                    total += plain_diff(one, other)
                assert metric.compute() == approx(total / len(wanted))
        """),
        # A list that is written out and changed item by item.
        Example("""
            def test_seats(ferry):
                free = [4, 2]
                sold = [0, 0]
                for deck, seat in ferry.sales():
                    assert seat.deck == deck
                    sold[deck] += 1
                assert all(one == other for one, other in zip(free, sold))
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return (
            unit.calls("zip", "min", "len")
            and unit.has(ast.For, ast.comprehension, ast.Slice)
            and may_cut(unit)
            and may_check(unit)
            and judges(unit)
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        found: dict[int, Cut] = {}
        keyed: set[int] = set()
        for cut in cuts(unit):
            if id(cut.call) not in keyed and compares_keys_alone(unit, cut):
                keyed.add(id(cut.call))
                yield self._keys_alone(unit, repo, cut)
            if id(cut.call) in keyed:
                continue
            if id(cut.call) not in found and _may_differ(unit, cut, repo) and not _is_page(unit, cut):
                found[id(cut.call)] = cut
        alike: dict[Certainty, list[Cut]] = {}
        for cut in found.values():
            certainty = _certainty(unit, cut)
            if certainty == "proved":
                yield self._report(unit, repo, certainty, cut)
            else:
                alike.setdefault(certainty, []).append(cut)
        for certainty, group in alike.items():
            yield self._report(unit, repo, certainty, *group)

    def _keys_alone(self, unit: Unit, repo: Repo, cut: Cut) -> Finding:
        left, right = (f"`{_short(unit, side)}`" for side in cut.sides)
        return self.finding(
            unit,
            cut.call,
            f"a walk over {left} and {right}, two mappings, gives their keys: what stands under them is never"
            " compared",
            certainty="likely",
            steps=(step(unit, cut.check, "this check compares one key with the other"),),
            still_catches=still_catches(
                unit, *cut.sides, but=(cut.check, cut.loop), fault="length", repo=repo
            ),
        )

    def _report(self, unit: Unit, repo: Repo, certainty: Certainty, cut: Cut, *again: Cut) -> Finding:
        """One remark for all that a unit walks so, and one for each of which the lengths are known."""
        every = (cut, *again)
        return self.finding(
            unit,
            cut.call,
            _question(unit, cut, again)
            if certainty == "question"
            else _message(unit, cut) + _times(len(again)),
            certainty=certainty,
            steps=(
                step(unit, cut.check, "this check never sees what lies beyond the shorter side"),
                *(step(unit, other.call, "nor does this one") for other in again),
            ),
            still_catches=still_catches(
                unit,
                *cut.sides,
                but=[node for one in every for node in (one.check, one.loop)],
                fault="length",
                repo=repo,
            ),
            fix=_strict_all(unit, repo, every),
        )


def _question(unit: Unit, cut: Cut, again: Sequence[Cut]) -> str:
    sides = " and ".join(f"`{_short(unit, side)}`" for side in cut.sides)
    how = "`zip`" if dotted(cut.call.func) == "zip" else "the walk"
    if (least := _least(unit, cut)) is not None:
        return (
            f"{sides}{_times(len(again))} are cut to the shorter of the two by `{_short(unit, least)}`, and"
            " nothing compares their lengths: is each always as long as the other?"
        )
    reason = alike_by_nature(unit, cut)
    return (
        f"{how} stops at the shorter of {sides}{_times(len(again))}, and nothing compares their lengths"
        f"{'; ' + reason if reason else ''}: is each always as long as the other?"
    )


def _message(unit: Unit, cut: Cut) -> str:
    sides = " and ".join(f"`{_short(unit, side)}`" for side in cut.sides)
    how = "`zip`" if dotted(cut.call.func) == "zip" else "the walk"
    sizes = [_written_sizes(unit, side) for side in cut.sides]
    if _are_unequal(unit, cut) and all(len(size) == 1 for size in sizes):
        counts = [min(size) for size in sizes]
        has = "nothing" if 0 in counts else f"only the first {min(counts)} of each"
        told = "stops at the shorter one, and they hold " + " and ".join(map(str, counts))
        return f"of {sides} {has} is ever looked at: {how} {told}"
    if (least := _least(unit, cut)) is not None:
        return (
            f"{sides} are cut to the shorter of the two by `{_short(unit, least)}`: the rest of the longer"
            " one is never looked at, and nothing compares their lengths"
        )
    return (
        f"the rest of the longer of {sides} is never looked at: {how} stops at the shorter one, and nothing"
        " compares their lengths"
    )


def _least(unit: Unit, cut: Cut) -> cst.BaseExpression | None:
    """Where both sides are cut to one length before they are walked, the smaller of two: `a[:n]`, `b[:n]`."""
    uppers = [_upper(side) for side in cut.sides]
    first = uppers[0]
    if first is None or not all(upper is not None and same(upper, first) for upper in uppers):
        return None
    made = values(unit).resolve(first)
    return first if isinstance(made, cst.Call) and last_name(made) in ("min", "minimum") else None


def _upper(side: cst.BaseExpression) -> cst.BaseExpression | None:
    if type(side) is not cst.Subscript or len(side.slice) != 1:
        return None
    cut = side.slice[0].slice
    return cut.upper if type(cut) is cst.Slice and cut.lower is None else None


def _is_page(unit: Unit, cut: Cut) -> bool:
    """Whether one side is a page by its name, of which a check says how long it is: the other has more."""
    for side in cut.sides:
        if isinstance(side, cst.Name) and _PAGE.search(side.value):
            for one in comparisons(unit):
                for counted, number in ((one.left, one.right), (one.right, one.left)):
                    if not isinstance(counted, cst.Call) or dotted(counted.func) != "len" or not counted.args:
                        continue
                    if same(counted.args[0].value, side) and isinstance(literal(number), int):
                        return True
    return False


def _times(more: int) -> str:
    return f", here and in {more} more place{'s' if more > 1 else ''}" if more else ""


def _strict_all(unit: Unit, repo: Repo, every: Sequence[Cut]) -> Fix | None:
    if any(_least(unit, cut) is not None for cut in every):
        return None  # what is as long as the other already loses nothing to `zip`
    fixes = [_strict(unit, repo, cut.call) for cut in every]
    edits = tuple(edit for fix in fixes if fix is not None for edit in fix.edits)
    # Two on one line would each write it anew.
    if None in fixes or len({edit.line for edit in edits}) < len(edits):
        return fixes[0]
    return Fix("let zip refuse sides of unequal length", edits, safe=True)


def _may_differ(unit: Unit, cut: Cut, repo: Repo) -> bool:
    if len(cut.sides) < 2 or is_strict(cut.call) or any(map(is_endless, cut.sides)):
        return False
    first = cut.sides[0]
    if not unit.is_test and not looks_at_two(unit, cut):
        return False
    lengths = {_length(unit, side) for side in cut.sides}
    if len(lengths) == 1 and None not in lengths:
        return False
    if all(same_length(unit, _around(cut), first, other) for other in cut.sides[1:]):
        return False
    if _chosen_by(unit, cut) or made_alike(unit, cut.sides) or tabled_alike(unit, cut.sides) is True:
        return False
    if filtered_alike(unit, cut.sides) or (hands_in_pairs(unit, cut) and not _are_unequal(unit, cut)):
        return False
    if of_one_walk(unit, cut.sides):
        return False
    if callers_compare(unit, cut.sides) or all(loaded_alike(unit, first, other) for other in cut.sides[1:]):
        return False
    return not of_one_object(unit, cut.sides) and not returned_alike(unit, cut.sides, repo)


def _length(unit: Unit, side: cst.BaseExpression) -> int | None:
    known = listed_length(unit, side)
    written = _written_sizes(unit, side) if known is None else set()
    return written.pop() if len(written) == 1 else known


def _around(cut: Cut) -> cst.CSTNode:
    return cut.loop if isinstance(cut.loop, (cst.For, cst.GeneratorExp, cst.ListComp)) else cut.call


def _are_unequal(unit: Unit, cut: Cut) -> bool:
    """Whether the sides are written out, and not as long as each other."""
    sizes = [_written_sizes(unit, side) for side in cut.sides]
    return all(sizes) and len(set.union(*sizes)) > 1


def _written_sizes(unit: Unit, side: cst.BaseExpression) -> set[int]:
    """How many items a side is written to have."""
    return {int(size[1:]) for size in terms(unit).sizes(side) if size.startswith("#") and size[1:].isdigit()}


def _certainty(unit: Unit, cut: Cut) -> Certainty:
    if _are_unequal(unit, cut):
        return "proved"
    pinned = any(
        length_is_checked(unit, _around(cut), one) for side in cut.sides for one in _wholes(unit, side)
    )
    weights = all(_listed(unit, side) in _WEIGHTS for side in cut.sides)
    weights = weights or _are_groups(unit, cut)
    # `zip(range(n), rows)` takes n of them on purpose.
    ranged = any(isinstance(side, cst.Call) and dotted(side.func) == "range" for side in cut.sides)
    aside = pinned or weights or ranged or is_meant(unit, cut) or _of_one_call(unit, cut)
    aside = aside or _is_waited_for(unit, cut) or _of_one_form(unit, cut) or _is_counted_off(unit, cut)
    aside = aside or all(is_as_long_as_written(unit, side) for side in cut.sides)
    aside = aside or unpacked_by_callers(unit, cut.sides) or kept_by_callers(unit, cut.sides)
    aside = aside or left_by_setup(unit, cut.sides) or _is_all_but_last(unit, cut)
    aside = aside or _is_lenient(cut.call) or _are_drained(unit, cut) or _never_runs(unit)
    aside = aside or not may_differ_in_length(unit, cut) or alike_by_nature(unit, cut) != ""
    aside = aside or _is_left(unit, cut) or _are_items_of_a_walk(unit, cut)
    aside = aside or (not in_test_file(unit.file.path) and _bounds_an_index(unit, cut))
    return "question" if aside else "likely"


def _is_left(unit: Unit, cut: Cut) -> bool:
    """Whether the walk stops of itself somewhere, `if done: break`: it is not meant to reach every item."""
    return isinstance(cut.loop, cst.For) and any(
        isinstance(below, cst.Break) and enclosing(unit, below, cst.For, cst.While) is cut.loop
        for below in walk(cut.loop.body)
    )


def _are_items_of_a_walk(unit: Unit, cut: Cut) -> bool:
    """Whether each side is an item of a walk in step around this one, or a part of such an item: `for a, b in
    zip(rows, wanted): for x, y in zip(a, b)`. Rows of one kind have as many fields."""
    for above in unit.ancestors(cut.loop):
        if isinstance(above, cst.For) and isinstance(above.iter, cst.Call) and len(above.iter.args) > 1:
            bound = {name.value for name in _names(above.target)}
            if all(root_name(side) in bound for side in cut.sides):
                return True
    return False


def _is_counted_off(unit: Unit, cut: Cut) -> bool:
    """Whether a check says by how much the counts of the sides differ: `text.count(NEWLINE) + 1 ==
    shown.count(NEWLINE)` before their lines are walked."""
    sides = {root_name(side) for side in cut.sides}
    for one in comparisons(unit):
        counted = [counted_by(_without_addend(side)) for side in (one.left, one.right)]
        if one.relation == "equal" and sides == {root_name(side) for side in counted if side is not None}:
            return True
    return False


def _without_addend(side: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(side, cst.BinaryOperation) and isinstance(literal(side.right), int):
        return side.left if isinstance(side.operator, (cst.Add, cst.Subtract)) else side
    return side


def _never_runs(unit: Unit) -> bool:
    """Whether a test is skipped always: `@pytest.mark.skip`, `@unittest.skip("slow")`."""
    if not isinstance(unit.node, cst.FunctionDef):
        return False
    return any(last_name(one.decorator) == "skip" for one in unit.node.decorators)


def _are_groups(unit: Unit, cut: Cut) -> bool:
    """Whether the sides are the groups of optimizers, or those of one beside what a helper is told to expect:
    an optimizer has as many as it was given. The weights of a group are another matter."""
    of = [last_name(side) == "param_groups" for side in cut.sides]
    if unit.is_test or not any(of):
        return all(of)
    flow = values(unit)
    told = [
        isinstance(side, cst.Name) and {one.kind for one in flow.reaching(side)} == {"parameter"}
        for side in cut.sides
    ]
    return all(one or other for one, other in zip(of, told, strict=True))


def _is_all_but_last(unit: Unit, cut: Cut) -> bool:
    """Whether one side is all but the last of what has a fixed number of items, as a check of that last one
    says: `micro[-1] is None` beside `zip(micro[:-1], wanted)`, of which a table writes out every row."""
    tabled = [side for side in cut.sides if is_tabled_alike(unit, side)]
    cuts_off = [side for side in cut.sides if side not in tabled]
    last = {canonical(side).replace("[:-1]", "[-1]") for side in cuts_off if _leaves_out_last(side)}
    asked = {canonical(side) for one in comparisons(unit) for side in (one.left, one.right)}
    return bool(tabled) and len(last) == len(cuts_off) and last <= asked


def _leaves_out_last(side: cst.BaseExpression) -> bool:
    place = side.slice[0].slice if isinstance(side, cst.Subscript) else None
    if not isinstance(place, cst.Slice) or place.lower is not None or place.step is not None:
        return False
    return place.upper is not None and literal(place.upper) == -1


def _is_lenient(call: cst.Call) -> bool:
    """`strict=False`, as it is written where somebody was asked to decide."""
    strict = keyword_argument(call, "strict")
    return strict is not None and literal(strict) is False


def _are_drained(unit: Unit, cut: Cut) -> bool:
    """Whether each side is an iterator that is asked for its next item after the walk."""
    asked = {canonical(c.args[0].value) for c in unit.find(cst.Call) if dotted(c.func) == "next" and c.args}
    return {canonical(side) for side in cut.sides} <= asked


def _bounds_an_index(unit: Unit, cut: Cut) -> bool:
    """Whether a program refuses an index that is too large, `if place >= len(words): raise`, and so compares
    nothing."""
    above = next((one for one in unit.ancestors(cut.check) if isinstance(one, cst.If)), None)
    test = above.test if above is not None else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    target = test.comparisons[0]
    ordered = isinstance(target.operator, (cst.GreaterThanEqual, cst.GreaterThan, cst.LessThan))
    sides = (test.left, target.comparator)
    return ordered and sum(isinstance(s, cst.Call) and dotted(s.func) == "len" for s in sides) == 1


def _chosen_by(unit: Unit, cut: Cut) -> bool:
    """Whether both sides were unpacked from one parameter, the test's input, and no check of the loop looks
    at more than one of them: the other only chooses what is checked."""
    loop, flow = cut.loop, values(unit)
    target = loop.target if isinstance(loop, cst.For) else None
    if not isinstance(loop, cst.For) or not isinstance(target, cst.Tuple) or loop.iter is not cut.call:
        return False
    made_of = [{b.name for b in flow.slice(side) if b.kind == "parameter"} for side in cut.sides]
    if len(set(map(frozenset, made_of))) != 1 or len(made_of[0]) != 1 or made_of[0] <= {"self", "cls"}:
        return False
    names = [{name.value for name in _names(element.value)} for element in target.elements]
    inside = {id(below) for below in walk(loop.body)}
    for check in checks(unit):
        if id(check.node) in inside:
            read = {name.value for name in flow.reads(check.condition or check.node)}
            if sum(1 for side in names if side & read) > 1:
                return False
    return True


def _names(node: cst.CSTNode) -> list[cst.Name]:
    return [below for below in walk(node) if isinstance(below, cst.Name)]


def _of_one_form(unit: Unit, cut: Cut) -> bool:
    """Whether a check demands that what both sides are taken from is alike in form: `a.mode == b.mode` before
    `zip(a.split(), b.split())`, `a.shape == b.shape` before `zip(a.flat, b.flat)`."""
    made = [side.func if isinstance(side, cst.Call) else side for side in cut.sides]
    taken = {dotted(one.value): last_name(one) for one in made if isinstance(one, cst.Attribute)}
    if len(taken) < 2 or len(set(taken.values())) > 1:
        return False
    called = all(isinstance(side, cst.Call) for side in cut.sides)
    for one in comparisons(unit):
        if isinstance(one.left, cst.Attribute) and isinstance(one.right, cst.Attribute):
            if not called and one.left.attr.value not in ("shape", "size"):
                continue
            held = {dotted(one.left.value), dotted(one.right.value)}
            if held == set(taken) and one.left.attr.value == one.right.attr.value:
                return True
    return False


def _is_waited_for(unit: Unit, cut: Cut) -> bool:
    """Whether something waits until a side has grown, `wait_until(lambda: len(events) >= wanted)`, or both
    are asked for one more, which must not be there."""
    sides = {canonical(side) for side in cut.sides}
    asked = {
        canonical(call.args[0].value)
        for call in unit.find(cst.Call)
        if dotted(call.func) == "next" and len(call.args) == 1
    }
    if sides <= asked and any(name.value == "StopIteration" for name in unit.find(cst.Name)):
        return True
    return any(
        isinstance(below, cst.Call)
        and dotted(below.func) == "len"
        and canonical(below.args[0].value) in sides
        and isinstance(unit.parent(below), cst.Comparison)
        for node in unit.find(cst.Lambda)
        for below in walk(node.body)
        if unit.index.rank(node) < unit.index.rank(cut.call)
    )


def _of_one_call(unit: Unit, cut: Cut) -> bool:
    """Whether the sides were unpacked from one call or comprehension, as `rows, columns = line(0, 9)` are:
    one is not what the other should be. A call that is made again of the same gives as many again."""
    flow = values(unit)
    bound = [flow.reaching(side) if isinstance(side, cst.Name) else frozenset() for side in cut.sides]
    made = [one.value for each in bound for one in each if one.role == "part" and len(each) == 1]
    same_call = len(made) == len(cut.sides) and all(
        isinstance(one, (cst.Call, cst.GeneratorExp, cst.ListComp)) for one in made
    )
    return same_call and len({canonical(one) for one in made}) == 1


def _wholes(unit: Unit, side: cst.BaseExpression) -> list[cst.BaseExpression]:
    """A side, and what it is a slice of: who counts the one has seen how long the other is."""
    found = [side]
    made = values(unit).resolve(side)
    if isinstance(made, cst.Subscript):
        side = made
    while isinstance(side, cst.Subscript) and isinstance(side.slice[0].slice, cst.Slice):
        side = side.value
        found.append(side)
    return found


def _listed(unit: Unit, node: cst.BaseExpression) -> str:
    """The last name of what is called, under `list(...)` and its like, names and what leaves some out."""
    for _ in range(_DEPTH):
        if isinstance(node, cst.Name) and _is_read_again(unit, node):
            return ""
        node = values(unit).resolve(node)
        if isinstance(node, cst.Call) and dotted(node.func) in ("list", "tuple", "sorted") and node.args:
            node = node.args[0].value
        elif isinstance(node, (cst.ListComp, cst.GeneratorExp)) and not _asks_for_gradient(node):
            node = node.for_in.iter
        else:
            break
    return last_name(node) if isinstance(node, cst.Call) else ""


def _is_read_again(unit: Unit, node: cst.Name) -> bool:
    """Whether a name was read before: what hands out weights one by one has none left the second time."""
    flow, rank = values(unit), unit.index.rank
    made = flow.resolve(node)
    lists = isinstance(made, cst.Call) and last_name(made) in _WEIGHTS
    return lists and any(
        read.value == node.value and rank(read) < rank(node) and flow.reaching(read) == flow.reaching(node)
        for read in flow.reads(unit.node)
    )


def _asks_for_gradient(node: cst.ListComp | cst.GeneratorExp) -> bool:
    """Whether only weights with a gradient are left: how many those are is what training decides."""
    asked = [below for one in node.for_in.ifs for below in walk(one.test)]
    return any(isinstance(below, cst.Attribute) and below.attr.value == "grad" for below in asked)


def _strict(unit: Unit, repo: Repo, call: cst.Call) -> Fix | None:
    python = repo.requires_python
    if dotted(call.func) != "zip" or python is None or python < (3, 10):
        return None
    text = written(unit, call)[:-1]
    inside = text.rstrip()
    closing, last = text[len(inside) :], inside.splitlines()[-1]
    if "#" in last:
        return None
    inside = inside.rstrip(",")
    if closing:  # the bracket stands on a line of its own, and so does each argument
        indent = last[: len(last) - len(last.lstrip())]
        text = f"{inside},\n{indent}strict=True,{closing})"
    else:
        text = f"{inside}, strict=True)"
    return Fix("let zip refuse sides of unequal length", (rewrite(unit, call, text),), safe=True)


def _short(unit: Unit, node: cst.CSTNode) -> str:
    text = " ".join(unit.text(node).split())
    return text if len(text) <= 40 else text[:39] + "…"
