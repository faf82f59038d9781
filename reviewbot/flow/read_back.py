"""What a branch writes into a file, a log or its output, and a check of the unit demands not to be there.

`print(row, file=log)` before `assert path.read_text() == ""`, a warning before `assert not caught`,
`logger.error(…)` before `assert not caplog.records`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import Check, checks, comparisons_in
from reviewbot.flow.control import statements
from reviewbot.flow.syntax import canonical, keyword_argument, last_name, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_WRITES = frozenset({"write", "writelines", "writerow", "writerows", "write_text", "write_bytes"})
# The others are below the level from which a log is gathered, unless a test sets that.
_LOGS = frozenset({"warning", "error", "critical", "exception"})
_QUIET_LOGS = frozenset({"debug", "info", "log"})
_PRINTED = frozenset({"capsys", "capfd"})
_OF_A_FILE = frozenset({"exists", "is_file", "suffix", "name", "parent", "stem"})


def is_read_back(unit: Unit, body: tuple[cst.CSTNode, ...]) -> bool:
    """Whether a check after a branch demands that nothing is where the branch writes something."""
    written = {one for call in _always_called(body) for one in _written(unit, call)}
    if not written:
        return False
    rank = unit.index.rank
    place = max(rank(statement) for statement in body)
    return any(
        rank(check.node) > place and not written.isdisjoint(_looked_at(unit, node))
        for check in checks(unit)
        for node in _demanded_none(unit, check)
    )


def _always_called(body: tuple[cst.CSTNode, ...]) -> Iterator[cst.Call]:
    """The calls that a branch makes whatever else holds."""
    for statement in body:
        if isinstance(statement, cst.With):
            yield from _always_called(tuple(statements(statement.body)))
        elif isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
            yield statement.value


def _written(unit: Unit, call: cst.Call) -> Iterator[str]:
    """Where a call leaves something, as code: the file and its path, or what pytest gathers it in."""
    name = last_name(call)
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    if name == "print":
        file = keyword_argument(call, "file")
        if file is None or canonical(file) in ("sys.stdout", "sys.stderr"):
            yield from _PRINTED
        else:
            yield from _places(unit, file)
    elif name in _WRITES and owner is not None and not _is_apart(unit, owner):
        yield from _places(unit, owner)
    elif name == "dump" and len(call.args) > 1:
        yield from _places(unit, call.args[1].value)
    elif name == "warn":
        yield "recwarn"
        yield from _gathering(unit, call)
    elif name in _LOGS or (name in _QUIET_LOGS and unit.calls("set_level", "at_level")):
        yield "caplog"


def _is_apart(unit: Unit, owner: cst.BaseExpression) -> bool:
    """Whether what is written to is no file of the unit's own: an object with a method `write`, a module."""
    return isinstance(owner, cst.Name) and (
        owner.value in ("self", "cls") or owner.value in unit.file.imports
    )


def _gathering(unit: Unit, call: cst.Call) -> Iterator[str]:
    """The names under which `with catch_warnings(record=True) as caught` around a warning keeps it."""
    for above in unit.ancestors(call):
        for item in above.items if isinstance(above, cst.With) else ():
            if last_name(item.item) == "catch_warnings" and item.asname is not None:
                yield canonical(item.asname.name)


def _places(unit: Unit, node: cst.BaseExpression, depth: int = 4) -> Iterator[str]:
    """A file as code, also the path that it was opened by, and what a writer was made around."""
    yield canonical(node)
    if not depth:
        return
    if isinstance(node, cst.Name):
        for one in values(unit).reaching(node):
            if isinstance(one.value, cst.Call) and last_name(one.value) in ("open", "writer", "DictWriter"):
                yield from _places(unit, one.value, depth - 1)
    elif isinstance(node, cst.Call):
        if last_name(node) == "open" and isinstance(node.func, cst.Attribute):
            yield from _places(unit, node.func.value, depth - 1)
        elif node.args and last_name(node) in ("open", "writer", "DictWriter"):
            yield from _places(unit, node.args[0].value, depth - 1)


def _demanded_none(unit: Unit, check: Check) -> Iterator[cst.CSTNode]:
    """What a check demands to be empty, or to be equal to something: a bound from above lets some pass."""
    for one in comparisons_in(unit, check.node if check.condition is None else check.condition):
        if one.relation == "equal":
            yield from (one.left, one.right)
        elif one.relation == "absent":
            yield one.right
    node, fails_when = check.condition, check.fails_when
    while isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        node, fails_when = node.expression, not fails_when
    if node is not None and fails_when and not isinstance(node, (cst.Comparison, cst.BooleanOperation)):
        yield node
    call = check.node.value if isinstance(check.node, cst.Expr) else None
    if isinstance(call, cst.Call) and last_name(call) == "assertFalse" and call.args:
        yield call.args[0].value


def _looked_at(unit: Unit, node: cst.CSTNode) -> set[str]:
    """All that a value is read from, as code, without what is asked of a file but its contents."""
    found: set[str] = set()
    sliced = values(unit).slice(node, mutations=False)
    for whole in (node, *(one.value for one in sliced if one.value is not None)):
        for below in walk(whole):
            above = unit.parent(below)
            about = isinstance(above, cst.Attribute) and above.attr.value in _OF_A_FILE
            if isinstance(below, (cst.Name, cst.Attribute, cst.Call, cst.BinaryOperation)) and not about:
                found.add(canonical(below))
    return found
