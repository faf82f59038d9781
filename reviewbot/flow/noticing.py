"""Whether a check is sure to fail when a fault occurs that another check lets pass.

A check that only mentions the same name is not: `assert right` says nothing of a token that changed, nor do
keys that are the same on both sides. It has to compare the same values, or what holds them, in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import libcst as cst

from reviewbot.flow.across import called_elsewhere
from reviewbot.flow.assertions import MOCK_ASSERTIONS
from reviewbot.flow.calls import bind, callee
from reviewbot.flow.checks import Check, Comparison, call_of, comparisons, comparisons_in
from reviewbot.flow.control import enclosing, guards, leaves, statements
from reviewbot.flow.held import Held, held, parts
from reviewbot.flow.identity import alias, steadiness
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, canonical, last_name, literal, same
from reviewbot.flow.truth import truth
from reviewbot.flow.values import values
from reviewbot.source.units import once, once_for_each

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

Fault = Literal["value", "length", "keys", "empty", "missing", "nan"]
"""What goes unnoticed: values that differ; items beyond the shorter of two; keys that one side lacks; that
there is nothing at all; that both sides lack what is looked up; that a value is NaN, of checks that are not
known to pass it."""

Notice = Literal["vacuous", "looks", "fails"] | tuple[str, ...]
"""What a check does about a fault: it can fail over nothing at all, it looks at the value and may pass, it
is sure to fail; or it is sure to fail over some of it, given as code."""

_NAME = pattern(r"(?<![\w.'\"])[A-Za-z_]\w*(?![\w'\"])")
_HOLDS_TOGETHER = ("equal", "close", "identical")
_LENGTHS = frozenset({"len", "size", "numel"})
_MOCKED = frozenset(name.removeprefix("assert_") for name in MOCK_ASSERTIONS) | MOCK_ASSERTIONS


@dataclass(frozen=True, slots=True)
class Demand:
    """Two values that a check demands to be in some relation, on every path that reaches it; one of them is
    None where it is written out. `codes` is how the check writes them."""

    relation: str
    left: Held | None
    right: Held | None
    codes: tuple[str, str]


def notice(
    unit: Unit, check: Check, nodes: Iterable[cst.CSTNode], fault: Fault, repo: Repo | None = None
) -> Notice:
    """What a check does about a fault in what `nodes` look at. With `repo` a function of another file of the
    repository is asked what it demands, too."""
    if _is_vacuous(unit, check):
        return "vacuous"
    wanted = subjects_of(unit, tuple(nodes))
    if not wanted or not _is_on_the_way(unit, check, tuple(nodes)):
        return "looks"
    asked = _demands(unit, check, repo)
    if fault == "empty" and any(_fails_when_empty(unit, check, demand, wanted) for demand in (*asked, None)):
        return "fails"
    if fault == "missing" and any(_fails_when_missing(demand, wanted) for demand in asked):
        return "fails"
    if fault == "nan" and all(any(_takes(demand, one) for demand in asked) for one in wanted):
        return "fails"
    narrower: list[str] = []
    for demand in asked if fault in ("value", "length", "keys", "nan") else ():
        if fault == "nan":
            narrower += _partly(demand, wanted)
            continue
        if demand.relation not in _HOLDS_TOGETHER:
            continue
        sides = [side for side in (demand.left, demand.right) if side is not None]
        seen = [one for one in wanted if any(_sees(side, one, fault) for side in sides)]
        used = [side for side in sides if any(_sees(side, one, fault) for one in wanted)]
        if len(seen) == len(wanted) and len(used) >= min(2, len(wanted)):
            return "fails"
        narrower += _partly(demand, wanted)
    return tuple(dict.fromkeys(narrower)) if narrower else "looks"


def _partly(demand: Demand, wanted: list[Held]) -> list[str]:
    """The first side of a demand that looks at a part of what is wanted, as code."""
    roots = {one.root for one in wanted}
    sides = zip((demand.left, demand.right), demand.codes, strict=True)
    return [code for side, code in sides if side is not None and side.root in roots][:1]


def _takes(demand: Demand, one: Held) -> bool:
    """Whether a demand, which no NaN meets, is made of a value."""
    sides = (demand.left, demand.right)
    return demand.relation in ("equal", "close", "order") and any(
        side is not None and side.covers(one) for side in sides
    )


def roots_demanded(unit: Unit, check: Check) -> frozenset[object] | None:
    """The roots of the values that a check holds together: over a fault of value, length or keys in others it
    only looks. None where a function that it calls has to be asked."""
    own = _own_demands(unit, check)
    if not own and check.kind in ("helper", "call"):
        return None
    sides = (
        side for demand in own if demand.relation in _HOLDS_TOGETHER for side in (demand.left, demand.right)
    )
    return frozenset(side.root for side in sides if side is not None)


def subjects(unit: Unit, nodes: tuple[cst.CSTNode, ...]) -> list[Held]:
    """What nodes look at: the two sides of each comparison in them, of a distance the two values that it lies
    between, or else their operands."""
    found: list[Held] = []
    for node in nodes:
        inside = comparisons_in(unit, node)
        sides: list[cst.CSTNode] = [side for one in inside for side in (one.left, one.right)]
        sides = [part for side in sides or [node] for part in between(unit, side) or (side,)]
        found += [one for side in sides for one in parts(unit, side)]
    return list(dict.fromkeys(found))


@once_for_each
def subjects_of(unit: Unit, nodes: tuple[cst.CSTNode, ...]) -> list[Held]:
    """The same, worked out once for the same tuple."""
    return subjects(unit, nodes)


def _sees(side: Held, one: Held, fault: Fault) -> bool:
    if side.covers(one):
        return True
    if fault == "length":
        return side.about in _LENGTHS and side.is_at(one)
    return (
        fault == "keys"
        and side.about in ("keys", "set", "sorted", "set keys", "sorted keys")
        and side.is_at(one)
    )


def _fails_when_empty(unit: Unit, check: Check, demand: Demand | None, wanted: list[Held]) -> bool:
    if demand is None:
        condition = check.condition
        if condition is None or isinstance(condition, cst.Comparison):
            return False
        asked = held(unit, condition) if not check.fails_when else _denied(unit, condition)
        return asked is not None and asked.about in ("", "len") and any(asked.is_at(one) for one in wanted)
    sides = (demand.left, demand.right)
    if None not in sides:
        return False
    side = demand.left or demand.right
    # A size against a number; an item that is not there raises.
    return side is not None and any(
        side.root == one.root and (side.is_at(one) or len(side.path) > len(one.path)) for one in wanted
    )


def _denied(unit: Unit, condition: cst.BaseExpression) -> Held | None:
    negated = type(condition) is cst.UnaryOperation and type(condition.operator) is cst.Not
    return held(unit, condition.expression) if negated else None  # type: ignore[attr-defined]


def _fails_when_missing(demand: Demand, wanted: list[Held]) -> bool:
    """Whether what `.get` looks up is demanded: by a lookup that raises, by `in`, or as not None."""
    for one in wanted:
        if not one.path or not one.path[-1].startswith("get "):
            continue
        plain = replace(one, path=(*one.path[:-1], one.path[-1].removeprefix("get ")))
        for side in (demand.left, demand.right):
            if side is not None and side.root == one.root and side.path[: len(plain.path)] == plain.path:
                return True
            if side == one and demand.relation == "distinct" and "None" in demand.codes:
                return True
        holder = replace(one, path=one.path[:-1])
        if demand.relation == "member" and demand.right is not None and demand.right.covers(holder):
            return f"[{demand.codes[0]}]" == plain.path[-1]
    return False


# What a check demands.


def _demands(unit: Unit, check: Check, repo: Repo | None) -> list[Demand]:
    found = _own_demands(unit, check)
    return found if found or check.kind not in ("helper", "call") else list(_of_helper(unit, check, repo))


@once_for_each
def _own_demands(unit: Unit, check: Check) -> list[Demand]:
    return [_demand(unit, one) for one in _of_check(unit, check) if _must_hold(unit, check, one)]


@once
def _by_check(unit: Unit) -> dict[int, list[Comparison]]:
    found: dict[int, list[Comparison]] = {}
    for one in comparisons(unit):
        found.setdefault(id(one.check.node), []).append(one)
    return found


def _of_check(unit: Unit, check: Check) -> list[Comparison]:
    return [one for one in _by_check(unit).get(id(check.node), ()) if not _is_one(unit, one)]


def _is_one(unit: Unit, one: Comparison) -> bool:
    """Whether a value is compared with itself."""
    if same(one.left, one.right):
        return steadiness(one.left) is not None
    return alias(unit, one.left, one.right) is not None


def _demand(unit: Unit, one: Comparison) -> Demand:
    left, right, relation = one.left, one.right, str(one.relation)
    apart = between(unit, left) or between(unit, right) if relation == "order" else None
    if apart is not None:
        (left, right), relation = apart, "close"
    return Demand(relation, held(unit, left), held(unit, right), (canonical(left), canonical(right)))


def between(unit: Unit, node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The two values whose distance `abs(a - b)` and `(a - b).abs().max()` are."""
    node = values(unit).resolve(node) if isinstance(node, cst.BaseExpression) else node
    while type(node) is cst.Call and last_name(node) in ("abs", "max", "amax", "item", "float", "fabs"):
        inner = node.func.value if type(node.func) is cst.Attribute and not node.args else None
        node = inner or (node.args[0].value if node.args else node.func)
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.Subtract:
        return node.left, node.right
    return None


def _must_hold(unit: Unit, check: Check, one: Comparison) -> bool:
    """Whether the check fails whenever the comparison does, and does not rest on others in the same one."""
    top = check.condition or check.node
    holds = not check.fails_when
    chain: list[cst.CSTNode] = []
    for above in unit.ancestors(one.node):
        if one.node is top:
            break
        chain.append(above)
        if above is top:
            break
    below = one.node
    flips = {id(node): type(node) is cst.UnaryOperation for node in chain}
    for place, above in enumerate(chain):
        outer = sum(flips[id(node)] for node in chain[place + 1 :]) % 2 == 1
        wanted = holds is not outer
        if type(above) is cst.BooleanOperation and type(above.operator) is (cst.Or if wanted else cst.And):
            return False
        if isinstance(above, (cst.IfExp, cst.Lambda)) and below is not getattr(above, "test", None):
            return False
        if type(above) is cst.CompFor and above.ifs:
            return False
        if isinstance(above, (cst.ListComp, cst.GeneratorExp, cst.SetComp)) and above.for_in.ifs:
            return False
        if type(above) is cst.Call and last_name(above) == ("any" if wanted else "all"):
            return False
        below = above
    return True


def _of_helper(unit: Unit, check: Check, repo: Repo | None) -> Iterator[Demand]:
    """What a helper of the file, or an imported one of the repository, demands of what it is given, in
    statements that it always reaches."""
    call = call_of(check.node)
    function = callee(unit, call) if call is not None else None
    if function is None and call is not None and repo is not None:
        function = called_elsewhere(repo, unit, call)
    if call is None or function is None or function is unit:
        return
    handed = bind(call, function)
    given = {name: held(unit, value) for name, value in handed.items()}
    for one in comparisons(function):
        if _is_conditional(function, one.check, ()) or not _must_hold(function, one.check, one):
            continue
        if not _is_one(function, one):
            made = _demand(function, one)
            left, right = (_in_terms_of(code, handed) for code in made.codes)
            sides = _moved(made.left, given), _moved(made.right, given)
            yield Demand(made.relation, *sides, (left, right))


def _in_terms_of(code: str, handed: dict[str, cst.BaseExpression]) -> str:
    """A helper's code with what the caller hands in for its parameters."""
    written = {name: canonical(value) for name, value in handed.items()}
    return _NAME.sub(lambda found: written.get(found[0], found[0]), code)


def _moved(one: Held | None, given: dict[str, Held | None]) -> Held | None:
    """A part of a parameter as the part of what the caller hands in."""
    root = (
        getattr(one.root, "name", None)
        if one is not None and getattr(one.root, "kind", "") == "parameter"
        else None
    )
    outer = given.get(root) if root is not None else None
    if one is None or outer is None:
        return one
    return Held(outer.root, (*outer.path, *one.path), f"{outer.about} {one.about}".strip())


# Whether a check can fail at all, and is reached.


@once_for_each
def _is_vacuous(unit: Unit, check: Check) -> bool:
    every = _by_check(unit).get(id(check.node), [])
    if every and all(_is_one(unit, one) for one in every):
        return True
    condition = check.condition
    if condition is None:
        return False
    if isinstance(condition, cst.Attribute) and condition.attr.value in _MOCKED:
        return True
    always = truth(condition, unit) if literal(condition) is UNKNOWN else None
    return always is not None and always.value is not check.fails_when


def _is_on_the_way(unit: Unit, check: Check, nodes: tuple[cst.CSTNode, ...]) -> bool:
    """Whether a check is reached wherever one of the nodes is: no condition of its own stands around it."""
    return any(not _is_conditional(unit, check, (node,)) for node in nodes)


def _is_conditional(unit: Unit, check: Check, nodes: tuple[cst.CSTNode, ...]) -> bool:
    asked = _asked_before(unit, check)
    if asked is None:
        return True
    function, conditions = asked
    ways = [_way_to(unit, node) for node in nodes]
    if any(way.function is not function for way in ways):
        return True
    return not all(any(one in way.outcomes for way in ways) for one in conditions)


@once_for_each
def _asked_before(unit: Unit, check: Check) -> tuple[cst.CSTNode | None, frozenset[tuple[int, bool]]] | None:
    """The function around a check and what else is asked on the way to it, each condition with its outcome;
    None in a handler, where nobody knows."""
    if any(isinstance(above, cst.ExceptHandler) for above in unit.ancestors(check.node)):
        return None
    asked = set()
    for guard in guards(unit, check.node):
        if guard.condition is check.condition:
            continue
        if guard.by_leaving and type(guard.node) is cst.If and leaves(statements(guard.node.body)) == "fail":
            continue
        asked.add((id(guard.node), guard.outcome))
    return enclosing(unit, check.node, cst.FunctionDef), frozenset(asked)


class _Way(NamedTuple):
    """The function around a node, and the conditions under which it runs, each with its outcome."""

    function: cst.CSTNode | None
    outcomes: frozenset[tuple[int, bool]]


@once_for_each
def _way_to(unit: Unit, node: cst.CSTNode) -> _Way:
    outcomes = frozenset((id(guard.node), guard.outcome) for guard in guards(unit, node))
    return _Way(enclosing(unit, node, cst.FunctionDef), outcomes)
