"""What is written into a file that the code opens for it and does not look at again."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import canonical, last_name, literal, walk
from reviewbot.flow.values import values
from reviewbot.source.units import called_last

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_WRITES = frozenset({"write", "writelines", "writerow"})


def may_note(unit: Unit, call: ast.Call) -> bool:
    """`notes` asked of `ast`; yes too often, never no wrongly."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(owner, ast.Name) or called_last(call) not in _WRITES:
        return False
    return unit.has(ast.With) and unit.calls("open")


def notes(unit: Unit, call: cst.Call) -> bool:
    """Whether a call writes into a file that a `with open(path, "w")` of the unit opens, and whose path the
    unit names nowhere else."""
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    if not isinstance(owner, cst.Name) or last_name(call) not in _WRITES:
        return False
    reaching = values(unit).reaching(owner)
    opened = [one.value for one in reaching if one.kind == "with" and isinstance(one.value, cst.Call)]
    if len(opened) != 1 or len(reaching) != 1:
        return False
    path = _path(opened[0])
    if path is None or _mode(opened[0])[:1] not in ("w", "a", "x"):
        return False
    inside = {id(below) for below in walk(opened[0])}
    text = canonical(path)
    again = (b for b in unit.find(type(path)) if id(b) not in inside)
    return not any(isinstance(one, cst.BaseExpression) and canonical(one) == text for one in again)


def _path(opened: cst.Call) -> cst.BaseExpression | None:
    if last_name(opened) != "open":
        return None
    if isinstance(opened.func, cst.Attribute):
        return opened.func.value
    return opened.args[0].value if opened.args else None


def _mode(opened: cst.Call) -> str:
    place = 0 if isinstance(opened.func, cst.Attribute) else 1
    named = [arg.value for arg in opened.args if arg.keyword is not None and arg.keyword.value == "mode"]
    given = named or [arg.value for arg in opened.args[place : place + 1]]
    mode = literal(given[0]) if given else ""
    return mode if isinstance(mode, str) else ""
