"""A check that control never reaches.

It stands after a `return` or `raise`, behind the call that must raise in a `raises` block, in a nested
function that nobody calls, under a condition that is never true, or in a loop that is never entered.

## Why
The test passes without having run the check, and looks as if it had.

## Instead
Move the check in front of what leaves, out of the `raises` block, or call the function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.assertions import EXITING, MUST_RAISE
from reviewbot.flow.calls import module_value
from reviewbot.flow.checks import Check, call_of, checks, is_own_exit, raising_context
from reviewbot.flow.contradictions import contradictions, may_contradict
from reviewbot.flow.control import leaves, statements
from reviewbot.flow.entered import may_never_enter, never_entered
from reviewbot.flow.judging import judges
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import goes_on_after_leaving, may_check_in
from reviewbot.flow.syntax import UNKNOWN, dotted, keyword_argument, last_name, literal, root_name, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, Finding, Fix, Rule, Step, Unit, called_last, step
from reviewbot.model import Certainty

_LONGEST = 60
_HARMLESS = frozenset(
    {"str", "repr", "len", "isinstance", "type", "startswith", "endswith", "abspath", "dirname"}
)
# Exceptions that a failing check raises too.
_CATCH_FAILURES = ("AssertionError", "Exception", "BaseException", "failureException", "Failed")


# Contexts that raise nothing of their own when they are left.
_QUIET = pattern(
    r"(?i)patch|^object$|^dict$|setattr|warnings|suppress|nullcontext|open|temp|lock|cursor|raises"
)

# The statements, a step to them, why they never run, how sure that is, what mends it.
_Dead = tuple[list[cst.CSTNode], Step, str, Certainty, Fix | None]


class UnreachableCheck(Rule):
    kinds = ("function", "method")
    bad = (
        # A `def` where `class` was meant.
        Example("""
            def Test_lanterns(object):
                def test_lit(self, lantern):
                    assert lantern.lit  # <- here

                def test_dark(self, lantern):
                    assert not lantern.off().lit
        """),
        # A condition that what is known by then rules out: by a filter, a list, a mark, an earlier way out.
        Example("""
            import pytest

            def test_filtered(rows):
                assert rows
                for row in [row for row in rows if row.status == "done"]:
                    if row.status == "failed":
                        assert row.reward == 0  # <- here

            def test_listed(run):
                for kind in ("text", "image"):
                    out = run(kind)
                    if kind == "audio":
                        assert out.loss > 0  # <- here

            @pytest.mark.parametrize("size", [1, 2, 4])
            def test_sizes(run, size):
                out = run(size)
                if size > 1 and size in (8, 16):
                    assert out.split  # <- here

            def test_left(run):
                for row in run(1):
                    if row.masked:
                        continue
                    if row.masked and row.trained:
                        assert row.loss == 0  # <- here

            def test_asked_twice(run, result):
                if result == "missing":
                    assert run(result) is None
                elif result == "broken":
                    assert run(result) == []
                elif result == "broken":
                    assert run(result) == {}  # <- here
        """),
        Example("""
            def test_rows(run):
                return
                assert run(1) == [2]  # <- here
        """),
        Example("""
            def test_rows(run, rows):
                for row in rows:
                    if row.skip:
                        continue
                        assert row.reason  # <- here
                    else:
                        assert run(row)
                raise NotImplementedError
                run(2)
                if run(3):
                    assert run(1) == [2]  # <- here
        """),
        Example("""
            import pytest
            class TestRows(TestCase):
                def test_refuses(self):
                    with pytest.raises(ValueError):
                        rows = self.run("x")
                        assert rows == [2]  # <- here
                    with self.assertRaises((KeyError, TypeError)):
                        self.run("y")
                        self.assertEqual(self.count, 2)  # <- here
        """),
        Example("""
            def test_rows(run):
                def inner():
                    assert run(1) == [2]  # <- here
                    assert run(2) == [3]
        """),
        # A loop whose condition is false before its first turn.
        Example("""
            def test_steps(env):
                step = 5
                while step < 5:
                    assert env.step() == step  # <- here
                    step += 1

            def test_span(env):
                first, last = 10, 10
                at = first
                while at < last:
                    assert env.at(at)  # <- here
                    at += 1

            def test_drained(queue):
                left = 0
                while left:
                    assert queue.pop()  # <- here
                    left -= 1
        """),
        Example("""
            STRICT = False
            def test_rows(run):
                if STRICT:
                    assert run(1) == [2]  # <- here
                if False:
                    assert run(2) == [2]  # <- here
        """),
    )
    good = (
        # What is written out raises nothing: the call in the check is what must raise.
        Example("""
            import pytest

            async def test_refused(ferry):
                with pytest.raises(TypeError):
                    seats = [("bow", 3), ["stern", 4]]
                    assert await ferry.sell(seats, fare=0.1) is True
        """),
        # It ends with an error either way.
        Example(
            """
            import argparse
            import sys

            def main():
                parser = argparse.ArgumentParser()
                parser.add_argument("chart")
                given, more = parser.parse_known_args()
                if more:
                    parser.error("one chart at a time")
                    sys.exit(1)
                if read(given.chart) != draw(given.chart):
                    sys.exit("the chart is out of date")
            """,
            path="tools/check_chart.py",
        ),
        # A plugin collects what is defined in a description.
        Example("""
            def describe_ferry():
                def sails(ferry):
                    assert ferry.sail()

                def describe_at_night():
                    def is_lit(ferry):
                        assert ferry.lights
        """),
        # What ends the program comes back where the test puts something else in its place.
        Example("""
            import argparse
            import sys

            def test_usage(mocker, capsys):
                parser = argparse.ArgumentParser()
                mocker.patch.object(parser, "exit")
                parser.error("no rows")
                assert "no rows" in capsys.readouterr().err

            def test_leaves(monkeypatch):
                left = []
                monkeypatch.setattr(sys, "exit", left.append)
                sys.exit(2)
                assert left == [2]

            class Sheet:
                def error(self, text):
                    self.said = text

            def test_sheet():
                parser = Sheet()
                parser.error("row 3")
                assert parser.said == "row 3"
        """),
        # A block that lets its exception go is not always left by its `return`.
        Example("""
            import contextlib

            def kind_of(row):
                with contextlib.suppress(AttributeError):
                    return str(row.kind)
                try:
                    table = row.table
                except LookupError:
                    assert isinstance(row, dict)
                    return "row"
                return table.kind
        """),
        # A chain of which the last arm raises says nothing of the first two.
        Example("""
            def test_pieces(cut, rank, rows):
                if rank in (0, 1):
                    assert cut(rows) == rows[:2]
                elif rank in (2, 3):
                    assert cut(rows) == rows[2:]
                else:
                    raise ValueError(rank)
                if rank == 0:
                    assert cut(rows)[0] == rows[0]
                elif rank == 2:
                    assert cut(rows)[0] == rows[2]
        """),
        # Nor has one that stays been asked what a later arm refuses.
        Example("""
            def test_kinds(run, fast, kind):
                if fast:
                    run(1)
                elif kind == "slow":
                    raise ValueError(kind)
                if kind == "slow":
                    assert run(2)
        """),
        # What is known may have changed: another value is bound, or something is called that may do it.
        Example("""
            import pytest

            def test_runs(run, rows):
                found = False
                for row in [row for row in rows if row.status == "waiting"]:
                    if found:
                        continue
                    run(row)
                    if row.status == "done":
                        assert row.reward == 1
                    if row.tokens:
                        found = True
                    if found:
                        assert row.loss > 0

            @pytest.mark.parametrize("kind", ["text", "image"])
            def test_kinds(run, kind):
                if kind == "text":
                    kind = "audio"
                if kind == "audio":
                    assert run(kind)
                elif kind == "image":
                    assert run(kind) is None

            @pytest.mark.parametrize("queue", ["small"], indirect=True)
            def test_queue(run, queue):
                if queue == "large":
                    assert run(queue)
                if not queue:
                    return
                run(queue)
                if not queue:
                    assert run.done
        """),
        Example("""
            import pytest

            def test_played(playbook, event):
                with pytest.raises(TypeError, match="expected str"):
                    playbook >> event
                    assert playbook
        """),
        # A method of what is tested may be what must raise, whatever it is called.
        Example("""
            import pytest

            def test_too_few(load):
                with pytest.raises(RuntimeError):
                    cargo = load(["a.csv"])
                    cargo.assert_enough_for(4)
        """),
        # A check that always fails is there so as not to be reached.
        Example("""
            class TestSails(TestCase):
                def test_sails(self):
                    with self.ship() as ship:
                        self.assertEqual(ship.sails, 2)
                        return
                    self.assertTrue(False)
        """),
        # An `exit` that is itself what is tested comes back.
        Example("""
            from shop.doors import exit

            def test_exit(monkeypatch, seen):
                monkeypatch.setattr("shop.doors.leave", seen.append)
                exit(3)
                assert seen == [3]
        """),
        Example("""
            import pytest
            def test_rows(run):
                if run is None:
                    return
                assert run(1) == [2]
                with pytest.raises(ValueError):
                    raise ValueError
                assert run(2) == [2]
        """),
        Example("""
            import pytest
            def test_refuses(run, error):
                with pytest.raises(AssertionError):
                    rows = run(1)
                    assert rows == [2]
                with pytest.raises(error):
                    rows = run(1)
                    assert rows == [2]
                with pytest.raises(ValueError):
                    rows = run(1)
                    assert rows == [2]
                    run(-1)
                with pytest.raises(KeyError):
                    image = run(1)
                    assert run(image)
        """),
        Example("""
            def test_rows(run, register):
                def inner(row):
                    assert row == 2
                run(inner)
                @register
                def other(row):
                    assert row == 3
                def by_hand(row):
                    assert row == 5
                # run(by_hand)
                class Callback:
                    def done(self, row):
                        assert row == 4
                run(Callback())
        """),
        # A loop that is entered on some turn of another, or for another value.
        Example("""
            def test_drained(make):
                for left in (0, 1, 2):
                    queue = make(left)
                    while left > 0:
                        assert queue.pop()
                        left -= 1

            def test_retries(make, wait):
                tries = 0
                if make():
                    tries = 3
                while tries > 0:
                    assert wait()
                    tries -= 1

            def test_rounds(make):
                done = 5
                for start in make():
                    while done < 5:
                        assert make(done)
                        done += 1
                    done = start

            def test_nothing_left(run):
                step = 0
                def reset():
                    nonlocal step
                    step = -3
                run(reset)
                while step < 0:
                    assert run(step)
                    step += 1
        """),
        Example("""
            import os
            STRICT = os.environ.get("STRICT") == "1"
            SLOW = False
            def pytest_configure():
                global SLOW
                SLOW = True
            def test_rows(run):
                if STRICT:
                    assert run(1) == [2]
                if SLOW:
                    assert run(1) == [2]
                if 0:
                    raise AssertionError("0 is true")
        """),
        Example("""
            class TestRows(TestCase):
                async def test_source(self):
                    with self.assertRaises(StopAsyncIteration) as caught:
                        return [row async for row in source()]
                    self.assertEqual(caught.exception.args, (42,))
                def wait(self):
                    self.assertTrue(self.seen)
                def test_wait(self):
                    with self.assertRaises(KeyboardInterrupt):
                        alarm(1)
                        self.wait()
        """),
        Example("""
            import pytest
            def test_rows(run):
                pytest.skip("not on this machine")
                assert run(1) == [2]
        """),
        # It stands there so as not to be reached.
        Example("""
            import sys

            def check_ferries(ferries):
                if not all(ferry.afloat for ferry in ferries):
                    print("a ferry has sunk")
                    sys.exit(2)
                    assert False, "went on behind sys.exit()"
                assert len(ferries) > 3
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if _may_be_unread(unit) or goes_on_after_leaving(unit):
            return True
        if judges(unit) and may_contradict(unit):
            return True
        if may_never_enter(unit):
            return True
        if not MUST_RAISE.isdisjoint(unit.facts.calls) and any(map(_may_end_in_check, _withs(unit))):
            return True
        tests = ((node.test, node.body) for node in unit.asts(ast.If))
        return any(
            (isinstance(test, ast.Constant) or (isinstance(test, ast.Name) and test.id.isupper()))
            and may_check_in(unit, body)
            for test, body in tests
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        every = checks(unit)
        if not every:
            return
        seen: set[int] = set()
        for found in self._regions(unit):
            for region, why, what, certainty, fix in found:
                inside = {id(node) for statement in region for node in walk(statement)}
                dead = [c for c in every if id(c.node) in inside and id(c.node) not in seen]
                # `if 0: self.fail()` is a test of truth itself, a lone `raise` is no check of a test.
                if dead and not all(map(_always_fails, dead)):
                    seen.update(id(check.node) for check in dead)
                    yield self._report(unit, dead, why, what, certainty, fix)

    def _regions(self, unit: Unit) -> Iterator[Iterator[_Dead]]:
        yield self._left(unit)
        yield self._raised(unit)
        yield self._uncalled(unit)
        yield self._switched_off(unit)
        yield self._contradicted(unit)
        yield self._never_entered(unit)

    def _report(
        self, unit: Unit, dead: list[Check], why: Step, what: str, certainty: Certainty, fix: Fix | None
    ) -> Finding:
        more = f", nor are {len(dead) - 1} more after it" if len(dead) > 1 else ""
        more = more.replace("are 1 more", "is one more")
        return self.finding(
            unit,
            dead[0].node,
            f"this check is never reached{more}: {what}",
            certainty=certainty,
            steps=(why,),
            still_catches=still_catches(unit, *(c.anchor for c in dead), but=[c.node for c in dead]),
            fix=fix,
        )

    def _left(self, unit: Unit) -> Iterator[_Dead]:
        """What stands behind a statement that always leaves."""
        for block in unit.find(cst.IndentedBlock):
            body = statements(block)
            for place, statement in enumerate(body[:-1]):
                left = leaves([statement])
                if left is not None and not _skips(statement) and not _may_come_back(unit, statement):
                    says = "leaves on every path" if left != "fail" else "raises on every path"
                    yield (
                        body[place + 1 :],
                        step(unit, statement, says),
                        "the code leaves before it",
                        "question"
                        if _is_stopped_by_hand(unit, statement) or _is_known_to_be_off(unit, statement)
                        else "proved",
                        None,
                    )
                    break

    def _raised(self, unit: Unit) -> Iterator[_Dead]:
        """The last checks of a block that must raise: it passes only if they do not run."""
        for node in unit.find(cst.With):
            call = next((found for item in node.items if (found := raising_context(item))), None)
            if call is None or last_name(call) not in MUST_RAISE or not call.args or _catches_failures(call):
                continue
            body = statements(node.body)
            last = {id(check.node) for check in checks(unit) if _is_plain_check(unit, check)}
            start = len(body)
            while start > 0 and id(body[start - 1]) in last:
                start -= 1
            if all(_tells_a_mock(one) or _only_names(one) for one in body[:start]):
                continue  # the call in the check is what must raise
            if 0 < start < len(body) and not (_only_evaluates(body[start]) or _asks_truth(node, body[start])):
                between = "" if start == 1 else ", or between here and the check"
                says = f"must raise here{between}: `{' '.join(unit.text(call).split())}`"
                what = "the block passes only if something before it raises"
                own = any(_may_raise(node) for node in walk(body[start]))
                # A check that calls something may be what raises: a row is only worked out when it is read.
                sure: Certainty = "question" if own else "proved"
                if _may_raise_when_left(node, call) or _reading_raises(
                    node, call, body[start - 1], body[start]
                ):
                    sure = "question"
                if _is_error_looked_at(unit, node, call) and _need_the_result(
                    unit, body[start - 1], body[start:]
                ):
                    sure = "question"
                # Of several lines each may be the one that raises: what follows it would not have run either.
                alone = start == 1 and not _binds(body[0], body[1:])
                fix = _moved_out(unit, node, body) if alone else None
                yield body[start:], step(unit, body[0], says), what, sure, fix

    def _uncalled(self, unit: Unit) -> Iterator[_Dead]:
        """The body of a nested function whose name nothing reads."""
        if unit.calls("locals", "vars", "exec", "eval", "globals") or not judges(unit):
            return
        if unit.name.startswith("describe"):
            return  # pytest-describe collects what is defined in there
        found: list[cst.FunctionDef] = []
        for node in unit.find(cst.FunctionDef):
            if node is unit.node or node.decorators or _in_class(unit, node):
                continue
            name = node.name.value
            inside = {id(below) for below in walk(node)}
            used = any(
                other.value == name and id(other) not in inside
                for other in unit.find(cst.Name)
                if not isinstance(unit.parent(other), (cst.Attribute, cst.Arg, cst.Param))
                or _reads(unit, other)
            )
            if not used and not _is_commented(unit, name):
                found.append(node)
        tests = [node for node in found if node.name.value.startswith("test")]
        if len(tests) > 1 and unit.name.lstrip("_")[:4].lower() == "test":
            # A `def` where `class` was meant: one remark for all that it loses.
            what = f"calling `{unit.name}` only defines its {len(tests)} tests, and nothing calls them"
            says = "defined here, as the others are, and its name is read nowhere"
            yield [*tests], step(unit, tests[0].name, says), what, "proved", None
            found = [node for node in found if node not in tests]
        for node in found:
            what = f"nothing calls `{node.name.value}`"
            says = "defined here, and its name is read nowhere"
            yield [node], step(unit, node.name, says), what, "proved", None

    def _switched_off(self, unit: Unit) -> Iterator[_Dead]:
        """Branches whose condition is false on every run."""
        for node in unit.find(cst.If):
            if literal(node.test) in (False, 0, None):
                yield (
                    [node.body],
                    step(unit, node.test, "never true"),
                    "its condition is never true",
                    "question" if _is_explained(unit, node.test) else "proved",
                    None,
                )
            elif isinstance(node.test, cst.Name) and _is_false_constant(unit, node.test.value):
                what = f"`{node.test.value}` is False and nothing in the file sets it"
                yield [node.body], step(unit, node.test, what), what, "question", None

    def _contradicted(self, unit: Unit) -> Iterator[_Dead]:
        """Branches whose condition cannot hold for what is known where they stand."""
        for one in contradictions(unit) if judges(unit) and may_contradict(unit) else ():
            asked, known = _code(unit, one.branch.test), _code(unit, one.known.node)
            yield (
                [one.branch.body],
                step(unit, one.known.node, "this is known by then"),
                f"by then `{known}` has decided that `{asked}` does not hold",
                "proved" if one.sure else "likely",
                None,
            )

    def _never_entered(self, unit: Unit) -> Iterator[_Dead]:
        """Loops whose condition is false before the first turn."""
        for loop in never_entered(unit) if may_never_enter(unit) else ():
            yield (
                [loop.node.body],
                step(unit, loop.given, "this is what the loop starts with"),
                f"`{_code(unit, loop.node.test)}` does not hold when the loop is reached",
                "proved",
                None,
            )


def _always_fails(check: Check) -> bool:
    """Whether a check fails wherever it is reached, `assert False, "never here"`: it stands there so as not
    to be."""
    if check.kind in ("fail", "raise"):
        return True
    if check.kind == "exit" and (call := call_of(check.node)) is not None and call.args:
        return literal(call.args[0].value) is not UNKNOWN  # belt and braces behind `parser.error(...)`
    return isinstance(check.node, cst.Assert) and literal(check.node.test) in (False, 0, None)


def _moved_out(unit: Unit, block: cst.With, body: list[cst.CSTNode]) -> Fix | None:
    """The statements after the first of `body`, the last ones of a block, with the comments above them moved
    behind the block."""
    lines = unit.file.lines
    start, last = unit.span(body[1]).line, unit.span(body[-1]).end_line
    while start - 1 > unit.span(body[0]).end_line and lines[start - 2].lstrip().startswith("#"):
        start -= 1
    deep, shallow = (_indentation(lines[unit.span(one).line - 1]) for one in (body[1], block))
    moved = lines[start - 1 : last]
    # What a text holds over several lines would move with it.
    if deep == shallow or any(mark in line for line in moved for mark in ('"""', "'''")):
        return None
    if not all(line.startswith(deep) for line in moved if line.strip()):
        return None
    text = "".join(shallow + line.removeprefix(deep) if line.strip() else line for line in moved)
    return Fix("move it behind the block that must raise", (Edit(unit.file.path, start, last, text),))


def _tells_a_mock(statement: cst.CSTNode) -> bool:
    """`mock.read.return_value = None`, which raises nothing."""
    if not isinstance(statement, cst.Assign):
        return False
    last = (target.target for target in statement.targets)
    return all(
        isinstance(one, cst.Attribute) and one.attr.value in ("return_value", "side_effect") for one in last
    )


def _may_raise_when_left(block: cst.With, raising: cst.Call) -> bool:
    """Whether another context, entered after the one that awaits the exception, may be what raises it, behind
    all statements of the block."""
    after = [item.item for item in block.items]
    place = next((at for at, one in enumerate(after) if one is raising), len(after))
    return any(not _QUIET.search(last_name(one)) for one in after[place + 1 :])


def _only_names(statement: cst.CSTNode) -> bool:
    """Whether a statement gives a name what is written out, and raises nothing: `rows = [(KEY, 3)]`."""
    if not isinstance(statement, cst.Assign):
        return False
    if not all(isinstance(target.target, cst.Name) for target in statement.targets):
        return False
    raising = (cst.Call, cst.Await, cst.Subscript, cst.BinaryOperation, cst.StarredElement, cst.Comparison)
    return not any(isinstance(below, raising) for below in walk(statement))


def _is_error_looked_at(unit: Unit, block: cst.With, call: cst.Call) -> bool:
    """Whether what is raised is itself checked: by its message, or by its name behind the block."""
    if keyword_argument(call, "match") is not None or last_name(call).lower().endswith("regex"):
        return True
    kept = {dotted(item.asname.name) for item in block.items if item.item is call and item.asname is not None}
    end = unit.span(block).end_line
    return any(
        type(below) is cst.Name and below.value in kept
        for check in checks(unit)
        if unit.span(check.node).line > end
        for below in walk(check.node)
    )


def _need_the_result(unit: Unit, raising: cst.CSTNode, dead: list[cst.CSTNode]) -> bool:
    """Whether each of the checks behind what must raise looks at what it would have given: once it has raised
    there is nothing to look at."""
    inside = {id(below) for below in walk(raising)}
    flow = values(unit)
    return all(
        any(id(one.node) in inside for name in flow.reads(check) for one in flow.reaching(name))
        for check in dead
    )


def _binds(raising: cst.CSTNode, after: list[cst.CSTNode]) -> bool:
    """Whether what stands behind reads a name that only the statement which must raise would have bound."""
    targets = [one.target for one in raising.targets] if isinstance(raising, cst.Assign) else []
    bound = {name.value for target in targets for name in walk(target) if type(name) is cst.Name}
    return any(type(below) is cst.Name and below.value in bound for one in after for below in walk(one))


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _may_be_unread(unit: Unit) -> bool:
    """Whether a nested function holds a check and its name is read nowhere, by `ast`."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [
        *unit.asts(ast.FunctionDef),
        *unit.asts(ast.AsyncFunctionDef),
    ]
    if len(functions) < 2:
        return False
    methods = {id(statement) for node in unit.asts(ast.ClassDef) for statement in node.body}
    return any(
        node is not unit.tree
        and node.name not in unit.facts.names
        and not node.decorator_list
        and id(node) not in methods
        and may_check_in(unit, node.body)
        for node in functions
    )


def _withs(unit: Unit) -> list[ast.With | ast.AsyncWith]:
    return [*unit.asts(ast.With), *unit.asts(ast.AsyncWith)]


def _may_end_in_check(node: ast.With | ast.AsyncWith) -> bool:
    """Whether a block that must raise holds more than one statement and ends in a check, by `ast`."""
    last = node.body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    call = call.value if isinstance(call, ast.Await) else call
    checks_ = isinstance(call, ast.Call) and assertions.asserts_by_name(called_last(call))
    entered = (item.context_expr for item in node.items)
    return (
        len(node.body) > 1
        and (isinstance(last, ast.Assert) or checks_)
        and any(isinstance(one, ast.Call) and called_last(one) in MUST_RAISE for one in entered)
    )


def _code(unit: Unit, node: cst.CSTNode) -> str:
    text = " ".join(unit.text(node).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_explained(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a comment stands beside a line, above it or below: who switched it off says why."""
    line = unit.span(node).line
    return any(
        text.lstrip().startswith("#") or "  #" in text for text in unit.file.lines[line - 2 : line + 1]
    )


def _is_stopped_by_hand(unit: Unit, statement: cst.CSTNode) -> bool:
    """Whether it is an `assert False` that a comment tells about what comes after it."""
    if not isinstance(statement, cst.Assert) or literal(statement.test) is not False:
        return False
    end = unit.span(statement).end_line
    return any(text.lstrip().startswith("#") for text in unit.file.lines[end : end + 2])


# What is written over a test that is switched off: that it is, or the number of a report.
_OFF = pattern(r"(?i)\bdisabled\b|\b(gh-|issues?/|bug )\d{2,}|#\d{2,}")


def _is_known_to_be_off(unit: Unit, statement: cst.CSTNode) -> bool:
    """Whether a comment beside a `return`, or right above it, says that what follows is switched off."""
    if not isinstance(statement, cst.Return):
        return False
    line = unit.span(statement).line
    above = unit.file.lines[line - 2].lstrip() if line > 1 else ""
    said = unit.file.lines[line - 1].partition("#")[2], above if above.startswith("#") else ""
    return any(_OFF.search(one) for one in said)


def _may_come_back(unit: Unit, statement: cst.CSTNode) -> bool:
    """Whether what ends the program may be another function: one of the file's own, one that the test puts in
    its place, or the `error` of what is no parser of `argparse`."""
    if is_own_exit(unit, statement):
        return True
    calls = [node for node in walk(statement) if isinstance(node, cst.Call) and dotted(node.func) in EXITING]
    if not calls:
        return False
    patched = {
        arg.value.rpartition(".")[2]
        for call in unit.calls_of(_PATCHES)
        for arg in (
            one.value if isinstance(one, ast.keyword) else one for one in (*call.args, *call.keywords)
        )
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
    }
    return any(not patched.isdisjoint(_ends_by(call)) or _is_another_parser(unit, call) for call in calls)


def _ends_by(call: cst.Call) -> set[str]:
    """The last names of what an exit runs: a parser's `error` ends by its `exit`."""
    return {last_name(call), "exit"} if last_name(call) == "error" else {last_name(call)}


_PATCHES = frozenset({"patch", "object", "setattr", "multiple"})


def _is_another_parser(unit: Unit, call: cst.Call) -> bool:
    """`parser.error(...)` of what is made by something that is not called a parser, or by the file's own."""
    if not isinstance(call.func, cst.Attribute) or dotted(call.func) != "parser.error":
        return False
    made = values(unit).resolve(call.func.value)
    if not isinstance(made, cst.Call):
        return False
    name = last_name(made)
    return not name.endswith("Parser") or any(one.name == name for one in unit.file.units)


def _skips(statement: cst.CSTNode) -> bool:
    """`raise SkipTest(…)`: a test that is set aside openly."""
    return (
        isinstance(statement, cst.Raise) and statement.exc is not None and "Skip" in last_name(statement.exc)
    )


def _is_plain_check(unit: Unit, check: Check) -> bool:
    """An `assert` or an assertion call; a helper that checks may be the very code that must raise."""
    if check.kind == "assert":
        return True
    call = call_of(check.node)
    if check.kind not in ("call", "helper") or call is None:
        return False
    return assertions.asserts_by_name(last_name(call)) and not _asserts_of_itself(unit, call)


# What a mock asserts of itself fails as a check does.
_OF_MOCKS = pattern(r"^assert_(called|any_|has_|not_|(any_)?await)")


def _asserts_of_itself(unit: Unit, call: cst.Call) -> bool:
    """`table.assert_sorted()`: a method of what is tested, which raises whatever it likes."""
    owner, _, name = dotted(call.func).rpartition(".")
    root = owner.partition(".")[0]
    return (
        root not in ("", "self", "cls")
        and root not in unit.file.imports
        and name.startswith("assert_")
        and not _OF_MOCKS.search(name)
    )


def _only_evaluates(statement: cst.CSTNode) -> bool:
    """`assert parse(text)`: the call itself is what must raise, and `assert` mere decoration."""
    if not isinstance(statement, cst.Assert):
        return False
    test = statement.test
    while isinstance(test, cst.UnaryOperation):
        test = test.expression
    return isinstance(test, (cst.Call, cst.Subscript, cst.Await)) and any(map(_may_raise, walk(test)))


def _asks_truth(block: cst.With, statement: cst.CSTNode) -> bool:
    """`assert playbook`: asking whether an object is true may be what runs it, and raises."""
    given = {dotted(item.asname.name) for item in block.items if item.asname is not None}
    return (
        isinstance(statement, cst.Assert)
        and isinstance(statement.test, cst.Name)
        and statement.test.value not in given
    )


def _reading_raises(block: cst.With, call: cst.Call, before: cst.CSTNode, check: cst.CSTNode) -> bool:
    """Whether the error that is expected may be that of the check's own reading: an `AttributeError` of
    `assert self.x`, where what stands before it neither reads nor sets an attribute by itself."""
    expected = dotted(call.args[0].value).rpartition(".")[2]
    kind = {"AttributeError": cst.Attribute, "KeyError": cst.Subscript, "IndexError": cst.Subscript}.get(
        expected
    )
    if kind is None:
        return False
    given = {dotted(item.asname.name) for item in block.items if item.asname is not None}
    targets = before.targets if isinstance(before, cst.Assign) else ()
    if any(isinstance(one.target, kind) for one in targets) or (
        isinstance(before, (cst.Expr, cst.Assign)) and isinstance(before.value, kind)
    ):
        return False
    return any(isinstance(below, kind) and root_name(below) not in given for below in walk(check))


def _may_raise(node: cst.CSTNode) -> bool:
    """Whether a call in the check could itself be the one that must raise."""
    if not isinstance(node, cst.Call):
        return False
    return last_name(node) not in _HARMLESS and not assertions.asserts_by_name(last_name(node))


def _catches_failures(call: cst.Call) -> bool:
    """Whether the awaited exception could be that of a failing check, as far as its name says."""
    expected = call.args[0].value
    elements: Iterable[cst.BaseExpression] = (
        [element.value for element in expected.elements] if isinstance(expected, cst.Tuple) else [expected]
    )
    for element in elements:
        name = dotted(element).rpartition(".")[2]
        if (
            name in _CATCH_FAILURES
            or "Assert" in name
            or not name.lstrip("_")[:1].isupper()
            or name.isupper()
        ):
            return True
    return False


def _in_class(unit: Unit, node: cst.FunctionDef) -> bool:
    for above in unit.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            return False
        if isinstance(above, cst.ClassDef):
            return True
    return False


def _is_commented(unit: Unit, name: str) -> bool:
    """Whether a comment names it: a call that is switched on by hand."""
    lines = unit.file.lines[unit.line - 1 : unit.end_line]
    return any(re.search(rf"\b{name}\b", line.partition("#")[2]) for line in lines)


def _reads(unit: Unit, name: cst.Name) -> bool:
    """Whether a name under an attribute, an argument or a parameter is the value and not a label."""
    above = unit.parent(name)
    if isinstance(above, (cst.Attribute, cst.Arg)):
        return above.value is name
    return isinstance(above, cst.Param) and above.default is name


def _is_false_constant(unit: Unit, name: str) -> bool:
    value = module_value(unit.file, name) if name.isupper() else None
    if not isinstance(value, ast.Constant) or value.value is not False:
        return False
    if name in unit.file.imports or any(
        isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names
        for node in ast.walk(unit.file.tree)
    ):
        return False
    return not values(unit).bindings(name) and name != "TYPE_CHECKING"
