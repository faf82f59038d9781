"""Rows that are to be compared go into a dict by a key that need not be theirs alone.

## Why
Where two rows have one key, the dict keeps the last and forgets the other. A run that trained a row twice, or
gave two rows one identity, then looks the same as one that did not.

## Instead
Refuse a key that stands twice while the dict is filled, or compare `len(index)` with the number of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.checks import checks, comparisons
from reviewbot.flow.indexes import Build, builds, leads_to_build, may_build, reached
from reviewbot.flow.judgements import judgements
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.suspects import is_comparer, may_fail
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, once, step


class KeysCollapse(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            def by_identity(batches):
                return {(b["step"], r["prompt"], r["sample"]): r for b in batches for r in b["rows"]}

            def check_cuts(cuts, batches):
                rows = {(r["prompt"], r["sample"]): r for b in batches for r in b["rows"]}  # <- here
                for cut in cuts:
                    assert rows[(cut["prompt"], cut["sample"])]["tokens"] == cut["tokens"]
            """
        ),
        Example(
            """
            def compare(before, after):
                left = {row["id"]: row for row in before}  # <- here
                right = {row["id"]: row for row in after}
                assert left == right
            """
        ),
        Example(
            """
            def index(rows):
                by = {}
                for row in rows:
                    by[row.dish, row.day] = row.price
                return by
            def compare(reference, restored):
                assert index(reference) == index(restored)  # <- here
            """,
            path="tests/compare_menu.py",
        ),
    )
    good = (
        # The names that come back are held against all that there were.
        Example("""
            def test_names(rename, build, back):
                names = set(build().names())
                renamed = {rename(name): 0 for name in names}
                found = back(renamed)
                assert renamed["first"] == found["first"]
                assert set(found) == names
        """),
        # Only whether a name is there is asked.
        Example("""
            def by_course(ships):
                return {(ship.course, ship.deck): ship for ship in ships}

            def test_moored(sail, harbour):
                ships = sail().ships
                named = {ship.course.removesuffix("_back"): ship for ship in ships}
                for name in ("north", "south"):
                    assert (name in harbour.closed) == (name not in named)
        """),
        # Each user has a number of his own.
        Example("""
            def test_lookup(User):
                users = [User(n, f"u{n}", f"u{n}@x") for n in range(3)]
                by_id = {user.id: user for user in users}
                by_mail = {user.email: user for user in users}
                for user in users:
                    assert by_id[user.id] is by_mail[user.email]
        """),
        Example(
            """
            def compare(before, after):
                left = {row["id"]: row for row in before}
                right = {}
                for row in after:
                    if row["id"] in right:
                        raise AssertionError(row["id"])
                    right[row["id"]] = row
                assert len(left) == len(before)
                assert left == right

            def grouped(before, after):
                left, right = {}, {}
                for row in before:
                    left.setdefault(row["id"], []).append(row)
                for row in after:
                    right.setdefault(row["id"], []).append(row)
                assert left == right
            """
        ),
        # Not compared, or with values that were never rows.
        Example(
            """
            def show(rows):
                names = {row["id"]: row["name"] for row in rows}
                assert rows
                print(names)

            def test_sizes(rows):
                assert all(len(row) == 1 for row in rows)
                return {row.id: row for row in rows}
            """
        ),
        Example(
            """
            def compare(reference, restored):
                left = {row["dish"]: row for row in reference}
                right = {row["dish"]: row for row in restored}
                assert len(left) == len(reference) and len(right) == len(restored)
                assert left == right
            """,
            path="tests/compare_menu.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return (may_build(unit) or leads_to_build(unit)) and is_comparer(unit) and may_fail(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not is_comparer(unit):
            return
        # Two sides that are indexed by one key, and then compared, are one weakness.
        alike: dict[str, list[Build]] = {}
        for build in reached(unit):
            if build.hops > 1 or build.site[0] is not unit:
                continue
            if _is_numbered(build) or not _is_compared(unit, build):
                continue
            if _keeps_the_last(build) and not _refuses(build):
                alike.setdefault(_plain(build.key), []).append(build)
        for key, (build, *others) in alike.items():
            wider = _wider(unit, build)
            again = [
                step(unit, one.node, f"and of `{one.rows.name}` here")
                for one in others
                if one.node is not build.node
            ]
            made = [step(*build.made, "the index is built here")] if build.hops else []
            yield self.finding(
                unit,
                build.node,
                f"two rows of `{build.rows.name}` with the same `{key}` become one, and nothing counts them",
                certainty="question" if wider is None else "likely",
                steps=[*made, *([] if wider is None else [wider]), *again],
                still_catches=still_catches(unit, build.node, but=[build.node], fault="length", repo=repo),
            )


def _is_numbered(build: Build) -> bool:
    """Whether the rows are made from a `range` or an `enumerate`, whose number goes into each of them."""
    made = build.rows.value
    if not isinstance(made, (cst.ListComp, cst.GeneratorExp)) or not isinstance(made.for_in.iter, cst.Call):
        return False
    numbers = {name.value for name in walk(made.for_in.target) if isinstance(name, cst.Name)}
    reads = {name.value for name in walk(made.elt) if isinstance(name, cst.Name)}
    computed = any(isinstance(below, cst.BinaryOperation) for below in walk(made.elt))
    return last_name(made.for_in.iter) in ("range", "enumerate") and not computed and bool(numbers & reads)


def _keeps_the_last(build: Build) -> bool:
    """Whether the dict holds one row for a key: no list of them."""
    made = build.made[1]
    if isinstance(made, cst.DictComp):
        return True
    return isinstance(made, cst.For) and not any(
        isinstance(below, cst.Call) and last_name(below) in ("append", "add") for below in walk(made)
    )


def _refuses(build: Build) -> bool:
    """Whether a key that stands twice is noticed: asked for before it is stored, by a count, or by a check of
    all rows."""
    where, made = build.made
    if isinstance(made, cst.For):
        for below in walk(made):
            if isinstance(below, cst.ComparisonTarget) and isinstance(below.operator, (cst.In, cst.NotIn)):
                return True
    counted = [(build.unit, build.rows.name)]
    if where is not build.unit:
        counted += [(where, binding.name) for binding in values(where).all if binding.kind == "parameter"]
    for unit, rows in counted:
        if any(
            one.relation == "equal" and rows in (canonical(one.left), canonical(one.right))
            for one in comparisons(unit)
        ):
            return True  # all of them are held against something, exactly
        for check in checks(unit):
            looks_at = check.node if check.condition is None else check.condition
            counts = (below for below in walk(looks_at) if isinstance(below, cst.Call) and _counts(below))
            if rows in {name.value for count in counts for name in walk(count) if isinstance(name, cst.Name)}:
                return True
    return False


def _counts(call: cst.Call) -> bool:
    return last_name(call) in ("len", "Counter", "is_unique", "duplicated")


def _is_compared(unit: Unit, build: Build) -> bool:
    """Whether a value that the dict holds, or the dict, is judged."""
    held = _held_by(unit, build)
    flow = values(unit)
    if held is not None and _is_asked_for_keys(unit, held):
        return False
    if held is None:
        # Used where it is built: against another index, not against what is written out.
        others = [other.node for other in reached(unit) if other.node is not build.node]
        pairs = [(one.left, one.right) for one in judgements(unit)]
        return any(
            _is_in(build.node, side) and any(_is_in(other, against) for other in others)
            for left, right in pairs
            for side, against in ((left, right), (right, left))
        )
    return any(
        held in {binding.name for binding in flow.slice(one.left, one.right)} for one in judgements(unit)
    )


def _is_asked_for_keys(unit: Unit, held: str) -> bool:
    """Whether nothing but which keys there are is asked of a dict: which row one stands for is no matter."""
    read = [name for name in values(unit).reads(unit.node) if name.value == held]
    return bool(read) and all(
        isinstance(above := unit.parent(name), cst.ComparisonTarget)
        and isinstance(above.operator, (cst.In, cst.NotIn))
        for name in read
    )


def _is_in(node: cst.CSTNode, side: cst.BaseExpression) -> bool:
    return any(below is node for below in walk(side))


def _held_by(unit: Unit, build: Build) -> str | None:
    """The name that holds the dict."""
    for binding in values(unit).all:
        if binding.value is build.node and binding.kind == "assign":
            return binding.name
    if isinstance(build.node, cst.For):
        stored = (below for below in walk(build.node) if isinstance(below, cst.AssignTarget))
        names = [t.target.value for t in stored if isinstance(t.target, cst.Subscript)]
        return next((name.value for name in names if isinstance(name, cst.Name)), None)
    return None


def _wider(unit: Unit, build: Build) -> Step | None:
    """Another index of the file over rows of the same kind whose key has everything that this one has, and
    more: what it adds tells rows apart that are one here."""
    own = _fields(build.key)
    for fields, (at, number) in _keys(unit.file).items():
        if own and own < fields:
            more = ", ".join(f"`{field}`" for field in sorted(fields - own))
            made = builds(unit.file.units[at])[number].made
            return step(*made, f"rows are told apart by {more} as well here")
    return None


@once
def _keys(file: File) -> dict[frozenset[str], tuple[int, int]]:
    """What keys of a file's indexes are made of, each with the first: its unit's place, its own there."""
    found: dict[frozenset[str], tuple[int, int]] = {}
    for at, unit in enumerate(file.units):
        if unit.is_function and may_build(unit):
            for number, one in enumerate(builds(unit)):
                found.setdefault(_fields(one.key), (at, number))
    return found


def _fields(key: str) -> frozenset[str]:
    return frozenset(one or other for one, other in re.findall(r"\['(\w+)'\]|\.(\w+)", key))


def _plain(key: str) -> str:
    return re.sub(r"ROW\d+", "row", re.sub(r"#[\d,]+", "", key))
