"""Expected results that are written where they are missing, and then compared with what wrote them.

`if not path.exists(): save(path, rows)` before `assert load(path) == rows`: where the file is not there, in
the first run, after a rename or because it was never committed, the test holds its result against itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import fails
from reviewbot.flow.control import statements
from reviewbot.flow.handlers import caught
from reviewbot.flow.judgements import Judgement, judgements
from reviewbot.flow.patterns import pattern
from reviewbot.flow.renewed_goldens import GOLDEN
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.values import Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_EXISTS = frozenset({"exists", "isfile", "is_file", "lexists"})
_ABSENT = frozenset({"FileNotFoundError", "OSError", "IOError"})
_WRITES = pattern(
    r"^(dump|save|write|store|record)(z|s|txt|_\w+)?$|^to_(csv|json|parquet|pickle|file)$|^im(save|write)$"
)
_READS = pattern(r"^(load|loads|read|open)(txt|_\w+)?$|^(imread|genfromtxt|safe_open)$|^from_(file|json)$")
_LIBRARIES = frozenset({
    "np", "numpy", "torch", "json", "pickle", "yaml", "jnp", "safetensors", "joblib", "dill", "orjson", "pd",
})  # fmt: skip
_PASSING = pattern(r"(?i)te?mp|cache|scratch")
_ASKED = pattern(r"(?i)update|overwrite|regen|generate|rebase|record|bless|rewrite|force")
_LEAVING = frozenset({"skip", "skipTest", "xfail", "SkipTest", "fail", "exit"})


@dataclass(frozen=True, slots=True, eq=False)
class Golden:
    """Where `absent` holds, `written` puts `what` in place of the expected result, and `judgement` compares
    the two. `asked`: the condition looks at more than whether the file is there, as at a flag to renew it."""

    absent: cst.CSTNode
    written: cst.Call
    what: str
    judgement: Judgement
    asked: bool


@once
def may_write_golden(unit: Unit) -> bool:
    """Whether there could be one, by `ast`; yes too often, never no wrongly."""
    if not unit.calls_any(_WRITES.search) or not unit.calls_any(_READS.search):
        return False
    return unit.calls(*_EXISTS) or (unit.has(ast.Try) and not _ABSENT.isdisjoint(unit.facts.names))


def goldens(unit: Unit) -> Iterator[Golden]:
    """Every such branch or handler of a unit, in source order of its kind."""
    for node in unit.find(cst.If):
        absent = _absence(node)
        if absent is not None:
            yield from _golden(unit, node.test, *absent)
    for attempt in unit.find(cst.Try):
        for handler in attempt.handlers:
            reads = any(type(b) is cst.Call and _READS.search(last_name(b)) for b in walk(attempt.body))
            if handler.type is not None and caught(handler) <= _ABSENT and reads:
                yield from _golden(unit, handler.type, None, statements(handler.body), False)


def _absence(node: cst.If) -> tuple[cst.BaseExpression, list[cst.CSTNode], bool] | None:
    """The path of which a branch knows that nothing is there, the branch, and whether more is asked."""
    asked = _ASKED.search(" ".join(b.value for b in walk(node.test) if isinstance(b, cst.Name))) is not None
    denied = [
        below.expression
        for below in walk(node.test)
        if type(below) is cst.UnaryOperation and type(below.operator) is cst.Not
    ]
    for one in denied:
        path = _asks_for(one)
        if path is not None:
            return path, statements(node.body), asked
    path = _asks_for(node.test)
    if path is not None and isinstance(node.orelse, cst.Else):
        return path, statements(node.orelse.body), asked
    return None


def _asks_for(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The path of `path.exists()` and `os.path.exists(path)`."""
    if type(node) is not cst.Call or last_name(node) not in _EXISTS:
        return None
    if node.args:
        return node.args[0].value
    return node.func.value if isinstance(node.func, cst.Attribute) else None


def _golden(
    unit: Unit, absent: cst.CSTNode, path: cst.BaseExpression | None, body: list[cst.CSTNode], asked: bool
) -> Iterator[Golden]:
    flow = values(unit)
    calls = [below for one in body for below in walk(one) if type(below) is cst.Call]
    if any(fails(one) is not None for one in body) or any(last_name(c) in _LEAVING for c in calls):
        return
    places = {name.value for name in flow.reads(path)} if path is not None else set()
    placed = {*places, *(b.name for b in (flow.slice(path) if path is not None else ()))}
    named = [name.value for one in body for name in flow.reads(one)]
    if any(_PASSING.search(name) for name in (*placed, *named)) and not _is_named_golden(unit, path):
        return
    if path is not None and places.isdisjoint(named):
        return
    for call in calls:
        if _WRITES.search(last_name(call)) is None:
            continue
        for name in _given(unit, call):
            found = _compared(unit, call, flow.reaching(name)) if name.value not in placed else None
            if found is not None:
                yield Golden(absent, call, name.value, found, asked)
                return


def _is_named_golden(unit: Unit, path: cst.BaseExpression | None) -> bool:
    """Whether a path is by its name that of what is expected, though in a folder that is made anew."""
    parts = (
        [] if path is None else [path, *(b.value for b in values(unit).slice(path) if b.value is not None)]
    )
    return any(GOLDEN.search(canonical(part)) for part in parts)


def _given(unit: Unit, call: cst.Call) -> Iterator[cst.Name]:
    """The names of which a call could write the values."""
    for arg in call.args:
        yield from values(unit).reads(arg.value)
    if isinstance(call.func, cst.Attribute) and last_name(call.func.value) not in _LIBRARIES:
        yield from values(unit).reads(call.func.value)


def _compared(unit: Unit, after: cst.CSTNode, written: frozenset[Binding]) -> Judgement | None:
    """Where what was written is compared with what is read, after that."""
    flow = values(unit)
    rank = unit.index.rank
    for one in judgements(unit):
        if rank(one.node) < rank(after):
            continue
        for mine, other in ((one.left, one.right), (one.right, one.left)):
            held = {binding for name in flow.reads(mine) for binding in flow.reaching(name)}
            if written and not held.isdisjoint(written) and _is_read(unit, other):
                return one
    return None


def _is_read(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value comes out of a file."""
    parts = [node, *(b.value for b in values(unit).slice(node, mutations=False) if b.value is not None)]
    return any(
        type(below) is cst.Call and _READS.search(last_name(below)) for part in parts for below in walk(part)
    )
