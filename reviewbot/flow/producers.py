"""What the repository itself can write: lines of its log calls, its records, the values of its parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import unit_of
from reviewbot.flow.calls import module_value
from reviewbot.flow.classes import Known, given
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.linear import Linear
from reviewbot.flow.records import worth_at
from reviewbot.flow.syntax import dotted
from reviewbot.index.facts import Log

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_HOLE = "\0"
_LEAST_TEXT = 10


@dataclass(frozen=True, slots=True)
class Written:
    """A place outside of tests that writes something down, and what each number in it is worth there."""

    path: str
    line: int
    end_line: int
    function: str
    worth: Mapping[str, Linear]


@dataclass(frozen=True, slots=True)
class Broken:
    """Numbers that a producer makes so that `total` is the sum of `parts`, and that are given otherwise."""

    written: Written
    total: str
    parts: tuple[str, ...]
    given: Mapping[str, int]


def broken_line(repo: Repo, text: str) -> Broken | None:
    """The arithmetic of a log call that a line in its form breaks, if one does."""
    for path, log in repo.index.outside_tests.logs():
        if len(log.values) < 3:
            continue
        pieces = log.template.split(_HOLE)
        if len("".join(pieces)) < _LEAST_TEXT or max(pieces, key=len) not in text:
            continue
        match = re.search("(.*?)".join(re.escape(piece) for piece in pieces[:-1]) + r"(\S*)", text)
        if match is None:
            continue
        given = {
            value.name or str(place): (int(found), value.source)
            for place, (value, found) in enumerate(zip(log.values, match.groups(), strict=True))
            if re.fullmatch(r"-?\d+", found)
        }
        found_break = _broken(repo, path, log, given)
        if found_break is not None:
            return found_break
    return None


def _broken(repo: Repo, path: str, log: Log, given: Mapping[str, tuple[int, str]]) -> Broken | None:
    unit = unit_of(repo.file(path), log.function)
    if unit is None or len(given) < 2:
        return None
    worth: dict[str, Linear] = {}
    for name, (_, source) in given.items():
        value = worth_at(unit, log.line, source)
        if value is not None:
            worth[name] = value
    written = Written(path, log.line, log.end_line, log.function, worth)
    return _breaks(written, {name: number for name, (number, _) in given.items()})


def broken_record(repo: Repo, given: Mapping[str, int]) -> Broken | None:
    """The arithmetic of the one place that writes a record with these keys, if the numbers break it."""
    places: set[tuple[str, str]] = set()
    worth: dict[str, Linear] = {}
    lines: list[int] = []
    for key in given:
        written = repo.index.outside_tests.writers(key)
        if len(written) != 1:
            continue
        path, fact = written[0]
        unit = unit_of(repo.file(path), fact.function)
        value = None if unit is None else worth_at(unit, fact.line, fact.source)
        if value is not None:
            places.add((path, fact.function))
            worth[key] = value
            lines.append(fact.line)
    if len(places) != 1:
        return None
    path, function = places.pop()
    return _breaks(Written(path, min(lines), max(lines), function, worth), given)


def constructed(repo: Repo, fields: Iterable[str]) -> Written | None:
    """What the fields of an object are worth where the one place outside of tests makes it; None where
    several classes have these fields, or several places make one."""
    wanted, index = list(fields), repo.index.outside_tests
    homes: set[tuple[str, str]] = set()
    for place, name in enumerate(wanted):
        having = {(path, fact.function) for path, fact in index.having(name)}
        homes = having if not place else homes & having
        if not homes:
            return None
    if len(homes) != 1:
        return None
    home, owner = homes.pop()
    classes = repo.index.of_file(home).classes(owner.rpartition(".")[2])
    known = next((Known(home, one) for _, one in classes if one.name == owner), None)
    made: list[Written] = []
    sites = {(path, one.caller) for path, one in index.calls(owner.rpartition(".")[2])}
    # Of several functions that make one, none is the producer: nothing has to be parsed to see that.
    for path, caller in sites if known is not None and len(sites) == 1 else ():
        unit = unit_of(repo.file(path), caller)
        for call in unit.find(cst.Call) if unit is not None else ():
            if (
                unit is None
                or known is None
                or dotted(call.func).rpartition(".")[2] != owner.rpartition(".")[2]
            ):
                continue
            values = given(call, known, known.found.fields)
            if values is None or not set(wanted) <= set(values):
                return None
            line, end_line = unit.span(call).line, unit.span(call).end_line
            worth = {name: worth_at(unit, line, unit.text(values[name])) for name in wanted}
            held = {name: value for name, value in worth.items() if value is not None}
            if len(held) < len(wanted) or made:
                return None
            made.append(Written(path, line, end_line, unit.name, held))
    return made[0] if made else None


def broken_object(repo: Repo, numbers: Mapping[str, int]) -> Broken | None:
    """The arithmetic of the one place that makes an object with these fields, if the numbers break it."""
    written = constructed(repo, numbers)
    return None if written is None else _breaks(written, numbers)


def _breaks(written: Written, given: Mapping[str, int]) -> Broken | None:
    known = [name for name in given if name in written.worth and written.worth[name].atoms]
    for total in known:
        others = [name for name in known if name != total]
        for parts in combinations(others, 2):
            rest = written.worth[total]
            for part in parts:
                rest = rest.plus(written.worth[part], -1)
            if rest.is_zero and given[total] != sum(given[part] for part in parts):
                return Broken(written, total, parts, given)
    return None


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values that an annotation lets a parameter or field have, and where it says so. `words` are the
    other words in its owner's body; `normalised`: the owner sets the parameter anew from what it is given."""

    path: str
    line: int
    owner: str
    values: tuple[object, ...]
    words: frozenset[str]
    normalised: bool

    def takes(self, text: str) -> bool:
        """Whether the code takes a word that the annotation leaves out: by name, or in another case."""
        alike = any(isinstance(one, str) and one.lower() == text.lower() for one in self.values)
        return text in self.words or (self.normalised and alike)


def allowed(repo: Repo, unit: Unit, called: str, keyword: str) -> Allowed | None:
    """What a parameter of a function, or a field of a class, of the repository may be, if it is annotated
    with the literals that it may be."""
    if called.partition(".")[0] not in unit.file.imports:
        return None
    defined = repo.index.definition(called, unit.file.path, unit.file.imports)
    if defined is None or in_test_file(defined[0]):
        return None
    path, definition = defined
    if definition.kind != "class" and keyword not in definition.parameters:
        return None
    content = repo.read(path)
    if content is None or b"Literal[" not in content:
        return None
    file = repo.file(path)
    made = file.unit(definition.name) if file is not None else None
    if file is None or made is None:
        return None
    for name, annotation in _annotations(_constructor(file, made) or made):
        values = _literals(file, annotation) if name == keyword else ()
        if values:
            words, normalised = _body(made, keyword)
            return Allowed(path, annotation.lineno, definition.name, values, words, normalised)
    return None


def _constructor(file: File, made: Unit) -> Unit | None:
    """The `__init__` of a class, which may take more than its fields hold afterwards."""
    return file.unit(f"{made.name}.__init__") if isinstance(made.tree, ast.ClassDef) else None


def _body(owner: Unit, keyword: str) -> tuple[frozenset[str], bool]:
    """The words in a function's body, and whether it sets a parameter anew."""
    tree = owner.tree
    words: set[str] = set()
    normalised = False
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return frozenset(), False
    for node in (below for statement in tree.body for below in ast.walk(statement)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            normalised = normalised or node.id == keyword
    return frozenset(words), normalised


def _annotations(unit: Unit) -> Iterator[tuple[str, ast.expr]]:
    tree = unit.tree
    if isinstance(tree, ast.ClassDef):
        for statement in tree.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                yield statement.target.id, statement.annotation
    elif isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
            if argument.annotation is not None:
                yield argument.arg, argument.annotation


def _literals(file: File, node: ast.expr, depth: int = 3) -> tuple[object, ...]:
    """The values of `Literal["a", "b"] | None`; nothing where the annotation allows anything else."""
    if isinstance(node, ast.Constant) and node.value is None:
        return (None,)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _literals(file, node.left, depth), _literals(file, node.right, depth)
        return (*left, *right) if left and right else ()
    if isinstance(node, ast.Name) and depth:
        value = module_value(file, node.id)
        return () if value is None else _literals(file, value, depth - 1)
    if not isinstance(node, ast.Subscript):
        return ()
    last = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    if last == "Optional":
        inner = _literals(file, node.slice, depth)
        return (*inner, None) if inner else ()
    if last != "Literal":
        return ()
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    held = tuple(element.value for element in elements if isinstance(element, ast.Constant))
    return held if len(held) == len(elements) else ()
