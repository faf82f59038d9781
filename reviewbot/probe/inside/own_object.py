"""What a test finds on its own object: its attributes, and those that were put on its class meanwhile.

`setUpClass`, `setup_class` and a fixture of the class leave on the class what every test of it reads as
`self.rows`. What stands in the body of the class is code, and none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from reviewbot.probe.inside import plain
from reviewbot.probe.inside.plain import Instance, Plain

OWN = "self"


class OwnObjects:
    """Knows what the classes of tests held before any of these ran."""

    def __init__(self) -> None:
        self._before: dict[type, dict[str, Any]] = {}

    def remember(self, classes: Iterable[type]) -> None:
        """Looks at the classes, and at those that they extend, as they are now."""
        for cls in classes:
            for base in cls.__mro__:
                self._before.setdefault(base, dict(vars(base)))

    def flatten(self, value: object) -> Plain:
        """The object with what was put on its class since. Raises `plain.NotPlain`."""
        found = plain.flatten(value)
        if type(found) is not Instance or found.how not in plain.RECORDS:
            return found
        return replace(found, fields={**plain.attributes(dict(self._since(type(value)))), **found.fields})

    def _since(self, cls: type) -> Iterator[tuple[str, Any]]:
        for base in reversed(cls.__mro__):
            if base in self._before:
                held = self._before[base]
                yield from ((name, item) for name, item in vars(base).items() if held.get(name) is not item)


def put_on(own: object, value: Plain) -> None:
    """Gives an object the attributes of a flattened one."""
    for name, item in value.fields.items():
        object.__setattr__(own, name, plain.build(item))
