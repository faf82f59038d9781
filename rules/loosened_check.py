"""The change makes a check say less than before.

## Why
A tolerance that grows, an equality that becomes a membership, a skip, a field that is no longer compared, an
assertion that goes: the test is green again, and what it caught it catches no more. In a diff this is one
line among many; it reads like a repair.

## Instead
Repair what made the check fail. If the check was wrong, say in the change why it was, and check the right
thing instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from reviewbot.flow.demands import demands
from reviewbot.flow.judging import in_test_file, judges
from reviewbot.flow.limits import compared, exceptions, flags, grown, iterated
from reviewbot.flow.loosening import Loosened, fewer, loosened, more, skipped
from reviewbot.flow.moved import Known, Moved
from reviewbot.flow.versions import Place, lines_of, pairs
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, line_span

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ROWS = """
def test_rows(run, reference):
    rows = run(1)
    assert len(rows) == 4
    assert rows[0].loss == reference.loss
    for field in ("tokens", "mask", "reward"):
        assert rows[0][field] == reference[field]
"""


class LoosenedCheck(Rule):
    kinds = ("module", "script")
    bad = (
        Example(
            """
            def test_rows(run, reference):
                rows = run(1)
                assert len(rows) >= 1  # <- here
                assert rows[0].loss == reference.loss
                for field in ("tokens", "reward"):  # <- here
                    assert rows[0][field] == reference[field]
            """,
            before={"tests/test_example.py": _ROWS},
        ),
        Example(
            """
            import pytest
            import torch

            @pytest.mark.skip(reason="flaky")  # <- here
            def test_loss(run):
                torch.testing.assert_close(run(1), run(2))

            def test_close(run, reference):
                torch.testing.assert_close(run(1), reference, rtol=1e-2, atol=0)  # <- here
            """,
            before={
                "tests/test_example.py": """
                import pytest
                import torch

                def test_loss(run):
                    torch.testing.assert_close(run(1), run(2))

                def test_close(run, reference):
                    torch.testing.assert_close(run(1), reference, rtol=1e-5, atol=0)
                """
            },
        ),
        Example(
            """
            def test_rows(run):
                rows = run(1)
                size = len(rows)  # <- here
                assert size > 3
            """,
            before={
                "tests/test_example.py": """
                def test_rows(run):
                    rows = run(1)
                    size = len(rows)
                    assert rows[0].done
                    assert size > 3
                """
            },
        ),
        Example(
            "python tests/compare.py --allow-set-aside 6  # <- here\n",
            path="tests/parity.sh",
            before={"tests/parity.sh": "python tests/compare.py --allow-set-aside 2\n"},
        ),
    )
    good = (
        Example(
            """
            def check_rows(rows):
                assert len(rows) == 4

            def test_rows(run, reference):
                rows = run(1)
                check_rows(rows)
                assert rows[0].loss == reference.loss
                for field in ("tokens", "mask", "reward", "score"):
                    assert rows[0][field] == reference[field]
            """,
            before={"tests/test_example.py": _ROWS},
        ),
        Example(
            """
            def test_rows(run, reference):
                rows = run(1)
                assert [row.id for row in rows] == [1, 2, 3, 4]
                assert rows[0].loss == reference.loss
                for field in ("tokens", "mask", "reward"):
                    assert rows[0][field] == reference[field]
            """,
            before={"tests/test_example.py": _ROWS},
        ),
        Example(
            """
            import math

            def test_loss(run):
                assert math.isclose(run(1), 2.0, rel_tol=1e-7)
            """,
            before={
                "tests/test_example.py": """
                import math

                def test_loss(run):
                    assert math.isclose(run(1), 2.0, rel_tol=1e-5)
                """
            },
        ),
        Example(
            """
            def test_rows(run, reference):
                rows = run(1)
                assert isinstance(rows, list)
                assert rows[0] == reference.first
                assert rows[1:] == reference.rest
            """,
            before={
                "tests/test_example.py": """
                def test_rows(run, reference):
                    rows = run(1)
                    assert rows == reference.rows
                """
            },
        ),
        Example(
            """
            def test_loss(run):
                loss = run(1)
                assert loss > 0
            """,
            before={
                "tests/test_example.py": """
                def test_loss(run):
                    loss = run(1)
                    assert loss > 0
                    loss = run(1, old=True)
                    assert loss > 1
                """
            },
        ),
        Example(_ROWS),
    )

    def suspect(self, unit: Unit) -> bool:
        # Whether anything changed is not to be seen here; nothing is parsed for the answer.
        return unit.kind == "script" or in_test_file(unit.file.path) or any(map(judges, unit.file.units))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        change = repo.change
        if change is None or change.old_path is None or not self.suspect(unit):
            return
        base = repo.base
        if base is None:
            return
        if unit.kind == "script":
            content = base.read(change.old_path)
            yield from self._flags(unit, content or b"", change.old_path)
            return
        old = base.file(change.old_path)
        if old is not None:
            groups: dict[tuple[str, str], list[tuple[Loosened, tuple[int, int]]]] = {}
            for where, found, lines in _compared(old, unit.file, Moved(repo, base), Known(repo, base)):
                # What happens to one function, and the skips that come into one file, are one thing each.
                key = "" if found.sort == "skipped" else where or str(len(groups))
                groups.setdefault((found.sort, key), []).append((found, lines))
            for group in groups.values():
                yield self._say(unit, sorted(group, key=lambda one: not one[0].sure), old)

    def _say(self, unit: Unit, group: list[tuple[Loosened, tuple[int, int]]], old: File) -> Finding:
        steps = []
        for found, _ in group:
            if found.before is not None:
                first, last = lines_of(found.before)
                steps.append(Step(old.path, first, last, f"before: `{_line(old, first)}`", base=True))
            if found.after is not None:
                first, last = lines_of(found.after)
                steps.append(Step(unit.file.path, first, last, f"after: `{_line(unit.file, first)}`"))
        found, where = group[0]
        first, last = where if found.after is None else lines_of(found.after)
        more = f", and {len(group) - 1} more like it" if len(group) > 1 else ""
        return self.finding_at(
            unit,
            line_span(unit, first, last),
            f"the change loosens a check: {found.says}{more}",
            certainty="likely" if any(one.sure for one, _ in group) else "question",
            steps=steps,
            still_catches=(_left(unit.file, first, found),),
        )

    def _flags(self, unit: Unit, content: bytes, path: str) -> Iterator[Finding]:
        before = flags(content.decode("utf-8", "replace").splitlines())
        after = flags(unit.file.lines)
        for flag, places in after.items():
            for (line, number), (was_line, was) in zip(places, before.get(flag, []), strict=False):
                if number > was and len(places) == len(before[flag]):
                    yield self.finding_at(
                        unit,
                        line_span(unit, line, line),
                        f"the change loosens a check: `{flag}` goes from {was:g} to {number:g}",
                        certainty="likely",
                        steps=[
                            Step(path, was_line, was_line, f"before: `{flag} {was:g}`", base=True),
                            Step(unit.file.path, line, line, f"after: `{flag} {number:g}`"),
                        ],
                        still_catches=("what differs by more than is now allowed",),
                    )


def _compared(
    old: File, new: File, moved: Moved, known: Known
) -> Iterator[tuple[str, Loosened, tuple[int, int]]]:
    """Everything that became looser from one version of a file to the next: the function, what, and the lines
    at which what is gone would stand."""

    for before, after in pairs(old, new):
        had, has = before.tree, after.tree
        if not isinstance(had, _FUNCTIONS) or not isinstance(has, _FUNCTIONS) or not _judge(before, after):
            continue
        place = Place(before, after)
        found = list(skipped([*had.decorator_list, *had.body], [*has.decorator_list, *has.body]))
        if not after.is_test:
            # A hook, a fixture: it decides for each test.
            found = [replace(one, sure=False) for one in found]
        if not any(one.sure for one in found):
            found += loosened(had.body, has.body, moved, known)
            found += fewer(iterated(had), iterated(has))
        for one in found:
            yield after.name, one, place.of(one.before) if one.before else (after.line, after.line)
    heads = [[node for unit in file.units for node in _head(unit)] for file in (old, new)]
    found = list(skipped(*heads))
    found += fewer(compared(old), compared(new))
    found += more(exceptions(old), exceptions(new))
    found += grown(old.tree, new.tree)
    yield from (("", one, (1, 1)) for one in found)


def _judge(before: Unit, after: Unit) -> bool:
    return judges(before) or judges(after)


def _head(unit: Unit) -> list[ast.AST]:
    """What stands at the top of a module or class: marks, and the decorators of a class."""
    if unit.is_function:
        return []
    above = unit.tree.decorator_list if isinstance(unit.tree, ast.ClassDef) else []
    return [*above, *(node for node in unit.body if isinstance(node, (ast.Assign, ast.Expr)))]


def _line(file: File, number: int) -> str:
    return " ".join(file.lines[number - 1].split())[:100].replace("`", "'")


def _left(file: File, line: int, found: Loosened) -> str:
    """What is still checked in the function around."""
    around = [unit for unit in file.units if unit.is_function and unit.line <= line <= unit.end_line]
    if (found.sort == "skipped" and found.sure) or not around:
        return "nothing in this file takes its place"
    count = len(demands(around[-1].tree.body))  # type: ignore[union-attr]
    where = f"`{around[-1].name}`"
    return f"{count} checks are left in {where}" if count > 1 else f"{count or 'no'} check is left in {where}"
