"""A check of order or uniqueness that holds over nothing, where what it looks at may be empty.

## Why
`steps == sorted(steps)` is true of an empty list. Where the list is what a filter or a reader has left, a run
that logged nothing, or whose lines no longer match, is in perfect order.

## Instead
Require the items first: `assert len(steps) == expected`, or at least `assert steps`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import bind, call_sites
from reviewbot.flow.checks import Comparison, comparisons
from reviewbot.flow.control import enclosing
from reviewbot.flow.guards import non_empty
from reviewbot.flow.iteration import Iterable, iterable
from reviewbot.flow.judging import judges
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.suspects import same_code, set_side_by_side
from reviewbot.flow.syntax import dotted, same
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, File, Finding, Fix, Rule, Unit, once, step

_KEEPS = frozenset({"list", "tuple"})


class OrderOfNothing(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def test_steps(load):
                steps = [row["step"] for row in load() if row["done"]]
                assert steps == sorted(steps)  # <- here
        """),
        Example("""
            def test_ids(log):
                ids = [line.split()[1] for line in log.splitlines() if line.startswith("restored")]
                assert len(ids) == len(set(ids))  # <- here
        """),
        Example(
            """
            def test_order(bus):
                seen = []

                def note(message):
                    seen.append(message.number)

                bus.subscribe(note)
                bus.run()
                assert seen == sorted(seen)  # <- here
            """,
            path="tests/test_bus.py",
        ),
        # The order is checked by a function that is given the list.
        Example("""
            def in_order(steps):
                assert steps == sorted(steps), steps

            def test_steps(load):
                in_order([row["step"] for row in load() if row["done"]])  # <- here
        """),
    )
    good = (
        Example("""
            def in_order(steps):
                assert steps == sorted(steps), steps

            def some_in_order(steps):
                assert steps
                assert steps == sorted(steps), steps

            def test_steps(load):
                steps = [row["step"] for row in load() if row["done"]]
                assert len(steps) == 4
                in_order(steps)

            def test_more_steps(load):
                some_in_order([row["step"] for row in load() if row["done"]])

            def test_listed():
                in_order([1, 2, 3])
        """),
        Example("""
            def test_steps(load):
                steps = [row["step"] for row in load() if row["done"]]
                assert steps
                assert steps == sorted(steps)

            def test_ids(log):
                ids = [line.split()[1] for line in log.splitlines() if line.startswith("restored")]
                assert len(ids) == 3
                assert len(ids) == len(set(ids))

            def test_first(load):
                steps = [row["step"] for row in load() if row["done"]]
                assert steps == sorted(steps)
                assert steps[0] == 1

            def test_both(load):
                steps = [row["step"] for row in load() if row["done"]]
                assert steps and steps == sorted(steps)

            def test_many(load):
                steps = [row["step"] for row in load() if row["done"]]
                assert len(steps) == len(set(steps)) > 20

            def test_table():
                table = [(1, "a"), (2, "b")]
                numbers = [number for number, _ in table]
                assert numbers == sorted(numbers)

            def test_two(load):
                steps = [row["step"] for row in load() if row["done"]]
                others = [row["step"] for row in load() if not row["done"]]
                assert steps == sorted(others)
        """),
        Example(
            """
            def test_order(bus):
                seen = []

                def note(message):
                    seen.append(message.number)

                bus.subscribe(note)
                bus.run()
                assert len(seen) == 3
                assert seen == sorted(seen)
            """,
            path="tests/test_bus.py",
        ),
    )

    def concerns(self, file: File) -> bool:
        return file.calls("sorted", "set")

    def suspect(self, unit: Unit) -> bool:
        return judges(unit) and (_may_order(unit) or not _sorting(unit.file).isdisjoint(unit.facts.calls))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        yield from self._handed(unit)
        for one in comparisons(unit) if judges(unit) else ():
            over = _ordered(one) if one.relation == "equal" else None
            found = None if over is None else _by_others(unit, over) or iterable(unit, over)
            if over is None or found is None or not _may_be_empty(unit, one, over, found):
                continue
            text = " ".join(unit.text(over).split())
            twice = _argument(one.left, "len") is not None
            yield self.finding(
                unit,
                one.check.anchor,
                f"this check passes where `{text}` is empty, as it may be: it {found.says}",
                # That nothing is there twice is asked of what may well be none.
                certainty="question" if twice or _is_filled(unit, over, found) else "likely",
                steps=[
                    step(found.unit, found.node, f"`{text}` {found.says}"),
                    step(unit, one.check.anchor, "nothing is in order, and nothing of it is there twice"),
                ],
                still_catches=still_catches(unit, over, but=[one.check.node], fault="empty", repo=repo),
                fix=_require(unit, one, over),
            )

    def _handed(self, unit: Unit) -> Iterator[Finding]:
        """Lists that are handed to a function of the file which checks their order and no more."""
        for site in call_sites(unit) if judges(unit) else ():
            if site.callee is unit or not site.callee.calls("sorted", "set"):
                continue
            given = bind(site.call, site.callee)
            for one in comparisons(site.callee):
                over = _ordered(one) if one.relation == "equal" else None
                argument = given.get(over.value) if isinstance(over, cst.Name) else None
                if over is None or argument is None or non_empty(site.callee, one.node, over):
                    continue
                found = iterable(unit, argument)
                if not found.says or found.empty is not None or non_empty(unit, site.call, argument):
                    continue
                made = found.node if found.unit is unit else None
                if isinstance(made, cst.BaseExpression) and non_empty(unit, site.call, made):
                    continue
                text = " ".join(unit.text(argument).split())
                yield self.finding(
                    unit,
                    site.call,
                    f"this check passes where `{text}` is empty, as it may be: it {found.says}",
                    certainty="question" if _is_filled(unit, argument, found) else "likely",
                    steps=[
                        step(found.unit, found.node, f"`{text}` {found.says}"),
                        step(site.callee, one.check.anchor, "nothing is in order"),
                    ],
                    still_catches=still_catches(unit, argument, but=[site.call], fault="empty"),
                )
                break


@once
def _sorting(file: File) -> frozenset[str]:
    """The last names of the functions of a file that may check the order of what they are given."""
    return frozenset(one.name.rpartition(".")[2] for one in file.units if one.is_function and _may_order(one))


@once
def _may_order(unit: Unit) -> bool:
    """Whether something in a unit could be compared as `_ordered` wants it, by `ast`."""
    return unit.calls("sorted", "set") and any(
        (_measures(other) and _set_against(one, other)) or (_measures(one) and _set_against(other, one))
        for one, other in set_side_by_side(unit)
    )


def _measures(node: ast.expr) -> bool:
    return type(node) is ast.Call and type(node.func) is ast.Name and node.func.id in ("sorted", "len")


def _set_against(plain: ast.expr, made: ast.expr) -> bool:
    while (inner := next((a for name in _KEEPS if (a := _only(plain, name))), None)) is not None:
        plain = inner
    if (sorted_ := _only(made, "sorted")) is not None:
        return same_code(plain, sorted_)
    counted, unique = _only(plain, "len"), _only(made, "len")
    held = None if unique is None else _only(unique, "set")
    return counted is not None and held is not None and same_code(counted, held)


def _only(node: ast.expr, name: str) -> ast.expr | None:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    return node.args[0] if named and node.args else None  # type: ignore[attr-defined]


def _by_others(unit: Unit, over: cst.BaseExpression) -> Iterable | None:
    """A list that starts empty, and that only functions which something else calls put into."""
    flow = values(unit)
    held = flow.reaching(over) if isinstance(over, cst.Name) else frozenset()
    made = next(iter(held)).value if len(held) == 1 else None
    if not isinstance(over, cst.Name) or not isinstance(made, cst.List) or made.elements:
        return None
    put = flow.mutations(over.value)
    inside = [enclosing(unit, one.node, cst.FunctionDef) for one in put]
    handed_on = [
        read for read in flow.handed_on(over.value) if enclosing(unit, read, cst.FunctionDef) is unit.node
    ]
    if not put or any(where is None or where is unit.node for where in inside) or handed_on:
        return None
    names = sorted({where.name.value for where in inside if isinstance(where, cst.FunctionDef)})
    called = {dotted(call.func) for call in unit.find(cst.Call)}
    if not called.isdisjoint(names):
        return None
    says = f"starts empty, and `{names[0]}`, which something else calls, puts into it"
    return Iterable("unknown", made, unit, None, says)


def _ordered(one: Comparison) -> cst.BaseExpression | None:
    """What is compared with itself sorted, or counted with and without what is there twice."""
    for left, right in ((one.left, one.right), (one.right, one.left)):
        sorted_ = _argument(right, "sorted")
        plain = left
        while (
            inner := next((a for name in _KEEPS if (a := _argument(plain, name)) is not None), None)
        ) is not None:
            plain = inner
        if sorted_ is not None and same(plain, sorted_):
            return plain
        counted, unique = _argument(left, "len"), _argument(right, "len")
        held = None if unique is None else _argument(unique, "set")
        if counted is not None and held is not None and same(counted, held):
            return counted
    return None


def _argument(node: cst.BaseExpression, name: str) -> cst.BaseExpression | None:
    if isinstance(node, cst.Call) and dotted(node.func) == name and node.args and not node.args[0].star:
        return node.args[0].value
    return None


def _may_be_empty(unit: Unit, one: Comparison, over: cst.BaseExpression, found: Iterable) -> bool:
    if isinstance(one.node, cst.Comparison) and len(one.node.comparisons) > 1:
        return False  # `len(ids) == len(set(ids)) > 20`
    if not found.says or found.empty is not None or non_empty(unit, one.node, over):
        return False
    own = isinstance(found.node, cst.BaseExpression) and found.unit is unit
    return not (own and non_empty(unit, one.node, found.node))  # type: ignore[arg-type]


def _is_filled(unit: Unit, over: cst.BaseExpression, found: Iterable) -> bool:
    """Whether what a filter chooses from is known to hold something, is a table by its name, of which some
    entries are left out, or leaves out only what has no value."""
    if " is not None" in found.says:
        return True
    if found.source is not None and found.source.empty is False:
        return True
    flow = values(unit)
    made = [over, *(binding.value for binding in flow.slice(over) if binding.value is not None)]
    names = (name for node in made for name in flow.reads(node))
    return found.unit is unit and any(name.value.isupper() and len(name.value) > 1 for name in names)


def _require(unit: Unit, one: Comparison, over: cst.BaseExpression) -> Fix | None:
    """`assert steps` before the check, where that is a line of its own."""
    line = unit.span(one.check.node).line
    before = unit.file.lines[line - 1]
    if not isinstance(over, cst.Name) or not isinstance(one.check.node, cst.Assert):
        return None
    if not before.lstrip().startswith("assert"):
        return None
    indent = before[: len(before) - len(before.lstrip())]
    edit = Edit(unit.file.path, line, line - 1, f"{indent}assert {over.value}\n")
    return Fix(f"require `{over.value}` to hold something", (edit,))
