"""A check that compares a value with itself.

Both sides are the same expression, or one is another name for the other: an alias, a snapshot that is no
copy, two names of one chained assignment. Of one object a method is asked twice.

## Why
Whatever the code under test computes, the two sides are one object, so the comparison holds. A snapshot
that is no copy changes together with what it should remember.

## Instead
Compare with a value that was obtained on another way, and take snapshots with `copy.deepcopy`, `.clone()`
or `list(...)` before the code under test runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.asked_twice import answers_of_one, asked_of_one, left_unread, says_repeats
from reviewbot.flow.calls import bind, callers
from reviewbot.flow.checks import (
    Check,
    Comparison,
    checks,
    comparisons,
    is_library_assertion,
    raising_context,
)
from reviewbot.flow.fixtures import fixture, takes_fixtures
from reviewbot.flow.identity import alias, live_state, may_compare_one, steadiness
from reviewbot.flow.live_mappings import live_mapping, may_be_live_mapping
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.plain import handed_out, is_plain
from reviewbot.flow.stale import Stale, may_be_stale, newly_compared, stale
from reviewbot.flow.syntax import canonical, children, dotted, last_name, same, subscript, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, once, step, tree_span, tree_step
from reviewbot.model import Certainty

_PLAIN_CONTAINERS = frozenset({
    "OrderedDict", "Counter", "Series", "DataFrame", "Index", "Tensor", "FloatTensor", "LongTensor",
    "IntTensor", "Parameter", "UserDict", "UserList", "ModuleList", "ModuleDict", "Sequential", "Namespace",
})  # fmt: skip
_HOLDS = ("equal", "close", "identical")
# A test of equality itself, of NaN, of an assertion function.
_ABOUT_EQUALITY = pattern(
    r"(?i)(^|_)(eq|ne|equality|richcmp|cmp|compare|comparisons?|hash|hashable|reflexiv\w*|nan\w*|identity|"
    r"testing|asserts?|assertions?|operators?|contain\w*)(_|$)|__eq__|Equality|Compar|Assert|NaN|Hash|Contain"
)
_EQUALS = pattern(
    r"(?i)(^|_)(all_?close|is_?close|equals?)$|assert_?(array_?|tensors?_?)?(all_?|almost_?)?(close|equals?)$"
)
# A test that the same is handed out whenever it is asked for.
_ABOUT_REPEATS = pattern(
    r"(?i)determinis|reproducib|repeat|idempoten|stable|stabil|(^|_)(same|again|twice|constant|consistent\w*|"
    r"cached?|memoi[sz]\w*)(_|$)"
)
_TO_ITSELF = pattern(r"(?i)\b(to|with|as|equals?) (itself|themselves|oneself)\b|reflexiv")


class SelfCompare(Rule):
    kinds = ("function", "method", "module")
    bad = (
        # After the reload `bow` is still the bow of the first ship.
        Example("""
            def test_reload(Ship, Crew, load, path):
                ship = Ship(10)
                crew = Crew(ship=ship)
                ship = crew.state.ship
                hull = ship.hull[0]
                bow = hull.net[0]
                stern = hull.net[-1]
                log = crew.save(str(path))
                assert isinstance(log, str)
                before = bow.planks.to_local()
                after = stern.planks.to_local()
                other = Ship(10)
                crew = Crew(ship=other)
                load(str(path / log), crew.state)
                ship = crew.state.ship
                assert isinstance(ship, Ship)
                assert torch.equal(before, bow.planks.to_local())  # <- here
        """),
        # The keys of both are walked, and only one is looked into.
        Example(
            """
            import torch

            def compare_engines(before, after):
                same = True
                for one, two in zip(before.parts, after.parts, strict=True):
                    same &= one == two
                    same &= torch.equal(before.parts[one], before.parts[two])  # <- here
                return same
            """,
            path="tests/test_engines.py",
        ),
        Example("""
            def test_rows(run):
                rows, out = run(1), run(2)
                assert rows == rows  # <- here
                assert out.loss == out.loss, "differs"  # <- here
        """),
        Example("""
            import torch
            def test_logits(base, fast):
                a, b = base(1), fast(1)
                assert b is not None
                torch.testing.assert_close(a.logits, a.logits)  # <- here
        """),
        Example("""
            import numpy as np
            class TestRows(TestCase):
                def test_rows(self):
                    rows = self.run(1)
                    self.assertTrue(np.allclose(rows["x"], rows["x"]))  # <- here
                    self.assertEqual(len(rows), len(rows))  # <- here
        """),
        Example("""
            import chex
            def test_tree(init):
                tree = init()
                chex.assert_trees_all_close(tree, tree, rtol=1e-6)  # <- here
        """),
        Example("""
            def test_snapshot(run, rows):
                before = rows
                run(rows)
                rows.sort()
                assert rows == before  # <- here
        """),
        Example("""
            def test_chain(run, fill):
                a = b = run(1)
                assert a == b  # <- here
                expected = actual = {}
                fill(actual)
                if actual != expected:  # <- here
                    raise RuntimeError(actual)
        """),
        Example("""
            def test_member(run):
                row = run(1)
                assert row in [row]  # <- here
        """),
        Example("""
            import torch
            def test_frozen(model, optimizer):
                before = model.state_dict()
                optimizer.step()
                for k, v in model.state_dict().items():
                    assert torch.equal(v, before[k])  # <- here
        """),
        Example("""
            import torch
            def test_parameters_stay(model, optimizer):
                first = {name: weight.detach() for name, weight in model.named_parameters()}
                for _ in range(3):
                    optimizer.step()
                for name, weight in model.named_parameters():
                    assert torch.equal(weight, first[name])  # <- here
        """),
        Example(
            """
            def main(base, fast):
                gap = abs(base.loss - base.loss)
                if gap > 1e-3:  # <- here
                    raise SystemExit(f"{fast} differs")
            """,
            path="scripts/compare_losses.py",
        ),
        Example("""
            def test_resumed(run):
                whole, back = run(), run()
                assert back.policy.weights == back.policy.weights  # <- here
                assert (back.step, back.loss) == (back.step, back.loss)  # <- here
        """),
        # A function trains it; the groups before and after are the same dictionaries; a view is no copy.
        Example("""
            def test_unchanged(model, rows):
                before = model.state_dict()
                train(model, rows)
                after = model.state_dict()
                for name in before:
                    assert (before[name] == after[name]).all()  # <- here
        """),
        Example("""
            def test_groups(optimizer, change_rate):
                before = [group for group in optimizer.param_groups]
                change_rate(optimizer)
                assert before == [group for group in optimizer.param_groups]  # <- here
        """),
        Example("""
            def test_frozen(model, optimizer):
                before = model.head.weight.detach()
                optimizer.step()
                assert (before == model.head.weight).all()  # <- here
        """),
        # The dictionary of all attributes is one object; a copy of the dictionary holds the same tensors.
        Example("""
            def test_quote_leaves_the_ticket(Ticket, quote):
                ticket = Ticket(seat=4)
                before = ticket.__dict__
                quote(ticket)
                assert ticket.__dict__ == before  # <- here

            class TestTrip(TestCase):
                def test_route(self):
                    trip = Trip()
                    was = vars(trip)
                    trip.route("north")
                    self.assertEqual(was, vars(trip))  # <- here

            def test_set_state(Trip):
                trip = Trip()
                was = trip.__dict__
                trip.__setstate__({"north": 1})
                assert trip.__dict__ == was  # <- here

            def test_keel_is_frozen(hull, optimizer):
                before = hull.state_dict().copy()
                optimizer.step()
                for name, plank in hull.state_dict().items():
                    assert torch.equal(plank, before[name])  # <- here
        """),
        # Two names of one object are asked for the same; one object is asked twice, and the other one never.
        Example("""
            def test_log_comes_back(Ship, load):
                ship, restored = Ship(4), load("log")
                ship = restored
                assert ship.log() == restored.log()  # <- here

            class TestCrew(TestCase):
                def test_crew_comes_back(self):
                    ship, restored = Ship(4), load("crew")
                    restored = ship
                    self.assertEqual(len(restored.hull.crew()), len(ship.hull.crew()))  # <- here
                    self.assertTrue(restored.log()["day"] == ship.log()["day"])  # <- here

            def test_hull_comes_back(Ship, load):
                ship, restored = Ship(4), load("hull")
                assert ship.planks() == ship.planks()  # <- here

            def test_sails(Ship):
                ship = Ship(4)
                assert ship.sails() == ship.sails()  # <- here
        """),
        # What is expected is the very collection that is changed.
        Example("""
            def test_merge_keeps_the_stops(Trip):
                trip = Trip(stops=["Bern"])
                expected = trip.stops
                trip.stops.append("Chur")
                trip.merge(Trip())
                assert trip.stops == expected  # <- here

            def test_override(Trip):
                trip = Trip()
                wanted = trip.fares
                wanted["dog"] = 3
                trip.override("dog", 3)
                assert trip.fares == wanted  # <- here
        """),
    )
    good = (
        # Another object since, or on one of two ways; what was asked before; what is told apart by its name.
        Example("""
            def test_log_comes_back(Ship, load):
                ship = Ship(4)
                before = ship
                ship = load("log")
                assert ship.log() == before.log()

            def test_crew(Ship, load, flag):
                ship, restored = Ship(4), load("crew")
                if flag:
                    ship = restored
                assert ship.crew() == restored.crew()

            def test_hull(Ship):
                ship = Ship(4)
                log = ship.log()
                ship.load("hull")
                assert ship.log() == log

            def test_log_is_stable(Ship):
                ship = Ship(4)
                assert ship.log() == ship.log()

            def test_log(Ship):
                ship = Ship(4)
                # It is read once, and kept.
                assert ship.log() == ship.log(), "read again"

            def test_stream(Ship):
                ship = Ship(4)
                other = ship
                assert ship.read() == other.read()
                assert ship.log_hash() == ship.log_hash()
                assert ship.log() is ship.log()
                assert ship.log(1) == ship.log(1)

            def test_log_of_others(Ship):
                ship, other = Ship(4), Ship(5)
                assert ship.log() == ship.log()
                assert ship.log() != other.log()
        """),
        # A copy; another object; an attribute that is given anew, or that nothing here changes in place.
        Example("""
            def test_quote_leaves_the_ticket(Ticket, quote):
                ticket = Ticket(seat=4)
                before = dict(ticket.__dict__)
                quote(ticket)
                assert ticket.__dict__ == before

            def test_comes_back(Ticket, load, dump):
                ticket = Ticket(seat=4)
                before = ticket.__dict__
                ticket = load(dump(ticket))
                assert ticket.__dict__ == before

            def test_one_dictionary(Ticket):
                ticket = Ticket(seat=4)
                before = ticket.__dict__
                ticket.__setstate__({"seat": 5})
                assert ticket.__dict__ is before

            def test_all_attributes_given_anew(Ticket):
                ticket = Ticket(seat=4)
                before = vars(ticket)
                ticket.__dict__ = {"seat": 5}
                assert vars(ticket) == before

            def test_again(Trip, Ticket):
                trip, ticket = Trip(), Ticket()
                before = vars(trip)
                assert vars(ticket) == before
                stops = trip.stops
                trip.route("north")
                assert trip.stops == stops

            def test_given_anew(Trip, sort):
                trip = Trip(stops=["Bern"])
                expected = trip.stops
                expected.sort()
                trip.stops = sort(["Bern"])
                assert trip.stops == expected
        """),
        # A zero by name, to which what came out is held.
        Example("""
            def test_age(born, day):
                now = day()
                since_now = now - now
                since_birth = now - born(most=5)
                assert since_birth >= since_now
        """),
        # Read from the new one; the old one may have changed on the way.
        Example("""
            def test_reload(Ship, load, path):
                ship = Ship(10)
                bow = ship.bow
                before = bow.planks.clone()
                ship = load(path)
                bow = ship.bow
                assert torch.equal(before, bow.planks)

            def test_old_stays(Ship, Yard, path):
                ship = Ship(10)
                yard = Yard(ship)
                bow = ship.bow
                before = bow.planks.clone()
                ship = yard.refit()
                assert torch.equal(before, bow.planks)

            def test_copy_is_apart(Ship):
                ship = Ship(10)
                bow = ship.bow
                before = bow.planks.clone()
                ship = ship.copy()
                ship.bow.planks.fill(0)
                assert torch.equal(before, bow.planks)
        """),
        Example("""
            import torch

            def test_engines(before, after):
                for one, two in zip(before, after, strict=True):
                    assert torch.equal(before[one], after[two])
        """),
        # A copy; what only looks at the model changes nothing.
        Example("""
            def test_frozen(model, optimizer, rows):
                before = model.head.weight.detach().clone()
                optimizer.step()
                assert (before == model.head.weight).all()
                again = model.state_dict()
                evaluate(model, rows)
                assert again == model.state_dict()
                rate = optimizer.rate
                train(model, rows)
                assert rate == optimizer.rate
        """),
        # Whether a data set draws the same twice; a fixture makes it; a property is asked twice.
        Example("""
            import random, pytest
            class Draws:
                def __getitem__(self, at):
                    return random.Random(at).random()

            @pytest.fixture
            def draws():
                return Draws()

            def test_item(draws):
                assert draws[0] == draws[0]
        """),
        Example("""
            def test_order_is_deterministic(shuffled):
                assert shuffled.order == shuffled.order
                assert shuffled[1] == shuffled[1]
        """),
        Example("""
            class TestDraws(TestCase):
                def _check(self, draws, count):
                    for i in range(count):
                        assert draws[i] == draws[i]

                def test_draws(self):
                    self._check(RepeatedDraws([1, 2], seed=3), 2)
        """),
        Example("""
            def test_flags_come_back(model, stage):
                flags = {name: param.requires_grad for name, param in model.named_parameters()}
                stage.train(model)
                assert {name: param.requires_grad for name, param in model.named_parameters()} == flags
        """),
        Example("""
            def check(loss, value):
                assert value != value
                if loss != loss:
                    raise ValueError("NaN")
        """),
        Example("""
            def test_not_nan(loss):
                assert loss == loss
        """),
        Example("""
            def test_row(Row):
                a, b, c = Row(1), Row(2), make()
                assert a == a
                assert not a == b
                assert c == c
                assert c == other
        """),
        Example("""
            def test_copied(make, other, alike):
                ticket = make()
                assert ticket == ticket
                assert (ticket.copy(price=other) == ticket) is alike(other, ticket.price)
        """),
        # Of an object that equality is tested of, a set asks for its hash.
        Example("""
            def test_ticket(make, other):
                ticket = make()
                assert ticket != other
                assert ticket in {ticket}
        """),
        Example("""
            def test_address():
                place = Address.parse("Main Street 1")
                assert place == place
            def test_place(make):
                \"\"\"A place equals itself.\"\"\"
                place = make()
                assert place == place
        """),
        Example("""
            def test_runs(run, rng):
                assert run(1) == run(1)
                assert next(rng) == next(rng)
        """),
        Example("""
            def test_copy(run, rows, c):
                before = list(rows)
                run(rows)
                assert rows == before
                count = c.count
                c.look()
                assert c.count == count
        """),
        Example("""
            def test_again(run):
                rows = run()
                old = rows
                rows = run()
                assert rows == old
        """),
        Example("""
            def test_sum(n):
                a = b = 0
                for x in n:
                    a += x
                    b += x
                assert a == b
        """),
        Example("""
            import pytest, mylib
            def test_close():
                x = [1.0]
                mylib.assert_close(x, x)
                with pytest.raises(AssertionError):
                    mylib.assert_close(x, [2.0])
        """),
        Example("""
            def test_equals(lazy):
                assert lazy.equals(lazy)
                assert lazy.identical(lazy)
        """),
        Example("""
            import copy
            def test_frozen(model, opt):
                before = copy.deepcopy(model.state_dict())
                opt.step()
                assert model.state_dict() == before
        """),
        # Other tasks set the name while this one sleeps.
        Example("""
            import asyncio
            async def test_one_at_a_time(pool):
                holder = None
                async def visit(guest):
                    nonlocal holder
                    async with pool.room():
                        holder = guest
                        await asyncio.sleep(0.1)
                        assert holder == guest
                await asyncio.gather(*(visit(guest) for guest in range(3)))
        """),
        Example("""
            import torch
            def test_parameters_stay(model, optimizer):
                first = {name: weight.detach().clone() for name, weight in model.named_parameters()}
                for _ in range(3):
                    optimizer.step()
                for name, weight in model.named_parameters():
                    assert torch.equal(weight, first[name])
        """),
        # Numbers are copied with the dictionary that holds them.
        Example("""
            def test_scheduler(optimizer):
                sched = NoamScheduler(optimizer, warmup=100)
                state = sched.state_dict()
                sched.load_state_dict(state)
                assert state == sched.state_dict()
        """),
        Example("""
            def test_resumed(Loader, rows):
                loader = Loader(rows)
                state = loader.state_dict()
                loader = Loader(rows)
                loader.load_state_dict(state)
                assert loader.state_dict() == state
        """),
        Example("""
            def test_pairs(runs):
                last = None
                for run in runs:
                    now = run()
                    if last is not None:
                        assert now == last
                    last = now
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if _may_cross(unit) or (unit.is_test and may_be_stale(unit)):
            return True
        if _ABOUT_EQUALITY.search(unit.name):
            return False
        return may_compare_one(unit) or may_be_live_mapping(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in _crossed(unit):
            yield self.finding(
                unit,
                one.node,
                f"both values are from `{one.of}`: the loop walks it together with `{one.other}`, into which"
                " nothing here looks",
                certainty="likely",
                steps=(step(unit, one.over, "their keys are walked together"),),
                still_catches=still_catches(unit, one.node, but=(one.loop,), repo=repo),
            )
        old = list(stale(unit)) if unit.is_test else []
        if old:
            yield self._left_behind(unit, old)
        if _ABOUT_EQUALITY.search(unit.name) or _fails_elsewhere(unit):
            return
        seen: set[int] = set()
        for comparison in comparisons(unit):
            anchor = comparison.check.anchor
            if id(anchor) in seen:
                continue
            found = self._judge(unit, comparison, repo)
            if found is not None:
                seen.add(id(anchor))
                yield found
        for check in checks(unit):
            subtraction = _zero(unit, check) if id(check.anchor) not in seen else None
            sure = _read_twice(unit, subtraction.left, repo) if subtraction is not None else None
            if subtraction is not None and sure is not None:
                text = unit.text(subtraction)
                yield self.finding(
                    unit,
                    check.anchor,
                    f"`{text}` subtracts a value from itself, so the check is about zero",
                    certainty=sure,
                    steps=(step(unit, subtraction, "always zero"),),
                    still_catches=still_catches(unit, check.anchor, repo=repo),
                )

    def _left_behind(self, unit: Unit, old: list[Stale]) -> Finding:
        """All checks of one test that look at what was there before a reload are one thing."""
        one = old[0]
        now = newly_compared(unit, one)
        more = f", and {len(old) - 1} more like it" if len(old) > 1 else ""
        places = (
            (one.taken, f"`{one.name}` is taken from the first `{one.root}`"),
            (one.kept, "one side is read here"),
            (
                one.rebound,
                f"`{one.root}` is another object from here on, and `{one.name}` is still of the first",
            ),
        )
        return self.finding_at(
            unit,
            tree_span(unit, one.demand.node),
            f"both sides of this check are read from the `{one.root}` that was there before line"
            f" {one.rebound.lineno}: `{one.name}` was taken from that one{more}",
            certainty="likely",
            steps=[tree_step(unit, at, says) for at, says in places],
            still_catches=(
                (f"`{now.text}`, which looks at the new `{one.root}`",)
                if now is not None
                else (f"nothing here: no check compares a value of the new `{one.root}`",)
            ),
        )

    def _judge(self, unit: Unit, comparison: Comparison, repo: Repo) -> Finding | None:
        left, right = comparison.left, comparison.right
        steps: tuple[Step, ...] = ()
        certainty: Certainty = "proved"
        if comparison.relation == "member" and isinstance(right, (cst.List, cst.Tuple, cst.Set)):
            if not any(same(left, e.value) for e in right.elements) or steadiness(left) is None:
                return None
            judged = _read_twice(unit, left, repo)
            if judged is None or _tests_equality(unit, comparison):
                return None
            certainty = judged
            message = f"`{unit.text(left)}` is looked for in a collection that is made of it"
        elif comparison.relation not in _HOLDS or _means_not_nan(unit, comparison):
            return None
        elif same(left, right):
            judged = _certainty(unit, comparison, repo)
            if judged is None and comparison.relation != "identical":
                return self._asked_again(unit, comparison, repo)
            if judged is None or _tests_equality(unit, comparison):
                return None
            certainty = "question" if _beside_unlike(unit, comparison) else judged
            message = f"`{unit.text(left)}` is compared with itself"
        else:
            other_name = alias(unit, left, right) if comparison.relation != "identical" else None
            if other_name is not None:
                message = f"`{unit.text(left)}` and `{unit.text(right)}` are one object, so they are equal"
                sure = _read_twice(unit, left, repo)
                if sure is None:
                    return None
                # Of one object under two names an item or attribute is as likely one as under one name.
                certainty = sure if sure == "proved" else "likely"
                steps = (
                    step(unit, other_name.node, f"`{other_name.name}` is another name for it, not a copy"),
                )
            elif (made := answers_of_one(unit, left, right)) is not None:
                if says_repeats(unit):
                    return None
                message = f"`{unit.text(left)}` and `{unit.text(right)}` ask one object: no other one enters"
                certainty = "likely"
                steps = (step(unit, made.node, f"`{made.name}` is another name for it from here on"),)
            elif (state := live_state(unit, left, right)) is not None:
                message = f"`{unit.text(state.taken)}` holds the live tensors, so both sides change together"
                certainty = "likely"
                steps = (
                    step(unit, state.taken, "taken without a copy"),
                    step(unit, state.change, "changes it in place"),
                )
            elif comparison.relation == "identical":
                return None  # whether the two are one object is what it asks
            elif (held := live_mapping(unit, left, right)) is not None:
                message = f"`{unit.text(left)}` and `{unit.text(right)}` are one object, so they are equal"
                certainty = "likely" if held.change is None and held.rebinds is None else "question"
                if held.rebinds is not None:
                    message += f", unless `{unit.text(held.rebinds)}` gives it another one"
                if held.change is not None:
                    message += f", unless `{unit.text(held.taken)}` hands out a copy"
                steps = (
                    step(unit, held.taken, "taken without a copy"),
                    *(
                        ()
                        if held.change is None
                        else (step(unit, held.change, "and changed here, by either name"),)
                    ),
                )
            else:
                return None
        return self.finding(
            unit,
            comparison.check.anchor,
            message,
            certainty=certainty,
            steps=steps,
            still_catches=still_catches(unit, comparison.check.anchor, repo=repo),
        )

    def _asked_again(self, unit: Unit, comparison: Comparison, repo: Repo) -> Finding | None:
        """One object is asked the same twice, which may fail only where its method does not repeat itself."""
        name, node = asked_of_one(unit, comparison.left, comparison.right), comparison.node
        if name is None or says_repeats(unit) or _tests_equality(unit, comparison):
            return None
        called = isinstance(node, cst.Call) and comparison.check.node is node
        if called and not is_library_assertion(node, unit):  # type: ignore[arg-type]
            return None  # a helper of the project may check the form of each side too
        others = left_unread(unit, name)
        unread = "".join(f", and no check looks at `{one.name}`" for one in others)
        return self.finding(
            unit,
            comparison.check.anchor,
            f"`{unit.text(comparison.left)}` is asked of one `{name.value}` twice: this can fail only where"
            f" it is not the same each time{unread}",
            certainty="likely" if others else "question",
            steps=[step(unit, one.node, f"`{one.name}` is compared with nothing") for one in others],
            still_catches=still_catches(unit, comparison.check.anchor, repo=repo),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Crossed:
    """`node` compares `of[one]` with `of[two]` in a loop over the keys of `of` and `other` together."""

    node: cst.CSTNode
    loop: cst.For
    over: cst.BaseExpression
    of: str
    other: str


def _may_cross(unit: Unit) -> bool:
    if not (unit.calls("zip") and unit.has(ast.For) and unit.has(ast.Subscript)):
        return False
    keys = {node.slice.id for node in unit.asts(ast.Subscript) if isinstance(node.slice, ast.Name)}
    return any(
        isinstance(loop.target, ast.Tuple)
        and {one.id for one in loop.target.elts if isinstance(one, ast.Name)} <= keys
        for loop in unit.asts(ast.For)
    )


def _crossed(unit: Unit) -> Iterator[_Crossed]:
    """`for one, two in zip(before, after): assert equal(before[one], before[two])`."""
    for loop in unit.find(cst.For) if _may_cross(unit) else ():
        over, target = loop.iter, loop.target
        if not isinstance(over, cst.Call) or dotted(over.func) != "zip" or not isinstance(target, cst.Tuple):
            continue
        walked = [canonical(arg.value) for arg in over.args if arg.keyword is None and not arg.star]
        keys = [canonical(element.value) for element in target.elements]
        if len(walked) != 2 or len(keys) != 2 or walked[0] == walked[1]:
            continue
        looked_up = {canonical(node.value) for node in walk(loop.body) if isinstance(node, cst.Subscript)}
        for node in walk(loop.body):
            sides = _compared(node)
            of = {canonical(side.value) for side in sides if isinstance(side, cst.Subscript)}
            by = [_index(side) for side in sides]
            (other, *more) = [name for name in walked if name not in of] or ("", "")
            if len(of) == 1 and by == keys and not more and other not in looked_up:
                yield _Crossed(node, loop, over, of.pop(), other)


def _compared(node: cst.CSTNode) -> tuple[cst.BaseExpression, ...]:
    """The two values that an equality, or a call that compares by its name, looks at; () for the rest."""
    if isinstance(node, cst.Comparison) and isinstance(
        node.comparisons[0].operator, (cst.Equal, cst.NotEqual)
    ):
        return (node.left, node.comparisons[0].comparator)
    if isinstance(node, cst.Call) and len(node.args) > 1 and _EQUALS.search(last_name(node)):
        return (node.args[0].value, node.args[1].value)
    return ()


def _index(node: cst.BaseExpression) -> str:
    found = subscript(node)
    element = node.slice[0].slice if isinstance(node, cst.Subscript) and len(node.slice) == 1 else None
    return canonical(element.value) if found is None and isinstance(element, cst.Index) else ""


def _certainty(unit: Unit, comparison: Comparison, repo: Repo) -> Certainty | None:
    """How sure it is that comparing one expression with itself says nothing."""
    why, node = steadiness(comparison.left), comparison.node
    if why is None or (comparison.relation == "identical" and why != "value"):
        return None
    if isinstance(node, cst.Call) and comparison.check.kind in ("call", "helper"):
        if not is_library_assertion(node, unit):
            # A helper of the project may check the form of each side too.
            return "likely" if dotted(node.func) in ("self.assert_close", "eq_") else "question"
    elif isinstance(node, cst.Call) and re.search("(?i)equal|identical|" + last_name(node), unit.name):
        return None  # `x.equals(x)` in the test of `equals`
    elif isinstance(unit.parent(node), cst.Attribute) or _is_method(unit, comparison.left):
        return (
            "question"  # `(x == x).all()` may be there for `all`, `a.run == a.run` for how methods are bound
        )
    return _read_twice(unit, comparison.left, repo)


def _read_twice(unit: Unit, node: cst.BaseExpression, repo: Repo) -> Certainty | None:
    """How sure it is that an expression means one value where it is evaluated twice: surely a name does, and
    an item of plain data. An item of anything else is what its class makes of it, an attribute may be a
    property, and a call goes through both."""
    if _is_derived_class(unit, node):
        return "question"
    why = steadiness(node)
    items = [below for below in walk(node) if isinstance(below, cst.Subscript)]
    computed = [item for item in items if not is_plain(unit, item, repo)]
    if why == "value" and not computed:
        return "proved"
    if any(_is_of_own_class(unit, item, repo) for item in computed):
        return None  # `draws[i] == draws[i]` may ask whether it draws the same twice
    if _ABOUT_REPEATS.search(unit.name):
        return None
    properties = any(
        any(made.decorators and made.decorators[-1].endswith("property") for _, made in found)
        for below in walk(node)
        if isinstance(below, cst.Attribute) and not isinstance(unit.parent(below), cst.Call)
        for found in [repo.index.definitions(below.attr.value)]
    )
    if properties or not all(_by_text(item) for item in computed):
        return "question"
    return "likely"


def _is_derived_class(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a name is a class that the file derives from another, whose metaclass may say what is equal."""
    made = [one.node for one in values(unit).reaching(node)] if isinstance(node, cst.Name) else []
    return any(isinstance(one, cst.ClassDef) and one.bases for one in made)


def _by_text(item: cst.Subscript) -> bool:
    """`row["reward"]`: what takes a text is rather a dictionary than a data set that draws its items."""
    found = subscript(item)
    return found is not None and isinstance(found[1], str)


def _is_method(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an attribute is a function, which is bound anew each time: it is called here, or a class that
    stands here makes it."""
    if not isinstance(node, cst.Attribute):
        return False
    name = node.attr.value
    called = any(
        isinstance(call.func, cst.Attribute) and last_name(call) == name for call in unit.find(cst.Call)
    )
    made = any(
        isinstance(unit.parent(below), cst.IndentedBlock) and below.name.value == name
        for below in unit.find(cst.FunctionDef)
    )
    return called or made


def _is_of_own_class(unit: Unit, node: cst.BaseExpression, repo: Repo) -> bool:
    """Whether an item is asked of an object of a class whose `__getitem__` may do anything."""
    base = node
    while isinstance(base, cst.Subscript):
        base = base.value
    return base is not node and _is_instance(unit, base, repo, 2)


def _is_instance(unit: Unit, node: cst.BaseExpression, repo: Repo, depth: int) -> bool:
    """Whether a value was made by calling a class, here, by a fixture or by every caller that hands it in."""
    made = values(unit).resolve(node)
    if isinstance(made, cst.Call):
        name = last_name(made)
        return name[:1].isupper() and name not in _PLAIN_CONTAINERS
    if not isinstance(made, cst.Name) or not unit.is_function or not depth:
        return False
    if takes_fixtures(unit):
        handing = fixture(unit, made.value, repo)
        return handing is not None and any(
            _is_instance(handing, value, repo, depth - 1) for value in handed_out(handing)
        )
    given = [(site.caller, bind(site.call, unit).get(made.value)) for site in callers(unit)]
    return bool(given) and all(
        one is not None and _is_instance(caller, one, repo, depth - 1) for caller, one in given
    )


def _means_not_nan(unit: Unit, comparison: Comparison) -> bool:
    """`if x != x` and its like: only NaN differs from itself, and that is what is asked."""
    if not same(comparison.left, comparison.right):
        return False
    node = comparison.node
    negated = isinstance(node, cst.Comparison) and any(
        isinstance(target.operator, cst.NotEqual) for target in node.comparisons
    )
    return negated or any("nan" in canonical(part).lower() for part in _parts(comparison.check.node))


def _parts(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The expressions of a check's statement, or of its call."""
    if isinstance(node, cst.BaseExpression):
        yield node
    else:
        yield from (below for below in children(node) if isinstance(below, cst.BaseExpression))


def _tests_equality(unit: Unit, comparison: Comparison) -> bool:
    """Whether equality itself is tested: of an object made for that, or one that is compared with others."""
    value = values(unit).resolve(comparison.left)
    # `Row(1)` and `Row.parse("1")`.
    made = dotted(value.func).split(".")[-2:] if isinstance(value, cst.Call) else []
    if any(part.lstrip("_")[:1].isupper() for part in made) or _says_equality(unit):
        return True
    own = canonical(comparison.left)
    if isinstance(value, cst.Call) and last_name(value) in _made_alike_and_compared(unit):
        return True
    return own in _asked_of_itself(unit) or not _compared_with(unit).get(own, set()) <= {own}


def _beside_unlike(unit: Unit, comparison: Comparison) -> bool:
    """Whether two other things that have names are demanded to differ: how their class compares may be what
    both are about."""
    own = canonical(comparison.left)
    return any(
        one.relation == "different"
        and all(isinstance(side, (cst.Name, cst.Attribute)) for side in (one.left, one.right))
        and own not in (canonical(one.left), canonical(one.right))
        for one in comparisons(unit)
    )


@once
def _made_alike_and_compared(unit: Unit) -> frozenset[str]:
    """What two values are got by that are demanded to be equal, or not: `plan.axis(0) == plan.axis(1)`."""
    pairs = [(one.left, one.right) for one in comparisons(unit) if one.relation in ("equal", "different")]
    return frozenset(
        last_name(left)
        for left, right in pairs
        if isinstance(left, cst.Call) and isinstance(right, cst.Call) and not same(left, right)
        if last_name(left) == last_name(right) and last_name(left) not in _VALUES
    )


# What gives plain values, of which nobody tests the equality.
_VALUES = frozenset({"len", "str", "repr", "list", "tuple", "set", "dict", "sorted", "sum", "type", "id"})


@once
def _asked_of_itself(unit: Unit) -> frozenset[str]:
    """What has a method that is given it again: `place.is_same(place)` beside `place == place`."""
    return frozenset(
        canonical(call.func.value)
        for call in unit.find(cst.Call)
        if isinstance(call.func, cst.Attribute)
        and any(
            type(arg.value) is type(call.func.value) and same(arg.value, call.func.value) for arg in call.args
        )
    )


@once
def _compared_with(unit: Unit) -> dict[str, set[str]]:
    """For each value that is compared the values that it is compared with, as code."""
    # Also where the outcome is only a part of what is checked: `(a == b) is alike`.
    pairs = [(one.left, one.right) for one in comparisons(unit) if one.relation != "member"]
    pairs += [
        (node.left, node.comparisons[0].comparator)
        for node in unit.find(cst.Comparison)
        if isinstance(node.comparisons[0].operator, (cst.Equal, cst.NotEqual))
    ]
    found: dict[str, set[str]] = {}
    for left, right in pairs:
        one, other = canonical(left), canonical(right)
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def _says_equality(unit: Unit) -> bool:
    """Whether the docstring says that a thing must equal itself."""
    tree = unit.tree
    function = isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    return function and _TO_ITSELF.search(ast.get_docstring(tree) or "") is not None  # type: ignore[arg-type]


def _fails_elsewhere(unit: Unit) -> bool:
    """Whether the unit expects an assertion to fail, as the test of an assertion function does."""
    for item in unit.find(cst.WithItem):
        call = raising_context(item)
        if call is not None and any(last_name(arg.value) == "AssertionError" for arg in call.args):
            return True
    return False


def _zero(unit: Unit, check: Check) -> cst.BinaryOperation | None:
    """A subtraction of a value from itself whose size a check bounds, directly or through a name."""
    flow = values(unit)
    for comparison in comparisons(unit):
        if comparison.check.node is not check.node or comparison.relation != "order":
            continue
        for side, limit in (
            (comparison.left, comparison.right),
            (comparison.right, comparison.left),
        ):
            # `born >= now - now`: a zero by name, to which something else is held.
            held = [flow.resolve(limit), *(one.value for one in flow.slice(limit) if one.value is not None)]
            if any(isinstance(below, cst.Call) for one in held for below in walk(one)):
                continue
            for node in walk(flow.resolve(side)):
                if (
                    isinstance(node, cst.BinaryOperation)
                    and isinstance(node.operator, cst.Subtract)
                    and same(node.left, node.right)
                    and steadiness(node.left) is not None
                ):
                    return node
    return None
