"""Rows are searched from the start for each key, where an index would be asked once.

## Why
A search inside a loop costs a pass over all rows for every key, and it hides a question that an index answers
out loud: what if the key stands twice, or not at all? `next(…)` takes the first, a filtered list takes all.

## Instead
Index the rows once before the loop, refuse a key that stands twice, and look each key up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.scans import Scan, may_scan, repeated, scanning_names, scans
from reviewbot.flow.syntax import canonical, last_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step


class ScanAsLookup(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example(
            """
            def check(cuts, batches):
                for cut in cuts:
                    matches = [  # <- here
                        row
                        for batch in batches
                        for row in batch["rows"]
                        if row["prompt"] == cut["prompt"] and row["sample"] == cut["sample"]
                    ]
                    assert len(matches) == 1
            """
        ),
        Example(
            """
            def compare(left, right):
                for row in left:
                    other = next(r for r in right if r.key == row.key)  # <- here
                    assert row.tokens == other.tokens
            """
        ),
        Example(
            """
            def find(rows, key):
                for row in rows:
                    if row["id"] == key:
                        return row

            def compare(left, right):
                for row in left:
                    assert find(right, row["id"]) == row  # <- here
            """
        ),
        Example(
            """
            def compare(left, frame):
                for row in left:
                    found = frame[frame["id"] == row.id]  # <- here
                    assert len(found) == 1
            """
        ),
        Example(
            """
            def compare(left, right):
                for row in left:
                    for other in right:  # <- here
                        if other.key == row.key:
                            assert other.tokens == row.tokens
            """
        ),
    )
    good = (
        # Two functions that call each other.
        Example(
            """
            def price_of(node, table):
                found = next(row for row in table if row["id"] == node)
                return total_of(found["parts"], table)

            def total_of(parts, table):
                found = next(row for row in table if row["id"] == parts)
                return price_of(found["first"], table)
            """
        ),
        # The rows change with the turn, no key is asked for, few keys are written out.
        Example(
            """
            def first_reward_of_each(batches):
                return [next(row for row in batch["rows"] if row["reward"] > 0) for batch in batches]

            def check(batches, wanted, rows, limit):
                for batch in batches:
                    assert next(row for row in batch["rows"] if row["id"] == batch["first"])
                for key in wanted:
                    assert [row for row in rows if row["loss"] < limit[key]]
                for key in ("a", "b"):
                    assert next(row for row in rows if row["id"] == key)
                for row in rows:
                    assert [r for r in rows if r["kind"] == "x"]
            """
        ),
        Example(
            """
            def check(keys, rows):
                index = {row["id"]: row for row in rows}
                for key in keys:
                    assert index[key]
                return next(row for row in rows if row["id"] == keys[0])
            """
        ),
        # A short list that is written out; rows that the loop itself adds to.
        Example(
            """
            def check(keys):
                kinds = ["a", "b"]
                seen = []
                for key in keys:
                    assert [kind for kind in kinds if kind == key]
                    assert not any(one == key for one in seen)
                    seen.append(key)

            def check_sources(tensor, sources):
                for source in sources:
                    assert tensor[tensor[..., -1] == source].numel()
            """
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if not unit.has(ast.For) and not unit.has(ast.comprehension):
            return False
        if may_scan(unit):
            return True
        return not scanning_names(unit.file).isdisjoint(unit.facts.calls)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        reported: set[int] = set()
        for scan in scans(unit):
            loop = repeated(unit, scan)
            if loop is None or id(scan.node) in reported:
                continue
            reported.add(id(scan.node))
            steps = [step(unit, loop.iter, "for each of these")]
            if scan.made[1] is not scan.node:
                steps.append(step(*scan.made, f"all of `{scan.rows.name}` is searched here"))
            yield self.finding(
                unit,
                scan.node,
                f"each turn of the loop searches all of `{scan.rows.name}` for one `{canonical(scan.found)}`",
                certainty="question",  # how many rows there are, the code does not say
                steps=steps,
                still_catches=(_meaning(unit, scan),),
            )


def _meaning(unit: Unit, scan: Scan) -> str:
    """What must be kept when the search becomes a lookup."""
    above = unit.parent(unit.parent(scan.node) or scan.node)
    if (
        isinstance(scan.made[1], cst.GeneratorExp)
        and isinstance(above, cst.Call)
        and last_name(above) == "next"
    ):
        return "everything, if no key stands twice: `next` takes the first of several rows, an index the last"
    return "everything, if the index keeps all rows of a key, or refuses a key that stands twice"
