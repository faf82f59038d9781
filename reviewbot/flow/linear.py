"""Sums and lengths, symbolically: what an expression is worth at one place of a function.

A value is a sum of whole multiples of atoms, plus a number; an atom is a piece of code whose value is not
known, with a version for each name in it that may have changed. `len` is taken apart over lists that are
put together from others. Branches that disagree, loops and handlers make new atoms: two equal sums are
equal on every path, two different ones may still be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from reviewbot.flow.syntax import canonical, dotted, last_name, root_name
from reviewbot.source.tree import children, walk

_SAME_NUMBER = frozenset({"int", "float"})
_SAME_LENGTH = frozenset({"list", "tuple", "sorted", "reversed"})
_LOOKING = frozenset(
    {"len", "print", "isinstance", "repr", "str", "info", "debug", "warning", "int", "float"}
)


@dataclass(frozen=True, slots=True)
class Linear:
    """`terms` are (atom, factor) pairs without zero factors, `constant` is added to them."""

    terms: frozenset[tuple[str, int]] = frozenset()
    constant: int = 0

    @property
    def is_zero(self) -> bool:
        """Whether it is zero whatever the atoms are."""
        return not self.terms and self.constant == 0

    @property
    def atoms(self) -> frozenset[str]:
        """The atoms that it depends on."""
        return frozenset(atom for atom, _ in self.terms)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """This and `factor` times the other."""
        sums = dict(self.terms)
        for atom, count in other.terms:
            sums[atom] = sums.get(atom, 0) + factor * count
        terms = frozenset((atom, count) for atom, count in sums.items() if count)
        return Linear(terms, self.constant + factor * other.constant)

    def substituted(self, values: Mapping[str, Linear]) -> Linear:
        """The same with each atom replaced by its value, where there is one."""
        total = Linear(constant=self.constant)
        for atom, count in self.terms:
            total = total.plus(values.get(atom, of_atom(atom)), count)
        return total


def of_atom(atom: str) -> Linear:
    """One atom, once."""
    return Linear(frozenset({(atom, 1)}))


@dataclass
class State:
    """What the names of a function are worth at one place. `versions` counts how often a name may have
    changed."""

    numbers: dict[str, Linear] = field(default_factory=dict)
    lengths: dict[str, Linear] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def copy(self) -> State:
        return State(dict(self.numbers), dict(self.lengths), dict(self.versions))

    def forget(self, name: str) -> None:
        """The name may hold anything from here on."""
        self.numbers.pop(name, None)
        self.lengths.pop(name, None)
        self.versions[name] = self.versions.get(name, 0) + 1

    # Expressions.

    def value(self, node: cst.BaseExpression) -> Linear:
        """What a number is worth."""
        if type(node) is cst.Integer:
            return Linear(constant=node.evaluated_value)
        if type(node) is cst.Name:
            return self.numbers.get(node.value) or of_atom(self._text(node))
        if type(node) is cst.UnaryOperation and type(node.operator) is cst.Minus:
            return Linear().plus(self.value(node.expression), -1)
        if type(node) is cst.BinaryOperation:
            return self._operation(node)
        if type(node) is cst.Call and len(node.args) == 1 and not node.args[0].star:
            name, argument = dotted(node.func), node.args[0].value
            if name == "len":
                return self.length(argument)
            if name in _SAME_NUMBER:
                return self.value(argument)
        return of_atom(self._text(node))

    def _operation(self, node: cst.BinaryOperation) -> Linear:
        left, right = self.value(node.left), self.value(node.right)
        if type(node.operator) is cst.Add:
            return left.plus(right)
        if type(node.operator) is cst.Subtract:
            return left.plus(right, -1)
        if type(node.operator) is cst.Multiply:
            for factor, other in ((left, right), (right, left)):
                if not factor.terms:
                    return Linear().plus(other, factor.constant)
        return of_atom(self._text(node))

    def length(self, node: cst.BaseExpression) -> Linear:
        """How many items a sequence has."""
        if type(node) is cst.Name and node.value in self.lengths:
            return self.lengths[node.value]
        if isinstance(node, (cst.List, cst.Tuple)):
            total = Linear()
            for element in node.elements:
                starred = type(element) is cst.StarredElement
                total = total.plus(self.length(element.value) if starred else Linear(constant=1))
            return total
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
            # Arrays of one length, too, have a length; a count of their sum is no count of what went in.
            return self.length(node.left).plus(self.length(node.right))
        if type(node) is cst.Call and dotted(node.func) in _SAME_LENGTH and len(node.args) == 1:
            return self.length(node.args[0].value)
        return of_atom(f"len({self._text(node)})")

    def _text(self, node: cst.BaseExpression) -> str:
        names = sorted({n.value for n in walk(node) if type(n) is cst.Name and n.value in self.versions})
        return canonical(node) + "".join(f"@{name}{self.versions[name]}" for name in names)

    # Statements.

    def run(self, body: Iterable[cst.CSTNode], target: cst.CSTNode | None) -> bool:
        """Runs statements up to the one that holds `target`; whether it was met. Without a target to the
        end, where the answer is whether the end is not reached."""
        for statement in body:
            held = target is not None and any(below is target for below in walk(statement))
            if held:
                self._enter(statement, target)
                return True
            if self._statement(statement):
                return target is None
        return False

    def _enter(self, statement: cst.CSTNode, target: cst.CSTNode | None) -> None:
        if isinstance(statement, (cst.For, cst.While, cst.Try, cst.TryStar)):
            self._forget_all(statement)
        blocks = [child for child in children(statement) if isinstance(child, _BLOCKS)]
        for block in blocks:
            if any(below is target for below in walk(block)):
                inner = block.body if isinstance(block, cst.BaseSuite) else [block]
                if isinstance(block, (cst.Else, cst.Finally, cst.ExceptHandler)):
                    inner = block.body.body
                self.run(inner, target)
                return
        if type(statement) is cst.SimpleStatementLine:
            for small in statement.body:
                if any(below is target for below in walk(small)):
                    return
                self._small(small)

    def _statement(self, node: cst.CSTNode) -> bool:
        """Runs one statement; whether control leaves the block here."""
        if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            gone = [self._small(small) for small in node.body]
            return any(gone)
        if type(node) is cst.If:
            return self._if(node)
        if type(node) is cst.With:
            return self.run(node.body.body, None)
        self._forget_all(node)
        return False

    def _if(self, node: cst.If) -> bool:
        self._touch(node.test)
        then, other = self.copy(), self.copy()
        left = then.run(node.body.body, None)
        right = False
        if type(node.orelse) is cst.If:
            right = other._if(node.orelse)
        elif type(node.orelse) is cst.Else:
            right = other.run(node.orelse.body.body, None)
        going = [state for state, gone in ((then, left), (other, right)) if not gone]
        if len(going) == 2:
            self._join(then, other)
        elif going:
            self.__dict__.update(going[0].__dict__)
        return not going

    def _join(self, one: State, other: State) -> None:
        for name in {
            *one.versions,
            *other.versions,
            *one.numbers,
            *other.numbers,
            *one.lengths,
            *other.lengths,
        }:
            version = max(one.versions.get(name, 0), other.versions.get(name, 0))
            same = (
                one.versions.get(name) == other.versions.get(name)
                and one.numbers.get(name) == other.numbers.get(name)
                and one.lengths.get(name) == other.lengths.get(name)
            )
            self.versions[name] = version
            if same:
                _put(self.numbers, name, one.numbers.get(name))
                _put(self.lengths, name, one.lengths.get(name))
            else:
                self.forget(name)

    def _small(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.Return, cst.Raise, cst.Continue, cst.Break)):
            return True
        if type(node) is cst.Assign and len(node.targets) == 1:
            self._touch(node.value)
            self._assign(node.targets[0].target, node.value)
        elif type(node) is cst.AnnAssign and node.value is not None:
            self._touch(node.value)
            self._assign(node.target, node.value)
        elif type(node) is cst.AugAssign:
            self._augment(node)
        else:
            self._touch(node)
            self._forget_all(node)
        return False

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression) -> None:
        if type(target) is not cst.Name:
            for name in _stored(target):
                self.forget(name)
            return
        number = self.value(value)
        length = self.length(value) if _is_display(value) or _is_joined(value) else None
        self.forget(target.value)
        if type(value) is not cst.Name or value.value != target.value:
            self.numbers[target.value] = number
            _put(self.lengths, target.value, length)

    def _augment(self, node: cst.AugAssign) -> None:
        self._touch(node.value)
        if type(node.target) is not cst.Name:
            for name in _stored(node.target):
                self.forget(name)
            return
        name = node.target.value
        before, given = self.value(node.target), self.value(node.value)
        sign = 1 if type(node.operator) is cst.AddAssign else -1
        known = isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign))
        self.forget(name)
        if known:
            self.numbers[name] = before.plus(given, sign)

    def _touch(self, node: cst.CSTNode) -> None:
        """A call may change what it is called on and what it is given."""
        for below in walk(node):
            if type(below) is cst.Call and last_name(below) not in _LOOKING:
                touched = {root_name(below.func)} if type(below.func) is cst.Attribute else set()
                touched |= {arg.value.value for arg in below.args if type(arg.value) is cst.Name}
                for name in sorted(touched - {""}):
                    number = self.numbers.get(name)
                    self.forget(name)
                    # A number is no object that a call could change.
                    if number is not None and name not in (root_name(below.func),):
                        self.numbers[name] = number

    def _forget_all(self, node: cst.CSTNode) -> None:
        for name in sorted(set(_stored(node))):
            self.forget(name)


_BINDING = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr)
_BLOCKS = (cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.If)


def _put(where: dict[str, Linear], name: str, value: Linear | None) -> None:
    if value is None:
        where.pop(name, None)
    else:
        where[name] = value


def _is_joined(node: cst.BaseExpression) -> bool:
    """Whether a value is another name's, or two put together: what its length is, if it has one, is known."""
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
        return not any(isinstance(side, (cst.Integer, cst.Float)) for side in (node.left, node.right))
    return type(node) is cst.Name


def _is_display(node: cst.BaseExpression) -> bool:
    if type(node) is cst.BinaryOperation:
        return _is_display(node.left) or _is_display(node.right)
    called = type(node) is cst.Call and dotted(node.func) in _SAME_LENGTH and len(node.args) == 1
    return called or isinstance(node, (cst.List, cst.Tuple))


def _stored(node: cst.CSTNode) -> Iterator[str]:
    """The names that may change under a node: those that are bound, and those that are called upon."""
    for below in walk(node):
        if isinstance(below, _BINDING):
            yield from _targets(below.target)
        elif type(below) is cst.AsName:
            yield from _targets(below.name)
        elif type(below) is cst.Call and type(below.func) is cst.Attribute:
            yield from () if last_name(below) in _LOOKING else (root_name(below.func),)
    yield from _targets(node)


def _targets(node: cst.CSTNode) -> Iterator[str]:
    if type(node) is cst.Name:
        yield node.value
    elif isinstance(node, (cst.Subscript, cst.Attribute)):
        yield root_name(node)
    elif isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from _targets(element.value)
    elif type(node) is cst.StarredElement:
        yield from _targets(node.value)


def state_at(function: cst.FunctionDef, target: cst.CSTNode) -> State:
    """What the names of a function are worth just before the statement that holds `target`."""
    state = State()
    state.run(function.body.body, target)
    return state
