"""What is saved and then loaded again in one function, into the very object that it was saved from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.demands import Demand, demands
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

# Names of what has a state; a path or a manager is handed to both calls as well.
_HOLDS = pattern(
    r"(?i)(^|_)(model|module|net|network|optim|optimizer|opt|scheduler|sampler|loader|dataloader|policy|agent"
    r"|state|pytree|tree|params|ema|scaler|engine|buffer|metric|tracker|iterator|stats|normalizer)\d*$"
)
# What a load fills in place, whatever else it gives back.
_FILLED = pattern(
    r"(?i)(^|_)(model|module|net|network|optim|optimizer|opt|scheduler|sampler|loader|policy|agent|ema|scaler)\d*$"
)
_SWITCH = pattern(r"(?i)^(flatten|use|save|load|with|has|is|keep|no|return|should)_")
_SAVES = pattern(r"(?i)^(?!.*should)(async_)?_?(save|dump)(_|$|[a-z])|_save(_|$)")
_LOADS = pattern(r"(?i)^_?(load|restore|resume)(_|$|[a-z])")
_STATES = frozenset({"state_dict", "get_state", "get_state_dict"})
_SETS = frozenset({"load_state_dict", "set_state", "load_state", "restore_state", "set_state_dict"})
# What these take they take for its shape, or it is no state at all.
_ABSTRACT = pattern(r"(?i)abstract|shape|struct|zeros|empty|spec|sharding")
_COPIES = pattern(
    r"(?i)^(clone|copy|deepcopy|state_dict|get_state|detach|parameters|tolist|numpy|asdict|list|dict)$"
)


@dataclass(frozen=True, slots=True)
class SavedAgain:
    """`name` is saved by one call and loaded by the other, and nothing touches it between them. `check` is
    the demand that compares what is loaded with what was saved; None where nothing mentions either later."""

    name: str
    save: ast.Call
    load: ast.Call
    check: Demand | None


def may_save_again(code: Unit | File) -> bool:
    """Whether a unit, or one of a file, could load what it saved; yes too often, never no wrongly."""
    return code.calls_any(_may_load) and code.calls_any(_may_save)


def _may_load(name: str) -> bool:
    return _LOADS.search(name) is not None or name in _SETS


def _may_save(name: str) -> bool:
    return _SAVES.search(name) is not None or name in _STATES


def saved_again(unit: Unit) -> Iterator[SavedAgain]:
    """The objects that a function saves and loads into themselves, the first load of each."""
    calls = sorted(unit.asts(ast.Call), key=lambda call: (call.lineno, call.col_offset))
    saves = [(name, call) for call in calls for name in _saved(call)]
    loads = [(name, call) for call in calls for name in _loaded(call) if _is_held(name)]
    told: set[str] = set()
    for name, load in loads:
        end = load.end_lineno or load.lineno
        before = [call for saved, call in saves if saved == name and call.lineno <= load.lineno]
        before = [call for call in before if call is not load and _reaches(unit, call, load)]
        if name in told or not before:
            continue
        told.add(name)
        save = before[-1]
        reads = [one.lineno for one in ast.walk(unit.tree) if isinstance(one, ast.Name) and one.id == name]
        if any((save.end_lineno or 0) < line < load.lineno for line in reads):
            continue
        if _loads_elsewhere(loads, calls, name, load):
            continue
        results = _given(unit, load)
        later = [one for one in demands(unit.tree.body) if one.node.lineno > end]
        check = next((one for one in later if _compares(one, name, results, unit, load)), None)
        # One of what is loaded together may be looked at for all.
        together = {other for other, call in loads if call is load}
        later_reads = {
            one.id for one in ast.walk(unit.tree) if isinstance(one, ast.Name) and one.lineno > end
        }
        in_place = not results or all(map(_FILLED.search, together))
        untouched = in_place and together.isdisjoint(later_reads)
        if check is not None or untouched:
            yield SavedAgain(name, save, load, check)


def _is_held(name: str) -> bool:
    return _HOLDS.search(name) is not None and _SWITCH.search(name) is None


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


def _reaches(unit: Unit, save: ast.Call, load: ast.Call) -> bool:
    """Whether a state that a call takes, and does not write, is what the load is given."""
    if _last(save) not in _STATES:
        return True
    below = {id(node) for node in ast.walk(load)}
    if id(save) in below:
        return True
    kept = {
        _name(node.targets[0])
        for node in unit.asts(ast.Assign)
        if node.value is save and len(node.targets) == 1
    }
    given = {one.id for one in ast.walk(load) if isinstance(one, ast.Name)}
    return any(name in given and len(unit.facts.stored.get(name, ())) == 1 for name in kept)


def _name(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""


def _receiver(call: ast.Call) -> str:
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    return value.id if isinstance(value, ast.Name) else ""


def _last(call: ast.Call) -> str:
    return dotted_name(call.func).rpartition(".")[2]


def _saved(call: ast.Call) -> Iterator[str]:
    """The names whose state a call saves or takes."""
    if _last(call) in _STATES and _receiver(call):
        yield _receiver(call)
    elif _SAVES.search(_last(call)):
        for argument in _arguments(call):
            yield from (one.id for one in ast.walk(argument) if isinstance(one, ast.Name))


def _loaded(call: ast.Call) -> Iterator[str]:
    """The names that a call loads a state into: itself, or one that it is handed as it is, straight or by a
    class that only wraps it."""
    if _last(call) in _SETS and _receiver(call):
        yield _receiver(call)
    elif _LOADS.search(_last(call)):
        for argument in _arguments(call):
            yield from _handed(argument)


def _handed(argument: ast.expr) -> Iterator[str]:
    if isinstance(argument, ast.Name) and not _ABSTRACT.search(argument.id):
        yield argument.id
    elif isinstance(argument, ast.Call) and _last(argument)[:1].isupper():
        for inner in _arguments(argument):
            yield from _handed(inner)


def _loads_elsewhere(
    loads: list[tuple[str, ast.Call]], calls: list[ast.Call], name: str, load: ast.Call
) -> bool:
    """Whether something is loaded into another object too, which may be what is compared."""
    others = [call for other, call in loads if other != name and call is not load]
    return bool(others) or any(
        call is not load
        and (_last(call) in _SETS or _LOADS.search(_last(call)))
        and name not in _loaded(call)
        for call in calls
    )


def _given(unit: Unit, load: ast.Call) -> set[str]:
    """The names that are given what a call returns."""
    found: set[str] = set()
    for node in unit.asts(ast.Assign):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if value is load or any(below is load for below in ast.walk(value)):
            found |= {
                one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)
            }
    return found


def _compares(demand: Demand, name: str, results: set[str], unit: Unit, load: ast.Call) -> bool:
    """Whether a demand holds what is loaded against what was saved, and nothing else."""
    own = {name} | set(_copies(unit, name, load))
    names = demand.names - {"jax", "test_utils", "chex"}
    read = {one.id for one in ast.walk(demand.node) if isinstance(one, ast.Name)}
    if demand.relation not in ("equal", "close", "helper") or (
        not demand.other and demand.relation != "helper"
    ):
        return False
    looked = names & (own | results)
    called = any(
        isinstance(one, ast.Call) and _receiver(one) in own | results and not _COPIES.search(_last(one))
        for one in ast.walk(demand.node)
    )
    return looked == names and len(looked) > 1 and bool(read & (results | {name})) and not called


def _copies(unit: Unit, name: str, load: ast.Call) -> Iterator[str]:
    """The names that were made from one before the load, as a copy or a state of it."""
    for node in unit.asts(ast.Assign):
        target = node.targets[0]
        if node.lineno < load.lineno and isinstance(target, ast.Name) and len(node.targets) == 1:
            read = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
            calls = [one for one in ast.walk(node.value) if isinstance(one, ast.Call)]
            if name in read and calls and all(_COPIES.search(_last(one)) for one in calls):
                yield target.id
