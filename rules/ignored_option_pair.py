"""Two settings are accepted together, and one of them is then dropped, where sibling pairs are refused.

## Why
A validator that refuses some pairs says that the rest work. A pair that it lets through, while the code
reads one setting only where the other is off, or loses on the way what the one asked for when the other is
on, runs to the end and quietly does something else than was asked.

## Instead
Refuse the pair where its sibling is refused, in the same form, until the code can honour both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewbot.flow.losses import Loss, losses
from reviewbot.flow.options import (
    Field,
    Shut,
    class_of,
    condition_for,
    is_refused_by_class,
    receiver_of,
    shut_pairs,
    sibling,
)
from reviewbot.flow.refusals import SET, Refusal, Setting, may_refuse, refusals
from reviewbot.flow.settings import Behind
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, Finding, Fix, Rule, Step, Unit, step

_SHOWN = 3
_CONFIG = """
from dataclasses import dataclass

@dataclass
class Config:
    level: str = "turn"
    linked: bool = False
    top: int = 0
    cache: str | None = None
    warm: bool = False

    def __post_init__(self):
        if self.cache and self.top > 0:  # <- here
            raise ValueError("cache cannot be used with top")
"""
_LOST = """
from dataclasses import dataclass

from jobs.config import Config

@dataclass(frozen=True)
class Ticket:
    job: str
    turn: int
    mode: str
    saved: tuple | None = None

def decide(ticket: Ticket) -> Ticket:
    if ticket.mode != "open":
        return ticket
    return Ticket(job=ticket.job, turn=ticket.turn, mode="root")

class Desk:
    def __init__(self, saved, *, linked):
        self._saved = saved
        self._linked = linked

    def ticket(self, job, turn):
        mode = "open" if self._linked else "exact"
        return Ticket(
            job=job, turn=turn, mode="open" if self._linked else "exact", saved=self._saved.get(job)
        )

def build(config: Config, saved):
    return Desk(saved if config.level == "prefix" else {}, linked=config.linked)
"""
_VALIDATE = """
from jobs.config import Config

def validate(config: Config) -> None:
    if config.level == "prefix" and config.top > 0:{}
        raise ValueError("level='prefix' does not support top > 0")
"""
_PLAIN = _CONFIG.replace("  # <- here", "")


class IgnoredOptionPair(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            _VALIDATE.format("  # <- here"),
            path="jobs/check.py",
            files={"jobs/config.py": _PLAIN, "jobs/desk.py": _LOST},
        ),
        Example(
            _CONFIG,
            path="jobs/config.py",
            files={
                "jobs/run.py": """
def run(config):
    if config.cache:
        return load(config.cache)
    return fresh(warm=config.warm)
"""
            },
        ),
    )
    good = (
        # The field is carried over.
        Example(
            _VALIDATE.format(""),
            path="jobs/check.py",
            files={
                "jobs/config.py": _PLAIN,
                "jobs/desk.py": _LOST.replace('"root")', '"root", saved=ticket.saved)'),
            },
        ),
        # Read on both ways, and mended with a warning where the code meets the pair.
        Example(
            _PLAIN,
            path="jobs/config.py",
            files={
                "jobs/run.py": """
def run(config):
    if config.cache:
        return load(config.cache, warm=config.warm)
    return fresh(warm=config.warm)
"""
            },
        ),
        Example(
            _PLAIN,
            path="jobs/config.py",
            files={
                "jobs/run.py": """
import warnings

def run(config):
    if config.cache and config.warm:
        warnings.warn("warm is not used with cache")
    if config.cache:
        return load(config.cache)
    return fresh(warm=config.warm)
"""
            },
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return may_refuse(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not may_refuse(unit):
            return
        found = [(one, class_of(unit, one, repo)) for one in refusals(unit)]
        refused = {
            frozenset({a.name, b.name}) for one, _ in found for a in one.settings for b in one.settings
        }
        said: set[frozenset[str]] = set()
        for refusal, known in found:
            if known is None:
                continue
            fields = {field.name: field for field in known.found.fields}
            pairs = [
                *(
                    (s, (o.name, o.on), self._lost(s, o, loss))
                    for s, o, loss in _lost_pairs(repo, refusal, fields)
                ),
                *(
                    (shut.shared, _other(shut), self._shut(shut))
                    for shut in shut_pairs(repo, known, refusal, refused)
                ),
            ]
            for shared, (name, on), (why, steps) in pairs:
                pair = frozenset({shared.name, name})
                if pair in refused or pair in said or is_refused_by_class(repo, unit, known, shared):
                    continue
                said.add(pair)
                yield self._report(unit, refusal, shared, fields[name], on, why, steps)

    def _report(
        self,
        unit: Unit,
        refusal: Refusal,
        shared: Setting,
        field: Field,
        on: object,
        why: str,
        steps: list[Step],
    ) -> Finding:
        others = " and ".join(f"`{one.name}`" for one in refusal.settings if one is not shared)
        receiver = receiver_of(shared)
        span = unit.span(refusal.node)
        fix = None
        if receiver:
            condition = condition_for(receiver, field.name, on, field.default)
            text = sibling(unit, refusal, shared, field.name, condition)
            edit = Edit(span.path, span.end_line + 1, span.end_line, text)
            fix = Fix(f"refuse `{shared.name}` with `{field.name}` as it is refused with {others}", (edit,))
        return self.finding(
            unit,
            refusal.node,
            f"`{shared.name}` is refused with {others} here and accepted with `{field.name}`, although {why}",
            certainty="likely",
            steps=[step(unit, refusal.node, f"the sibling pair with {others} is refused here"), *steps],
            still_catches=("nothing: no code that reads both refuses the pair or warns of it",),
            fix=fix,
        )

    def _lost(self, shared: Setting, other: Behind, loss: Loss) -> tuple[str, list[Step]]:
        lost = loss.field.name
        asked = next(one for one in loss.asked if one.name in (shared.name, other.name))
        return f"`{lost}` is lost then: `{loss.unit.name}` builds a new {loss.known.found.name} without it", [
            step(asked.unit, asked.node, f"`{asked.name}` decides what `{lost}` is to carry"),
            step(other.unit, other.node, f"`{other.name}` is handed on here"),
            step(*loss.made, f"both end up in one {loss.known.found.name}"),
            step(
                loss.unit, loss.call, f"built anew without `{lost}`, which falls back to {loss.field.default}"
            ),
        ]

    def _shut(self, shut: Shut) -> tuple[str, list[Step]]:
        off = f"`{shut.by.name}` is off" if shut.by.on == SET else f"`{shut.by.name}` is not {shut.by.on!r}"
        return f"`{shut.ignored}` is only read where {off}", [
            step(read.unit, read.node, f"`{shut.ignored}` is read here, where {off}")
            for read in shut.reads[:_SHOWN]
        ]


def _other(shut: Shut) -> tuple[str, object]:
    """The option that is to be refused with the shared one, and what it is then."""
    return (shut.ignored, SET) if shut.by.name == shut.shared.name else (shut.by.name, shut.by.on)


def _lost_pairs(
    repo: Repo, refusal: Refusal, fields: Mapping[str, Field]
) -> Iterator[tuple[Setting, Behind, Loss]]:
    for loss in losses(repo):
        for shared in refusal.settings:
            for mine, theirs in ((loss.asked, loss.opened), (loss.opened, loss.asked)):
                here = [one for one in mine if one.name == shared.name and one.on in (shared.on, SET)]
                others = [one for one in theirs if one.name in fields and one.name != shared.name]
                if here and others and not any(one.name == shared.name for one in theirs):
                    yield shared, others[0], loss
