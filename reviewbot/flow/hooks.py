"""Hooks of pytest that turn the failure of a test into something else: a skip, or a pass.

`pytest_runtest_makereport` may rewrite a report, `pytest_runtest_call` may catch what the test raised or put
another exception in its place. What pytest prints is then what the hook says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.control import enclosing, guards
from reviewbot.flow.handlers import BROAD, caught
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import dotted, last_name, literal, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_REPORTING = frozenset({"pytest_runtest_makereport", "pytest_runtest_logreport"})
_RUNNING = frozenset({"pytest_runtest_call", "pytest_pyfunc_call", "pytest_runtest_protocol"})
_HOOKS = _REPORTING | _RUNNING
_SKIPS = pattern(
    r"^(pytest\.)?(skip|xfail)$|(^|\.)(skip|xfail)\.Exception$|(^|\.)(Skipped|SkipTest|XFailed)$"
)
# What a test stands on, and no fault of it: it has no device, or not the package.
_LACKS = pattern(
    r"(?i)\bno (\w+ )?(nvidia|cuda|gpu|device|driver)|not compiled|driver|not (available|installed|found)"
)
# Reports that are none of a failure.
_OTHERWISE = pattern(r"(?i)skipped|wasxfail|passed")
# Exceptions that any fault of the code under test may raise.
_ANY = BROAD | {"AssertionError", "RuntimeError", "ValueError", "TypeError", "KeyError", "IndexError"}

Becomes = Literal["skipped", "passed"]


@dataclass(frozen=True, slots=True, eq=False)
class Softened:
    """A place in a hook from which a test that failed `becomes` something else; `asked` is the nearest
    condition or handler on the way there, `narrow` whether it asks for one kind of failure."""

    node: cst.CSTNode
    becomes: Becomes
    asked: cst.CSTNode | None
    narrow: bool


def is_hook(unit: Unit) -> bool:
    """Whether a unit is a hook in which a test's outcome can be changed."""
    return unit.is_function and unit.name.rpartition(".")[2] in _HOOKS


def softened(unit: Unit) -> Iterator[Softened]:
    """The first such place of each kind in a hook."""
    told: set[tuple[Becomes, int]] = set()
    for node, becomes in _changes(unit):
        conditions = [guard.condition for guard in guards(unit, node)]
        texts = " ".join(unit.text(one) for one in conditions)
        if _OTHERWISE.search(texts) or _LACKS.search(texts):
            continue
        handler = enclosing(unit, node, cst.ExceptHandler)
        asked = conditions[-1] if conditions else handler
        key = (becomes, id(asked))
        if key not in told:
            told.add(key)
            yield Softened(node, becomes, asked, _is_narrow(unit, conditions, handler))


def _changes(unit: Unit) -> Iterator[tuple[cst.CSTNode, Becomes]]:
    if unit.name.rpartition(".")[2] in _REPORTING:
        for node in unit.find(cst.Assign):
            target = node.targets[0].target
            value = literal(node.value)
            if isinstance(target, cst.Attribute) and target.attr.value == "outcome":
                if value == "skipped":
                    yield node, "skipped"
                elif value == "passed":
                    yield node, "passed"
    for call in unit.find(cst.Call):
        name = last_name(call)
        if name == "force_exception" and _makes_skip(unit, call):
            yield call, "skipped"
        elif name == "force_result" and not any(_makes_skip(unit, arg.value) for arg in call.args):
            yield call, "passed"
        elif _SKIPS.search(dotted(call.func)) and _is_after_the_test(unit, call):
            yield call, "skipped"


def _makes_skip(unit: Unit, node: cst.CSTNode) -> bool:
    given = [values(unit).resolve(arg.value) for arg in node.args] if isinstance(node, cst.Call) else []
    return any(
        isinstance(below, cst.Call) and _SKIPS.search(dotted(below.func))
        for one in given
        for below in walk(one)
    )


def _is_after_the_test(unit: Unit, call: cst.Call) -> bool:
    """Whether a skip comes once the test has run: in a handler around it, or after the hook's `yield`; and
    not inside what `force_exception` is given, which tells of it."""
    if any(isinstance(above, cst.Call) for above in unit.ancestors(call)):
        return False
    if enclosing(unit, call, cst.ExceptHandler) is not None:
        return True
    rank = unit.index.rank
    return any(rank(node) < rank(call) for node in unit.find(cst.Yield))


def _is_narrow(unit: Unit, conditions: list[cst.BaseExpression], handler: cst.CSTNode | None) -> bool:
    """Whether what is asked for is one kind of failure: a type that not every fault raises, or words of the
    message, a mark, a name."""
    if isinstance(handler, cst.ExceptHandler) and not caught(handler) & _ANY:
        return True
    for node in (below for one in conditions for below in walk(one)):
        if isinstance(node, cst.Call) and last_name(node) in ("isinstance", "issubclass", "errisinstance"):
            names = {last_name(below) for arg in node.args[-1:] for below in _types(arg.value)}
            if not names & _ANY:
                return True
        elif isinstance(node, (cst.Comparison, cst.Call)) and any(
            isinstance(below, (cst.SimpleString, cst.GeneratorExp)) for below in walk(node)
        ):
            return True
    return False


def _types(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [element.value for element in node.elements] if isinstance(node, cst.Tuple) else [node]
