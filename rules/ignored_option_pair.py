"""Two settings are accepted together, and one of them is then dropped, where sibling pairs are refused.

## Why
A validator that refuses some pairs says that the rest work. A pair that it lets through, while the code
reads one setting only where the other is off, or loses on the way what the one asked for when the other is
on, runs to the end and quietly does something else than was asked.

## Instead
Refuse the pair where its sibling is refused, in the same form, until the code can honour both.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.flow.cancelled import Cancelled, cancelled_pairs
from reviewbot.flow.classes import Known
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.losses import Loss, losses
from reviewbot.flow.options import (
    Option,
    Shut,
    class_of,
    condition_for,
    is_refused_by_class,
    lost_pairs,
    receiver_of,
    shut_pairs,
    sibling,
)
from reviewbot.flow.refusals import SET, Refusal, Setting, may_refuse, refusals
from reviewbot.flow.settings import Behind
from reviewbot.flow.syntax import dotted
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, File, Finding, Fix, Rule, Step, Unit, step
from reviewbot.model import Certainty

_MOST = 3  # options that one other may shut
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
_TWO = """
from dataclasses import dataclass, field

@dataclass
class Recovery:
    level: str = "turn"

@dataclass
class Capture:
    linked: bool = False

@dataclass
class Settings:
    recovery: Recovery = field(default_factory=Recovery)
    capture: Capture = field(default_factory=Capture)
"""
_CALLED = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Ticket:
    job: str
    turn: int
    replay: str | None = None
    saved: tuple | None = None

def decide(ticket: Ticket) -> Ticket:
    return Ticket(job=ticket.job, turn=ticket.turn, replay=ticket.replay)

def serve(ticket: Ticket):
    if ticket.replay is not None:
        ticket = decide(ticket)
    return ticket

def make(recovery, capture_config, saved, job, turn):
    prefixes = saved if recovery.level == "prefix" else {}
    return Ticket(
        job=job, turn=turn, replay=job if capture_config.linked else None, saved=prefixes.get(job)
    )
"""
_TIDES = """
from dataclasses import dataclass

@dataclass
class Options:
    tides: bool = False
    night: bool = False
    lock: str | None = None
    engine: str = "diesel"
    crew: int = -1

    def check(self) -> None:
        if self.tides and self.night:{}
            raise ValueError("tides does not support night")
        if self.engine == "steam" and self.night:{}
            raise ValueError("engine='steam' does not support night")
"""
_PLAN = """
from ferry.options import Options

def plan(options: Options, stops):
    if not options.tides:
        return []
    if options.lock is not None:
        return []
    return stops[: options.crew]
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
            """
            def validate(settings, policy):
                recovery, capture_config = settings.recovery, settings.capture
                top = policy["generation"].get("top", 0)
                if recovery.level == "prefix" and top > 0:  # <- here
                    raise ValueError("level='prefix' does not support top > 0 yet")
            """,
            path="jobs/check.py",
            files={"jobs/config.py": _TWO, "jobs/desk.py": _CALLED},
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
        # The one is answered as if it were off, where the other is on.
        Example(
            _TIDES.format("  # <- here", ""),
            path="ferry/options.py",
            files={"ferry/plan.py": _PLAN},
        ),
        # -1 is off.
        Example(
            _TIDES.format("", "  # <- here"),
            path="ferry/options.py",
            files={
                "ferry/plan.py": """
from ferry.options import Options

def pick(options: Options):
    if options.engine == "steam":
        return slow
    return fast if options.crew > 0 else slow
"""
            },
        ),
    )
    good = (
        # What is refused is a version that does not fit, and not that there is one.
        Example(
            """
            from dataclasses import dataclass

            @dataclass
            class Package:
                name: str
                version: str | None = None
                archive: str | None = None
                sdist: str | None = None
                wheels: list | None = None

                @classmethod
                def read(cls, given):
                    package = cls(**given)
                    if package.sdist is not None:
                        version = package.sdist.rpartition("-")[2]
                        if package.version and version != package.version:
                            raise ValueError(package.sdist)
                    return package

            def select(packages, prefer):
                for package in packages:
                    if package.archive is not None:
                        yield package.archive
                    elif package.sdist is not None and prefer:
                        yield package.sdist
                    elif package.wheels:
                        yield package.wheels[0]
                    else:
                        raise ValueError(package.name)
            """,
            path="packages/select.py",
        ),
        # With either of the two there is what the option needs.
        Example(
            _TIDES.format("", ""),
            path="ferry/options.py",
            files={
                "ferry/plan.py": _PLAN.replace(
                    "    return stops[: options.crew]\n", '    raise ValueError("tides need a lock")\n'
                ).replace("return []", "return")
            },
        ),
        # It says so.
        Example(
            _TIDES.format("", ""),
            path="ferry/options.py",
            files={"ferry/plan.py": _PLAN.replace("None:\n", "None:\n        warn('no tides in a lock')\n")},
        ),
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

    def concerns(self, file: File) -> bool:
        return not in_test_file(file.path)

    def suspect(self, unit: Unit) -> bool:
        # What a test refuses is no option of the product.
        return not in_test_file(unit.file.path) and may_refuse(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if in_test_file(unit.file.path) or not may_refuse(unit):
            return
        found = [(one, class_of(unit, one, repo)) for one in refusals(unit)]
        refused = {
            frozenset({a.name, b.name}) for one, _ in found for a in one.settings for b in one.settings
        }
        lost = list(losses(repo)) if found else []
        said: set[frozenset[str]] = set()
        for refusal, known in found:
            for shared, other, certainty, (why, steps) in self._pairs(repo, refusal, known, refused, lost):
                pair = frozenset({shared.name, other.name})
                if pair in refused or pair in said:
                    continue
                if known is not None and is_refused_by_class(repo, unit, known, shared):
                    continue
                said.add(pair)
                yield self._report(unit, refusal, shared, other, certainty, why, steps)

    def _pairs(
        self,
        repo: Repo,
        refusal: Refusal,
        known: Known | None,
        refused: set[frozenset[str]],
        lost: list[Loss],
    ) -> Iterator[tuple[Setting, Option, Certainty, tuple[str, list[Step]]]]:
        """The pairs that the refusal lets through: what it refuses, the other option, and why they fail."""
        fields = {field.name: field for field in known.found.fields} if known is not None else {}
        for shared, behind, loss in lost_pairs(lost, refusal, frozenset(fields)):
            field = fields.get(behind.name)
            receiver = receiver_of(shared) if field is not None else dotted(behind.node.value)
            option = Option(behind.name, behind.on, None if field is None else field.default, receiver)
            yield shared, option, "likely", self._lost(shared, behind, loss)
        # What shuts many others is a mode of its own; what shuts one may be meant to have no need of it.
        closed = list(shut_pairs(repo, known, refusal, refused)) if known is not None else []
        for shut in closed:
            if sum(one.by.name == shut.by.name for one in closed) > _MOST:
                continue
            name, on = _other(shut)
            option = Option(name, on, fields[name].default, receiver_of(shut.shared))
            yield shut.shared, option, "question", self._shut(shut)
        for one in cancelled_pairs(repo, known, refusal, refused) if known is not None else ():
            option = Option(one.by.name, one.by.on, fields[one.by.name].default, receiver_of(one.shared))
            yield one.shared, option, "question", self._cancelled(one)

    def _report(
        self,
        unit: Unit,
        refusal: Refusal,
        shared: Setting,
        other: Option,
        certainty: Certainty,
        why: str,
        steps: list[Step],
    ) -> Finding:
        others = " and ".join(f"`{one.name}`" for one in refusal.settings if one is not shared)
        asks = "; is that meant?" if certainty == "question" else ""
        span = unit.span(refusal.node)
        fix = None
        # A diff only where the validator has what the other option is read from.
        if other.receiver and other.receiver.rpartition(".")[2] in unit.facts.names:
            text = sibling(unit, refusal, shared, other.name, condition_for(other))
            edit = Edit(span.path, span.end_line + 1, span.end_line, text)
            fix = Fix(f"refuse `{shared.name}` with `{other.name}` as it is refused with {others}", (edit,))
        return self.finding(
            unit,
            refusal.node,
            f"`{shared.name}` is refused with {others} here and accepted with `{other.name}`, although {why}"
            + asks,
            certainty=certainty,
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

    def _cancelled(self, one: Cancelled) -> tuple[str, list[Step]]:
        name, answer = one.unit.name, f"`{one.answer}`"
        return f"`{name}` then returns {answer}, as if `{one.shared.name}` were off", [
            step(one.unit, one.off, f"without `{one.shared.name}` it returns {answer}"),
            step(one.unit, one.on, f"and with `{one.by.name}`, whether `{one.shared.name}` is on or not"),
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
