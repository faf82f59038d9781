"""What speaks for two sides that are walked in step being of one length by what they are: the components of
a vector, the weights of a model beside a list that a test writes out, what one call gives twice.

None of it is a check, so that a difference may still pass: a reason to ask, and not to claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import checks_in, comparisons
from reviewbot.flow.pairing import is_as_long_as_written
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.terms import terms
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.flow.cuts import Cut
    from reviewbot.source.units import Unit

_WEIGHTS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_CLOSE = frozenset({"isclose", "allclose", "approx", "approx_equal", "almost_equal"})
_EQUALS = pattern(r"(?i)equal|same|match|close|compare|differ|^eq$")
_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp)


def alike_by_nature(unit: Unit, cut: Cut) -> str:
    """What speaks for the sides being of one length by what they are, in words; "" where nothing does."""
    for holds, says in _REASONS:
        if holds(unit, cut):
            return says
    return ""


def _walks_inputs_along(unit: Unit, cut: Cut) -> bool:
    """Whether the walk never puts what comes of one side beside what comes of another: in a comparison, a
    difference or the arguments of one call. It walks inputs beside what was made of them."""
    parts = _items(cut)
    if not parts:
        return False
    asked = {id(below) for one in checks_in(unit, cut.loop) for below in walk(one.condition or one.node)}
    for node in walk(cut.loop):
        pairs: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
        if isinstance(node, cst.Comparison):
            pairs = [(node.left, one.comparator) for one in node.comparisons]
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Subtract):
            pairs = [(node.left, node.right)]
        elif isinstance(node, cst.Call) and (id(node) in asked or _EQUALS.search(last_name(node))):
            given = [one.value for one in node.args]
            if isinstance(node.func, cst.Attribute) and _EQUALS.search(last_name(node)):
                given.append(node.func.value)  # `left.equals(right)`
            pairs = [(one, other) for at, one in enumerate(given) for other in given[at + 1 :]]
        for left, right in pairs:
            one, other = _of(unit, left, parts), _of(unit, right, parts)
            if one and other and one != other:
                return False
    return True


def _of(unit: Unit, node: cst.BaseExpression, parts: list[set[int]]) -> set[int]:
    """From which sides an expression comes."""
    places = {id(one.node) for one in values(unit).slice(node)}
    return {at for at, part in enumerate(parts) if not part.isdisjoint(places)}


def _items(cut: Cut) -> list[set[int]]:
    """Where a walk names the items of each side; nothing where it does not take them apart."""
    loop = cut.loop
    if isinstance(loop, cst.For):
        target: cst.BaseExpression = loop.target
        over = loop.iter
    elif isinstance(loop, _COMPREHENSIONS):
        target, over = loop.for_in.target, loop.for_in.iter
    else:
        return []
    if over is not cut.call and isinstance(target, cst.Tuple):
        target = target.elements[-1].value  # the second of `for n, (a, b) in enumerate(zip(...))`
    if not isinstance(target, cst.Tuple) or len(target.elements) != len(cut.sides):
        return []
    return [{id(below) for below in walk(one.value)} for one in target.elements]


def _are_components(unit: Unit, cut: Cut) -> bool:
    """Whether numbers are held to be close one by one, `all(abs(a - b) < 3 for a, b in zip(dot, (9, 9, 0)))`,
    of which the test writes one side out, or which are one attribute of two things: a color, a matrix."""
    if not isinstance(cut.loop, _COMPREHENSIONS) or not _is_closeness(cut.loop.elt):
        return False
    if all(isinstance(side, cst.Attribute) for side in cut.sides):
        return len({last_name(side) for side in cut.sides}) == 1
    return any(_is_written(unit, side) for side in cut.sides)


def _is_closeness(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        smaller = isinstance(node.comparisons[0].operator, (cst.LessThan, cst.LessThanEqual))
        return smaller and isinstance(node.left, cst.Call) and last_name(node.left) in ("abs", "fabs")
    return isinstance(node, cst.Call) and last_name(node) in _CLOSE


def _is_written(unit: Unit, side: cst.BaseExpression) -> bool:
    if is_as_long_as_written(unit, side):
        return True
    # An item of a table that stands in the loop: `for place, wanted in ((0, (1, 2)), (1, (3, 4)))`.
    bound = values(unit).reaching(side) if isinstance(side, cst.Name) else frozenset()
    return bool(bound) and all(
        one.kind == "loop" and isinstance(one.value, (cst.Tuple, cst.List)) for one in bound
    )


def _is_one_call_again(unit: Unit, cut: Cut) -> bool:
    """Whether one and the same call gave each side, by its text: `mask(text)` before and after `mask` became
    another pipeline, `copied(model.parameters())` before and after a step."""
    flow = values(unit)
    if _is_kept_from(unit, cut.sides[0], cut.sides[-1]) or _is_kept_from(unit, cut.sides[-1], cut.sides[0]):
        return True
    made: set[str] = set()
    for side in cut.sides:
        bound = flow.reaching(side) if isinstance(side, cst.Name) else frozenset()
        given = [one.value for one in bound]
        if not given or any(one.role != "whole" for one in bound):
            return False
        for value in given:
            through = flow.resolve(value) if value is not None else None
            if not isinstance(through, cst.Call):
                return False
            made.add(canonical(through))
    return len(made) == 1


def _are_asked_for_alike(unit: Unit, cut: Cut) -> bool:
    """Whether both sides are calls of one function that are given the same list of what to give back,
    `run(old, row_names)` and `run(new, row_names)`."""
    made = [values(unit).resolve(side) for side in cut.sides]
    calls = [one for one in made if isinstance(one, cst.Call)]
    if len(calls) < len(made) or len({canonical(one.func) for one in calls}) > 1:
        return False
    given = [{canonical(arg.value) for arg in one.args} for one in calls]
    return any(_ASKED_FOR.search(one) for one in set.intersection(*given))


_ASKED_FOR = pattern(r"(?i)^\w*(names|outputs|fetches)(_\w+)?$")


def _are_leaves_of_one_structure(unit: Unit, cut: Cut) -> bool:
    """Whether the sides are the leaves of trees of which the unit compares the structures."""
    made = [values(unit).resolve(side) for side in cut.sides]
    trees = {
        canonical(one.args[0].value)
        for one in made
        if isinstance(one, cst.Call) and one.args and _LEAVES.search(last_name(one))
    }
    if len(trees) != len(made):
        return False
    for one in unit.find(cst.Comparison):
        if len(one.comparisons) != 1 or not isinstance(one.comparisons[0].operator, cst.Equal):
            continue
        sides = (one.left, one.comparisons[0].comparator)
        asked = [side for side in sides if isinstance(side, cst.Call) and side.args]
        held = {canonical(side.args[0].value) for side in asked if _STRUCTURE.search(last_name(side))}
        if held == trees:
            return True
    return False


_LEAVES = pattern(r"(?i)leaves$|^flatten$")
_STRUCTURE = pattern(r"(?i)structure$|^treedef$")


def _is_kept_from(unit: Unit, kept: cst.BaseExpression, now: cst.BaseExpression) -> bool:
    """Whether a name holds what another held in an earlier turn: `before = after`."""
    bound = values(unit).reaching(kept) if isinstance(kept, cst.Name) else frozenset()
    return isinstance(now, cst.Name) and any(
        isinstance(one.value, cst.Name) and one.value.value == now.value and one.role == "whole"
        for one in bound
    )


def _are_weights_beside_list(unit: Unit, cut: Cut) -> bool:
    """Whether the weights of a model are walked beside what the test writes out: both stand in its file."""
    weights = [
        isinstance(made := values(unit).resolve(side), cst.Call) and last_name(made) in _WEIGHTS
        for side in cut.sides
    ]
    others = [side for side, one in zip(cut.sides, weights, strict=True) if not one]
    return any(weights) and bool(others) and all(is_as_long_as_written(unit, side) for side in others)


def _are_wholes_compared(unit: Unit, cut: Cut) -> bool:
    """Whether a check before the walk compares what says how long each side is with each other:
    `assert_close(values[order], wanted[places])` before rows are picked in these orders."""
    lines = unit.span(cut.loop)
    lengths = [_length_from(unit, side) for side in cut.sides]
    if len(lengths) != 2 or not all(lengths) or lengths[0] & lengths[1]:
        return False
    flow = values(unit)
    for one in comparisons(unit):
        if unit.span(one.node).line >= lines.line or one.relation not in ("equal", "close"):
            continue
        left, right = ({read.value for read in flow.reads(side)} for side in (one.left, one.right))
        for mine, other in ((left, right), (right, left)):
            if mine & lengths[0] and other & lengths[1] and not mine & lengths[1] and not other & lengths[0]:
                return True
    return False


def _length_from(unit: Unit, side: cst.BaseExpression) -> set[str]:
    """The names whose values say how long a list is that picks an item for each of them."""
    made = values(unit).resolve(side)
    if not isinstance(made, _COMPREHENSIONS) or made.for_in.ifs:
        return set()
    return {node.value for node in terms(unit).same_size(made.for_in.iter) if isinstance(node, cst.Name)}


def _is_part_of_item(unit: Unit, cut: Cut) -> bool:
    """Whether a side is one of the things that a loop around the walk is given by a call: what is drawn or
    counted up there has as many parts each time."""
    for side in cut.sides:
        bound = values(unit).reaching(side) if isinstance(side, cst.Name) else frozenset()
        if bound and all(one.kind == "loop" and isinstance(one.value, cst.Call) for one in bound):
            around = {id(one.node) for one in bound}
            loops = [above for above in unit.ancestors(cut.loop) if isinstance(above, cst.For)]
            if any(id(below) in around for loop in loops for below in (loop, *walk(loop.target))):
                return True
    return False


_REASONS = (
    (_walks_inputs_along, "nothing of one side is compared with anything of the other"),
    (_are_components, "these may be the parts of what always has as many"),
    (_is_one_call_again, "the same call gave each of them"),
    (_are_asked_for_alike, "both are asked for the same by its names"),
    (_are_leaves_of_one_structure, "the structures that they are the leaves of are compared"),
    (_are_weights_beside_list, "the model and the list both stand in the test"),
    (_are_wholes_compared, "a check before it compares what says how long each is"),
    (_is_part_of_item, "each item of the loop around it may have as many parts"),
)
