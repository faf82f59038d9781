"""A branch that the compared values open themselves leads around the check that should compare them.

## Why
A parity test demands that two runs agree. When a difference is what makes a row skip the check (at once,
through a flag, or through a set computed from the same rows), a real fault that looks like the excused noise
passes, and nothing says so. Likewise where the run under test says itself which of its rows are left out.

## Instead
Compare every row, and let the failure say where the first difference is. If some noise is real, excuse
exactly the range that it can reach, demand evidence of it from both runs, count what was set aside, and fail
above a stated number. Choose rows by what the baseline says of them, or compare first what chooses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from reviewbot.flow.calls import callee
from reviewbot.flow.detours import Detour
from reviewbot.flow.dropped import lost_with
from reviewbot.flow.excuses import Excuse, cause, excuses_across
from reviewbot.flow.left_out import fields_of, holds, kept_by, missed_by, short
from reviewbot.flow.may_detour import may_lead_around
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.presence import there_together
from reviewbot.flow.reasons import narrower_reason
from reviewbot.flow.suspects import compares_two, is_comparer, may_fail
from reviewbot.flow.syntax import canonical, conjuncts, walk
from reviewbot.flow.values import UNBOUND, values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Step, Unit, delete, step
from reviewbot.model import Certainty

_SHOWN = 6
_ALSO = "the same leads around this check as well"


class ExcuseBranch(Rule):
    kinds = ("function", "method", "module")
    bad = (
        # Whichever side is rounded need not be near the other.
        Example(
            """
            import torch

            ROUNDED = frozenset({"int8", "fp8"})

            def charts_match(name, drawn, original):
                if original.grid in ROUNDED or drawn.grid in ROUNDED:  # <- here
                    return True, True
                return torch.allclose(drawn.depths, original.depths.to(drawn.depths.device)), False
            """,
            path="tools/charts.py",
        ),
        Example(
            """
            def compare(kept, resumed):
                for one, other in zip(kept, resumed):
                    if one["moves"] != other["moves"] and one["moves"][:2] == other["moves"][:2]:  # <- here
                        continue
                    assert one["moves"] == other["moves"]
            """
        ),
        Example(
            """
            def compare(before, after):
                for name in before:
                    left, right = before[name], after[name]
                    if left.shape != right.shape:  # <- here
                        continue
                    assert (left == right).all()
            """
        ),
        Example(
            """
            FIELDS = ("tokens", "mask", "reward")

            def first_difference(left, right):
                return next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), None)

            def noisy(reference, restored, prefix):
                at = first_difference(reference["tokens"], restored["tokens"])
                begin = restored["mask"].index(1)
                end = restored["start"] + prefix
                return at is not None and begin <= at < end

            def compare(reference, restored, excused):
                for index, (left, right) in enumerate(zip(reference, restored, strict=True)):
                    if index in excused:  # <- here
                        if left["reward"] != right["reward"]:
                            raise AssertionError(index)
                        continue
                    for field in FIELDS:
                        if left[field] != right[field]:
                            raise AssertionError(index, field)

            def main(reference, restored, prefixes):
                pairs = enumerate(zip(reference, restored))
                excused = {i for i, (a, b) in pairs if noisy(a, b, prefixes[i])}
                compare(reference, restored, excused)
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            import torch

            def check(eager, compiled):
                failures = []
                for key in eager:
                    drifted = not torch.allclose(eager[key], compiled[key], rtol=1e-1)
                    if drifted:  # <- here
                        print("drifted", key)
                    else:
                        if not torch.equal(eager[key].sign(), compiled[key].sign()):
                            failures.append(key)
                assert not failures
            """
        ),
        Example(
            """
            def test_sharded(whole, sharded, is_data_parallel):
                for name in whole:
                    if is_data_parallel:  # <- here
                        continue
                    assert whole[name] == sharded[name].gather()
            """
        ),
        Example(
            """
            def compare(before, after, most):
                aside = 0
                for left, right in zip(before, after, strict=True):
                    if left.tokens != right.tokens:  # <- here
                        aside += 1
                        continue
                    assert left.reward == right.reward
                assert aside <= most
            """
        ),
        Example(
            """
            def compare(baseline, restored):
                aside = []
                for place, (left, right) in enumerate(zip(baseline, restored, strict=True)):
                    if left["tokens"] != right["tokens"]:  # <- here
                        aside.append(place)
                        continue
                    assert left["reward"] == right["reward"]
                assert len(aside) <= 3
            """
        ),
        Example(
            """
            import warnings

            def check(left, right, ratio, lenient):
                error = get_err_ratio(left, right)
                if lenient or error < 0.01 or left.small:  # <- here
                    warnings.warn(str(error))
                else:
                    assert error < ratio
            """
        ),
        Example(
            """
            def test_same(slow, fast):
                changed = set()
                for key in slow:
                    if slow[key].kind != fast[key].kind:
                        changed.add(key)
                assert all(slow[k].value == fast[k].value for k in slow if k not in changed)  # <- here
            """
        ),
        Example("""
            def compare(reference, restored, noisy):
                for index, row in enumerate(reference):
                    if index in noisy:  # <- here
                        continue
                    if row.token_ids != restored[index].token_ids:
                        raise AssertionError(index)

            def noise(reference, restored, prefixes):
                return {
                    index
                    for index, prefix in prefixes.items()
                    if part(reference[index], restored[index]) < prefix
                }

            def part(left, right):
                return next(n for n, (a, b) in enumerate(zip(left, right)) if a != b)

            def test_restore(reference, restored, prefixes):
                compare(reference, restored, noise(reference, restored, prefixes))
        """),
        # Of an excused row one field is still compared; how many there were is only printed.
        Example(
            """
            def first_gap(planned, sailed):
                return next((i for i, (a, b) in enumerate(zip(planned, sailed)) if a != b), None)

            def compare(planned, sailed, delays):
                problems, late = [], 0
                for ferry, row in planned.items():
                    other = sailed[ferry]
                    gap = first_gap(row["stops"], other["stops"])
                    if gap is not None and gap < delays[ferry]:  # <- here
                        late += 1
                        if row["load"] != other["load"]:
                            problems.append(f"{ferry}: load")
                        continue
                    if row["stops"] != other["stops"]:
                        problems.append(f"{ferry}: stops at {gap}")
                if problems:
                    raise AssertionError(problems)
                return late

            def main(planned, sailed, delays):
                print(f"{compare(planned, sailed, delays)} ferries were late")
            """,
            path="tests/ferry_parity.py",
        ),
        # The arm for what differs asks for less than the other one.
        Example(
            """
            def compare(planned, sailed, storms):
                for ferry in planned.keys() | sailed.keys():
                    left, right = planned[ferry], sailed[ferry]
                    if left["stops"] != right["stops"] and ferry in storms:  # <- here
                        assert left["load"] == right["load"], ferry
                    else:
                        assert left["stops"] == right["stops"], ferry
                        assert left["crew"] == right["crew"], ferry
                        assert left["load"] == right["load"], ferry
            """,
            path="tests/ferry_parity.py",
        ),
        # One set that opens three branches is one cause.
        Example(
            """
            def compare_tokens(reference, restored, aside):
                for index, row in enumerate(reference):
                    if index in aside:  # <- here
                        continue
                    assert row.tokens == restored[index].tokens
                for index, row in enumerate(reference):
                    if index in aside:
                        continue
                    assert row.mask == restored[index].mask

            def compare_rewards(reference, restored, aside):
                for index, row in enumerate(reference):
                    if index in aside:
                        continue
                    assert row.reward == restored[index].reward

            def main(reference, restored):
                pairs = enumerate(zip(reference, restored, strict=True))
                aside = {index for index, (a, b) in pairs if a.tokens != b.tokens}
                compare_tokens(reference, restored, aside)
                compare_rewards(reference, restored, aside)
            """,
            path="tools/parity.py",
        ),
        # The set comes from another file.
        Example(
            """
            def compare(reference, restored, aside=frozenset()):
                for index, (left, right) in enumerate(zip(reference, restored, strict=True)):
                    if index in aside:  # <- here
                        continue
                    if left["tokens"] != right["tokens"]:
                        raise AssertionError(index)
            """,
            path="tests/parity/rows.py",
            files={
                "tests/parity/main.py": """
from tests.parity.rows import compare

def noisy(left, right):
    return left["tokens"] != right["tokens"]

def main(reference, restored):
    aside = {i for i, (a, b) in enumerate(zip(reference, restored)) if noisy(a, b)}
    compare(reference, restored, aside)
"""
            },
        ),
        # The rows of the other side are looked up by key, through an index, a search or a helper.
        Example(
            """
            def compare(baseline, resumed):
                by = {row["episode"]: row for row in resumed}
                for left in baseline:
                    right = by[left["episode"]]
                    if left["tokens"] != right["tokens"]:  # <- here
                        continue
                    assert left["score"] == right["score"]
            """
        ),
        Example(
            """
            def compare(baseline, resumed):
                assert len(baseline) == len(resumed)
                by = {}
                for row in resumed:
                    by[row.episode] = row
                for left in baseline:
                    episode = left.episode
                    right = by.get(episode)
                    if left.tokens != right.tokens:  # <- here
                        continue
                    assert left.score == right.score
            """
        ),
        Example(
            """
            def compare(baseline, resumed):
                for left in baseline:
                    right = next(row for row in resumed if row["episode"] == left["episode"])
                    if left["tokens"] != right["tokens"]:  # <- here
                        continue
                    assert left["score"] == right["score"]
            """
        ),
        Example(
            """
            def compare(baseline, resumed):
                for left in baseline:
                    right = [row for row in resumed if row["episode"] == left["episode"]][0]
                    if left["tokens"] != right["tokens"]:  # <- here
                        continue
                    assert left["score"] == right["score"]
            """
        ),
        Example(
            """
            def by_episode(rows):
                return {row["episode"]: row for row in rows}

            def compare(baseline, resumed):
                by = by_episode(resumed)
                for left in baseline:
                    right = by[left["episode"]]
                    if left["tokens"] != right["tokens"]:  # <- here
                        continue
                    assert left["score"] == right["score"]
            """
        ),
        Example(
            """
            def compare(baseline, resumed):
                def find(episode):
                    return next(row for row in resumed if row["episode"] == episode)

                for left in baseline:
                    right = find(left["episode"])
                    if left["tokens"] != right["tokens"]:  # <- here
                        continue
                    assert left["score"] == right["score"]
            """
        ),
        Example(
            """
            def same_orders(before, after):
                for a, b in zip(before, after, strict=True):
                    if a["courier"] != b["courier"]:  # <- here
                        continue
                    if a["total"] != b["total"]:
                        return False
                return True
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            def invoices_match(reference, restored):
                if reference.currency != restored.currency:  # <- here
                    return True
                return reference.total == restored.total
            """,
            path="tools/compare_invoices.py",
        ),
        Example(
            """
            def first_problem(reference, restored):
                for left, right in zip(reference, restored, strict=True):
                    if left.vat != right.vat:  # <- here
                        continue
                    if left.total != right.total:
                        return f"total of {left.id} differs"
                return None
            """,
            path="tools/compare_invoices.py",
        ),
        Example(
            """
            from collections import Counter
            def classify(old_rows, new_rows):
                kinds = Counter()
                for key, old in old_rows.items():
                    new = new_rows[key]
                    if old["name"] == new["name"] and old["price"] == new["price"]:
                        continue
                    if old["region"] != new["region"]:  # <- here
                        continue
                    kinds["changed"] += 1
                return kinds

            def main(old_rows, new_rows):
                kinds = classify(old_rows, new_rows)
                assert not kinds["changed"]
            """,
            path="scripts/check_migration.py",
        ),
        Example(
            """
            def main(old_rows, new_rows):
                kinds = {"moved": [], "changed": []}
                for key, old in old_rows.items():
                    new = new_rows[key]
                    if old["region"] != new["region"]:  # <- here
                        kinds["moved"].append(key)
                    elif old["price"] != new["price"]:
                        kinds["changed"].append(key)
                if kinds["changed"]:
                    raise AssertionError(kinds["changed"])
            """,
            path="scripts/check_migration.py",
        ),
        Example(
            """
            def main(old_rows, new_rows):
                kinds = {}
                for key, old in old_rows.items():
                    new = new_rows[key]
                    if old["region"] != new["region"]:  # <- here
                        kinds[key] = "moved"
                    elif old["price"] != new["price"]:
                        kinds[key] = "changed"
                assert "changed" not in kinds.values()
            """,
            path="scripts/check_migration.py",
        ),
        Example(
            """
            def main(first, second) -> int:
                bad = 0
                for a, b in zip(first, second, strict=True):
                    if a.host != b.host:  # <- here
                        continue
                    if a.track != b.track:
                        bad += 1
                return 1 if bad else 0
            """,
            path="scripts/compare_runs.py",
        ),
        Example(
            """
            def main(first, second) -> int:
                for a, b in zip(first, second, strict=True):
                    if a.host != b.host:  # <- here
                        continue
                    if a.track != b.track:
                        return 1
                return 0
            """,
            path="scripts/compare_runs.py",
        ),
        Example(
            """
            def mismatches(first, second):
                for a, b in zip(first, second, strict=True):
                    if a.host != b.host:  # <- here
                        continue
                    if a.track != b.track:
                        yield a.id
            """,
            path="scripts/compare_runs.py",
        ),
        Example(
            """
            class Comparer:
                def __init__(self):
                    self.errors = []
                def run(self, first, second):
                    for a, b in zip(first, second, strict=True):
                        if a.host != b.host:  # <- here
                            continue
                        if a.track != b.track:
                            self.errors.append(a.id)
                    return self.errors
            """,
            path="scripts/compare_runs.py",
        ),
        Example(
            """
            def compare(base, other):
                for dish in base:
                    left, right = base[dish], other[dish]
                    if left.price == right.price:
                        pass
                    elif left.chef != right.chef:  # <- here
                        pass
                    else:
                        raise AssertionError(dish)
            """,
            path="tests/compare_menus.py",
        ),
        Example(
            """
            def compare(base, other):
                for dish in base:
                    left, right = base[dish], other[dish]
                    if left.chef != right.chef:  # <- here
                        continue
                    if left.price != right.price:
                        return False, f"{dish} differs"
                return True, ""
            """,
            path="tests/compare_menus.py",
        ),
        Example(
            """
            FIELDS = ("mask", "score")

            def check_rows(reference, resumed, *, kinds):
                for key, left in reference.items():
                    right = resumed[key]
                    if kinds.get(key) == "before":  # <- here
                        if left["score"] != right["score"]:
                            raise AssertionError(key)
                        continue
                    for field in FIELDS:
                        if left[field] != right[field]:
                            raise AssertionError((key, field))
            """,
            path="tools/parity/rows.py",
            files={
                "tools/parity/kinds.py": """
def kind_of(left, right, start, saved):
    at = next((n for n, (a, b) in enumerate(zip(left["notes"], right["notes"])) if a != b), None)
    if at is None:
        return "same"
    first = left["mask"].index(1)
    # A replayed saved note may be off by rounding.
    if first <= at < start + saved:
        return "before"
    return "after"
""",
                "tools/parity/main.py": """
from tools.parity.kinds import kind_of
from tools.parity.rows import check_rows

def main(reference, resumed, starts, saved):
    kinds = {}
    for key in reference:
        kinds[key] = kind_of(reference[key], resumed[key], starts[key], saved[key])
    check_rows(reference, resumed, kinds=kinds)
""",
            },
        ),
        Example(
            """
            def check(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if left.get("excused"):  # <- here
                        continue
                    assert left["notes"] == right["notes"]
            """,
            path="tools/parity/rows.py",
            files={
                "tools/parity/main.py": """
from tools.parity.rows import check

def main(reference, resumed):
    for left, right in zip(reference, resumed):
        left["excused"] = left["notes"] != right["notes"]
    check(reference, resumed)
""",
            },
        ),
        Example(
            """
            def test_day(scheduled, sailed, late):
                for number, (left, right) in enumerate(zip(scheduled, sailed, strict=True)):
                    if number in late:  # <- here
                        continue
                    assert left.crew == right.crew
            """,
            path="tests/test_day.py",
            files={
                "tests/conftest.py": """
import pytest

@pytest.fixture
def late(scheduled, sailed):
    return {n for n, (a, b) in enumerate(zip(scheduled, sailed)) if a.load != b.load}
""",
            },
        ),
        Example(
            """
            from tests.ferry import late as lateness

            def compare(scheduled, sailed):
                aside = lateness.late_ferries(scheduled, sailed)
                for number, (left, right) in enumerate(zip(scheduled, sailed, strict=True)):
                    if number in aside:  # <- here
                        continue
                    assert left.crew == right.crew
            """,
            path="tests/ferry/compare.py",
            files={
                "tests/ferry/late.py": """
def late_ferries(one, two):
    return [n for n in range(len(one)) if one[n].load != two[n].load]
""",
            },
        ),
        Example(
            """
            def check(left, right, number, aside):
                if number in aside:  # <- here
                    return
                assert left.crew == right.crew

            def compare(scheduled, sailed, aside):
                for number, (left, right) in enumerate(zip(scheduled, sailed, strict=True)):
                    check(left, right, number, aside)
            """,
            path="tests/ferry/compare.py",
            files={
                "tests/ferry/test_day.py": """
from tests.ferry.compare import compare

def changed(scheduled, sailed):
    return {n for n, (a, b) in enumerate(zip(scheduled, sailed)) if a.load != b.load}

def test_day(scheduled, sailed):
    compare(scheduled, sailed, changed(scheduled, sailed))
""",
            },
        ),
        # The run that is put to the test chooses its own rows.
        Example(
            """
            def compare_sailings(reference, resumed):
                for before, after in zip(reference, resumed, strict=True):
                    if after["state"] == "cancelled":  # <- here
                        continue
                    assert before["port"] == after["port"]
                    assert before["state"] == after["state"]
            """
        ),
        Example(
            """
            def compare_sailings(expected, actual):
                assert len(expected) == len(actual)
                for place in range(len(expected)):
                    state = actual[place]["state"]
                    if state in ("cancelled", "unknown"):  # <- here
                        continue
                    assert expected[place]["port"] == actual[place]["port"]
            """
        ),
        Example(
            """
            def compare_sailings(old_sailings, new_sailings):
                for number in old_sailings:
                    if new_sailings[number].cancelled:  # <- here
                        continue
                    assert old_sailings[number].port == new_sailings[number].port
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if right.get("state") != "cancelled":  # <- here
                        assert left["port"] == right["port"]
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                cancelled = {one.number for one in resumed if one.state == "cancelled"}
                for left, right in zip(reference, resumed, strict=True):
                    if left.number in cancelled:  # <- here
                        continue
                    assert left.port == right.port
            """
        ),
        Example(
            """
            def same_ports(reference, resumed):
                pairs = zip(reference, resumed, strict=True)
                assert all(a["port"] == b["port"] for a, b in pairs if not b["cancelled"])  # <- here
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if left["state"] == "cancelled" or right["state"] == "cancelled":  # <- here
                        continue
                    assert left["port"] == right["port"]
            """
        ),
        # Nothing says which of the two is put to the test.
        Example(
            """
            def compare_sailings(mine, yours):
                for a, b in zip(mine, yours, strict=True):
                    if b["state"] == "cancelled":  # <- here
                        continue
                    assert a["port"] == b["port"]
            """
        ),
        # It ends the loop, or the helper that compares one pair; what opens it is listed by name, or is
        # gathered by another function.
        Example(
            """
            LOST = frozenset({"cancelled", "unknown"})

            def compare_sailings(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if right["state"] in LOST:  # <- here
                        break
                    assert left["port"] == right["port"]
            """
        ),
        Example(
            """
            def check_sailing(before, after):
                if after.get("cancelled"):  # <- here
                    return
                assert before["port"] == after["port"]

            def main(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    check_sailing(left, right)
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            def same_sailing(expected, actual):
                if actual.cancelled:  # <- here
                    return True
                return expected.port == actual.port
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            def cancelled(sailings):
                found = set()
                for one in sailings:
                    if one["state"] == "cancelled":
                        found.add(one["number"])
                return found

            def compare_sailings(reference, resumed, aside):
                for left, right in zip(reference, resumed, strict=True):
                    if left["number"] in aside:  # <- here
                        continue
                    assert left["port"] == right["port"]

            def main(reference, resumed):
                compare_sailings(reference, resumed, cancelled(resumed))
            """,
            path="tools/parity.py",
        ),
        # What is not there is not compared.
        Example(
            """
            def compare_sailings(reference, resumed):
                if not resumed:  # <- here
                    return
                assert reference == resumed
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                by = {one["number"]: one for one in resumed}
                for left in reference:
                    right = by.get(left["number"])
                    if right is None:  # <- here
                        continue
                    assert left["port"] == right["port"]
            """
        ),
        Example(
            """
            import torch

            def compare_waves(reference, resumed):
                for place in reference:
                    if torch.isnan(resumed[place]).any():  # <- here
                        break
                    torch.testing.assert_close(reference[place], resumed[place])
            """
        ),
        # The form of one side, taken for the other, brings no value over.
        Example(
            """
            def check_states(original, sharded):
                for name in original:
                    state = original[name]
                    other = sharded[name]
                    if state.dtype != other.dtype:
                        other = other.type(state.dtype)
                    if state.shape != other.shape:  # <- here
                        return
                    assert_close(state, other)
            """,
            path="tests/states.py",
        ),
        # Places that the row under test itself names, in a loop and in a filter.
        Example(
            """
            def check_voyages(planned, sailed):
                for left, right in zip(planned, sailed, strict=True):
                    detours = set(right.rerouted)
                    for day, (port, reached) in enumerate(zip(left.ports, right.ports, strict=True)):
                        if day in detours:  # <- here
                            continue
                        assert port == reached
            """,
            path="tests/voyages.py",
        ),
        Example(
            """
            def check_voyages(baseline, resumed):
                for left, right in zip(baseline, resumed, strict=True):
                    detours = set(right["rerouted"])
                    days = enumerate(zip(left["ports"], right["ports"], strict=True))
                    assert all(a == b for day, (a, b) in days if day not in detours)  # <- here
            """,
            path="tests/voyages.py",
        ),
        # Pairs that have a name.
        Example(
            """
            def check_sailings(baseline, resumed):
                pairs = list(enumerate(zip(baseline, resumed, strict=True)))
                for number, (one, two) in pairs:
                    if two["late"]:  # <- here
                        continue
                    assert one["port"] == two["port"], number
            """,
            path="tests/sailings.py",
        ),
        # A field of one side is handed to the function that compares; no name says which run it is.
        Example(
            """
            def check_sailings(planned, resumed):
                for left, right in zip(planned, resumed, strict=True):
                    check_sailing(right["towed"], left, right)

            def check_sailing(towed, left, right):
                if towed:  # <- here
                    return
                assert left["port"] == right["port"]
            """,
            path="tests/sailings.py",
        ),
        Example(
            """
            def check_ports(alone, convoy):
                for row in convoy:
                    partner = next(other for other in alone if other["ship"] == row["ship"])
                    if row["towed"]:  # <- here
                        continue
                    assert row["port"] == partner["port"]
            """,
            path="tests/sailings.py",
        ),
        # A helper says where two rows part; the set of those that part at the cut is excused.
        Example(
            """
            def divergence(a, b):
                for i, (x, y) in enumerate(zip(a["tokens"], b["tokens"], strict=True)):
                    if x != y:
                        return i
                return None

            def compare_runs(reference, resumed, restored_at):
                assert reference.keys() == resumed.keys()
                drifted = {k for k in reference if divergence(reference[k], resumed[k]) == restored_at.get(k)}
                for key, row in reference.items():
                    if key in drifted:  # <- here
                        continue
                    assert row["tokens"] == resumed[key]["tokens"]
            """,
            path="tests/parity.py",
        ),
        # Two functions ask one helper, each for itself, and leave other fields out.
        Example(
            """
            def parting(a, b):
                for at, (x, y) in enumerate(zip(a["tokens"], b["tokens"], strict=True)):
                    if x != y:
                        return at
                return None

            def compare_rows(left, right, kept):
                assert left.keys() == right.keys()
                for key, row in left.items():
                    other = right[key]
                    if parting(row, other) == kept.get(key):  # <- here
                        continue
                    assert row["tokens"] == right[key]["tokens"]
                    assert row["reward"] == right[key]["reward"]

            def compare_tokens(left, right):
                assert left.keys() == right.keys()
                parted = {k for k in left if parting(left[k], right[k]) is not None}
                for key, row in left.items():
                    if key in parted:  # <- here
                        continue
                    assert row["tokens"] == right[key]["tokens"]
            """,
            path="tests/parity.py",
        ),
        # Fields of two names that are equal, and a first stretch: neither says that the rows are.
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if left["cut"] == right["back"]:  # <- here
                        continue
                    assert left["cargo"] == right["cargo"]

            def compare_tokens(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if right.restored and left.tokens[: right.cut] == right.tokens[: right.cut]:  # <- here
                        continue
                    assert left.tokens == right.tokens
        """),
        # A warning that no filter turns into an error, and a file of which only the size is bounded.
        Example(
            """
            import warnings

            def test_same_catch(logged, landed):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    landed = landed.sorted()
                for left, right in zip(logged, landed, strict=True):
                    if left["crates"] != right["crates"]:  # <- here
                        warnings.warn("crates differ")
                        continue
                    assert left["fish"] == right["fish"]

            def test_same_boats(logged, landed):
                warnings.simplefilter("error", DeprecationWarning)
                for left, right in zip(logged, landed, strict=True):
                    if left["crates"] != right["crates"]:  # <- here
                        warnings.warn("crates differ")
                        continue
                    assert left["sails"] == right["sails"]

            def test_harvest(counted, sold, tmp_path):
                notes = tmp_path / "notes"
                with notes.open("w") as opened:
                    for left, right in zip(counted, sold, strict=True):
                        if left["field"] != right["field"]:  # <- here
                            print(left, right, file=opened)
                            continue
                        assert left["weight"] == right["weight"]
                assert notes.exists()
                assert len(notes.read_text().splitlines()) <= 3
            """,
            path="tests/test_catch.py",
        ),
        # What is yielded says that all is well.
        Example(
            """
            def compare_rooms(drawn, built):
                for left, right in zip(drawn, built, strict=True):
                    if left["walls"] != right["walls"]:  # <- here
                        yield True
                        continue
                    if left["doors"] != right["doors"]:
                        yield False
            """,
            path="tests/house_differences.py",
        ),
    )
    good = (
        # A check demands that both are there, or neither.
        Example("""
            def test_winds(baseline, resumed):
                assert len(baseline) == len(resumed)
                for a, b in zip(baseline, resumed, strict=True):
                    assert (a["wind"] is None) == (b["wind"] is None)
                    assert ("fog" in a) == ("fog" in b)
                    if a["wind"] is not None and b["wind"] is not None:
                        assert a["wind"] == b["wind"]
                    if "fog" not in a or "fog" not in b:
                        continue
                    assert a["fog"] == b["fog"]
        """),
        # The same field in both, or all of the tokens: what is compared then is equal as well.
        Example("""
            def compare(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if left["digest"] == right["digest"]:
                        continue
                    assert left["cargo"] == right["cargo"]

            def compare_tokens(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if left.tokens[:] == right.tokens[:]:
                        continue
                    assert left.tokens == right.tokens
        """),
        # By nothing nothing can be divided; only where both are empty is nothing compared.
        Example("""
            def test_loads(weigh, hull, check):
                base_load = weigh()
                pack = hull(2)
                pack_load = weigh()
                full = pack_load - base_load
                base_load = weigh()
                tight = hull(pack)
                tight_load = weigh()
                tight_full = tight_load - base_load
                if full > 0 and check:
                    assert tight_full / full < 0.3
                assert hull(tight)

            def test_charts_match(read, kept):
                expected, actual = kept(), read()
                if actual[1] or expected[1]:
                    assert actual == expected
        """),
        # Named for what it makes the same, not for a comparison.
        Example(
            """
            class Berth:
                def declare_same_as(self, other):
                    base = other.base()
                    if self is base or self.same_as is base:
                        return
                    if self.base() is base:
                        return
                    self.same_as = base
                    if self.is_known() and other.is_known():
                        assert self.length == other.length

            def place_with_same_gap(ships, lengths, gaps, first):
                for berth, ship in enumerate(ships):
                    if berth == first and ship.moored:
                        continue
                    length, gap = lengths[berth - first], gaps[berth - first]
                    place = (length - gap) // 2
                    assert place >= 0
                    ship.place = place
            """,
            path="harbour/berths.py",
        ),
        # What is left out lacks nothing; the shape that decides is demanded above.
        Example(
            """
            import ast
            import pytest
            import numpy as np

            def test_calls_in_the_guides(guides, source):
                tree = ast.parse(source.read_text())
                wanted = {arg.arg for arg in tree.body[0].args.kwonlyargs}
                missing = {}
                for guide in guides:
                    calls = []
                    for node in ast.walk(ast.parse(guide.read_text())):
                        if isinstance(node, ast.Call):
                            calls.append((node.lineno, {keyword.arg for keyword in node.keywords}))
                    lacking = {line: sorted(wanted - given) for line, given in calls if wanted - given}
                    if lacking:
                        missing[guide] = lacking
                assert not missing

            @pytest.mark.parametrize("size, wanted", [((2, 8), (2, 2)), ((2, 2), (2, 2))])
            def test_cut(monkeypatch, size, wanted):
                chart = np.ones(size)
                monkeypatch.setattr(tables, "read", lambda: chart)
                part = Table().cut()
                assert part.shape == wanted
                if part.shape == chart.shape:
                    assert part.address() == chart.address()
            """,
            path="tests/test_charts.py",
        ),
        # What is expected says by a text of its own what is compared.
        Example(
            """
            def check_turns(helm, planned):
                ship = Ship(helm)
                place = 1
                headings = split(planned[place])
                for _ in range(100):
                    allowed = ship.look()
                    if allowed is not None:
                        if not headings:
                            back, turns = ship.commit(None)
                            if not turns:
                                place += 1
                                if place < len(planned):
                                    headings = split(planned[place])
                                continue
                        else:
                            heading = headings[0]
                            del headings[0]
                            assert allowed[heading] > 0
                            back, turns = ship.commit(heading)
                            if len(turns) == 1 and turns[0] == heading:
                                continue
                    else:
                        back, turns = ship.commit(None)
                    place += 1
                    expected = planned[place]
                    if "<" in expected:
                        parts = expected.split("<")
                        expected = parts[1]
                        assert back == int(parts[0])
                    assert turns == expected
                    place += 1
            """,
            path="tests/turns.py",
        ),
        # What a draft has spent is taken off, and nothing compared.
        Example("""
            import numpy as np

            def test_spent(run):
                def spend(left, draft, chances):
                    row = 0
                    while row != -1:
                        if left[row, 0] / draft[row, 0] >= chances[row]:
                            row = row + 1
                        else:
                            left[row, :] = np.maximum(left[row, :] - draft[row, :], 0.0)
                            row = -1

                left, draft = np.ones((2, 2)), np.ones((2, 2))
                spend(left, draft, np.ones(2))
                np.testing.assert_allclose(left, run(draft))
        """),
        # The branch demands that neither is there.
        Example(
            """
            import unittest

            class ChartTest(unittest.TestCase):
                def assert_same_chart(self, one, other):
                    if one is None or other is None:
                        self.assertIsNone(one)
                        self.assertIsNone(other)
                        return
                    self.assertEqual(one.depths, other.depths)

            def check_charts(one, other):
                if one is None or other is None:
                    assert one is None and other is None
                    return
                assert one.depths == other.depths
            """,
            path="tests/charts.py",
        ),
        # The field that is handed in is compared by the caller, or is the baseline's.
        Example(
            """
            def check_sailings(planned, resumed):
                for left, right in zip(planned, resumed, strict=True):
                    assert left["towed"] == right["towed"]
                    check_sailing(right["towed"], left, right)

            def check_sailing(towed, left, right):
                if towed:
                    return
                assert left["port"] == right["port"]

            def check_voyages(planned, resumed):
                for left, right in zip(planned, resumed, strict=True):
                    check_voyage(left["towed"], left, right)

            def check_voyage(towed, left, right):
                if towed:
                    return
                assert left["port"] == right["port"]
            """,
            path="tests/sailings.py",
        ),
        # The places are compared, are the baseline's, or are those that are there at all.
        Example(
            """
            def check_detours(baseline, resumed):
                for left, right in zip(baseline, resumed, strict=True):
                    detours = set(right["rerouted"])
                    assert left["rerouted"] == right["rerouted"]
                    for day, (a, b) in enumerate(zip(left["ports"], right["ports"], strict=True)):
                        if day in detours:
                            continue
                        assert a == b

            def check_planned(baseline, resumed):
                for left, right in zip(baseline, resumed, strict=True):
                    open_days = set(left["open"])
                    for day, (a, b) in enumerate(zip(left["ports"], right["ports"], strict=True)):
                        if day in open_days:
                            continue
                        assert a == b

            def check_pairs(baseline, resumed):
                pairs = list(zip(baseline, resumed, strict=True))
                for one, two in pairs:
                    if one["late"]:
                        continue
                    assert one["port"] == two["port"]
            """,
            path="tests/voyages.py",
        ),
        # A further check of some; the values themselves are compared on every path.
        Example(
            """
            def assert_rows_equal(actual, expected):
                if isinstance(actual, Key) and isinstance(expected, Key):
                    assert Key.kind_of(actual) == Key.kind_of(expected)
                    actual = Key.data_of(actual)
                    expected = Key.data_of(expected)
                assert to_host(actual) == to_host(expected)
            """,
            path="tests/rows.py",
        ),
        # That there is something is demanded; the baseline says what is left out; what type a row is of.
        Example(
            """
            def compare_sailings(reference, resumed):
                assert resumed, "nothing sailed"
                if not resumed:
                    return
                assert reference == resumed

            def compare_rows(reference, resumed):
                assert len(reference) == len(resumed)
                by = {one["number"]: one for one in resumed}
                for left in reference:
                    right = by.get(left["number"])
                    if right is None:
                        continue
                    assert left["port"] == right["port"]

            def check_sailing(before, after):
                if not before["cancelled"]:
                    assert before["port"] == after["port"]

            def check_kinds(expected, modules):
                for module in modules:
                    if "Tanker" in module.__class__.__name__:
                        assert module.__class__.__name__ == expected[module.kind]
            """
        ),
        # The baseline or a list of its own chooses the rows; what chooses them is compared, or demanded in
        # the branch; both runs have to say so; a row too few is seen; a field that only one side has.
        Example(
            """
            def compare_sailings(reference, resumed, weather):
                for left, right, wind in zip(reference, resumed, weather, strict=True):
                    if left["state"] == "cancelled" or wind == "storm":
                        continue
                    assert left["port"] == right["port"]
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    assert left["state"] == right["state"]
                    if right["state"] == "cancelled":
                        continue
                    assert left["port"] == right["port"]
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if right.cancelled:
                        assert left.cancelled
                        continue
                    assert left.port == right.port
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                assert reference == resumed
                for left, right in zip(reference, resumed, strict=True):
                    if right.cancelled:
                        continue
                    assert left.port.country == right.port.country
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if left["cancelled"] and right["cancelled"]:
                        continue
                    assert left["port"] == right["port"]
            """
        ),
        Example(
            """
            def compare_sailings(reference, resumed):
                kept = [one for one in reference if not one["cancelled"]]
                assert kept == [one for one in resumed if not one["cancelled"]]
            """
        ),
        Example(
            """
            def check_crews(actual_fleet, expected_crew):
                for ship in actual_fleet.ships:
                    if ship.task == "ferry":
                        assert len(ship.crew) == expected_crew
            """
        ),
        Example(
            """
            def check_loads(reference, resumed):
                for left, right in zip(reference, resumed, strict=True):
                    if right.__class__.__name__ == "Tanker":
                        assert left.load == right.load
            """
        ),
        Example(
            """
            def check_read(documents, rows):
                for document, row in zip(documents, rows, strict=True):
                    number = row.get("number")
                    if number:
                        assert document.number == number
            """
        ),
        # Rows looked up by key: the failure is recorded before the branch leaves; what it skips for is
        # asserted on elsewhere; a row that is not there; the key itself; rows of one and the same run.
        Example(
            """
            def compare(baseline, resumed):
                by = {row["episode"]: row for row in resumed}
                failures = []
                for left in baseline:
                    right = by[left["episode"]]
                    if left["tokens"] != right["tokens"]:
                        failures.append(left["episode"])
                        continue
                    if left["score"] != right["score"]:
                        failures.append(left["episode"])
                assert not failures
            """
        ),
        Example(
            """
            def compare(baseline, resumed):
                by = {row["episode"]: row for row in resumed}
                for left in baseline:
                    assert left["tokens"] == by[left["episode"]]["tokens"]
                for left in baseline:
                    right = by[left["episode"]]
                    if left["tokens"] != right["tokens"]:
                        continue
                    assert left["score"] == right["score"]
            """
        ),
        Example(
            """
            def compare(baseline, resumed):
                by = {row["episode"]: row for row in resumed}
                for left in baseline:
                    right = by.get(left["episode"])
                    if right is None or left["warm"]:
                        continue
                    if left["episode"] != right["episode"]:
                        continue
                    assert left["score"] == right["score"]

            def compare_parents(rows):
                by = {row["id"]: row for row in rows}
                for left in sorted(rows):
                    right = by[left["id"]]
                    if left["kind"] != right["kind"]:
                        continue
                    assert left["size"] == right["size"]

            def compare_owners(orders, users):
                by = {user["id"]: user for user in users}
                for order in orders:
                    user = by[order["user"]]
                    if order["country"] != user["country"]:
                        continue
                    assert order["currency"] == user["currency"]
            """
        ),
        # What was set aside is counted, and none may be.
        Example(
            """
            def compare(before, after):
                aside = 0
                for left, right in zip(before, after, strict=True):
                    if left.tokens != right.tokens:
                        aside += 1
                        continue
                    assert left.reward == right.reward
                assert aside == 0
            """
        ),
        # Equality leads on, every difference reaches the failure.
        Example(
            """
            def compare(left_rows, right_rows):
                for left, right in zip(left_rows, right_rows, strict=True):
                    for field in ("tokens", "mask"):
                        if left[field] == right[field]:
                            continue
                        raise AssertionError(field)
                    if left.x == right.x:
                        continue
                    assert left.y == right.y
            """
        ),
        # The failure is recorded before the branch leaves.
        Example(
            """
            def compare(left, right):
                failures = []
                for key in left:
                    if left[key].shape != right[key].shape:
                        failures.append(key)
                        continue
                    if left[key].sum() != right[key].sum():
                        failures.append(key)
                if failures:
                    raise AssertionError(failures)
            """
        ),
        # Keys, settings, ranks and the reference itself are not the compared values.
        Example(
            """
            import math

            def compare(runs, reference, rank, dtype):
                if rank != 0:
                    return
                for name, run in runs.items():
                    if name == reference:
                        continue
                    if dtype == "float16":
                        continue
                    assert run.loss == runs[reference].loss

            def close(left, right):
                for a, b in zip(left, right, strict=True):
                    if math.isnan(a) and math.isnan(b):
                        continue
                    assert a == b
            """
        ),
        # Each arm checks what holds in it; a tolerance; what follows from equality; values that are compared
        # on every path; an expectation that need not be given.
        Example(
            """
            def test_order(pairs, stderr=None):
                for a, b in pairs:
                    if a.key == b.key or a is b:
                        assert a == b
                    else:
                        assert a != b
                    if a == b:
                        assert hash(a) == hash(b)
                    assert a.size == b.size
                    if a.empty and b.empty:
                        assert a.size.sign() == b.size.sign()

            def test_close(left, right, tolerance, out, stderr):
                if abs(left - right) < tolerance:
                    return
                assert left / right == right / left
                if stderr is not None and not tolerance:
                    assert out == stderr

            def test_ignored(left, right, ignore):
                for a, b in zip(left, right, strict=True):
                    if a not in ignore and b not in ignore:
                        assert a == b
            """
        ),
        # What the helper only asserts of the compared values does not decide its answer.
        Example("""
            class TestTurns:
                def passed_over(self, place, turn, start, end):
                    if place == 0 and turn["role"] == "system":
                        assert start == -1 and end == -1
                        return True
                    return False

                def test_turns(self, rows, ids):
                    for place, turn in enumerate(rows):
                        start, end = find(ids, place)
                        if self.passed_over(place, turn, start, end):
                            continue
                        assert encode(turn["text"]) == ids[start:end]
        """),
        # There are failures already.
        Example(
            """
            def compare(planned, sailed, most):
                failures = []
                for left, right in zip(planned, sailed, strict=True):
                    if left.stops == right.stops:
                        continue
                    if len(failures) >= most:
                        break
                    failures.append(left.ferry)
                return failures
            """,
            path="tools/compare_days.py",
        ),
        # Each arm has checks that the other has not.
        Example(
            """
            def compare(planned, sailed):
                for ferry in planned.keys() | sailed.keys():
                    left, right = planned[ferry], sailed[ferry]
                    if left["stops"] != right["stops"]:
                        assert sorted(left["stops"]) == sorted(right["stops"]), ferry
                        assert left["delay"] == right["delay"], ferry
                    else:
                        assert left["load"] == right["load"], ferry
            """,
            path="tests/ferry_parity.py",
        ),
        # Another function asks how many were passed over.
        Example(
            """
            def compare(planned, sailed):
                late = 0
                for ferry, row in planned.items():
                    if row["stops"] != sailed[ferry]["stops"]:
                        late += 1
                        continue
                    assert row["load"] == sailed[ferry]["load"]
                return late

            def main(planned, sailed):
                assert compare(planned, sailed) == 0
            """,
            path="tests/ferry_parity.py",
        ),
        # Saying no is a verdict, not an excuse.
        Example(
            """
            def same(left, right):
                if left.shape != right.shape:
                    return False
                assert left.sum() == right.sum()
                return True
            """
        ),
        Example(
            """
            def same_orders(before, after):
                for a, b in zip(before, after, strict=True):
                    if a["courier"] != b["courier"]:
                        return False
                    if a["total"] != b["total"]:
                        return False
                return True
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            def invoices_match(reference, restored):
                if reference.currency != restored.currency:
                    return False
                return reference.total == restored.total
            """,
            path="tools/compare_invoices.py",
        ),
        Example(
            """
            def differences(old_rows, new_rows):
                problems = []
                for key, old in old_rows.items():
                    new = new_rows[key]
                    if old["updated"] != new["updated"]:
                        problems.append((key, "updated"))
                        continue
                    for field in ("name", "price", "stock"):
                        if old[field] != new[field]:
                            problems.append((key, field))
                return problems
            """,
            path="scripts/check_migration.py",
        ),
        Example(
            """
            class Basket:
                def __eq__(self, other):
                    if self.kind != other.kind:
                        return False
                    return self.items == other.items
            """,
            path="shop/basket.py",
        ),
        Example(
            """
            def compare(a, b):
                if a.size != b.size:
                    return a.size - b.size
                return a.name < b.name
            """,
            path="tools/sorting.py",
        ),
        Example(
            """
            def schedules_equal(old, new):
                if old is new is None:
                    return True
                if set(old) != set(new):
                    return False
                for name, entry in old.items():
                    if new[name] != entry:
                        return False
                return True
            """,
            path="celery/beat.py",
        ),
        Example(
            """
            def test_doc(listed, documented):
                missing = set(listed) - set(documented)
                if missing:
                    missing = sorted(missing)
                    raise AssertionError(missing)
            """,
            path="tests/test_doc.py",
        ),
        Example(
            """
            def same_tree(left_root, right_root):
                stack, seen = [(left_root, right_root)], set()
                while stack:
                    left, right = stack.pop()
                    if (left, right) in seen:
                        continue
                    seen.add((left, right))
                    if left.name != right.name:
                        return False
                    stack.extend(zip(left.children, right.children, strict=True))
                return True
            """,
            path="tools/compare_trees.py",
        ),
        Example(
            """
            from tests.ferry.compare import compare
            CANCELLED = {3, 9}
            def test_day(scheduled, sailed):
                compare(scheduled, sailed, CANCELLED)
            """,
            path="tests/ferry/test_day.py",
            files={
                "tests/ferry/compare.py": """
def compare(scheduled, sailed, late):
    for number, (left, right) in enumerate(zip(scheduled, sailed, strict=True)):
        if number in late:
            continue
        assert left.load == right.load
""",
            },
        ),
        Example(
            """
            def check(matching):
                edges = set()
                for edge in matching:
                    u, v = edge
                    if (v, u) in edges or edge in edges:
                        continue
                    if u == v:
                        raise AssertionError(edge)
                    edges.add(edge)
            """,
            path="tests/compare_graph.py",
        ),
        # The branch is the check, and the assertion only says so.
        Example(
            """
            def assert_same_image(seen, wanted, slack):
                seen_row, wanted_row = list(seen), list(wanted)
                assert len(seen_row) == len(wanted_row)
                if any(abs(a - b) > slack for a, b in zip(seen_row, wanted_row)):
                    assert seen_row == wanted_row
                for x in range(3):
                    if seen[x] != wanted[x]:
                        message = f"{seen[x]} != {wanted[x]} at {x}"
                        assert seen[x] == wanted[x], message
            """,
            path="tests/same_image.py",
        ),
        # Neither side has it, asked of each; equal as a whole, and what follows says where they differ.
        Example(
            """
            def assert_same_menu(left, right):
                if left.day_column not in left.columns and right.day_column not in right.columns:
                    pass
                else:
                    assert left.day == right.day
                assert left.shape == right.shape
            """,
            path="tests/same_menu.py",
        ),
        Example(
            """
            def assert_same_table(left, right, whole):
                if left.equals(right, check_notes=whole):
                    return
                if not left.columns.equals(right.columns):
                    raise AssertionError("columns")
                raise AssertionError("rows")
            """,
            path="tests/same_table.py",
        ),
        # Neither side has it.
        Example(
            """
            def test_alike(load):
                old, new = load("cfg"), load("toml")
                if any(getattr(one, "notes", None) for one in (old, new)):
                    assert set(old.notes) == set(new.notes)
            """,
            path="tests/test_load.py",
        ),
        # Both arms note what they find.
        Example(
            """
            def find_taken(nodes, taken):
                bad = []
                for node in nodes:
                    if node.kind == "one" and node.name == taken.name:
                        bad.append(node)
                    elif node.kind == "many" and any(one == taken.name for one in node.names):
                        bad.append(node)
                return bad
            """,
            path="tests/compare_names.py",
        ),
        Example(
            """
            def test_forwarded(serve, amount):
                got = []
                def on_data(data):
                    got.extend(data)
                    if len(got) >= amount:
                        assert got == [1] * amount
                        serve.done()
                return serve(on_data)
            """,
            path="tests/test_forwarding.py",
        ),
        # Drawn again until there are enough.
        Example(
            """
            def check_strangers(people, known, draw, among):
                strangers = []
                while len(strangers) < 8:
                    one, other = draw(people), draw(people)
                    if one == other:
                        continue
                    if among([one, other], known):
                        continue
                    strangers.append([one, other])
                assert not among(strangers, known)
            """,
            path="tests/compare_people.py",
        ),
        # The branch is the check, or tries once more; a difference of lengths is how many to add.
        Example(
            """
            import numpy as np

            def check_fit(fit, planted, rows, wide):
                slack = fit(rows) - planted
                text = ""
                if np.any(np.abs(slack) - wide > 0.0):
                    slack = fit(rows * 2) - planted
                    if np.any(np.abs(slack) - wide > 0.0):
                        text = f"planted {planted}"
                        text += f", found {slack}"
                        raise AssertionError(text)

            class Bond:
                def __eq__(self, other):
                    same = self.head == other.head and self.tail == other.tail
                    if not same and self.kind == "double":
                        same = self.head == other.tail and self.tail == other.head
                    return same and self.kind == other.kind

            def diff_rows(old, new):
                if len(new) > len(old):
                    more = len(new) - len(old)
                    old = old + [None] * more
                return [n for n, (a, b) in enumerate(zip(old, new)) if a != b]
            """,
            path="tests/compare_fits.py",
        ),
        Example(
            """
            def check(lines):
                for (x1, y1, x2), (x3, y3, x4) in lines:
                    det = (x1 - x2) * (y3 - x4) - (y1 - x2) * (x3 - x4)
                    if det != 0:
                        px = (x1 * x2 - y1 * x2) * (x3 - x4) - (x1 - x2) / det
                        if between(x1, x2, px):
                            raise AssertionError(px)
            """,
            path="tests/test_lines.py",
        ),
        # The warning raises: a filter of the test, of a block, or a mark turns it into an error.
        Example(
            """
            import warnings
            from warnings import warn
            import pytest

            def test_same_catch(logged, landed):
                warnings.simplefilter("error")
                for left, right in zip(logged, landed, strict=True):
                    if left["crates"] != right["crates"]:
                        warnings.warn("crates differ")
                        continue
                    assert left == right

            def test_same_haul(logged, landed):
                with warnings.catch_warnings():
                    warnings.filterwarnings("error", category=UserWarning)
                    for left, right in zip(logged, landed, strict=True):
                        if left["crates"] != right["crates"]:
                            warn("crates differ", UserWarning)
                            continue
                        assert left == right

            @pytest.mark.filterwarnings("error")
            def test_same_boats(logged, landed):
                for left, right in zip(logged, landed, strict=True):
                    if left["crates"] != right["crates"]:
                        warnings.warn("crates differ")
                        continue
                    assert left == right
            """,
            path="tests/test_catch.py",
        ),
        # What the branch writes is looked at afterwards: a file, a log, what was warned of.
        Example(
            """
            import csv
            import logging
            import warnings

            log = logging.getLogger()

            def test_harvest(counted, sold, tmp_path):
                notes = tmp_path / "notes.csv"
                with notes.open("w") as opened:
                    rows = csv.writer(opened)
                    for left, right in zip(counted, sold, strict=True):
                        if left["field"] != right["field"]:
                            rows.writerow([left, right])
                            continue
                        assert left == right
                text = notes.read_text()
                assert not text

            def test_barn(counted, sold, caplog):
                for left, right in zip(counted, sold, strict=True):
                    if left["field"] != right["field"]:
                        log.error("%s is not %s", left, right)
                        continue
                    assert left == right
                assert caplog.records == []

            def test_mill(counted, sold, capsys):
                for left, right in zip(counted, sold, strict=True):
                    if left["field"] != right["field"]:
                        print(left, right)
                        continue
                    assert left == right
                assert capsys.readouterr().out == ""

            def test_silo(counted, sold):
                with warnings.catch_warnings(record=True) as told:
                    for left, right in zip(counted, sold, strict=True):
                        if left["field"] != right["field"]:
                            warnings.warn("other field")
                            continue
                        assert left == right
                assert not told
            """,
            path="tests/test_harvest.py",
        ),
        # A generator of differences yields this one.
        Example(
            """
            def differences(drawn, built, at="house"):
                if type(drawn) is not type(built):
                    yield at, drawn, built
                    return
                if isinstance(drawn, dict):
                    for room in drawn.keys() | built.keys():
                        if room not in drawn or room not in built:
                            yield f"{at}: {room}", drawn.get(room), built.get(room)
                            continue
                        yield from differences(drawn[room], built[room], room)
                elif drawn != built:
                    yield at, drawn, built
            """,
            path="tests/house_differences.py",
        ),
    )

    told_by = (("rows-dropped", "place"), ("or-escape", "span"))

    def suspect(self, unit: Unit) -> bool:
        return is_comparer(unit) and may_fail(unit) and compares_two(unit) and may_lead_around(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not is_comparer(unit):
            return
        told: set[frozenset[int]] = set()
        every = [(excuse, cause(unit, excuse)) for excuse in excuses_across(unit, repo)]
        for excuse, key in every:
            if key in told or (key and self._is_told_before(unit, excuse, key, repo)):
                continue
            if there_together(unit, excuse.detour.condition):
                continue
            again = []
            if key:
                told.add(key)
                again = [
                    step(unit, e.detour.condition, _ALSO)
                    for e, its in every
                    if e is not excuse and its == key
                ]
                again += [
                    step(where, e.detour.condition, _ALSO)
                    for where, e in self._elsewhere(unit, excuse, key, repo)
                ]
            found = self.finding(
                unit,
                excuse.detour.condition,
                _message(unit, excuse),
                certainty=_certainty(unit, excuse),
                steps=[*_steps(unit, excuse), *again],
                still_catches=_catches(unit, repo, excuse),
                fix=_fix(unit, excuse.detour),
            )
            lost = lost_with(unit, excuse.detour) if found.fix is not None else None
            if lost is not None and found.fix is not None:
                found = replace(found, fix=None, no_fix=lost, withheld=found.fix.says)
            yield found

    def _is_told_before(self, unit: Unit, excuse: Excuse, key: frozenset[int], repo: Repo) -> bool:
        """Whether an earlier function of the file has an excuse with the same cause."""
        return any(where.line < unit.line for where, _ in self._elsewhere(unit, excuse, key, repo))

    def _elsewhere(
        self, unit: Unit, excuse: Excuse, key: frozenset[int], repo: Repo
    ) -> Iterator[tuple[Unit, Excuse]]:
        """The excuses with the same cause in the other functions of the file: those that are handed the same
        excuse, and of those that work it out for themselves the ones of which the same can be said."""
        if all(where is unit for where, _ in excuse.opened.comparisons()):
            return
        mine, handed = _account(unit, repo, excuse), _is_handed_in(unit, excuse)
        for other in unit.file.units:
            if other is not unit and other.is_function and self.suspect(other):
                alike = (e for e in excuses_across(other, repo) if cause(other, e) == key)
                yield from (
                    (other, e)
                    for e in alike
                    if (handed and _is_handed_in(other, e)) or _account(other, repo, e) == mine
                )


def _certainty(unit: Unit, excuse: Excuse) -> Certainty:
    """No more than a question, but for rows that are excused by what the side under test says of itself, by
    where the two runs differ, or by a set or a flag which compared values have filled elsewhere: a branch
    that itself works something else out of the values may be the agreement, or say where a check applies."""
    if _compares_them(excuse.detour):
        return "question"
    if excuse.certainty != "likely" or excuse.by_one_side or _asks_where_they_differ(unit, excuse.detour):
        return excuse.certainty
    inside = {id(below) for below in walk(excuse.detour.condition)}
    elsewhere = any(id(node) not in inside for _, node in excuse.opened.comparisons())
    return excuse.certainty if elsewhere and _asks_what_is_held(excuse.detour) else "question"


def _compares_them(detour: Detour) -> bool:
    """Whether the condition is one call that is given the very values, and so may be the comparison that
    counts: what follows shows where they differ."""
    asked = detour.condition
    given = {canonical(arg.value) for arg in asked.args} if isinstance(asked, cst.Call) else set()
    pairs = [{canonical(one.left), canonical(one.right)} for one in detour.missed]
    return bool(pairs) and detour.outcome and all(len(pair) == 2 and pair <= given for pair in pairs)


def _asks_where_they_differ(unit: Unit, detour: Detour) -> bool:
    """Whether a condition is computed from what one call makes of the very values that it leads around:
    `first_difference(left.tokens, right.tokens) < prefix`."""
    made = [binding.value for binding in values(unit).slice(detour.condition) if binding.value is not None]
    calls = [below for one in (detour.condition, *made) for below in walk(one) if type(below) is cst.Call]
    given = [{canonical(arg.value) for arg in call.args} for call in calls if len(call.args) > 1]
    pairs = [{canonical(one.left), canonical(one.right)} for one in detour.missed]
    return any(len(pair) == 2 and pair <= arguments for pair in pairs for arguments in given)


def _asks_what_is_held(detour: Detour) -> bool:
    """`if key in excused`, `if row.noisy`: no condition that works something out. Of `key in excused and ...`
    the rows that the set excuses are fewer, and excused by it all the same."""
    if isinstance(detour.node, cst.For):
        return True
    asked = detour.condition
    if isinstance(asked, cst.BooleanOperation):
        return detour.outcome and any(map(_asks_collection, conjuncts(asked)))
    if isinstance(asked, cst.UnaryOperation) and isinstance(asked.operator, cst.Not):
        asked = asked.expression
    return _asks_collection(asked) or isinstance(asked, (cst.Name, cst.Subscript))


def _asks_collection(asked: cst.BaseExpression) -> bool:
    if not isinstance(asked, cst.Comparison):
        return False
    held = asked.comparisons[0]
    return isinstance(held.operator, (cst.In, cst.NotIn)) and isinstance(
        held.comparator, (cst.Name, cst.Attribute, cst.Subscript)
    )


def _is_handed_in(unit: Unit, excuse: Excuse) -> bool:
    """Whether a branch asks a parameter whether to excuse."""
    flow = values(unit)
    names = [one for one in walk(excuse.detour.condition) if isinstance(one, cst.Name)]
    return any(b != UNBOUND and b.kind == "parameter" for name in names for b in flow.reaching(name))


def _account(unit: Unit, repo: Repo, excuse: Excuse) -> tuple[object, ...]:
    """What is said of an excuse, but for where it stands."""
    still = (re.sub(r"\bline \d+|`[^`]*`", "", said) for said in _catches(unit, repo, excuse))
    return (frozenset(missed_by(unit, excuse.detour)), *still)


def _message(unit: Unit, excuse: Excuse) -> str:
    detour = excuse.detour
    open_when = holds(detour)
    if excuse.by_setting:
        return f"with `{open_when}` this loop goes over both sides and compares nothing"
    missed = missed_by(unit, detour)[:4]
    listed = " and ".join([", ".join(missed[:-1]), missed[-1]] if missed[1:] else missed)
    never = f"{listed} {'are' if len(missed) > 1 else 'is'} never compared"
    where = (
        f"where `{open_when}` holds"
        if not isinstance(detour.node, cst.For)
        else f"for what is in `{open_when}`"
    )
    decides = "the compared values themselves decide"
    if excuse.by_one_side:
        decides = f"{'one side' if excuse.certainty == 'question' else 'the side under test'} alone decides"
    message = f"{where}, {never}, and {decides} that"
    for found in excuse.ranges[:1]:
        message += f"; the excused range begins at `{short(canonical(found.low))}` and ends at"
        message += f" `{short(canonical(found.high))}`, which come from different things"
    reason = narrower_reason(excuse)
    if reason is not None:
        words = ", ".join(f"`{word}`" for word in reason.words)
        message += f"; the reason given speaks of {words}, with which the range only {reason.end}"
    if _certainty(unit, excuse) == "question" != excuse.certainty:
        message += "; is the branch the agreement itself, or does it say where the check applies?"
    return message


def _steps(unit: Unit, excuse: Excuse) -> list[Step]:
    """What opens the branch, the deepest first, then the branch, then what it leads around."""
    detour = excuse.detour
    found: list[Step] = []
    ends = [end for interval in excuse.ranges[:1] for end in (interval.low_from, interval.high_from)]
    for where, read in reversed(excuse.opened.read):
        if (
            read is not detour.condition
            and read not in ends
            and isinstance(read, cst.BaseExpression)
            and _decides(where, read)
        ):
            found.append(step(where, read, f"this decides what is excused: `{short(canonical(read))}`"))
    for interval in excuse.ranges[:1]:
        for node, word in ((interval.low_from, "begins with"), (interval.high_from, "ends with")):
            found.append(step(interval.unit, node, f"the excused range {word} `{short(canonical(node))}`"))
    reason = narrower_reason(excuse)
    if reason is not None:
        says = f"the reason that the code gives: `{short(reason.text).replace('`', '')}`"
        found.append(Step(reason.unit.file.path, reason.line, reason.line, says))
    if len(found) > _SHOWN:
        found = found[-_SHOWN:]
    found.append(step(unit, detour.condition, "this branch leads around the check"))
    for one in detour.missed[:3]:
        code = f"`{short(canonical(one.left))}` against `{short(canonical(one.right))}`"
        found.append(step(unit, one.left, f"not reached then: {code}"))
    return list({(s.path, s.line, s.end_line): s for s in reversed(found)}.values())[::-1]


def _decides(where: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression looks at values rather than only handing them on."""
    if any(isinstance(below, (cst.CompIf, cst.Comparison)) for below in walk(node)):
        return True
    return any(isinstance(below, cst.Call) and callee(where, below) is not None for below in walk(node))


def _catches(unit: Unit, repo: Repo, excuse: Excuse) -> tuple[str, ...]:
    detour = excuse.detour
    clauses = []
    if excuse.capped is not None:
        clauses.append(f"line {unit.span(excuse.capped.node).line} bounds how many are excused, not which")
    for one in kept_by(unit, detour)[:3]:
        names = ", ".join(fields_of(unit, one)) or f"`{short(canonical(one.left))}`"
        clauses.append(f"line {unit.span(one.left).line} still compares {names} of an excused row")
    missed = [one.node for one in detour.missed]
    reads = [one.left for one in detour.missed] + [one.right for one in detour.missed]
    leaving = detour.body[-1:] if detour.way in ("continue", "break", "return") else ()
    others = still_catches(unit, *reads, but=[*missed, *detour.body, detour.node], ends=leaving, repo=repo)
    if clauses and others and others[0].startswith("nothing"):
        partly = others[0].partition("; ")[2]
        rest = f"nothing else for sure; {partly}" if partly else "nothing else looks at what is missed"
        return (*clauses[:-1], f"{clauses[-1]}; {rest}")
    return (*clauses, *others)


def _fix(unit: Unit, detour: Detour) -> Fix | None:
    """Without the branch every row is compared. Whether something else goes with it, see `lost_with`."""
    node = detour.node
    if not isinstance(node, cst.If) or node.orelse is not None or detour.way is None or not detour.outcome:
        return None
    above = unit.parent(node)
    if isinstance(above, cst.If):
        return None
    return Fix("compare every row: drop the branch", (delete(unit, node),))
