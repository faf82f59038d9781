"""What the callers of a function show of the rest of two parameters that it compares in part.

`same_rows(left, right, baseline, restored)` may look at the lengths of the last two and compare the first two
as a whole, which its caller has made of the last two; or a caller compares the rest itself. Read at its
callers, such a function compares no less than the same checks would that stand there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.across import calls_of
from reviewbot.flow.calls import bind, callers, given
from reviewbot.flow.checks import Check, call_of, checks
from reviewbot.flow.projections import in_part
from reviewbot.flow.syntax import last_name
from reviewbot.flow.values import Binding, values

if TYPE_CHECKING:
    from reviewbot.flow.projections import Projected
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

Rest = Literal["compared", "unknown", "open"]
"""`compared` by all callers, `unknown` where some do or none is known, `open` where nothing shows it."""

_DEPTH = 3
Values = Sequence[cst.BaseExpression]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Two sides of which a part is compared, and beside them what each check that sees more looks at."""

    left: Values
    right: Values
    whole: tuple[Values, ...]


def rest_at_callers(unit: Unit, one: Projected, repo: Repo) -> Rest:
    """Whether the callers of the function that compares a part of two of its parameters compare the rest."""
    owner = _owner(unit, one)
    if owner is None or (owner is unit.node and unit.is_test):
        return "open"
    inside = (check for check in _seeing_more(unit) if owner is unit.node or unit.holds(owner, check.node))
    whole = tuple([_looked_at(check)] for check in inside)
    return _rest(unit, owner, _Asked([one.left.of], [one.right.of], whole), repo, _DEPTH)


def _owner(unit: Unit, one: Projected) -> cst.FunctionDef | None:
    """The function that is given both sides: the unit itself, or one that stands in it."""
    owners = [
        {id(found): found for b in _parameters(unit, [side]) if (found := _function_of(unit, b)) is not None}
        for side in (one.left.of, one.right.of)
    ]
    both = [found for key, found in owners[0].items() if key in owners[1]]
    return both[0] if len(both) == 1 else None


def _function_of(unit: Unit, parameter: Binding) -> cst.FunctionDef | None:
    above = unit.ancestors(parameter.node)
    return next((node for node in above if isinstance(node, cst.FunctionDef)), None)


def _parameters(unit: Unit, nodes: Values) -> list[Binding]:
    return [one for one in values(unit).slice(*nodes) if one.kind == "parameter"]


def _seeing_more(unit: Unit) -> Iterator[Check]:
    """The checks of a unit that do not see the same part of two values."""
    partly = {id(one.check.node) for one, _, _ in in_part(unit)}
    return (check for check in checks(unit) if id(check.node) not in partly)


def _looked_at(check: Check) -> cst.BaseExpression:
    return check.node if check.condition is None else check.condition  # type: ignore[return-value]


def _rest(unit: Unit, owner: cst.FunctionDef, asked: _Asked, repo: Repo, depth: int) -> Rest:
    names = [
        {b.name for b in _parameters(unit, side) if _function_of(unit, b) is owner}
        for side in (asked.left, asked.right)
    ]
    if not all(names) or not depth:
        return "open"
    sites = list(_sites(unit, owner, repo))
    looked = [
        {b.name for b in _parameters(unit, nodes) if _function_of(unit, b) is owner} for nodes in asked.whole
    ]
    if not sites:
        return "unknown" if any(len(found - names[0] - names[1]) > 1 for found in looked) else "open"
    answers = {_at(site, names, looked, repo, depth) for site in sites}
    return answers.pop() if len(answers) == 1 else "unknown"


@dataclass(frozen=True, slots=True)
class _Site:
    """One call: where it stands, and what it gives to each parameter."""

    unit: Unit
    call: cst.Call
    owner: cst.FunctionDef
    given: dict[str, cst.BaseExpression]


def _sites(unit: Unit, owner: cst.FunctionDef, repo: Repo) -> Iterator[_Site]:
    if owner is not unit.node:
        for call in unit.find(cst.Call):
            if isinstance(call.func, cst.Name) and call.func.value == owner.name.value:
                yield _Site(unit, call, owner, given(call, owner, itself=False))
        return
    here = [(site.caller, site.call) for site in callers(unit)]
    for caller, call in here or calls_of(repo, unit):
        if caller is not unit:
            yield _Site(caller, call, owner, bind(call, unit))


def _at(site: _Site, names: list[set[str]], looked: list[set[str]], repo: Repo, depth: int) -> Rest:
    """What one call shows of the rest of what it gives."""
    if not (names[0] | names[1]) <= site.given.keys():
        return "unknown"
    left, right = ([site.given[name] for name in sorted(side)] for side in names)
    whole = [[site.given[name] for name in sorted(found & site.given.keys())] for found in looked]
    flow = values(site.unit)
    one, other = set(flow.slice(*left)), set(flow.slice(*right))
    if one and other and one != other and (one <= other or other <= one):
        # One is made of the other. Where it is compared with a third as well, it is not the other's twin.
        pair = names[0] | names[1]
        third = any(found & pair and found - pair for found in looked)
        return "compared" if third else "open"
    sides = one - other, other - one
    beside = [
        [_looked_at(check)]
        for check in _seeing_more(site.unit)
        if not _calls(check, site) and not site.unit.holds(site.owner, check.node)
    ]
    for nodes in (*whole, *beside):
        read = set(flow.slice(*nodes))
        if not read.isdisjoint(sides[0]) and not read.isdisjoint(sides[1]):
            return "compared"
    function = site.unit.node
    if site.unit.is_test or not isinstance(function, cst.FunctionDef):
        return "open"
    return _rest(site.unit, function, _Asked(left, right, (*whole, *beside)), repo, depth - 1)


def _calls(check: Check, site: _Site) -> bool:
    """Whether a check is a call of the very function that compares a part."""
    call = call_of(check.node)
    return call is not None and last_name(call) == site.owner.name.value
