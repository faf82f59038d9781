"""Regular expressions that are compiled when they are first used.

Rules and what they stand on hold a hundred of them, and most files make use of few: compiling them all would
take a tenth of what it takes to look at one file.
"""

from __future__ import annotations

import re
from typing import cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled at the first use of it."""
    return cast("re.Pattern[str]", Lazy(text, flags))


class Lazy:
    """Has what a compiled pattern has."""

    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(*self._given)
        # From now on without a way through here.
        self.__dict__.update((one, getattr(compiled, one)) for one in _HELD)
        return getattr(compiled, name)


_HELD = [name for name in dir(re.Pattern) if not name.startswith("_")]
