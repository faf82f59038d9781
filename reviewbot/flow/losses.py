"""Objects that are built anew without one of their fields, and the setting under which that happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import calls_of, unit_of
from reviewbot.flow.classes import Known, class_of_name, given, instance_of
from reviewbot.flow.control import Guard, guards
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.refusals import SET, switched
from reviewbot.flow.settings import Behind, behind
from reviewbot.flow.syntax import UNKNOWN, dotted, literal
from reviewbot.index.facts import Field, Rebuild

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """`call` in `unit` builds a `known` from one of its kind and leaves `field` to its default.

    `asked` are the settings that put something into the field where the object is first made (`made`), and
    `opened` those under which it is built anew.
    """

    unit: Unit
    call: cst.Call
    known: Known
    field: Field
    made: tuple[Unit, cst.Call]
    asked: tuple[Behind, ...]
    opened: tuple[Behind, ...]


def losses(repo: Repo) -> Iterator[Loss]:
    """Every such call of the repository whose lost field and whose condition both come from settings."""
    for path, rebuild in repo.once(_losing):
        yield from _at(repo, path, rebuild)


def _losing(repo: Repo) -> tuple[tuple[str, Rebuild], ...]:
    """The places at which something is lost: few, and asked for by every function that refuses a pair."""
    return tuple(
        (path, rebuild)
        for path, rebuild in repo.index.outside_tests.rebuilds()
        if _may_lose(repo, path, rebuild) and any(True for _ in _at(repo, path, rebuild))
    )


def _may_lose(repo: Repo, path: str, rebuild: Rebuild) -> bool:
    """Whether a class with fields may be meant, as far as can be said without parsing its file."""
    if "**" in rebuild.given:
        return False
    last = rebuild.name.rpartition(".")[2]
    if any(found.kind != "plain" for _, found in repo.index.classes(last)):
        return True
    renamed = rb"\bas\s+" + re.escape(rebuild.name.encode()) + rb"\b"
    return re.search(renamed, repo.read(path) or b"") is not None


def _at(repo: Repo, path: str, rebuild: Rebuild) -> Iterator[Loss]:
    unit = unit_of(repo.file(path), rebuild.function)
    known = class_of_name(rebuild.name, path, unit.file.imports, repo.index) if unit is not None else None
    if unit is None or known is None or known.found.kind == "plain":
        return
    lost = [
        f for f in known.found.fields if f.default is not None and f.taken and f.name not in rebuild.given
    ]
    if not lost or len(lost) > len(rebuild.carried):
        return
    for call in unit.find(cst.Call):
        here = dotted(call.func) == rebuild.name and unit.span(call).line == rebuild.line
        if here and _receiver_is(unit, call, rebuild.receiver, known, repo):
            yield from _of_call(repo, unit, call, known, lost)


def _receiver_is(unit: Unit, call: cst.Call, receiver: str, known: Known, repo: Repo) -> bool:
    for arg in call.args:
        if isinstance(arg.value, cst.Attribute) and dotted(arg.value.value) == receiver:
            return instance_of(arg.value.value, unit, repo.index) == known
    return False


def _of_call(repo: Repo, unit: Unit, call: cst.Call, known: Known, lost: list[Field]) -> Iterator[Loss]:
    opening = _opening(repo, unit, call, known)
    if not opening:
        return
    for maker, made in _made(repo, known):
        if made is call:
            continue
        values = given(made, known, known.found.fields)
        for field in lost if values else ():
            assert values is not None
            if field.name not in values or dotted(values[field.name]).endswith(f".{field.name}"):
                continue
            asked = tuple(behind(repo, maker, values[field.name]))
            opened = tuple(
                setting
                for name, wanted in opening
                if name in values and name != field.name
                for setting in _chosen(repo, maker, values[name], wanted)
            )
            if asked and opened:
                yield Loss(unit, call, known, field, (maker, made), asked, opened)


def _made(repo: Repo, known: Known) -> Iterator[tuple[Unit, cst.Call]]:
    last = known.found.name.rpartition(".")[2]
    for path, caller in sorted({(path, call.caller) for path, call in repo.index.calls(last)}):
        unit = None if in_test_file(path) else unit_of(repo.file(path), caller)
        for call in unit.find(cst.Call) if unit is not None else ():
            assert unit is not None
            if dotted(call.func).rpartition(".")[2] == last:
                yield unit, call


def _opening(repo: Repo, unit: Unit, call: cst.Call, known: Known) -> list[tuple[str, object]]:
    """The fields of the old object, and what they must be, for the call to be reached."""
    found = [pair for guard in guards(unit, call) for pair in _fields(repo, unit, guard, known)]
    if found:
        return found
    return [
        pair
        for caller, outer in calls_of(repo, unit)
        if not in_test_file(caller.file.path)
        for guard in guards(caller, outer)
        for pair in _fields(repo, caller, guard, known)
    ]


def _fields(repo: Repo, unit: Unit, guard: Guard, known: Known) -> Iterator[tuple[str, object]]:
    for setting in switched(unit, guard.condition, guard.outcome, on=True):
        node = setting.asked.left if isinstance(setting.asked, cst.Comparison) else setting.asked
        if isinstance(node, cst.Attribute) and instance_of(node.value, unit, repo.index) == known:
            yield setting.name, setting.on


def _chosen(repo: Repo, unit: Unit, value: cst.BaseExpression, wanted: object) -> Iterator[Behind]:
    """The settings by which a value is the wanted one: `"a" if flag else "b"` for "a", `flag` itself for one
    that is set."""
    if not isinstance(value, cst.IfExp):
        if wanted == SET and isinstance(value, (cst.Name, cst.Attribute)):
            yield from behind(repo, unit, value)
        return
    arms = literal(value.body), literal(value.orelse)
    fits = [arm is UNKNOWN or arm not in (None, False, 0) if wanted == SET else arm == wanted for arm in arms]
    if fits == [True, False]:
        yield from behind(repo, unit, value.test)
