"""Kinds of change that pass for one cause, told once: all that one branch leads around, say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewbot.probe.search import Passing


def grouped(passing: Sequence[Passing]) -> list[Passing]:
    """The first of each cause, with what the others change in `like`."""
    groups: dict[object, list[Passing]] = {}
    for one in passing:
        groups.setdefault(_cause(one), []).append(one)
    return [
        replace(first, like=tuple(dict.fromkeys(one.best.change.says for one in others)))
        for first, *others in groups.values()
    ]


def _cause(one: Passing) -> object:
    if one.why in ("blind", "unread"):
        return one.why
    if one.why in ("excuse", "swallowed") and one.escapes:
        return one.escapes[0]
    return id(one)
