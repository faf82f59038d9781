"""Two versions of a test file: what asked for runs that repeat exactly, and is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewbot.flow.demands import demands
from reviewbot.flow.loosening import Loosened, short
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name

if TYPE_CHECKING:
    from reviewbot.source.units import File

_ASKS = pattern(r"(?i)batch_?invarian|determinis|CUBLAS_WORKSPACE|PYTHONHASHSEED")
_EXACT = frozenset({"equal", "identical"})


def undetermined(old: File, new: File) -> Iterator[Loosened]:
    """The settings by which runs repeat exactly that the new version of a file, which compares exactly, no
    longer makes."""
    asked = dict(_settings(old))
    left = {name for name, _ in _settings(new)}
    lost = [node for name, node in asked.items() if name not in left and _is_gone(name, new)]
    if lost and any(one.relation in _EXACT for unit in new.units for one in demands(unit.body)):
        says = f"`{short(ast.unparse(lost[0]))}` is gone, which made runs repeat that are compared exactly"
        yield Loosened("gone", lost[0], None, says, sure=False, still="what differs on every run")


def _is_gone(name: str, new: File) -> bool:
    """Whether no word of it is left: a helper or a fixture may set it now."""
    return name not in "".join(new.lines)


def _settings(file: File) -> Iterator[tuple[str, ast.stmt]]:
    """What a file sets to be on: variables of the environment, attributes, and calls with True."""
    for node in file.asts(ast.Assign):
        target, value = node.targets[0], node.value
        if not isinstance(value, ast.Constant) or value.value in (None, False, 0, "0", ""):
            continue
        if isinstance(target, ast.Subscript) and dotted_name(target.value) == "os.environ":
            name = target.slice.value if isinstance(target.slice, ast.Constant) else ""
        else:
            name = target.attr if isinstance(target, ast.Attribute) else ""
        if isinstance(name, str) and _ASKS.search(name):
            yield name, node
    for statement in file.asts(ast.Expr):
        call = statement.value
        if isinstance(call, ast.Call):
            name = dotted_name(call.func).rpartition(".")[2]
            on = any(isinstance(one, ast.Constant) and one.value is True for one in call.args)
            if _ASKS.search(name) and (on or not call.args):
                yield name, statement
