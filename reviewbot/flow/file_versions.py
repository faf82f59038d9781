"""Two versions of a Python file: everything that a change makes looser in it, function by function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from reviewbot.flow.determinism import undetermined
from reviewbot.flow.judging import judges
from reviewbot.flow.limits import compared, exceptions, grown, iterated
from reviewbot.flow.loosening import Loosened, fewer, fewer_cases, loosened, more, skipped
from reviewbot.flow.merged import merged
from reviewbot.flow.narrowed import narrowed, only_told, switched_off
from reviewbot.flow.uncollected import uncollected
from reviewbot.flow.unraised import unraised
from reviewbot.flow.versions import Place, beside, pairs

if TYPE_CHECKING:
    from reviewbot.flow.moved import Known, Moved
    from reviewbot.source.units import File, Unit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def looser_file(
    old: File, new: File, moved: Moved, known: Known
) -> Iterator[tuple[str, Loosened, tuple[int, int]]]:
    """Everything that became looser from one version of a file to the next: the function, what, and the lines
    at which what is gone would stand."""

    for before, after in pairs(old, new):
        had, has = before.tree, after.tree
        if not isinstance(had, _FUNCTIONS) or not isinstance(has, _FUNCTIONS) or not _judge(before, after):
            continue
        place = Place(before, after)
        found = list(skipped([*had.decorator_list, *had.body], [*has.decorator_list, *has.body]))
        if not after.is_test:
            # A hook, a fixture: it decides for each test.
            found = [replace(one, sure=False) for one in found]
        if not any(one.sure for one in found):
            found += loosened(had.body, has.body, moved, known)
            found += narrowed(had, has)
            told = list(only_told(had, has))
            found = [one for one in found if all(one.before is not other.before for other in told)] + told
            found += uncollected(had, has)
            found += [one for name, one in switched_off(had, has) if not known.given(after.name, name)]
            found += fewer(iterated(had), iterated(has), known.dropped)
            found += fewer_cases(had.decorator_list, has.decorator_list, known.dropped)
            found += merged(had, has)
        for one in found:
            yield after.name, one, place.of(one.before) if one.before else (after.line, after.line)
    heads = [[node for unit in file.units for node in _head(unit)] for file in (old, new)]
    found = list(skipped(*heads))
    found += fewer(compared(old), compared(new))
    found += more(exceptions(old), exceptions(new))
    found += grown(old.tree, new.tree)
    yield from (("", one, (1, 1)) for one in found)
    for one in undetermined(old, new):
        line = one.before.lineno if one.before is not None else 1  # type: ignore[attr-defined]
        yield "", one, beside(list(old.lines), list(new.lines), line)


def unraised_file(old: File, new: File) -> Iterator[tuple[Loosened, tuple[int, int]]]:
    """What a file that tests nothing no longer refuses, and the lines at which what is gone would stand."""
    for before, after in pairs(old, new):
        place = Place(before, after)
        for one in unraised(after.name.rpartition(".")[2], before.tree, after.tree):
            yield one, place.of(one.before) if one.before else (after.line, after.line)


def _judge(before: Unit, after: Unit) -> bool:
    return judges(before) or judges(after)


def _head(unit: Unit) -> list[ast.AST]:
    """What stands at the top of a module or class: marks, and the decorators of a class."""
    if unit.is_function:
        return []
    above = unit.tree.decorator_list if isinstance(unit.tree, ast.ClassDef) else []
    return [*above, *(node for node in unit.body if isinstance(node, (ast.Assign, ast.Expr)))]
