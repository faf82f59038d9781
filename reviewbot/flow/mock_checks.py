"""Two versions of what is demanded of a mock object: that it was called, how often, and with what."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from reviewbot.flow.demands import Demand

Asks = Literal["once with", "with", "among", "once", "so often", "at all"]

_ASKS: dict[str, Asks] = {
    "assert_called_once_with": "once with", "assert_called_with": "with", "assert_any_call": "among",
    "assert_called_once": "once", "assert_called": "at all",
    "assert_awaited_once_with": "once with", "assert_awaited_with": "with", "assert_any_await": "among",
    "assert_awaited_once": "once", "assert_awaited": "at all",
}  # fmt: skip
# What follows from each; with the same arguments where both name some.
_FOLLOWS: dict[Asks, tuple[Asks, ...]] = {
    "once with": ("with", "among", "once", "at all"),
    "with": ("among", "at all"),
    "among": ("at all",),
    "once": ("at all",),
    "so often": ("at all",),
    "at all": (),
}
_RECORDS = frozenset({
    "call_args", "call_args_list", "call_count", "mock_calls", "method_calls", "await_args",
    "await_args_list", "await_count",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    mock: str
    asks: Asks
    awaited: bool
    given: str

    def implies(self, other: _Asked) -> bool:
        same = self.mock == other.mock and self.awaited == other.awaited
        alike = other.asks not in ("with", "among") or self.given == other.given
        return same and alike and other.asks in _FOLLOWS[self.asks]


def asks_less(demand: Demand, come: list[Demand], body: list[ast.stmt]) -> Demand | None:
    """The new demand that says less of the calls of the same mock; None too where a body looks at what the
    mock recorded."""
    asked = _asked(demand)
    for one in come if asked is not None else ():
        less = _asked(one)
        if asked is not None and less is not None and asked.implies(less):
            return None if _looks_at_records(asked.mock, body, one.node) else one
    return None


def _asked(demand: Demand) -> _Asked | None:
    mock, _, told = demand.subject.rpartition(".")
    if told in ("called", "awaited") and mock and demand.relation == "true":
        return _Asked(mock, "at all", told == "awaited", "")
    if told in ("call_count", "await_count") and demand.relation == "equal" and demand.other.isdecimal():
        often: dict[int, Asks] = {1: "once"}
        awaited = told == "await_count"
        return (
            _Asked(mock, often.get(int(demand.other), "so often"), awaited, "")
            if demand.other != "0"
            else None
        )
    call = demand.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    asks = _ASKS.get(call.func.attr)
    if asks is None:
        return None
    given = [ast.unparse(arg) for arg in call.args]
    given += sorted(f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords)
    return _Asked(ast.unparse(call.func.value), asks, "await" in call.func.attr, ", ".join(given))


def _looks_at_records(mock: str, body: list[ast.stmt], check: ast.AST) -> bool:
    """Whether besides a check what a mock, or one that it is part of, recorded is read."""
    own = {id(node) for node in ast.walk(check)}
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in _RECORDS
        and id(node) not in own
        and f"{mock}.".startswith(f"{ast.unparse(node.value)}.")
        for statement in body
        for node in ast.walk(statement)
    )
