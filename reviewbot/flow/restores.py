"""A run that could not restore its state, and goes on without it.

Resuming is tried, whatever goes wrong is taken by a handler that only shows it, and the run starts anew: what
was asked for, and what a test of it would see, is another run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.control import leaves, statements
from reviewbot.flow.handlers import SHOWING, caught, following
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, dotted, last_name, literal, walk

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_RESTORES = pattern(
    r"(?i)^_*(maybe_|try_|auto_)?(load|restore|resume|recover)_(\w+_)?(from_)?(latest_|last_)?"
    r"(ckpt|checkpoint|train(ing|er)?_?state|state|snapshot|recover(y)?_info|run)s?(_\w+)?$"
    r"|^(restore|resume)(_from\w*|_training)?$"
)
_STATE_OF = pattern(r"(?i)(optim|sched|scaler|sampler|data_?loader|saver|rng|ema|logger)\w*$")
_TRAINS = pattern(
    r"(?i)^(train|fit|learn|training_step|train_step|train_epoch|train_one_epoch|run_epoch)(_\w+)?$"
)
_ANEW = pattern(
    r"(?i)scratch|fresh|start(ing)?\b.{0,20}\b(over|new|from|at|without)|from the beginning|from step 0"
    r"|without resum|not (be )?(a )?resum|continu|ignor|skipp"
)
# What there is to take where nothing was saved yet.
_ABSENT = frozenset({"FileNotFoundError", "NotFoundError", "ImportError", "ModuleNotFoundError", "KeyError"})
_SHOWS = (cst.Pass, cst.Expr, cst.Assign, cst.AnnAssign)


@dataclass(frozen=True, slots=True, eq=False)
class Unrestored:
    """`restores` is the call in the `try`, `handler` what takes its failure and lets the run go on."""

    restores: cst.Call
    handler: cst.ExceptHandler


def may_go_on(unit: Unit) -> bool:
    """Whether a unit could try to restore a state; yes too often, never no wrongly."""
    return unit.has(ast.Try) and (unit.calls("load_state_dict") or unit.calls_any(_RESTORES.search))


def unrestored(unit: Unit) -> Iterator[Unrestored]:
    """The `try` blocks of a unit that restore a state and whose failure only a message tells of."""
    for node in unit.find(cst.Try):
        call = next((c for c in walk(node.body) if isinstance(c, cst.Call) and _restores(c)), None)
        if call is None or _is_tried_again(unit, node):
            continue
        for handler in node.handlers:
            if caught(handler) - _ABSENT and _only_shows(handler) and _goes_on(unit, node, handler):
                yield Unrestored(call, handler)


def _restores(call: cst.Call) -> bool:
    name = last_name(call)
    if name == "load_state_dict":
        return isinstance(call.func, cst.Attribute) and _STATE_OF.search(dotted(call.func.value)) is not None
    return _RESTORES.search(name) is not None


def _is_tried_again(unit: Unit, node: cst.Try) -> bool:
    """Whether a loop tries one state after the other."""
    for above in unit.ancestors(node):
        if isinstance(above, (cst.For, cst.While)):
            return True
        if isinstance(above, cst.FunctionDef):
            return False
    return False


def _only_shows(handler: cst.ExceptHandler) -> bool:
    """Whether a handler does nothing but tell, and set names to plain values."""
    body = statements(handler.body)
    for statement in body:
        if not isinstance(statement, _SHOWS):
            return False
        given = statement.value if isinstance(statement, (cst.Assign, cst.AnnAssign)) else None
        if given is not None and literal(given) is UNKNOWN:
            return False
        if any(isinstance(b, cst.Call) and last_name(b) not in SHOWING for b in walk(statement)):
            return False
    return bool(body) and leaves(body) is None


def _goes_on(unit: Unit, node: cst.Try, handler: cst.ExceptHandler) -> bool:
    """Whether the handler's own words, or what comes after it, say that the run starts anew."""
    if any(_ANEW.search(unit.text(statement)) for statement in statements(handler.body)):
        return True
    return any(
        isinstance(below, cst.Call) and _TRAINS.search(last_name(below)) is not None
        for statement in following(unit, node)
        for below in walk(statement)
    )
