"""Expected results that a check itself renews: where they differ, or by default.

```python
if actual != golden:
    GOLDEN.write_text(actual)  # and nothing fails
```

Reads `ast` only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.patterns import pattern
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

GOLDEN = pattern(r"(?i)golden|snapshot|approved|(^|[_\W])(expected|baseline|reference)s?([_\W]|$)")
ASKED = pattern(r"(?i)update|overwrite|regen|generate|rebase|record|bless|rewrite|force|renew|refresh|accept")
_WRITES = pattern(r"^(dump|save|write|savez?)(z|s|txt|_text|_bytes|_json|_\w+)?$|^to_(csv|json|parquet)$")
_READS = pattern(r"^(load|loads|read|open)(txt|_\w+)?$")
_SAYS_EQUAL = pattern(r"(?i)equal|close|^cmp$|same")
_TELLING = frozenset({"print", "warn", "info", "warning", "debug", "log", "error", "mkdir", "exception"})
_COPIES = frozenset({"copy", "copy2", "copyfile", "move", "rename"})
_LIBRARIES = frozenset(
    {"np", "numpy", "torch", "json", "pickle", "yaml", "jnp", "shutil", "filecmp", "os", "pd"}
)
_RENEWS_IT = pattern(
    r"(?i)^(?!(.*[-_])?(no|not|never|skip|disable)[-_])(--)?(.*[-_])?(update|overwrite|regen\w*|rebase|record|bless|rewrite|renew|refresh)[-_](the[-_])?"
    r"(golden|snapshot|approved|expected|baseline|reference)s?([-_](files?|results?|outputs?|images?|data))?$"
)
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
    return unit.is_function and unit.has(ast.If) and (unit.calls(*_COPIES) or unit.calls_any(_WRITES.search))


def renewed(unit: Unit) -> Iterator[Renewed]:
    """Every branch of a unit that renews what is expected where the result is another one."""
    if not _may_renew(unit) or _is_there_to_renew(unit):
        return
    branches = unit.asts(ast.If)
    inside = {
        id(below)
        for one in branches
        if not _asks_for_file(one.test)
        for part in one.body + one.orelse
        for below in ast.walk(part)
    }
    for branch in branches:
        found = _differing(branch)
        if found is None or id(branch) in inside or not _only_writes(found.body):
            continue
        for actual, expected in (found.sides, found.sides[::-1]):
            written = next((one for one in _writes(found.body) if _puts(unit, one, actual, expected)), None)
            if written is not None and not _is_asked_again(unit, branch, expected):
                yield Renewed(branch.test, written, ast.unparse(actual), ast.unparse(expected))
                break


def _is_there_to_renew(unit: Unit) -> bool:
    """Whether a function or its file says by name that it renews what is expected."""
    stem = unit.file.path.rpartition("/")[2]
    return ASKED.search(stem) is not None or ASKED.search(unit.name.rpartition(".")[2]) is not None


@dataclass(frozen=True, slots=True, eq=False)
class _Differing:
    """`body` runs where the two sides differ."""

    sides: tuple[ast.expr, ast.expr]
    body: list[ast.stmt]


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
    run = body if differ else other
    return _Differing(sides, run) if run else None


def _asks_for_file(test: ast.expr) -> bool:
    """`path.exists()`, and its opposite."""
    one = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    return isinstance(one, ast.Call) and called_last(one) in ("exists", "is_file", "isfile")


def _only_writes(body: list[ast.stmt]) -> bool:
    """Whether a branch does nothing by which the difference could be known afterwards."""
    for statement in body:
        if isinstance(statement, ast.With):
            if not _only_writes(statement.body):
                return False
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            last = called_last(statement.value)
            if last not in _TELLING | _COPIES and _WRITES.search(last) is None:
                return False
        elif not (isinstance(statement, ast.Return) and _is_well(statement.value)):
            return False
    return True


def _is_well(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value in (None, True, 0))


def _writes(body: list[ast.stmt]) -> list[ast.Call]:
    calls = [below for one in body for below in ast.walk(one) if isinstance(below, ast.Call)]
    return [call for call in calls if _WRITES.search(called_last(call)) or called_last(call) in _COPIES]


def _puts(unit: Unit, call: ast.Call, actual: ast.expr, expected: ast.expr) -> bool:
    """Whether a call writes the result to where what is expected was read from, and a name says that it is
    what is expected."""
    given = next((arg for arg in call.args if _holds(arg, actual)), None)
    if given is None:
        return False
    if called_last(call) in _COPIES:
        # `cmp(out, golden)` reads both, `copy(out, golden)` takes the first.
        return given is call.args[0] and _holds(call.args[-1], expected) and _says_golden(unit, expected)
    made = [expected, *_given_to(unit, expected)]
    read = [b for one in made for b in ast.walk(one) if isinstance(b, ast.Call) and _reads(b)]
    if not read:
        return False
    to = _places(unit, [call.func, *(arg for arg in call.args if arg is not given)])
    return not to.isdisjoint(_places(unit, read)) and _says_golden(unit, *made, call)


def _reads(call: ast.Call) -> bool:
    return _READS.search(called_last(call)) is not None


def _holds(node: ast.expr, part: ast.expr) -> bool:
    code = ast.dump(part)
    return any(ast.dump(below) == code for below in ast.walk(node))


def _given_to(unit: Unit, name: ast.expr) -> list[ast.expr]:
    """The values that a name is given in a unit."""
    if not isinstance(name, ast.Name):
        return []
    return [
        node.value
        for node in unit.asts(ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == name.id for target in node.targets)
    ]


def _places(unit: Unit, nodes: Sequence[ast.expr]) -> set[str]:
    """The names and texts that tell where something is read or written, those of an opened file too."""
    opened = {
        item.optional_vars.id: item.context_expr
        for node in unit.asts(ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name)
    }
    found: set[str] = set()
    seen = [below for node in nodes for below in ast.walk(node)]
    for one in list(seen):
        # One name serves a file that is read and one that is written, so each `with` around is looked at.
        if isinstance(one, ast.Name) and one.id in opened:
            seen += ast.walk(_opened_around(unit, one) or opened[one.id])
    for one in seen:
        if isinstance(one, ast.Name) and one.id not in _LIBRARIES and one.id not in opened:
            found.add(one.id)
        elif isinstance(one, ast.Attribute) and _is_self(one.value):
            found.add(f"self.{one.attr}")
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) > 3:
            found.add(one.value)
    return found - {"self", "open", "str", "Path"}


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _opened_around(unit: Unit, name: ast.Name) -> ast.expr | None:
    """What the innermost `with` around a name opens under it."""
    around = [
        (node.lineno, item.context_expr)
        for node in unit.asts(ast.With)
        if node.lineno <= name.lineno <= (node.end_lineno or node.lineno)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name.id
    ]
    return max(around, key=lambda one: one[0])[1] if around else None


def _says_golden(unit: Unit, *nodes: ast.expr) -> bool:
    return any(map(GOLDEN.search, (unit.name, *map(ast.unparse, nodes))))


def _is_asked_again(unit: Unit, branch: ast.If, expected: ast.expr) -> bool:
    """Whether what was read before is looked at after the branch, which then fails all the same."""
    if any(isinstance(below, ast.Call) for below in ast.walk(expected)):
        return False
    code, end = ast.dump(expected), branch.end_lineno or branch.lineno
    return any(
        isinstance(below, type(expected)) and below.lineno > end and ast.dump(below) == code
        for below in ast.walk(unit.tree)
    )


def renews_by_default(unit: Unit) -> Iterator[tuple[ast.Call, str]]:
    """The options and settings of the environment that renew what is expected unless told not to, each with
    its name."""
    for call in () if _is_there_to_renew(unit) else unit.asts(ast.Call):
        last, given = called_last(call), _texts(call)
        if last in _OPTIONS:
            name = next((text for text in given if text.startswith("--")), "")
            on = any(
                one.arg == "default" and isinstance(one.value, ast.Constant) and one.value.value is True
                for one in call.keywords
            )
        elif last in ("get", "getenv") and len(given) == len(call.args) == 2:
            name, on = given[0] if given[0].isupper() else "", given[1] in _ON
        else:
            continue
        if on and _RENEWS_IT.search(name):
            yield call, name


@once
def may_renew_by_default(unit: Unit) -> bool:
    """The same asked quickly."""
    return unit.calls(*_OPTIONS, "get", "getenv") and any(True for _ in renews_by_default(unit))


def _texts(call: ast.Call) -> list[str]:
    return [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
