"""Where a function that compares says what it found: by what it returns, yields or collects, not by raising.

`return False` inside a loop that ends in `return True` demands agreement as `raise` does. Which values say
that all is well is read off the function's last statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, checks, compared
from reviewbot.flow.control import statements
from reviewbot.flow.judgements import (
    FAILURE,
    Judgement,
    agreeing,
    judged_names,
    judgements,
    recorded,
    records,
)
from reviewbot.flow.judging import compares
from reviewbot.flow.may_judge import compares_named
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import is_named_comparer
from reviewbot.flow.syntax import UNKNOWN, dotted, last_name, literal, root_name, walk
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_FILE = pattern(r"(?i)(^|[_/.-])(compar\w*|parity|verif\w*|diff\w*|equiv\w*|consisten\w*)([_/.-]|$)")
_EMPTY = frozenset({"list", "set", "dict", "Counter", "defaultdict", "OrderedDict", "deque", "collections"})
_LOOKING = frozenset({"len", "bool", "int", "any", "sorted", "list", "tuple", "set", "sum", "min", "dict"})

TEXT = "text"
"""Stands for any message that a function returns."""


@once
def every_judgement(unit: Unit) -> list[Judgement]:
    """The judgements of a unit, with those by which a comparing function comes to its verdict, in source
    order."""
    if not compares_named(unit):
        return []
    found = judgements(unit)
    known = {(id(one.left), id(one.right)) for one in found}
    more = [one for one in _verdicts(unit) if (id(one.left), id(one.right)) not in known]
    return sorted([*found, *more], key=lambda one: unit.index.rank(one.node)) if more else found


@once
def answers(unit: Unit) -> bool:
    """Whether a function is there to tell a difference by what it hands back."""
    if not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    name = unit.name.rpartition(".")[2]
    if name.startswith("__") or unit.is_test:
        return False
    file = unit.file.path.rpartition("/")[2].removesuffix(".py")
    return is_named_comparer(unit) or compares(unit) or _FILE.search(file) is not None


@once
def well(unit: Unit) -> object:
    """What a function returns where it finds no fault: the literal that ends it, None where it runs out,
    True or False where it ends in a comparison; UNKNOWN for the rest."""
    node = unit.node
    if type(node) is not cst.FunctionDef:
        return UNKNOWN
    block = statements(node.body)
    last = block[-1] if block else None
    if type(last) is not cst.Return:
        return UNKNOWN if isinstance(last, (cst.Raise, cst.With, cst.Try)) else None
    said = meant(last.value)
    if said is not UNKNOWN or last.value is None:
        return said
    verdict = _first(last.value)
    relations = {one.relation for one in compared(unit, Check("assert", last), verdict, holds=True)}
    if relations and relations <= {"equal", "close", "identical"}:
        return True
    if relations and relations <= {"different", "distinct"}:
        return False
    return UNKNOWN


def _first(value: cst.BaseExpression) -> cst.BaseExpression:
    """The verdict that a function hands back, which stands first where it hands back more."""
    return value.elements[0].value if type(value) is cst.Tuple and value.elements else value


def meant(value: cst.BaseExpression | None) -> object:
    """A returned value as a verdict: a constant, TEXT for a message, of a tuple its first part; UNKNOWN for
    what is computed."""
    if value is None:
        return None
    value = _first(value)
    if isinstance(value, (cst.FormattedString, cst.ConcatenatedString)):
        return TEXT
    if isinstance(value, (cst.List, cst.Dict)) and not value.elements:
        return None
    said = literal(value)
    return said if isinstance(said, (bool, int, str, type(None))) else UNKNOWN


def all_is_well(unit: Unit, node: cst.Return) -> bool:
    """Whether a `return` says that nothing is wrong, in a function that returns verdicts."""
    said = meant(node.value)
    return said is not UNKNOWN and said != TEXT and _same(said, well(unit))


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def tells_apart(unit: Unit, statement: cst.CSTNode) -> frozenset[str]:
    """The names of collections among what a statement records, in which it notes what no check asks for:
    `kinds["moved"].append(key)` where only `kinds["changed"]` is looked at."""
    return frozenset(
        name
        for name in records(unit, statement)
        if _kind(statement, name) and _unasked(unit, statement, name)
    )


def _unasked(unit: Unit, statement: cst.CSTNode, name: str) -> bool:
    asked = _asked(unit, name)
    noted = _kind(statement, name)
    return bool(asked) and noted.isdisjoint(asked)


def _kind(statement: cst.CSTNode, name: str) -> frozenset[str]:
    """The literal keys under which a statement notes something, and the literal that it puts there."""
    found: set[str] = set()
    for below in walk(statement):
        if type(below) is cst.Subscript and root_name(below) == name:
            found |= _strings(*below.slice)
    value = statement.value if type(statement) is cst.Assign else None
    if type(value) is cst.SimpleString:
        found |= _strings(value)
    return frozenset(found)


@once
def _asking(unit: Unit) -> list[cst.CSTNode]:
    """The statements of a unit that judge or hand back."""
    looked = [check.node if check.condition is None else check.condition for check in checks(unit)]
    return [*looked, *(node.value for node in unit.find(cst.Return) if node.value is not None)]


def _asked(unit: Unit, name: str) -> frozenset[str]:
    """The literal keys and kinds by which what judges looks at a collection; empty where it looks at all."""
    found: set[str] = set()
    for node in _asking(unit):
        if name not in {read.value for read in values(unit).reads(node)}:
            continue
        here = _strings(node)
        if not here:
            return frozenset()
        found |= here
    return frozenset(found)


def _strings(*nodes: cst.CSTNode) -> set[str]:
    return {
        str(below.evaluated_value)
        for node in nodes
        for below in walk(node)
        if type(below) is cst.SimpleString
    }


def _verdicts(unit: Unit) -> Iterator[Judgement]:
    if not answers(unit):
        yield from _sorted_out(unit, judged_names(unit))
        return
    good = well(unit)
    for node in unit.find(cst.Return):
        if node.value is not None and good in (True, False) and isinstance(good, bool):
            yield from agreeing(node, unit, Check("assert", node), _first(node.value), holds=good)
    for branch in unit.find(cst.If):
        for holds, arm in ((False, statements(branch.body)), (True, _otherwise(branch))):
            if any(_says_no(unit, statement, good) for statement in arm):
                yield from agreeing(branch, unit, Check("raise", branch), branch.test, holds=holds)
    filled = collected(unit) - judged_names(unit)
    if filled:
        yield from recorded(unit, filled)
    yield from _sorted_out(unit, judged_names(unit) | filled)


def _otherwise(branch: cst.If) -> list[cst.CSTNode]:
    return statements(branch.orelse) if type(branch.orelse) is cst.Else else []


def _says_no(unit: Unit, statement: cst.CSTNode, good: object) -> bool:
    if type(statement) is cst.Return:
        said = meant(statement.value)
        return good is not UNKNOWN and said is not UNKNOWN and not _same(said, good)
    return type(statement) is cst.Expr and type(statement.value) is cst.Yield


def yields_difference(unit: Unit, node: cst.Yield) -> bool:
    """Whether a function that compares hands back a difference by a `yield`: True says that all is well, and
    None says nothing."""
    if not answers(unit) or node.value is None:
        return False
    said = UNKNOWN if isinstance(node.value, cst.From) else literal(_first(node.value))
    return said is not True and said is not None


@once
def collected(unit: Unit) -> frozenset[str]:
    """The names of what a function that compares fills or counts up and hands back: its differences."""
    found: set[str] = set()
    flow = values(unit)
    for node in unit.find(cst.Return) if answers(unit) else ():
        for read in _handed_back(node.value) if node.value is not None else ():
            if isinstance(read, cst.Attribute):
                if FAILURE.search(read.attr.value) and dotted(read.value) == "self":
                    found.add("self")
                continue
            held = flow.reaching(read)
            if held and all(_starts_empty(binding.value) for binding in held if binding.kind == "assign"):
                found.add(read.value)
    return frozenset(found)


def _handed_back(value: cst.BaseExpression) -> Iterator[cst.Name | cst.Attribute]:
    """The collections that a returned value is, or is a verdict on: `bad`, `not bad`, `1 if bad else 0`."""
    if isinstance(value, (cst.Name, cst.Attribute)):
        yield value
    elif type(value) is cst.Tuple:
        for element in value.elements:
            yield from _handed_back(element.value)
    elif type(value) is cst.UnaryOperation:
        yield from _handed_back(value.expression)
    elif type(value) is cst.IfExp:
        yield from _handed_back(value.test)
    elif type(value) is cst.Comparison:
        yield from _handed_back(value.left)
    elif type(value) is cst.Call and last_name(value) in _LOOKING and len(value.args) == 1:
        yield from _handed_back(value.args[0].value)


def _starts_empty(value: cst.BaseExpression | None) -> bool:
    if isinstance(value, (cst.List, cst.Set, cst.Tuple)):
        return not value.elements
    if type(value) is cst.Dict:
        parts = (e.value for e in value.elements if type(e) is cst.DictElement)
        return all(_starts_empty(part) or literal(part) == 0 for part in parts)
    if type(value) is cst.Call:
        return last_name(value) in _EMPTY and not any(
            type(a.value) is cst.Name and a.value.value not in _EMPTY for a in value.args
        )
    return value is not None and literal(value) in (0, "") and literal(value) is not False


def _sorted_out(unit: Unit, judged: frozenset[str]) -> Iterator[Judgement]:
    """Branches that note a kind of difference which a check asks for by its name."""
    for branch in unit.find(cst.If):
        for statement in statements(branch.body):
            if type(statement) is not cst.Assign:
                continue
            target = statement.targets[0].target
            if type(target) is cst.Subscript and root_name(target) in judged:
                name = root_name(target)
                if _kind(statement, name) & _asked(unit, name):
                    yield from agreeing(branch, unit, Check("raise", branch), branch.test, holds=False)
