"""Fields that a change adds to what code makes, and that the tests of it are given and do not look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.demands import demands
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_LEAST = 3  # fields that a test compares of a result before one more is missed


@dataclass(frozen=True, slots=True)
class NewField:
    """`field` came into what `maker` builds at `path`, `line`; it had `others` before."""

    field: str
    made: str
    maker: str
    path: str
    line: int
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A new field that a test file gives on line `fed`, while `test` demands something of `looked`, other
    fields of one result, last at `check`, and no test of the file of this one."""

    new: NewField
    test: Unit
    looked: tuple[str, ...]
    check: ast.AST
    fed: int


def unchecked(file: File, changed: tuple[tuple[int, int], ...], repo: Repo) -> Iterator[Unchecked]:
    """The new fields that a changed test file gives and does not look at."""
    for new in repo.once(_new_fields):
        fed = _fed(file, new.field, changed)
        if fed is None or _is_looked_at(file, new.field):
            continue
        for test in file.units:
            found = _looked(test, new) if test.is_test and new.maker in test.facts.calls else None
            if found is not None:
                yield Unchecked(new, test, *found, fed)
                break


def _new_fields(repo: Repo) -> tuple[NewField, ...]:
    base = repo.base
    if base is None:
        return ()
    return tuple(
        field
        for one in repo.diff
        if one.path
        and one.old_path
        and one.changed
        and one.path.endswith(".py")
        and not in_test_file(one.path)
        for field in _of_file(base.file(one.old_path), repo.file(one.path))
    )


def _of_file(old: File | None, new: File | None) -> Iterator[NewField]:
    if old is None or new is None:
        return
    before = {unit.name: unit for unit in old.units if unit.is_function}
    for unit in new.units:
        was = before.get(unit.name) if unit.is_function else None
        made = _made(was) if was is not None else {}
        for name, given in (_made(unit) if made else {}).items():
            had = made.get(name, {})
            if len(had) >= _LEAST and set(had) <= set(given):
                maker = unit.name.rpartition(".")[2]
                for field in sorted(set(given) - set(had)):
                    if not isinstance(given[field], ast.Constant):
                        line = given[field].lineno
                        yield NewField(field, name, maker, new.path, line, frozenset(had))


def _made(unit: Unit) -> dict[str, dict[str, ast.expr]]:
    """What a function builds once, by the class's name: the values of its fields."""
    found: dict[str, list[dict[str, ast.expr]]] = {}
    for call in unit.asts(ast.Call):
        name = dotted_name(call.func).rpartition(".")[2]
        if name[:1].isupper() and call.keywords:
            found.setdefault(name, []).append({one.arg: one.value for one in call.keywords if one.arg})
    return {name: fields[0] for name, fields in found.items() if len(fields) == 1}


def _fed(file: File, field: str, changed: tuple[tuple[int, int], ...]) -> int | None:
    """The first changed line of a file on which something is given a field."""
    given = [one.value.lineno for call in file.asts(ast.Call) for one in call.keywords if one.arg == field]
    given += [
        target.lineno
        for node in file.asts(ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and target.attr == field
    ]
    lines = [line for line in given if any(first <= line <= last for first, last in changed)]
    return min(lines, default=None)


def _is_looked_at(file: File, field: str) -> bool:
    """Whether something in a file reads a field, or a text that names it."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr == field and isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Constant) and node.value == field:
            return True
    return False


def _looked(test: Unit, new: NewField) -> tuple[tuple[str, ...], ast.AST] | None:
    """The fields of one result that a test demands something of, and where it does last; None where they are
    few, or where it compares the result as a whole."""
    wanted = [one for one in demands(test.tree.body) if one.relation != "raises"]
    fields: dict[str, dict[str, ast.AST]] = {}
    for one in wanted:
        for node in ast.walk(one.node):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                fields.setdefault(node.value.id, {})[node.attr] = one.node
    for name, looked in fields.items():
        known = [field for field in looked if field in new.others]
        whole = any(name in (one.subject, one.other) and one.rank > 2 for one in wanted)
        if len(known) >= _LEAST and not whole:
            return tuple(known), looked[known[-1]]
    return None
