"""Whether anything tells that two sides that are walked in step could differ in length at all.

Either something that is tested decides how many items one of them has and the test how many the other, or the
walk compares an item of the one with an item of the other, which takes them to be two versions of one thing.
Sides of which neither holds are inputs that stand side by side, `for size, seed in zip(sizes, seeds): assert
run(size, seed)`, or two columns of what is tested, `zip(graph.edges("src"), graph.edges("dst"))`.
"""

from __future__ import annotations

import builtins
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callers, module_value
from reviewbot.flow.checks import call_of, checks_in, comparisons_in
from reviewbot.flow.pairing import is_made_by_test
from reviewbot.flow.syntax import last_name, root_name, walk
from reviewbot.flow.terms import terms
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.flow.cuts import Cut
    from reviewbot.flow.values import Mutation
    from reviewbot.source.units import Unit

_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)
_DEPTH = 6
_OTHER = ("member", "absent", "raises")  # what is in something is no version of it


def may_differ_in_length(unit: Unit, cut: Cut) -> bool:
    """Whether items of two sides are compared, or something tested has a part in how long one of them is and
    none in how long another is."""
    return len({_is_produced(unit, one, _DEPTH) for one in cut.sides}) > 1 or _compares_items(unit, cut)


def _is_produced(unit: Unit, node: cst.BaseExpression, depth: int) -> bool:
    """Whether something else than the test and its inputs decides how many items there are."""
    if not depth:
        return True
    flow = values(unit)
    last = list(terms(unit).same_size(node))[-1]
    if isinstance(last, cst.Await):
        return True
    if isinstance(last, _COMPREHENSIONS):
        return bool(last.for_in.ifs) or any(
            _is_produced(unit, below.iter, depth - 1)
            for below in walk(last)
            if isinstance(below, cst.CompFor)
        )
    if isinstance(last, cst.Call):
        return not is_made_by_test(unit, last)
    if isinstance(last, (cst.Attribute, cst.Subscript)):
        owner = next((below for below in _leftmost(last)), None)
        return owner is not None and _is_produced(unit, owner, depth - 1)
    if not isinstance(last, cst.Name):
        return False
    bound = flow.reaching(last)
    if not bound:
        # A constant is a table, however it was put together.
        return module_value(unit.file, last.value) is None and not last.value.isupper()
    if any(_lets_in(unit, change, depth) for change in flow.mutations(last.value)):
        return True
    if not unit.is_test and any(one.kind == "parameter" for one in bound):
        handed = [(site.caller, bind(site.call, unit).get(last.value)) for site in callers(unit)]
        if any(one is not None and _is_produced(at, one, depth - 1) for at, one in handed):
            return True
    given = [one for one in bound if one.kind not in ("parameter", "loop", "unbound")]
    return any(
        one.value is None or (one.value is not last and _is_produced(unit, one.value, depth - 1))
        for one in given
    )


def _leftmost(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a chain of attributes and subscripts starts from."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return [node]


def _lets_in(unit: Unit, change: Mutation, depth: int) -> bool:
    """Whether a change of a list adds as many items as something tested gives: `rows.extend(run(1))`, or an
    item for each of them."""
    around = [above for above in unit.ancestors(change.node) if isinstance(above, (cst.For, cst.While))]
    if any(isinstance(one, cst.While) or _is_produced(unit, one.iter, depth - 1) for one in around):
        return True
    if isinstance(change.node, cst.Call) and last_name(change.node) == "append":
        return False
    return any(_is_produced(unit, one, depth - 1) for one in change.given)


def _compares_items(unit: Unit, cut: Cut) -> bool:
    """Whether an item of one side is compared with an item of another, as they are or in the same part of
    them: `left == right`, `left.tokens == right.tokens`, `assert_close(left, right)`, `left - right < 1`."""
    target: cst.BaseExpression | None = None
    if isinstance(cut.loop, cst.For):
        target = cut.loop.target
    elif isinstance(cut.loop, _COMPREHENSIONS):
        target = cut.loop.for_in.target
    if isinstance(target, cst.Tuple) and isinstance(target.elements[-1].value, cst.Tuple):
        target = target.elements[-1].value  # the second of `for n, (a, b) in enumerate(zip(...))`
    if not isinstance(target, cst.Tuple) or len(target.elements) != len(cut.sides):
        return True
    parts = [{b.value for b in walk(e.value) if isinstance(b, cst.Name)} for e in target.elements]
    pairs = [(one.left, one.right) for one in comparisons_in(unit, cut.loop) if one.relation not in _OTHER]
    if isinstance(cut.loop, _COMPREHENSIONS):
        pairs += [
            (below.left, below.comparisons[0].comparator)
            for below in walk(cut.loop)
            if isinstance(below, cst.Comparison)
        ]
        made = None if isinstance(cut.loop, cst.DictComp) else cut.loop.elt
        pairs += _given(made) if isinstance(made, cst.Call) else []
    for check in checks_in(unit, cut.loop):
        call = call_of(check.node)
        asked = call if call is not None else check.condition
        while isinstance(asked, cst.UnaryOperation):
            asked = asked.expression
        pairs += _given(asked) if isinstance(asked, cst.Call) else []
    pairs += [
        (below.left, below.right)
        for pair in [*pairs]
        for side in pair
        for below in walk(side)
        if isinstance(below, cst.BinaryOperation) and isinstance(below.operator, cst.Subtract)
    ]
    for left, right in pairs:
        places = [_part(unit, side, parts) for side in (left, right)]
        if None not in places and places[0] != places[1]:
            return True
    return False


def _given(call: cst.Call) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Each two arguments of a call that stand side by side."""
    given = [arg.value for arg in call.args]
    return list(pairwise(given))


def _part(unit: Unit, node: cst.BaseExpression, parts: list[set[str]], depth: int = _DEPTH) -> int | None:
    """Of which side an expression is an item, or something of one, or the same form of it as of any."""
    while isinstance(node, cst.Call):
        plain = isinstance(node.func, cst.Name) and hasattr(builtins, node.func.value)
        if plain and len(node.args) == 1:
            node = node.args[0].value
        elif isinstance(node.func, cst.Attribute) and not node.args:
            node = node.func.value
        else:
            return None
    name = root_name(node)
    for place, names in enumerate(parts):
        if name in names:
            return place
    if not depth or isinstance(node, cst.Call):
        return None
    root = next((one for one in walk(node) if isinstance(one, cst.Name) and one.value == name), None)
    bound = values(unit).reaching(root) if root is not None else frozenset()
    made = [one.value for one in bound if one.kind in ("loop", "assign") and one.value is not None]
    if len(made) != 1 or len(bound) != 1:
        return None
    return _part(unit, made[0], parts, depth - 1)
