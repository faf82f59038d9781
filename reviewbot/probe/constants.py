"""The constants that code holds fields against: the values at which it may do something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from reviewbot.errors import UnreadableFile
from reviewbot.probe.changes import Change
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import World
from reviewbot.probe.inside.plain import Plain
from reviewbot.probe.target import Target
from reviewbot.source.units import File

MOST_EACH = 4
_KINDS = (str, int, float)


@lru_cache(maxsize=64)
def compared(target: Target) -> Mapping[str, tuple[Plain, ...]]:
    """{field: constants} of every comparison in the target's file, by the last name of what is compared."""
    try:
        tree = File(target.path, (target.root / target.path).read_bytes()).tree
    except (OSError, UnreadableFile):
        return {}
    found: dict[str, dict[object, Plain]] = {}
    for node in ast.walk(tree):
        for expression, constants in _held(node):
            name = field_of(expression)
            if name:
                listed = {(type(one), one): one for one in constants if type(one) in _KINDS}
                found.setdefault(name, {}).update(listed)
    return {name: tuple(listed.values())[:MOST_EACH] for name, listed in found.items()}


def _held(node: ast.AST) -> Iterator[tuple[ast.expr, list[Plain]]]:
    """What is held against which constants: `x == "a"`, `x in ("a", "b")`, `x.startswith("a")`."""
    if isinstance(node, ast.Compare):
        left = node.left
        for right in node.comparators:
            for one, other in ((left, right), (right, left)):
                yield one, _constants(other)
            left = right
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("startswith", "endswith") and node.args:
            yield node.func.value, _constants(node.args[0])
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield (
                node.subject,
                [
                    value.value.value
                    for value in ast.walk(case.pattern)
                    if isinstance(value, ast.MatchValue) and isinstance(value.value, ast.Constant)
                ],
            )


def _constants(node: ast.expr) -> list[Plain]:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant)]


def field_of(node: ast.expr) -> str:
    """`phase` of `row["phase"]`, `row.phase`, `row.get("phase")`, `phase`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        first = node.args[0] if node.args else None
        if node.func.attr == "get" and isinstance(first, ast.Constant):
            return str(first.value)
        return field_of(node.func.value) if node.func.attr in ("lower", "upper", "strip") else ""
    if isinstance(node, ast.Subscript):
        key = node.slice
        return str(key.value) if isinstance(key, ast.Constant) and type(key.value) is str else ""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def with_constants(
    world: World, listed: Sequence[Change], known: Mapping[str, Sequence[Plain]]
) -> list[Change]:
    """The changes and, after the first of each place whose field the code holds against constants, that
    place with each of them."""
    out: list[Change] = []
    seen: set[object] = set()
    for change in listed:
        out.append(change)
        edit = change.edit
        if change.verb != "changed" or edit.operation != "set" or edit.path in seen:
            continue
        seen.add(edit.path)
        name = next((str(key) for key in reversed(edit.path) if type(key) is str), "")
        before = plain.at(dict(world), edit.path)
        for value in known.get(name, ()):
            if type(value) is type(before) and value not in (before, edit.value):
                out.append(replace(change, edit=replace(edit, value=value)))
    return out
