"""How large the values of a training or inference run are, by what they are called.

A probability is at most one, a log-prob of a token is rarely below minus ten, the logits that decide between
two tokens lie within a few tens: what differs by as much is another result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import last_name, literal
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a value is called, `limit`: the absolute difference from which on two of them are not alike, and
    whether that is `sure` or depends on the model and the task."""

    name: str
    limit: float
    sure: bool


# Sums over tokens or rows, rates and times are as large as they get.
_SUMMED = pattern(
    r"(?i)(^|_)(sum|total|cum\w*|seq|sequence|num|n|count|per|sec|seconds?|ms|time|percent|pct)(_|$)"
)
_LIMITS = (
    (pattern(r"(?i)(^|_)(log_?probs?|logp|logps|log_softmax)(_|$)"), 5.0, True),
    (pattern(r"(?i)(^|_)(probs?|probabilit(y|ies)|softmax)(_|$)"), 1.0, True),
    (pattern(r"(?i)(^|_)logits?(_|$)"), 10.0, True),
    (pattern(r"(?i)(^|_)(token_?ids?|input_ids|output_ids|loss_?mask)$|^tokens$"), 1.0, True),
    (pattern(r"(?i)(^|_)advantages?(_|$)"), 5.0, True),
    (pattern(r"(?i)(^|_)(loss|losses)$"), 10.0, False),
    (pattern(r"(?i)(^|_)(rewards?|entropy|kl)$"), 5.0, False),
)
_KEEPS = frozenset({
    "tensor", "asarray", "array", "as_tensor", "float", "stack", "concatenate", "cat", "mean", "max", "abs",
    "squeeze", "ravel", "list", "to_numpy", "device_get", "from_numpy",
})  # fmt: skip
_NAMESPACES = frozenset({"np", "numpy", "torch", "jnp", "jax", "tf", "mx"})
_DEPTH = 6


def quantity(unit: Unit, node: cst.BaseExpression) -> Quantity | None:
    """What an expression is by its name, or the name that its value is read by, if these say it."""
    for name in _names(unit, node, _DEPTH):
        if _SUMMED.search(name):
            return None
        for what, limit, sure in _LIMITS:
            if what.search(name):
                return Quantity(name, limit, sure)
    return None


def _names(unit: Unit, node: cst.BaseExpression, depth: int) -> Iterator[str]:
    """The names by which a value is read, outermost first: `losses` and `run` of `run.losses[3:]`."""
    if depth == 0:
        return
    if isinstance(node, cst.Name):
        yield node.value
        reached = values(unit).resolve(node)
        if reached is not node:
            yield from _names(unit, reached, depth - 1)
        return
    if isinstance(node, cst.Attribute):
        yield node.attr.value
        yield from _names(unit, node.value, depth - 1)
    elif isinstance(node, cst.Subscript):
        for part in node.slice:
            key = literal(part.slice.value) if isinstance(part.slice, cst.Index) else None
            if isinstance(key, str):
                yield key
        yield from _names(unit, node.value, depth - 1)
    elif isinstance(node, cst.Call):
        name = last_name(node)
        yield name
        owner = node.func.value if isinstance(node.func, cst.Attribute) else None
        if owner is not None and last_name(owner) not in _NAMESPACES:
            yield from _names(unit, owner, depth - 1)
        elif name in _KEEPS and node.args and not node.args[0].star:
            yield from _names(unit, node.args[0].value, depth - 1)
    elif isinstance(node, (cst.List, cst.Tuple)) and node.elements:
        yield from _names(unit, node.elements[0].value, depth - 1)
    elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        yield from _names(unit, node.elt, depth - 1)
