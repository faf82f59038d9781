"""Ties a producer to the places of the arguments that it writes: how each is handed to it, which fields it
brings back.

Nothing is guessed from names alone. A field counts as written if the producer brings it back after every way
in which it was spoiled, and if a field that it does not bring back makes it write something else there. So
a producer that reads a golden file, or that only clamps what it is given, writes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.errors import ProbeError
from reviewbot.probe import shape
from reviewbot.probe.changes import changes
from reviewbot.probe.harvest import Call
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Instance, Path, Plain
from reviewbot.probe.session import Made, Session
from reviewbot.probe.target import Target

# Stands for each row of a list in a path of fields.
EACH = ...
DEEPEST = 3
MOST_PARTS = 2_000
MOST_STUDIED = 3  # parts of one structure that are spoiled field by field
MOST_FIELDS = 40
MOST_SPOILED = 8
_NOTHING = object()


@dataclass(frozen=True)
class Binding:
    """How a part of the arguments becomes those of a producer: all of it as `whole`, or its fields by `names`
    (parameter: field); `beside` are parameters that other arguments give, `fixed` what the rest get.

    `into`: the fields that a returned value, or each of several, becomes.
    """

    whole: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    fixed: Mapping[str, Plain] = field(default_factory=dict)
    into: tuple[str, ...] = ()

    def arguments(self, part: Plain, world: World) -> dict[str, Plain] | None:
        """The producer's arguments; None where the part lacks a field."""
        found = shape.fields(part)
        if not set(self.names.values()) <= set(found) or not set(self.beside) <= set(world):
            return None
        given = {**self.fixed, **{name: world[name] for name in self.beside}}
        given |= {name: found[where] for name, where in self.names.items()}
        return {**given, self.whole: part} if self.whole else given

    def outcome(self, part: Plain, made: Made) -> Plain:
        """The part as the producer leaves it: what it changed in place, then what it returned."""
        if self.whole:
            part = _laid_over(part, made.after.get(self.whole))
        for name, where in self.names.items():
            part = _put(part, where, made.after.get(name, _NOTHING))
        if not self.into:
            return _laid_over(part, made.returned)
        for where, value in zip(self.into, _values(made.returned, len(self.into)), strict=False):
            part = _put(part, where, value)
        return part


@dataclass(frozen=True)
class Tie:
    """A binding that holds at `places`; `written` are the fields that it brings back there, as paths below a
    place, `read` all others."""

    binding: Binding
    places: tuple[Path, ...]
    written: tuple[Path, ...]
    read: tuple[Path, ...]


def tie(
    session: Session,
    number: int,
    parameters: Sequence[tuple[str, bool]],
    world: World,
    producer: Target,
    recorded: Sequence[Call],
) -> Tie:
    """The places that a producer writes. Raises ProbeError with what was seen instead."""
    reasons: dict[str, None] = {}
    parts = list(itertools.islice(_parts(world), MOST_PARTS))
    for binding_of in (_whole, _spread, _by_value):
        found: Tie | None = None
        groups: dict[object, list[Path]] = {}
        for path in parts:
            part = plain.at(dict(world), path)
            groups.setdefault((type(part), tuple(_fields(part))), []).append(path)
        for group in sorted(groups.values(), key=lambda paths: (paths[0] == (), len(paths[0]))):
            if found is not None and not _apart(found, group):
                continue
            for binding in binding_of(parameters, plain.at(dict(world), group[0]), group[0], world):
                full = _completed(binding, parameters, world, producer, recorded, reasons)
                tied = _tied(session, number, full, group, world, producer, reasons) if full else None
                if tied is None:
                    continue
                if found is None:
                    found = tied
                elif tied.written == found.written:
                    found = replace(found, places=(*found.places, *tied.places))
                break
        if found is not None:
            return found
    raise ProbeError(min(reasons, key=_telling, default="nothing in the arguments is what it writes"))


def _telling(reason: str) -> int:
    """What it did says more than that it could not be called on some part."""
    starts = ("it writes another", "what it writes", "it raised KeyError", "nothing in", "it raised")
    return next((at for at, start in enumerate(starts) if reason.startswith(start)), len(starts))


def _apart(found: Tie, group: Sequence[Path]) -> bool:
    """Whether parts lie outside of the places that are tied already."""
    return not any(path[: len(place)] == place or path == () for place in found.places for path in group)


def _parts(world: World) -> Iterator[Path]:
    """Paths of all records and lists of records, the arguments themselves as one."""
    for path, part in shape.walk(dict(world)):
        if not path or shape.is_rows(part) or shape.fields(part):
            yield path


# ---- ways to call it --------------------------------------------------------------------------------------

_Parameters = Sequence[tuple[str, bool]]


def _must(parameters: _Parameters) -> list[str]:
    return [name for name, needed in parameters if needed]


def _whole(parameters: _Parameters, part: Plain, path: Path, world: World) -> Iterator[Binding]:
    """Handed over as it is, as the only thing that must be given, else as each of the parameters."""
    if path:
        for name in dict.fromkeys([*_must(parameters), *(name for name, _ in parameters[:1])]):
            yield Binding(whole=name)


def _spread(parameters: _Parameters, part: Plain, path: Path, world: World) -> Iterator[Binding]:
    """Each field as the parameter of its name."""
    found = shape.fields(part)
    names = {name: name for name, _ in parameters if name in found}
    if names:
        yield Binding(names=names)


def _by_value(parameters: _Parameters, part: Plain, path: Path, world: World) -> Iterator[Binding]:
    """One field as the only parameter, whatever it is called."""
    must = _must(parameters) or [name for name, _ in parameters[:1]]
    if len(must) == 1:
        for name in list(shape.fields(part))[:MOST_FIELDS]:
            yield Binding(names={must[0]: name})


def _completed(
    binding: Binding,
    parameters: _Parameters,
    world: World,
    producer: Target,
    recorded: Sequence[Call],
    reasons: dict[str, None],
) -> Binding | None:
    """The binding with what else must be given: from other arguments, a recorded call, or a new object."""
    known: Mapping[str, Plain] = next((call.arguments for call in recorded if not call.raised), {})
    beside, fixed = [], {}
    for name in _must(parameters):
        if name == binding.whole or name in binding.names:
            continue
        if name in world:
            beside.append(name)
        elif name in known:
            fixed[name] = known[name]
        elif name == "self" and "." in producer.unit:
            fixed[name] = Instance(f"{producer.module}:{producer.unit.rpartition('.')[0]}", "new", {})
        else:
            if binding.whole or binding.names:
                reasons[f"nothing in the arguments gives it `{name}`; an argument of that name would"] = None
            return None
    return replace(binding, beside=tuple(beside), fixed=fixed)


# ---- what it writes ---------------------------------------------------------------------------------------


def _tied(
    session: Session,
    number: int,
    binding: Binding,
    group: Sequence[Path],
    world: World,
    producer: Target,
    reasons: dict[str, None],
) -> Tie | None:
    parts = [plain.at(dict(world), path) for path in group]
    made = _run(session, number, binding, parts[:MOST_STUDIED], world, reasons)
    ran = [(part, one) for part, one in zip(parts, made, strict=False) if one is not None]
    if not ran:
        return None
    if binding.names and not _lies_over(*ran[0], binding):
        into = _into(ran, binding, producer)
        if not into:
            return None
        binding = replace(binding, into=into)
    studied = [_written(session, number, binding, part, one, world, reasons) for part, one in ran]
    written = [path for path in studied[0] if all(path in other for other in studied)]
    if not written and binding.whole and not binding.into:
        into = _into(ran, binding, producer)
        return (
            _tied(session, number, replace(binding, into=into), group, world, producer, reasons)
            if into
            else None
        )
    if not written:
        return None
    again = _run(session, number, binding, parts, world, {})
    places = tuple(
        path
        for path, part, one in zip(group, parts, again, strict=True)
        if one is not None and _brings_back(binding.outcome(part, one), part, written)
    )
    read = tuple(path for path in _fields(parts[0]) if path not in written)
    return Tie(binding, places, tuple(written), read) if places else None


def _run(
    session: Session,
    number: int,
    binding: Binding,
    parts: Sequence[Plain],
    world: World,
    reasons: dict[str, None],
) -> list[Made | None]:
    """What comes of each part; None where it cannot be called or raises."""
    asked = [binding.arguments(part, world) for part in parts]
    raised: list[str] = []
    made = iter(session.produce(number, [one for one in asked if one is not None], raised))
    out = [next(made) if one is not None else None for one in asked]
    reasons.update((f"it raised {says}", None) for says in raised[:1])
    return out


def _written(
    session: Session,
    number: int,
    binding: Binding,
    part: Plain,
    made: Made,
    world: World,
    reasons: dict[str, None],
) -> list[Path]:
    """Fields that come back however they are spoiled, and that another field decides."""
    out = binding.outcome(part, made)
    listed = _fields(part)[:MOST_FIELDS]
    spoiled = [(path, one) for path in listed for one in _spoiled(part, path)]
    results = _run(session, number, binding, [one for _, one in spoiled], world, {})
    back: dict[Path, bool] = {}
    for (path, one), result in zip(spoiled, results, strict=True):
        comes = result is not None and _brings_back(binding.outcome(one, result), part, [path])
        back[path] = back.get(path, True) and comes
    candidates = [path for path in listed if back.get(path)]
    for path in listed:
        if path not in candidates and not _brings_back(out, part, [path]):
            reasons[f"it writes another `{named(path)}` than the arguments hold"] = None
    decided: set[Path] = set()
    if candidates:
        fewer = [((), one) for one in _fewer_rows(part)]
        less = _run(session, number, binding, [one for _, one in fewer], world, {})
        spoiled, results = spoiled + fewer, results + less
    for (source, one), result in zip(spoiled, results, strict=True):
        if source in candidates or result is None:
            continue
        after = binding.outcome(one, result)
        decided |= {path for path in candidates if not _brings_back(after, part, [path], lost=True)}
    found = [path for path in candidates if path in decided]
    if candidates and not found:
        reasons["what it writes is the same whatever it reads here"] = None
    return found


def _into(ran: Sequence[tuple[Plain, Made]], binding: Binding, producer: Target) -> tuple[str, ...]:
    """The fields that hold what was returned: by the producer's name, or as the only ones that can.

    A bare number that happens to equal a field of one record is no sign that it is written there.
    """
    unit = producer.unit.rpartition(".")[2]
    many = type(ran[0][1].returned) is tuple
    count = len(ran[0][1].returned) if many else 1
    chosen: list[str] = []
    for at in range(count):
        values = [(part, _values(made.returned, count)) for part, made in ran]
        if any(len(listed) != count for _, listed in values):
            return ()
        fits = [
            name
            for name in shape.fields(ran[0][0])
            if name not in binding.names.values()
            and all(plain.same(shape.fields(part).get(name), listed[at]) for part, listed in values)
        ]
        by_name = [name for name in fits if name in unit]
        telling = len({plain.dumps(listed[at]) for _, listed in values}) > 1 or bool(
            type(values[0][1][at]) in (list, dict, Instance) and len(list(plain.items(values[0][1][at]))) > 1
        )
        if by_name:
            chosen.append(max(by_name, key=len))
        elif len(fits) == 1 and (telling or many):
            chosen.append(fits[0])
        else:
            return ()
    return tuple(chosen) if len(set(chosen)) == count else ()


def _values(returned: Plain, count: int) -> Sequence[Plain]:
    return returned if type(returned) is tuple and count > 1 else (returned,)


def _spoiled(part: Plain, path: Path) -> Iterator[Plain]:
    """The part with a field changed in every row, in a few ways that lie apart."""
    ways = [(place, _ways(plain.at(part, place), str(place[-1]))) for place in concrete(part, path)]
    for turn in range(MOST_SPOILED):
        listed = [Edit("set", ("part", *place), able[turn]) for place, able in ways if turn < len(able)]
        whole = edits.apply({"part": part}, listed) if listed else None
        if whole is not None:
            yield whole["part"]


def _ways(value: Plain, name: str) -> list[Plain]:
    able = [one for one in changes({name: value}, [(name,)], most=200) if one.size in ("real", "structure")]
    able = able[:: max(1, len(able) // MOST_SPOILED)]
    changed = (edits.apply({name: value}, [one.edit]) for one in able)
    return [one[name] for one in changed if one is not None]


def _fewer_rows(part: Plain) -> Iterator[Plain]:
    """The part with the last row of each list of records gone."""
    for path, rows in shape.walk(part):
        if shape.is_rows(rows) and len(path) <= DEEPEST:
            fewer = edits.apply({"part": part}, [Edit("remove", ("part", *path, len(rows) - 1))])
            if fewer is not None:
                yield fewer["part"]


def _brings_back(after: Plain, part: Plain, paths: Sequence[Path], *, lost: bool = False) -> bool:
    """Whether the fields stand in `after` as in `part`; one that is not there any more counts as `lost`."""
    for path in paths:
        for place in concrete(part, path):
            try:
                if not plain.same(plain.at(after, place), plain.at(part, place)):
                    return False
            except (LookupError, TypeError):
                return lost
    return True


# ---- fields and their paths -------------------------------------------------------------------------------


def _fields(part: Plain, path: Path = (), depth: int = 0) -> list[Path]:
    """Paths of the fields of a record or of a list of records, those of nested records too."""
    if depth > DEEPEST:
        return []
    if shape.is_rows(part):
        inner = [one for row in part[:MOST_STUDIED] for one in _fields(row, (*path, EACH), depth)]
        return list(dict.fromkeys(inner))
    out: list[Path] = []
    for name, value in shape.fields(part).items():
        below = (*path, name)
        out += _fields(value, below, depth + 1) or [below]
    return out


def concrete(part: Plain, path: Path) -> list[Path]:
    """The places of a field in a part, one for each row."""
    found: list[Path] = [()]
    for key in path:
        longer: list[Path] = []
        for place in found:
            value = plain.at(part, place)
            keys = range(len(value)) if key is EACH and type(value) in (list, tuple) else [key]
            for one in keys:
                try:
                    plain.at(value, (one,))
                except (LookupError, TypeError):
                    continue
                longer.append((*place, one))
        found = longer
    return found


def matches(path: Path, pattern: Path) -> bool:
    """Whether a path begins as a field's does."""
    return len(path) >= len(pattern) and begins(pattern, path[: len(pattern)])


def begins(pattern: Path, path: Path) -> bool:
    """Whether a field's path begins with a path."""
    return len(pattern) >= len(path) and all(a is EACH or a == b for a, b in zip(pattern, path, strict=False))


def named(path: Path) -> str:
    """`stats.total`."""
    return ".".join(str(key) for key in path if key is not EACH)


# ---- laying one value over another ------------------------------------------------------------------------


def _lies_over(part: Plain, made: Made, binding: Binding) -> bool:
    """Whether what came back is a record that shares fields with the part, or was changed in place."""
    if set(shape.fields(made.returned)) & set(shape.fields(part)) - set(binding.names.values()):
        return True
    given = shape.fields(part)
    return any(
        name in made.after and not plain.same(made.after[name], given[where])
        for name, where in binding.names.items()
    ) or (made.returned is None and bool(made.after))


def _laid_over(part: Plain, other: Plain) -> Plain:
    """`part` with every field that `other` has too as it stands there."""
    if shape.is_rows(part):
        if not shape.is_rows(other) or len(other) != len(part):
            return part
        return type(part)(map(_laid_over, part, other))
    names, new = shape.fields(part), shape.fields(other)
    if not names or not new:
        return part
    for name in names:
        if name in new:
            nested = shape.fields(names[name]) or shape.is_rows(names[name])
            same_kind = shape.fields(new[name]) or shape.is_rows(new[name])
            both = nested and same_kind and shape.is_rows(names[name]) == shape.is_rows(new[name])
            value = _laid_over(names[name], new[name]) if both else new[name]
            part = _put(part, name, value)
    return part


def _put(part: Plain, name: str, value: Plain) -> Plain:
    if value is _NOTHING:
        return part
    if type(part) is Instance:
        return Instance(part.cls, part.how, {**part.fields, name: value})
    return {**part, name: value}
