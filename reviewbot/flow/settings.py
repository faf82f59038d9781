"""Where the repository reads its settings, and which settings a value was made from, across files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import calls_of, unit_of
from reviewbot.flow.control import guards, statements
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.refusals import SET, Setting, switched
from reviewbot.flow.syntax import dotted, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_DEPTH = 4
_MOST = 40

Place = tuple[str, str]
"""A file and the qualified name of a function in it, as the index names them."""


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A place outside of tests that reads a setting, and what is surely off there, by other settings."""

    unit: Unit
    node: cst.Attribute
    off: tuple[Setting, ...]


def places(repo: Repo, name: str) -> frozenset[Place]:
    """The functions outside of tests that read an attribute of that name."""
    found = repo.index.attribute_reads(name)
    return frozenset((path, read.function) for path, read in found if not in_test_file(path))


def reads(repo: Repo, name: str, where: Iterable[Place]) -> Iterator[Read]:
    """The reads of a setting in these functions, but for those that decide whether it is refused."""
    for path, function in sorted(where):
        unit = unit_of(repo.file(path), function)
        for node in unit.find(cst.Attribute) if unit is not None else ():
            assert unit is not None
            if node.attr.value != name or isinstance(unit.parent(node), cst.AssignTarget):
                continue
            if _is_refused(unit, node):
                continue
            off = [
                setting
                for guard in guards(unit, node)
                for setting in switched(unit, guard.condition, guard.outcome, on=False)
                if setting.receiver == dotted(node.value)
            ]
            yield Read(unit, node, tuple(off))


def _is_refused(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether an expression stands in the condition, or in the message, of a refusal."""
    below = node
    for above in unit.ancestors(node):
        if isinstance(above, cst.Raise):
            return True
        if isinstance(above, cst.If) and below is above.test:
            body = statements(above.body)
            return bool(body) and isinstance(body[-1], cst.Raise)
        if isinstance(above, cst.BaseStatement):
            return False
        below = above
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Behind:
    """A setting that a value was made from: `node` is where it is read. `on` is what it must be for the
    value to be the one that was asked for."""

    unit: Unit
    node: cst.Attribute
    on: object

    @property
    def name(self) -> str:
        """The setting's name."""
        return self.node.attr.value


def behind(repo: Repo, unit: Unit, node: cst.BaseExpression) -> list[Behind]:
    """The attributes of parameters that a value was made from or chosen by, nearest first.

    Followed through names, conditions, attributes of `self`, and parameters to the calls in all files.
    """
    found: list[Behind] = []
    seen: set[int] = set()
    work: list[tuple[Unit, cst.BaseExpression, int]] = [(unit, node, 0)]
    while work and len(seen) < _MOST:
        where, read, depth = work.pop(0)
        if id(read) in seen:
            continue
        seen.add(id(read))
        flow = values(where)
        bindings = flow.slice(read)
        parts: list[cst.CSTNode] = [read, *(b.value for b in bindings if b.value is not None)]
        for binding in bindings:
            parts.extend(guard.condition for guard in guards(where, binding.node))
        for part in parts:
            found.extend(_asked(where, part))
            if depth < _DEPTH:
                work.extend((at, value, depth + 1) for at, value in _stored(where, part))
        for binding in bindings:
            if binding.kind == "parameter" and binding.name != "self" and depth < _DEPTH:
                work.extend((at, value, depth + 1) for at, value in _given(repo, where, binding.name))
    return found


def _asked(unit: Unit, part: cst.CSTNode) -> Iterator[Behind]:
    known: dict[int, object] = {}
    for below in walk(part):
        if isinstance(below, (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)):
            for outcome in (True, False):
                for setting in switched(unit, below, outcome, on=True):
                    for inner in walk(setting.asked):
                        known.setdefault(id(inner), setting.on)
    for below in walk(part):
        if isinstance(below, cst.Attribute) and isinstance(below.value, (cst.Name, cst.Attribute)):
            root = dotted(below.value).partition(".")[0]
            if root not in ("", "self", "cls") and root not in unit.file.imports:
                yield Behind(unit, below, known.get(id(below), SET))


def _stored(unit: Unit, part: cst.CSTNode) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    """What the methods of the class assign to the attributes of `self` that are read."""
    names = {
        dotted(below)
        for below in walk(part)
        if isinstance(below, cst.Attribute) and dotted(below.value) == "self"
    }
    if unit.owner is None or not names:
        return
    for method in unit.file.methods(unit.owner):
        for node in method.find(cst.Assign):
            target = node.targets[0].target
            if isinstance(target, cst.Attribute) and dotted(target) in names:
                yield method, node.value


def _given(repo: Repo, unit: Unit, parameter: str) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    """What the calls in the repository give a parameter of a function."""
    for caller, call in calls_of(repo, unit):
        value = None if in_test_file(caller.file.path) else argument_of(unit, call, parameter)
        if value is not None:
            yield caller, value


def argument_of(function: Unit, call: cst.Call, parameter: str) -> cst.BaseExpression | None:
    """What a call gives a parameter of a function, of a method without its `self`; None where it is left
    out or a star hides it."""
    node = function.node
    if not isinstance(node, cst.FunctionDef) or any(arg.star for arg in call.args):
        return None
    positional = [p.name.value for p in (*node.params.posonly_params, *node.params.params)]
    if function.kind == "method" and positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    for place, arg in enumerate(call.args):
        named = arg.keyword.value if arg.keyword is not None else None
        if named == parameter or (named is None and positional[place : place + 1] == [parameter]):
            return arg.value
    return None
