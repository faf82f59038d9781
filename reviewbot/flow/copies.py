"""Functions that are written again: of one shape with another, and what they take from around them means one
thing in both files."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.source.shape import own_body, shape_of, words_of
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.index.facts import Definition
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

# What is shown to readers has everything in one file; nothing should import it.
_STANDS_ALONE = pattern(
    r"(^|/)(docs?|examples?|tutorials?|notebooks?|recipes?|egs|cookbooks?|gallery|demos?|samples?)/"
)
_LEAST_NODES = 20
_LARGE = 45  # nodes of what is worth a word also where a plain import does not get it
_LEAST_LINES = 4  # of the body of what a plain import gets
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Copied:
    """What a function writes again: a definition in another file. `how` is "word for word" or "with other
    names"."""

    path: str
    original: Definition
    how: str


def large_enough(unit: Unit) -> bool:
    """Whether a function or method is worth calling instead of writing it again."""
    if unit.facts.size < _LEAST_NODES:
        return False
    shape, size = _shape(unit)
    return shape != "" and size >= _LEAST_NODES


@once
def _shape(unit: Unit) -> tuple[str, int]:
    return shape_of(unit.tree)  # type: ignore[arg-type]


def original_of(unit: Unit, repo: Repo) -> Copied | None:
    """What a function or method writes again: in a test the product's code, or that of a test helper that can
    be imported; in the product, within a change, what one other file of it had before."""
    return next(_originals(unit, repo), None)


def _originals(unit: Unit, repo: Repo) -> Iterator[Copied]:
    tree, mine = unit.tree, unit.file.path
    assert isinstance(tree, _Function)
    shape, size = _shape(unit)
    if not large_enough(unit):
        return
    # Where nothing changes, a test may write again what the product has, and nothing else is told.
    if repo.base is None and not in_test_file(mine):
        return
    index = repo.index.outside_tests if repo.base is None else repo.index
    among = [(path, one) for path, one in index.same_shape(shape) if path != mine]
    for path, one in among:
        peers = in_test_file(path) == in_test_file(mine)
        if _STANDS_ALONE.search(path) or (peers and _STANDS_ALONE.search(mine)):
            continue
        if in_test_file(path) and not (peers and _is_helper(path)):
            continue
        if (peers or size < _LARGE) and not _is_plain(unit, tree, one):
            continue
        # Code that stands in many places is meant to; of two that come in together none was there first.
        if peers and (len(among) > 1 or not _was_there(path, shape, repo) or _was_there(mine, shape, repo)):
            continue
        other = repo.file(path)
        found = other.unit(one.name) if other is not None else None
        original = found.tree if found is not None else None
        if other is None or not isinstance(original, _Function):
            continue
        if _same_meaning(tree, unit.file, original, other, repo):
            same = words_of(own_body(tree))[0] == words_of(own_body(original))[0]
            yield Copied(path, one, "word for word" if same else "with other names")


def _is_helper(path: str) -> bool:
    """Whether a file among tests is there to be imported."""
    name = path.rpartition("/")[2]
    return not name.startswith("test_") and not name.endswith("_test.py") and name != "conftest.py"


def _is_plain(unit: Unit, tree: _Function, original: Definition) -> bool:
    """Whether a plain function of some lines is written again that a plain import gets."""
    plain = unit.kind == original.kind == "function" and not tree.decorator_list and not original.decorators
    body = own_body(tree)
    lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
    return plain and "." not in original.name and lines >= _LEAST_LINES


def _was_there(path: str, shape: str, repo: Repo) -> bool:
    """Whether a file had a function of that shape before the change."""
    return repo.base is not None and any(at == path for at, _ in repo.base.index.same_shape(shape))


def _same_meaning(function: _Function, file: File, original: _Function, other: File, repo: Repo) -> bool:
    """Whether every name that the bodies take from their modules means the same in both files: one import,
    equal constants, one function or two of one shape, a builtin. What cannot be told is not the same."""
    names = _outer(function)
    return names == _outer(original) and all(_same(name, file, other, repo) for name in names)


def _outer(function: _Function) -> frozenset[str]:
    """The names that a body reads and does not bind."""
    arguments = function.args
    local = {arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    local |= {arg.arg for arg in (arguments.vararg, arguments.kwarg) if arg}
    words, stored, _ = words_of(own_body(function))
    return frozenset(word[0] for word in words if isinstance(word, tuple)) - stored - local


def _same(name: str, file: File, other: File, repo: Repo) -> bool:
    here = repo.index.definition(name, file.path, file.imports)
    there = repo.index.definition(name, other.path, other.imports)
    if here is not None and there is not None:
        shape = here[1].shape
        return (here[0], here[1].name) == (there[0], there[1].name) or shape == there[1].shape != ""
    if here is not None or there is not None:
        return False
    if name in file.imports or name in other.imports:
        return _imported(name, file, repo) == _imported(name, other, repo)
    mine, theirs = _constant(name, file.tree), _constant(name, other.tree)
    if mine is None and theirs is None:
        return hasattr(builtins, name)
    if mine is None or theirs is None or ast.dump(mine) != ast.dump(theirs):
        return False
    used = {node.id for node in ast.walk(mine) if isinstance(node, ast.Name)} - {name}
    return all(_same(one, file, other, repo) for one in used)


def _imported(name: str, file: File, repo: Repo) -> str | None:
    """What an imported name stands for, a module of the repository by its path."""
    target = file.imports.get(name)
    return None if target is None else repo.index.module(target, file.path) or target


def _constant(name: str, tree: ast.Module) -> ast.expr | None:
    """The value of a name that a module binds once; None for one that starts empty, to be filled later."""
    found = [
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name) and target.id == name
    ]
    value = found[0] if len(found) == 1 else None
    return None if value is None or _is_empty(value) else value


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return not value.args and not value.keywords
    return not getattr(value, "elts", [1]) or not getattr(value, "keys", [1])
