"""What is made sure of around a node: equal lengths, equal key sets, something to loop over, finite numbers.

A guard is a place that decides (an assertion, a condition, a verdict) and that runs whenever the node does,
before or after it: a length check after the loop fails just as well. Guards in functions of the same file
that are called with the values count; so does a call of something unknown that by its name could check them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.assertions import KNOWN
from reviewbot.flow.calls import bind, callee
from reviewbot.flow.checks import call_of, is_assertion_call, may_assert, operand
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, conjuncts, dotted, keyword_argument, last_name, literal
from reviewbot.flow.terms import Terms, counted_by, terms
from reviewbot.flow.values import values
from reviewbot.source.tree import children
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_DEPTH = 3
_FINITE = frozenset({
    "isfinite", "isnan", "isinf", "nan_to_num", "assert_all_finite", "assert_finite", "is_nan",
    "assert_tree_all_finite", "isna", "notna", "isnull", "notnull", "detect_anomaly",
})  # fmt: skip
_WHOLE = frozenset({"set", "sorted", "list", "tuple", "Counter", "frozenset", "dict"})
_IN_FULL = frozenset({"list", "tuple", "sorted"})
_IDENTIFIERS = pattern(r"(^|_)(ids|uids|uuids|keys)$")
_EMPTINESS = frozenset({
    "len", "any", "sum", "bool", "list", "set", "sorted", "tuple", "dict", "max", "min", "next", "iter",
    "Counter", "frozenset", "str",
})  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two values that a deciding place compares, as written: `len(a)` and `len(b)`.

    `ordered`: by <, <=, >, >=, `in` or `not in`, so that they need not be equal either way.
    """

    node: cst.CSTNode
    left: cst.BaseExpression
    right: cst.BaseExpression
    ordered: bool = False


def deciding(unit: Unit) -> list[cst.BaseExpression]:
    """The expressions on which something depends, in source order: conditions of assertions, `if`, `while`
    and conditional expressions, arguments of assertion calls, returned values."""
    found: list[cst.BaseExpression] = []
    for node in unit.find(cst.Assert, cst.If, cst.While, cst.IfExp, cst.Return, cst.Expr, cst.CompIf):
        if isinstance(node, (cst.Assert, cst.If, cst.While, cst.IfExp, cst.CompIf)):
            found.append(node.test)
        elif type(node) is cst.Return:
            if node.value is not None:
                found.append(node.value)
        else:
            call = call_of(node)
            if call is not None and is_assertion_call(call):
                found.extend(arg.value for arg in call.args)
    return found


@once
def pairs(unit: Unit) -> list[Pair]:
    """Every two values that a deciding place of the unit compares."""
    found: list[Pair] = []
    for node in unit.find(cst.Comparison):
        if _decides(unit, node):
            left = node.left
            for target in node.comparisons:
                equal = isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot))
                found.append(Pair(node, left, target.comparator, not equal))
                left = target.comparator
    for call in unit.find(cst.Call):
        if last_name(call) in KNOWN and KNOWN[last_name(call)][1] == 2:
            first, second = operand(call, 0), operand(call, 1)
            if first is not None and second is not None:
                found.append(Pair(call, first, second, KNOWN[last_name(call)][0] in ("order", "member")))
        elif dotted(call.func) == "zip" and is_strict(call):
            given = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
            found.extend(Pair(call, given[0], other) for other in given[1:])
    return found


def is_strict(call: cst.Call) -> bool:
    """Whether a `zip` is told to refuse unequal lengths; an unknown `strict` counts as told."""
    strict = keyword_argument(call, "strict")
    return strict is not None and literal(strict) is not False


def _decides(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether what a comparison says has an effect beyond being shown."""
    for above in unit.ancestors(node):
        if type(above) is cst.FormattedString:
            return False
        if type(above) is cst.Call:
            if dotted(above.func) in (
                "print",
                "logging.info",
                "logger.info",
                "logger.debug",
                "warnings.warn",
            ):
                return False
        elif isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return True
    return True


def reached_with(unit: Unit, guard: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a guard runs on every path on which a node does, as far as branches say: it stands in no
    `if` arm or handler in which the node does not stand too. Loops count as entered."""
    arm = _arm(unit, guard)
    return arm is None or unit.holds(arm, node) or _implied(unit, arm, node)


def _implied(unit: Unit, arm: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a node runs only where the condition of an arm holds too: under `if kind and late`, after an
    arm of `if kind`."""
    branch = unit.parent(arm)
    if type(branch) is not cst.If or arm is not branch.body:
        return False
    around = [
        above
        for below, above in pairwise((node, *unit.ancestors(node)))
        if type(above) is cst.If and below is above.body
    ]
    if not around or not reached_with(unit, branch, node):
        return False
    flow, asked = values(unit), canonical(branch.test)
    bound = [flow.reaching(name) for name in flow.reads(branch.test)]
    return any(
        canonical(part) == asked and [flow.reaching(name) for name in flow.reads(part)] == bound
        for above in around
        for part in conjuncts(above.test)
    )


def _arm(unit: Unit, guard: cst.CSTNode) -> cst.CSTNode | None:
    """The innermost arm, handler, case or function around a node; None where it runs with the unit."""
    arms = _arms(unit)
    passed: list[cst.CSTNode] = []
    below = guard
    found: cst.CSTNode | None = None
    while id(below) not in arms:
        above = unit.parent(below)
        if above is None or above is unit.node:
            break
        passed.append(below)
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.ExceptHandler, cst.MatchCase)):
            found = above
            break
        if type(above) is cst.If and below is not above.test:
            found = below
            break
        below = above
    else:
        found = arms[id(below)]
    arms.update((id(one), found) for one in passed)
    return found


@once
def _arms(unit: Unit) -> dict[int, cst.CSTNode | None]:
    """What `_arm` has said so far, by the node's identity."""
    return {}


class _Groups:
    """Terms that are known to be equal, as a forest of representatives."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def find(self, term: str) -> str:
        while (above := self._above.get(term, term)) != term:
            term = above
        return term

    def join(self, all_of: Iterable[str]) -> None:
        first: str | None = None
        for term in all_of:
            root = self.find(term)
            if first is None:
                first = root
            elif root != first:
                self._above[root] = first


def same_length(unit: Unit, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether two values are known to have equal lengths where `node` runs: made from the same items, or
    their lengths (shapes, key sets, whole contents) are compared by a guard."""
    own = terms(unit)
    if not _grouped(own, _all_groups(unit), left, right, _DEPTH):
        # What all guards together do not say, none of them says.
        return _asked_of_unknown(unit, node, (set(own.sizes(left)), set(own.sizes(right))))
    groups = _Groups()
    for guard, sizes in _equal_sizes(unit):
        if reached_with(unit, guard, node) and not _inside(unit, guard, node):
            groups.join(sizes)
    if _grouped(own, groups, left, right, _DEPTH):
        return True
    return _asked_of_unknown(unit, node, (set(own.sizes(left)), set(own.sizes(right))))


@once
def _all_groups(unit: Unit) -> _Groups:
    """What would be equally long if every guard of the unit ran."""
    groups = _Groups()
    for _, sizes in _equal_sizes(unit):
        groups.join(sizes)
    return groups


def _grouped(
    own: Terms, groups: _Groups, left: cst.BaseExpression, right: cst.BaseExpression, depth: int
) -> bool:
    """Whether two values have equal lengths by their groups, or are made alike of values that do."""
    one, other = own.sizes(left), own.sizes(right)
    groups.join(one)
    groups.join(other)
    if groups.find(one[0]) == groups.find(other[0]):
        return True
    left, right = own.flow.resolve(left), own.flow.resolve(right)
    if not depth or type(left) is not cst.Call or type(right) is not cst.Call:
        return False
    if len(left.args) != len(right.args) or last_name(left) != last_name(right):
        return False
    parts = [(a.value, b.value) for a, b in zip(left.args, right.args, strict=True)]
    if type(left.func) is cst.Attribute and type(right.func) is cst.Attribute:
        parts.append((left.func.value, right.func.value))
    elif own.text(left.func) != own.text(right.func):
        return False
    return bool(parts) and all(
        own.text(a) == own.text(b) or _grouped(own, groups, a, b, depth - 1) for a, b in parts
    )


def length_is_checked(unit: Unit, node: cst.CSTNode, collection: cst.BaseExpression) -> bool:
    """Whether a guard compares a collection's length, or all of it, with anything at all."""
    sized = _sized(unit)
    return any(
        reached_with(unit, guard, node) and not _inside(unit, guard, node)
        for term in terms(unit).sizes(collection)
        for guard in sized.get(term, ())
    )


@once
def _sized(unit: Unit) -> dict[str, list[cst.CSTNode]]:
    """The guards that compare a length with another, by both terms."""
    found: dict[str, list[cst.CSTNode]] = {}
    for guard, sizes in _equal_sizes(unit):
        for term in dict.fromkeys(sizes) if len(sizes) > 1 else ():
            found.setdefault(term, []).append(guard)
    return found


def same_keys(unit: Unit, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether two mappings are known to have the same keys where `node` runs: their key sets or they
    themselves are compared as a whole, or one is made from the other's keys."""
    own = terms(unit)
    one, other = set(own.sizes(left)), set(own.sizes(right))
    if {term for term in one if term[0] != "#"} & {term for term in other if term[0] != "#"}:
        return True
    for guard, first, second in _wholes_of(unit, one):
        compared = (first & one and second & other) or (first & other and second & one)
        if compared and reached_with(unit, guard, node) and not _inside(unit, guard, node):
            return True
    return _asked_of_unknown(unit, node, (one, other))


def non_empty(unit: Unit, node: cst.CSTNode, collection: cst.BaseExpression) -> bool:
    """Whether a collection is known to hold something where `node` (a loop, or the check over it) runs.

    True where a guard looks at its length, its truth, whether something of it holds (`any`), compares it
    as a whole, or where a part of it is taken by a fixed index.
    """
    own = terms(unit)
    wanted = {term for term in own.sizes(collection) if not term.startswith("#")}
    return _non_empty(unit, node, wanted, _DEPTH)


def _non_empty(unit: Unit, node: cst.CSTNode, wanted: set[str], depth: int) -> bool:
    own, (looked_at, taken_of) = terms(unit), _looked_at(unit)
    for term in sorted(wanted):
        for expression in looked_at.get(term, ()):
            if not _inside(unit, expression, node) and reached_with(unit, expression, node):
                return True
        if any(not _inside(unit, taken, node) for taken in taken_of.get(term, ())):
            return True
    if depth:
        for call, function, bound in _helper_calls(unit):
            if _inside(unit, call, node) or not reached_with(unit, call, node):
                continue
            for name, given in bound.items():
                if wanted & set(own.sizes(given)) and _non_empty(function, function.node, {name}, depth - 1):
                    return True
    return _asked_of_unknown(unit, node, (wanted,))


@once
def _looked_at(unit: Unit) -> tuple[dict[str, list[cst.BaseExpression]], dict[str, list[cst.Subscript]]]:
    """By each term the deciding expressions that look at it, and the subscripts that take a fixed item."""
    own = terms(unit)
    looked_at: dict[str, list[cst.BaseExpression]] = {}
    taken_of: dict[str, list[cst.Subscript]] = {}
    for expression in deciding(unit):
        for term in {term for part in _through_names(own, expression) for term in _looks_at(own, part)}:
            looked_at.setdefault(term, []).append(expression)
    for taken in unit.find(cst.Subscript):
        if _is_fixed(taken):
            taken_of.setdefault(own.text(taken.value), []).append(taken)
    return looked_at, taken_of


def finite(unit: Unit) -> bool:
    """Whether a unit looks for NaN or infinity at all, itself or in a function of the file that it calls."""
    return _finite(unit, _DEPTH)


def _finite(unit: Unit, depth: int) -> bool:
    if not unit.facts.calls.isdisjoint(_FINITE) or not unit.facts.names.isdisjoint(_FINITE):
        return True
    return bool(depth) and any(_finite(function, depth - 1) for _, function, _ in _helper_calls(unit))


# How guards are found.


@once
def _equal_sizes(unit: Unit) -> list[tuple[cst.CSTNode, list[str]]]:
    """Each guard over lengths with the terms that it makes equally long."""
    return _sizes_through_calls(unit, _DEPTH)


def _sizes_through_calls(unit: Unit, depth: int) -> list[tuple[cst.CSTNode, list[str]]]:
    own = terms(unit)
    found = [(pair.node, sizes) for pair in pairs(unit) for sizes in _compared_sizes(own, pair)]
    if depth:
        for call, function, bound in _helper_calls(unit):
            given = {name: own.text(value) for name, value in bound.items()}
            if not given:
                continue
            for _, sizes in _sizes_through_calls(function, depth - 1):
                moved = [term for term in (_moved(size, given) for size in sizes) if term is not None]
                if len(moved) > 1:
                    found.append((call, moved))
    return found


def _compared_sizes(own: Terms, pair: Pair) -> Iterator[list[str]]:
    left, right = counted_by(pair.left), counted_by(pair.right)
    if pair.ordered and (left is None or right is None):
        return
    if left is not None or right is not None:
        yield [*own.count(pair.left), *own.count(pair.right)]
        return
    if type(pair.left) is cst.Name and type(pair.right) is cst.Name:
        one, other = own.flow.resolve(pair.left), own.flow.resolve(pair.right)
        if counted_by(one) is not None or counted_by(other) is not None:
            yield [*own.count(pair.left), *own.count(pair.right)]
            return
        yield from _told_apart(own, pair.left, pair.right)
    yield [*own.sizes(_whole(pair.left)), *own.sizes(_whole(pair.right))]
    one_named, other_named = _named_by(own, pair.left), _named_by(own, pair.right)
    if one_named is not None and other_named is not None and one_named[0] == other_named[0]:
        yield [*own.sizes(one_named[1]), *own.sizes(other_named[1])]


def _named_by(own: Terms, node: cst.BaseExpression) -> tuple[str, cst.BaseExpression] | None:
    """What a row of identifiers is called and whose it is, one for each item: `ids` and `a` of `list(a.ids)`.

    A set of them is none: what holds an item twice has as many of them as what holds it once.
    """
    node = own.flow.resolve(node)
    if type(node) is not cst.Call or dotted(node.func) not in _IN_FULL or len(node.args) != 1:
        return None
    row = node.args[0].value
    if type(row) is cst.Attribute and _IDENTIFIERS.search(row.attr.value):
        return row.attr.value, row.value
    return None


def _told_apart(own: Terms, left: cst.Name, right: cst.Name) -> Iterator[list[str]]:
    """What came with two values that are compared: `leaves, treedef = flatten(tree)` on both sides."""
    given = [_unpacked_with(own, side) for side in (left, right)]
    if len(given[0]) == len(given[1]):
        yield from ([one, other] for one, other in zip(*given, strict=True))


def _unpacked_with(own: Terms, name: cst.Name) -> list[str]:
    reaching = own.flow.reaching(name)
    if len(reaching) != 1:
        return []
    (binding,) = reaching
    if binding.role != "part" or binding.value is None:
        return []
    return [other.name for other in own.flow.all if other.value is binding.value and other.role == "part"]


def _whole(node: cst.BaseExpression) -> cst.BaseExpression:
    """The collection whose contents an expression gives as a whole: `a` of `set(a.keys())`."""
    while type(node) is cst.Call:
        if dotted(node.func) in _WHOLE and len(node.args) == 1:
            node = node.args[0].value
        elif type(node.func) is cst.Attribute and node.func.attr.value == "keys" and not node.args:
            node = node.func.value
        else:
            break
    if type(node) is cst.SetComp and not node.for_in.ifs:
        return _whole(node.for_in.iter)
    return node


def _wholes_of(unit: Unit, terms: set[str]) -> Iterator[tuple[cst.CSTNode, set[str], set[str]]]:
    """The comparisons of wholes one side of which is any of some terms."""
    wholes, by_term = _wholes(unit)
    for at in sorted({at for term in terms for at in by_term.get(term, ())}):
        yield wholes[at]


@once
def _wholes(unit: Unit) -> tuple[list[tuple[cst.CSTNode, set[str], set[str]]], dict[str, list[int]]]:
    wholes = list(_compared_wholes(unit))
    by_term: dict[str, list[int]] = {}
    for at, (_, left, right) in enumerate(wholes):
        for term in left | right:
            by_term.setdefault(term, []).append(at)
    return wholes, by_term


def _compared_wholes(unit: Unit) -> Iterator[tuple[cst.CSTNode, set[str], set[str]]]:
    own = terms(unit)
    for pair in pairs(unit):
        if pair.ordered:
            continue
        left, right = (own.flow.resolve(_whole(own.flow.resolve(side))) for side in (pair.left, pair.right))
        yield (
            pair.node,
            set(own.sizes(_whole(left))) | set(own.sizes(_whole(pair.left))),
            set(own.sizes(_whole(right))) | set(own.sizes(_whole(pair.right))),
        )
    for call, function, bound in _helper_calls(unit):
        given = {name: own.text(value) for name, value in bound.items()}
        inner = terms(function)
        for pair in pairs(function):
            moved = []
            for side in (pair.left, pair.right):
                sizes = (_moved(size, given) for size in inner.sizes(_whole(side)))
                moved.append({term for term in sizes if term is not None})
            if moved[0] and moved[1]:
                yield call, moved[0], moved[1]


@once
def _helper_calls(unit: Unit) -> list[tuple[cst.Call, Unit, dict[str, cst.BaseExpression]]]:
    found = []
    for call in unit.find(cst.Call):
        function = callee(unit, call)
        if function is not None and function is not unit:
            found.append((call, function, bind(call, function)))
    return found


class _Rename(ast.NodeTransformer):
    def __init__(self, given: dict[str, str]) -> None:
        self.given, self.free = given, False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.given:
            return ast.parse(self.given[node.id], mode="eval").body
        self.free = True
        return node


def _moved(term: str, given: dict[str, str]) -> str | None:
    """A function's own term as its caller would write it, or None where the caller cannot."""
    sign, text = ("#", term[1:]) if term.startswith("#") else ("", term)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    rename = _Rename(given)
    moved = rename.visit(tree)
    return None if rename.free else sign + ast.unparse(moved)


def _inside(unit: Unit, inner: cst.CSTNode, outer: cst.CSTNode) -> bool:
    return inner is outer or (outer is not unit.node and unit.holds(outer, inner))


def _through_names(own: Terms, expression: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """A deciding expression, and what the names in it stand for where that is a count of something."""
    yield expression
    for name in own.flow.reads(expression):
        for binding in own.flow.reaching(name):
            value = binding.value
            if value is None or binding.role != "whole":
                continue
            if _tells_size(value):
                yield value


def _tells_size(node: cst.BaseExpression) -> bool:
    if type(node) is cst.Call and dotted(node.func) in _EMPTINESS:
        return True
    collects = (cst.ListComp, cst.SetComp, cst.DictComp, cst.Comparison)
    return isinstance(node, collects) or counted_by(node) is not None


def _looks_at(own: Terms, expression: cst.BaseExpression) -> Iterator[str]:
    """The terms of the collections on whose being empty depends what an expression says.

    `all(… for x in rows)` does not: it is true of nothing.
    """
    stack: list[cst.CSTNode] = [expression]
    while stack:
        node = stack.pop()
        if type(node) is cst.Call and last_name(node) == "all":
            continue
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
            assert isinstance(node, cst.BaseExpression)
            yield own.text(node)
        if isinstance(node, (cst.Attribute, cst.Arg)):
            stack.append(node.value)
        elif type(node) is not cst.Lambda:
            stack.extend(children(node))


def _is_fixed(node: cst.Subscript) -> bool:
    """Whether a subscript takes one item at a place that is written out: `rows[0]`, `row["tokens"]`."""
    if len(node.slice) != 1 or type(node.slice[0].slice) is not cst.Index:
        return False
    return isinstance(literal(node.slice[0].slice.value), (int, str))


def _asked_of_unknown(unit: Unit, node: cst.CSTNode, wanted: tuple[set[str], ...]) -> bool:
    """Whether a call of something unknown that could check is given all the values."""
    asked, by_term = _unknown(unit)
    for at in sorted({at for term in wanted[0] for at in by_term.get(term, ())}):
        call, given = asked[at]
        if len(call.args) < len(wanted) or _inside(unit, call, node):
            continue
        if all(any(sizes & side for sizes in given) for side in wanted) and reached_with(unit, call, node):
            return True
    return False


@once
def _unknown(unit: Unit) -> tuple[list[tuple[cst.Call, list[set[str]]]], dict[str, list[int]]]:
    """The calls of something unknown that could check, with the terms of what they are given; and their
    places in this list by term."""
    own = terms(unit)
    asked: list[tuple[cst.Call, list[set[str]]]] = []
    by_term: dict[str, list[int]] = {}
    for call in unit.find(cst.Call):
        if last_name(call) in KNOWN or callee(unit, call) is not None or not may_assert(call, unit):
            continue
        given = [set(own.sizes(arg.value)) for arg in call.args if not arg.star]
        for term in set().union(*given):
            by_term.setdefault(term, []).append(len(asked))
        asked.append((call, given))
    return asked, by_term
