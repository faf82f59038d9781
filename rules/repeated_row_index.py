"""The same rows are indexed by the same key again.

## Why
An index is one fact about a run: which row has which identity. Built again in every function, or on every
turn of a loop, it costs a pass over all rows each time, and each copy can come to mean something else
(another key, another rule for duplicates) while the checks still look alike.

## Instead
Build the index once, where the rows are read, and hand it to the functions that look rows up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import libcst as cst

from reviewbot.flow.indexes import Build, builds, leads_to_build, may_build
from reviewbot.flow.rework import built_again, built_each_turn, built_for_callers, may_change, sites
from reviewbot.flow.suspects import compares_two, is_comparer
from reviewbot.flow.syntax import last_name
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, step
from reviewbot.model import Certainty

_CLOCKS = frozenset(
    {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "monotonic", "time"}
)


class RepeatedRowIndex(Rule):
    kinds = ("module",)
    bad = (
        Example(
            """
            def compare(before, after):
                ids = {row["id"]: row for row in before}
                for row in after:
                    assert row["id"] in ids
                by_id = {r["id"]: r for r in before}  # <- here
                for row in after:
                    assert by_id[row["id"]]["text"] == row["text"]
            """
        ),
        Example(
            """
            def by_step(rows):
                found = {}
                for row in rows:
                    found.setdefault((row.step, row.rank), []).append(row)
                return found

            def check_losses(rows, expected):
                for key, group in by_step(rows).items():
                    assert len(group) == expected

            def check_norms(rows, limit):
                assert all(row.norm < limit for group in by_step(rows).values() for row in group)

            def main(rows):  # <- here
                check_losses(rows, 4)
                check_norms(rows, 1.0)
            """,
            path="tools/compare_runs.py",
        ),
        Example(
            """
            def check(cuts, rows):
                for cut in cuts:
                    found = {row["call"]: row for row in rows}  # <- here
                    assert found[cut["call"]]["tokens"] == cut["tokens"]
            """
        ),
        Example(
            """
            def lookup(rows):
                return {row["id"]: row for row in rows}

            def check(cuts, rows):
                for cut in cuts:
                    assert lookup(rows)[cut["id"]] == cut  # <- here
            """
        ),
        # A test in another file hands the same rows to both.
        Example(
            """
            def check_days(planned, sailed):
                left = {row.ferry: row for row in planned}
                right = {row.ferry: row for row in sailed}
                assert left.keys() == right.keys()

            def check_loads(planned, sailed):
                left = {row.ferry: row for row in planned}
                right = {row.ferry: row for row in sailed}  # <- here
                for ferry in left:
                    assert left[ferry].load == right[ferry].load
            """,
            path="tests/ferry/compare.py",
            files={
                "tests/ferry/__init__.py": "",
                "tests/ferry/test_day.py": """
from tests.ferry.compare import check_days, check_loads

def test_day(plan, sail):
    planned, sailed = plan(), sail()
    check_days(planned, sailed)
    check_loads(planned, sailed)
""",
            },
        ),
    )
    good = (
        # It is part of a table that is compared as a whole.
        Example("""
            def test_places(ferries, find):
                assert find(ferries, "path") == {"places": {ferry.path: ferry for ferry in ferries}}
                assert find(ferries, "berth") == {"places": {ferry.berth: ferry for ferry in ferries}}
                assert find(ferries, "deep") == {"places": {ferry.berth: ferry for ferry in ferries}}
        """),
        # Each is handed rows of its own.
        Example(
            """
            def check_days(planned):
                left = {row.ferry: row for row in planned}
                assert left

            def check_loads(sailed):
                left = {row.ferry: row for row in sailed}
                assert all(row.load for row in left.values())
            """,
            path="tests/ferry/compare.py",
            files={
                "tests/ferry/__init__.py": "",
                "tests/ferry/test_day.py": """
from tests.ferry.compare import check_days, check_loads

def test_day(plan, sail):
    planned, sailed = plan(), sail()
    check_days(planned)
    check_loads(sailed)
""",
            },
        ),
        # A benchmark times the building itself.
        Example(
            """
            import time

            def index(rows):
                found = {}
                for row in rows:
                    found[row.id] = row
                return found

            def measure(rows):
                known = index(rows)
                assert known[rows[0].id] is rows[0]
                for _ in range(3):
                    for row, _ in rows:
                        known.get(row.id)
                    index(rows)
                taken = []
                for _ in range(20):
                    start = time.perf_counter()
                    index(rows)
                    taken.append(time.perf_counter() - start)
                return min(taken)
            """,
            path="benchmarks/rows.py",
        ),
        # A fresh table for each, to be filled.
        Example(
            """
            def collect(settings, figures):
                found = {one["name"]: {} for one in settings["tables"]}
                for table in settings["tables"]:
                    row = {one["name"]: None for one in settings["models"]}
                    for name, figure in figures(table):
                        row[name] = figure
                    found[table["name"]] = row
                return found
            """,
            path="tools/collect.py",
        ),
        # Other rows, another key, another shape, other rows under the same name.
        Example(
            """
            def index(rows, *keys):
                found = {}
                for row in rows:
                    found[tuple(row[key] for key in keys)] = row
                return found

            def compare(left, right):
                one, other = index(left, "id"), index(right, "id")
                assert one.keys() == other.keys()
                assert index(left, "step") != index(left, "rank")
                counts = {row["id"]: len(row["text"]) for row in left}
                by_id = {row["id"]: row for row in left}
                left = [row for row in left if by_id[row["id"]] and counts]
                return {row["id"]: row for row in left}
            """
        ),
        # The rows change between the two, or only one of the two is ever built.
        Example(
            """
            def test(run, rows, fast):
                before = {row["id"]: row for row in rows}
                rows.append(run())
                after = {row["id"]: row for row in rows}
                assert before != after

            def pick(rows, fast):
                if fast:
                    found = {row["id"]: row for row in rows}
                else:
                    found = {row["id"]: row for row in rows}
                return found
            """
        ),
        # Snapshots of a model, copies of a mapping, a call that is made twice by tests.
        Example(
            """
            def test_step(model, optimizer):
                before = {name: p.clone() for name, p in model.named_parameters()}
                optimizer.step()
                after = {name: p.clone() for name, p in model.named_parameters()}
                assert before != after

            def index(rows):
                return {row["id"]: row for row in rows}

            def test_one(rows):
                assert index(rows)

            def test_two(rows):
                assert index(rows)

            def test_each_key(rows):
                for key in ("id", "step"):
                    assert {row[key]: row for row in rows}
            """
        ),
        # What a turn does to it may change it.
        Example("""
            def test_steps(optimizer, steps):
                for _ in range(steps):
                    optimizer.step()
                    by_id = {id(param): param for param in optimizer.groups["params"]}
                    assert len(by_id) == 4
        """),
        # One call of `optimize` builds one of the two.
        Example("""
            def live(layer, modules):
                made = {}
                for module in modules:
                    made[module.name] = module.weight
                return train(layer, made)

            def cloned(layer, modules):
                made = {}
                for module in modules:
                    made[module.name] = module.weight
                return train(copy(layer), made)

            def optimize(layer, modules, whole):
                if whole:
                    with no_grad():
                        return live(layer, modules)
                return cloned(layer, modules)
        """),
        # Two lists of one day.
        Example(
            """
            def check(day):
                arrived = {}
                for row in day["arrivals"]:
                    arrived[row["train"]] = row
                left = {}
                for row in day["departures"]:
                    left[row["train"]] = row
                return arrived, left
            """,
            path="tools/report.py",
        ),
        # Each index holds other rows: those that belong to one guest.
        Example(
            """
            def visits(guest, rows):
                found = {}
                for row in rows:
                    known = {one.name for one in row.guests}
                    if guest.name in known:
                        found[row.day] = row
                return found

            def table(guests, rows):
                for one in guests:
                    print(visits(one, rows))

            def chart(guests, rows, wide):
                for one in guests:
                    if wide:
                        print(len(visits(one, rows)))
                    else:
                        print(sorted(visits(one, rows)))

            def report(guests, rows):
                table(guests, rows)
                chart(guests, rows, True)
            """,
            path="tools/report.py",
        ),
        # Two selections of the rows, each with an index of its own.
        Example(
            """
            def plot(rows, metric):
                series = {}
                for row in rows:
                    if metric in row:
                        series.setdefault(row["mode"], []).append(row)
                return series

            def table(rows, columns):
                series = {}
                for row in rows:
                    if not any(column in row for column in columns):
                        continue
                    series.setdefault(row["mode"], []).append(row)
                return series

            def report(rows):
                return plot(rows, "loss"), table(rows, ("loss", "norm"))
            """,
            path="tools/report.py",
        ),
        # Between the two something is done to what the rows come from.
        Example("""
            def test_late(harbour):
                boats = {boat["name"]: boat for boat in harbour.boats()}
                assert boats["ferry"]["state"] == "here"
                harbour.leave("ferry")
                boats = {boat["name"]: boat for boat in harbour.boats()}
                assert boats["ferry"]["state"] == "gone"
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        makers = [one for one in unit.file.units if may_build(one)]
        if not makers:
            return False
        names = {one.name.rpartition(".")[2] for one in makers}
        looping = any(one.has(ast.For) or one.has(ast.While) for one in unit.file.units)
        calls = sum(_last_name(call) in names for one in unit.file.units for call in one.asts(ast.Call))
        return len(makers) > 1 or looping or calls > 1 or _many(makers[0])

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        functions = [one for one in unit.file.units if one.is_function and leads_to_build(one)]
        functions = [one for one in functions if not _measures(one)]
        groups = [(one, found) for one in functions if (found := built_again(one))]
        for one, found in groups:
            if not any(_says_it_better(other, theirs, one, found) for other, theirs in groups):
                yield self._again(one, found)
        for one in functions:
            yield from self._each_turn(one)
        told = {place for _, found in groups for place in sites(found)}
        elsewhere = [(who, found) for who, found in built_for_callers(functions, repo)]
        elsewhere = [(who, found) for who, found in elsewhere if not sites(found) <= told]
        if elsewhere:
            yield self._for_caller(*max(elsewhere, key=lambda one: len(sites(one[1]))))

    def _for_caller(self, caller: Unit, found: list[Build]) -> Finding:
        """Of the functions of other files that have rows indexed again, one says enough."""
        own = [build for build in found if build.site[0] is not caller]
        last = max(own or found, key=lambda build: build.made[0].span(build.made[1]).line)
        where, node = last.site if own else last.made
        return self.finding(
            where,
            node,
            f"what `{caller.name}` calls here indexes the same rows again: {_told(found)}",
            certainty="question",  # how many rows there are, the code does not say
            steps=[
                *_steps(own or found, _own_name),
                step(caller, last.node, f"`{caller.name}` hands in the same rows"),
            ],
            still_catches=("everything: each check stays and looks its rows up in the one index",),
        )

    def _again(self, unit: Unit, found: list[Build]) -> Finding:
        direct = all(build.hops == 0 for build in found)
        node: cst.CSTNode = unit.node.name  # type: ignore[union-attr, assignment]
        if direct:
            node = max((build.site[1] for build in found), key=unit.index.rank)
        who = "this function" if direct else f"what `{unit.name}` calls"
        return self.finding(
            unit,
            node,
            f"{who} indexes the same rows again: {_told(found)}",
            certainty=_certainty(unit, found),
            steps=_steps(found),
            still_catches=("everything: each check stays and looks its rows up in the one index",),
        )

    def _each_turn(self, unit: Unit) -> Iterator[Finding]:
        told: set[tuple[int, str]] = set()
        for build, loop in built_each_turn(unit):
            place = id(build.node), build.rows.name
            if place in told:
                continue  # a helper that builds several is one cause
            told.add(place)
            head = loop.iter if isinstance(loop, cst.For) else loop.test
            steps = [step(unit, head, "the loop")]
            if build.hops:
                steps.append(step(*build.made, "the index is built here"))
            yield self.finding(
                unit,
                build.node,
                f"`{build.rows.name}` is indexed on every turn of the loop, and no turn changes it",
                certainty=_certainty(unit, [build]),
                steps=steps,
                still_catches=("everything: the index can be built once, before the loop",),
            )


def _measures(unit: Unit) -> bool:
    """Whether a function times what it repeats: it reads a clock, and has a loop that only counts."""
    if not any(last_name(call) in _CLOCKS for call in unit.find(cst.Call)):
        return False
    return any(
        isinstance(loop.target, cst.Name)
        and isinstance(loop.iter, cst.Call)
        and last_name(loop.iter) == "range"
        and all(read.value != loop.target.value for read in values(unit).reads(loop.body))
        for loop in unit.find(cst.For)
    )


def _certainty(unit: Unit, found: list[Build]) -> Certainty:
    """That of a comparison, whose rows are many; in a test, and elsewhere, there may be a handful of them."""
    compares = is_comparer(unit) and not unit.is_test and compares_two(unit)
    if not compares or not any(build.whole for build in found):
        return "question"
    return "question" if any(may_change(unit, build) for build in found) else "likely"


def _told(found: list[Build]) -> str:
    names = list(dict.fromkeys(build.rows.name for build in found))
    counts = {name: len(sites([b for b in found if b.rows.name == name])) for name in names}
    return " and ".join(f"`{name}` {'once' if n == 1 else f'{n} times'}" for name, n in counts.items())


def _says_it_better(other: Unit, theirs: list[Build], unit: Unit, found: list[Build]) -> bool:
    """Whether another function reaches more of the same builds, or the same ones from nearer by."""
    if other is unit or not sites(theirs) >= sites(found):
        return False
    if sites(theirs) > sites(found):
        return True
    order = unit.file.units.index
    nearer = sum(build.hops for build in theirs), order(other)
    return nearer < (sum(build.hops for build in found), order(unit))


def _rows_name(build: Build) -> str:
    return build.rows.name


def _own_name(build: Build) -> str:
    """What the function that builds an index itself calls the rows."""
    unit, node = build.made
    return next((one.rows.name for one in builds(unit) if one.node is node), build.rows.name)


def _steps(found: list[Build], called: Callable[[Build], str] = _rows_name) -> list[Step]:
    """One step for each place that builds, in source order."""
    rows: dict[tuple[int, int], dict[str, None]] = {}
    first: dict[tuple[int, int], Build] = {}
    for build in found:
        span = build.site[0].span(build.site[1])
        rows.setdefault((span.line, span.end_line), {})[f"`{called(build)}`"] = None
        first.setdefault((span.line, span.end_line), build)
    return [
        step(*first[place].site, f"indexes {' and '.join(rows[place])} by `{_plain(first[place].key)}`")
        for place in sorted(rows)
    ]


def _plain(key: str) -> str:
    """A key as a person would write it."""
    code = re.sub(r"#[\d,@]+", "", key.partition(" with ")[0])
    return re.sub(r"ROW(\d+)", lambda row: "row" if row[1] == "0" else f"row{row[1]}", code)


def _last_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _many(unit: Unit) -> bool:
    return len(unit.asts(ast.DictComp)) + len(unit.asts(ast.Call)) > 1
