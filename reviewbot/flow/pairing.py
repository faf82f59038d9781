"""What says that the author of a walk in step means them to differ in length, or has seen that they do not.

These are reasons to ask about a length that is not compared, and not to claim that it should be.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.aligned import Sides, written_length
from reviewbot.flow.calls import bind, callee, callers, module_value
from reviewbot.flow.checks import call_of, checks, checks_in, comparisons, comparisons_in
from reviewbot.flow.guards import pairs, reached_with
from reviewbot.flow.judging import side
from reviewbot.flow.own_input import draws, is_own_input
from reviewbot.flow.syntax import canonical, dotted, last_name, root_name, walk
from reviewbot.flow.terms import counted_by, terms
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.flow.cuts import Cut
    from reviewbot.source.units import Unit

_ENDLESS = frozenset({"count", "cycle", "repeat", "itertools.count", "itertools.cycle", "itertools.repeat"})


def is_meant(unit: Unit, cut: Cut) -> bool:
    """Whether anything says that nobody needs to compare the lengths of what a cut walks."""
    return (
        not looks_at_two(unit, cut)
        or _is_known_by_hand(unit, cut)
        or _may_be_endless(unit, cut.sides)
        or any(map(_is_shape, cut.sides))
        or _measured(unit, cut.sides)
        or _alike(unit, cut)
        or _leaves_out_ends(cut.sides)
        or _are_named(unit, cut.sides)
        or (draws(unit) and all(_is_drawn(unit, one) for one in cut.sides))
        or all(_is_filled_by_hand(unit, one) for one in cut.sides)
        or all(_is_own(unit, one) for one in cut.sides)
        or _compares_wholes(unit, cut)
        or _wholes_are_compared(unit, cut)
        or _is_a_setting(unit, cut)
    )


def is_as_long_as_written(unit: Unit, one: cst.BaseExpression, depth: int = 2) -> bool:
    """Whether the test itself says how many items a side has: what it writes out, and what is made of that
    item by item; or each test that hands it to the function that walks it. What is tested makes neither
    longer or shorter."""
    own, flow = terms(unit), values(unit)
    if not unit.is_test:
        return depth > 0 and _is_written_by_callers(unit, one, depth - 1)
    for same in own.same_size(one):
        if is_own_input(unit, same):
            return True
        if not isinstance(same, cst.Name):
            continue
        # Lines of a text to which the test adds one.
        bindings, changes = flow.bindings(same.value), flow.mutations(same.value)
        value = bindings[0].value if len(bindings) == 1 else None
        if value is None or not changes or not is_own_input(unit, value):
            continue
        added = [change.node for change in changes]
        if all(last_name(node) == "append" and _runs_once(unit, node) for node in added):
            return True
    return is_written_size(own.sizes(one))


def is_written_size(sizes: list[str]) -> bool:
    """Whether one of the terms for a size is a number."""
    return any(size.startswith("#") and size[1:].isdigit() for size in sizes)


def _is_written_by_callers(unit: Unit, one: cst.BaseExpression, depth: int) -> bool:
    if not isinstance(one, cst.Name) or not unit.is_function:
        return False
    reaching = values(unit).reaching(one)
    if not reaching or any(b.kind != "parameter" for b in reaching) or values(unit).mutations(one.value):
        return False
    given = [(site.caller, bind(site.call, unit).get(one.value)) for site in callers(unit)]
    return bool(given) and all(n is not None and is_as_long_as_written(at, n, depth) for at, n in given)


def _runs_once(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a statement stands in the unit's own lines, under no condition, loop or function of its own."""
    for above in unit.ancestors(node):
        if above is unit.node:
            return True
        if isinstance(above, (cst.BaseCompoundStatement, cst.Lambda)) and not isinstance(above, cst.With):
            return False
    return False


def is_endless(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and dotted(node.func) in _ENDLESS


def _may_be_endless(unit: Unit, sides: Sides) -> bool:
    """Whether a side is `itertools.repeat(x)` on one way: then it is meant to be as long as the other."""
    flow = values(unit)
    for one in sides:
        made = [binding.value for name in flow.reads(one) for binding in flow.reaching(name)]
        parts = [part for value in made if value is not None for part in walk(value)]
        if isinstance(one, cst.Name) and any(isinstance(p, cst.Call) and is_endless(p) for p in parts):
            return True
    return False


def _is_shape(node: cst.BaseExpression) -> bool:
    """Whether a side says how large an array is in each of its dimensions."""
    return re.search(r"(^|_)(shape|shapes|strides|chunksize|ndim)$", last_name(node)) is not None


def _is_known_by_hand(unit: Unit, cut: Cut) -> bool:
    """Whether the lengths are compared under some condition, or whoever wrote the call saw them: one side is
    cut to a number, or is written out beside a parameter."""
    flow = values(unit)
    made = [flow.resolve(side) for side in cut.sides]
    if any(isinstance(one, cst.Subscript) and written_length(one) is not None for one in made):
        return True
    sides = {canonical(side) for side in cut.sides}
    if frozenset(sides) in _counted_together(unit):
        return True
    own = terms(unit)
    written = any(
        isinstance(side, (cst.List, cst.Tuple)) or is_written_size(own.sizes(side)) for side in cut.sides
    )
    return written and any(
        isinstance(side, cst.Name) and any(b.kind == "parameter" for b in flow.reaching(side))
        for side in cut.sides
    )


@once
def _counted_together(unit: Unit) -> frozenset[frozenset[str]]:
    """What the lengths are of that a guard demands to be equal."""
    both = ((counted_by(pair.left), counted_by(pair.right)) for pair in pairs(unit) if not pair.ordered)
    return frozenset(frozenset(canonical(one) for one in sides if one is not None) for sides in both)


def _measured(unit: Unit, sides: Sides) -> bool:
    """Whether one function made the sides of two things that a check demands to be as large as each other, or
    each side was made of one of two things whose lengths are compared around it."""
    flow = values(unit)
    if _counted_apart(unit, sides):
        return True
    made = [flow.resolve(one) for one in sides]
    calls = [one for one in made if isinstance(one, cst.Call) and one.args]
    if len(calls) != len(sides) or len({canonical(call.func) for call in calls}) > 1:
        return False
    given = {canonical(call.args[0].value) for call in calls}
    for pair in pairs(unit):
        counted = [counted_by(one) for one in (pair.left, pair.right)]
        if pair.ordered or None in counted:
            continue
        of = {root_name(_last_argument(flow.resolve(one))) for one in counted if one is not None}
        if of == given and len(of) == len(sides):
            return True
    return False


def _counted_apart(unit: Unit, sides: Sides) -> bool:
    """`if len(gold) == len(answer):` before `golds = sorted(gold.args)`, `answers = sorted(answer.args)`."""
    flow = values(unit)
    made = []
    for one in sides:
        found = flow.slice(one, mutations=False)
        names = {
            read.value for binding in found if binding.value is not None for read in flow.reads(binding.value)
        }
        made.append(names | {read.value for read in flow.reads(one)})
    for pair in pairs(unit) if len(sides) == 2 else ():
        counted = [counted_by(one) for one in (pair.left, pair.right)]
        if pair.ordered or None in counted or not isinstance(pair.node, cst.Comparison):
            continue
        left, right = (root_name(one) for one in counted if one is not None)
        for mine, other in (made, made[::-1]):
            if left in mine and right in other and left not in other and right not in mine:
                return True
    return False


def _last_argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a conversion such as `list(graph.edges())` is given."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.args:
        node = node.args[0].value
    return node


def hands_in_pairs(unit: Unit, cut: Cut) -> bool:
    """Whether the items of the sides are handed in together, as `score(given, wanted)` and
    `slow(given, wanted)` take them: each side of each comparison in the loop is made of both, so that none
    compares one with the other."""
    parts = _parts(cut)
    flow = values(unit)
    handed = False
    for one in comparisons_in(unit, cut.loop) if parts else ():
        counts = []
        for value in (one.left, one.right):
            names = {read.value for read in flow.reads(value)} | {b.name for b in flow.slice(value)}
            counts.append(sum(not part.isdisjoint(names) for part in parts))
        if not any(counts):
            continue
        if one.relation not in ("equal", "close") or min(counts) < 2:
            return False
        handed = handed or one.check.node is cut.check
    return handed


def _parts(cut: Cut) -> list[set[str]]:
    """The names that a loop gives the items of each side; nothing where it does not take them apart."""
    loop = cut.loop
    target: cst.BaseExpression | None = loop.target if isinstance(loop, cst.For) else None
    if isinstance(target, cst.Tuple) and isinstance(target.elements[-1].value, cst.Tuple):
        target = target.elements[-1].value  # the second of `for n, (a, b) in enumerate(zip(...))`
    if not isinstance(target, cst.Tuple) or len(target.elements) != len(cut.sides):
        return []
    return [{b.value for b in walk(e.value) if isinstance(b, cst.Name)} for e in target.elements]


def looks_at_two(unit: Unit, cut: Cut) -> bool:
    """Whether a check behind the cut looks at what comes from two of the sides, and so compares them."""
    loop, parts = cut.loop, _parts(cut)
    if not parts:
        return True
    flow = values(unit)
    for place in [*(check.node for check in checks_in(unit, loop)), cut.check]:
        above = list(unit.ancestors(place))
        if loop not in above:
            continue
        around = above[: above.index(loop)]
        nodes = [place, *(one.test for one in around if isinstance(one, cst.If))]
        nodes += [one.iter for one in around if isinstance(one, cst.For)]
        names = {read.value for node in nodes for read in flow.reads(node)}
        names |= {binding.name for binding in flow.slice(*nodes)}
        if sum(not part.isdisjoint(names) for part in parts) > 1:
            return True
    return False


def _alike(unit: Unit, cut: Cut) -> bool:
    """Whether all sides are made of one value of the unit and none is named as the baseline of another:
    reductions of one tensor, gradients with respect to the same inputs."""
    named = {side(_root(one)) for one in cut.sides}
    if "baseline" in named or len(named) > 1:
        return False
    flow = values(unit)
    sources = [
        {binding for binding in flow.slice(one, mutations=False) if binding.kind == "assign"}
        for one in cut.sides
    ]
    # The values that are paired themselves are no common source of theirs.
    roots = [root_name(one) for one in cut.sides]
    own = [flow.reaching(n) for one in cut.sides for n in flow.reads(one) if n.value in roots]
    return bool(set.intersection(*sources).difference(*own))


def _compares_wholes(unit: Unit, cut: Cut) -> bool:
    """Whether a check in the loop compares the sides themselves, and the loop is there for its message."""
    wholes = {canonical(side) for side in cut.sides}
    return any(
        {canonical(one.left), canonical(one.right)} == wholes for one in comparisons_in(unit, cut.loop)
    )


def _is_a_setting(unit: Unit, cut: Cut) -> bool:
    """Whether the check is a helper of the file that takes an item of each side for different parameters and
    compares nothing itself: a case and how it is to be run."""
    call = call_of(cut.check)
    helper = callee(unit, call) if call is not None else None
    parts = _parts(cut)
    if call is None or helper is None or not parts or comparisons(helper):
        return False
    given = [
        {n.value for n in walk(value) if isinstance(n, cst.Name)} for value in bind(call, helper).values()
    ]
    alone = [names for names in given if sum(not part.isdisjoint(names) for part in parts) == 1]
    inner = [site for site in checks(helper) if site.kind == "helper"]
    handed = [
        sum(p in {n.value for n in walk(site.node) if isinstance(n, cst.Name)} for p in bind(call, helper))
        for site in inner
    ]
    return len(alone) >= len(parts) and all(count < len(parts) for count in handed)


def _root(node: cst.BaseExpression) -> str:
    return dotted(node) or root_name(node)


# What tells of an input, and runs nothing that is tested.
_TELLS = frozenset({"fields", "items", "keys", "values", "list", "tuple", "sorted", "reversed", "enumerate"})


def _is_drawn(unit: Unit, one: cst.BaseExpression) -> bool:
    """Whether a side of a test whose inputs are drawn is a part of them."""
    made = [one, *(b.value for b in values(unit).slice(one, mutations=False) if b.value is not None)]
    return all(
        last_name(below) in _TELLS for value in made for below in walk(value) if isinstance(below, cst.Call)
    )


def _are_named(unit: Unit, sides: Sides) -> bool:
    """Whether the items of two sides are walked beside their names, which are written out, here or by each
    caller in the file: `zip(("dq", "dk"), grads, slow_grads)`. Who wrote those has counted them."""
    return len(sides) > 2 and any(_are_names(unit, one) for one in sides)


def _are_names(unit: Unit, node: cst.BaseExpression, depth: int = 4) -> bool:
    """Whether an expression is a list of texts that is written out, in parts or as a whole."""
    if not depth:
        return False
    made = values(unit).resolve(node)
    if isinstance(made, cst.Attribute) and made.attr.value == "_fields":
        return True  # a named tuple's own
    if isinstance(made, (cst.List, cst.Tuple)):
        return bool(made.elements) and all(isinstance(e.value, cst.SimpleString) for e in made.elements)
    if isinstance(made, cst.BinaryOperation) and isinstance(made.operator, cst.Add):
        parts = [part.body if isinstance(part, cst.IfExp) else part for part in (made.left, made.right)]
        return all(_are_names(unit, part, depth - 1) for part in parts)
    if not isinstance(made, cst.Name):
        return False
    reaching = values(unit).reaching(made)
    if not reaching:
        value = module_value(unit.file, made.value)
        texts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
        return bool(texts) and all(isinstance(t, ast.Constant) and isinstance(t.value, str) for t in texts)
    if unit.is_test or not unit.is_function or any(one.kind != "parameter" for one in reaching):
        return False
    given = [(site.caller, bind(site.call, unit).get(made.value)) for site in callers(unit)]
    return bool(given) and all(n is not None and _are_names(at, n, depth - 1) for at, n in given)


def _leaves_out_ends(sides: Sides) -> bool:
    """Whether the items of a third side are walked beside pairs of neighbours, of which there is one less."""
    wholes = [canonical(one) for one in sides if not isinstance(one, cst.Subscript)]
    return len(sides) > 2 and any(
        isinstance(one, cst.Subscript)
        and isinstance(one.slice[0].slice, cst.Slice)
        and canonical(one.value) in wholes
        for one in sides
    )


def _is_filled_by_hand(unit: Unit, one: cst.BaseExpression, depth: int = 2) -> bool:
    """Whether the test itself puts a side together, item by item, or an item of a list that it fills so."""
    flow = values(unit)
    if not isinstance(one, cst.Name):
        return False
    changes = [change.node for change in flow.mutations(one.value)]
    appended = [change for change in changes if isinstance(change, cst.Call)]
    if any(last_name(call) != "append" for call in appended):
        return False
    bindings = flow.bindings(one.value)
    if len(bindings) == 1 and bindings[0].kind == "loop" and bindings[0].value is not None and depth:
        return _gives_by_hand(unit, bindings[0].value, depth - 1)
    other = [made.value for made in bindings if not _is_list(made.value)]
    if any(not isinstance(value, cst.Name) or not depth for value in other) or not bindings:
        return False
    named = all(_is_filled_by_hand(unit, value, depth - 1) for value in other if isinstance(value, cst.Name))
    return named and bool(appended or other)


def _is_list(node: cst.BaseExpression | None) -> bool:
    called = isinstance(node, cst.Call) and dotted(node.func) == "list" and not node.args
    return called or isinstance(node, cst.List)


_TABLES = frozenset({"expand", "parameters", "named_parameters", "product"})


def _is_own(unit: Unit, one: cst.BaseExpression) -> bool:
    """Whether a side is as long as the test itself says: what it writes out, a column of its table of cases,
    or what a function or class answers that it defines."""
    if not unit.is_test:
        return False
    flow = values(unit)
    made = [flow.resolve(same) for same in terms(unit).same_size(one)][-1]
    if isinstance(made, cst.Name):
        bound = flow.reaching(made)
        if bound and all(b.kind == "parameter" for b in bound) and made.value not in ("self", "cls"):
            return _has_table(unit)
    if isinstance(made, cst.Call) and is_made_by_test(unit, made):
        return True
    return is_as_long_as_written(unit, one)


def is_made_by_test(unit: Unit, call: cst.Call) -> bool:
    """Whether a call is of what the test defines, or counts out or draws what nothing else has made."""
    return _is_defined_within(unit, call) or _is_counted_out(call)


_COUNTED = frozenset({
    "range", "product", "combinations", "permutations", "arange", "linspace", "integers", "randint", "rand",
    "randn", "random", "normal", "uniform", "permutation", "randperm",
})  # fmt: skip


def _is_counted_out(call: cst.Call) -> bool:
    """Whether a call gives numbers or combinations, drawn or in order, of what nothing else has made:
    `range(2 * n)`, `rng.integers(9, size=4)`, `itertools.product([False, True], repeat=3)`."""
    if last_name(call) not in _COUNTED:
        return False
    return all(not isinstance(below, cst.Call) for arg in call.args for below in walk(arg.value))


def _has_table(unit: Unit) -> bool:
    """Whether a decorator gives a test its cases, and does not name what it gives as `parametrize` does: then
    each parameter is a column of them."""
    if not isinstance(unit.node, cst.FunctionDef):
        return False
    calls = [one.decorator for one in unit.node.decorators if isinstance(one.decorator, cst.Call)]
    return any(last_name(call) in _TABLES for call in calls)


def _is_defined_within(unit: Unit, call: cst.Call) -> bool:
    """Whether a call is of a function that is defined in the test, or of an instance of a class that is."""
    flow = values(unit)
    function = flow.resolve(call.func)
    if isinstance(function, cst.Call):
        function = function.func
    if not isinstance(function, cst.Name):
        return False
    bound = flow.reaching(function)
    return bool(bound) and all(one.kind == "definition" for one in bound)


def _beside(unit: Unit, sides: Sides) -> list[int]:
    """The values, by identity, that the sides are parts of, if each is of one of its own."""
    bound = [values(unit).reaching(side) if isinstance(side, cst.Name) else frozenset() for side in sides]
    made = sorted(id(b.value) for each in bound for b in each if b.role == "part" and len(each) == 1)
    return made if len(set(made)) == len(sides) else []


def _wholes_are_compared(unit: Unit, cut: Cut) -> bool:
    """Whether what holds the sides is compared as a whole, `assert left == right` before a walk of the rows
    of each of their columns, or what tells of them: `assert spec == other` of `leaves, spec = flatten(x)`."""
    if len(cut.sides) != 2 or not isinstance(cut.loop, cst.For):
        return False
    flow = values(unit)
    made = [{b.name for b in flow.slice(side, mutations=False)} for side in cut.sides]
    for one in comparisons(unit):
        sides = (one.left, one.right)
        if one.relation != "equal" or not all(isinstance(side, cst.Name) for side in sides):
            continue
        left, right = (side.value for side in sides if isinstance(side, cst.Name))
        if left == right or unit.holds(cut.loop, one.check.node):
            continue
        if not reached_with(unit, one.check.node, cut.loop):
            continue
        if _beside(unit, cut.sides) == _beside(unit, sides) != []:
            return True
        straight = left in made[0] - made[1] and right in made[1] - made[0]
        if straight or (left in made[1] - made[0] and right in made[0] - made[1]):
            return True
    return False


def _gives_by_hand(unit: Unit, over: cst.BaseExpression, depth: int) -> bool:
    """Whether each item of a list that a test fills is a list that it writes out, to which it may add."""
    flow = values(unit)
    if not _is_filled_by_hand(unit, over, depth) or not isinstance(over, cst.Name):
        return False
    added = [change.node for change in flow.mutations(over.value) if isinstance(change.node, cst.Call)]
    return all(
        len(call.args) == 1 and isinstance(flow.resolve(call.args[0].value), cst.List) for call in added
    )
