"""Changes that the product itself could have made: a producer's own code writes the derived fields again.

A derivation that is guessed makes a good check look dead, so none is: `tie` says which fields a producer
brings back, and after each change of another field it is run again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reviewbot.errors import ProbeError
from reviewbot.probe import shape, tie
from reviewbot.probe.changes import Change, changes
from reviewbot.probe.harvest import Call, classes_of
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Path, Plain
from reviewbot.probe.session import Session
from reviewbot.probe.target import Target
from reviewbot.probe.tie import Tie

# ran: the product's own code. stated: code beside the tests that says what the product does.
Status = Literal["ran", "stated"]
# again: it is run on a part of the arguments after each change. call: its recorded result stands in the
# arguments. log: so do its logged lines.
Form = Literal["again", "call", "log"]
MOST_CALLS = 6

# A change, the edits that make it and what follows from it, and the arguments then.
_Followed = tuple[Change, tuple[Edit, ...], dict[str, Plain]]


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a producer writes at which places of the arguments, and where it stands.

    `written` are paths of fields below a place (an empty one: all of it), `read` those that it leaves.
    """

    written: tuple[Path, ...]
    path: str
    line: int
    unit: str
    status: Status
    form: Form
    places: tuple[Path, ...] = ()
    read: tuple[Path, ...] = ()

    def writes(self, path: Path) -> bool:
        """Whether what stands at a path of the arguments is its doing."""
        for place in self.places:
            below = path[len(place) :]
            if path[: len(place)] != place:
                continue
            if any(tie.matches(below, field) for field in self.written):
                return True
            over = any(tie.begins(field, below) for field in self.written)
            if over and not any(tie.begins(field, below) for field in self.read):
                return True
        return False

    @property
    def name(self) -> str:
        """`worker.py:12`."""
        return f"{self.path}:{self.line}"

    @property
    def says(self) -> str:
        """The derivation in a clause."""
        how = "re-run" if self.status == "ran" else "re-run; it stands beside the tests, so it is only stated"
        written = ", ".join(dict.fromkeys(filter(None, map(tie.named, self.written)))) or "what it logs"
        return f"{written}: written by {self.unit} at {self.name}, {how}"


@dataclass(frozen=True)
class _Source:
    """A producer in the session, tied to places of the arguments."""

    number: int
    derivation: Derivation
    tie: Tie | None = None
    calls: tuple[tuple[Path, Call], ...] = ()


@dataclass(frozen=True)
class Derived:
    """Coherent changes with the edits that make them, and the derivations that they rest on."""

    tried: tuple[tuple[Change, tuple[Edit, ...]], ...]
    derivations: tuple[Derivation, ...]
    not_run: tuple[str, ...]


def derive(
    session: Session,
    world: World,
    producers: Sequence[Target],
    calls: Sequence[Sequence[Call]],
    free: Sequence[Change],
) -> Derived:
    """Every free change of what producers do not write, with what they then write; and their own inputs
    changed. `calls` holds the recorded calls of each producer."""
    sources: list[_Source] = []
    not_run: list[str] = []
    for producer, recorded in zip(producers, calls, strict=True):
        try:
            module = next((call.module for call in recorded), producer.module)
            number, parameters = session.add_producer(
                producer.path, producer.unit, module, classes_of(recorded, module)
            )
            sources.append(_source(session, number, world, producer, parameters, recorded))
        except ProbeError as error:
            not_run.append(f"producer {producer.name} was not used: {error}")
    if not sources:
        return Derived((), (), tuple(not_run))
    derivations = [source.derivation for source in sources]
    tried = _again(session, world, sources, free, not_run)
    tried += [one for source in sources for one in _own_inputs(session, world, source)]
    return Derived(tuple(tried), tuple(derivations), tuple(not_run))


def _status(producer: Target) -> Status:
    parts = producer.path.split("/")
    beside_tests = any(part in ("test", "tests", "testing") or part.startswith("test_") for part in parts)
    return "stated" if beside_tests or parts[-1].endswith("_test.py") or parts[-1] == "conftest.py" else "ran"


def _source(
    session: Session,
    number: int,
    world: World,
    producer: Target,
    parameters: Sequence[tuple[str, bool]],
    recorded: Sequence[Call],
) -> _Source:
    """The producer tied by running it, else by its recorded calls. Raises ProbeError where neither can be."""

    def derivation(
        written: Sequence[Path], form: Form, places: Sequence[Path], read: Sequence[Path] = ()
    ) -> Derivation:
        where = (producer.path, producer.line, producer.unit)
        return Derivation(tuple(written), *where, _status(producer), form, tuple(places), tuple(read))

    try:
        found = tie.tie(session, number, parameters, world, producer, recorded)
    except ProbeError:
        usable = [call for call in recorded if not call.raised][:MOST_CALLS]
        fields, results = _results(world, usable)
        if results:
            written = [(name,) for name in fields]
            return _Source(number, derivation(written, "call", _places(results)), calls=results)
        logs = _logs(session, number, world, usable)
        if logs:
            return _Source(number, derivation([()], "log", _places(logs)), calls=logs)
        raise
    return _Source(number, derivation(found.written, "again", found.places, found.read), found)


def _places(calls: Sequence[tuple[Path, Call]]) -> list[Path]:
    return list(dict.fromkeys(path for path, _ in calls))


def _results(world: World, usable: Sequence[Call]) -> tuple[list[str], tuple[tuple[Path, Call], ...]]:
    """Recorded calls whose result stands in the arguments as a record, and its fields."""
    tied: list[tuple[Path, Call]] = []
    fields: dict[str, None] = {}
    for call in usable:
        out = shape.fields(call.returned)
        for path, record in _records(world):
            names = shape.fields(record)
            if len(out) > 1 and all(k in names and plain.same(names[k], v) for k, v in out.items()):
                tied.append((path, call))
                fields.update(dict.fromkeys(out))
                break
    return list(fields), tuple(tied)


def _logs(
    session: Session, number: int, world: World, usable: Sequence[Call]
) -> tuple[tuple[Path, Call], ...]:
    """Recorded calls that log lines which stand in a text of the arguments."""
    tied: list[tuple[Path, Call]] = []
    texts = [(name,) for name, value in world.items() if type(value) is str]
    made = session.produce(number, [call.arguments for call in usable])
    for call, one in zip(usable, made, strict=True):
        for path in texts:
            if one and any(line and line in world[path[0]] for line in one.log):
                tied.append((path, call))
    return tuple(tied)


def _records(world: World) -> Iterator[tuple[Path, Plain]]:
    for path, part in shape.walk(dict(world)):
        if path and shape.fields(part):
            yield path, part


# ---- after a change ---------------------------------------------------------------------------------------


def _again(
    session: Session,
    world: World,
    sources: Sequence[_Source],
    free: Sequence[Change],
    not_run: list[str],
) -> list[tuple[Change, tuple[Edit, ...]]]:
    """Every free change of what no producer writes, followed by what the producers then write.

    Each is run once more for each of the others, so that one may write what another reads. A change that
    they take back is none.
    """
    kept: list[_Followed] = []
    for change in free:
        if any(source.derivation.writes(change.edit.path) for source in sources):
            continue
        changed = edits.apply(world, [change.edit])
        if changed is not None:
            kept.append((change, (change.edit,), changed))
    tied = [source for source in sources if source.tie is not None]
    count, raised = len(kept), dict[str, None]()
    for turn in range(len(tied)):
        before = kept
        for source in tied:
            for place in source.derivation.places:
                kept = _followed(session, source, place, world, kept, raised)
        if turn and [len(made) for _, made, _ in before] == [len(made) for _, made, _ in kept]:
            break
    if len(kept) < count:
        not_run.append(
            f"{count - len(kept)} changes are left out: a producer raised on them ({next(iter(raised), '')})"
        )
    return [(change, made) for change, made, changed in kept if not plain.same(changed, dict(world))]


def _followed(
    session: Session,
    source: _Source,
    place: Path,
    world: World,
    listed: Sequence[_Followed],
    raised: dict[str, None],
) -> list[_Followed]:
    """The changes with one producer run again at one place, where what it reads there has changed.

    Changes after which it cannot run are left out: the product would not have written anything.
    """
    assert source.tie is not None
    binding = source.tie.binding
    before = binding.arguments(plain.at(dict(world), place), world)
    out: list[_Followed | None] = []
    asked: list[tuple[int, Plain, dict[str, Plain]]] = []
    for at, (_, _, changed) in enumerate(listed):
        out.append(listed[at])
        try:
            part = plain.at(changed, place)
        except (LookupError, TypeError):
            continue
        arguments = binding.arguments(part, changed)
        if arguments is not None and not plain.same(arguments, before):
            asked.append((at, part, arguments))
    said: list[str] = []
    made = session.produce(source.number, [arguments for *_, arguments in asked], said)
    raised.update(dict.fromkeys(said))
    for (at, part, _), one in zip(asked, made, strict=True):
        change, done, changed = listed[at]
        if one is None:
            out[at] = None
            continue
        sets = _sets(binding.outcome(part, one), part, place, source.tie.written)
        again = edits.apply(changed, sets) if sets else changed
        out[at] = (change, (*done, *sets), again) if again is not None else listed[at]
    return [one for one in out if one is not None]


def _sets(after: Plain, part: Plain, place: Path, written: Sequence[Path]) -> list[Edit]:
    """The edits that put what a producer writes into a part."""
    found = []
    for field in written:
        for where in tie.concrete(part, field):
            try:
                value = plain.at(after, where)
            except (LookupError, TypeError):
                continue
            if not plain.same(value, plain.at(part, where)):
                found.append(Edit("set", (*place, *where), value))
    return found


def _own_inputs(session: Session, world: World, source: _Source) -> Iterator[tuple[Change, tuple[Edit, ...]]]:
    """A producer's own recorded arguments changed, its result or log lines put in the old ones' place."""
    for path, call in source.calls:
        listed = changes(call.arguments, [(name,) for name in call.arguments], most=400)
        worlds = [edits.apply(call.arguments, [change.edit]) for change in listed]
        kept = [(c, w) for c, w in zip(listed, worlds, strict=True) if w is not None]
        made = session.produce(source.number, [call.arguments, *(w for _, w in kept)])
        before = made[0]
        for (change, _), one in zip(kept, made[1:], strict=True):
            if one is None or before is None:
                continue
            if source.derivation.form == "log":
                text = _relogged(world[path[0]], before.log, one.log)
                if text != world[path[0]]:
                    yield change, (Edit("set", path, text),)
                continue
            old, new = shape.fields(before.returned), shape.fields(one.returned)
            sets = tuple(Edit("set", (*path, k), v) for k, v in new.items() if not plain.same(v, old.get(k)))
            if sets:
                yield change, sets


def _relogged(text: str, before: Sequence[str], after: Sequence[str]) -> str:
    """A log in which one call's lines are what another call writes."""
    present = [line for line in before if line and line in text]
    if not present:
        return text
    replaced = text.replace(present[0], "\n".join(after), 1)
    for line in present[1:]:
        replaced = re.sub(re.escape(line) + r"\n?", "", replaced, count=1)
    return replaced
