"""Tests that a change deletes although what they checked stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from reviewbot.errors import UnreadableFile
from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.demands import demands
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.source.units import File

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit


# Classes of what a test only sets.
_SETTINGS = pattern(r"(Config|Configs|Args|Arguments|Options|Params|Settings|Spec)$")
_LEAST_NAME = 6  # letters of a parameter that is known again
_LEAST_TEXT = 8  # letters of a text by which a refusal is known again


@dataclass(frozen=True, slots=True)
class Deleted:
    """A test that is gone. `checked` is the code that it ran and that is still there, as (path, line, name);
    `by` are the other tests that still run it, as (path, name). `refusal` is the text of an exception that it
    expected and that the code still raises, with its path and line, where no other of these tests expects it.
    """

    test: Unit
    checked: tuple[tuple[str, int, str], ...]
    by: tuple[tuple[str, str], ...]
    refusal: tuple[str, str, int] | None = None


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
        if not checked or not last_names.isdisjoint(_came(repo, base)):
            continue
        paths = sorted({path for path, *_ in checked})
        was = [(text, _raised_at(base, paths, text)) for text in _expected(unit)]
        refused = [text for text, at in was if at is not None]
        still = next(((text, *at) for text in refused if (at := _raised_at(repo, paths, text))), None)
        if refused and still is None:
            continue  # What it expected to be refused is refused no more.
        by = tuple(dict.fromkeys((*_others(checked, unit, old.path, repo), *_naming(checked, new))))
        if still is not None and _is_expected(still[0], repo, {path for path, _ in by}):
            still = None
        yield Deleted(unit, checked, by, still)


def _expected(test: Unit) -> Iterator[str]:
    """The texts that a test looks for in what is raised: of a pattern its longest stretch of words."""
    for call in test.asts(ast.Call):
        name = dotted_name(call.func).rpartition(".")[2]
        given = next((one.value for one in call.keywords if one.arg == "match"), None)
        if name in ("assertRaisesRegex", "assertWarnsRegex") and len(call.args) > 1:
            given = call.args[1]
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            words = max(re.split(r"[^A-Za-z _-]+", given.value), key=len).strip()
            if len(words) >= _LEAST_TEXT:
                yield words


def _raised_at(repo: Repo, paths: list[str], text: str) -> tuple[str, int] | None:
    """Where one of these files raises something with that text."""
    for path in paths:
        file = repo.file(path)
        for node in ast.walk(file.tree) if file is not None else ():
            if isinstance(node, ast.Raise) and node.exc is not None:
                parts = [one.value for one in ast.walk(node.exc) if isinstance(one, ast.Constant)]
                if text in "".join(part for part in parts if isinstance(part, str)):
                    return path, node.lineno
    return None


def _is_expected(text: str, repo: Repo, paths: set[str]) -> bool:
    """Whether one of these files, or a test file that the change touches, names a text."""
    touched = {one.path for one in repo.diff if one.path is not None and in_test_file(one.path)}
    return any(text.encode() in (repo.read(path) or b"") for path in sorted(paths | touched))


def _is_elsewhere(again: list[str], name: str, path: str, base: Repo) -> bool:
    """Whether a test of that name came in at another place."""
    before = {where for where, _ in base.index.definitions(name)}
    return any(where not in before for where in again if where != path)


def _checked(test: Unit, old: File, repo: Repo, base: Repo) -> Iterator[tuple[str, int, str]]:
    """The functions and classes outside of tests that a test calls, and that the change leaves in place.

    Not what asserts for it: `assert_eq` is how a test checks, not what it checks. Those whose name the test's
    own name holds are what it is about; the others are named where there are none.
    """
    given = {one.arg for call in test.asts(ast.Call) for one in call.keywords if one.arg}
    if any(_is_taken_out(name, repo, base) for name in sorted(given) if len(name) >= _LEAST_NAME):
        return  # It was about what it gives by that name.
    found = list(_called(test, old, repo, base))
    about = [one for one in found if _is_about(test.name, one[2])]
    found = [one for one in found if _SETTINGS.search(one[2]) is None]
    yield from about or ([] if _lost(test, old, repo, base) else found)


def _lost(test: Unit, old: File, repo: Repo, base: Repo) -> bool:
    """Whether something that a test calls went with it: then that is what it was about."""
    for call in test.asts(ast.Call):
        name = dotted_name(call.func)
        if not name or name.partition(".")[0] not in old.imports:
            continue
        was = base.index.definition(name, old.path, old.imports)
        if was is not None and not in_test_file(was[0]) and not asserts_by_name(name.rpartition(".")[2]):
            again = repo.index.definitions(was[1].name.rpartition(".")[2])
            if not any(not in_test_file(path) for path, _ in again):
                return True
    return False


def _is_taken_out(name: str, repo: Repo, base: Repo) -> bool:
    """Whether the change takes a name out of a file of the code under test."""
    for one in repo.diff:
        if one.old_path is None or in_test_file(one.old_path) or not one.old_path.endswith(".py"):
            continue
        before, after = base.read(one.old_path) or b"", (repo.read(one.path) if one.path else None) or b""
        if name.encode() in before and name.encode() not in after and one.path is not None:
            return True
    return False


def _is_about(test: str, name: str) -> bool:
    words = set(test.rpartition(".")[2].lower().split("_"))
    return set(name.rpartition(".")[2].lower().strip("_").split("_")) <= words


def _called(test: Unit, old: File, repo: Repo, base: Repo) -> Iterator[tuple[str, int, str]]:
    told: set[str] = set()
    aside = _set_up(test)
    for call in test.asts(ast.Call):
        name = dotted_name(call.func)
        if not name or name in told or id(call) in aside:
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


def _set_up(test: Unit) -> set[int]:
    """The calls in a test that only make what a statement's own call is given, or decide which way it goes;
    not those in what it demands."""
    demanded = {id(node) for one in demands(test.tree.body) for node in ast.walk(one.node)}
    given: list[ast.AST] = [one.test for one in test.asts(ast.If)]
    for statement in test.asts(ast.Expr):
        call = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        if isinstance(call, ast.Call):
            given += [*call.args, *(one.value for one in call.keywords)]
    return {id(node) for one in given for node in ast.walk(one)} - demanded


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


def _naming(checked: tuple[tuple[str, int, str], ...], new: File | None) -> Iterator[tuple[str, str]]:
    """The tests of a file that call something of that name, whatever it is reached through."""
    names = {name.rpartition(".")[2] for *_, name in checked}
    for unit in new.units if new is not None else ():
        if unit.is_test and not names.isdisjoint(unit.facts.calls):
            yield new.path, unit.name  # type: ignore[union-attr]


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
