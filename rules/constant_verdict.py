"""A check whose condition has the same value on every run.

## Why
Python takes a non-empty tuple, a generator, a function or a message as true. An assertion over one of
them, or over a flag that nothing ever sets to false, passes whatever the code under test does. Half of a
check is decided so in `("a" or "b") in rows`, which looks for "a" alone.

## Instead
Assert the comparison itself, and put the message after a comma outside the parentheses. Give a flag a path
on which it becomes false; call the function; compare with `assertEqual`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.checks import Check, call_of, checks
from reviewbot.flow.conditions import COMPARED, OPERATORS, TRUTHS, condition_of
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.messages import compared_as_message, is_verdict, is_verdict_tree, may_be_message
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.not_called import may_not_be_called, not_called
from reviewbot.flow.settled_operands import Settled, is_of_language, may_drop_an_operand, settled
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, same, walk
from reviewbot.flow.truth import Truth, display, may_be_constant, may_be_settled, truth
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, called_last, once, rewrite, step, written
from reviewbot.model import Certainty

_ONE_VALUE = (*TRUTHS, "assertIsNone", "assertIsNotNone")
_SUSPECTED = frozenset({*_ONE_VALUE, *COMPARED})
_FAIL_WHEN_TRUE = ("assertFalse", "failIf")


class ConstantVerdict(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            import unittest
            class Rows(unittest.TestCase):
                def test_score(self):
                    self.assertTrue(type(self.run(1).score), "Tensor")  # <- here
            def test_rows(run):
                assert type(run(1))  # <- here
        """),
        Example("def test_rows(run):\n    assert (run(1) == [2], 'wrong')  # <- here\n"),
        Example("def test_rows(run):\n    assert (r == 2 for r in run(1))  # <- here\n"),
        Example("def test_rows(run):\n    assert [r == 2 for r in run(1)]  # <- here\n"),
        Example("def test_rows(run):\n    assert lambda: run(1) == [2]  # <- here\n"),
        Example("def test_rows(run):\n    assert f'rows differ: {run(1)}'  # <- here\n"),
        Example("def test_rows(run):\n    assert run(1) == [2] or 'differ'  # <- here\n"),
        Example("def test_rows(run):\n    assert run(1) == 1 or 2  # <- here\n"),
        Example("def test_rows(run):\n    assert len(run(1)) >= 0  # <- here\n"),
        # One of two operands is never looked at.
        Example("""
            import unittest

            class TestShelves(unittest.TestCase):
                def test_kept(self):
                    shelf = stock()
                    assert not (("tea" or "salt") in shelf)  # <- here
                    self.assertTrue(("tea" and "salt") in shelf)  # <- here
                    self.assertIn("rice" or "rye", shelf)  # <- here
                    assert shelf.kind == ("open" or "closed" or "shut")  # <- here
                    if shelf.rows != (3 or 4):  # <- here
                        raise AssertionError(shelf)
                    assert "rye" and "oats" in shelf  # <- here

            def test_labels(log, n):
                assert ("tea" f"{n}" and "salt") in log
                assert ("tea" and "salt") in log  # <- here
        """),
        # Asked about: it may say what Python itself makes of the operation.
        Example("""
            def test_last(run):
                assert run("2 and 3") == (2 and 3)  # <- here

            def test_handed_over(quick):
                def either(x):
                    return 1 or x

                assert quick(either)(5) == (1 or 5)  # <- here
        """),
        Example("def test_rows(run):\n    assert run(1) == [2], run(2) == [3]  # <- here\n"),
        Example(
            "def test_rows(run, rows):\n    same = True\n    for a, b in rows:\n        if run(a) != b:\n"
            "            print(a, b)\n    assert same  # <- here\n"
        ),
        Example(
            "def compare(left, right):\n    failures = []\n    for a, b in zip(left, right, strict=True):\n"
            "        if a != b:\n            print(a, b)\n    if failures:\n"
            "        raise AssertionError(failures)  # <- here\n"
        ),
        Example("def same(a, b):\n    return a == b\n\ndef test(run):\n    assert same  # <- here\n"),
        Example("async def same(a):\n    return a\n\ndef test(run):\n    assert same(run)  # <- here\n"),
        Example("import torch\n\ndef test(a, b):\n    assert torch.equal  # <- here\n"),
        Example("def test(a, b):\n    assert (a == b).all  # <- here\n"),
        # What makes its items later, under a name too; a method that is not called.
        Example("""
            import torch
            from unittest import TestCase

            class Row:
                def equal(self, other):
                    return self.x == other.x

                def at_sea(self) -> bool:
                    return bool(self.x)

            def verdicts(rows):
                for row in rows:
                    yield row.x == 1

            def test_rows(one, other):
                checks = (x == y for x, y in zip(one, other, strict=True))
                assert checks  # <- here
                later = map(Row, one)
                if not later:
                    raise AssertionError(other)  # <- here
                assert verdicts(one)  # <- here
                found = verdicts(other)
                assert found  # <- here
                assert filter(None, one)  # <- here
                holds = lambda: one == other
                assert holds  # <- here

            def test_row():
                row = Row()
                assert row.equal  # <- here
                assert row.at_sea, "on land"  # <- here

            class TestWeights(TestCase):
                def test_weights(self, weights):
                    assert torch.isfinite  # <- here
                    self.assertTrue(torch.isfinite(weights).all)  # <- here
        """),
        Example(
            "from unittest import TestCase\n\nclass T(TestCase):\n    def test(self):\n"
            "        self.assertTrue(run(1), 2)  # <- here\n"
            "        self.assertTrue(run(1), run.rows)  # <- here\n"
            "        self.assertTrue(run(1) or True)  # <- here\n"
            "        self.assertGreaterEqual(len(run(1)), 0)  # <- here\n"
            "        self.assertIsNotNone(run(1) == 2)  # <- here\n"
            "        self.assertTrue((run(1) == 2, 'wrong'))  # <- here\n"
        ),
        # A list that repeats one value.
        Example(
            """
            class T(TestCase):
                def test(self):
                    self.assertTrue(run(1).momentum, [1.0] * 8)  # <- here
                    want = [1.0] * 8
                    self.assertTrue(run(2).momentum, want)  # <- here
                    self.assertTrue(run(3), (0, 1) * 2)  # <- here
                    zeros = 4 * [0]
                    self.assertTrue(run(4).rows, zeros)  # <- here
                    self.assertTrue([row.x for row in run(5)], [run.x] * 3)  # <- here
            """
        ),
        Example(
            """
            class T(TestCase):
                def test(self):
                    expected = ["table_9"]
                    found = [option.name for option in run()]
                    self.assertTrue(expected, found)  # <- here
            """
        ),
        # A value that a constructor makes.
        Example(
            """
            import numpy as np
            import torch

            class T(TestCase):
                def test(self):
                    self.assertTrue(run(1).shape, torch.Size([2, 4]))  # <- here
                    self.assertTrue(run(2).dtype, np.dtype("float32"))  # <- here
                    self.assertTrue(run(3), dict(sails=2, masts=1))  # <- here
                    self.assertTrue(run(4).crew, set(run(5).crew))  # <- here
                    self.assertTrue(len(run(6)), len(run(7)))  # <- here
            """
        ),
        Example("def test_reached(run):\n    run()\n    assert True  # <- here\n"),
        Example("""
            def test_later(run):
                assert 1 == 1  # <- here
                assert "a" in "abc"  # <- here

            def test_lists(run):
                assert [1, 2] == [1, 2]  # <- here
                assert not 2 < 1  # <- here

            class T(TestCase):
                def test(self):
                    self.assertEqual(2, 2)  # <- here
                    self.assertIn("a", ("a", "b"), "to do")  # <- here
        """),
        # What counts some of the rows is never more than there are rows, whatever was counted.
        Example("""
            def test_mismatches(run, reference):
                rows = run(1)
                mismatches = 0
                for row, wanted in zip(rows, reference, strict=True):
                    if row != wanted:
                        mismatches += 1
                assert mismatches <= len(rows)  # <- here
                share = mismatches / len(rows)
                assert 0 <= share <= 1.0  # <- here

            def test_bad(run, reference):
                rows = run(1)
                bad = [row for row in rows if row not in reference]
                assert len(bad) <= len(rows)  # <- here
                total = len(rows)
                assert sum(row.loss > 9 for row in rows) <= total  # <- here
                assert total >= 0  # <- here
                if len(set(rows)) > len(rows):
                    raise AssertionError("more rows than there are")  # <- here

            class T(TestCase):
                def test(self, found):
                    wrong = []
                    for row in found:
                        if row.wrong:
                            wrong.append(row)
                    self.assertLessEqual(len(wrong), len(found))  # <- here
        """),
    )
    good = (
        Example("""
            def test_kinds(run, type):
                assert type(run(1))
                assert type(run(2)) is not None or run(3)
        """),
        # The message shows what is asked.
        Example("""
            def test_log(sail):
                log = sail()
                assert "knots" in log["day"], "knots" in log["day"]
        """),
        # What is shown of the value itself, under a name, or by a method.
        Example(
            """
            class T(TestCase):
                def test(self):
                    ship, problems = run(1), list(complaints())
                    self.assertTrue(ship.ready, dict(ship=ship))
                    self.assertTrue(ship.ready, list(ship.ready))
                    self.assertTrue(ship.ready, problems)
                    self.assertFalse(ship.sink.called, ship.sink.call_args_list)
                    self.assertTrue(ship.ready, ship.log.list())
                    self.assertTrue(ship.ready, str(ship))
            """
        ),
        # Of what is shown, a part is asked.
        Example(
            """
            class T(TestCase):
                def setUp(self):
                    self.kettle = Kettle()

                def test(self):
                    cups = []
                    fill(cups)
                    kettle = self.kettle
                    self.assertTrue(kettle.hot, kettle)
                    self.assertIsNone(cups[0], cups)
            """
        ),
        # What is shown beside a verdict, or a line under it.
        Example(
            """
            class T(TestCase):
                def test(self):
                    self.assertTrue(run(1) == [1.0] * 8, [1.0] * 8)
                    self.assertTrue(run(2).done, "-" * 8)
                    self.assertTrue(run(3).done, "row %s" % run(3))
                    self.assertTrue(is_sorted(run(4)), [0] * 4)
            """
        ),
        # What a class keeps as a default may be added to through its instances.
        Example("""
            def test_default_is_copied(Base):
                kept = []
                class Rows(Base):
                    rows: list[str] = kept
                Rows().rows.append("a")
                assert kept == []
        """),
        # A method of something else that happens to be called so.
        Example("""
            def test_order(kitchen, wide):
                kitchen.order("tea")
                kitchen.assert_(f"TEA {'LARGE' if wide else 'SMALL'}")
        """),
        # What is shown is what another check asks.
        Example("""
            def test_berths(fleet):
                assert fleet.ships == fleet.berths, fleet.crews == fleet.cabins
                if fleet.ships:
                    assert fleet.crews == fleet.cabins
        """),
        # A flag, and what is shown where it is not set.
        Example("""
            import unittest

            class TestKettle(unittest.TestCase):
                def test_boils(self):
                    seen, boiled = set(), False
                    for turn in range(5):
                        seen.add(self.kettle.heat(turn))
                        if len(seen) == 1:
                            boiled = True
                    self.assertTrue(boiled, seen)
        """),
        # A program that says what its loop has made sure of.
        Example(
            """
            def dedup(lines, known):
                kept = []
                for line in lines:
                    if line not in known:
                        kept.append(line)
                assert len(kept) <= len(lines)
                return kept
            """,
            path="tools/dedup.py",
        ),
        Example("def test_rows(run):\n    assert run(1) == [2], 'wrong'\n"),
        Example("def test_rows(run):\n    assert all(r == 2 for r in run(1))\n    assert len(run(1)) > 0\n"),
        # A filter makes the list a search: it is empty where nothing fits.
        Example("""
            def test_kept(shelf, name, default):
                assert (name or "salt") in shelf
                assert shelf.kind == (default and "open")
                assert shelf.rows == ("" or None)
                assert "tea" in shelf or "salt" in shelf
                assert "the shelf is open" and shelf.open()
                assert shelf.rows > 3 and "enough rows"
                assert shelf.name == (("salt" if name else "") or default)
        """),
        Example("def test_rows(run):\n    assert [r for r in run(1) if r == 2]\n    assert [*run(1)]\n"),
        # The marker of a place that must not be reached.
        Example("def test(run):\n    if run():\n        assert False, 'unreachable'\n    assert 0\n"),
        # A flag that a callback, a handler or a loop may set.
        Example(
            "def test(run):\n    called = False\n    def on_row(row):\n        nonlocal called\n"
            "        called = True\n    run(on_row)\n    assert called\n"
        ),
        Example(
            "def test(run):\n    try:\n        run()\n    except ValueError:\n        raised = True\n"
            "    assert raised\n"
        ),
        Example(
            "def compare(rows):\n    ok = True\n    for a, b in rows:\n        ok = ok and a == b\n"
            "    assert ok\n"
        ),
        Example(
            "def compare(left, right):\n    failures = []\n    check(left, right, failures)\n"
            "    assert not failures\n"
        ),
        Example(
            "def test(run):\n    errors = 0\n    for r in run():\n        errors += r.bad\n"
            "    assert errors == 0\n"
        ),
        Example(
            "from unittest import TestCase\n\nclass T(TestCase):\n    def test(self):\n"
            "        self.assertTrue(run(1), 'no rows')\n        self.assertTrue(run(1), f'{run} failed')\n"
            "        self.assertTrue(run(1), msg=run)\n        self.assertGreaterEqual(len(run(1)), 1)\n"
        ),
        # Values that a person reads beside a verdict, and what says the same again.
        Example(
            "from unittest import TestCase\n\nclass T(TestCase):\n    def test(self, a, b):\n"
            "        self.assertTrue(a is b, (a, b))\n        self.assertTrue(a.startswith('x'), a)\n"
            "        self.assertTrue(a.open, True)\n        self.assertFalse(a.errors, a.errors)\n"
            "        lost = []\n        run(lambda: lost.append(1))\n        self.assertFalse(lost, lost)\n"
            "        self.assertTrue(isclose(a.x, b), b.x)\n        self.assertTrue(refused, cm.exception)\n"
        ),
        # Tests of truth itself, and of whether a line was reached.
        Example(
            "from unittest import TestCase\n\nclass T(TestCase):\n    def test(self):\n"
            "        self.assertTrue([42])\n        if not 1: self.fail('1 is false')\n"
            "        reached = False\n        with run():\n            reached = True\n"
            "        self.assertTrue(reached)\n"
            "        with manager:\n            went_on = True\n            1 / 0\n"
            "        self.assertTrue(went_on)\n"
            "        hit = False\n        try:\n            raise E\n        except E:\n            pass\n"
            "        else:\n            hit = True\n        self.assertFalse(hit)\n"
            "        if not run: self.fail('a function is false')\n"
            "        if True and (y := True): pass\n        else: self.fail('not bound')\n"
        ),
        # Made at once, on one way only, by another of that name; a value; a test of what there is.
        Example("""
            import torch

            class Row:
                name: str = ""

                @property
                def equal(self):
                    return self.x == 1

                def is_set(self):
                    return self.x == 1

                def is_kept(self):
                    return self.x == 1

                def keep(self, kept):
                    self.is_kept = kept

                def label(self):
                    return self.name

            def test_rows(one, flag, filter):
                checks = [x == 1 for x in one]
                assert checks == [True]
                found = one
                if flag:
                    found = (x for x in one)
                assert found
                assert filter(None, one)

            def test_row(make):
                row, other = Row(), make()
                assert row.equal
                assert row.is_kept
                assert row.label
                assert other.is_set
                assert row.is_set()
                assert torch.isfinite(row.x).all()
                assert torch.version

            def test_row_has_its_methods():
                row = Row()
                assert row.is_set
                assert torch.isfinite
        """),
        # A function that is itself what is tested, and a list that a method of its own may change.
        Example("""
            def test_rewritten(explain):
                def passes():
                    assert True or explode
                explain(passes)

            def test_finalizer(setup):
                values = [1]
                setup.add(values.pop)
                assert values
                found = []
                add = found.append
                setup.each(lambda row: add(row))
                assert not found
        """),
        # Code that is switched off.
        Example("""
            def check(rows):
                if rows.lazy and False:
                    raise AssertionError("not yet")
                return rows
        """),
        # What fails on purpose, and the language itself.
        Example("""
            def test(run):
                if run():
                    assert 1 == 2, "must not be reached"
                assert 1 + 1 == 2
                assert (1, 2) + (3,) == (1, 2, 3)
        """),
        # More than one may be counted a turn, another collection is counted, or the collection has changed.
        Example("""
            def test_bounded(run, reference):
                rows, tokens, words = run(1), 0, 0
                for row in rows:
                    tokens += len(row)
                    for word in row.words:
                        words += word.wrong
                assert tokens <= len(rows)
                assert words <= len(rows)
                assert len([row for row in rows if row.wrong]) <= len(reference)
                assert sum(row.errors for row in rows) <= len(rows)
                assert 0 <= tokens / len(rows) <= 1
                wrong = [row for row in rows if row.wrong]
                assert len(wrong) < len(rows)
                rows.pop()
                assert len(wrong) <= len(rows)

            def test_collected(run, items):
                table = Table(items)
                assert len(set(table)) <= len(table)
                first = len(items)
                run(items)
                assert len(items) <= first
        """),
        Example("def test(x):\n    assert x is None or x > 0\n    assert x == 1 or x == 2\n"),
        Example("import pytest\n\ndef test():\n    with pytest.raises(E):\n        assert bool(Strange())\n"),
    )

    def suspect(self, unit: Unit) -> bool:
        asserts = unit.asts(ast.Assert)
        if any(isinstance(one.msg, ast.Compare) or may_be_constant(one.test, unit) for one in asserts):
            return True
        if any(may_not_be_called(unit, one.test) for one in asserts):
            return True
        if may_drop_an_operand(unit):
            return True
        failing = unit.has(ast.Raise) or unit.calls("fail", "exit", "_exit", "quit", "error")
        if failing and any(may_be_constant(node.test, unit) for node in unit.asts(ast.If)):
            return True
        return any(_may_be_settled(call, unit) for call in unit.calls_of(_SUSPECTED))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        every = checks(unit)
        for check in every:
            call = call_of(check.node)
            if call is not None and dotted(call.func) == "self.fail" and not in_test_file(unit.file.path):
                continue  # a parser's own way to refuse
            if (
                call is not None
                and last_name(call) == "assert_"
                and root_name(call) not in ("self", "cls", "assert_")
            ):
                continue  # `context.assert_("ALTER TABLE …")` of a fixture's own
            ignored = self._second_argument(unit, check, call) if call is not None else None
            condition, fails_when = condition_of(check)
            if ignored is not None or condition is None:
                yield from [ignored] if ignored is not None else ()
                continue
            always = truth(condition, unit) if not _is_handed_on(unit, check.node) else None
            if always is not None and always.value is not fails_when:
                yield from self._report(unit, check, condition, always, alone=len(every) == 1)
                continue
            why = not_called(unit, condition, repo) if check.kind in ("assert", "call") else None
            if why is not None and always is None and not fails_when:
                yield self.finding(
                    unit,
                    check.node,
                    f"this check can never fail: {why}",
                    certainty="likely",
                    still_catches=still_catches(unit, condition, but=[check.node]),
                )
                continue
            yield from (self._settled(unit, one) for one in settled(condition))
            if check.kind in ("assert", "call") and not fails_when:
                yield from self._list(unit, check, condition)
                if isinstance(check.node, cst.Assert) and isinstance(check.node.msg, cst.Comparison):
                    if any(each.condition and same(each.condition, check.node.msg) for each in checks(unit)):
                        continue  # it shows what it asks, or what another check asks
                    yield self._message(unit, check, check.node.msg)

    def _report(
        self, unit: Unit, check: Check, condition: cst.BaseExpression, always: Truth, *, alone: bool
    ) -> Iterator[Finding]:
        certainty = _certainty(unit, check, condition, always, alone=alone)
        if certainty is not None:
            yield self.finding(
                unit,
                check.node,
                f"this check can never fail: {always.why}",
                certainty=certainty,
                steps=[step(unit, node, says) for node, says in always.places],
                still_catches=still_catches(unit, check.condition or check.node, but=[check.node]),
                fix=_fix(unit, check),
            )

    def _settled(self, unit: Unit, one: Settled) -> Finding:
        whole, dropped, kept = unit.text(one.node), unit.text(one.dropped), unit.text(one.kept)
        return self.finding(
            unit,
            one.node,
            f"`{dropped}` is looked at by nothing: `{whole}` is always what `{kept}` is",
            certainty=_settled_certainty(unit, one),
            steps=(step(unit, one.dropped, "this decides nothing"),),
            still_catches=(f"what the same check catches with `{kept}` alone",),
        )

    def _list(self, unit: Unit, check: Check, node: cst.BaseExpression) -> Iterator[Finding]:
        """A list comprehension without a filter is as long as what it runs over."""
        if not isinstance(node, (cst.ListComp, cst.SetComp)) or node.for_in.ifs or node.for_in.inner_for_in:
            return
        if not is_verdict(node.elt):
            return
        over = unit.text(node.for_in.iter)
        bracketed = unit.text(node.elt) + unit.text(node.for_in)
        text = f"all({' '.join(bracketed.split())})"
        yield self.finding(
            unit,
            check.node,
            f"this check fails only if `{over}` is empty: a list of verdicts is true whatever they are",
            certainty="proved" if _never_empty(node.for_in.iter) else "likely",
            still_catches=still_catches(unit, node),
            fix=Fix(f"assert that all of them hold: `{text}`", (rewrite(unit, node, text),)),
        )

    def _message(self, unit: Unit, check: Check, message: cst.BaseExpression) -> Finding:
        return self.finding(
            unit,
            check.node,
            f"`{canonical(message)}` is the assertion's message, so nothing ever compares it",
            certainty="likely",
            still_catches=still_catches(unit, message, but=[check.node]),
        )

    def _second_argument(self, unit: Unit, check: Check, call: cst.Call) -> Finding | None:
        name = last_name(call)
        if name not in _ONE_VALUE or len(call.args) != 2:
            return None
        first, second = call.args
        if second.keyword is not None or second.star or first.star:
            return None
        if same(first.value, second.value):
            return None  # the value itself is shown where it is wrong
        if _looks_into(first.value, second.value):
            return None  # what it looks into is shown where it is wrong
        flow = values(unit)
        if isinstance(first.value, cst.Name) and _is_flag(unit, first.value):
            return None
        shown = flow.resolve(second.value)
        if type(shown) is cst.Call and shown is not second.value:
            return None  # `problems = list(validate(rows))`, shown where there are any
        certainty = compared_as_message(
            flow.resolve(first.value), first.value, shown, name, unit.file.imports
        )
        if certainty is None:
            return None
        always = truth(first.value, unit)
        certainty = "proved" if certainty == "likely" and always is not None and always.value else certainty
        code, fix = unit.text(second.value), None
        if name == "assertTrue" and certainty != "question":
            text = f"{dotted(call.func).rpartition('.')[0]}.assertEqual({unit.text(first.value)}, {code})"
            fix = Fix("compare the two", (rewrite(unit, call, text),))
        return self.finding(
            unit,
            check.node,
            f"`{name}` takes `{code}` as its message, so nothing ever compares the two",
            certainty=certainty,
            still_catches=still_catches(unit, call),
            fix=fix,
        )


def _settled_certainty(unit: Unit, one: Settled) -> Certainty:
    """How sure it is that nobody meant an operation that a written operand decides: to ask what Python itself
    says, it stands in `run("2 and 3") == (2 and 3)`."""
    if is_of_language(unit, one):
        return "question"
    if one.within is None or one.is_looked_for:
        return "proved"
    if one.is_written_out:
        others = [values(unit).resolve(other) for other in one.others]
        computed = any(isinstance(other, (cst.Call, cst.Await)) for other in others)
        return "question" if computed or all(literal(x) is not UNKNOWN for x in others) else "likely"
    equal = all(isinstance(each.operator, (cst.Equal, cst.NotEqual)) for each in one.within.comparisons)
    return "proved" if equal else "likely"


def _looks_into(node: cst.BaseExpression, shown: cst.BaseExpression) -> bool:
    """Whether a condition reads a part of what is shown, as `ship.crew` and `ships[0]` do."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
        if same(node, shown):
            return True
    return False


def _is_flag(unit: Unit, name: cst.Name) -> bool:
    """Whether a name is only ever True or False: there is nothing that it could be compared with."""
    bound = values(unit).reaching(name)
    given = [one.value for one in bound if one.value is not None]
    return bool(bound) and len(given) == len(bound) and all(isinstance(literal(v), bool) for v in given)


def _is_handed_on(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a check stands in a function that is itself what is tested: nobody here calls it, it is given
    to something by its name."""
    functions = [one for one in unit.find(cst.FunctionDef) if one is not unit.node]
    around = [one for one in functions if unit.holds(one, node)]
    if not around:
        return False
    inner = around[-1]
    reads = [read for read in values(unit).reads(unit.node) if read.value == inner.name.value]
    return bool(reads) and all(isinstance(unit.parent(read), cst.Arg) for read in reads)


def _may_be_settled(call: ast.Call, unit: Unit) -> bool:
    """Whether an assertion call of unittest may be one that cannot fail, or takes a value for its message."""
    name = called_last(call)
    if name in COMPARED:
        if len(call.args) < 2:
            return bool(call.keywords)
        left, right = call.args[:2]
        return may_be_settled(left, OPERATORS[name], right, unit)
    named = any(keyword.arg != "msg" for keyword in call.keywords)
    if named or not call.args or any(isinstance(arg, ast.Starred) for arg in call.args):
        return True
    first, *more = call.args
    if more and _may_be_compared(more[0], unit) and not is_verdict_tree(first):
        return True
    if name == "assertIsNone":
        return False
    if name in TRUTHS:
        if may_be_constant(first, unit):
            return True
        return name not in _FAIL_WHEN_TRUE and may_not_be_called(unit, first)
    return may_be_settled(first, ast.IsNot, ast.Constant(None), unit)


def _may_be_compared(second: ast.expr, unit: Unit) -> bool:
    """Whether what stands where the message does could be meant for a value to compare with."""
    if isinstance(second, ast.Name) and second.id in _called(unit):
        return False
    return not may_be_message(second)


@once
def _called(unit: Unit) -> frozenset[str]:
    """The names that hold what calls return, and nothing else: they are shown where something is wrong."""
    given = {
        id(target)
        for node in unit.asts(ast.Assign)
        if isinstance(node.value, ast.Call)
        for target in node.targets
    }
    return frozenset(
        name for name, stores in unit.facts.stored.items() if all(id(one) in given for one in stores)
    )


def _certainty(
    unit: Unit, check: Check, condition: cst.BaseExpression, always: Truth, *, alone: bool
) -> Certainty | None:
    """How sure it is that a constant condition was not meant to be one."""
    asserts = check.kind in ("assert", "call")
    value = literal(condition)
    if isinstance(check.node, cst.Assert) and isinstance(value, (str, tuple)):
        return "proved"
    if asserts and _is_of_plain_values(condition):
        # Whoever writes out both sides sees that they are equal: it marks a place, as `assert True` does, or
        # shows how the language compares.
        return "question"
    # `if False:` switches code off, `assertTrue([1])` tests truth itself, `assert True` marks a place.
    if value is not UNKNOWN or not any(isinstance(below, (cst.Name, cst.Call)) for below in walk(condition)):
        return "question" if asserts and alone and value in (True, 1) else None
    if any(isinstance(below, cst.NamedExpr) for below in walk(condition)):
        return None
    if not asserts and _is_switched_off(condition):
        return None
    if asserts and _writes_out(condition):
        return "question"  # that it can be written out may be all that is asked
    compares = isinstance(condition, (cst.Comparison, cst.BooleanOperation))
    if isinstance(check.node, cst.Assert) and " counts some of what " in always.why:
        # In a program it says what the loop above has made sure of.
        return "proved" if in_test_file(unit.file.path) else None
    return "proved" if asserts or always.places or compares else None


def _writes_out(condition: cst.BaseExpression) -> bool:
    """Whether a condition is that what `str()` or `repr()` gives is not None: only the call can fail."""
    return (
        isinstance(condition, cst.Comparison)
        and isinstance(condition.left, cst.Call)
        and dotted(condition.left.func) in ("str", "repr")
        and isinstance(condition.comparisons[0].operator, cst.IsNot)
    )


def _is_switched_off(condition: cst.BaseExpression) -> bool:
    """Whether a condition ends in `and False`, as `if False:` alone would say."""
    return (
        isinstance(condition, cst.BooleanOperation)
        and isinstance(condition.operator, cst.And)
        and literal(condition.right) is False
    )


def _is_of_plain_values(node: cst.BaseExpression) -> bool:
    """Whether a condition compares two plain values, and is no expression that tests the language itself."""
    while isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        node = node.expression
    if not isinstance(node, cst.Comparison):
        return False
    sides = (node.left, *(target.comparator for target in node.comparisons))
    return all(
        literal(side) is not UNKNOWN
        and not any(isinstance(below, cst.BinaryOperation) for below in walk(side))
        for side in sides
    )


def _never_empty(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call) and dotted(node.func) == "range" and len(node.args) == 1:
        count = literal(node.args[0].value)
        return isinstance(count, int) and count > 0
    found = display(node)
    return found is not None and found.value and isinstance(node, (cst.List, cst.Tuple, cst.Set))


def _fix(unit: Unit, check: Check) -> Fix | None:
    """The assertion without what makes it constant."""
    node = check.node
    if not isinstance(node, cst.Assert):
        return None
    if isinstance(node.test, cst.Tuple) and len(node.test.elements) == 2 and node.msg is None:
        condition, message = (element.value for element in node.test.elements)
        if isinstance(message, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)):
            text = f"assert {_alone(unit, condition)}, {_alone(unit, message)}"
            says = "assert the comparison and give the message after it"
            return Fix(says, (rewrite(unit, node, text),), safe=True)
    if isinstance(node.test, cst.BooleanOperation) and isinstance(node.test.operator, cst.Or):
        constant = literal(node.test.right)
        message = node.msg
        if isinstance(constant, str) and message is None:
            text = f"assert {_alone(unit, node.test.left)}, {_alone(unit, node.test.right)}"
            # `a == given or "usual"` may have been meant as `a == (given or "usual")`.
            left = node.test.left
            sure = not (
                isinstance(left, cst.Comparison) and isinstance(left.comparisons[-1].comparator, cst.Name)
            )
            return Fix("make the text the assertion's message", (rewrite(unit, node, text),), safe=sure)
        if constant is True:
            text = f"assert {_alone(unit, node.test.left)}"
            text += f", {_alone(unit, message)}" if message is not None else ""
            return Fix("drop `or True`", (rewrite(unit, node, text),), safe=True)
    if isinstance(node.test, cst.GeneratorExp):
        inner = unit.text(node.test.elt) + unit.text(node.test.for_in)
        text = f"all({' '.join(inner.split())})"
        return Fix(f"assert that all of them hold: `{text}`", (rewrite(unit, node.test, text),))
    return None


def _alone(unit: Unit, node: cst.BaseExpression) -> str:
    """An expression as it can stand by itself: in brackets where only those around it let it go on over more
    than one line."""
    text = written(unit, node)
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return f"({text})"
    return text
