"""Where a value comes from, inside one unit: definitions, uses, rebinding, mutation, slices.

`values(unit)` walks a unit's statements once and keeps, for each name that is read, the bindings that can
reach it: branches are joined, loops see what their own body binds, a handler sees everything that its
`try` may have bound. A name that may not be bound at all also has `UNBOUND` among its bindings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.syntax import last_name, root_name
from reviewbot.source.tree import Index, children, walk
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

BindingKind = Literal[
    "assign",
    "walrus",
    "augmented",
    "parameter",
    "loop",
    "with",
    "except",
    "import",
    "definition",
    "match",
    "attribute",
    "unbound",
]
Role = Literal["whole", "part", "item", "key", "value", "counter"]

# Methods that change what they are called on. PyTorch's end in one underscore (`copy_`, `add_`).
MUTATORS = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "add",
    "discard", "popitem", "difference_update", "intersection_update", "symmetric_difference_update",
    "appendleft", "popleft", "extendleft", "rotate", "put", "put_nowait", "write", "load_state_dict",
})  # fmt: skip

_SWALLOWING = frozenset({"raises", "suppress", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"})
_LOOKING = frozenset(
    {"len", "print", "str", "repr", "bool", "sorted", "sum", "any", "all", "isinstance", "type"}
)
_SAME_ITEMS = frozenset({"sorted", "list", "tuple", "reversed", "iter", "tqdm"})
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place where a name gets a value.

    `node` is that place, `value` the expression it comes from, if there is one. `role` says how: the
    `whole` of it, a `part` of it by unpacking, an `item` of it by iteration, a `key` or `value` of its
    `.items()`, or a `counter` (of `enumerate` or `range`) over it.
    """

    name: str
    node: cst.CSTNode
    kind: BindingKind
    value: cst.BaseExpression | None = None
    role: Role = "whole"


UNBOUND = Binding("", cst.Name("unbound"), "unbound")
"""Stands among a name's bindings where some path binds nothing."""

Environment = dict[str, frozenset[Binding]]


@dataclass(frozen=True, slots=True, eq=False)
class Mutation:
    """One place where what a name holds is changed: `rows.append(x)`, `rows[k] = x`, `row.done = x`.

    `given` are the expressions that go into it.
    """

    name: str
    node: cst.CSTNode
    given: tuple[cst.BaseExpression, ...]


@once
def values(unit: Unit) -> Values:
    """The definitions and uses of a unit, worked out at the first call."""
    return Values(unit.index if unit.is_function else Index(unit.node))


class Values:
    """Definitions and uses under one root: a function with what it nests, or a module's own statements."""

    def __init__(self, index: Index) -> None:
        self.root = index.root
        self._index = index
        self.all: list[Binding] = []
        self._uses: dict[int, frozenset[Binding]] = {}
        self._bindings: dict[tuple[int, str], Binding] = {}
        self._bound_in: dict[int, tuple[Binding, ...]] = {}
        self._later: list[tuple[cst.FunctionDef | cst.Lambda, Environment]] = []
        self._breaks: list[list[Environment]] = []
        self._shared: Environment = {}
        self._binds_inside = bool(index.find(cst.NamedExpr))
        self._run(index.order)
        self.all.sort(key=lambda binding: index.rank(binding.node) if binding.node in index else 0)

    # Asking.

    def reaching(self, name: cst.Name) -> frozenset[Binding]:
        """The bindings of this unit that can reach a name that is read; empty for a global or builtin."""
        return self._uses.get(id(name), frozenset())

    def bindings(self, name: str) -> list[Binding]:
        """Every binding of a name in the unit, in source order, nested functions included."""
        return self._by_name.get(name, [])

    @cached_property
    def _by_name(self) -> dict[str, list[Binding]]:
        found: dict[str, list[Binding]] = {}
        for binding in self.all:
            found.setdefault(binding.name, []).append(binding)
        return found

    @cached_property
    def read(self) -> frozenset[Binding]:
        """The bindings that reach any name that is read."""
        return frozenset().union(*self._uses.values())

    def in_order(self, bindings: Iterable[Binding]) -> list[Binding]:
        """Those of the unit's own among some bindings, in source order."""
        places = self._places
        return sorted((one for one in bindings if one in places), key=places.__getitem__)

    @cached_property
    def _places(self) -> dict[Binding, int]:
        return {binding: place for place, binding in enumerate(self.all)}

    def resolve(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The expression that a name stands for, followed while exactly one whole assignment reaches it."""
        for _ in range(20):
            if type(node) is not cst.Name:
                return node
            reaching = self.reaching(node) - {UNBOUND}
            if len(reaching) != 1:
                return node
            (binding,) = reaching
            if binding.kind not in ("assign", "walrus") or binding.role != "whole" or binding.value is None:
                return node
            node = binding.value
        return node

    def reads(self, node: cst.CSTNode) -> Iterator[cst.Name]:
        """Every name that is read under a node."""
        uses = self._uses
        if node in self._index:
            start, end = self._index.reach(node)
            ranks, names = self._read_names
            yield from names[bisect_left(ranks, start) : bisect_left(ranks, end)]
            return
        for below in walk(node):
            if type(below) is cst.Name and id(below) in uses:
                yield below

    @cached_property
    def _read_names(self) -> tuple[list[int], list[cst.Name]]:
        """The ranks of the names that are read, and the names."""
        rank = self._index.rank
        names: list[cst.Name] = [name for name in self._index.find(cst.Name) if id(name) in self._uses]  # type: ignore[misc]
        return [rank(name) for name in names], names

    def changes(self, node: cst.CSTNode) -> frozenset[str]:
        """The names that are assigned or changed under a node of the unit."""
        start, end = self._index.reach(node)
        ranks, names = self._changed_names
        return frozenset(names[bisect_left(ranks, start) : bisect_left(ranks, end)])

    @cached_property
    def _changed_names(self) -> tuple[list[int], list[str]]:
        known = {binding.name for binding in self.all} | {"self"}
        kept = ("assign", "augmented", "walrus")
        found = [(self._index.rank(b.node), b.name) for b in self.all if b.kind in kept]
        for name in known:
            found += [(self._index.rank(mutation.node), name) for mutation in self.mutations(name)]
        found.sort()
        return [rank for rank, _ in found], [name for _, name in found]

    def slice(self, *nodes: cst.CSTNode, mutations: bool = True) -> list[Binding]:
        """Every binding that the nodes were computed from, nearest first, through other names.

        With `mutations` also through what was put into a name's value (`seen.add(x)` makes `seen` depend
        on `x`). Conditions are not followed: see `reviewbot.flow.control`.
        """
        found: dict[Binding, None] = {}
        work: list[cst.CSTNode] = list(nodes)
        while work:
            for name in self.reads(work.pop()):
                for binding in self.reaching(name):
                    if binding in found or binding is UNBOUND:
                        continue
                    found[binding] = None
                    if binding.value is not None:
                        work.append(binding.value)
                    if mutations:
                        for mutation in self.mutations(binding.name):
                            work.extend(mutation.given)
        return list(found)

    def roots(self, *nodes: cst.CSTNode) -> frozenset[str]:
        """The names of the parameters and free names that the nodes were computed from."""
        found = {b.name for b in self.slice(*nodes) if b.kind == "parameter"}
        work = [*nodes, *(b.value for b in self.slice(*nodes) if b.value is not None)]
        for node in work:
            found |= {name.value for name in self.reads(node) if not self.reaching(name)}
        return frozenset(found - {"True", "False", "None"})

    def mutations(self, name: str) -> list[Mutation]:
        """Where what `name` holds is visibly changed, in source order. A call that is given it may change
        it too: see `escapes`."""
        return self._mutations.get(name, [])

    def escapes(self, name: str) -> list[cst.Call]:
        """The calls that are given `name` itself as an argument, in source order."""
        return self._escapes.get(name, [])

    def handed_on(self, name: str) -> list[cst.Name]:
        """The reads of `name` through which something else may come to hold or change its object.

        Not those that only look at it: a comparison, a truth test, `len`, `print`, a formatted string, a
        loop over it, a subscript or a method that does not change it.
        """
        found = [read for read in self.reads(self.root) if read.value == name and self._hands_on(read)]
        # A class may keep it as an attribute of its own: a default that its instances share.
        for inner in self._index.find(cst.ClassDef):
            if inner is not self.root and isinstance(inner, cst.ClassDef):
                found += [node for node in walk(inner.body) if type(node) is cst.Name and node.value == name]
        return found

    def _hands_on(self, read: cst.Name) -> bool:
        node: cst.CSTNode = read
        while (above := self._index.parent(node)) is not None:
            if type(above) is cst.Arg:
                call = self._index.parent(above)
                raised = call is not None and isinstance(self._index.parent(call), cst.Raise)
                return not (raised or (type(call) is cst.Call and last_name(call) in _LOOKING))
            if isinstance(above, (cst.Comparison, cst.ComparisonTarget, cst.UnaryOperation, cst.Assert)):
                return False
            if type(above) is cst.FormattedStringExpression:
                return False
            if isinstance(above, (cst.If, cst.While, cst.For, cst.CompFor, cst.CompIf)):
                return False
            if type(above) is cst.Attribute:
                # `add = rows.append`: the method changes what it was taken from.
                call = self._index.parent(above)
                called = type(call) is cst.Call and call.func is above
                return above.attr.value in MUTATORS and not called
            if type(above) is cst.Subscript:
                return False
            if not isinstance(above, (cst.BooleanOperation, cst.IfExp, cst.BinaryOperation)):
                return type(above) is not cst.Expr
            node = above
        return True

    @cached_property
    def _mutations(self) -> dict[str, list[Mutation]]:
        found: dict[str, list[Mutation]] = {}
        for node in self._index.order:
            if type(node) in _CHANGING:
                for mutation in _mutation(node):
                    if mutation.name:
                        found.setdefault(mutation.name, []).append(mutation)
        return found

    @cached_property
    def _escapes(self) -> dict[str, list[cst.Call]]:
        found: dict[str, list[cst.Call]] = {}
        for node in self._index.order:
            if type(node) is cst.Call:
                for arg in node.args:
                    if type(arg.value) is cst.Name:
                        found.setdefault(arg.value.value, []).append(node)
        return found

    # Walking.

    def _run(self, every: list[cst.CSTNode]) -> None:
        root = self.root
        # What a closure or another function may rebind at any time reaches every use.
        self._rebound = [
            (self._index.rank(node), item.name.value)
            for node in self._index.find(cst.Nonlocal, cst.Global)
            for item in node.names  # type: ignore[attr-defined]
        ]
        for node in every if self._rebound else ():
            if type(node) is cst.FunctionDef and node is not root:
                for binding in self._nonlocal(node):
                    self._shared[binding.name] = self._shared.get(binding.name, frozenset()) | {binding}
            elif type(node) is cst.Global:
                for item in node.names:
                    before = self._shared.get(item.name.value, frozenset())
                    self._shared[item.name.value] = before | {UNBOUND}
        if type(root) is cst.FunctionDef:
            self._later.append((root, {}))
        elif type(root) is cst.ClassDef:
            self._block(_statements(root.body), {})
        elif type(root) is cst.Module:
            self._block(root.body, {})
        while self._later:
            node, outer = self._later.pop()
            env = dict(outer)
            for parameter in _parameters(node.params):
                self._bind(env, parameter.name.value, parameter, "parameter", parameter.default)
            if type(node) is cst.Lambda:
                self._read(node.body, env)
            else:
                self._block(_statements(node.body), env)

    def _binding(
        self, name: str, node: cst.CSTNode, kind: BindingKind, value: cst.BaseExpression | None, role: Role
    ) -> Binding:
        key = (id(node), name)
        found = self._bindings.get(key)
        if found is None:
            found = self._bindings[key] = Binding(name, node, kind, value, role)
            self.all.append(found)
        return found

    def _bind(
        self,
        env: Environment,
        name: str,
        node: cst.CSTNode,
        kind: BindingKind,
        value: cst.BaseExpression | None = None,
        role: Role = "whole",
    ) -> None:
        env[name] = frozenset((self._binding(name, node, kind, value, role),))

    def _block(self, body: Iterable[cst.CSTNode], env: Environment | None) -> Environment | None:
        """Runs statements; returns the environment after them, or None where the end is not reached.

        What stands after a statement that leaves is walked too, with what was bound before it.
        """
        reached = env is not None
        env = env if env is not None else {}
        for statement in body:
            after = self._statement(statement, env)
            if after is None:
                reached = False
            else:
                env = after
        return env if reached else None

    def _statement(self, node: cst.CSTNode, env: Environment) -> Environment | None:
        if type(node) is cst.SimpleStatementLine:
            return self._block(node.body, env)
        if type(node) is cst.If:
            return self._if(node, env)
        if type(node) is cst.For or type(node) is cst.While:
            return self._loop(node, env)
        if type(node) is cst.Try or type(node) is cst.TryStar:
            return self._try(node, env)
        if type(node) is cst.With:
            return self._with(node, env)
        if type(node) is cst.FunctionDef:
            for decorator in node.decorators:
                self._read(decorator, env)
            for parameter in _parameters(node.params):
                if parameter.default is not None:
                    self._read(parameter.default, env)
            self._bind(env, node.name.value, node, "definition")
            if not isinstance(self.root, (cst.Module, cst.ClassDef)):
                self._nested(node, env)
            return env
        if type(node) is cst.ClassDef:
            for inner in (*node.decorators, *node.bases, *node.keywords):
                self._read(inner, env)
            if not isinstance(self.root, (cst.Module, cst.ClassDef)):
                for method in _statements(node.body):
                    if type(method) is cst.FunctionDef:
                        self._nested(method, env)
            self._bind(env, node.name.value, node, "definition")
            return env
        if type(node) is cst.Match:
            self._read(node.subject, env)
            ends: Environment | None = dict(env)
            for case in node.cases:
                inside = dict(env)
                for name in _pattern_names(case.pattern):
                    self._bind(inside, name.value, name, "match", node.subject, "part")
                if case.guard is not None:
                    self._read(case.guard, inside)
                ends = _join(ends, self._block(_statements(case.body), inside))
            return ends
        return self._small(node, env)

    def _small(self, node: cst.CSTNode, env: Environment) -> Environment | None:
        if type(node) is cst.Assign:
            self._read(node.value, env)
            for target in node.targets:
                self._target(target.target, node.value, env, "assign")
        elif type(node) is cst.AnnAssign:
            if node.value is not None:
                self._read(node.value, env)
                self._target(node.target, node.value, env, "assign")
        elif type(node) is cst.AugAssign:
            self._read(node.value, env)
            self._read(node.target, env)
            if type(node.target) is cst.Name:
                name = node.target.value
                before = env.get(name, frozenset())
                self._bind(env, name, node, "augmented", node.value)
                env[name] = env[name] | before
        elif type(node) is cst.Import or type(node) is cst.ImportFrom:
            for name in _imported(node):
                self._bind(env, name, node, "import")
        elif type(node) is cst.Return:
            if node.value is not None:
                self._read(node.value, env)
            return None
        elif type(node) is cst.Raise:
            self._read(node, env)
            return None
        elif type(node) is cst.Break or type(node) is cst.Continue:
            if type(node) is cst.Break and self._breaks:
                self._breaks[-1].append(dict(env))
            return None
        elif type(node) is cst.Del:
            self._read(node.target, env)
            if type(node.target) is cst.Name:
                env.pop(node.target.value, None)
        else:
            self._read(node, env)
        return env

    def _if(self, node: cst.If, env: Environment) -> Environment | None:
        end: Environment | None = None
        branch: cst.If | cst.Else | None = node
        while type(branch) is cst.If:
            self._read(branch.test, env)
            end = _join(end, self._block(_statements(branch.body), dict(env)))
            branch = branch.orelse
        otherwise = dict(env) if branch is None else self._block(_statements(branch.body), dict(env))
        return _join(end, otherwise)

    def _loop(self, node: cst.For | cst.While, env: Environment) -> Environment | None:
        self._read(node.iter if isinstance(node, cst.For) else node.test, env)
        entry = dict(env)
        for binding in self._binds(node):
            entry[binding.name] = entry.get(binding.name, frozenset((UNBOUND,))) | {binding}
        inside = dict(entry)
        if isinstance(node, cst.For):
            self._target(node.target, node.iter, inside, "loop")
        else:
            self._read(node.test, inside)
        self._breaks.append([])
        self._block(_statements(node.body), inside)
        breaks = self._breaks.pop()
        forever = type(node) is cst.While and _is_true(node.test)
        after: Environment | None = None if forever else entry
        if node.orelse is not None:
            after = self._block(_statements(node.orelse.body), after)
        for end in breaks:
            after = _join(after, end)
        return after

    def _try(self, node: cst.Try | cst.TryStar, env: Environment) -> Environment | None:
        interrupted = dict(env)
        for binding in self._binds(node.body):
            interrupted[binding.name] = interrupted.get(binding.name, frozenset((UNBOUND,))) | {binding}
        end = self._block(_statements(node.body), dict(env))
        if node.orelse is not None:
            end = self._block(_statements(node.orelse.body), end)
        for handler in node.handlers:
            inside = dict(interrupted)
            if handler.type is not None:
                self._read(handler.type, inside)
            if handler.name is not None and type(handler.name.name) is cst.Name:
                self._bind(inside, handler.name.name.value, handler, "except")
            end = _join(end, self._block(_statements(handler.body), inside))
        if node.finalbody is not None:
            final = self._block(
                _statements(node.finalbody.body), dict(end if end is not None else interrupted)
            )
            end = final if end is not None else None
        return end

    def _with(self, node: cst.With, env: Environment) -> Environment | None:
        swallows = False
        for item in node.items:
            self._read(item.item, env)
            # A manager made elsewhere may swallow what its block raises.
            swallows = swallows or type(item.item) is cst.Name or last_name(item.item) in _SWALLOWING
            if item.asname is not None and isinstance(item.asname.name, cst.BaseExpression):
                self._target(item.asname.name, item.item, env, "with")
        end = self._block(_statements(node.body), dict(env))
        if swallows:
            interrupted = dict(env)
            for binding in self._binds(node.body):
                interrupted[binding.name] = interrupted.get(binding.name, frozenset((UNBOUND,))) | {binding}
            end = _join(end, interrupted)
        return end

    def _nested(self, node: cst.FunctionDef | cst.Lambda, env: Environment) -> None:
        # A closure runs later, so it sees every binding of an outer name.
        outer = dict(env)
        for binding in self._binds(self.root):
            outer[binding.name] = outer.get(binding.name, frozenset()) | {binding}
        self._later.append((node, outer))

    def _binds(self, node: cst.CSTNode) -> tuple[Binding, ...]:
        """Every binding that runs as part of a node, without those in nested functions' own scopes."""
        found = self._bound_in.get(id(node))
        if found is None:
            found = self._bound_in[id(node)] = tuple(self._collect(node))
        return found

    def _collect(self, root: cst.CSTNode) -> Iterator[Binding]:
        scratch: Environment = {}
        is_loop = isinstance(root, (cst.For, cst.While))
        stack: list[cst.CSTNode] = [root] if is_loop else children(root)
        while stack:
            node = stack.pop()
            if type(node) not in _BINDING:
                # In an expression only `:=` binds.
                if self._binds_inside or type(node) in _HOLDING:
                    stack += children(node)
                continue
            if type(node) is cst.FunctionDef or type(node) is cst.Lambda:
                if type(node) is cst.FunctionDef:
                    self._bind(scratch, node.name.value, node, "definition")
                    yield from scratch[node.name.value]
                    yield from self._nonlocal(node)
                continue
            if type(node) is cst.ClassDef:
                self._bind(scratch, node.name.value, node, "definition")
                yield from scratch[node.name.value]
                continue
            targets: list[tuple[cst.BaseExpression, cst.BaseExpression, BindingKind]] = []
            if type(node) is cst.Assign:
                targets = [(target.target, node.value, "assign") for target in node.targets]
            elif type(node) is cst.AnnAssign:
                targets = [(node.target, node.value, "assign")] if node.value is not None else []
            elif type(node) is cst.NamedExpr:
                targets = [(node.target, node.value, "walrus")]
            elif type(node) is cst.For:
                targets = [(node.target, node.iter, "loop")]
            elif type(node) is cst.AugAssign and type(node.target) is cst.Name:
                self._bind(scratch, node.target.value, node, "augmented", node.value)
                yield from scratch[node.target.value]
            elif type(node) is cst.With:
                targets = [
                    (item.asname.name, item.item, "with")
                    for item in node.items
                    if item.asname is not None and isinstance(item.asname.name, cst.BaseExpression)
                ]
            elif isinstance(node, (cst.Import, cst.ImportFrom)):
                for name in _imported(node):
                    self._bind(scratch, name, node, "import")
                    yield from scratch[name]
            for target, value, kind in targets:
                # Bound alone: what a target reads is read where its statement runs.
                for bound, source, role in self._unpacked(target, value, kind):
                    yield self._binding(bound.value, bound, kind, source, role)
            stack += children(node)

    def _nonlocal(self, function: cst.FunctionDef) -> Iterator[Binding]:
        if not self._rebound:
            return
        start, end = self._index.reach(function.body)
        names = {name for rank, name in self._rebound if start <= rank < end}
        if names:
            yield from (binding for binding in self._binds(function) if binding.name in names)

    def _unpacked(
        self, target: cst.CSTNode, value: cst.BaseExpression, kind: BindingKind
    ) -> Iterator[tuple[cst.Name, cst.BaseExpression, Role]]:
        if kind != "loop":
            return unpack(target, value, "whole")
        return unpack(target, value, "item", {} if type(target) is cst.Name else self._paired)

    @cached_property
    def _paired(self) -> dict[str, cst.BaseExpression]:
        """The names that stand for one walk in step, `pairs = zip(a, b)`, and never for anything else."""
        found: dict[str, cst.BaseExpression] = {}
        for node in self._index.find(cst.Assign):
            assert isinstance(node, cst.Assign)
            target = node.targets[0].target
            if len(node.targets) == 1 and type(target) is cst.Name and _walks_in_step(node.value):
                found[target.value] = node.value
        if not found:
            return found
        names = (node for node in self._index.find(cst.Name) if isinstance(node, cst.Name))
        times = Counter(name.value for name in names if name.value in found and self._is_given(name))
        return {
            name: value
            for name, value in found.items()
            if times[name] == 1 and name not in self._mutations and name not in self._shared
        }

    def _is_given(self, name: cst.Name) -> bool:
        """Whether a name stands where it gets a value."""
        node: cst.CSTNode = name
        above = self._index.parent(node)
        while isinstance(above, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
            node, above = above, self._index.parent(above)
        if isinstance(above, (cst.AsName, cst.Param)):
            return above.name is node
        return isinstance(above, _GIVING) and above.target is node

    def _target(
        self,
        target: cst.CSTNode,
        value: cst.BaseExpression,
        env: Environment,
        kind: BindingKind,
    ) -> None:
        for name, source, role in self._unpacked(target, value, kind):
            self._bind(env, name.value, name, kind, source, role)
        if type(target) is not cst.Name:
            for node in walk(target):
                if type(node) is cst.Subscript or type(node) is cst.Attribute:
                    self._read(node, env)

    def _read(self, root: cst.CSTNode, env: Environment) -> None:
        stack = [root]
        uses, shared = self._uses, self._shared
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is cst.Name:
                name = node.value  # type: ignore[attr-defined]
                reaching = env.get(name, _NOTHING)
                if name in shared:
                    reaching |= shared[name]
                before = uses.get(id(node))
                uses[id(node)] = reaching if before is None or before is reaching else before | reaching
            elif kind is cst.Attribute or kind is cst.Arg:
                stack.append(node.value)  # type: ignore[attr-defined]
            elif kind is cst.NamedExpr:
                assert isinstance(node, cst.NamedExpr)
                self._read(node.value, env)
                self._target(node.target, node.value, env, "walrus")
            elif kind is cst.Lambda:
                assert isinstance(node, cst.Lambda)
                self._nested(node, env)
            elif kind in _COMPREHENSIONS:
                self._comprehension(node, env)  # type: ignore[arg-type]
            elif kind is not cst.Annotation:
                below = children(node)
                below.reverse()
                stack += below

    def _comprehension(
        self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp, env: Environment
    ) -> None:
        inside = dict(env)
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            self._read(clause.iter, inside)
            self._target(clause.target, clause.iter, inside, "loop")
            for condition in clause.ifs:
                self._read(condition.test, inside)
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            self._read(node.key, inside)
            self._read(node.value, inside)
        else:
            self._read(node.elt, inside)


_NOTHING: frozenset[Binding] = frozenset()
_BINDING = frozenset({
    *(cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.AugAssign),
    *(cst.For, cst.With, cst.Import, cst.ImportFrom),
})  # fmt: skip
# What statements stand in.
_HOLDING = frozenset({
    *(cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine, cst.If, cst.Else, cst.While),
    *(cst.Try, cst.TryStar, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally, cst.Match, cst.MatchCase),
})  # fmt: skip
_CHANGING = frozenset({cst.Call, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Del})


_GIVING = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)
_NO_NAMES: Mapping[str, cst.BaseExpression] = {}


def _walks_in_step(value: cst.BaseExpression) -> bool:
    """Whether an expression is `zip(a, b)`, or the `enumerate` or `list` of that."""
    while type(value) is cst.Call and type(value.func) is cst.Name and value.args:
        if value.func.value == "zip":
            return True
        if value.func.value not in ("enumerate", "list", "tuple"):
            return False
        value = value.args[0].value
    return False


def unpack(
    target: cst.CSTNode,
    value: cst.BaseExpression,
    role: Role,
    paired: Mapping[str, cst.BaseExpression] = _NO_NAMES,
) -> Iterator[tuple[cst.Name, cst.BaseExpression, Role]]:
    """The names of an assignment's or a loop's target, each with the expression it comes from and how.

    `for i, (a, b) in enumerate(zip(x, y))` gives `i` as a counter over the zip, `a` as an item of `x` and
    `b` as an item of `y`; `a, b = f(1), f(2)` gives each its own call. `paired` says for what a name stands
    that may be walked.
    """
    if type(target) is cst.Name:
        if role == "item":
            value, role = _iterated(value)
        yield target, value, role
        return
    if type(target) is cst.StarredElement:
        yield from unpack(target.value, value, role if role == "item" else "part", paired)
        return
    if not isinstance(target, (cst.Tuple, cst.List)):
        return
    for position, element in enumerate(target.elements):
        part, how = _part(value, role, position, len(target.elements), paired)
        inner = element if type(element) is cst.StarredElement else element.value
        yield from unpack(inner, part, how, paired)


def _iterated(value: cst.BaseExpression) -> tuple[cst.BaseExpression, Role]:
    if type(value) is cst.Call:
        name = last_name(value)
        if type(value.func) is cst.Name and name in _SAME_ITEMS:
            return _iterated(value.args[0].value) if value.args else (value, "item")
        if type(value.func) is cst.Name and name == "range":
            return value, "counter"
        if type(value.func) is cst.Attribute and not value.args:
            if name == "keys":
                return value.func.value, "key"
            if name == "values":
                return value.func.value, "value"
    return value, "item"


def _part(
    value: cst.BaseExpression,
    role: Role,
    position: int,
    count: int,
    paired: Mapping[str, cst.BaseExpression],
) -> tuple[cst.BaseExpression, Role]:
    if role == "item" and type(value) is cst.Name:
        value = paired.get(value.value, value)
    if role == "whole" and isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == count:
        element = value.elements[position]
        if not any(type(one) is cst.StarredElement for one in value.elements):
            return element.value, "whole"
    if role == "item" and type(value) is cst.Call:
        name = last_name(value)
        if type(value.func) is cst.Name and name == "enumerate" and value.args:
            return (value.args[0].value, "counter") if position == 0 else (value.args[0].value, "item")
        if name in ("zip", "zip_longest"):
            given = [arg for arg in value.args if arg.keyword is None]
            if len(given) == count and not any(arg.star for arg in given):
                return given[position].value, "item"
        if type(value.func) is cst.Attribute and name == "items" and not value.args and count == 2:
            return value.func.value, "key" if position == 0 else "value"
        if type(value.func) is cst.Name and name in ("sorted", "list", "tuple", "reversed") and value.args:
            return _part(value.args[0].value, role, position, count, paired)
    return value, "part"


def _parameters(params: cst.Parameters) -> Iterator[cst.Param]:
    yield from params.posonly_params
    yield from params.params
    if type(params.star_arg) is cst.Param:
        yield params.star_arg
    yield from params.kwonly_params
    if params.star_kwarg is not None:
        yield params.star_kwarg


def _imported(node: cst.Import | cst.ImportFrom) -> list[str]:
    if isinstance(node.names, cst.ImportStar):
        return []
    return [root_name(alias.asname.name if alias.asname else alias.name) for alias in node.names]


def _statements(body: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(body, (cst.IndentedBlock, cst.SimpleStatementSuite)):
        return list(body.body)
    return [body]


def _join(left: Environment | None, right: Environment | None) -> Environment | None:
    if left is None or right is None:
        return left if right is None else right
    missing = frozenset((UNBOUND,))
    joined: Environment = {}
    for name in {**left, **right}:
        one, other = left.get(name, missing), right.get(name, missing)
        joined[name] = one if one is other else one | other
    return joined


def _is_true(node: cst.BaseExpression) -> bool:
    return (type(node) is cst.Name and node.value == "True") or (
        type(node) is cst.Integer and node.value != "0"
    )


def _pattern_names(pattern: cst.CSTNode) -> Iterator[cst.Name]:
    for node in walk(pattern):
        if isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            yield node.name
        elif type(node) is cst.MatchMapping and node.rest is not None:
            yield node.rest


def _mutation(node: cst.CSTNode) -> Iterator[Mutation]:
    """The changes that one node makes to what a name holds."""
    if type(node) is cst.Call and type(node.func) is cst.Attribute:
        method = node.func.attr.value
        if method in MUTATORS or (method.endswith("_") and not method.endswith("__")):
            for name in _held(node.func.value):
                yield Mutation(name, node, tuple(arg.value for arg in node.args))
    elif type(node) is cst.Assign:
        for target in node.targets:
            yield from _stores(target.target, node, node.value)
    elif type(node) is cst.AnnAssign and node.value is not None:
        yield from _stores(node.target, node, node.value)
    elif type(node) is cst.AugAssign:
        yield Mutation(root_name(node.target), node, (node.value,))
    elif type(node) is cst.Del:
        yield from _stores(node.target, node, None)


def _held(node: cst.BaseExpression) -> Iterator[str]:
    """The names of which one holds an expression's value: both of `(late if row.late else kept)`, each of
    `(late, kept)[row.kept]`."""
    if type(node) is cst.IfExp:
        yield from (*_held(node.body), *_held(node.orelse))
    elif type(node) is cst.BooleanOperation:
        yield from (*_held(node.left), *_held(node.right))
    elif type(node) is cst.Subscript and isinstance(node.value, (cst.Tuple, cst.List)):
        for element in node.value.elements:
            yield from _held(element.value)
    else:
        yield root_name(node)


def _stores(target: cst.CSTNode, node: cst.CSTNode, value: cst.BaseExpression | None) -> Iterator[Mutation]:
    if type(target) is cst.Subscript or type(target) is cst.Attribute:
        given = [] if value is None else [value]
        if type(target) is cst.Subscript:
            given.extend(e.slice.value for e in target.slice if type(e.slice) is cst.Index)
        yield Mutation(root_name(target), node, tuple(given))
    elif type(target) is cst.Tuple or type(target) is cst.List:
        for element in target.elements:
            yield from _stores(element.value, node, value)
