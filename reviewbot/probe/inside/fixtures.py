"""What a test gets from a fixture that hands out a function: no data, but the fixture makes it again."""

from __future__ import annotations

import types
from typing import Any

from reviewbot.probe.inside import plain
from reviewbot.probe.inside.plain import Instance, NotPlain, Plain

DEEPEST = 4


def flatten(item: Any, name: str, value: object, depth: int = 0) -> Plain:
    """The value of a test's argument, as the fixture of that name that makes it if it is a function of no
    name of its own. `item` is pytest's. Raises `plain.NotPlain` for anything else that is no plain data."""
    try:
        return plain.flatten(value)
    except NotPlain:
        listed = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}).get(name)
        if not listed or depth > DEEPEST or not isinstance(value, types.FunctionType):
            raise
        function = listed[-1].func
        if not isinstance(function, types.FunctionType) or "." in function.__qualname__:
            raise
        fields = {one: flatten(item, one, _made(item, one), depth + 1) for one in listed[-1].argnames}
        return Instance(f"{function.__module__}:{function.__qualname__}", "fixture", fields)


def _made(item: Any, name: str) -> object:
    """What a fixture made for that test. Raises `plain.NotPlain` for those that pytest itself makes."""
    listed = item._fixtureinfo.name2fixturedefs.get(name)
    kept = listed[-1].cached_result if listed else None
    if not kept:
        raise NotPlain(f"the fixture {name}")
    return kept[0]
