"""A function that compares is handed two sides of a value, and looks at neither.

## Why
Who reads the call sees that the losses of both runs are handed to the check, and believes that they are
compared. Whatever they are, it passes.

## Instead
Compare them, or take them out of the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations, permutations

from reviewbot.flow.judging import in_test_file, may_check, two_sides
from reviewbot.flow.patterns import pattern
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, tree_span, tree_step

_CHECKS = pattern(r"(?i)(^|[._])_*(check|compare|assert|verify|validate|same|expect|match|parity|equal)")
_PLACES = ("rank", "index", "idx", "id", "port", "size")  # of processes and rows, which nobody compares
_SHARED = 3  # letters that the names of two sides of one value have in common


class SideNotCompared(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def check_parity(plain, piped, plain_loss, piped_loss):  # <- here
                for one, other in zip(plain.weights(), piped.weights(), strict=True):
                    assert one == other

            def test_pipe(train):
                check_parity(*train(False), *train(True))
        """),
        Example(
            """
            class Restored:
                def assert_same(self, rows, again, rloss, aloss):  # <- here
                    self.assertEqual(rows, again)
            """,
            path="tests/restored.py",
        ),
    )
    good = (
        # The neighbours of a process are no sides of a comparison.
        Example("""
            def check_sent(rows, rank, prev_rank, next_rank):
                assert rows[rank]
        """),
        # What Python hands to `__exit__`.
        Example("""
            class CheckNoCalls:
                def __exit__(self, exc_type, exc_value, trace):
                    assert self.calls == 0, trace
        """),
        # Two switches are no sides of a comparison.
        Example("""
            def check_saved(rows, in_primary_slice: bool, in_secondary_slice: bool):
                assert rows
        """),
        Example("""
            def check_parity(plain, piped, plain_loss, piped_loss):
                assert plain == piped
                assert abs(plain_loss - piped_loss) < 1e-3

            def check_rows(rows, step_before, step_after):
                assert rows, locals()
        """),
        # What a base class or a caller fixes the form of, and what is one thing by one name.
        Example("""
            class Checker(Base):
                def check_rows(self, rows, first_rate, last_rate):
                    assert rows

            def check_row(row, name, path):
                assert row.ok

            def check_last(row, _loss, _loss_again):
                assert row.ok
        """),
        Example(
            """
            def check_range(rows, quant_min, quant_max):
                assert rows
                return rows
            """,
            path="package/convert.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return not unit.is_test and _CHECKS.search(unit.name) is not None and len(_unread(unit)) > 1

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        tree = unit.tree
        if not self.suspect(unit) or not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        if not in_test_file(unit.file.path) or not may_check(unit):
            return
        for one, other in combinations(_unread(unit), 2):
            if _are_sides(one.arg, other.arg):
                says = "is a parameter, and is read nowhere"
                yield self.finding_at(
                    unit,
                    tree_span(unit, one),
                    f"`{unit.name}` is handed `{one.arg}` and `{other.arg}`, and looks at neither",
                    certainty="likely" if _are_told_apart(unit, one.arg, other.arg) else "question",
                    steps=[tree_step(unit, arg, f"`{arg.arg}` {says}") for arg in (one, other)],
                    still_catches=("nothing here: any two values of these pass",),
                )
                return


def _unread(unit: Unit) -> list[ast.arg]:
    """The parameters that a function reads nowhere, where nobody else fixes which it takes."""
    tree = unit.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) or tree.decorator_list:
        return []
    name = unit.name.rpartition(".")[2]
    if name.startswith("__") and name.endswith("__") and unit.owner is not None:
        return []
    if "locals" in unit.facts.calls or (unit.owner is not None and unit.owner.bases):
        return []
    given = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return [
        one
        for one in given[unit.owner is not None :]
        if one.arg not in read and one.arg[0] != "_" and not _is_switch(one)
    ]


def _parameters(unit: Unit) -> list[str]:
    assert isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    given = unit.tree.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _are_told_apart(unit: Unit, one: str, other: str) -> bool:
    """Whether the names say by themselves that they are two sides, or the same beginnings or ends tell apart
    two more parameters: `rmodel` and `pmodel` beside `rloss` and `ploss`."""
    if two_sides((one, other)):
        return True
    ends, starts = _alike(one[::-1], other[::-1]), _alike(one, other)
    before = one[: len(one) - ends], other[: len(other) - ends]
    behind = one[starts:], other[starts:]
    named = [pair for pair in permutations(_parameters(unit), 2) if pair != (one, other)]
    return any(
        (all(before) and _is_rest(mine.removeprefix(before[0]), its.removeprefix(before[1]), mine, its))
        or (all(behind) and _is_rest(mine.removesuffix(behind[0]), its.removesuffix(behind[1]), mine, its))
        for mine, its in named
    )


def _is_rest(mine: str, its: str, whole: str, other: str) -> bool:
    """Whether the same is left of both names, and less than there was."""
    return mine == its and mine != whole and its != other


def _is_switch(one: ast.arg) -> bool:
    """Whether a parameter is annotated as a switch, which is no value to compare."""
    return isinstance(one.annotation, ast.Name) and one.annotation.id == "bool"


def _are_sides(one: str, other: str) -> bool:
    """Whether two names are those of one value on two sides: `rloss` and `ploss`, `loss_before` and
    `loss_after`, `expected` and `actual`."""
    if two_sides((one, other)):
        return True
    if one.endswith(_PLACES) and other.endswith(_PLACES):
        return False
    ends, starts = _alike(one[::-1], other[::-1]), _alike(one, other)
    return max(ends, starts) >= _SHARED


def _alike(one: str, other: str) -> int:
    """How many letters two names have in common at their beginning."""
    shorter = min(len(one), len(other))
    return next((n for n in range(shorter) if one[n] != other[n]), shorter)
