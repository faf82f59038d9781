"""What a value was computed from, followed through the functions of one file, and of others where asked to.

`trace` goes from an expression back to everything that had a part in it: through names, through what was
put into a collection, through parameters to the arguments of the calls in the file, through calls of the
file's functions to what they return, and, with `control`, through the conditions that decided. Keys and
positions of a loop are noted and not followed: which row is looked at says nothing of what is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import called_elsewhere, calls_of
from reviewbot.flow.calls import bind, callee, callers, defaults
from reviewbot.flow.control import guards
from reviewbot.flow.fixtures import fixture, takes_fixtures
from reviewbot.flow.syntax import dotted, walk
from reviewbot.flow.values import MUTATORS, UNBOUND, Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_DEPTH = 5
_STEPS = 600


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The call through which a function was entered; `above` is the frame of the caller."""

    caller: Unit
    given: dict[str, cst.BaseExpression]
    above: Frame | None
    depth: int


@dataclass(slots=True, eq=False)
class Trace:
    """What was found: the bindings that had a part, the keys and positions among them, and every expression
    that was read on the way, with its unit, nearest first."""

    bindings: dict[Binding, Unit] = field(default_factory=dict)
    keys: dict[Binding, Unit] = field(default_factory=dict)
    read: list[tuple[Unit, cst.CSTNode]] = field(default_factory=list)

    def comparisons(self) -> list[tuple[Unit, cst.Comparison]]:
        """Every comparison among what was read, nearest first."""
        found: dict[int, tuple[Unit, cst.Comparison]] = {}
        for unit, node in self.read:
            for below in walk(node):
                if type(below) is cst.Comparison:
                    found.setdefault(id(below), (unit, below))
        return list(found.values())


def trace(
    unit: Unit,
    *nodes: cst.CSTNode,
    control: bool = False,
    keys: Iterable[Binding] = (),
    up: bool = True,
    repo: Repo | None = None,
    without: frozenset[int] = frozenset(),
) -> Trace:
    """Everything that `nodes` were computed from. `keys` are further bindings that are only noted, `up`
    says whether a parameter is followed to the callers' arguments. With `repo` also into other files.
    `without` are the identities of name nodes that are not followed."""
    return _Tracer(control, frozenset(keys), up, repo, without).run(unit, nodes)


_CONVERSIONS = frozenset({"to", "type", "astype", "view", "reshape", "expand"})
_FORMS = frozenset({"dtype", "device", "shape"})


def _forms(calls: list[cst.Call]) -> set[int]:
    """The names in `one.to(other.dtype)` and its like of which only the form is taken, and no value."""
    return {
        id(taken.value)
        for call in calls
        if type(call.func) is cst.Attribute and call.func.attr.value in _CONVERSIONS
        for arg in call.args
        if type(taken := arg.value) is cst.Attribute and taken.attr.value in _FORMS
    }


class _Tracer:
    def __init__(
        self,
        control: bool,
        keys: frozenset[Binding],
        up: bool,
        repo: Repo | None,
        without: frozenset[int],
    ) -> None:
        self.control, self.keys, self.up, self.repo, self.without = control, keys, up, repo, without
        self.found = Trace()
        self.work: list[tuple[Unit, cst.CSTNode, Frame | None]] = []
        self.seen: set[tuple[int, int, str]] = set()
        self.frames: list[Frame] = []  # kept, so that no two have one id

    def run(self, unit: Unit, nodes: Iterable[cst.CSTNode]) -> Trace:
        self.work = [(unit, node, None) for node in nodes]
        for _ in range(_STEPS):
            if not self.work:
                break
            self._expression(*self.work.pop(0))
        return self.found

    def _expression(self, unit: Unit, node: cst.CSTNode, frame: Frame | None) -> None:
        if not self._first(node, frame):
            return
        self.found.read.append((unit, node))
        flow = values(unit)
        # Short expressions are asked about by the thousand: they are walked once.
        inside = list(walk(node))
        calls = [below for below in inside if type(below) is cst.Call]
        own = self._attributes(unit, inside) | _forms(calls)
        for name in flow.reads(node):
            if id(name) in own or id(name) in self.without:
                continue
            reaching = flow.reaching(name)
            for binding in flow.in_order(reaching):
                if binding is not UNBOUND:
                    self._binding(unit, binding, frame, alone=len(reaching) == 1)
        for call in calls:
            self._call(unit, call, frame)

    def _attributes(self, unit: Unit, inside: list[cst.CSTNode]) -> set[int]:
        """Follows the attributes of `self` to where the class's methods set them; returns the `self`s."""
        found: set[int] = set()
        if unit.owner is None:
            return found
        for below in inside:
            if type(below) is not cst.Attribute or type(below.value) is not cst.Name:
                continue
            if below.value.value not in ("self", "cls"):
                continue
            found.add(id(below.value))
            binding = attribute(unit, below.attr.value)
            if binding in self.found.bindings:
                continue
            self.found.bindings[binding] = unit
            if self.up:
                for method, value in _settings(unit, below.attr.value):
                    self.work.append((method, value, None))
        return found

    def _binding(self, unit: Unit, binding: Binding, frame: Frame | None, *, alone: bool) -> None:
        if binding in self.keys or binding.role in ("counter", "key"):
            self.found.keys[binding] = unit
            return
        if not self._first(binding.node, frame):
            return
        self.found.bindings[binding] = unit
        if binding.kind == "parameter":
            self._parameter(unit, binding, frame)
            return
        if binding.value is not None:
            self.work.append((unit, binding.value, frame))
        if self.control and not alone:
            self._conditions(unit, binding.node, frame)
        for mutation in values(unit).mutations(binding.name):
            self.work.extend((unit, given, frame) for given in mutation.given)
            if self.control:
                self._conditions(unit, mutation.node, frame)

    def _parameter(self, unit: Unit, binding: Binding, frame: Frame | None) -> None:
        if frame is not None:
            given = frame.given.get(binding.name)
            if given is not None:
                self.work.append((frame.caller, given, frame.above))
            elif takes_fixtures(unit):
                self._fixture(unit, binding)
            return
        if not self.up:
            return
        if takes_fixtures(unit):
            self._fixture(unit, binding)
            return
        sites = [(site.caller, site.call) for site in callers(unit)]
        if self.repo is not None:
            others = calls_of(self.repo, unit)
            sites.extend(site for site in others if site[0].file.path != unit.file.path)
        for caller, call in sites:
            given = bind(call, unit).get(binding.name)
            if given is not None:
                self.work.append((caller, given, None))
            elif binding.name in (usual := defaults(unit)):
                self.work.append((unit, usual[binding.name], None))

    def _fixture(self, unit: Unit, binding: Binding) -> None:
        """What a fixture hands to a test that has it as a parameter; they mean the same by the others."""
        function = fixture(unit, binding.name, self.repo)
        if function is None or not self._first(binding.node, None, "fixture"):
            return
        flow = values(unit)
        shared = {b.name for b in flow.all if b.kind == "parameter"}
        given = {name.value: name for name in flow.reads(unit.node) if name.value in shared}
        inside = Frame(unit, dict(given), None, 1)
        self.frames.append(inside)
        self._handed(function, inside)

    def _handed(self, function: Unit, inside: Frame) -> None:
        for node in function.find(cst.Return, cst.Yield):
            value = node.value if isinstance(node, (cst.Return, cst.Yield)) else None
            if isinstance(value, cst.BaseExpression):
                self.work.append((function, value, inside))
                if self.control:
                    self._conditions(function, node, inside)

    def _call(self, unit: Unit, call: cst.Call, frame: Frame | None) -> None:
        depth = 0 if frame is None else frame.depth
        function = callee(unit, call)
        if function is None and self.repo is not None:
            function = called_elsewhere(self.repo, unit, call)
        if function is None or function is unit or depth >= _DEPTH or not self._first(call, frame, "call"):
            return
        inside = Frame(unit, bind(call, function), frame, depth + 1)
        self.frames.append(inside)
        self._handed(function, inside)

    def _conditions(self, unit: Unit, node: cst.CSTNode, frame: Frame | None) -> None:
        for guard in guards(unit, node):
            self.work.append((unit, guard.condition, frame))

    def _first(self, node: cst.CSTNode, frame: Frame | None, way: str = "read") -> bool:
        key = (id(node), id(frame), way)
        if key in self.seen:
            return False
        self.seen.add(key)
        return True


@once
def _attributes(file: File) -> dict[tuple[str, str], Binding]:
    return {}


def attribute(unit: Unit, name: str) -> Binding:
    """The binding that stands for an attribute of `self` in all methods of a class."""
    known = _attributes(unit.file)
    key = (unit.name.rpartition(".")[0], name)
    if key not in known:
        known[key] = Binding(f"self.{name}", cst.Name(name), "attribute")
    return known[key]


def _settings(unit: Unit, name: str) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    """What the methods of a unit's class assign to an attribute of `self`, or put into it."""
    for method in unit.file.methods(unit.owner):
        if name not in method.facts.names:
            continue
        for node in method.find(cst.Assign):
            for target in node.targets:
                stored: cst.CSTNode = target.target
                if type(stored) is cst.Subscript:
                    stored = stored.value
                if dotted(stored) == f"self.{name}":
                    yield method, node.value
                    yield from ((method, guard.condition) for guard in guards(method, node))
        for call in method.find(cst.Call):
            owner, _, last = dotted(call.func).rpartition(".")
            if owner == f"self.{name}" and last in MUTATORS:
                yield from ((method, arg.value) for arg in call.args)
                yield from ((method, guard.condition) for guard in guards(method, call))
