"""Changes that the product itself could have made: a producer's own code writes the derived fields again.

A derivation that is guessed makes a good check look dead, so none is: the producer is run, and a field
counts as written by it only if running it brings the field back after it was changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reviewbot.errors import ProbeError
from reviewbot.probe import shape
from reviewbot.probe.changes import Change, changes
from reviewbot.probe.harvest import Call, classes_of
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Path, Plain
from reviewbot.probe.session import Made, Session
from reviewbot.probe.target import Target

# ran: the product's own code. stated: code beside the tests that says what the product does.
Status = Literal["ran", "stated"]
# in place: it is handed the rows and writes into them. record: it makes a record's fields from others of
# the same record. call: its recorded result stands in the arguments.  log: so do its logged lines.
Form = Literal["in place", "record", "call", "log"]
MOST_CALLS = 6


@dataclass(frozen=True, slots=True)
class Derivation:
    """Which fields a producer writes at which places of the arguments (no fields: all of it), and where it
    stands."""

    fields: tuple[str, ...]
    path: str
    line: int
    unit: str
    status: Status
    form: Form
    places: tuple[Path, ...] = ()

    def writes(self, path: Path) -> bool:
        """Whether what stands at a path of the arguments is its doing."""
        inside = any(path[: len(place)] == place for place in self.places)
        return inside and (not self.fields or bool(set(self.fields) & set(map(str, path))))

    @property
    def name(self) -> str:
        """`worker.py:12`."""
        return f"{self.path}:{self.line}"

    @property
    def says(self) -> str:
        """The derivation in a clause."""
        how = "re-run" if self.status == "ran" else "re-run; it stands beside the tests, so it is only stated"
        written = ", ".join(self.fields) or "what it logs"
        return f"{written}: written by {self.unit} at {self.name}, {how}"


@dataclass(frozen=True)
class _Source:
    """A producer in the session, tied to places of the arguments."""

    number: int
    derivation: Derivation
    rows: tuple[Path, ...] = ()
    parameter: str = ""
    needed: tuple[str, ...] = ()
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
    sides: Sequence[shape.Sides],
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
            source = _tie(session, number, world, sides, producer, parameters, recorded)
        except ProbeError as error:
            not_run.append(f"producer {producer.name}: {error}")
            continue
        if source is None:
            not_run.append(
                f"producer {producer.name}: nothing in the arguments is what it writes, so it was not used"
            )
        else:
            sources.append(source)
    if not sources:
        return Derived((), (), tuple(not_run))
    derivations = [
        replace(source.derivation, places=(*source.rows, *dict.fromkeys(path for path, _ in source.calls)))
        for source in sources
    ]
    tried = _again(session, world, sources, derivations, free)
    tried += [one for source in sources for one in _own_inputs(session, world, source)]
    return Derived(tuple(tried), tuple(derivations), tuple(not_run))


def _status(producer: Target) -> Status:
    parts = producer.path.split("/")
    beside_tests = any(part in ("test", "tests", "testing") or part.startswith("test_") for part in parts)
    return "stated" if beside_tests or parts[-1].endswith("_test.py") or parts[-1] == "conftest.py" else "ran"


def _tie(
    session: Session,
    number: int,
    world: World,
    sides: Sequence[shape.Sides],
    producer: Target,
    parameters: Sequence[tuple[str, bool]],
    recorded: Sequence[Call],
) -> _Source | None:
    def derivation(fields: Iterable[str], form: Form) -> Derivation:
        return Derivation(tuple(fields), producer.path, producer.line, producer.unit, _status(producer), form)

    must = [name for name, needed in parameters if needed]
    for pair in sides:
        rows = plain.at(dict(world), pair.other)
        if len(must) <= 1 and parameters and shape.is_rows(rows):
            parameter = must[0] if must else parameters[0][0]
            written = _written_in_place(session, number, parameter, rows)
            if written:
                places = (pair.other, pair.baseline)
                return _Source(number, derivation(written, "in place"), places, parameter)
    for _, record in _records(world):
        names = shape.fields(record)
        needed = tuple(name for name, _ in parameters if name in names)
        if set(must) <= set(needed) and needed:
            (made,) = session.produce(number, [{name: names[name] for name in needed}])
            out = shape.fields(made.returned) if made else {}
            if out and all(name in names and plain.same(names[name], value) for name, value in out.items()):
                found = tuple(p for p, r in _records(world) if set(names) == set(shape.fields(r)))
                # What it only hands through is not its doing.
                written = [name for name in out if name not in needed]
                return (
                    _Source(number, derivation(written, "record"), found, needed=needed) if written else None
                )
    return _tie_calls(session, number, world, recorded, derivation)


def _tie_calls(
    session: Session,
    number: int,
    world: World,
    recorded: Sequence[Call],
    derivation: object,
) -> _Source | None:
    assert callable(derivation)
    usable = [call for call in recorded if not call.raised][:MOST_CALLS]
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
    if tied:
        return _Source(number, derivation(fields, "call"), calls=tuple(tied))
    texts = [(name,) for name, value in world.items() if type(value) is str]
    made = session.produce(number, [call.arguments for call in usable])
    for call, one in zip(usable, made, strict=True):
        for path in texts:
            if one and any(line and line in world[path[0]] for line in one.log):
                tied.append((path, call))
    return _Source(number, derivation((), "log"), calls=tuple(tied)) if tied else None


def _records(world: World) -> Iterator[tuple[Path, Plain]]:
    for path, part in shape.walk(dict(world)):
        if path and shape.fields(part):
            yield path, part


def _written_in_place(session: Session, number: int, parameter: str, rows: Plain) -> list[str]:
    """Fields of the rows that running the producer brings back after they were changed."""
    names = list(shape.fields(rows[0]))
    asked = [{parameter: rows}]
    spoiled = []
    for name in names:
        changed = [_spoiled(row, name) for row in rows]
        if all(row is not None for row in changed):
            spoiled.append(name)
            asked.append({parameter: changed})
    made = session.produce(number, asked)
    results = [
        None if one is None else _rows_out(one.after.get(parameter), one.returned, rows) for one in made
    ]
    if results[0] is None or not plain.same(results[0], rows):
        return []
    return [
        name
        for name, result in zip(spoiled, results[1:], strict=True)
        if result is not None and plain.same(result, rows)
    ]


def _spoiled(row: Plain, name: str) -> Plain:
    value = shape.fields(row).get(name)
    listed = changes({"row": row}, [("row", name)], most=12) if value is not None else []
    change = next((one for one in listed if one.size == "real"), None)
    changed = edits.apply({"row": row}, [change.edit]) if change else None
    return changed["row"] if changed else None


def _rows_out(after: Plain, returned: Plain, rows: Plain) -> Plain:
    """The rows that a producer left: those it returned, else those it was handed."""
    if type(returned) is list and returned and shape.is_rows(returned) and len(returned) == len(rows):
        return returned
    return after if type(after) is type(rows) else None


def _again(
    session: Session,
    world: World,
    sources: Sequence[_Source],
    derivations: Sequence[Derivation],
    free: Sequence[Change],
) -> list[tuple[Change, tuple[Edit, ...]]]:
    """Every free change of what no producer writes, followed by what the producers then write."""
    kept: list[tuple[Change, tuple[Edit, ...], dict[str, Plain]]] = []
    for change in free:
        if any(one.writes(change.edit.path) for one in derivations):
            continue
        changed = edits.apply(world, [change.edit])
        if changed is not None:
            kept.append((change, (change.edit,), changed))
    for source in sources:
        for root in source.rows:
            kept = _rewritten(session, source, root, world, kept)
    return [(change, made) for change, made, _ in kept]


def _rewritten(
    session: Session,
    source: _Source,
    root: Path,
    world: World,
    listed: Sequence[tuple[Change, tuple[Edit, ...], dict[str, Plain]]],
) -> list[tuple[Change, tuple[Edit, ...], dict[str, Plain]]]:
    """The changes with one producer run again at one place, where what it reads there has changed.

    Changes after which it cannot run are left out: the product would not have written anything.
    """
    before = plain.at(dict(world), root)
    out = []
    asked = []
    for change, made, changed in listed:
        try:
            part = plain.at(changed, root)
        except LookupError:
            part = None
        if part is None or plain.same(part, before):
            out.append((change, made, changed))
        elif (arguments := _inputs(source, part)) is not None:
            asked.append((arguments, part, change, made, changed))
    for (_, part, change, made, changed), one in zip(
        asked, session.produce(source.number, [arguments for arguments, *_ in asked]), strict=True
    ):
        sets = None if one is None else _outputs(source, root, part, one)
        again = None if sets is None else edits.apply(changed, sets)
        if sets is not None:
            out.append((change, (*made, *sets), changed if again is None else again))
    return out


def _inputs(source: _Source, part: Plain) -> dict[str, Plain] | None:
    if source.parameter:
        return {source.parameter: part}
    names = shape.fields(part)
    return {name: names[name] for name in source.needed} if set(source.needed) <= set(names) else None


def _outputs(source: _Source, root: Path, part: Plain, made: Made) -> list[Edit] | None:
    """The edits that put what a producer made into its place; None where it made nothing of use."""
    if source.parameter:
        rows = _rows_out(made.after.get(source.parameter), made.returned, part)
        return None if rows is None else [] if plain.same(rows, part) else [Edit("set", root, rows)]
    names, out = shape.fields(part), shape.fields(made.returned)
    return [Edit("set", (*root, k), v) for k, v in out.items() if k in names and not plain.same(v, names[k])]


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
