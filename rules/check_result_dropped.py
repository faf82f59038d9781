"""A comparison whose outcome nobody looks at.

A bare comparison, `np.allclose(...)`, a helper's verdict, a coroutine that is not awaited, a `raises` that
is not entered, a comparison that a test returns, a pure method of a text or a tensor as a statement, a
script's `main()` that returns 1 where two runs differ.

## Why
The code reads like a check and can never fail: it computes whether two things agree and throws the answer
away.

## Instead
Put `assert` before it, `await` before a coroutine, `with` before `pytest.raises(...)`; `sys.exit(main())`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.calls import module_value
from reviewbot.flow.checks import called_name, predicate
from reviewbot.flow.effects import awaits_exception, compares_for_its_effect, function_of
from reviewbot.flow.exit_status import Dropped, dropped_status, is_entry_point
from reviewbot.flow.foreign import (
    finds_differences,
    foreign_names,
    helper_of,
    is_foreign_judge,
    is_local,
    names_judge,
    summary_of,
)
from reviewbot.flow.judging import judges, says_comparison
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries, Summary, dotted_name, own_nodes
from reviewbot.flow.syntax import conjuncts, dotted, keyword_argument, last_name, qualified, root_name
from reviewbot.flow.unkept import may_drop_value, unkept
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import (
    Example,
    File,
    Finding,
    Fix,
    Rule,
    Unit,
    called_last,
    once,
    rewrite,
    step,
    tree_span,
    written,
)
from reviewbot.model import Certainty, Edit, Step

# Names under which people keep a verdict; any other comparison may be there for its effect, or be a mask.
_VERDICT = pattern(
    r"(?i)(^|_)(ok|same|equal|eq|match|matches|close|valid|passed|success|correct|agree)(_|$)|^is"
)
_ENTERED = frozenset(
    {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex"}
)
_PLAYWRIGHT = "playwright.async_api.expect"


class CheckResultDropped(Rule):
    kinds = ("function", "method", "module")
    bad = (
        # Each of a list is asked, and nobody keeps the answers.
        Example("""
            import numpy as np
            def test_knots(straight, resumed):
                [  # <- here
                    straight[at].index.equals(resumed[at].index)
                    for at in range(len(straight))
                ]
                [np.allclose(one, other) for one, other in zip(straight, resumed, strict=True)]  # <- here
                [one == other for one, other in zip(straight, resumed, strict=True)]  # <- here
        """),
        Example("""
            from knots import check_rope
            def test_ropes(before, after):
                map(check_rope, before, after)  # <- here
            def test_ropes_again(before, after):
                (check_rope(one, other) for one, other in zip(before, after, strict=True))  # <- here
            def test_ropes_by_lambda(self, before):
                map(lambda rope: self.assertTrue(rope.holds), before)  # <- here
        """),
        # A comparison with its message, and no assert.
        Example("""
            def test_rows(run):
                (  # <- here
                    run(1) == [2],
                    "the rows differ",
                )
                run(2) == [3], f"not {run}"  # <- here
        """),
        Example("""
            import numpy as np
            def test_rows(run):
                run(1) == [2]  # <- here
                np.allclose(run(1), [2.0])  # <- here
        """),
        Example("""
            import torch
            def check(base, fast):
                torch.equal(base.logits, fast.logits)  # <- here
        """),
        Example("""
            def same_rows(a, b):
                return a.ids == b.ids and len(a) == len(b)
            class TestRows:
                def mismatches(self, a, b):
                    differences = []
                    for x, y in zip(a, b, strict=True):
                        if x != y:
                            differences.append(x)
                    return differences
                def test_rows(self, run):
                    same_rows(run(1), run(2))  # <- here
                    same_rows(run(1), run(3))
                    self.mismatches(run(1), run(2))  # <- here
        """),
        Example(
            """
            from rows_tools import same_rows, check_rows
            def test_rows(run):
                same_rows(run(1), run(2))  # <- here
                check_rows(run(1))
            """,
            files={
                "tests/rows_tools.py": "def same_rows(a, b):\n    return a.ids == b.ids\n"
                "def check_rows(a):\n    assert a\n    return a == 1\n"
            },
        ),
        # Another file's function that hands back what differs; one that is not there, by its name.
        Example(
            """
            from ships import differences, mismatches
            from harbour.tools import problems

            def test_ships(sail, resume):
                differences(sail(), resume())  # <- here
                mismatches(sail(), resume())  # <- here
                problems(sail(), resume())  # <- here
            """,
            files={
                "tests/ships.py": "def differences(a, b):\n"
                "    return [key for key in a if a[key] != b[key]]\n"
                "def mismatches(a, b):\n    late = {k: b[k] for k in a if a[k] != b[k]}\n    return late\n"
            },
        ),
        Example("""
            async def check_rows(client):
                assert await client.rows()
            async def test_rows(client):
                check_rows(client)  # <- here
        """),
        Example("""
            def check_rows(rows):
                for row in rows:
                    assert row
                    yield row
            def test_rows(run):
                check_rows(run())  # <- here
        """),
        Example("""
            import pytest
            def test_refuses(run):
                pytest.raises(ValueError)  # <- here
                run(-1)
        """),
        Example("""
            def test_rows(run):
                return run(1) == [2]  # <- here
        """),
        Example("""
            import numpy as np
            def test_rows(run):
                close = np.allclose(run(1), [2.0])  # <- here
        """),
        Example(
            """
            def rows_equal(left, right):
                if left.shape != right.shape:
                    return False
                return bool((left == right).all())

            def main(baseline, restored):
                outcome = rows_equal(baseline, restored)  # <- here
                print("compared")
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            from playwright.async_api import expect
            async def test_page(page):
                expect(page).to_have_title("Rows")  # <- here
            """,
        ),
        # A tensor, or a text, is not changed by its methods.
        Example("""
            import torch

            def test_half(kernel, model):
                reference = torch.randn(4)
                reference.to(torch.float16)  # <- here
                assert kernel(reference).sum() > 0
                again = model.head.clone()
                again.to(dtype=torch.float16)  # <- here
                torch.testing.assert_close(model.head, again)
                for weight in model.parameters():
                    weight.data.double()  # <- here
                    assert kernel(weight).sum() > 0
        """),
        Example("""
            def test_name(run):
                name = " a "
                name.strip()  # <- here
                assert run() == name
        """),
        # The status that says whether two runs differ never leaves the process.
        Example(
            """
            import sys

            def differences(reference, other):
                found = []
                for left, right in zip(reference, other, strict=True):
                    if left != right:
                        found.append(left)
                return found

            def main():
                found = differences(read(sys.argv[1]), read(sys.argv[2]))
                if found:
                    return 1
                return 0

            if __name__ == "__main__":
                main()  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def main() -> int:
                if read(sys.argv[1]) != read(sys.argv[2]):
                    print("differ")
                    return 1
                return 0

            main()  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def run(left, right):
                bad = sum(a != b for a, b in zip(left, right, strict=True))
                print(bad, "rows differ")
                return 1 if bad else 0

            if __name__ == "__main__":
                run(read(sys.argv[1]), read(sys.argv[2]))  # <- here
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def main(argv):
                left, right = read(argv[0]), read(argv[1])
                return int(left != right)

            if __name__ == "__main__":
                main(sys.argv[1:])  # <- here
            """,
            path="scripts/rows.py",
        ),
    )
    good = (
        # A list for the effect of its calls, which check themselves or just run.
        Example("""
            import numpy as np
            def test_knots(straight, resumed, ropes):
                [rope.tie() for rope in ropes]
                [np.testing.assert_allclose(one, other) for one, other in zip(straight, resumed, strict=True)]
                assert all([one == other for one, other in zip(straight, resumed, strict=True)])
        """),
        # Operators are tried one by one, or whether their methods are called is asked.
        Example("""
            def test_knots(knots, miles):
                assert (knots + miles).value == 3
                knots - miles; miles - knots
                knots == miles; miles == knots

            def test_order_of_calls(recorder, calls):
                recorder == 1
                assert calls == [("__eq__", (recorder, 1))]
        """),
        # It raises, shows, or fills what it is given.
        Example(
            """
            from ships import differences
            from harbour.tools import print_differences, problems

            def test_ships(sail, resume, found):
                differences(sail(), resume())
                print_differences(sail(), resume())
                problems(sail(), resume(), found)
                assert not found
            """,
            files={
                "tests/ships.py": "def differences(a, b):\n"
                "    found = [key for key in a if a[key] != b[key]]\n"
                "    if found:\n        raise AssertionError(found)\n    return found\n"
            },
        ),
        # The status is handed on, there is none, or it says something else.
        Example(
            """
            import sys

            def main():
                if read(sys.argv[1]) != read(sys.argv[2]):
                    return 1
                return 0

            if __name__ == "__main__":
                sys.exit(main())
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def main():
                if read(sys.argv[1]) != read(sys.argv[2]):
                    sys.exit(1)

            def count():
                left, right = read(sys.argv[1]), read(sys.argv[2])
                return sum(a != b for a, b in zip(left, right, strict=True))

            def level(argv):
                if len(argv) != 3:
                    return 2
                return 0

            if __name__ == "__main__":
                main()
                count()
                level(sys.argv)
            """,
            path="scripts/rows.py",
        ),
        # Something else makes a command of it, which looks at what it returns.
        Example(
            """
            import click
            import sys

            @click.command()
            @click.argument("left")
            @click.argument("right")
            def main(left, right):
                if left != right:
                    return 1
                return 0

            if __name__ == "__main__":
                main()
            """,
            path="scripts/rows.py",
        ),
        Example(
            """
            import sys

            def main():
                if read(sys.argv[1]) != read(sys.argv[2]):
                    return 1
                return 0

            if __name__ == "__main__":
                main()
            """,
            path="parity/rows.py",
            files={"pyproject.toml": '[project.scripts]\nrows = "parity.rows:main"\n'},
        ),
        # What comes out is written into an array.
        Example("""
            import numpy as np

            def test_mask(rows, wanted):
                same = np.zeros(len(rows), dtype=bool)
                np.equal(rows, 0, where=rows > -1, out=same)
                assert same.sum() == wanted
        """),
        # Compared to be counted, which another linter was told.
        Example("""
            def test_cache(build, counted):
                left, right = build(1), build(1)
                left == right  # noqa: B015
                right == left  # noqa: B015
                assert counted() == 1
        """),
        # A module that a class further down reads.
        Example("""
            def test_rows(run, rows):
                run(1), rows == 2
                (rows == 2, run(1))
                assert run(1) == [2], "the rows differ"
        """),
        Example(
            """
            import schema
            from .fruit import Fruit

            schema.type(Fruit)

            @schema.type
            class Bowl:
                fruit: Fruit = schema.field()
            """,
            path="tests/bowl.py",
        ),
        # A module is changed in place; what raises is what is asked; nobody reads it again.
        Example("""
            import pytest
            import torch

            def test_half(kernel, make):
                model, rows = make(), torch.randn(4)
                model.to(torch.float16)
                with pytest.raises(RuntimeError):
                    rows.view(3)
                assert kernel(model, rows).sum() > 0
                last = torch.ones(2)
                last.cpu()
        """),
        # The version that is not asynchronous is made from this one.
        Example("""
            _SYNC = False

            class Kettle:
                async def boil(self):
                    return await self.heat()

                def warm(self):
                    if _SYNC and self.cold:
                        self.boil()
        """),
        # What it returns is whether there was any work.
        Example("""
            class TestQueue(TestCase):
                def work(self):
                    any_done = False
                    while self.queue.step():
                        any_done = True
                    return any_done

                def test_step(self):
                    self.queue.add(1)
                    self.work()
                    self.assertEqual(self.queue.left, 0)
        """),
        Example("""
            import numpy as np
            import pytest
            def test_rows(run):
                assert run(1) == [2]
                np.testing.assert_allclose(run(1), [2.0])
                with pytest.raises(TypeError):
                    run(1) < "a"
                try:
                    run(1) == None
                except TypeError:
                    pass
        """),
        Example("""
            def compare(a, b):
                assert a == b
                return a == b
            def test_rows(run):
                compare(run(1), run(2))
        """),
        Example("""
            def same(a, b, failures):
                if a != b:
                    failures.append((a, b))
                return a == b
            def test_rows(run):
                failures = []
                same(run(1), run(2), failures)
                assert not failures
        """),
        Example("""
            def is_installed(name):
                return find(name) is not None

            HAS_ENGINE = is_installed("engine")
        """),
        Example("""
            def rows_equal(left, right):
                return left == right

            def size(rows):
                return len(rows)

            def test_rows(run):
                outcome = rows_equal(run(1), run(2))
                unused = size(run(3))
                assert outcome
        """),
        Example("""
            import asyncio
            async def check_rows(client):
                assert await client.rows()
            async def test_rows(client):
                await check_rows(client)
            def test_again(client):
                asyncio.run(check_rows(client))
        """),
        Example("""
            def test_rows(expect, run):
                expect(run(1)) == [2]
                expect(run(1)).equals([2])
        """),
        Example("""
            def test_calls(run, count_calls):
                row = run(1)
                @count_calls(2)
                def go():
                    row == 2
                go()
                "x" in row
                row == row
                row < 3
        """),
        Example("""
            from sqlalchemy import select
            def test_clone(table):
                query = select(table.c.a).scalar_subquery()
                query == table.c.b
                assert str(query)
        """),
        Example("""
            def test_compare(warns, calls, Left):
                with warns(BytesWarning):
                    b"" == ""
                # This used to crash.
                Left() == 1
        """),
        Example("""
            from operator import eq
            class TestRows(TestCase):
                def test_rows(self):
                    eq = self.assertEqual
                    eq(self.run(1), 2)
        """),
        Example("""
            def test_walk(tour):
                def remove(corner):
                    for step in corner:
                        tour.remove(step)
                    return len(tour) == 0
                remove(tour.first)
                assert tour
        """),
        Example("""
            def test_fixture(run):
                ok = run(1) == 2
                assert ok
        """),
        Example(
            """
            import logging
            def check_reply(reply):
                if reply.failed:
                    logging.warning("failed")
                return reply.kind == 1
            async def hang_up(connection):
                check_reply(await connection.end())
            async def stop(self):
                hang_up(self.connection)
            """,
            path="src/engine.py",
        ),
        Example(
            """
            def tested(a, b):
                return a == b
            def test_equal(a, b):
                return a == b
            """,
            path="src/predicates.py",
        ),
        # Somebody iterates, or what is dropped is not there to check.
        Example("""
            def test_each(check_rope, ropes, names):
                list(map(check_rope, ropes))
                for _ in map(check_rope, ropes):
                    pass
                all(check_rope(rope) for rope in ropes)
                assert list(map(len, names)) == [3, 4]
                map(print, names)
        """),
        Example("""
            import pytest
            def test_map_is_lazy(check_rope, ropes):
                map(check_rope, ropes)
                assert check_rope.calls == 0
            def test_refused(check_rope):
                with pytest.raises(TypeError):
                    map(check_rope, 3)
        """),
        # A comment says that it is there to raise, or not to.
        Example("""
            def test_turns(rope):
                # Must not raise an error up to two turns.
                rope.turned(2)
                rope.turned(-2)
                assert rope.turned(1).length == rope.length
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return (
            bool(dropped_status(unit))
            or _compares(unit)
            or any(True for _ in _dropped(unit))
            or (judges(unit) and (may_drop_value(unit) or _may_never_run(unit)))
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        yield from self._never_run(unit) if judges(unit) and _may_never_run(unit) else ()
        for dropped in dropped_status(unit):
            if not is_entry_point(unit, dropped.function, repo):
                yield self._status(unit, dropped)
        for node, call, value in unkept(unit) if judges(unit) and may_drop_value(unit) else ():
            if _says_that_it_runs(unit, node):
                continue
            text = unit.text(value)
            yield self.finding(
                unit,
                node,
                f"what `{unit.text(call.func)}(...)` makes is thrown away, and `{text}` stays as it was",
                certainty="likely",
                steps=(step(unit, value, f"`{text}` is read again below, unchanged"),),
                still_catches=still_catches(unit, value, repo=repo),
            )
        if not _compares(unit) and not any(_is_known(call, unit, repo) for call in _dropped(unit)):
            return
        helpers: set[str] = set()
        for node in unit.find(cst.Expr, cst.Return, cst.Assign):
            found = None if awaits_exception(unit, node) else self._judge(unit, node, repo)
            if found is None:
                continue
            call = node.value if isinstance(node, cst.Expr) else None
            if isinstance(call, cst.Call) and summary_of(unit, call, repo) is not None:
                # A helper whose every call is dropped is one fault.
                if called_name(call) in helpers:
                    continue
                helpers.add(called_name(call))
            yield found

    def _never_run(self, unit: Unit) -> Iterator[Finding]:
        """Checks handed to `map`, or written in a generator, over which nobody iterates."""
        for node in unit.find(cst.Expr):
            assert isinstance(node, cst.Expr)
            checks = _checks_lazily(unit, node.value)
            if checks and not awaits_exception(unit, node) and not _LAZY.search(unit.name):
                what = "`map` is lazy" if isinstance(node.value, cst.Call) else "a generator is lazy"
                yield self._report(
                    unit, node, f"{what}, and nobody iterates over this: `{checks}` is never called", None
                )

    def _status(self, unit: Unit, dropped: Dropped) -> Finding:
        """A script whose `main` says by what it returns that two runs differ."""
        span, failing = tree_span(unit, dropped.call), tree_span(unit, dropped.failing)
        line = unit.file.lines[span.line - 1]
        fix = None
        if span.line == span.end_line and unit.file.imports.get("sys") == "sys":
            call = line[span.column - 1 : span.end_column - 1]
            text = f"{line[: span.column - 1]}sys.exit({call}){line[span.end_column - 1 :]}"
            fix = Fix("end with the status that it returns", (Edit(span.path, span.line, span.line, text),))
        return self.finding_at(
            unit,
            span,
            f"`{dropped.function}` returns the exit status of a difference, and it is thrown away",
            certainty="proved" if dropped.sure else "likely",
            steps=(Step(span.path, failing.line, failing.end_line, "this status is given to nobody"),),
            still_catches=("nothing that looks at how the script ends: only who reads its output",),
            fix=fix,
        )

    def _judge(self, unit: Unit, node: cst.CSTNode, repo: Repo) -> Finding | None:
        if isinstance(node, cst.Return):
            return self._returned(unit, node, repo)
        if isinstance(node, cst.Assign):
            return self._unread(unit, node, repo)
        if not isinstance(node, cst.Expr):
            return None
        if isinstance(node.value, (cst.ListComp, cst.SetComp)):
            return self._each(unit, node, node.value.elt, repo)
        if isinstance(node.value, cst.Comparison):
            return self._comparison(unit, node, node.value)
        if isinstance(node.value, cst.Tuple):
            return self._pair(unit, node, node.value)
        return self._call(unit, node, node.value, repo) if isinstance(node.value, cst.Call) else None

    def _each(self, unit: Unit, node: cst.Expr, element: cst.BaseExpression, repo: Repo) -> Finding | None:
        """A list of verdicts that nobody keeps: what would mend one of them does not mend the list."""
        found = None
        if isinstance(element, cst.Comparison):
            found = self._comparison(unit, node, element)
        elif isinstance(element, cst.Call):
            found = self._call(unit, node, element, repo)
        return None if found is None else replace(found, fix=None)

    def _comparison(self, unit: Unit, node: cst.Expr, value: cst.Comparison) -> Finding | None:
        if isinstance(value.left, cst.Call) and assertions.may_assert_by_name(last_name(value.left)):
            return None  # `expect(x) == y` of a fluent library
        if not judges(unit) or compares_for_its_effect(unit, node, value):
            return None
        return self._report(unit, node, f"the outcome of `{unit.text(value)}` is thrown away", "assert ")

    def _pair(self, unit: Unit, node: cst.Expr, value: cst.Tuple) -> Finding | None:
        """A comparison and its message, with no `assert` before them."""
        parts = [element.value for element in value.elements]
        if len(parts) != 2 or not isinstance(parts[0], cst.Comparison) or not judges(unit):
            return None
        if not isinstance(parts[1], (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)):
            return None
        message = f"the outcome of `{unit.text(parts[0])}` is thrown away, and its message with it"
        return self._report(unit, node, message, None)

    def _call(self, unit: Unit, node: cst.Expr, call: cst.Call, repo: Repo) -> Finding | None:
        name = last_name(call)
        function = function_of(unit, node)
        if _is_unentered(call) and not is_local(unit, call):
            return self._report(
                unit, node, f"`{unit.text(call.func)}(...)` is not entered, so nothing has to raise", None
            )
        if _is_playwright(unit, call) and function is not None and function.asynchronous is not None:
            return self._report(
                unit, node, f"`{unit.text(call.func)}(...)` is not awaited, so it checks nothing", "await "
            )
        summary = summary_of(unit, call, repo)
        if summary is not None:
            return self._helper(unit, node, call, summary) if judges(unit) or summary.asserts else None
        if _finds_differences(unit, call, repo):
            message = f"`{unit.text(call.func)}` by its name returns what differs, and nobody looks at it"
            return self._report(unit, node, message, None, "question")
        relation = predicate(call, unit)
        if keyword_argument(call, "out") is not None:
            return None  # `np.equal(a, b, out=same)`
        if relation is None or name in ("hasattr", "callable", "issubclass"):
            return None
        if relation in ("type", "true") and not judges(unit):
            return None
        if relation == "true" and not _judges_elements(call, unit):
            return None  # `any(f() for f in callbacks)` runs them, `x.all()` is a query elsewhere
        sure: Certainty = "proved"
        if qualified(call.func, unit.file.imports) not in assertions.PREDICATES:
            if root_name(call) in ("self", "cls") or not isinstance(call.func, cst.Attribute):
                return None
            if isinstance(call.func.value, cst.Call):
                return None  # `expect(x).equals(y)` of a fluent library
            sure = "likely"
        message = f"`{unit.text(call.func)}(...)` returns whether it holds, and nobody looks"
        return self._report(unit, node, message, "assert ", sure)

    def _helper(self, unit: Unit, node: cst.Expr, call: cst.Call, summary: Summary) -> Finding | None:
        if summary.wrapped:
            return None
        if summary.coroutine:
            if _is_switched_off(unit, node):
                return None
            return self._report(
                unit,
                node,
                f"`{unit.text(call.func)}` is a coroutine that is not awaited: none of it runs",
                "await ",
            )
        if summary.generator and summary.asserts:
            message = f"`{unit.text(call.func)}` is a generator that nobody iterates: none of its checks run"
            return self._report(unit, node, message, None)
        if not _only_returns_a_verdict(summary):
            return None
        # `wait_for_health(port)`, `is_importable(name)`: what it does on the way may be why it is called.
        if _CHECKS.search(last_name(call)) is None or not call.args:
            message = (
                f"`{unit.text(call.func)}` says by its value whether it went well: may nobody look at it?"
            )
            return self._report(unit, node, message, None, "question")
        message = f"`{unit.text(call.func)}` returns its verdict and never fails, and nobody looks at it"
        return self._report(unit, node, message, None, "likely")

    def _returned(self, unit: Unit, node: cst.Return, repo: Repo) -> Finding | None:
        value = node.value
        verdict = isinstance(value, cst.Comparison) or (
            isinstance(value, cst.Call) and qualified(value.func, unit.file.imports) in assertions.PREDICATES
        )
        if not verdict or not unit.is_test or function_of(unit, node) is not unit.node:
            return None
        if not repo.pytest.collects_file(unit.file.path) or _is_called(unit):
            return None
        if unit.kind == "method" and not _in_test_class(unit, repo):
            return None
        return self._report(
            unit, node, "a test's return value is not looked at, so this comparison checks nothing", None
        )

    def _unread(self, unit: Unit, node: cst.Assign, repo: Repo) -> Finding | None:
        """A verdict that is given a name which nothing reads."""
        target = node.targets[0].target
        if len(node.targets) != 1 or not isinstance(target, cst.Name) or target.value.startswith("_"):
            return None
        value = node.value
        known = (
            isinstance(value, cst.Call) and qualified(value.func, unit.file.imports) in assertions.PREDICATES
        )
        equal = isinstance(value, cst.Comparison) and isinstance(value.comparisons[0].operator, cst.Equal)
        said = unit.is_test and (known or equal) and _VERDICT.search(target.value)
        if not said and not _is_verdict_of_helper(unit, value, repo):
            return None
        flow = values(unit)
        if not flow.read.isdisjoint(flow.bindings(target.value)):
            return None
        return self._report(
            unit, node, f"`{target.value}` holds a verdict that nothing reads", None, "likely"
        )

    def _report(
        self, unit: Unit, node: cst.CSTNode, message: str, prefix: str | None, sure: Certainty = "proved"
    ) -> Finding:
        fix = None
        function = function_of(unit, node)
        if prefix == "await " and (function is None or function.asynchronous is None):
            prefix = None
        if prefix is not None:
            called = isinstance(node, cst.Expr) and isinstance(node.value, cst.Call)
            safe = called and sure == "proved" and prefix == "assert "
            edit = rewrite(unit, node, prefix + written(unit, node))
            fix = Fix(f"put `{prefix.strip()}` before it", (edit,), safe=safe)
        return self.finding(
            unit, node, message, certainty=sure, still_catches=still_catches(unit, node), fix=fix
        )


def _finds_differences(unit: Unit, call: cst.Call, repo: Repo) -> bool:
    """Whether a function that the repository does not hold is given two things, and by its name hands back
    where they differ."""
    name = called_name(call)
    given = [arg for arg in call.args if arg.keyword is None and not arg.star]
    if len(given) != 2 or not finds_differences(name) or not is_foreign_judge(name, unit):
        return False
    return judges(unit) and not is_local(unit, call) and helper_of(unit, name, repo) is None


def _is_switched_off(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a statement stands under a constant of the module that is false: another version of the file,
    in which the call is none of a coroutine, is made from this one."""
    inner: cst.CSTNode = node
    for above in unit.ancestors(node):
        for asked in conjuncts(above.test) if isinstance(above, cst.If) and inner is above.body else ():
            value = module_value(unit.file, asked.value) if isinstance(asked, cst.Name) else None
            if isinstance(value, ast.Constant) and value.value is False:
                return True
        inner = above
    return False


_CHECKS = pattern(
    r"(?i)(^|_)(checks?|compare\w*|assert\w*|verif\w*|validat\w*|ensure\w*|expect\w*|equals?|same|identical"
    r"|match\w*|alike|all_?close|close|differ\w*)(_|$)|[a-z](Equal|Same|Match|Check)"
)


def _only_returns_a_verdict(summary: Summary) -> bool:
    """Whether a function says by its value alone whether something holds."""
    acts = summary.asserts or summary.may_assert or summary.raises or summary.writes or summary.acts
    return summary.returns == "verdict" and not acts


def _is_verdict_of_helper(unit: Unit, value: cst.BaseExpression, repo: Repo) -> bool:
    # What a module keeps may be read anywhere.
    if not isinstance(value, cst.Call) or not unit.is_function or not judges(unit):
        return False
    summary = summary_of(unit, value, repo)
    return (
        summary is not None
        and not (summary.wrapped or summary.coroutine or summary.generator)
        and _only_returns_a_verdict(summary)
    )


@once
def _compares(unit: Unit) -> bool:
    """Whether a comparison stands alone, or a test returns what could be a verdict or keeps one under a name
    that says so."""
    alone = {type(_one_of(node.value)) for node in unit.asts(ast.Expr)} if unit.has(ast.Compare) else set()
    if not _ALONE.isdisjoint(alone):
        return True
    if not unit.is_test:
        return False
    return bool(_own_verdicts(unit)) or any(
        _is_verdict(node.value)
        and isinstance(target := node.targets[0], ast.Name)
        and _VERDICT.search(target.id) is not None
        for node in unit.asts(ast.Assign)
        if type(node.value) in _GIVING
    )


_ALONE = frozenset({ast.Compare, ast.Tuple})
_GIVING = frozenset({ast.Call, ast.Compare})


def _dropped(unit: Unit) -> Iterator[ast.Call]:
    """The calls whose value could be a verdict that is dropped."""
    names, foreign = _verdict_names(unit.file), foreign_names(unit.file)
    judging = unit.file.names_that(names_judge) if foreign else frozenset()
    by_root = not judging.isdisjoint(unit.facts.names) and not foreign.isdisjoint(unit.facts.names)
    if not by_root and names.isdisjoint(unit.facts.calls):
        return
    alone: list[ast.AST] = [_one_of(node.value) for node in unit.asts(ast.Expr)]
    given: list[ast.AST] = []
    if unit.is_function and judges(unit):
        given = [node.value for node in unit.asts(ast.Assign) if type(node.targets[0]) is ast.Name]
    could: dict[tuple[str, str], bool] = {}
    for values_ in (alone, given):
        for call in values_:
            if type(call) is not ast.Call:
                continue
            function = call.func
            if type(function) is ast.Attribute:
                last, root = function.attr, function.value
            else:
                last, root = (function.id if type(function) is ast.Name else ""), function
            if last not in names:
                # Most are `self.assertEqual(...)` and their like.
                if not by_root or (type(root) is ast.Name and root.id not in foreign):
                    continue
                if not _may_be_foreign_judge(function, foreign, judging):
                    continue
            # What is given a name may be entered by that name.
            if values_ is alone and _may_be_unentered(call):
                yield call
                continue
            called = dotted_name(function), last
            if called not in could:
                could[called] = _could_drop(call, unit)
            if could[called]:
                yield call


_LAZY = pattern(r"(?i)lazy|laziness|iterat|generator|_map(_|$)")


def _one_of(value: ast.expr) -> ast.expr:
    """What a statement works out; of a list, what it works out for each element."""
    return value.elt if isinstance(value, (ast.ListComp, ast.SetComp)) else value


@once
def _may_never_run(unit: Unit) -> bool:
    """Whether a statement of the unit is a generator or a call of `map`, by `ast`."""
    if not unit.has(ast.GeneratorExp) and not unit.calls("map"):
        return False
    return any(
        isinstance(node.value, ast.GeneratorExp)
        or (isinstance(node.value, ast.Call) and called_last(node.value) == "map")
        for node in unit.asts(ast.Expr)
    )


def _checks_lazily(unit: Unit, value: cst.BaseExpression) -> str:
    """The name of what a lazy expression would call, if that is there to check; "" for any other."""
    called: cst.CSTNode | None = None
    if isinstance(value, cst.GeneratorExp) and isinstance(value.elt, cst.Call):
        called = value.elt.func
    elif isinstance(value, cst.Call) and dotted(value.func) == "map" and len(value.args) > 1:
        taken = is_local(unit, value) or "map" in unit.file.imports or unit.file.unit("map") is not None
        called = None if taken or value.args[0].keyword is not None else value.args[0].value
        if isinstance(called, cst.Lambda) and isinstance(called.body, cst.Call):
            called = called.body.func
    name = dotted(called) if isinstance(called, (cst.Name, cst.Attribute)) else ""
    last = name.rpartition(".")[2]
    summary = Summaries.of(unit.file).called(name, unit) if name else None
    if summary is not None:
        return name if summary.asserts or _only_returns_a_verdict(summary) else ""
    says = assertions.asserts_by_name(last) or assertions.may_assert_by_name(last) or says_comparison(last)
    return name if last and says else ""


def _may_be_foreign_judge(function: ast.expr, foreign: frozenset[str], judging: frozenset[str]) -> bool:
    """`is_foreign_judge` asked of what is called, yes too often: `judging` are the names that say so."""
    says = False
    while isinstance(function, (ast.Attribute, ast.Subscript)):
        says = says or (isinstance(function, ast.Attribute) and function.attr in judging)
        function = function.value
    return isinstance(function, ast.Name) and function.id in foreign and (says or function.id in judging)


def _is_known(call: ast.Call, unit: Unit, repo: Repo) -> bool:
    """Whether a call that could drop a verdict is none of a function of another file, or that is there."""
    name = dotted_name(call.func)
    if not is_foreign_judge(name, unit) or _says_verdict(called_last(call)) or finds_differences(name):
        return True
    if Summaries.of(unit.file).resolve(name, unit) is not None:
        return True
    helper = helper_of(unit, name, repo)
    if helper is None or not isinstance(helper.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return helper is not None
    # What fails by itself and returns nothing drops nothing.
    return bool(helper.tree.decorator_list) or _may_hand_back(helper.tree, helper)


@once
def _verdict_names(file: File) -> frozenset[str]:
    """The last names under which a file calls what could give a verdict or be a check that does not run, and
    which do not come from another file."""
    functions = {
        function.name
        for unit in file.units
        if unit.is_function and unit.has(ast.AsyncFunctionDef, *_HANDING_BACK)
        for function in (*unit.asts(ast.FunctionDef), *unit.asts(ast.AsyncFunctionDef))
    }
    return file.calls_that(_says_verdict) | functions


def _says_verdict(name: str) -> bool:
    return name in _LAST_NAMES or name in _ENTERED or name.startswith(("to_", "not_to_"))


def _own_verdicts(unit: Unit) -> list[ast.Return]:
    """What a function returns that could be a verdict, without what functions in it return."""
    every = [node for node in unit.asts(ast.Return) if _is_verdict(node.value)]
    if every and len(unit.asts(ast.FunctionDef)) + len(unit.asts(ast.AsyncFunctionDef)) > 1:
        own = set(own_nodes(unit.tree))
        return [node for node in every if node in own]
    return every


def _is_verdict(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else dotted_name(value.func)
        return name in _LAST_NAMES or name in _ENTERED
    return isinstance(value, ast.Compare)


def _could_drop(call: ast.Call, unit: Unit) -> bool:
    last = called_last(call)
    if last in _LAST_NAMES or last.startswith(("to_", "not_to_")):
        return True
    name, summaries = dotted_name(call.func), Summaries.of(unit.file)
    if is_foreign_judge(name, unit):
        return True
    if last not in _verdict_names(unit.file):
        return False
    function = summaries.resolve(name, unit)
    if function is None or not _may_hand_back(function, unit):
        return False
    summary = summaries.summary(function, unit)
    return summary is not None and (
        summary.coroutine or summary.generator or (summary.returns == "verdict" and not summary.asserts)
    )


def _may_hand_back(function: ast.FunctionDef | ast.AsyncFunctionDef, unit: Unit) -> bool:
    """Whether a call of a function of the file could give anything but None."""
    facts = (unit.file.unit_of(function) or unit).facts
    return isinstance(function, ast.AsyncFunctionDef) or not facts.kinds.isdisjoint(_HANDING_BACK)


_HANDING_BACK = frozenset({ast.Return, ast.Yield, ast.YieldFrom})
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in assertions.PREDICATES) | frozenset(
    assertions.PREDICATE_METHODS
)


def _may_be_unentered(call: ast.Call) -> bool:
    """The same asked of `ast`, keywords aside."""
    if called_last(call) not in _ENTERED:
        return False
    allowed = 2 if called_last(call).endswith("Regex") else 1
    return len(call.args) == allowed and not any(isinstance(arg, ast.Starred) for arg in call.args)


def _says_that_it_runs(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a comment above a call says that it is there to raise, or not to: `# must not raise`."""
    line = unit.span(node).line
    above = (text.strip() for text in unit.file.lines[max(0, line - 3) : line - 1])
    return any(text.startswith("#") and _RAISING.search(text) for text in above)


_RAISING = pattern(r"(?i)\brais|\berrors?\b|\bfails?\b")


def _is_unentered(call: cst.Call) -> bool:
    """`pytest.raises(ValueError)` as a statement: without a callable it does nothing unless entered."""
    if last_name(call) not in _ENTERED:
        return False
    positional = [arg for arg in call.args if arg.keyword is None]
    allowed = 2 if last_name(call).endswith("Regex") else 1
    named = all(arg.keyword is None or arg.keyword.value in ("match", "msg") for arg in call.args)
    return len(positional) == allowed and named and not any(arg.star for arg in call.args)


def _is_playwright(unit: Unit, call: cst.Call) -> bool:
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    return isinstance(owner, cst.Call) and qualified(owner.func, unit.file.imports) == _PLAYWRIGHT


def _judges_elements(call: cst.Call, unit: Unit) -> bool:
    """Whether `all(...)` or `any(...)` is over comparisons."""
    if not isinstance(call.func, cst.Name) or len(call.args) != 1:
        return qualified(call.func, unit.file.imports) in assertions.PREDICATES
    inner = call.args[0].value
    element = inner.elt if isinstance(inner, (cst.GeneratorExp, cst.ListComp)) else inner
    return isinstance(element, cst.Comparison)


def _is_called(unit: Unit) -> bool:
    """Whether other code of the file uses the function's result: then it is a helper by a test's name."""
    name = unit.name.rpartition(".")[2]
    return any(other is not unit for other in unit.file.naming(name))


def _in_test_class(unit: Unit, repo: Repo) -> bool:
    owner = unit.owner
    if owner is None:
        return False
    bases = [base for base in map(ast.unparse, owner.bases) if "Test" in base]
    return bool(bases) or repo.pytest.collects_class(owner.name)
