"""Expected results that a check itself renews: where they differ, or by default.

```python
if actual != golden:
    GOLDEN.write_text(actual)  # and nothing fails
```

Reads `ast` only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.file_places import COPIES, READS, TELLING, WRITES, Places, places
from reviewbot.flow.patterns import pattern
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

GOLDEN = pattern(r"(?i)golden|snapshot|approved|(^|[_\W])(expected|baseline|reference)s?([_\W]|$)")
ASKED = pattern(r"(?i)update|overwrite|regen|generate|rebase|record|bless|rewrite|force|renew|refresh|accept")
_SAYS_EQUAL = pattern(r"(?i)equal|close|^cmp$|same")
_FETCHED = pattern(r"(?i)fetch|download|urlopen|(^|\W)requests\.|httpx")
_RENEWS_IT = pattern(
    r"(?i)^(update|overwrite|regen\w*|rebase|record|bless|rewrite|renew|refresh)[-_](the[-_])?"
    r"(golden|snapshot|approved|expected|baseline|reference)s?([-_](files?|results?|outputs?|images?|data))?$"
)
# What may stand before it in the name of an option, and what may not in that of a setting.
_ALL_THE_SAME = frozenset({"auto", "always", "do", "force", "pytest", "should", "test", "tests", "py"})
_MEANS_ANOTHER = frozenset({
    *("no", "not", "never", "skip", "disable", "disabled", "dont", "don", "without", "fail", "fails"),
    *("error", "warn", "check", "ask", "confirm", "forbid", "deny", "prevent", "refuse", "reject", "block"),
    *("avoid", "ignore", "omit", "on", "if", "when", "before", "after", "report", "show", "list", "diff"),
    *("dry", "only", "detect", "verify", "stop", "exit", "raise", "allow", "can", "may", "log", "count"),
    *("suppress",),
})  # fmt: skip
_ON = frozenset({"1", "true", "True", "yes", "on"})
_OPTIONS = frozenset({"addoption", "add_option", "add_argument", "option"})


@dataclass(frozen=True, slots=True, eq=False)
class Renewed:
    """Where `differs` holds, `written` puts `actual` in place of `expected`, and nothing fails."""

    differs: ast.expr
    written: ast.Call
    actual: str
    expected: str


def _may_renew(unit: Unit) -> bool:
    """Whether there could be one; yes too often, never no wrongly."""
    return unit.is_function and unit.has(ast.If) and (unit.calls(*COPIES) or unit.calls_any(WRITES.search))


def renewed(unit: Unit) -> Iterator[Renewed]:
    """Every branch of a unit that renews what is expected where the result is another one."""
    if not _may_renew(unit) or _is_there_to_renew(unit):
        return
    branches = unit.asts(ast.If)
    differing = [
        (branch, found)
        for branch in branches
        if (found := _differing(branch)) is not None and _only_writes(found.body)
    ]
    inside = {
        id(below)
        for one in branches
        if differing and not _asks_for_file(one.test)
        for part in one.body + one.orelse
        for below in ast.walk(part)
    }
    for branch, found in differing:
        if id(branch) in inside:
            continue
        if _is_told(unit, branch, found) or branch.lineno > _asked_from(unit):
            continue
        for actual, expected in (found.sides, found.sides[::-1]):
            written = next((one for one in _writes(found.body) if _puts(unit, one, actual, expected)), None)
            if written is None:
                continue
            # A path that is looked at says nothing of what the file holds.
            looked = _compared(branch.test) if called_last(written) in COPIES else expected
            if not places(unit).is_read(looked, branch):
                yield Renewed(branch.test, written, ast.unparse(actual), ast.unparse(expected))
                break


def _is_there_to_renew(unit: Unit) -> bool:
    """Whether a function or its file says by name that it renews what is expected."""
    stem = unit.file.path.rpartition("/")[2]
    return ASKED.search(stem) is not None or ASKED.search(unit.name.rpartition(".")[2]) is not None


@dataclass(frozen=True, slots=True, eq=False)
class _Differing:
    """`body` runs where the two sides differ, `other` where they do not."""

    sides: tuple[ast.expr, ast.expr]
    body: list[ast.stmt]
    other: list[ast.stmt]


def _differing(branch: ast.If) -> _Differing | None:
    """What a condition finds to differ: both sides of `a != b` and of `not equal(a, b)`, and the `else` of
    their opposites."""
    test, body, other = branch.test, branch.body, branch.orelse
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, body, other = test.operand, other, body
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides, differ = (test.left, test.comparators[0]), isinstance(test.ops[0], ast.NotEq)
        if not differ and not isinstance(test.ops[0], ast.Eq):
            return None
    elif isinstance(test, ast.Call) and len(test.args) > 1 and _SAYS_EQUAL.search(called_last(test)):
        sides, differ = (test.args[0], test.args[1]), False
    else:
        return None
    run, rest = (body, other) if differ else (other, body)
    return _Differing(sides, run, rest) if run else None


def _is_told(unit: Unit, branch: ast.If, found: _Differing) -> bool:
    """Whether what is done where the two sides are equal tells afterwards that they were, as does
    `else: same = True`."""
    leaves = False
    for statement in found.other:
        if isinstance(statement, ast.Return):
            leaves = True
            last, value = found.body[-1], statement.value
            given = None if value is None else ast.dump(value)
            its = last.value if isinstance(last, ast.Return) else None
            if given is not None and given != (None if its is None else ast.dump(its)):
                return True
        elif not isinstance(statement, (ast.Pass, ast.Assert)) and not _only_writes([statement]):
            return True
    if not leaves or isinstance(found.body[-1], ast.Return):
        return False
    # What comes after the branch runs where the two differ, and only there.
    return not _only_writes(_followed_by(unit).get(id(branch), []))


@once
def _followed_by(unit: Unit) -> dict[int, list[ast.stmt]]:
    """What comes after each branch in its block."""
    found: dict[int, list[ast.stmt]] = {}
    for node in ast.walk(unit.tree):
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] | ast.expr = getattr(node, field, [])
            if not isinstance(block, list):
                continue  # of a lambda, or of one value or another
            for at, statement in enumerate(block):
                if isinstance(statement, ast.If):
                    found[id(statement)] = block[at + 1 : at + 20]
    return found


@once
def _asked_from(unit: Unit) -> float:
    """The line after which a unit does only what somebody has asked for: it has left where nobody did, or
    where it compared the two."""
    if any(ASKED.search(ast.unparse(one)) for one in getattr(unit.tree, "decorator_list", ())):
        return 0
    ends = [
        branch.end_lineno or branch.lineno
        for branch in unit.asts(ast.If)
        if not _asks_for_file(branch.test)
        and any(map(_leaves, (branch.body, branch.orelse)))
        and (ASKED.search(ast.unparse(branch.test)) or any(map(_checks, (branch.body, branch.orelse))))
    ]
    return min(ends, default=float("inf"))


def _leaves(body: list[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return called_last(last.value) in ("skip", "skipTest", "fail", "exit")
    return isinstance(last, (ast.Return, ast.Raise))


def _checks(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(below, (ast.Assert, ast.Raise))
        or (isinstance(below, ast.Call) and asserts_by_name(called_last(below)))
        for one in body
        for below in ast.walk(one)
    )


def _compared(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def _asks_for_file(test: ast.expr) -> bool:
    """`path.exists()`, and its opposite."""
    one = _compared(test)
    return isinstance(one, ast.Call) and called_last(one) in ("exists", "is_file", "isfile")


def _only_writes(body: list[ast.stmt]) -> bool:
    """Whether a branch does nothing by which the difference could be known afterwards."""
    for statement in body:
        if isinstance(statement, ast.With):
            if not _only_writes(statement.body):
                return False
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            last = called_last(statement.value)
            if last not in TELLING | COPIES and WRITES.search(last) is None:
                return False
        elif not (isinstance(statement, ast.Return) and _is_well(statement.value)):
            return False
    return True


def _is_well(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value in (None, True, 0))


def _writes(body: list[ast.stmt]) -> list[ast.Call]:
    calls = [below for one in body for below in ast.walk(one) if isinstance(below, ast.Call)]
    return [call for call in calls if WRITES.search(called_last(call)) or called_last(call) in COPIES]


def _puts(unit: Unit, call: ast.Call, actual: ast.expr, expected: ast.expr) -> bool:
    """Whether a call writes what came out to the very file that what is expected was read from, and a name
    says that it is what is expected."""
    where = places(unit)
    given = next((arg for arg in call.args if _holds(where, arg, actual)), None)
    if given is None or not _came_out(unit, actual):
        return False
    if called_last(call) in COPIES:
        # `cmp(out, golden)` reads both, `copy(out, golden)` takes the first.
        return (
            given is call.args[0]
            and where.path(call.args[-1]) == where.path(expected)
            and not where.is_temporary(expected)
            and _says_golden(unit, expected)
        )
    made = where.made(expected, call.lineno)
    to = where.writing(call, given)
    if not to or not _says_golden(unit, *made, call.func, *(arg for arg in call.args if arg is not given)):
        return False
    read = [one for one in _reading(made) if where.reading(one) == to]
    own = {where.reading(one) for one in _reading(where.made(actual, call.lineno))}
    # What was read from the file itself is put back there.
    return to not in own and any(
        not where.is_rebound(one, call.lineno) and not where.is_of_run(one) for one in read
    )


def _reading(made: list[ast.expr]) -> list[ast.Call]:
    return [
        below
        for one in made
        for below in ast.walk(one)
        if isinstance(below, ast.Call) and READS.search(called_last(below))
    ]


def _came_out(unit: Unit, actual: ast.expr) -> bool:
    """Whether a value may be what code made: it is not written out, nor kept from where it was downloaded."""
    made = places(unit).made(actual, actual.lineno)
    if any(_FETCHED.search(ast.unparse(one)) for one in made):
        return False
    return not isinstance(made[-1], ast.Constant)


def _holds(where: Places, node: ast.expr, part: ast.expr) -> bool:
    code = where.code[id(part)]
    return any(where.code[id(below)] == code for below in ast.walk(node))


def _says_golden(unit: Unit, *nodes: ast.expr) -> bool:
    return any(map(GOLDEN.search, (unit.name, *map(ast.unparse, nodes))))


def renews_by_default(unit: Unit) -> Iterator[tuple[ast.Call, str]]:
    """The options and settings of the environment that renew what is expected unless told not to, each with
    its name."""
    for call in () if _is_there_to_renew(unit) else unit.asts(ast.Call):
        last, given = called_last(call), _texts(call)
        if last in _OPTIONS:
            name, on = _option(call, given), _is_constant(_keyword(call, "default"), True)
            sure = _is_renewing(name.lstrip("-"), in_environment=False)
        elif last in ("get", "getenv") and len(given) == len(call.args) == 2:
            name, on = given[0] if given[0].isupper() else "", given[1] in _ON
            sure = _is_renewing(name, in_environment=True)
        else:
            continue
        if on and sure:
            yield call, name


def _option(call: ast.Call, given: list[str]) -> str:
    """The name of an option that turns on what it names; "" for one that turns it off, or keeps its value
    under a name that says something else."""
    name = next((text for text in given if text.startswith("--")), "")
    kept, action = _keyword(call, "dest"), _keyword(call, "action")
    if _is_constant(action, "store_false") or _is_constant(action, "store_const"):
        return ""
    if isinstance(kept, ast.Constant) and not _is_renewing(str(kept.value), in_environment=False):
        return ""
    return name


def _is_renewing(name: str, *, in_environment: bool) -> bool:
    """Whether a name says that what is expected is renewed, whatever stands before that."""
    words = re.split(r"[-_]", name)
    for at in range(len(words)):
        before = {word.lower() for word in words[:at]}
        if _RENEWS_IT.search("_".join(words[at:])):
            return before.isdisjoint(_MEANS_ANOTHER) if in_environment else before <= _ALL_THE_SAME
    return False


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def _is_constant(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value and type(node.value) is type(value)


@once
def may_renew_by_default(unit: Unit) -> bool:
    """The same asked quickly."""
    return unit.calls(*_OPTIONS, "get", "getenv") and any(True for _ in renews_by_default(unit))


def _texts(call: ast.Call) -> list[str]:
    return [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
