"""What a value was before it was written down: through a log line that a regular expression reads, or
through a record's key."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.linear import Linear, state_at
from reviewbot.flow.syntax import dotted, last_name, literal, subscript
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.source.tree import walk

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_MATCHING = frozenset({"findall", "finditer", "search", "match", "fullmatch"})
_NUMBERS = frozenset({"int", "float"})


@dataclass(frozen=True, slots=True)
class Group:
    """A group (from 0) of a regular expression."""

    pattern: str
    number: int


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression without the `int(...)` or `float(...)` around it."""
    while isinstance(node, cst.Call) and dotted(node.func) in _NUMBERS and len(node.args) == 1:
        node = node.args[0].value
    return node


def group_of(node: cst.BaseExpression, unit: Unit) -> Group | None:
    """The group that an expression surely holds: `m[1]`, `m.group("n")`, or a name unpacked from a match."""
    node = bare(node)
    flow = values(unit)
    if isinstance(node, cst.Name):
        reaching = flow.reaching(node) - {UNBOUND}
        if len(reaching) != 1:
            return None
        (binding,) = reaching
        if binding.role == "whole" and binding.kind == "assign" and binding.value is not None:
            return group_of(binding.value, unit)
        if binding.role not in ("part", "item") or binding.value is None:
            return None
        place = _place(binding, unit)
        if place is not None and isinstance(binding.value, cst.Tuple):
            elements = binding.value.elements[: place + 1]
            starred = any(isinstance(element, cst.StarredElement) for element in elements)
            return None if starred or len(elements) <= place else group_of(elements[place].value, unit)
        match = _pattern_behind(binding.value, unit)
        if place is None or match is None:
            return None
        return Group(match[0], place)
    subject, key = _subscript(node)
    if subject is None or key is None:
        return None
    match = _pattern_behind(subject, unit)
    if match is None:
        named = _named_in_file(unit, key) if isinstance(key, str) and _is_given(subject, unit) else None
        if named is None:
            return None
        match = named, "groupdict"
    pattern, function = match
    if isinstance(key, str):
        try:
            number = re.compile(pattern).groupindex.get(key)
        except (re.error, OverflowError, RecursionError):
            return None
        return None if number is None else Group(pattern, number - 1)
    return Group(pattern, key if function == "findall" else key - 1)


def _is_given(node: cst.BaseExpression, unit: Unit) -> bool:
    """Whether a value is a parameter, or one of those that a parameter holds."""
    if not isinstance(node, cst.Name):
        return False
    kinds = {binding.kind for binding in values(unit).slice(node)}
    return "parameter" in kinds and kinds <= {"parameter", "loop"}


def _named_in_file(unit: Unit, name: str) -> str | None:
    """The one pattern of the file that names a group so, where the file makes records of its matches
    (`match.groupdict()`)."""
    if not any("groupdict" in other.facts.calls for other in unit.file.units):
        return None
    held = (node.value for node in unit.file.tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)))
    patterns = {
        arg.value
        for value in held
        if isinstance(value, ast.Call)
        for arg in value.args[:1]
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str) and f"(?P<{name}>" in arg.value
    }
    return patterns.pop() if len(patterns) == 1 else None


def _subscript(node: cst.BaseExpression) -> tuple[cst.BaseExpression | None, int | str | None]:
    """What is asked for a group, and for which one."""
    found = subscript(node)
    if found is not None:
        return found[0], found[1] if isinstance(found[1], (int, str)) else None
    if isinstance(node, cst.Call) and last_name(node) == "group" and len(node.args) == 1:
        key = literal(node.args[0].value)
        assert isinstance(node.func, cst.Attribute)
        return node.func.value, key if isinstance(key, (int, str)) else None
    return None, None


def _place(binding: Binding, unit: Unit) -> int | None:
    """The position of a name in the tuple that it is unpacked by."""
    element = unit.parent(binding.node)
    target = unit.parent(element) if element is not None else None
    if not isinstance(target, (cst.Tuple, cst.List)):
        return None
    before = list(target.elements)[: next(n for n, e in enumerate(target.elements) if e is element)]
    return None if any(isinstance(e, cst.StarredElement) for e in before) else len(before)


def _pattern_behind(node: cst.BaseExpression, unit: Unit) -> tuple[str, str] | None:
    """The one pattern whose matches an expression was made from, and the function that matched it."""
    flow = values(unit)
    found: set[tuple[str, str]] = set()
    sources: list[cst.CSTNode] = [node]
    for binding in flow.slice(node):
        if binding.value is not None:
            sources.append(binding.value)
        for mutation in flow.mutations(binding.name):
            sources.extend(mutation.given)
            sources.append(mutation.node)
    for source in sources:
        for call in walk(source):
            if isinstance(call, cst.Call) and last_name(call) in _MATCHING:
                pattern = pattern_of(call, unit)
                if pattern is None:
                    return None
                found.add((pattern, last_name(call)))
    return found.pop() if len(found) == 1 else None


def pattern_of(call: cst.Call, unit: Unit) -> str | None:
    """The literal pattern of `re.findall(pattern, text)` or `COMPILED.findall(text)`."""
    if not isinstance(call.func, cst.Attribute):
        return None
    owner = dotted(call.func.value)
    if unit.file.imports.get(owner, owner) in ("re", "regex") and call.args:
        given = literal(call.args[0].value)
        if isinstance(given, str):
            return given
        return _local(call.args[0].value, unit) or _compiled(dotted(call.args[0].value), unit)
    return _local(call.func.value, unit) or _compiled(owner, unit)


def _local(node: cst.BaseExpression, unit: Unit) -> str | None:
    """The literal pattern that a name of the unit itself holds, compiled or not."""
    if not isinstance(node, cst.Name) or not unit.is_function:
        return None
    bound = list(values(unit).reaching(node))
    value = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
    if isinstance(value, cst.Call) and last_name(value) == "compile" and value.args:
        value = value.args[0].value
    held = None if value is None else literal(value)
    return held if isinstance(held, str) else None


def _compiled(name: str, unit: Unit) -> str | None:
    value = module_value(unit.file, name) if name.isidentifier() else None
    if isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    held = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return value.value if held else None  # type: ignore[union-attr]


def worth_at(producer: Unit, line: int, source: str) -> Linear | None:
    """What an expression, given as source, is worth where `producer` writes it down on `line`."""
    node = producer.node
    if not isinstance(node, cst.FunctionDef):
        return None
    try:
        expression = cst.parse_expression(source)
    except cst.ParserSyntaxError:
        return None
    for call in producer.find(cst.Call, cst.Dict, cst.Assign):
        if producer.span(call).line <= line <= producer.span(call).end_line:
            return state_at(node, call).value(expression)
    return None
