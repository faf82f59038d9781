"""Fields that one side of a comparison was given from the other before the two are compared.

`restored["step"] = baseline["step"]` makes the two equal in `step`, whatever the run under test had there.
The same do `replace(restored, step=baseline.step)`, `{**restored, "step": baseline["step"]}` and a mask that
copies the places where one side is NaN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.between import are_bound, between, is_quiet
from reviewbot.flow.judging import two_sides
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import same_code
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, root_name, same, subscript, walk
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import every_judgement
from reviewbot.source.units import called_last, once, root_of

if TYPE_CHECKING:
    from reviewbot.flow.judgements import Judgement
    from reviewbot.source.units import Unit

# What differs from run to run, and says nothing of what a run came to.
VOLATILE = pattern(
    r"(?i)(^|_)(time|times|timestamp|ts|date|datetime|now|created|updated|modified|mtime|started|ended|finished"
    r"|duration|elapsed|seconds|ms|uuid|guid|uid|id|ids|pid|host|hostname|port|url|uri|path|paths|dir|folder|file"
    r"|filename|name|version|hash|etag|nonce|token_hex|user|pk|at|on)$"
)
REBUILDING = frozenset({"replace", "_replace", "evolve", "model_copy", "copy_with", "assoc"})


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What one side of a judgement was given from the other: `node` is where, `into` what received it and
    `out_of` what it came from. `field` is the field, "" for places that a mask chooses. `exact`: the
    judgement compares nothing else. `named`: the names of the two say which run each is."""

    judgement: Judgement
    node: cst.CSTNode
    field: str
    into: cst.BaseExpression
    out_of: cst.BaseExpression
    exact: bool
    named: bool


@once
def may_carry(unit: Unit) -> bool:
    """Whether a unit's `ast` might hand a part of one value to another: yes too often, never no wrongly."""
    for node in unit.asts(ast.Assign):
        target, value = node.targets[0], node.value
        kind = type(target)
        if kind is not type(value) or (kind is not ast.Attribute and kind is not ast.Subscript):
            continue
        if _same_part(target, value) and not _of_one_value(target, value):
            return True
    if any(map(_is_given_part, unit.calls_of(_FILLING))):
        return True
    return any(None in node.keys and len(node.keys) > 1 for node in unit.asts(ast.Dict))


_FILLING = REBUILDING | {"update", "setattr", "where"}


def _same_part(one: ast.expr, other: ast.expr) -> bool:
    """Whether two attributes, or two subscripts, may be of the same part of what they are of."""
    if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
        return one.attr == other.attr
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript):
        return same_code(one.slice, other.slice)
    return False


def _of_one_value(one: ast.expr, other: ast.expr) -> bool:
    root = root_of(one)
    return root != "" and root == root_of(other)


def _is_given_part(call: ast.Call) -> bool:
    """Whether a call might be given a field of a value under the name of that field."""
    if called_last(call) in ("where", "setattr"):
        return len(call.args) + len(call.keywords) == 3
    if any(isinstance(one, ast.Dict) for one in call.args):
        return True
    return any(
        value.attr == keyword.arg
        if isinstance(value := keyword.value, ast.Attribute)
        else isinstance(value, (ast.Subscript, ast.Call, ast.Dict))
        for keyword in call.keywords
    )


@once
def carried(unit: Unit) -> list[Carried]:
    """What sides of judgements were given from the other side before, one for each place, in source order."""
    found: dict[int, Carried] = {}
    for one in every_judgement(unit):
        for mine, other in ((one.left, one.right), (one.right, one.left)):
            for made in (*_by_statement(unit, one, mine, other), *_by_value(unit, one, mine, other)):
                found.setdefault(id(made.node), made)
    return list(found.values())


def _by_statement(
    unit: Unit, one: Judgement, mine: cst.BaseExpression, other: cst.BaseExpression
) -> Iterator[Carried]:
    rank = unit.index.rank
    for node, target, value, field in _handed(unit):
        if rank(node) >= rank(one.node):
            continue
        into, out_of = _sources(unit, target), _sources(unit, value)
        exact = same(target, mine) and same(value, other)
        whole = type(mine) is cst.Name and type(other) is cst.Name
        if not exact and not (
            whole
            and canonical(mine) in into
            and canonical(other) in out_of
            and canonical(mine) not in out_of
            and canonical(other) not in into
        ):
            continue
        if not exact and not _reaches(unit, node, one.node):
            continue
        if exact and not _stands_before(unit, node, one.node):
            continue
        if _is_undisturbed(unit, node, one.node, {*into, *out_of}):
            yield Carried(one, node, field, target, value, exact, are_named(into, out_of))


def _handed(
    unit: Unit,
) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression, cst.BaseExpression, str]]:
    """Every statement that gives a part of one value to the same part of another: the statement, the two
    parts, and the field."""
    for node in unit.find(cst.Assign):
        target, value = node.targets[0].target, node.value
        if len(node.targets) != 1 or not isinstance(target, (cst.Attribute, cst.Subscript)):
            continue
        if (
            type(value) is type(target)
            and _last(target) == _last(value)
            and root_name(target) != root_name(value)
        ):
            yield node, target, value, _field(target)
    for call in unit.find(cst.Call):
        statement = unit.parent(call)
        name = last_name(call)
        if not isinstance(statement, cst.Expr):
            continue
        if name == "update" and type(call.func) is cst.Attribute:
            for field, value in _given(call):
                if _field(value) == field:
                    yield statement, call.func.value, value, field
        elif name == "setattr" and len(call.args) == 3 and type(call.func) is cst.Name:
            field_ = literal(call.args[1].value)
            given = call.args[2].value
            if isinstance(field_, str) and _field(given) == field_:
                yield statement, call.args[0].value, given, field_


def _by_value(
    unit: Unit, one: Judgement, mine: cst.BaseExpression, other: cst.BaseExpression
) -> Iterator[Carried]:
    """A side that was built anew with a field of the other side."""
    node = values(unit).resolve(mine)
    opposite = canonical(other)
    if type(node) is cst.Call and last_name(node) == "where" and len(node.args) == 3:
        first, second = (arg.value for arg in node.args[1:])
        asked = {canonical(below) for below in walk(node.args[0].value) if isinstance(below, cst.Name)}
        if (
            canonical(first) == opposite
            and canonical(second) != opposite
            and asked & {opposite, canonical(second)}
        ):
            yield Carried(one, node, "", second, first, exact=False, named=False)
        elif (
            canonical(second) == opposite
            and canonical(first) != opposite
            and asked & {opposite, canonical(first)}
        ):
            yield Carried(one, node, "", first, second, exact=False, named=False)
        return
    given: list[tuple[str, cst.BaseExpression]] = []
    into: cst.BaseExpression | None = None
    if type(node) is cst.Call and last_name(node) in REBUILDING:
        given = list(_given(node))
        owner = node.func.value if type(node.func) is cst.Attribute else None
        module = owner is None or dotted(owner) in unit.file.imports
        into = (node.args[0].value if node.args else None) if module else owner
    elif type(node) is cst.Dict:
        spread = [e.value for e in node.elements if type(e) is cst.StarredDictElement]
        into = spread[0] if spread else None
        given = [(str(literal(e.key)), e.value) for e in node.elements if type(e) is cst.DictElement]
    for field, value in given if into is not None else ():
        assert into is not None
        if _field(value) == field and root_name(value) == opposite and root_name(into) != opposite:
            named = are_named(_sources(unit, into), _sources(unit, value))
            yield Carried(one, node, field, into, value, exact=False, named=named)


def _given(call: cst.Call) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The fields that a call is given by keyword or in a dictionary, with their values."""
    for arg in call.args:
        if arg.keyword is not None:
            value = arg.value
            if arg.keyword.value == "update" and type(value) is cst.Dict:
                yield from _items(value)
            else:
                yield arg.keyword.value, value
        elif type(arg.value) is cst.Dict:
            yield from _items(arg.value)


def _items(node: cst.Dict) -> Iterator[tuple[str, cst.BaseExpression]]:
    for element in node.elements:
        if type(element) is cst.DictElement:
            yield str(literal(element.key)), element.value


def _last(node: cst.BaseExpression) -> str:
    if type(node) is cst.Attribute:
        return node.attr.value
    return ", ".join(canonical(element) for element in node.slice) if type(node) is cst.Subscript else ""


def _field(node: cst.BaseExpression) -> str:
    """The name of the field that an expression reads, "" for another part of a value."""
    if type(node) is cst.Attribute:
        return node.attr.value
    if type(node) is cst.Call and last_name(node) == "get" and node.args:
        given = literal(node.args[0].value)
        return given if isinstance(given, str) else ""
    key = subscript(node)
    return key[1] if key is not None and isinstance(key[1], str) else ""


def _sources(unit: Unit, node: cst.BaseExpression) -> set[str]:
    """The names of what a part is read from: the row, and the rows that a loop takes it from."""
    flow = values(unit)
    while True:
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            node = node.value
        elif type(node) is cst.Call and last_name(node) == "get" and type(node.func) is cst.Attribute:
            node = node.func.value
        else:
            break
    found: set[str] = set()
    while type(node) is cst.Name and node.value not in found:
        found.add(node.value)
        rows = [b.value for b in flow.reaching(node) if b.kind == "loop" and b.role in ("item", "value")]
        if len(rows) != 1 or rows[0] is None:
            break
        node = rows[0]
    return found


def are_named(one: set[str], other: set[str]) -> bool:
    """Whether the names of two values say that one is the baseline and the other is not."""
    return two_sides([*one, *other]) and not two_sides(one) and not two_sides(other)


def _reaches(unit: Unit, node: cst.CSTNode, place: cst.CSTNode) -> bool:
    """Whether a statement stands in the block of a place or of what is around it, also in a loop there."""
    around = {id(above) for above in unit.ancestors(place)}
    for above in unit.ancestors(node):
        if isinstance(above, (cst.IndentedBlock, cst.Module)) and id(above) in around:
            return True
        if isinstance(above, (cst.FunctionDef, cst.If, cst.Try, cst.While)):
            return False
    return False


def _stands_before(unit: Unit, node: cst.CSTNode, place: cst.CSTNode) -> bool:
    """Whether a statement is run before a place whenever that is, in the same turn of every loop."""
    block = next(
        above for above in unit.ancestors(node) if isinstance(above, (cst.IndentedBlock, cst.Module))
    )
    return any(above is block for above in unit.ancestors(place))


def _is_undisturbed(unit: Unit, node: cst.CSTNode, place: cst.CSTNode, names: set[str]) -> bool:
    """Whether nothing unknown runs between two places, and nothing there changes what bears the names."""
    outside = between(unit, [node], place)
    inside = {id(below) for below in walk(node)}
    run = [below for below in outside if id(below) not in inside]
    return is_quiet(run) and not are_bound(unit, names, [below for below in run if below is not node])
