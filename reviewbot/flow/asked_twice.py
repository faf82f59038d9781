"""Comparisons of what one object answers with what the same object answers: `trainer.state()` on both sides.

A method may answer anything each time, so the comparison can fail, but only where the method does not repeat
itself. Where the two names are one object because of an assignment, no other object enters at all.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.identity import alias
from reviewbot.flow.judging import side
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What these give is another one each time.
_TAKES_ONE = pattern(
    r"(?i)^_*(next|read\w*|pop\w*|get|recv\w*|receive\w*|take\w*|sample\w*|draw\w*|rand\w*|choice|generate\w*"
    r"|now|time|tick|step|advance|fetch\w*|poll\w*|consume\w*|create\w*|make\w*|new\w*|build\w*|spawn\w*)_*$"
)
# What these give is asked of one object to see that it is the same each time, or another one that is equal.
_REPEATS = pattern(
    r"(?i)(hash|digest|fingerprint|checksum|signature|uuid|key|id|clone|copy|seed|cached?|identity|name)_*(\(|$)|__"
)


def answers_of_one(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> Binding | None:
    """The binding that makes one object of two names of which the same methods, without arguments, are asked:
    `a.state() == b.state()` after `b = a`."""
    one, other = _split(left), _split(right)
    if one is None or other is None or one[1] != other[1] or one[0].value == other[0].value:
        return None
    return alias(unit, one[0], other[0])


def asked_of_one(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> cst.Name | None:
    """The local name of which both sides ask the same methods, without arguments, whose answers are not meant
    to be asked for again."""
    one, other = _split(left), _split(right)
    if one is None or other is None or one[1] != other[1] or one[0].value != other[0].value:
        return None
    if _REPEATS.search(one[1]):
        return None
    reaching = values(unit).reaching(one[0])
    if not reaching or UNBOUND in reaching or reaching != values(unit).reaching(other[0]):
        return None
    made = [binding for binding in reaching if binding.kind in ("assign", "parameter")]
    return one[0] if len(made) == len(reaching) else None


def _split(node: cst.BaseExpression) -> tuple[cst.Name, str] | None:
    """The name at the left of a path in which a method without arguments is called, and the rest as text;
    None where nothing is called, or something whose answer is another each time by its name."""
    asked = False
    path = []
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Name):
                if len(node.args) != 1 or node.func.value not in _OF_ONE:
                    return None
                path.append(f"{node.func.value}()")
                node = node.args[0].value
                continue
            if node.args or not isinstance(node.func, cst.Attribute) or _TAKES_ONE.match(last_name(node)):
                return None
            asked = True
            path.append(f".{last_name(node)}()")
            node = node.func.value
        elif isinstance(node, cst.Attribute):
            path.append(f".{node.attr.value}")
            node = node.value
        elif isinstance(node, cst.Subscript):
            key = node.slice[0].slice
            if len(node.slice) != 1 or not isinstance(key, cst.Index) or literal(key.value) is UNKNOWN:
                return None
            path.append(f"[{canonical(key.value)}]")
            node = node.value
        else:
            return None
    return (node, "".join(path)) if asked else None


_OF_ONE = frozenset({"len", "sum", "sorted", "list", "tuple", "set", "dict", "float", "int", "str", "bool"})


def left_unread(unit: Unit, name: cst.Name) -> list[Binding]:
    """The first other object that a unit makes, by its name the twin of one or made by the same callable, of
    which no check looks at anything; none where there is no such."""
    flow = values(unit)
    looked = {
        binding.name
        for check in checks(unit)
        for binding in flow.slice(check.node if check.condition is None else check.condition)
    }
    maker = _maker(flow.resolve(name))
    for node in unit.find(cst.Name):
        for binding in flow.bindings(node.value) if node.value not in looked else ():
            if binding.kind != "assign" or node.value == name.value or binding.value is None:
                continue
            if not isinstance(flow.resolve(binding.value), (cst.Call, cst.Tuple)):
                continue
            alike = maker != "" and _maker(binding.value) == maker
            if alike or side(node.value) != "" or _NUMBER.sub("", node.value) == _NUMBER.sub("", name.value):
                return [binding]
    return []


def _maker(node: cst.BaseExpression) -> str:
    return dotted(node.func) if isinstance(node, cst.Call) else ""


_NUMBER = pattern(r"\d+$")


@once
def says_repeats(unit: Unit) -> bool:
    """Whether a unit, its comments or its file's name say that something is asked again and must answer the
    same."""
    said = [unit.name, unit.file.path.rpartition("/")[2]]
    if isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        said.append(ast.get_docstring(unit.tree) or "")
    said.extend(line for line in unit.file.lines[unit.line - 1 : unit.end_line] if "#" in line or '"' in line)
    return any(_SAYS_REPEATS.search(text) for text in said)


_SAYS_REPEATS = pattern(
    r"(?i)determinis|reproducib|repeat|idempoten|stable|stabil|consisten|(^|[\W_])(same|again|twice|constant"
    r"|cach\w*|memoi[sz]\w*|always|pure|calls?|times|seed\w*)($|[\W_])"
)
