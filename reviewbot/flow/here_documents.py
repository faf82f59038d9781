"""Documents in a shell script, below `<<EOF`: manifests and settings, whose lines are no commands."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from reviewbot.flow.patterns import pattern

_OPENS = pattern(r"(?<!<)<<-?\s*(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)'|\\?(?P<bare>\w+))")
# How YAML and XML begin, and no command does.
_DOCUMENT = pattern(r"\s*(---|[A-Za-z_][\w./-]*:(\s|$)|- [\w\"'{]|<[\w?!])")


def without_documents(lines: Sequence[str]) -> list[str]:
    """The lines of a script, with those of YAML or XML documents in it left empty. What else stands below
    `<<EOF` may be run, by a shell or an interpreter, and stays."""
    kept = list(lines)
    places: dict[str, list[int]] | None = None
    at = 0
    while at < len(kept):
        found = _OPENS.search(kept[at]) if "<<" in kept[at] else None
        at += 1
        if found is None or kept[at - 1].lstrip().startswith("#"):
            continue
        places = _places(lines) if places is None else places
        end = _first_from(at, places.get(found["double"] or found["single"] or found["bare"], ()))
        if end is not None and _is_document(kept, at, end):
            kept[at:end] = [""] * (end - at)
            at = end
    return kept


def _places(lines: Iterable[str]) -> dict[str, list[int]]:
    """Where each line of one word stands: a document ends at such a one."""
    found: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        word = line.strip()
        if word and not word.endswith(":") and " " not in word:
            found[word].append(at)
    return found


def _first_from(start: int, places: Sequence[int]) -> int | None:
    at = bisect_left(places, start)
    return places[at] if at < len(places) else None


def _is_document(lines: Sequence[str], start: int, end: int) -> bool:
    first = next((one for one in lines[start:end] if one.strip() and not one.lstrip().startswith("#")), "")
    return _DOCUMENT.match(first) is not None
