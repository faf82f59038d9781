"""The pytest fixture behind a parameter: of the file itself, or of a `conftest.py` in its folder or above."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reviewbot.flow.collection import decorator_name
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit


def takes_fixtures(unit: Unit) -> bool:
    """Whether pytest hands a function its arguments: a test, or a fixture itself."""
    return unit.is_function and (unit.is_test or is_fixture(unit))


def fixture(unit: Unit, name: str, repo: Repo | None) -> Unit | None:
    """The fixture that a test or fixture asks for by a parameter's name; None where none is found."""
    found = _in(unit.file, name, unit)
    folder = unit.file.path.rpartition("/")[0]
    while found is None and repo is not None:
        path = f"{folder}/conftest.py" if folder else "conftest.py"
        file = repo.file(path) if path != unit.file.path else None
        found = _in(file, name, unit) if file is not None else None
        if not folder:
            break
        folder = folder.rpartition("/")[0]
    return found


def _in(file: File, name: str, asking: Unit) -> Unit | None:
    """The fixture of that name in a file, unless it is the one that asks (which overrides one above)."""
    found = (file.units[at] for at in _fixtures(file).get(name, ()))
    return next((unit for unit in found if unit is not asking), None)


@once
def _fixtures(file: File) -> dict[str, list[int]]:
    """The fixtures of a file by the names that tests ask for them by, as places in its units."""
    found: dict[str, list[int]] = {}
    for at, unit in enumerate(file.units):
        if unit.is_function and is_fixture(unit):
            found.setdefault(_name(unit), []).append(at)
    return found


def is_fixture(unit: Unit) -> bool:
    """Whether a function is marked as a fixture of pytest."""
    return any(_marks(decorator) for decorator in _decorators(unit))


def _name(unit: Unit) -> str:
    for decorator in filter(_marks, _decorators(unit)):
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
    return unit.name.rpartition(".")[2]


def _marks(decorator: ast.expr) -> bool:
    return decorator_name(decorator).rpartition(".")[2] in ("fixture", "yield_fixture")


def _decorators(unit: Unit) -> list[ast.expr]:
    tree = unit.tree
    return tree.decorator_list if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
