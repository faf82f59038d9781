"""What recorded calls of a check cannot show anything of: fields that no row has, sides that are empty."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from reviewbot.errors import UnreadableFile
from reviewbot.probe import shape
from reviewbot.probe.harvest import Call
from reviewbot.probe.target import Target
from reviewbot.source.units import File


def vacuous(target: Target, calls: Sequence[Call], sides: Sequence[shape.Sides]) -> Iterator[str]:
    """A clause for each field that the check compares and no recorded row has, and for each side that is
    empty in every recorded call; without known sides for each argument."""
    if target.kind != "check" or not calls:
        return
    held = {name for call in calls for _, part in shape.walk(dict(call.arguments)) for name in _names(part)}
    for name in dict.fromkeys(_compared(target)):
        if held and name not in held:
            yield f"no recorded row has `{name}`, so that the check compares None with None there"
    roots = {str(path[0]) for pair in sides for path in (pair.baseline, pair.other)}
    for name in [one for one in calls[0].arguments if one in roots or not roots]:
        given = [call.arguments.get(name) for call in calls]
        if len(calls[0].arguments) > 1 and all(one in ([], (), {}) for one in given):
            yield f"`{name}` is empty in every recorded call, so that nothing in it was compared"


def _names(part: object) -> Iterator[str]:
    if shape.is_record(part) or type(part) is dict:
        yield from (name for name in shape.fields(part) if type(name) is str)


def _compared(target: Target) -> Iterator[str]:
    """The keys that both sides of a comparison are asked for by `get`, without a default."""
    try:
        unit = File(target.path, (target.root / target.path).read_bytes()).unit(target.unit)
    except (OSError, UnreadableFile):
        return
    for node in ast.walk(unit.tree) if unit is not None else ():
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) == 1
            and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        ):
            keys = {_got(node.left), _got(node.comparators[0])}
            if len(keys) == 1:
                yield from (key for key in keys if key)


def _got(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        (*rest,) = node.args
        if len(rest) == 1 and isinstance(rest[0], ast.Constant) and type(rest[0].value) is str:
            return rest[0].value
    return ""
