"""Conditions by which one side of a comparison decides alone whether its rows are compared.

In `if right["status"] == "late": continue` before `assert left["total"] == right["total"]` a run in which
every row is late passes, whatever the baseline says. The same asked of the baseline is a choice of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee, callers
from reviewbot.flow.checks import checks
from reviewbot.flow.control import guards
from reviewbot.flow.judging import side
from reviewbot.flow.patterns import pattern
from reviewbot.flow.provenance import Trace
from reviewbot.flow.sides import Sides, condition_trace
from reviewbot.flow.syntax import UNKNOWN, canonical, last_name, literal, subscript, walk
from reviewbot.flow.values import Binding, BindingKind, values
from reviewbot.flow.verdicts import every_judgement
from reviewbot.model import Certainty, at_most

if TYPE_CHECKING:
    from reviewbot.flow.detours import Detour
    from reviewbot.flow.judgements import Judgement
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

# They say where a value stands in a pair, which says little of what it is.
_PLACES = frozenset({"left", "right", "first", "second", "source", "target", "test", "copy"})
# They say which row it is, or of what kind, rather than what came out for it.
_IDENTITY = frozenset({
    "id", "uid", "uuid", "key", "name", "names", "index", "idx", "kind", "type", "dtype", "device", "shape",
    "ndim", "size", "requires_grad", "op", "target",
})  # fmt: skip
_NUMBER = pattern(r"(?i)isnan|isfinite|isinf|isna\b|isnull|numel|\.size\b|\blen\(")
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


@dataclass(frozen=True, slots=True, eq=False)
class SelfExcuse:
    """What a condition was computed from, and how sure it is that the side which it reads is the one that
    is put to the test."""

    opened: Trace
    certainty: Certainty


def self_excuse(unit: Unit, detour: Detour, one: Judgement, between: Sides) -> SelfExcuse | None:
    """The excuse of a detour around a judgement that a field of a row of one side opens, if that side is not
    the baseline and nothing else looks at the field."""
    if not _goes_by_row(unit, detour, one) and not _goes_by_pair(unit, detour, one):
        return None
    opened = _opened(unit, detour.condition, between)
    reads = [not own.isdisjoint(opened.bindings) for own in (between.left, between.right)]
    if reads[0] is reads[1]:
        return None
    mine, other = (between.right, between.left) if reads[1] else (between.left, between.right)
    certainty = is_tested(mine, other)
    if certainty is None or not (_role(mine) or _role(other) or _is_same_field(unit, one, between)):
        return None
    fields = _fields_of(unit, detour, between, mine)
    if not fields:
        whole = _asks_value(unit, detour, one, between, mine)
        if whole is None or (whole == "question" and certainty == "question"):
            return None
        return SelfExcuse(opened, at_most(certainty, whole))
    if "__class__" in fields or _is_seen(unit, detour, fields, between):
        return None
    return SelfExcuse(opened, "question" if fields <= _IDENTITY else certainty)


def excused_by_callers(
    unit: Unit, detour: Detour, one: Judgement, between: Sides, repo: Repo | None
) -> SelfExcuse | None:
    """The excuse of `if key in late: continue` where a caller, of the file or of another, makes `late` of the
    fields of one side's rows, which is not the baseline. `between` are the sides as the callers give them."""
    node = detour.condition
    if type(node) is not cst.Comparison or not isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn)):
        return None
    opened = condition_trace(unit, node, between, repo=repo)
    reads = [not own.isdisjoint(opened.bindings) for own in (between.left, between.right)]
    if reads[0] is reads[1]:
        return None
    mine, other = (between.right, between.left) if reads[1] else (between.left, between.right)
    certainty = is_tested(mine, other)
    asked = [
        read.test if type(read) is cst.CompIf else read
        for where, found in opened.read
        if where is not unit
        for read in ([found] if _decides(where, found) else [b for b in walk(found) if type(b) is cst.CompIf])
    ]
    fields = {name for read in asked for _, name in _fields(read)}
    if certainty is None or fields <= _IDENTITY or _is_seen(unit, detour, fields, between):
        return None
    return SelfExcuse(opened, certainty)


def excused_by_handed_field(unit: Unit, detour: Detour, one: Judgement, between: Sides) -> SelfExcuse | None:
    """The excuse of `if late: return` in a function to which every caller of the file hands, beside a row of
    each side, a field of the row that is not the baseline's: `check(left, right, right["late"])`."""
    if unit.is_test or not unit.is_function:
        return None
    flow = values(unit)
    asked = {b for name in flow.reads(detour.condition) for b in flow.reaching(name)}
    rows = [{b.name for b in _given(unit, node, "parameter")} for node in (one.left, one.right)]
    if len(asked) != 1 or not all(rows) or not rows[0].isdisjoint(rows[1]):
        return None
    parameter = asked.pop()
    if parameter.kind != "parameter" or parameter.name in rows[0] | rows[1] or _fields_in(detour.condition):
        return None
    fields, owners = set(), set()
    sites = list(callers(unit))
    for site in sites:
        given = bind(site.call, unit)
        handed = given.get(parameter.name)
        field = None if handed is None else _field(values(site.caller).resolve(handed))
        if field is None:
            return None
        fields.add(field[1])
        owners |= {
            place
            for place, names in enumerate(rows)
            for name in names & given.keys()
            if canonical(given[name]) == canonical(field[0])
        }
    if (
        len(owners) != 1
        or fields <= _IDENTITY
        or any(_is_looked_at(site.caller, detour, fields, but=site.call) for site in sites)
    ):
        return None
    mine, other = (between.right, between.left) if owners == {1} else (between.left, between.right)
    certainty = is_tested(mine, other)
    if certainty is None or not (_role(mine) or _role(other)) or _is_seen(unit, detour, fields, between):
        return None
    return SelfExcuse(condition_trace(unit, detour.condition, between), certainty)


def _fields_in(node: cst.CSTNode) -> bool:
    return next(_fields(node), None) is not None


def _field(node: cst.BaseExpression) -> tuple[cst.BaseExpression, str] | None:
    """What a field is read from, and its name: of `row["late"]` the row and `late`."""
    if type(node) is cst.Attribute:
        return node.value, node.attr.value
    key = subscript(node)
    return (key[0], key[1]) if key is not None and isinstance(key[1], str) else None


def _decides(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether an expression is the condition of a branch."""
    above = unit.parent(node)
    return type(above) is cst.If and above.test is node


def _asks_value(
    unit: Unit, detour: Detour, one: Judgement, between: Sides, mine: frozenset[Binding]
) -> Certainty | None:
    """How sure an excuse is whose condition asks of the compared value of one side, or of what it is read
    from, whether it is there (`not right`, `right is None`, `len(right) == 0`), whether it is a number
    (`isnan(right)`), or anything else (`ready(right)`), and nothing else demands that it is."""
    flow = values(unit)
    node = detour.condition
    while type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        node = node.expression
    compared = one.right if any(b in mine for b in flow.slice(one.right)) else one.left
    parts = {canonical(p) for p in walk(compared) if isinstance(p, cst.BaseExpression)}
    looked_at = [name for name in flow.reads(node) if canonical(name) in parts and mine & flow.reaching(name)]
    if not looked_at or type(node) is cst.BooleanOperation or _is_demanded(unit, detour, looked_at):
        return None
    code = canonical(node)
    if "__class__" in code or "type(" in code:
        return None
    plain = code in parts or (
        type(node) is cst.Comparison and canonical(node.left) in parts and _is_nothing(node)
    )
    return "likely" if plain or _NUMBER.search(code) else "question"


def _is_nothing(node: cst.Comparison) -> bool:
    """`right is None`, `right == []`, `len(right) == 0`."""
    value = literal(node.comparisons[0].comparator)
    return value is None or (not isinstance(value, bool) and value in (0, "", [], (), {}))


def _is_demanded(unit: Unit, detour: Detour, looked_at: list[cst.Name]) -> bool:
    """Whether a check that the detour does not lead around, of the function or of its loop, asks something of
    a value or of what it was taken from."""
    flow = values(unit)
    missed = {id(one.node) for one in detour.missed}
    wanted = {b.name for b in flow.slice(*looked_at)}
    return any(
        name.value in wanted
        for check in checks(unit)
        if id(check.node) not in missed
        for name in flow.reads(check.node if check.condition is None else check.condition)
    )


def _either_half(unit: Unit, detour: Detour, one: Judgement) -> cst.BooleanOperation | None:
    """The condition of a detour for a row or pair of rows, if one half of it is enough to open it."""
    node = values(unit).resolve(detour.condition)
    one_is_enough = cst.Or if detour.outcome else cst.And
    if type(node) is not cst.BooleanOperation or not isinstance(node.operator, one_is_enough):
        return None
    goes = _goes_by_row(unit, detour, one) or _goes_by_pair(unit, detour, one, both=True)
    return node if goes else None


def either_opens(unit: Unit, detour: Detour, one: Judgement, between: Sides) -> bool:
    """Whether the same field of each side opens a detour alone: `left["late"] or right["late"]`."""
    if _either_half(unit, detour, one) is None:
        return False
    left, right = (_fields_of(unit, detour, between, own) for own in (between.left, between.right))
    return bool(left and right) and not _is_seen(unit, detour, left | right, between)


def _fields_of(unit: Unit, detour: Detour, between: Sides, own: frozenset[Binding]) -> set[str]:
    """The fields of one side that the condition of a detour reads."""
    return {
        name
        for where, asked in (*_asked(unit, detour.condition), *_members_of(unit, detour))
        for node, name in _fields(asked)
        if where is not unit
        or not own.isdisjoint(condition_trace(unit, node, between, control=False, up=False).bindings)
    }


def _members_of(unit: Unit, detour: Detour) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    """The part of a row whose members open a detour: `right.refused` of `if i in set(right.refused)`."""
    flow = values(unit)
    node, opens = flow.resolve(detour.condition), detour.outcome
    while type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        node, opens = flow.resolve(node.expression), not opens
    if type(node) is not cst.Comparison or len(node.comparisons) != 1:
        return
    operator = node.comparisons[0].operator
    if not isinstance(operator, cst.In if opens else cst.NotIn):
        return
    held = flow.resolve(node.comparisons[0].comparator)
    while type(held) is cst.Call and last_name(held) in _COLLECTING and len(held.args) == 1:
        held = flow.resolve(held.args[0].value)
    if isinstance(held, (cst.Attribute, cst.Subscript)):
        yield unit, held


_COLLECTING = frozenset({"set", "frozenset", "list", "tuple", "sorted"})


def _is_seen(unit: Unit, detour: Detour, fields: set[str], between: Sides) -> bool:
    """Whether a fault in one of the fields is told apart from the detour."""
    return _is_looked_at(unit, detour, fields) or _compares_whole(unit, detour, between)


def _opened(unit: Unit, condition: cst.BaseExpression, between: Sides) -> Trace:
    """What a condition was computed from; for `right["status"] in ("late", "lost")` the value asked about."""
    flow = values(unit)
    node = flow.resolve(condition)
    if type(node) is cst.Comparison and len(node.comparisons) == 1:
        target = node.comparisons[0]
        if isinstance(target.operator, (cst.In, cst.NotIn)) and not any(
            flow.reaching(name) for name in flow.reads(target.comparator)
        ):
            return condition_trace(unit, node.left, between, control=False, up=False)
    return condition_trace(unit, condition, between, control=False, up=False)


def _goes_by_row(unit: Unit, detour: Detour, one: Judgement) -> bool:
    """Whether one loop gives the rows of both sides and what the condition asks."""
    flow = values(unit)
    rows = [
        {binding.node for binding in flow.slice(node) if binding.kind == "loop"}
        for node in (detour.condition, one.left, one.right)
    ]
    for targets in _loops_around(unit, detour):
        given = {below for target in targets for below in walk(target)}
        if not any(given.isdisjoint(row) for row in rows):
            return True
    return False


def excused_by_either(unit: Unit, detour: Detour, one: Judgement, between: Sides) -> SelfExcuse | None:
    """The excuse of `if left.kind in LOOSE or right.kind in LOOSE: continue`, one half of which the side that
    is put to the test can open alone."""
    node = _either_half(unit, detour, one)
    if node is None:
        return None
    halves = [_opened(unit, half, between) for half in (node.left, node.right)]
    reads = [[not own.isdisjoint(half.bindings) for own in (between.left, between.right)] for half in halves]
    if sorted(reads) != [[False, True], [True, False]]:
        return None
    fields = _named(node.left)
    if (
        len(fields) != 1
        or _named(node.right) != fields
        or "__class__" in fields
        or _is_seen(unit, detour, fields, between)
    ):
        return None
    return SelfExcuse(condition_trace(unit, node, between, up=False), "question")


def _named(node: cst.BaseExpression) -> set[str]:
    """The field that `row.kind in LOOSE` asks about."""
    asked = node.left if type(node) is cst.Comparison else node
    return {name for _, name in _fields(asked)}


def _goes_by_pair(unit: Unit, detour: Detour, one: Judgement, *, both: bool = False) -> bool:
    """Whether a function is given one row of each side, and the condition asks one of them, or both."""
    if unit.is_test or any(isinstance(above, (cst.For, cst.While)) for above in unit.ancestors(detour.node)):
        return False
    given = [_given(unit, node, "parameter") for node in (detour.condition, one.left, one.right)]
    return (
        all(given)
        and given[1].isdisjoint(given[2])
        and (given[0] == given[1] | given[2] if both else given[0] < given[1] | given[2])
    )


def _given(unit: Unit, node: cst.CSTNode, kind: BindingKind) -> set[Binding]:
    """The bindings of one kind that a value was computed from, without `self`."""
    return {b for b in values(unit).slice(node) if b.kind == kind and b.name != "self"}


def _loops_around(unit: Unit, detour: Detour) -> Iterator[list[cst.CSTNode]]:
    """The targets of each loop that a detour stands in, those of one comprehension together."""
    if isinstance(detour.node, _COMPREHENSIONS):
        clause: cst.CompFor | None = detour.node.for_in
        targets: list[cst.CSTNode] = []
        while clause is not None:
            targets.append(clause.target)
            clause = clause.inner_for_in
        yield targets
    if not isinstance(detour.node, cst.For):
        for above in unit.ancestors(detour.node):
            if isinstance(above, cst.For):
                yield [above.target]


def asks_state(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition asks a field of what it reads that says more than which or of what kind it is, or
    compares two values."""
    flow = values(unit)
    parts = [condition, *(flow.resolve(name) for name in flow.reads(condition))]
    fields = {name for part in parts for _, name in _fields(part)}
    if fields:
        return not fields <= _IDENTITY
    return any(
        type(below) is cst.Comparison and literal(below.comparisons[0].comparator) is UNKNOWN
        for below in walk(condition)
    )


def is_tested(mine: frozenset[Binding], other: frozenset[Binding]) -> Certainty | None:
    """How sure it is that one of two sides is not the baseline of the other."""
    own, opposite = _role(mine), _role(other)
    if own == "baseline" or (opposite == "other" and own != "other"):
        return None
    named = own == "other" and opposite == "baseline" and _is_named(mine) and _is_named(other)
    return "likely" if named else "question"


def _is_same_field(unit: Unit, one: Judgement, between: Sides) -> bool:
    """Whether the same is read from two rows that a loop, or the caller, gives: `one.total == two.total`."""
    mine, yours = (_given(unit, node, "loop") for node in (one.left, one.right))
    if not mine and not yours:
        mine, yours = (_given(unit, node, "parameter") for node in (one.left, one.right))
    if not mine.isdisjoint(yours) and not (mine < yours or yours < mine):
        return False  # the one may be looked up by the other's key
    names = "|".join(re.escape(binding.name) for binding in between.left | between.right)
    left, right = (
        re.sub(rf"(?<![\w.'\"])(?:{names})(?![\w'\"])", "□", canonical(values(unit).resolve(node)))
        for node in (one.left, one.right)
    )
    return left == right and left.startswith("□") and left != "□"


def _role(side_of: frozenset[Binding]) -> str:
    """`baseline` or `other`, where the names of a side agree on it."""
    # `other` of `for other in rows` is the other of two rows, and of whichever run.
    names = {b.name.rpartition(".")[2] for b in side_of if not (b.kind == "loop" and b.name == "other")}
    telling = {name for name in names if name not in _PLACES} if _is_named(side_of) else names
    found = {side(name) for name in telling} - {""}
    return found.pop() if len(found) == 1 else ""


def _is_named(side_of: frozenset[Binding]) -> bool:
    """Whether a name says of a side which run it is, and not only where it stands in a pair."""
    names = {binding.name.rpartition(".")[2] for binding in side_of}
    return any(side(name) for name in names if name not in _PLACES)


def _asked(unit: Unit, condition: cst.BaseExpression) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    """What a condition looks at, names and sets taken apart, each with its unit: for `key in late` the
    conditions under which a row gets into `late`, also where a function of the file fills it."""
    flow = values(unit)
    node = flow.resolve(condition)
    if type(node) is cst.BooleanOperation:
        yield from _asked(unit, node.left)
        yield from _asked(unit, node.right)
    elif type(node) is cst.UnaryOperation:
        yield from _asked(unit, node.expression)
    elif type(node) is cst.Comparison and len(node.comparisons) == 1:
        operator, comparator = node.comparisons[0].operator, node.comparisons[0].comparator
        if isinstance(operator, (cst.In, cst.NotIn)):
            yield from _gets_in(unit, comparator)
        if not isinstance(operator, (cst.Is, cst.IsNot)):
            yield unit, flow.resolve(node.left)
    else:
        yield unit, node


def _gets_in(
    unit: Unit, collection: cst.BaseExpression, depth: int = 2
) -> Iterator[tuple[Unit, cst.BaseExpression]]:
    flow = values(unit)
    for part in walk(flow.resolve(collection)):
        if type(part) is cst.CompIf:
            yield unit, part.test
        function = callee(unit, part) if depth and type(part) is cst.Call else None
        for node in function.find(cst.Return) if function is not None and function is not unit else ():
            assert function is not None and isinstance(node, cst.Return)
            if node.value is not None:
                yield from _gets_in(function, node.value, depth - 1)
    if type(collection) is cst.Name:
        for mutation in flow.mutations(collection.value):
            yield from ((unit, guard.condition) for guard in guards(unit, mutation.node))


def _fields(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Every field that is read under a node, with its name: `row["status"]`, `row.get("status")`,
    `row.status`."""
    called = {id(below.func) for below in walk(node) if type(below) is cst.Call}
    for below in walk(node):
        if type(below) is cst.Attribute and id(below) not in called:
            yield below, below.attr.value
        elif type(below) is cst.Subscript and len(below.slice) == 1:
            index = below.slice[0].slice
            name = literal(index.value) if type(index) is cst.Index else None
            if isinstance(name, str):
                yield below, name
        elif type(below) is cst.Call and last_name(below) == "get" and below.args:
            name = literal(below.args[0].value)
            if isinstance(name, str):
                yield below, name


def _is_looked_at(unit: Unit, detour: Detour, fields: set[str], but: cst.CSTNode | None = None) -> bool:
    """Whether a check that the detour does not lead around, and which is not `but`, looks at one of the
    fields."""
    missed = {id(one.node) for one in detour.missed}
    for check in checks(unit):
        if id(check.node) not in missed and not (but is not None and unit.holds(check.node, but)):
            looks_at = check.node if check.condition is None else check.condition
            parts = [looks_at, *(values(unit).resolve(name) for name in values(unit).reads(looks_at))]
            if any(name in fields for part in parts for _, name in _fields(part)):
                return True
    return any(
        name in fields
        for one in every_judgement(unit)
        if one not in detour.missed
        for part in (one.left, one.right)
        for _, name in _fields(part)
    )


def _compares_whole(unit: Unit, detour: Detour, between: Sides) -> bool:
    """Whether the rows, or all of them, are compared as a whole apart from the detour."""
    left, right = ({binding.name for binding in own} for own in (between.left, between.right))
    for one in every_judgement(unit):
        if one not in detour.missed:
            a, b = canonical(one.left), canonical(one.right)
            if (a in left and b in right) or (a in right and b in left):
                return True
    return False
