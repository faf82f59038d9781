"""What a branch that leads around a check leaves uncompared, in words: its condition, and the fields of the
rows that are not compared through it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.control import enclosing
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.verdicts import every_judgement

if TYPE_CHECKING:
    from reviewbot.flow.detours import Detour
    from reviewbot.flow.judgements import Judgement
    from reviewbot.source.units import Unit

_OPPOSITE = ((" not in ", " in "), (" is not ", " is "), (" != ", " == "))


def holds(detour: Detour) -> str:
    """The condition as it stands when the branch is open."""
    node, code = detour.condition, short(canonical(detour.condition))
    if detour.outcome:
        return code
    if isinstance(node, cst.UnaryOperation):
        return short(canonical(node.expression))
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        for one, other in _OPPOSITE:
            if one in code:
                return code.replace(one, other)
            if other in code:
                return code.replace(other, one)
    return f"not {code}" if isinstance(node, (cst.Name, cst.Call, cst.Attribute)) else f"not ({code})"


def missed_by(unit: Unit, detour: Detour) -> list[str]:
    """What the excused rows are not compared in: fields where they are named, else the code."""
    still = {field for one in kept_by(unit, detour) for field in fields_of(unit, one)}
    found: dict[str, None] = {}
    for one in detour.missed:
        fields = fields_of(unit, one)
        for field in fields or [f"`{short(canonical(one.left))}`"]:
            if field not in still:
                found[field] = None
    return list(found) or [f"`{short(canonical(one.left))}`" for one in detour.missed[:1]]


def kept_by(unit: Unit, detour: Detour) -> list[Judgement]:
    """The judgements that the arm itself holds."""
    inside = {id(below) for statement in detour.body for below in walk(statement)}
    return [one for one in every_judgement(unit) if id(one.node) in inside]


def fields_of(unit: Unit, one: Judgement) -> list[str]:
    """The names of the fields that a judgement compares: its literal key, or those that its loop lists."""
    index = _index(one.left)
    if isinstance(index, cst.SimpleString):
        return ["`" + str(index.evaluated_value) + "`"]
    loop = enclosing(unit, one.node, cst.For) if index is not None else None
    while isinstance(loop, cst.For) and index is not None and canonical(loop.target) != canonical(index):
        loop = enclosing(unit, loop, cst.For)
    if not isinstance(loop, cst.For):
        return []
    listed: ast.expr | None = None
    if isinstance(loop.iter, cst.Name):
        listed = module_value(unit.file, loop.iter.value)
    elif isinstance(loop.iter, (cst.Tuple, cst.List)):
        listed = ast.parse(canonical(loop.iter), mode="eval").body
    if not isinstance(listed, (ast.Tuple, ast.List, ast.Set)):
        return []
    return [f"`{e.value}`" for e in listed.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]


def _index(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a value is looked up by: `field` of `row[field]` and of `row.get(field)`."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        return index.value if isinstance(index, cst.Index) else None
    if isinstance(node, cst.Call) and last_name(node) in ("get", "getattr") and node.args:
        return node.args[-1 if last_name(node) == "getattr" else 0].value
    return None


def short(code: str) -> str:
    """Code on one line, cut where it is long."""
    line = " ".join(code.split())
    return line if len(line) <= 60 else line[:57] + "..."
