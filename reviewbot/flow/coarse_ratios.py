"""What speaks for a relative error that may be large: a tighter check of the same two values beside it, a
step that is bounded, an amount that is estimated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.checks import call_of, checks, comparisons
from reviewbot.flow.patterns import pattern
from reviewbot.flow.ratios import CONVERTS, Ratio, ratios, receiver, relative_error
from reviewbot.flow.syntax import canonical, last_name, literal, root_name, walk
from reviewbot.flow.tolerances import number, of_call, tolerances
from reviewbot.flow.values import UNBOUND, Binding, Values, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_Who = object  # what tells two values apart: the bindings of a name, or code with those in it
_Pair = frozenset[_Who]

_TIGHT = 0.1
# What takes two values and does not hold one against the other; what only asks that a number is one.
_NOT_COMPARING = frozenset({"zip", "print", "isinstance", "max", "maximum", "min", "minimum", "stack", "cat"})
_SANE = frozenset({"isnan", "isfinite", "isinf", "shape", "dtype", "ndim"})
_COPIES = frozenset({"clone", "copy", "deepcopy", "array", "detach", "clone_", "copy_"})
_AMOUNT = pattern(
    r"(?i)(^|_)(len|length|sizes?|n|num|counts?|ms|us|ns|s|secs?|bytes|rss)(_|$)|_ms\d*$|"
    r"time|second|elapsed|latenc|duration|speed|throughput|memory|cost"
)
_STEP = pattern(
    r"(?i)(^|_)(before|after|prev(ious)?|old|new|init(ial)?|start|update[ds]?|step(s|ped)?|next|later|earlier|"
    r"delta|trust|drift|changed?|moved?)(_|$)|^[a-z]+_?0$"
)
# What comes back from these should be what was put in.
_ROUND_TRIP = pattern(
    r"(?i)pack|quant|compress|encod|decod|cod(ec|ing)|round|cast|restor|reconstruct|serial|emulat|approx|"
    r"invers|recover|dump|load"
)
_WORD = pattern(r"[A-Za-z_]\w*")

Meant = Literal["yes", "maybe", "no"]


def may_be_meant(unit: Unit, ratio: Ratio) -> Meant:
    """Whether a relative error may be as large as it is: `yes` beside a tighter check, of an amount and of a
    step; `maybe` where one of the two values is made from the other, or named as what is stepped is."""
    words = _WORD.findall(f"{canonical(ratio.over)} {canonical(ratio.other)} {canonical(ratio.node)}")
    if any(map(_AMOUNT.search, words)) or _is_asked_closer(unit, ratio):
        return "yes"
    made = _made_of(unit, ratio)
    named = any(map(_STEP.search, words))
    if made is None:
        return "maybe" if named else "no"
    if named or any(map(_STEP.search, made)):
        return "yes"
    return "no" if any(map(_ROUND_TRIP.search, made)) else "maybe"


# A tighter check.


def _is_asked_closer(unit: Unit, ratio: Ratio) -> bool:
    flow = values(unit)
    if frozenset({_who(flow, ratio.over), _who(flow, ratio.other)}) in _held_close(unit):
        return True
    read = {binding for name in flow.reads(ratio.node.left) for binding in flow.reaching(name)}
    return not read.isdisjoint(_looked_at(unit))


@once
def _held_close(unit: Unit) -> frozenset[_Pair]:
    """The pairs of values that a check of the unit holds close to one another, or apart by something."""
    return frozenset(pair for pair in _close_pairs(unit) if len(pair) == 2)


def _close_pairs(unit: Unit) -> Iterator[_Pair]:
    flow = values(unit)
    for ratio in _every_ratio(unit):
        if not ratio.passes_zeros:
            yield frozenset({_who(flow, ratio.over), _who(flow, ratio.other)})
    for one in tolerances(unit):
        if type(one.node) is cst.Comparison and one.value < _TIGHT and one.actual and one.expected:
            yield frozenset({_who(flow, one.actual), _who(flow, one.expected)})
    for pair in comparisons(unit):
        if pair.relation in ("equal", "identical") and type(pair.node) is cst.Comparison:
            yield frozenset({_who(flow, pair.left), _who(flow, pair.right)})
    for call in _asking(unit):
        given = [_who(flow, arg.value) for arg in call.args[:4] if not arg.star]
        if last_name(call) not in _NOT_COMPARING and not _is_loose(unit, call):
            yield from (frozenset({one, other}) for one in given for other in given)


def _every_ratio(unit: Unit) -> Iterator[Ratio]:
    """The relative errors that checks look at, with a limit of 0 also those that are to be large."""
    flow = values(unit)
    for pair in comparisons(unit):
        node = pair.node
        if pair.relation != "order" or type(node) is not cst.Comparison:
            continue
        sides = [node.left, *(target.comparator for target in node.comparisons)]
        for side in sides:
            limit = next((number(unit, other) for other in sides if other is not side), None)
            found = relative_error(flow, side) if limit else None
            if found is not None and limit is not None:
                below = type(node.comparisons[0].operator) in (cst.LessThan, cst.LessThanEqual)
                at_most = (below is (side is node.left)) is not pair.check.fails_when
                yield Ratio(node, sides[1], limit if at_most else 0.0, *found)


def _asking(unit: Unit) -> list[cst.Call]:
    """The calls in what the checks of a unit ask, and in what the names there stand for."""
    flow = values(unit)
    asked: dict[int, cst.CSTNode] = {}
    for check in checks(unit):
        node = check.condition or call_of(check.node)
        if node is not None:
            asked[id(node)] = node
            asked.update((id(made), made) for made in map(flow.resolve, flow.reads(node)))
    return [below for node in asked.values() for below in walk(node) if type(below) is cst.Call]


def _is_loose(unit: Unit, call: cst.Call) -> bool:
    return any(one.sort == "relative" and one.value >= 1 for one in of_call(unit, call))


@once
def _looked_at(unit: Unit) -> frozenset[Binding]:
    """The relative errors, by name, at which a check looks that is no coarse one and does not only ask
    whether they are numbers: `(off < 0.1).mean() > 0.9`."""
    flow = values(unit)
    coarse = {id(one.node) for one in ratios(unit) if one.passes_zeros}
    skipped = {id(pair.check.node) for pair in comparisons(unit) if id(pair.node) in coarse}
    found: set[Binding] = set()
    for check in checks(unit):
        asked = check.condition
        if asked is None or id(check.node) in skipped or _asks_little(asked):
            continue
        for name in flow.reads(asked):
            if relative_error(flow, name) is not None:
                found |= flow.reaching(name) - {UNBOUND}
    return frozenset(found)


def _asks_little(asked: cst.BaseExpression) -> bool:
    """Whether a condition only asks that a value is a number, or no less than nothing."""
    bounds = [one.comparator for one in asked.comparisons] if type(asked) is cst.Comparison else []
    return not _SANE.isdisjoint(_WORD.findall(canonical(asked))) or any(literal(one) == 0 for one in bounds)


# A step.


def _made_of(unit: Unit, ratio: Ratio) -> list[str] | None:
    """The names in what makes one of the two values of the other, None where nothing does: `pack` of
    `got = pack(crate)`, `clone` of `first = weights.clone()`."""
    flow = values(unit)
    for made, of in ((ratio.other, ratio.over), (ratio.over, ratio.other)):
        source = _bindings(flow, of) if root_name(of) not in ("self", "cls") else set()
        through = [binding for binding in flow.slice(made, mutations=False) if binding.value is not None]
        written = [made, *(binding.value for binding in through if binding.value is not None)]
        calls = [node for node in written if type(node) is cst.Call]
        reading = [node for node in calls if source & _bindings(flow, node)]
        # What is measured against is a value as it was before, or one that the other is made of.
        if reading and (made is ratio.other or any(last_name(node) in _COPIES for node in reading)):
            names = [word for node in calls for word in _WORD.findall(canonical(node))]
            return [*names, *(binding.name for binding in through)]
    return None


def _bindings(flow: Values, node: cst.CSTNode) -> set[Binding]:
    return {binding for name in flow.reads(node) for binding in flow.reaching(name)} - {UNBOUND}


def _who(flow: Values, node: cst.BaseExpression) -> _Who:
    """What tells a value apart, whatever it is converted to and by whatever name it goes."""
    while True:
        if type(node) is cst.Call and last_name(node) in CONVERTS:
            inner = receiver(node) or (node.args[0].value if node.args else None)
            if inner is None:
                break
            node = inner
        elif type(node) is cst.Name:
            reaching = flow.reaching(node) - {UNBOUND}
            (one,) = reaching if len(reaching) == 1 else (None,)
            value = one.value if one is not None and one.kind == "assign" and one.role == "whole" else None
            if value is None or not (type(value) is cst.Name or last_name(value) in CONVERTS):
                return reaching or node.value
            node = value
        else:
            break
    return canonical(node), frozenset(b for name in flow.reads(node) for b in flow.reaching(name))
