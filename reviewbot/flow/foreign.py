"""What a function of another file of the repository does to a verdict."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.checks import called_name
from reviewbot.flow.summaries import Summaries, Summary
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_JUDGES = re.compile(
    r"(?i)(^|[._])(assert\w*|check\w*|compar\w*|verif\w*|same|equal\w*|match\w*|\w*close|diff\w*|parity|is_\w+|"
    r"validat\w*|agree\w*|mismatch\w*)(_|$)"
)


def is_foreign_judge(name: str, unit: Unit) -> bool:
    """Whether a name is imported, not from a known library, and says that it compares."""
    first = name.partition(".")[0]
    origin = unit.file.imports.get(first, "")
    known = assertions.LIBRARIES | {"builtins"}
    return bool(origin) and origin.partition(".")[0] not in known and _JUDGES.search(name) is not None


def summary_of(unit: Unit, call: cst.Call, repo: Repo) -> Summary | None:
    """What a called function of this file, or of another one of the repository, does."""
    name = called_name(call)
    found = Summaries.of(unit.file).called(name, unit)
    if found is not None or not is_foreign_judge(name, unit) or is_local(unit, call):
        return found
    defined = repo.index.definition(name, unit.file.path, unit.file.imports)
    other = repo.file(defined[0]) if defined is not None else None
    helper = other.unit(defined[1].name) if other is not None and defined is not None else None
    if (
        other is None
        or helper is None
        or not isinstance(helper.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    ):
        return None
    return Summaries.of(other).summary(helper.tree, helper)


def is_local(unit: Unit, call: cst.Call) -> bool:
    """Whether the bare name that is called is bound in the unit itself."""
    return isinstance(call.func, cst.Name) and unit.is_function and bool(values(unit).reaching(call.func))
