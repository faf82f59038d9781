"""The two sides of a judgement, and what a condition has to do with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.calls import bind, callee
from reviewbot.flow.checks import predicate
from reviewbot.flow.control import guards
from reviewbot.flow.gaps import gap
from reviewbot.flow.judgements import Judgement, is_distance
from reviewbot.flow.lookups import from_same_rows, picking
from reviewbot.flow.patterns import pattern
from reviewbot.flow.provenance import Trace, trace
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.values import Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

Says = Literal["equal", "different"]


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """What the left of some judgements comes from and the right does not, and the other way round.

    `keys` are bindings that only say which rows are looked at, `picks` the identities of name nodes that
    only do so where they stand: the row by whose key the other side's row is looked up.
    """

    left: frozenset[Binding]
    right: frozenset[Binding]
    keys: frozenset[Binding]
    picks: frozenset[int] = frozenset()

    def both(self, found: Iterable[Binding]) -> bool:
        """Whether bindings come from the one and from the other side."""
        bindings = frozenset(found)
        return not bindings.isdisjoint(self.left) and not bindings.isdisjoint(self.right)

    def either(self, found: Iterable[Binding]) -> bool:
        """Whether bindings come from at least one side."""
        bindings = frozenset(found)
        return not bindings.isdisjoint(self.left) or not bindings.isdisjoint(self.right)


def sides(
    unit: Unit, found: Iterable[Judgement], *, up: bool = True, repo: Repo | None = None
) -> Sides | None:
    """The two sides of judgements in one unit; None where both come from the same things.

    With `up` also what the callers in the file hand in, with `repo` those in other files too.
    """
    known, key = _known(unit), (tuple(found), up, repo)
    if key not in known:
        # Every branch before a judgement asks for its sides again.
        known[key] = _told_apart(unit, *key)
    return known[key]


_Judged = tuple[Judgement, ...]


@once
def _known(unit: Unit) -> dict[tuple[_Judged, bool, Repo | None], Sides | None]:
    return {}


def _told_apart(unit: Unit, judged: _Judged, up: bool, repo: Repo | None) -> Sides | None:
    plain = _sides(unit, judged, frozenset(), up, repo)
    if plain is not None:
        return plain
    picks = picking(unit)
    return _sides(unit, judged, picks, up, repo) if picks else None


def _sides(unit: Unit, judged: _Judged, picks: frozenset[int], up: bool, repo: Repo | None) -> Sides | None:
    keys = frozenset(
        binding
        for one in judged
        for node in (one.left, one.right)
        for binding in _subscripts(unit, node, picks)
    )
    left, right = (
        trace(unit, *nodes, keys=keys, up=up, repo=repo, without=picks)
        for nodes in ([one.left for one in judged], [one.right for one in judged])
    )
    own_left = frozenset(_computed(left)) - frozenset(right.bindings)
    own_right = frozenset(_computed(right)) - frozenset(left.bindings)
    if not own_left or not own_right or (picks and from_same_rows(unit, picks, left, right)):
        return None
    return Sides(own_left, own_right, keys | frozenset(left.keys) | frozenset(right.keys), picks)


def _computed(found: Trace) -> Iterable[Binding]:
    return (binding for binding in found.bindings if binding.kind not in ("import", "definition"))


def _subscripts(unit: Unit, node: cst.CSTNode, picks: frozenset[int], depth: int = 4) -> Iterable[Binding]:
    """The bindings of names by which rows are picked: `identity` of `rows[identity]`, of `rows.get(key)`.
    Those of `picks` are left out: they are rows of a side themselves."""
    flow = values(unit)
    for below in walk(node):
        inside: list[cst.CSTNode] = []
        if type(below) is cst.Subscript:
            inside = [e.slice.value for e in below.slice if type(e.slice) is cst.Index]
        elif type(below) is cst.Call and last_name(below) in ("get", "pop", "getattr", "getitem"):
            inside = [arg.value for arg in below.args]
        for index in inside:
            for name in flow.reads(index):
                if id(name) not in picks:
                    yield from (b for b in flow.reaching(name) if b.kind == "loop")
    if depth:
        for name in flow.reads(node):
            for binding in flow.reaching(name):
                if binding.value is not None and binding.kind in ("assign", "walrus"):
                    yield from _subscripts(unit, binding.value, picks, depth - 1)


def condition_trace(
    unit: Unit,
    condition: cst.CSTNode,
    between: Sides,
    *,
    control: bool = True,
    up: bool = True,
    repo: Repo | None = None,
) -> Trace:
    """What a condition was computed from. Keys, and what is looked up in a collection, are left out."""
    return trace(
        unit,
        *_deciding(condition),
        control=control,
        keys=between.keys,
        up=up,
        repo=repo,
        without=between.picks | _idle(unit, condition),
    )


def _idle(unit: Unit, condition: cst.CSTNode) -> frozenset[int]:
    """The identities of the names that a function of the file is handed and its answer does not depend on:
    what it only asserts, prints or stores."""
    found: set[int] = set()
    for call in walk(condition):
        function = callee(unit, call) if type(call) is cst.Call else None
        if function is None or function is unit:
            continue
        assert isinstance(call, cst.Call)
        decides = _decides(function)
        for name, given in bind(call, function).items():
            if decides and name not in decides:
                found |= {id(below) for below in walk(given) if type(below) is cst.Name}
    return frozenset(found)


@once
def _decides(function: Unit) -> frozenset[str]:
    """The parameters that a function's answer depends on; none where it cannot be told."""
    read: list[cst.CSTNode] = []
    for node in function.find(cst.Return):
        if node.value is not None:
            read.append(node.value)
        read += [guard.condition for guard in guards(function, node)]
    found = trace(function, *read, control=True, up=False).bindings
    return frozenset(binding.name for binding in found if binding.kind == "parameter")


def _deciding(node: cst.CSTNode) -> list[cst.CSTNode]:
    if type(node) is cst.BooleanOperation:
        return [*_deciding(node.left), *_deciding(node.right)]
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        return _deciding(node.expression)
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return [node]
    target = node.comparisons[0]
    return [target.comparator] if isinstance(target.operator, (cst.In, cst.NotIn)) else [node]


def says(unit: Unit, condition: cst.BaseExpression, outcome: bool, between: Sides) -> Says | None:
    """What a condition's outcome says of the two sides: that they are equal, that they differ, or nothing
    that is certain."""
    node = values(unit).resolve(condition)
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        return says(unit, node.expression, not outcome, between)
    if type(node) is cst.BooleanOperation:
        every = isinstance(node.operator, cst.And) is outcome  # all operands hold, or their opposites do
        found = [says(unit, operand, outcome, between) for operand in (node.left, node.right)]
        if every and set(found) == {"equal", "different"}:
            # Equal in one part, as in a first stretch, and different in another; close is not different.
            equal = node.left if found[0] == "equal" else node.right
            return "different" if _is_exact(equal) else "equal"
        if every and ("equal" in found or alike(unit, node, between)):
            return "equal"
        if "different" in found and (every or set(found) == {"different"}):
            return "different"
        return "equal" if set(found) == {"equal"} else None
    if type(node) is cst.Comparison and len(node.comparisons) == 1:
        return _compared(unit, node.left, node.comparisons[0], outcome, between)
    if type(node) is cst.Comparison and outcome:
        # `a is b is None`: every link holds.
        links = zip([node.left, *(t.comparator for t in node.comparisons)], node.comparisons, strict=False)
        found = [_compared(unit, left, target, True, between) for left, target in links]
        return "equal" if "equal" in found else "different" if "different" in found else None
    if type(node) is cst.Call and predicate(node, unit) in ("equal", "close", "identical"):
        given = [arg.value for arg in node.args if arg.keyword is None][:2]
        if type(node.func) is cst.Attribute and len(given) == 1:
            given = [node.func.value, *given]
        if len(given) == 2 and _across(unit, given[0], given[1], between):
            return "equal" if outcome else "different"
        return _of_helper(unit, node, outcome, between)
    return _of_helper(unit, node, outcome, between) if type(node) is cst.Call else None


def _is_exact(node: cst.BaseExpression) -> bool:
    """`a == b`, or its opposite."""
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return False
    return isinstance(node.comparisons[0].operator, (cst.Equal, cst.NotEqual))


def _of_helper(unit: Unit, call: cst.Call, outcome: bool, between: Sides) -> Says | None:
    """What the one value that a function of the file returns says, of the sides that it is given."""
    function = callee(unit, call)
    returns = function.find(cst.Return) if function is not None and function is not unit else []
    if function is None or len(returns) != 1 or returns[0].value is None:
        return None
    left: set[Binding] = set()
    right: set[Binding] = set()
    given = bind(call, function)
    for binding in values(function).all:
        if binding.kind == "parameter" and binding.name in given:
            came = frozenset(condition_trace(unit, given[binding.name], between).bindings)
            if came.isdisjoint(between.left) is not came.isdisjoint(between.right):
                (right if came.isdisjoint(between.left) else left).add(binding)
    inside = Sides(frozenset(left), frozenset(right), frozenset())
    return says(function, returns[0].value, outcome, inside) if left and right else None


def _is_made_of_both(unit: Unit, node: cst.BaseExpression, between: Sides) -> bool:
    """Whether a call is given both sides."""
    call = values(unit).resolve(node)
    if type(call) is not cst.Call or len(call.args) < 2:
        return False
    given = [frozenset(condition_trace(unit, arg.value, between).bindings) for arg in call.args]
    return any(not came.isdisjoint(between.left) for came in given) and any(
        not came.isdisjoint(between.right) for came in given
    )


def _compared(
    unit: Unit, left: cst.BaseExpression, target: cst.ComparisonTarget, outcome: bool, between: Sides
) -> Says | None:
    operator, right = target.operator, target.comparator
    if isinstance(operator, (cst.Equal, cst.Is, cst.NotEqual, cst.IsNot)):
        if not _across(unit, left, right, between):
            return None
        if any(_is_made_of_both(unit, side, between) for side in (left, right)):
            return None  # `divergence(a, b) == cut_at[key]` says where they part, or that both are None
        return "equal" if isinstance(operator, (cst.Equal, cst.Is)) is outcome else "different"
    below = isinstance(operator, (cst.LessThan, cst.LessThanEqual))
    if not below and not isinstance(operator, (cst.GreaterThan, cst.GreaterThanEqual)):
        return None
    # A distance between the sides against a bound.
    apart, bound = (
        (is_distance(measured := values(unit).resolve(node)) or gap(unit, measured) is not None)
        and between.both(condition_trace(unit, node, between).bindings)
        for node in (left, right)
    )
    if apart is bound:
        return None
    return "equal" if (below is apart) is outcome else "different"


def _across(unit: Unit, one: cst.BaseExpression, other: cst.BaseExpression, between: Sides) -> bool:
    """Whether the two operands come from the two sides."""
    first, second = (frozenset(condition_trace(unit, node, between).bindings) for node in (one, other))
    forth = not first.isdisjoint(between.left) and not second.isdisjoint(between.right)
    back = not first.isdisjoint(between.right) and not second.isdisjoint(between.left)
    return forth or back


def alike(unit: Unit, node: cst.BooleanOperation, between: Sides) -> bool:
    """Whether a condition asks the same of the two sides: `isnan(a) and isnan(b)`."""
    one, other = _shape(unit, node.left, between), _shape(unit, node.right, between)
    return one == other and _across(unit, node.left, node.right, between)


def _shape(unit: Unit, node: cst.BaseExpression, between: Sides) -> str:
    """The code of a condition with the names that come from one side left open."""
    names = {
        name.value
        for name in values(unit).reads(node)
        if between.either(condition_trace(unit, name, between, control=False).bindings)
    }
    return _CHAIN.sub(lambda word: "□" if word[1] in names else word[0], canonical(node))


_CHAIN = pattern(r"\b([A-Za-z_]\w*)(?:\.\w+(?!\()|\[[^\]]*\])*")
