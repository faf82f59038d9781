"""What a check is about, by its name: `compare_tokens` of rows that have masks and rewards too."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_GENERAL = frozenset({"row", "item", "id", "test", "value", "field", "data", "check", "compare"})


def names_another(check: str, field: str, compared: Iterable[str]) -> bool:
    """Whether a check's qualified name names a field that it compares, and not this one."""
    words = _words(check.rpartition(".")[2])
    return words.isdisjoint(_words(field)) and any(not words.isdisjoint(_words(other)) for other in compared)


def _words(name: str) -> frozenset[str]:
    """The words of a name that say something, in the singular: `token` of `token_ids`."""
    parts = [part.lower() for part in _WORD.findall(name)]
    whole = "".join(parts)
    found = {part.removesuffix("s") for part in (*parts, whole)}
    return frozenset(part for part in found if len(part) > 2 and part not in _GENERAL)
