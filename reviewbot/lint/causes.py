"""One finding for one cause: what several rules say of it, and what one rule says of it in many places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reviewbot.lint.rule import Rule
from reviewbot.model import CERTAINTIES, Finding, Step

_PLACES = 50  # of one finding: more make a comment too long


def told_once(findings: Sequence[Finding], rules: Iterable[Rule]) -> list[Finding]:
    """The findings of one file without those that another one tells: a test whose only check is dropped
    checks nothing, and says so as a step of what is found at that check.

    Nothing is told by a finding that is less certain: of two on one span the surer one tells the other.
    """
    if not findings:
        return []
    told_by = {rule.id: dict(rule.told_by) for rule in rules if rule.told_by}
    if told_by.keys().isdisjoint(one.rule for one in findings):
        return list(findings)
    consequences: dict[int, list[Finding]] = {}
    told: set[int] = set()
    for place, one in enumerate(findings):
        causes = told_by.get(one.rule, {})
        for at, other in enumerate(findings):
            if other.rule not in causes or not _has(one, other, causes[other.rule]):
                continue
            if _is_as_sure(other, one):
                consequences.setdefault(at, []).append(one)
                told.add(id(one))
                break
            if causes[other.rule] == "span":
                consequences.setdefault(place, []).append(other)
                told.add(id(other))
    return [
        _with(one, consequences[at]) if at in consequences else one
        for at, one in enumerate(findings)
        if id(one) not in told
    ]


def _is_as_sure(one: Finding, other: Finding) -> bool:
    return CERTAINTIES.index(one.certainty) <= CERTAINTIES.index(other.certainty)


def _has(one: Finding, cause: Finding, where: str) -> bool:
    if where == "unit":
        return bool(one.unit) and one.unit == cause.unit
    path, first, last = cause.span.path, cause.span.line, cause.span.end_line
    places = [(one.span.path, one.span.line, one.span.end_line)]
    places += (
        []
        if where == "span"
        else [(step.path, step.line, step.end_line) for step in one.steps if not step.base]
    )
    return any(place == path and begin <= last and first <= end for place, begin, end in places)


def _with(cause: Finding, consequences: Iterable[Finding]) -> Finding:
    lines = range(cause.span.line, cause.span.end_line + 1)
    steps = [
        Step(one.span.path, one.span.line, one.span.line, one.message)
        for one in consequences
        if one.span.line not in lines
    ]
    return replace(cause, steps=(*cause.steps, *steps))


def folded(findings: Sequence[Finding], rules: Iterable[Rule]) -> list[Finding]:
    """The findings of one file with those in one that a rule which `folds` says in the same words."""
    if not findings:
        return []
    folding = {rule.id for rule in rules if rule.folds}
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for one in findings:
        if one.rule in folding and one.fix is None:
            groups.setdefault((one.rule, one.certainty, one.message), []).append(one)
    parts = (group[at : at + _PLACES] for group in groups.values() for at in range(0, len(group), _PLACES))
    alike = {id(part[0]): part for part in parts if len(part) > 1}
    gone = {id(one) for group in alike.values() for one in group[1:]}
    return [_all(alike[id(one)]) if id(one) in alike else one for one in findings if id(one) not in gone]


def _all(group: Sequence[Finding]) -> Finding:
    first, *others = group
    steps = [Step(one.span.path, one.span.line, one.span.end_line, "the same here") for one in others]
    times = "once more" if len(others) == 1 else f"in {len(others)} more places"
    return replace(
        first,
        message=f"{first.message}; the same stands {times} in this file",
        steps=(*first.steps, *steps),
    )
