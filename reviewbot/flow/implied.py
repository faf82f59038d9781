"""Checks that an earlier check of the same block makes true: a weaker bound after a stronger one, or what is
computed from two values that were already required to be equal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, checks, compared
from reviewbot.flow.reached import swallowed
from reviewbot.flow.syntax import canonical, conjuncts, dotted, last_name, literal, walk
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What is the same of two equal values.
_FOLLOWS = frozenset({"len", "sum", "max", "min", "sorted", "set", "list", "tuple", "keys", "values", "mean"})
_WIDTH = 60


@dataclass(frozen=True, slots=True, eq=False)
class Implied:
    """`later` cannot fail where `earlier` did not. `says` is why, as a clause."""

    earlier: Check
    later: Check
    says: str


@dataclass(frozen=True, slots=True)
class _Range:
    """A condition on a number, by its code: it is at least `low` and at most `high`, or more and less than
    these where `open`."""

    of: str
    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def implies(self, other: _Range) -> bool:
        """Whether whatever lies here lies in the other, which is wider."""
        if self.of != other.of or self == other:
            return False
        above = self.low > other.low or (self.low == other.low and (self.open or not other.open))
        below = self.high < other.high or (self.high == other.high and (self.open or not other.open))
        return above and below


def implied(unit: Unit) -> Iterator[Implied]:
    """Every `assert` that an `assert` before it in the same block implies, in source order: no one whose
    failure is swallowed."""
    if _tries_operators(unit):
        return
    blocks: dict[int, list[Check]] = {}
    for check in checks(unit):
        line = unit.parent(check.node) if check.kind == "assert" else None
        block = unit.parent(line) if line is not None else None
        if block is not None:
            blocks.setdefault(id(block), []).append(check)
    for found in blocks.values():
        for place, later in enumerate(found):
            for earlier in found[:place]:
                if id(earlier.node) in swallowed(unit):
                    continue
                says = _why(unit, earlier, later)
                if says and _unchanged(unit, earlier, later):
                    yield Implied(earlier, later, says)
                    break


def _tries_operators(unit: Unit) -> bool:
    """Whether one value is compared by `<` and by `<=`, or by `>` and by `>=`, and by a third operator, or an
    object of a class of its own by `==`, `<` and `>`: then the operators are what is tested."""
    tried: dict[str, set[type]] = {}
    named: dict[str, set[type]] = {}
    for check in checks(unit):
        node = check.condition
        if type(node) is cst.Comparison and len(node.comparisons) == 1:
            operator = type(node.comparisons[0].operator)
            tried.setdefault(canonical(node.left), set()).add(operator)
            if type(node.left) is cst.Name:
                named.setdefault(node.left.value, set()).add(operator)
    pairs = ({cst.LessThan, cst.LessThanEqual}, {cst.GreaterThan, cst.GreaterThanEqual})
    if any(len(found) > 2 and any(pair <= found for pair in pairs) for found in tried.values()):
        return True
    each = {cst.Equal, cst.LessThan, cst.GreaterThan}
    return any(each <= found and _is_no_number(unit, name) for name, found in named.items())


def _is_no_number(unit: Unit, name: str) -> bool:
    """Whether a name's value has a length or methods of its own, so that it says itself how it compares."""
    for call in unit.find(cst.Call):
        if isinstance(call.func, cst.Attribute) and dotted(call.func.value) == name:
            return True
        if dotted(call.func) in ("len", "list", "float") and [dotted(arg.value) for arg in call.args] == [
            name
        ]:
            return True
    return False


def _why(unit: Unit, earlier: Check, later: Check) -> str:
    assert earlier.condition is not None and later.condition is not None
    asked = list(conjuncts(later.condition))
    wider = _range(asked[0]) if len(asked) == 1 else None
    for one in conjuncts(earlier.condition):
        stated = _range(one)
        if wider is not None and stated is not None and stated.implies(wider) and not _turned(one, asked[0]):
            return f"`{_short(one)}` says more of `{wider.of}`"
        sides = _equality(one)
        if sides is None or len(asked) != 1 or _is_chain(asked[0]):
            continue
        left, right = canonical(sides[0]), canonical(sides[1])
        for other in compared(unit, later, asked[0], holds=True):
            if other.relation not in ("equal", "close"):
                continue
            made = _taken(other.left, left), _taken(other.right, right)
            if made[0] and made[0] == made[1] and not _asks_for_order(made[0]):
                return f"`{_short(sides[0])}` and `{_short(sides[1])}` are already equal"
    return ""


def _is_chain(node: cst.BaseExpression) -> bool:
    """`len(a) == len(b) == 4` says more than that the two are equal."""
    return type(node) is cst.Comparison and len(node.comparisons) > 1


def _turned(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """`n < 5` and `5 >= n`: what a number says of an object, and not the object of the number."""
    sides = [node.left for node in (one, other) if type(node) is cst.Comparison]
    return len(sides) == 2 and (_number(sides[0]) is None) is not (_number(sides[1]) is None)


def _equality(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return None
    target = node.comparisons[0]
    return (node.left, target.comparator) if type(target.operator) is cst.Equal else None


def _range(node: cst.BaseExpression) -> _Range | None:
    """What a condition says of a number: `len(rows) == 4`, `0 < gap`, `rows` itself of a length."""
    if isinstance(node, (cst.Name, cst.Attribute)):
        return _Range(f"len({canonical(node)})", low=1)
    if type(node) is cst.Call and dotted(node.func) == "len":
        return _Range(canonical(node), low=1)
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return None
    operator, left, right = node.comparisons[0].operator, node.left, node.comparisons[0].comparator
    number = _number(right)
    turned = number is None
    if turned:
        left, number = right, _number(left)
    if number is None or _number(left) is not None:
        return None
    of = canonical(left)
    if type(operator) is cst.Equal:
        return _Range(of, number, number)
    strict = isinstance(operator, (cst.LessThan, cst.GreaterThan))
    whole = type(left) is cst.Call and dotted(left.func) == "len"
    if isinstance(operator, (cst.LessThan, cst.LessThanEqual)) is not turned:
        if isinstance(operator, (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)):
            return _Range(of, high=number - 1 if strict and whole else number, open=strict and not whole)
        return None
    if isinstance(operator, (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)):
        return _Range(of, low=number + 1 if strict and whole else number, open=strict and not whole)
    return None


def _number(node: cst.BaseExpression) -> float | None:
    found = literal(node)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _taken(node: cst.BaseExpression, code: str) -> str:
    """What is taken of a value, given as code: `sum(set(…))`; "" where nothing is, or something else."""
    how = ""
    while canonical(node) != code:
        if type(node) is not cst.Call or last_name(node) not in _FOLLOWS:
            return ""
        if type(node.func) is cst.Name and len(node.args) == 1 and not node.args[0].star:
            node, how = node.args[0].value, f"{how}{last_name(node)}("
        elif type(node.func) is cst.Attribute and not node.args:
            node, how = node.func.value, f"{how}.{last_name(node)}("
        else:
            return ""
    return how


def _asks_for_order(how: str) -> bool:
    """Whether what is taken of two values is in an order that their equality does not ask for, as that of the
    keys of two dicts."""
    return how.startswith(("list(", "tuple("))


def _unchanged(unit: Unit, earlier: Check, later: Check) -> bool:
    """Whether nothing between two checks can change what the later one looks at, nor do they themselves."""
    assert earlier.condition is not None and later.condition is not None
    flow, rank = values(unit), unit.index.rank
    for condition in (earlier.condition, later.condition):
        calls = (below for below in walk(condition) if type(below) is cst.Call)
        if any(
            last_name(call) not in {*_FOLLOWS, "approx", "isclose", "allclose", "close"} for call in calls
        ):
            return False
    before = {name.value: flow.reaching(name) - {UNBOUND} for name in flow.reads(earlier.condition)}
    for name in flow.reads(later.condition):
        if name.value in before and flow.reaching(name) - {UNBOUND} != before[name.value]:
            return False
    first, last = rank(earlier.node), rank(later.node)
    between = (
        node
        for node in unit.find(cst.Call, cst.Assign, cst.AugAssign, cst.Del, cst.Await)
        if first < rank(node) < last
    )
    # A call may change anything that it can get at.
    return all(type(node) is cst.Call and _only_reads(node) for node in between)


def _only_reads(call: cst.Call) -> bool:
    """Whether a call takes something of a value and leaves it as it is; a method `set` or `list` may not."""
    if last_name(call) not in _FOLLOWS:
        return False
    return type(call.func) is cst.Name or not call.args


def _short(node: cst.BaseExpression) -> str:
    code = " ".join(canonical(node).split())
    return code if len(code) <= _WIDTH else code[: _WIDTH - 1] + "…"
