"""Marks that rows carry: `row["excused"]`, which other code sets by comparing the two runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import unit_of
from reviewbot.flow.control import guards
from reviewbot.flow.judgements import compared_in
from reviewbot.flow.syntax import canonical, last_name, literal

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_WRITERS = 6  # of a key that more places write, none is known to be the one


def marked(unit: Unit, operand: cst.BaseExpression, repo: Repo) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    """The comparisons of two values by which the mark that an operand reads is set, each with its unit."""
    key = _key(operand)
    writers = repo.index.writers(key) if key else ()
    if len(writers) > _WRITERS:
        return
    for path, written in writers:
        where = unit if path == unit.file.path and written.function == unit.name else None
        where = where or unit_of(repo.file(path), written.function)
        for node in where.find(cst.Assign) if where is not None else ():
            assert where is not None
            if any(_is_store(target.target, key) for target in node.targets):
                yield from _comparing(where, node)


def _comparing(unit: Unit, node: cst.Assign) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    deciding = [node.value] if literal(node.value) not in (True, False) else []
    deciding += [guard.condition for guard in guards(unit, node)]
    for condition in deciding:
        for one in compared_in(unit, node, condition):
            if canonical(one.left) != canonical(one.right):
                yield unit, condition
                break


def _key(node: cst.BaseExpression) -> str:
    """The literal key of `row["k"]` and `row.get("k")`, "" for anything else."""
    given: cst.BaseExpression | None = None
    if (
        isinstance(node, cst.Subscript)
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Index)
    ):
        given = node.slice[0].slice.value
    elif isinstance(node, cst.Call) and last_name(node) == "get" and node.args:
        given = node.args[0].value
    found = literal(given) if given is not None else ""
    return found if isinstance(found, str) else ""


def _is_store(target: cst.BaseExpression, key: str) -> bool:
    return isinstance(target, cst.Subscript) and _key(target) == key
