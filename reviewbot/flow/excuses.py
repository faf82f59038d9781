"""Branches by which the compared values themselves lead around their comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import callers
from reviewbot.flow.checks import Check, call_of, checks
from reviewbot.flow.control import Guard, enclosing, guards, statements
from reviewbot.flow.detours import Detour, asks_less, detours
from reviewbot.flow.equal_elsewhere import equal_elsewhere
from reviewbot.flow.intervals import Interval, intervals
from reviewbot.flow.judgements import Judgement, judged_names, judgements, records
from reviewbot.flow.keyed import asks_for_key
from reviewbot.flow.leniency import is_meant
from reviewbot.flow.lookups import asks_for_row, asks_own_key
from reviewbot.flow.marks import marked
from reviewbot.flow.own_input import is_own_input
from reviewbot.flow.patterns import pattern
from reviewbot.flow.provenance import Trace
from reviewbot.flow.raised_warnings import raises_warning
from reviewbot.flow.read_back import is_read_back
from reviewbot.flow.self_excuses import (
    either_opens,
    excused_by_callers,
    excused_by_either,
    excused_by_handed_field,
    self_excuse,
)
from reviewbot.flow.sides import Says, Sides, alike, condition_trace, says, sides
from reviewbot.flow.syntax import UNKNOWN, canonical, conjuncts, dotted, last_name, literal, root_name, walk
from reviewbot.flow.two_runs import says_two_runs
from reviewbot.flow.values import Binding, values
from reviewbot.flow.verdicts import collected, every_judgement, tells_apart, yields_difference
from reviewbot.model import Certainty, at_most
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

# Where a process or a machine stands, and not what is compared.
_PLACE = pattern(
    r"(?i)rank|main_process|primary|master|device|cuda|gpu|platform|version|available|environ|verbose|debug"
)
_MEASURES = frozenset({"len", "type", "sum", "max", "min", "any", "all", "hash", "id", "bool", "set", "mean"})
_PRESENCE = frozenset(
    {"isinstance", "hasattr", "callable", "isscalar", "issubclass", "is_tensor", "iscomplexobj"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Excuse:
    """A detour that the compared values open. `opened` is what its condition was computed from, `ranges` are
    those with unlike ends among it. `by_setting`: no compared value opens it, a setting does, for all.
    `by_one_side`: only values of the side that is put to the test open it. `capped`: a check that bounds how
    often it may open, and demands no more."""

    detour: Detour
    opened: Trace
    certainty: Certainty
    ranges: tuple[Interval, ...] = ()
    by_setting: bool = False
    by_one_side: bool = False
    capped: Check | None = None


@once
def excuses(unit: Unit) -> list[Excuse]:
    """The excuses of a unit, one for each branch."""
    return list(_excuses(unit, None))


def excuses_across(unit: Unit, repo: Repo) -> Iterator[Excuse]:
    """The excuses of a unit, with the sets that open them followed to where another file computes them."""
    return _excuses(unit, repo)


def _excuses(unit: Unit, repo: Repo | None) -> Iterator[Excuse]:
    reported: set[int] = set()
    for detour in detours(unit):
        if id(detour.node) in reported:
            continue
        noted = _noted(unit, detour) & (judged_names(unit) | collected(unit))
        noted -= {name for name in noted if _is_told(unit, name)}
        caps = [_cap(unit, name) for name in sorted(noted)]
        if not all(caps) or _is_told_at_once(unit, detour) or is_read_back(unit, detour.body):
            continue
        if detour.way is None and _checks_in(unit, detour) and not asks_less(unit, detour):
            continue
        found = _excuse(unit, detour, repo) or _setting(unit, detour)
        if found is not None:
            reported.add(id(detour.node))
            if caps:
                found = replace(found, capped=caps[0], certainty=at_most(found.certainty, "question"))
            if not any(one in judgements(unit) for one in detour.missed):
                # What is made of a verdict, its callers decide.
                most: Certainty = "likely" if found.certainty == "proved" else "question"
                found = replace(found, certainty=at_most(found.certainty, most))
            if is_meant(unit, detour) or _asks_for_sentinel(detour):
                found = replace(found, certainty="question")
            yield found


def _noted(unit: Unit, detour: Detour) -> frozenset[str]:
    """What a branch notes of the row that it leads around the check, not what it notes only if a field that
    it still compares differs."""
    own = {id(one.node) for one in every_judgement(unit)}
    found: set[str] = set()
    waiting = list(detour.body)
    while waiting:
        one = waiting.pop()
        if type(one) is cst.If and id(one) in own:
            continue
        if isinstance(one, (cst.For, cst.While, cst.With)):
            waiting.extend(statements(one.body))
        else:
            found |= records(unit, one) - tells_apart(unit, one)
    return frozenset(found)


def _is_told_at_once(unit: Unit, detour: Detour) -> bool:
    """Whether a branch always tells of the row that it leads around the check: it gives a warning that raises
    or yields the difference, in a generator of differences."""
    for one in detour.body:
        call = call_of(one)
        if call is not None and raises_warning(unit, call):
            return True
        value = one.value if isinstance(one, cst.Expr) else None
        if isinstance(value, cst.Yield) and yields_difference(unit, value):
            return True
    return False


def _is_told(unit: Unit, name: str) -> bool:
    """Whether a function that fails by itself hands back a number it has counted, and all callers only show
    it."""
    if name in judged_names(unit) or not judgements(unit):
        return False
    returned = [node.value for node in unit.find(cst.Return)]
    if not returned or not all(type(value) is cst.Name and value.value == name for value in returned):
        return False
    sites = callers(unit)
    return bool(sites) and all(_is_shown(site.caller, site.call) for site in sites)


def _is_shown(unit: Unit, call: cst.Call) -> bool:
    """Whether what a call returns is only printed, logged or thrown away."""
    for above in unit.ancestors(call):
        if type(above) is cst.Expr:
            return True
        if type(above) is cst.Call and last_name(above) not in _SHOW:
            return False
        if not isinstance(above, (cst.Arg, cst.Call, cst.FormattedString, cst.FormattedStringExpression)):
            return False
    return False


_SHOW = frozenset({"print", "str", "repr", "info", "debug", "log", "echo"})


def cause(unit: Unit, excuse: Excuse) -> frozenset[int]:
    """What opens an excuse, by identity: the comparisons in other functions that decide, or the collections
    and flags of the unit that its condition asks. Two excuses that share it have one cause; empty for one
    that looks at the values on the spot."""
    outside = frozenset(id(node) for where, node in excuse.opened.comparisons() if where is not unit)
    if outside:
        return outside
    flow = values(unit)
    asked: set[int] = set()
    for part in _operands(excuse.detour.condition):
        if type(part) is cst.Comparison and isinstance(part.comparisons[0].operator, (cst.In, cst.NotIn)):
            names = flow.reads(part.comparisons[0].comparator)
        elif type(part) is cst.Name:
            names = flow.reads(part)
        else:
            return frozenset()
        asked |= {id(binding) for name in names for binding in flow.reaching(name)}
    return frozenset(asked)


def _cap(unit: Unit, name: str) -> Check | None:
    """The check that bounds a record from above, if no check of the unit demands that there is none."""
    found: Check | None = None
    for check in checks(unit):
        looks_at = check.node if check.condition is None else check.condition
        if name not in {below.value for below in walk(looks_at) if type(below) is cst.Name}:
            continue
        if check.condition is None or not _bounds(check.condition, name):
            return None
        found = check
    return found


def _bounds(condition: cst.BaseExpression, name: str) -> bool:
    """`aside <= 3`, `len(aside) < len(rows)`, `aside == len(rows)`: a comparison with another number."""
    if type(condition) is not cst.Comparison or len(condition.comparisons) != 1:
        return False
    target = condition.comparisons[0]
    sides = (condition.left, target.comparator)
    other = [side for side in sides if name not in {b.value for b in walk(side) if type(b) is cst.Name}]
    if len(other) != 1 or literal(other[0]) in (0, None, False, True) or type(other[0]) is cst.List:
        return False
    return not isinstance(target.operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot))


def _asks_for_sentinel(detour: Detour) -> bool:
    """Whether every part of the condition asks for one written value in what is compared itself:
    `-1 in rows or -1 in others`, as of padding."""
    sides = {canonical(side) for one in detour.missed for side in (one.left, one.right)}
    parts = list(_operands(detour.condition))
    return all(
        type(part) is cst.Comparison
        and isinstance(part.comparisons[0].operator, (cst.In, cst.NotIn))
        and literal(part.left) is not UNKNOWN
        and canonical(part.comparisons[0].comparator) in sides
        for part in parts
    )


def _checks_in(unit: Unit, detour: Detour) -> bool:
    inside = {id(below) for statement in detour.body for below in walk(statement)}
    return any(id(check.node) in inside for check in checks(unit))


def _excuse(unit: Unit, detour: Detour, repo: Repo | None) -> Excuse | None:
    if asks_for_key(unit, detour.condition, detour.missed) or asks_own_key(unit, detour.condition):
        return None
    if _demanded_elsewhere(unit, detour) or _was_seen(unit, detour.condition):
        return None
    if _asks_expected(detour.condition):
        return None
    if _waits_for_enough(unit, detour) or _lacks_both(unit, detour) or _has_enough(unit, detour):
        return None
    if _can_divide(unit, detour):
        return None
    for one in detour.missed:
        if detour.way is None and _compared_anyway(unit, detour, one):
            continue
        if (
            _is_update(one)
            or one.node is detour.node
            or _is_second_try(unit, detour, one)
            or _asks_the_same(detour, one)
        ):
            continue
        one = _unmoved(one)
        found = _of_values(unit, detour, one) or _of_collection(unit, detour, one)
        if found is None and repo is not None:
            found = _of_collection(unit, detour, one, repo) or _of_mark(unit, detour, one, repo)
        if found is None:
            found = _of_one_side(unit, detour, one, repo)
        if found is not None:
            return found
    return None


def _asks_expected(node: cst.BaseExpression) -> bool:
    """`if "<back>" in expected`: what is expected says by a text of its own what is compared."""
    if type(node) is not cst.Comparison or not isinstance(literal(node.left), str):
        return False
    target = node.comparisons[0]
    if not isinstance(target.operator, (cst.In, cst.NotIn)) or type(target.comparator) is not cst.Name:
        return False
    return target.comparator.value in ("expected", "wanted", "want", "golden", "gold", "reference")


def _of_one_side(unit: Unit, detour: Detour, one: Judgement, repo: Repo | None) -> Excuse | None:
    """The condition looks at what the run that is put to the test says of itself."""
    if is_place(detour.condition) or any(map(_asks_type, _operands(detour.condition))):
        return None
    between = sides(unit, [one], up=False)
    found = None
    if between is not None:
        found = (
            self_excuse(unit, detour, one, between)
            or excused_by_handed_field(unit, detour, one, between)
            or excused_by_either(unit, detour, one, between)
        )
    if found is None and _is_asked(detour.condition):
        between = sides(unit, [one], repo=repo)
        found = None if between is None else excused_by_callers(unit, detour, one, between, repo)
    return None if found is None else Excuse(detour, found.opened, found.certainty, by_one_side=True)


def _lacks_both(unit: Unit, detour: Detour) -> bool:
    """`if any(getattr(one, "notes", None) for one in (left, right)): assert left.notes == right.notes`: what
    neither has needs no comparison."""
    call = detour.condition
    if _demands_none(unit, detour):
        return True
    if detour.outcome:
        return _lacks_each(detour)
    if _has_either(detour):
        return True
    if type(call) is not cst.Call or dotted(call.func) != "any" or len(call.args) != 1:
        return False
    made = call.args[0].value
    if not isinstance(made, (cst.GeneratorExp, cst.ListComp)) or made.for_in.ifs:
        return False
    both = made.for_in.iter
    listed = {canonical(e.value) for e in both.elements} if isinstance(both, (cst.Tuple, cst.List)) else set()
    roots = {
        name.value
        for one in detour.missed
        for side in (one.left, one.right)
        for part in (side, *(b.value for b in values(unit).slice(side) if b.value is not None))
        for name in values(unit).reads(part)
    }
    return len(listed) > 1 and listed <= roots


def _has_either(detour: Detour) -> bool:
    """`if left.rows or right.rows: assert left == right`: only where both are empty is nothing compared."""
    node = detour.condition
    if type(node) is not cst.BooleanOperation or type(node.operator) is not cst.Or:
        return False
    asked = [node.left, node.right]
    plain = all(isinstance(one, (cst.Name, cst.Attribute, cst.Subscript)) for one in asked)
    roots = {root_name(one) for one in asked}
    return plain and all({root_name(one.left), root_name(one.right)} == roots for one in detour.missed)


def _demands_none(unit: Unit, detour: Detour) -> bool:
    """`if left is None or right is None: assert left is None; assert right is None; return`: the branch
    demands that neither is there."""
    inside = {id(below) for statement in detour.body for below in walk(statement)}
    demanded: set[str] = set()
    for check in checks(unit):
        if id(check.node) not in inside:
            continue
        call = call_of(check.node)
        if call is not None and last_name(call) == "assertIsNone" and call.args:
            demanded.add(canonical(call.args[0].value))
        elif type(check.node) is cst.Assert:
            demanded |= {
                canonical(part.left)
                for part in conjuncts(check.node.test)
                if type(part) is cst.Comparison
                and type(part.comparisons[0].operator) is cst.Is
                and literal(part.comparisons[0].comparator) is None
            }
    return all({root_name(one.left), root_name(one.right)} <= demanded for one in detour.missed)


def _lacks_each(detour: Detour) -> bool:
    """`left.key not in left.rows and right.key not in right.rows`: it is asked of each side alike, and
    neither has it."""
    node = detour.condition
    if type(node) is not cst.BooleanOperation or type(node.operator) is not cst.And:
        return False
    absent = [
        type(part) is cst.Comparison
        and len(part.comparisons) == 1
        and type(part.comparisons[0].operator) is cst.NotIn
        for part in (node.left, node.right)
    ]
    if not all(absent):
        return False
    pairs = {(root_name(one.left), root_name(one.right)) for one in detour.missed}
    return any(
        re.sub(rf"\b{left}\b", right, canonical(node.left)) == canonical(node.right)
        or re.sub(rf"\b{right}\b", left, canonical(node.left)) == canonical(node.right)
        for left, right in pairs
        if left and right and left != right
    )


def _waits_for_enough(unit: Unit, detour: Detour) -> bool:
    """Whether a callback adds to a collection and looks at it once there is enough:
    `seen.extend(rows); if len(seen) >= 4: assert …`."""
    part = detour.condition
    if type(part) is not cst.Comparison or detour.outcome:
        return False
    function = enclosing(unit, detour.node, cst.FunctionDef)
    counted = part.left
    if function is unit.node or type(counted) is not cst.Call or dotted(counted.func) != "len":
        return False
    return any(
        enclosing(unit, mutation.node, cst.FunctionDef) is function
        for name in values(unit).reads(counted)
        for mutation in values(unit).mutations(name.value)
    )


def _has_enough(unit: Unit, detour: Detour) -> bool:
    """`if len(failures) >= most: break`: what was found so far fails already."""
    part = detour.condition
    if type(part) is not cst.Comparison or len(part.comparisons) != 1 or not detour.outcome:
        return False
    counted = part.left
    if type(counted) is cst.Call and dotted(counted.func) == "len" and len(counted.args) == 1:
        counted = counted.args[0].value
    more = isinstance(part.comparisons[0].operator, (cst.GreaterThan, cst.GreaterThanEqual))
    return more and type(counted) is cst.Name and counted.value in judged_names(unit) | collected(unit)


def _can_divide(unit: Unit, detour: Detour) -> bool:
    """`if whole > 0: assert part / whole < 0.3`: by nothing nothing can be divided."""
    if detour.outcome:
        return False
    asked = {
        canonical(part.left)
        for part in _operands(detour.condition)
        if type(part) is cst.Comparison
        and isinstance(part.comparisons[0].operator, (cst.GreaterThan, cst.NotEqual))
        and literal(part.comparisons[0].comparator) == 0
    }
    divisors = {
        canonical(below.right)
        for check in checks(unit)
        if check.condition is not None
        for below in walk(check.condition)
        if type(below) is cst.BinaryOperation and type(below.operator) is cst.Divide
    }
    return not asked.isdisjoint(divisors)


def _is_second_try(unit: Unit, detour: Detour, one: Judgement) -> bool:
    """`if not same and kind == "sum": same = a == d`: a verdict that the condition asks is set once more. Or
    the judgement stands under the same condition again: `if gap > tol: gap = …; if gap > tol: raise`."""
    asked = canonical(detour.condition)
    if any(
        guard.node is not detour.node
        and guard.outcome is not detour.outcome
        and canonical(guard.condition) == asked
        for guard in guards(unit, one.node)
    ):
        return True
    if type(one.node) is not cst.Assign:
        return False
    target = one.node.targets[0].target
    return type(target) is cst.Name and any(
        read.value == target.value for read in values(unit).reads(detour.condition)
    )


_MOVES = frozenset({"to", "type_as", "astype"})


def _unmoved(one: Judgement) -> Judgement:
    """A judgement of `left` against `right.to(left.device)` as one of `right`: where the other lies says
    nothing of what it is."""
    left, right = _as_it_was(one.left), _as_it_was(one.right)
    return one if left is one.left and right is one.right else replace(one, left=left, right=right)


def _as_it_was(node: cst.BaseExpression) -> cst.BaseExpression:
    while type(node) is cst.Call and type(node.func) is cst.Attribute and node.func.attr.value in _MOVES:
        node = node.func.value
    return node


def _is_update(one: Judgement) -> bool:
    """Whether what is taken off a value is stored as that value: `left = maximum(left - spent, 0)`."""
    if type(one.node) is not cst.Assign:
        return False
    return any(canonical(target.target) == canonical(one.left) for target in one.node.targets)


def _asks_the_same(detour: Detour, one: Judgement) -> bool:
    """`if a != b: assert a == b, message`, or `if any(abs(x - y) > 1 for x, y in zip(a, b)): assert a == b`:
    the branch decides, and what is judged behind it only says so."""
    judged = {canonical(one.left), canonical(one.right)}
    node = detour.condition
    if type(node) is cst.Comparison and len(node.comparisons) == 1:
        target = node.comparisons[0]
        exact = isinstance(target.operator, (cst.Equal, cst.NotEqual))
        return exact and {canonical(node.left), canonical(target.comparator)} == judged
    if type(node) is cst.BinaryOperation and isinstance(node.operator, (cst.Subtract, cst.BitXor)):
        # What `{row: wanted - found for ... if wanted - found}` leaves out lacks nothing.
        return not detour.outcome and {canonical(node.left), canonical(node.right)} == judged
    made = node.args[0].value if type(node) is cst.Call and dotted(node.func) == "any" and node.args else None
    if not isinstance(made, (cst.GeneratorExp, cst.ListComp)) or detour.outcome:
        return False
    over = made.for_in.iter
    sides = {canonical(arg.value) for arg in over.args} if isinstance(over, cst.Call) else set()
    return sides == judged


def _of_values(unit: Unit, detour: Detour, one: Judgement) -> Excuse | None:
    """The condition looks at both sides in the function itself."""
    between = sides(unit, [one], up=False)
    if between is None:
        return None
    opened = condition_trace(unit, detour.condition, between, up=False)
    data = condition_trace(unit, detour.condition, between, control=False, up=False)
    by_flag = all(_is_asked(part) or _is_flag(unit, part) for part in _operands(detour.condition))
    if not between.both(data.bindings) and not (by_flag and between.both(opened.bindings)):
        return None
    if between.picks and not by_flag:
        asked = [part for part in _operands(detour.condition) if not asks_for_row(unit, part)]
        found = [condition_trace(unit, part, between, up=False).bindings for part in asked]
        if not between.both(binding for bindings in found for binding in bindings):
            return None
    meaning = says(unit, detour.condition, detour.outcome, between) or _of_set(unit, detour, opened, between)
    if meaning == "equal" and detour.outcome and equal_elsewhere(unit, detour.condition, one):
        runs = says_two_runs(unit, one.left, one.right)
        return Excuse(detour, opened, "likely" if runs else "question")
    if meaning == "equal" or _follows(unit, detour.condition, one):
        return None
    ranges = tuple(intervals(opened))
    if meaning == "different" or ranges:
        return Excuse(detour, opened, "proved", ranges)
    certainty = _of_presence(unit, detour, one, between)
    if certainty is not None and not (
        _is_close(one) or says_two_runs(unit, one.left, one.right) or _leaves_nothing(unit, detour)
    ):
        certainty = "question"
    return None if certainty is None else Excuse(detour, opened, certainty)


def _leaves_nothing(unit: Unit, detour: Detour) -> bool:
    """Whether every check of a test waits for figures that were looked up to be there, so that it passes
    without any where the name of each has changed."""
    every = checks(unit)
    return (
        unit.is_test
        and bool(every)
        and not detour.outcome
        and all(any(_waits_for_figure(unit, guard) for guard in guards(unit, check.node)) for check in every)
    )


def _waits_for_figure(unit: Unit, guard: Guard) -> bool:
    """`if before is not None and after is not None:`, of two that calls gave."""
    asked = list(_operands(guard.condition))
    return (
        guard.outcome
        and len(asked) > 1
        and all(
            type(part) is cst.Comparison
            and isinstance(part.comparisons[0].operator, cst.IsNot)
            and is_presence(part)
            and any(type(below) is cst.Call for below in walk(values(unit).resolve(part.left)))
            for part in asked
        )
    )


_CLOSE = pattern(r"(?i)(all_?close|is_?close|assert_?close|assert_\w*equal|array_equal)$")


def _is_close(one: Judgement) -> bool:
    """Whether a call that compares arrays judges two values: `assert_close(a, b)`."""
    return any(type(below) is cst.Call and _CLOSE.search(last_name(below)) for below in walk(one.node))


def _of_collection(unit: Unit, detour: Detour, one: Judgement, repo: Repo | None = None) -> Excuse | None:
    """The condition asks a collection or a flag that the callers computed from both sides."""
    taken_away = type(detour.node) is cst.For
    if not taken_away and not any(_is_asked(part) for part in _operands(detour.condition)):
        return None
    between = sides(unit, [one], repo=repo)
    if between is None:
        return None
    opened = condition_trace(unit, detour.condition, between, repo=repo)
    own = {id(below) for below in walk(detour.condition)}
    looked_at = [found for _, found in opened.comparisons() if id(found) not in own]
    if not looked_at or not between.both(opened.bindings):
        return None
    meaning = _of_set(unit, detour, opened, between)
    if meaning == "equal":
        return None
    ranges = tuple(intervals(opened))
    return Excuse(detour, opened, "proved" if meaning == "different" or ranges else "likely", ranges)


def _of_mark(unit: Unit, detour: Detour, one: Judgement, repo: Repo) -> Excuse | None:
    """The condition asks for a mark on a row, which is set where the two runs are compared."""
    between = sides(unit, [one], up=False)
    if between is None:
        return None
    for operand in _operands(detour.condition):
        if _is_asked(operand) and between.either(condition_trace(unit, operand, between, up=False).bindings):
            found = list(marked(unit, operand, repo))
            if found:
                return Excuse(detour, Trace(read=list(found)), "likely")
    return None


def _operands(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if type(node) is cst.BooleanOperation:
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        yield from _operands(node.expression)
    else:
        yield node


def _is_asked(node: cst.BaseExpression) -> bool:
    """Whether an operand asks what was computed before: `i in seen`, `kinds[i] == "x"`, `flags[i]`."""
    if type(node) is cst.Comparison:
        operator = node.comparisons[0].operator
        return isinstance(operator, (cst.In, cst.NotIn)) or _is_asked(node.left)
    if type(node) is cst.Call:
        return last_name(node) == "get"
    return type(node) is cst.Subscript


def _is_flag(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an operand is a name that only ever holds True or False, set under conditions."""
    if type(node) is not cst.Name:
        return False
    held = [binding.value for binding in values(unit).reaching(node)]
    return bool(held) and all(value is not None and isinstance(literal(value), bool) for value in held)


def _of_presence(unit: Unit, detour: Detour, one: Judgement, between: Sides) -> Certainty | None:
    """How sure an excuse is that neither equality nor difference opens: `a is None or b is None`."""
    node = values(unit).resolve(detour.condition)
    while type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        node = node.expression
    if type(node) is cst.BooleanOperation:
        operands = list(_operands(node))
        present = all(is_presence(operand) for operand in operands)
        if alike(unit, node, between) and not present:
            return "question" if either_opens(unit, detour, one, between) else None
        if present:
            plain = all(type(operand) is cst.Comparison for operand in operands)
            return "likely" if plain and unit.is_test else "question"
    return "likely"


def is_place(node: cst.BaseExpression) -> bool:
    """Whether a condition asks where a process or a machine stands: its rank, its devices, a version."""
    return _PLACE.search(canonical(node)) is not None


def is_presence(node: cst.BaseExpression) -> bool:
    """Whether a condition asks whether a value is there, or of what type it is."""
    if type(node) is cst.Comparison:
        operator, comparator = node.comparisons[0].operator, node.comparisons[0].comparator
        return isinstance(operator, (cst.Is, cst.IsNot)) and literal(comparator) is None
    return type(node) is cst.Call and last_name(node) in _PRESENCE


def _asks_type(node: cst.BaseExpression) -> bool:
    return type(node) is cst.Call and last_name(node) in _PRESENCE


def _follows(unit: Unit, condition: cst.BaseExpression, one: Judgement) -> bool:
    """Whether what is judged follows from the equality of what the condition compares: `a == b` before
    `hash(a) == hash(b)`."""
    node = values(unit).resolve(condition)
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return False
    operands = (node.left, node.comparisons[0].comparator)
    if not all(type(operand) is cst.Name for operand in operands):
        return False
    names = {canonical(operand) for operand in operands}
    return names.isdisjoint({canonical(one.left), canonical(one.right)})


def _compared_anyway(unit: Unit, detour: Detour, one: Judgement) -> bool:
    """Whether the same values, or what these are read from, are judged outside of the branch as well."""
    inside = {id(below) for below in walk(detour.node)}
    parts = [
        {canonical(p) for p in walk(n) if isinstance(p, cst.BaseExpression)} for n in (one.left, one.right)
    ]
    for other in every_judgement(unit):
        if other in detour.missed or id(other.node) in inside or type(other.node) is cst.Assign:
            continue
        for mine, theirs in ((other.left, other.right), _of_calls(other.left, other.right)):
            left, right = canonical(mine), canonical(theirs)
            if (left in parts[0] and right in parts[1]) or (left in parts[1] and right in parts[0]):
                return True
    return False


def _of_calls(left: cst.BaseExpression, right: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """What two values are under the same conversions of one argument: `row` and `other` of `to_host(row)` and
    `to_host(other)`. What only measures its argument is no conversion."""
    while isinstance(left, cst.Call) and isinstance(right, cst.Call):
        if len(left.args) != 1 or len(right.args) != 1 or canonical(left.func) != canonical(right.func):
            break
        if last_name(left) in _MEASURES or left.args[0].star or left.args[0].keyword is not None:
            break
        left, right = left.args[0].value, right.args[0].value
    return left, right


def _demanded_elsewhere(unit: Unit, detour: Detour) -> bool:
    """Whether what the condition compares is judged apart from the branch, so that the branch hides nothing
    that is not told."""
    condition = values(unit).resolve(detour.condition)
    if type(condition) is not cst.Comparison or len(condition.comparisons) != 1:
        return False
    left, right = condition.left, condition.comparisons[0].comparator
    asked = frozenset((_spelled(unit, left), _spelled(unit, right)))
    inside = {id(below) for below in walk(detour.node)}
    for own, other in ((left, right), (right, left)):
        if _is_own(unit, own) and _is_pinned(unit, other, inside):
            return True
    return any(
        one not in detour.missed and id(one.node) not in inside
        for one in _judged_by_code(unit).get(asked, ())
    )


def _is_own(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value is what the test writes out, or belongs to an array that it fills by a size it writes
    out: `torch.ones((2, 8)).shape`."""
    if is_own_input(unit, node):
        return True
    while type(node) is cst.Attribute:
        node = node.value
    made = values(unit).resolve(node)
    if not unit.is_test or type(made) is not cst.Call or last_name(made) not in _FILLING or not made.args:
        return False
    return is_own_input(unit, made.args[0].value)


_FILLING = frozenset({"ones", "zeros", "full", "arange", "empty", "eye", "tensor", "array", "asarray"})


def _is_pinned(unit: Unit, node: cst.BaseExpression, inside: set[int]) -> bool:
    """Whether a check outside of a branch demands that a value is what the test itself writes out."""
    spelled = _spelled(unit, node)
    for check in checks(unit):
        condition = check.condition
        if check.kind != "assert" or id(check.node) in inside or type(condition) is not cst.Comparison:
            continue
        target = condition.comparisons[0]
        own = type(target.operator) is cst.Equal and is_own_input(unit, target.comparator)
        if own and _spelled(unit, condition.left) == spelled:
            return True
    return False


@once
def _judged_by_code(unit: Unit) -> dict[frozenset[str], list[Judgement]]:
    """The judgements of a unit that are no assignment, by the two values as code."""
    found: dict[frozenset[str], list[Judgement]] = {}
    for one in every_judgement(unit):
        if type(one.node) is not cst.Assign:
            key = frozenset((_spelled(unit, one.left), _spelled(unit, one.right)))
            found.setdefault(key, []).append(one)
    return found


def _was_seen(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition only asks for what was looked at before: the set is filled on the same turns,
    further down, or with this very thing."""
    if type(condition) is cst.BooleanOperation:
        return all(_was_seen(unit, part) for part in _operands(condition))
    if type(condition) is not cst.Comparison or len(condition.comparisons) != 1:
        return False
    target = condition.comparisons[0]
    if not isinstance(target.operator, (cst.In, cst.NotIn)) or type(target.comparator) is not cst.Name:
        return False
    filled = values(unit).mutations(target.comparator.value)
    loop = enclosing(unit, condition, cst.For, cst.While)
    rank = unit.index.rank
    later = loop is not None and all(
        rank(m.node) > rank(condition) and loop in unit.ancestors(m.node) for m in filled
    )
    put = {canonical(given) for m in filled for given in m.given}
    return bool(filled) and (later or put == {canonical(condition.left)})


def _spelled(unit: Unit, node: cst.BaseExpression, depth: int = 4) -> str:
    """The code of an expression with the names of values that it reads replaced by what they stand for."""
    flow = values(unit)
    node = flow.resolve(node)
    code = canonical(node)
    for name in {name.value: name for name in flow.reads(node)}.values() if depth else ():
        if flow.resolve(name) is not name:
            stands_for = _spelled(unit, name, depth - 1).replace("\\", r"\\")
            code = re.sub(rf"(?<![\w.'\"]){name.value}(?![\w'\"])", stands_for, code)
    return code


def _of_set(unit: Unit, detour: Detour, opened: Trace, between: Sides) -> Says | None:
    """What membership in a set says, from the condition under which a key is put into it."""
    node, inside = detour.condition, True
    if type(detour.node) is not cst.For:
        if type(node) is not cst.Comparison or len(node.comparisons) != 1:
            return None
        operator = node.comparisons[0].operator
        if not isinstance(operator, (cst.In, cst.NotIn)):
            return None
        inside = isinstance(operator, cst.In) is detour.outcome
        node = node.comparisons[0].comparator
    for where, read in opened.read:
        for below in walk(read):
            if type(below) is cst.CompIf:
                found = says(where, below.test, inside, between)
                if found is not None:
                    return found
    flow = values(unit)
    for name in flow.reads(node):
        for mutation in flow.mutations(name.value):
            for guard in guards(unit, mutation.node):
                found = says(unit, guard.condition, guard.outcome is inside, between)
                if found is not None:
                    return found
    return None


def _setting(unit: Unit, detour: Detour) -> Excuse | None:
    """A setting under which a loop over both sides compares nothing at all."""
    loop = enclosing(unit, detour.node, cst.For)
    condition = detour.condition
    while type(condition) is cst.UnaryOperation:
        condition = condition.expression
    if type(loop) is not cst.For or not isinstance(condition, (cst.Name, cst.Attribute)):
        return None
    if is_place(condition):
        return None
    inside = {id(below) for below in walk(loop)}
    flow = values(unit)
    reaching: set[Binding] = {b for name in flow.reads(condition) for b in flow.reaching(name)}
    if any(id(binding.node) in inside for binding in reaching):
        return None
    others = [
        one for one in every_judgement(unit) if one not in detour.missed and type(one.node) is not cst.Assign
    ]
    if any(id(one.node) in inside for one in others):
        return None
    if all(canonical(one.left) == canonical(one.right) for one in detour.missed):
        return None
    return Excuse(detour, Trace(), "question", by_setting=True)
