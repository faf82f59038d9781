"""What a function of another file of the repository does to a verdict."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.checks import called_name
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import Summaries, Summary
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_JUDGES = re.compile(
    r"(?i)(^|[._])(assert\w*|check\w*|compar\w*|verif\w*|same|equal\w*|match\w*|\w*close|diff\w*|parity|is_\w+|"
    r"validat\w*|agree\w*|mismatch\w*)(_|$)"
)


_KNOWN = assertions.LIBRARIES | {"builtins"}


def is_foreign_judge(name: str, unit: Unit) -> bool:
    """Whether a name is imported, not from a known library, and says that it compares."""
    first = name.partition(".")[0]
    origin = unit.file.imports.get(first, "")
    if not origin or origin.partition(".")[0] in _KNOWN:
        return False
    return _JUDGES.search(name) is not None


def summary_of(unit: Unit, call: cst.Call, repo: Repo) -> Summary | None:
    """What a called function of this file, or of another one of the repository, does."""
    name = called_name(call)
    found = Summaries.of(unit.file).called(name, unit)
    if found is not None or not is_foreign_judge(name, unit) or is_local(unit, call):
        return found
    helper = helper_of(unit, name, repo)
    return None if helper is None else _summary(helper)


def checks_elsewhere(unit: Unit, name: str, repo: Repo) -> bool:
    """Whether a dotted name is a function of another file, one of tests or one that compares, which may fail
    over a difference. That a product function refuses its input is no check of a test."""
    if name.partition(".")[0] not in unit.file.imports:
        return False
    helper = helper_of(unit, name, repo)
    if helper is None or not (in_test_file(helper.file.path) or is_foreign_judge(name, unit)):
        return False
    summary = _summary(helper)
    return summary is not None and (summary.asserts or summary.may_assert)


def helper_of(unit: Unit, name: str, repo: Repo) -> Unit | None:
    """The function of another file that a dotted name means in this one."""
    defined = repo.index.definition(name, unit.file.path, unit.file.imports)
    other = repo.file(defined[0]) if defined is not None else None
    return other.unit(defined[1].name) if other is not None and defined is not None else None


def _summary(helper: Unit) -> Summary | None:
    if not isinstance(helper.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return Summaries.of(helper.file).summary(helper.tree, helper)


def is_local(unit: Unit, call: cst.Call) -> bool:
    """Whether the bare name that is called is bound in the unit itself."""
    return isinstance(call.func, cst.Name) and unit.is_function and bool(values(unit).reaching(call.func))
