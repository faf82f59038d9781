"""Tests that a change deletes although what they checked stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from reviewbot.errors import UnreadableFile
from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.demands import demands
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import dotted_name
from reviewbot.source.units import File

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True)
class Deleted:
    """A test that is gone. `checked` is the code that it ran and that is still there, as (path, line, name);
    `by` are the other tests that still run it, as (path, name)."""

    test: Unit
    checked: tuple[tuple[str, int, str], ...]
    by: tuple[tuple[str, str], ...]


def deleted(
    old: File, new: File | None, repo: Repo, base: Repo, moved: Callable[[str], bool], paired: frozenset[str]
) -> Iterator[Deleted]:
    """The tests of the old version of a file that the change deletes, and that are neither moved nor written
    anew: no new test runs what they ran. `paired` are those that only go by another name now."""
    names = {unit.name for unit in new.units} if new is not None else frozenset()
    for unit in old.units:
        if not unit.is_test or unit.name in names or unit.name in paired:
            continue
        wanted = demands(unit.tree.body)
        last = unit.name.rpartition(".")[2]
        again = [path for path, one in repo.index.definitions(last) if in_test_file(path)]
        if not wanted or _is_elsewhere(again, last, old.path, base) or any(moved(one.text) for one in wanted):
            continue
        checked = tuple(_checked(unit, old, repo, base))
        last_names = {name.rpartition(".")[2] for *_, name in checked}
        if checked and last_names.isdisjoint(_came(repo, base)):
            yield Deleted(unit, checked, tuple(_others(checked, unit, old.path, repo)))


def _is_elsewhere(again: list[str], name: str, path: str, base: Repo) -> bool:
    """Whether a test of that name came in at another place."""
    before = {where for where, _ in base.index.definitions(name)}
    return any(where not in before for where in again if where != path)


def _checked(test: Unit, old: File, repo: Repo, base: Repo) -> Iterator[tuple[str, int, str]]:
    """The functions and classes outside of tests that a test calls, and that the change leaves in place.

    Not what asserts for it: `assert_eq` is how a test checks, not what it checks. Those whose name the test's
    own name holds are what it is about; the others are named where there are none.
    """
    found = list(_called(test, old, repo, base))
    about = [one for one in found if _is_about(test.name, one[2])]
    yield from about or found


def _is_about(test: str, name: str) -> bool:
    words = set(test.rpartition(".")[2].lower().split("_"))
    return set(name.rpartition(".")[2].lower().strip("_").split("_")) <= words


def _called(test: Unit, old: File, repo: Repo, base: Repo) -> Iterator[tuple[str, int, str]]:
    told: set[str] = set()
    for call in test.asts(ast.Call):
        name = dotted_name(call.func)
        if not name or name in told:
            continue
        told.add(name)
        if name.partition(".")[0] not in old.imports:
            yield from _method(name.rpartition(".")[2], test, repo, base)
            continue
        if asserts_by_name(name.rpartition(".")[2]):
            continue
        was = base.index.definition(name, old.path, old.imports)
        if was is None or in_test_file(was[0]):
            continue
        now = [one for path, one in repo.index.definitions(name.rpartition(".")[2]) if path == was[0]]
        if any(one.name == was[1].name for one in now):
            yield was[0], next(one.line for one in now if one.name == was[1].name), was[1].name


def _method(name: str, test: Unit, repo: Repo, base: Repo) -> Iterator[tuple[str, int, str]]:
    """The method of that name which the test's own name speaks of, called on whatever object: of several that
    of a file which the change touches."""
    if "_" not in name.strip("_") or not _is_about(test.name, name):
        return
    was = {
        (path, one.name)
        for path, one in base.index.definitions(name)
        if one.kind == "method" and not in_test_file(path)
    }
    now = [(path, one) for path, one in repo.index.definitions(name) if (path, one.name) in was]
    touched = {one.path for one in repo.diff}
    near = now if len(now) == 1 else [(path, one) for path, one in now if path in touched]
    if len(near) == 1:
        yield near[0][0], near[0][1].line, near[0][1].name


def _came(repo: Repo, base: Repo) -> frozenset[str]:
    """What the tests call that the change brings in, or adds to."""
    found: set[str] = set()
    for one in repo.diff:
        if one.path is None or not one.changed or not one.path.endswith(".py") or not in_test_file(one.path):
            continue
        before = _calls(base.read(one.old_path) if one.old_path else None)
        for name, calls in _calls(repo.read(one.path)).items():
            if name not in before:
                found |= calls
    return frozenset(found)


@lru_cache(maxsize=1024)  # every test file that loses a test asks for the same ones
def _calls(content: bytes | None) -> Mapping[str, frozenset[str]]:
    """What each function of a file calls, by the function's name; nothing where there is no Python."""
    if content is None:
        return {}
    try:
        file = File("", content)
    except UnreadableFile:
        return {}
    found = {unit.name: frozenset(unit.facts.calls) for unit in file.units if unit.is_function}
    file.close()
    return found


def _others(
    checked: tuple[tuple[str, int, str], ...], test: Unit, path: str, repo: Repo
) -> Iterator[tuple[str, str]]:
    """The tests that still call any of it."""
    told: set[tuple[str, str]] = set()
    for where, _, name in checked:
        defined = [one for at, one in repo.index.definitions(name.rpartition(".")[2]) if at == where]
        for one in defined[:1]:
            for at, call in repo.index.callers(where, one):
                if in_test_file(at) and (at, call.caller) not in told and call.caller != test.name:
                    told.add((at, call.caller))
                    yield at, call.caller
