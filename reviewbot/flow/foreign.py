"""What a function of another file of the repository does to a verdict."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.across import called_elsewhere
from reviewbot.flow.checks import called_name
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries, Summary, dotted_name
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_JUDGES = pattern(
    r"(?i)(^|[._])(assert\w*|check\w*|compar\w*|verif\w*|same|equal\w*|match\w*|\w*close|diff\w*|parity|is_\w+|"
    r"validat\w*|agree\w*|mismatch\w*|problems|violations|discrepanc\w*)(_|$)"
)
# What hands back what it found, and shows or raises nothing by its name.
_FINDS = pattern(
    r"(?i)^_*((find|get|list|collect|compute|all|count)_)?(\w+_)?(differences|mismatches|problems|discrepancies"
    r"|violations|diffs)(_(between|of|in|from)(_\w+)?)?$"
)
_SHOWS = pattern(
    r"(?i)^_*(show|print|log|report|write|plot|dump|assert|check|raise|fail|expect|verify|require|warn|display"
    r"|render|record|save|apply|fix|resolve|ignore|reset|clear)_"
)


_BASES = 4  # classes from one to the next, through other files
_KNOWN = assertions.LIBRARIES | {"builtins"}


def is_foreign_judge(name: str, unit: Unit) -> bool:
    """Whether a name is imported, not from a known library, and says that it compares."""
    return name.partition(".")[0] in foreign_names(unit.file) and _JUDGES.search(name) is not None


def finds_differences(name: str) -> bool:
    """Whether a function's name says that it hands back where two things differ: `differences`."""
    last = name.rpartition(".")[2]
    return _FINDS.search(last) is not None and _SHOWS.search(last) is None


def names_judge(name: str) -> bool:
    """Whether one part of a dotted name could say that it compares."""
    return _JUDGES.search(name) is not None


@once
def foreign_names(file: File) -> frozenset[str]:
    """The names that a file imports, not from a known library."""
    return frozenset(
        name for name, origin in file.imports.items() if origin and origin.partition(".")[0] not in _KNOWN
    )


def summary_of(unit: Unit, call: cst.Call, repo: Repo) -> Summary | None:
    """What a called function of this file, or of another one of the repository, does."""
    name = called_name(call)
    found = Summaries.of(unit.file).called(name, unit)
    if found is not None or not is_foreign_judge(name, unit) or is_local(unit, call):
        return found
    helper = helper_of(unit, name, repo)
    return None if helper is None else _summary(helper)


def summary_elsewhere(unit: Unit, call: cst.Call, repo: Repo) -> Summary | None:
    """What a called function of another file of the repository does, whatever it is called."""
    helper = called_elsewhere(repo, unit, call) if not is_local(unit, call) else None
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


def asserts_elsewhere(unit: Unit, name: str, repo: Repo) -> bool:
    """Whether a dotted name is a function of another file that asserts something of its own, or a method that
    the class has from a base in another file and that checks."""
    first, _, rest = name.partition(".")
    if first in ("self", "cls", "super()") and rest and "." not in rest:
        return unit.owner is not None and _inherited_check(unit.file, unit.owner, rest, repo, _BASES)
    helper = helper_of(unit, name, repo) if first in unit.file.imports else None
    return helper is not None and any(not _narrows(one) for one in helper.asts(ast.Assert))


def _narrows(node: ast.Assert) -> bool:
    """Whether an assertion only says of what type a value is."""
    test = node.test
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], (ast.Is, ast.IsNot))
    called = test.func if isinstance(test, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("isinstance", "callable", "issubclass")


def _inherited_check(file: File, owner: ast.ClassDef, name: str, repo: Repo, depth: int) -> bool:
    for base in owner.bases if depth else ():
        written = dotted_name(base)
        if written in file.classes:
            if _inherited_check(file, file.classes[written], name, repo, depth - 1):
                return True
            continue
        found = repo.index.definition(written, file.path, file.imports) if written else None
        other = repo.file(found[0]) if found is not None and found[0] != file.path else None
        known = other.classes.get(found[1].name) if other is not None and found is not None else None
        if other is None or known is None:
            continue
        method = other.unit(f"{known.name}.{name}")
        summary = _summary(method) if method is not None else None
        if summary is not None and (summary.asserts or summary.may_assert):
            return True
        if summary is None and _inherited_check(other, known, name, repo, depth - 1):
            return True
    return False


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
