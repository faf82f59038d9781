"""What a test saves, what it loads that into, and what is done in between.

Reads `ast` only: the statements of one function in the order in which they stand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.patterns import pattern
from reviewbot.source.units import below, called_last, once, root_of

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_SAVES = pattern(
    r"(?i)^_*(save|dump|store|export|checkpoint|write|serialize)(_\w+)?$|^_*(get_)?(state_dict|state|weights)$"
)
_LOADS = pattern(
    r"(?i)^_*(load|restore|resume|recover|deserialize)(_\w+)?$|^_*set_(state_dict|state|weights)$"
)
# What starts out the same whenever it is made of the same.
_BARE = pattern(
    r"^(SGD|Adam\w*|RAdam|NAdam|RMSprop|Adagrad|Adadelta|LBFGS|GradScaler|\w+LR|\w*Scheduler|\w*Optimizer"
    r"|\w*Metric|\w*Meter|\w*Tracker|\w*Counter|\w*Progress\w*|\w*Normalizer|RunningMeanStd)$"
)
_SEEDS = pattern(
    r"(?i)^(manual_seed(_all)?|seed|set_seed|seed_all|seed_everything|set_random_seed|fix_seed)$"
)
# What is asked of an object, and leaves it as it was.
_ASKS = frozenset(
    {"eval", "state_dict", "parameters", "to", "cpu", "cuda", "copy", "deepcopy", "numpy", "tolist"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """`call` loads into `into` what `saved`, a call before it, has saved of `of`: two names, or one twice."""

    of: str
    into: str
    saved: ast.Call
    call: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class AsItWas:
    """A load that changes nothing: what it loads into equals what was saved. `made` and `again` are the equal
    calls that made the two; None where both are one object."""

    loaded: Loaded
    check: ast.stmt
    made: ast.Call | None = None
    again: ast.Call | None = None


@once
def may_load(unit: Unit) -> bool:
    """Whether a test could save something and load it again."""
    return unit.is_test and saves_and_loads(unit)


def saves_and_loads(code: Unit | File) -> bool:
    """Whether a unit or a file calls by name what saves, and what loads."""
    return code.calls_any(_LOADS.search) and code.calls_any(_SAVES.search)


@once
def statements_of(unit: Unit) -> list[ast.stmt]:
    """The simple statements of a function in the order in which they stand; loops and branches as a whole."""
    found: list[ast.stmt] = []
    stack: list[ast.stmt] = list(reversed(getattr(unit.tree, "body", [])))
    while stack:
        statement = stack.pop()
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            stack += reversed(statement.body)
        elif isinstance(statement, ast.Try):
            stack += reversed([*statement.body, *statement.orelse, *statement.finalbody])
        else:
            found.append(statement)
    return found


@once
def loads(unit: Unit) -> tuple[Loaded, ...]:
    """The loads of a test that take back what it has saved before."""
    return tuple(_loads(unit))


def _loads(unit: Unit) -> Iterator[Loaded]:
    saves: list[tuple[str, ast.Call]] = []
    for statement in statements_of(unit):
        for call in calls_in(statement):
            last = called_last(call)
            if _SAVES.search(last) and (of := _saved(unit, call)):
                saves.append((of, call))
            elif _LOADS.search(last) and saves and (into := _into(unit, call)):
                found = _what_is_loaded(unit, call, into, saves)
                if found is not None:
                    yield Loaded(found[0], into, found[1], call)


def _what_is_loaded(
    unit: Unit, call: ast.Call, into: str, saves: list[tuple[str, ast.Call]]
) -> tuple[str, ast.Call] | None:
    """The save whose result or place a load is given; the last one where it is given no local name."""
    given = {name for part in (*call.args, *(one.value for one in call.keywords)) for name in _names_in(part)}
    given = (given & unit.facts.stored.keys()) - {into}
    sources = {node: _names_in(node.value) for node in unit.asts(ast.Assign) if _hands_on(node.value)}
    reached, size = set(given), -1
    while len(reached) > size:
        size = len(reached)
        for node, names in sources.items():
            if not reached.isdisjoint(_targets(node)):
                reached |= names - {into}
    if reached:
        kept = {id(node.value): _targets(node) for node in unit.asts(ast.Assign)}
        inside = {id(node) for node in ast.walk(call)}
        saves = [
            (of, saved)
            for of, saved in saves
            if id(saved) in inside
            or not reached.isdisjoint(
                kept.get(id(saved), set()) | {name for part in saved.args for name in _names_in(part)}
            )
        ]
    if not saves:
        return None
    return next((one for one in reversed(saves) if one[0] == into), saves[-1])


def _hands_on(value: ast.expr) -> bool:
    """Whether a value is what was loaded, or a part or a copy of it: no call makes something else of it."""
    return not isinstance(value, ast.Call) or _LOADS.search(called_last(value)) is not None


def calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls of a statement in the order in which they are done; none of a loop or a branch."""
    if isinstance(
        statement, (ast.For, ast.While, ast.If, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    ):
        return
    found = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    yield from sorted(found, key=lambda call: (call.end_lineno, call.end_col_offset))


def _saved(unit: Unit, call: ast.Call) -> str:
    """The local name of what a call saves: `torch.save(model.state_dict(), path)`, `model.save(path)`."""
    owner = root_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if owner and owner not in unit.file.imports and isinstance(call.func, ast.Attribute):
        return owner if isinstance(call.func.value, ast.Name) and owner != "self" else ""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Call) and called_last(first) == "state_dict":
        first = first.func.value if isinstance(first.func, ast.Attribute) else None
    return first.id if isinstance(first, ast.Name) else ""


def _into(unit: Unit, call: ast.Call) -> str:
    """The local name of what a call loads into; "" where it gives what it has loaded."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id not in unit.file.imports and owner.id != "self":
        return owner.id if owner.id in unit.facts.stored else ""
    return ""


@once
def as_it_was(unit: Unit) -> tuple[AsItWas, ...]:
    """The loads of a test into what equals already what was saved, with a check that holds without them."""
    if not may_load(unit):
        return ()
    return tuple(found for one in loads(unit) if (found := _as_it_was(unit, one)) is not None)


def _as_it_was(unit: Unit, one: Loaded) -> AsItWas | None:
    statements = statements_of(unit)
    at = {id(node): place for place, statement in enumerate(statements) for node in ast.walk(statement)}
    saved, loaded = at.get(id(one.saved)), at.get(id(one.call))
    if saved is None or loaded is None or saved > loaded:
        return None
    made, again = _made(unit, one.of, at), _made(unit, one.into, at)
    if made is None or again is None:
        return None
    if one.of == one.into:
        if _is_touched(unit, one.of, statements[saved + 1 : loaded], one):
            return None
        before = {name for s in statements[:loaded] for name in _given_by(s, related_to(unit, {one.of}))}
        check = _check(
            unit, statements[loaded + 1 :], before, {one.of} | _after(statements[loaded + 1 :], one.of)
        )
        return AsItWas(one, check) if check is not None else None
    if not _is_the_same(made[1], again[1]) or not _is_fixed(unit, made, again, statements):
        return None
    if _is_touched(unit, one.of, statements[made[0] + 1 : loaded], one):
        return None
    if _is_touched(unit, one.into, statements[again[0] + 1 : loaded], one):
        return None
    mine = {one.of} | _after(statements[made[0] :], one.of)
    theirs = {one.into} | _after(statements[loaded:], one.into)
    check = _check(unit, statements[loaded + 1 :], mine - theirs, theirs - mine)
    return AsItWas(one, check, made[1], again[1]) if check is not None else None


def _made(unit: Unit, name: str, at: dict[int, int]) -> tuple[int, ast.Call] | None:
    """The statement, by its place, that alone gives a name anything, and that is the result of a call."""
    stored = unit.facts.stored.get(name, ())
    for node in unit.asts(ast.Assign):
        target = node.targets[0]
        if len(stored) == 1 and len(node.targets) == 1 and target is stored[0] and id(node) in at:
            return (at[id(node)], node.value) if isinstance(node.value, ast.Call) else None
    return None


def _is_the_same(one: ast.Call, other: ast.Call) -> bool:
    return ast.dump(one) == ast.dump(other) and called_last(one) != "" and _is_plain(one)


def _is_plain(call: ast.Call) -> bool:
    """Whether a call is of a name, with names and constants: another call in it may give something else."""
    return not any(
        isinstance(node, (ast.Call, ast.Await)) for given in below(call) for node in ast.walk(given)
    )


def _is_fixed(
    unit: Unit, made: tuple[int, ast.Call], again: tuple[int, ast.Call], statements: list[ast.stmt]
) -> bool:
    """Whether two equal calls give equal objects: they are given a seed, it is set before each, or nothing of
    what they make is drawn."""
    if any(
        keyword.arg is not None and "seed" in keyword.arg and isinstance(keyword.value, ast.Constant)
        for keyword in made[1].keywords
    ):
        return True
    if _BARE.search(called_last(made[1])):
        return True
    first = _seeded(statements[: made[0]])
    second = _seeded(statements[made[0] + 1 : again[0]])
    return first is not None and second is not None and ast.dump(first) == ast.dump(second)


def _seeded(statements: list[ast.stmt]) -> ast.Call | None:
    """The seed that the last of some statements sets, with nothing behind it that could draw."""
    for statement in reversed(statements):
        calls = list(calls_in(statement))
        seeds = [call for call in calls if _SEEDS.search(called_last(call)) and call.args]
        if seeds:
            return seeds[0] if isinstance(seeds[0].args[0], ast.Constant) else None
        if calls or isinstance(statement, (ast.For, ast.While, ast.If)):
            return None
    return None


def related_to(unit: Unit, names: set[str]) -> set[str]:
    """The names that are made of some, or that these are made of, as far as a function's assignments say."""
    local = set(unit.facts.stored)
    groups = [_targets(node) | (_names_in(node.value) & local) for node in unit.asts(ast.Assign)]
    found, size = set(names), 0
    while len(found) > size:
        size = len(found)
        for group in groups:
            if not found.isdisjoint(group):
                found |= group
    return found


def _is_touched(unit: Unit, name: str, between: list[ast.stmt], one: Loaded) -> bool:
    """Whether something between two places may change an object: it is done something with, or with what
    belongs to it."""
    near = related_to(unit, {name})
    for statement in between:
        apart = {id(node) for call in (one.saved, one.call) for node in ast.walk(call)}
        read = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in apart
        }
        if near.isdisjoint(read):
            continue
        if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
            continue  # `before = model(rows)` asks
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and (called_last(call) in _ASKS or _SAVES.search(called_last(call))):
            continue
        if isinstance(statement, ast.Assert) or (
            isinstance(call, ast.Call) and asserts_by_name(called_last(call))
        ):
            continue
        return True
    return False


def _given_by(statement: ast.stmt, near: set[str]) -> set[str]:
    if not isinstance(statement, ast.Assign) or near.isdisjoint(_names_in(statement.value)):
        return set()
    return _targets(statement)


def _after(statements: list[ast.stmt], name: str) -> set[str]:
    """The names that statements give what they read off another."""
    found = {name}
    for statement in statements:
        found |= _given_by(statement, found)
    return found


def _check(unit: Unit, statements: list[ast.stmt], before: set[str], after: set[str]) -> ast.stmt | None:
    """The first of some statements that compares what was there before with what is there after."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
                sides = [node.left, node.comparators[0]]
            elif isinstance(node, ast.Call) and len(node.args) > 1 and _compares(called_last(node)):
                sides = list(node.args[:2])
            else:
                continue
            one, other = (_names_in(side) | _walked(unit, _names_in(side)) for side in sides)
            if (one & before and other & after) or (one & after and other & before):
                return statement
    return None


_COMPARES = pattern(r"(?i)equal|close|same|compare|match")


def _compares(name: str) -> bool:
    return _COMPARES.search(name) is not None


def _walked(unit: Unit, names: set[str]) -> set[str]:
    """The names of what loops walk over whose items bear these names."""
    return {
        name
        for loop in unit.asts(ast.For)
        if not names.isdisjoint(n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name))
        for name in _names_in(loop.iter)
    }


def _targets(node: ast.Assign) -> set[str]:
    return {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
