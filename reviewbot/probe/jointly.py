"""Two changes at once that open a branch which neither opens alone: a status and a length, say.

`if row["status"] == "cut" and len(row["tokens"]) < 4: continue` lets through what is changed in both fields
of one row. What the fields are set to is read from the condition, as its literals.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from reviewbot.errors import UnreadableFile
from reviewbot.probe import shape
from reviewbot.probe.changes import Change
from reviewbot.probe.constants import field_of
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Path, Plain
from reviewbot.probe.pairs import Pair, differs, joined
from reviewbot.probe.search import Passing, Search, Tried, WhatIf, newly_taken
from reviewbot.probe.session import Run, Session
from reviewbot.probe.target import Target
from reviewbot.probe.written_out import set_once
from reviewbot.source.units import File

MOST_PAIRS = 400
MOST_RECORDS = 8
MOST_VALUES = 4
Held = Mapping[str, ast.expr]  # what a name was set to, where that was once


@dataclass(frozen=True, slots=True)
class Asked:
    """What a condition asks of a field: of its value, or of its length, and what it is held against."""

    field: str
    length: bool
    literals: tuple[Plain, ...]


def opened(
    session: Session,
    number: int,
    found: Search,
    roots: Sequence[Path],
    tested: Sequence[Path] = (),
    *,
    until: float,
) -> tuple[list[Run], list[Passing]]:
    """The runs of pairs below `roots`, and those pairs that pass by a branch that nothing opened before and
    of which each change is noticed alone. Of a side under test, in `tested`, one of the two is enough: the
    other is in a field that only the branch reads, and it is not for that side to choose what is compared."""
    world = session.world(number)
    pairs = list(_pairs(world, conditions(session.target), roots))[:MOST_PAIRS]
    runs = session.judge(number, [[one.edit, other.edit] for one, other in pairs], until=until)
    known = {escape for one in found.passing for escape in one.escapes}
    tried = [(pair, run) for pair, run in zip(pairs, runs, strict=False) if run is not None]
    out = []
    for pair, run in tried:
        fresh = [at for at in newly_taken(session, found.base, run) if at not in known]
        alone = [one.edit for one in pair] if run.passes and fresh else []
        noticed = [session.one(number, [edit]).noticed for edit in alone]
        of_tested = any(pair[0].edit.path[: len(root)] == root for root in tested)
        if noticed and (all(noticed) or (of_tested and any(noticed))):
            like = [(other, one) for other, one in tried if _alike(other, pair)]
            passing = _passing(session, number, found, (pair, run), fresh, like)
            if passing is not None:
                known |= set(fresh)
                out.append(passing)
    return [run for _, run in tried], out


def _passing(
    session: Session,
    number: int,
    found: Search,
    best: tuple[Pair, Run],
    fresh: Sequence[int],
    like: Sequence[tuple[Pair, Run]],
) -> Passing | None:
    """The best of `like` pairs with the branches of `fresh` without which it is noticed; None without any."""
    pair, run = best
    made = (pair[0].edit, pair[1].edit)
    taken = dict(run.outcomes - found.base.outcomes)
    shut = tuple(at for at in fresh if session.one(number, made, forced={at: not taken[at]}).noticed)
    if not shut:
        return None
    off = {shut[0]: not taken[shut[0]]}
    again = session.judge(number, [[one.edit, other.edit] for (one, other), _ in like], forced=off)
    before = sum(one.passes for _, one in like)
    after = sum(one is not None and one.passes for one in again)
    unchanged = session.one(number, forced=off).passes
    what_if = WhatIf(session.sites[shut[0]], before, after, len(like), unchanged)
    caught = sum(one.noticed for _, one in like)
    return Passing("excuse", (Tried(joined(pair), run),), shut, caught, before - 1, what_if, edits=made)


def _alike(one: Pair, other: Pair) -> bool:
    """Whether both change the same two fields on the same side."""
    return all(
        a.field == b.field and a.edit.path[0] == b.edit.path[0] for a, b in zip(one, other, strict=True)
    )


# ---- conditions -------------------------------------------------------------------------------------------


def conditions(target: Target) -> list[tuple[Asked, ...]]:
    """What each branch of the target's file asks, together with the branches around it, of two fields or
    more."""
    try:
        tree = File(target.path, (target.root / target.path).read_bytes()).tree
    except (OSError, UnreadableFile):
        return []
    own = set_once(tree.body)
    found: list[tuple[Asked, ...]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found += _of_body(node.body, (), {**own, **set_once(node.body)})
    return [one for one in dict.fromkeys(found) if len({asked.field for asked in one}) > 1]


def _of_body(body: Sequence[ast.stmt], around: tuple[Asked, ...], held: Held) -> Iterator[tuple[Asked, ...]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        asked = around
        if isinstance(node, (ast.If, ast.While)):
            asked = tuple(dict.fromkeys((*around, *_asked(node.test, held))))
            yield asked
        for part in ast.walk(node) if not _bodies(node) else ():
            if isinstance(part, ast.comprehension):
                yield tuple(asks for test in part.ifs for asks in _asked(test, held))
        for inner in _bodies(node):
            yield from _of_body(inner, asked, held)


def _bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(node, "handlers", ())]
    found += [case.body for case in getattr(node, "cases", ())]
    return [body for body in found if body]


def _asked(test: ast.expr, held: Held) -> Iterator[Asked]:
    """What the operands of a condition ask, each by itself."""
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _asked(part, held)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(test.operand, held)
    elif isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        for left, right in pairwise(sides):
            yield from _of(left, _literals(right, held), held)
            yield from _of(right, _literals(left, held), held)
    elif isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute):
        if test.func.attr in ("startswith", "endswith") and test.args:
            yield from _of(test.func.value, _literals(test.args[0], held), held)
        elif test.func.attr == "get":
            yield from _of(test, (True, False, None), held)
    else:
        yield from _of(test, (True, False, None), held)


def _of(node: ast.expr, literals: tuple[Plain, ...], held: Held) -> Iterator[Asked]:
    if isinstance(node, ast.Name) and node.id in held:
        node = held[node.id]
    length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    if length and isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
        node = held.get(node.id, node) if isinstance(node, ast.Name) else node
    field = field_of(node)
    if field and literals:
        yield Asked(field, length, literals)


def _literals(node: ast.expr, held: Held) -> tuple[Plain, ...]:
    if isinstance(node, ast.Name) and node.id in held:
        node = held[node.id]
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ()
    listed = list(value) if type(value) in (tuple, list, set, frozenset) else [value]
    return tuple(one for one in listed if type(one) in (str, int, float, bool, type(None)))[:MOST_VALUES]


# ---- changes ----------------------------------------------------------------------------------------------


def _pairs(
    world: World, listed: Sequence[tuple[Asked, ...]], roots: Sequence[Path]
) -> Iterator[tuple[Change, Change]]:
    records = [(path, part) for root in roots for path, part in _records(world, root)]
    for asked in listed:
        for one, other in combinations(asked, 2):
            for path, record in records:
                names = shape.fields(record)
                if one.field == other.field or one.field not in names or other.field not in names:
                    continue
                for first in _changes(one, path, record):
                    for second in _changes(other, path, record):
                        pair = replace(first, edit=replace(first.edit, along=_apart(first, second))), second
                        if differs(world, pair):
                            yield pair


def _apart(change: Change, other: Change) -> tuple[str, ...]:
    """The fields that a change takes along, but for the one that the other change is made in."""
    return tuple(name for name in change.edit.along if name != other.edit.path[-1])


def _records(world: World, root: Path) -> list[tuple[Path, Plain]]:
    whole = plain.at(dict(world), root)
    found = [((*root, *path), part) for path, part in shape.walk(whole) if shape.fields(part)]
    return found[:MOST_RECORDS]


def _changes(asked: Asked, path: Path, record: Plain) -> list[Change]:
    """The field of a record set to what it is held against, and to what lies right beside that."""
    value = shape.fields(record)[asked.field]
    place = (*path, asked.field)
    if asked.length:
        lengths = {size + by for size in asked.literals if type(size) is int for by in (-1, 0, 1)}
        return [one for size in sorted(lengths) if (one := _of_length(value, place, record, size))]
    found = []
    for literal in asked.literals:
        near = [literal]
        if type(literal) in (int, float):
            near += [literal - 1, literal + 1]
        for new in near:
            if _may_be(value, new) and not plain.same(value, new):
                says = f"{asked.field} is None" if new is None else f"{asked.field} changed"
                verb = "None" if new is None else "changed"
                found.append(Change(Edit("set", place, new), says, verb, asked.field, "real"))
    return found


def _may_be(value: Plain, new: Plain) -> bool:
    number = (int, float)
    return new is None or type(value) is type(new) or (type(value) in number and type(new) in number)


def _of_length(value: Plain, place: Path, record: Plain, size: int) -> Change | None:
    field = str(place[-1])
    listed = shape.numbers(value)
    if size < 0 or (listed is None and type(value) is not str):
        return None
    length = len(value) if type(value) is str else len(listed or ())
    says = f"{field} {size} long"
    if type(value) is str and size < length:
        return Change(Edit("set", place, value[:size]), says, "cut", field, "structure")
    if size >= length or listed is None:
        return None
    along = tuple(name for name in shape.aligned(record) if name != field)
    if field not in shape.aligned(record):
        along = ()
    return Change(Edit("cut", place, size, along), says, "cut", field, "structure")
