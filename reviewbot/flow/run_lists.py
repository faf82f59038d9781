"""What YAML and shell say of checks: which tests run, what is let through, how much may differ.

Only what both versions of a file say in comparable words is compared. YAML is composed, never constructed:
no tag makes an object, and an alias is not followed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from reviewbot.flow.patterns import pattern

YAML = (".yml", ".yaml")
_LIMIT = pattern(
    r"(?i)(^|[_-])(r?tol|atol|rtol|tolerances?|max_?(diff|gap|error|drift|mismatch\w*)|allowed_\w+)([_-]|$)"
)
_LISTS = pattern(r"(?i)test|check|compar|suite|case|field|scenario|workload|parity|metric")
_TEST = pattern(r"[\w./-]*\b(?:[\w-]*tests?[\w-]*|check\w*|parity\w*|compar\w*|verif\w*)[\w./-]*")
_PATH = pattern(r"[\w./-]+\.(?:py|sh|bash)(?:::\w+)*|(?<![\w./=-])tests?(?:/[\w./-]*|(?=[\s\"']|$))")
_PAGE = pattern(r"(?i)\S+\.(md|rst|txt|html?|adoc|css|svg|png)")
_OPTION = pattern(r"\s*--?[A-Za-z]")
_COMMENT = pattern(r"(^|\s)#.*$")


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that two versions of such a file say differently: `before` and `after` are lines, None where
    a version does not say it. `sure`: it says less now."""

    says: str
    before: int | None
    after: int | None
    sure: bool = True


@dataclass(frozen=True, slots=True)
class _Scalar:
    path: tuple[str, ...]
    value: str
    line: int
    listed: bool


def unlisted(old: list[str], new: list[str], still: Callable[[str], bool]) -> Iterator[Dropped]:
    """The tests that the old version names and the new one does not. `still` tells whether a path is there,
    and nothing else that runs names it."""
    now = {word for line in new for word in _PATH.findall(_bare(line))}
    told: set[str] = set()
    for number, line in enumerate(old, 1):
        for word in _PATH.findall(_bare(line)):
            covered = word in now or any(_covers(other, word) for other in now)
            if covered or word in told or not _TEST.search(word) or not still(word):
                continue
            told.add(word)
            yield Dropped(f"`{word}` is no longer run", number, None)


def fewer_listed(old: str, new: str) -> Iterator[Dropped]:
    """The lists of YAML that hold fewer tests, checks or fields."""
    had, has = _lists(old), _lists(new)
    everywhere = {item for items in has.values() for item in items}
    for path, items in had.items():
        kept = has.get(path, {})
        lost = {item: line for item, line in items.items() if item not in everywhere}
        named = any(_LISTS.search(part) for part in path) or all(_TEST.fullmatch(item) for item in lost)
        if not lost or not named or _let_through(path) or not set(items) & set(kept):
            continue
        if is_command_line(items) or all(map(_PAGE.fullmatch, lost)):
            continue
        if len(kept) >= len(items):
            continue  # one for another
        names = ", ".join(f"`{item}`" for item in lost)
        says = f"`{'.'.join(path)}` no longer holds {names}"
        yield Dropped(says, next(iter(lost.values())), None)


def is_command_line(items: Iterable[str]) -> bool:
    """Whether a list holds options, so that it says how something is run and not what: `["--tp", "2"]`."""
    return any(map(_OPTION.match, items))


def more_let_through(old: str, new: str) -> Iterator[Dropped]:
    """The lists of YAML that say what is let through, and hold more."""
    had, has = _lists(old), _lists(new)
    for path, items in has.items():
        come = {item: line for item, line in items.items() if item not in had.get(path, {})}
        if come and path in had and _let_through(path) and set(items) & set(had[path]):
            names = ", ".join(f"`{item}`" for item in come)
            yield Dropped(f"`{'.'.join(path)}` now also holds {names}", None, next(iter(come.values())))


def raised(old: str, new: str) -> Iterator[Dropped]:
    """The tolerances of YAML that grew."""
    had, has = _limits(old), _limits(new)
    for path, found in has.items():
        before = had.get(path, [])
        if len(before) == len(found):
            for (was, was_line), (number, line) in zip(before, found, strict=True):
                if number > was >= 0:
                    yield Dropped(f"`{'.'.join(path)}` goes from {was:g} to {number:g}", was_line, line)


def _let_through(path: tuple[str, ...]) -> bool:
    return (
        bool(path) and re.search(r"(?i)ignor|exclud|skip|allow|excus|known_fail|flaky", path[-1]) is not None
    )


def _lists(text: str) -> dict[tuple[str, ...], dict[str, int]]:
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for one in _scalars(text):
        if one.listed and "\n" not in one.value:
            found.setdefault(one.path, {}).setdefault(one.value, one.line)
    return found


def _limits(text: str) -> dict[tuple[str, ...], list[tuple[float, int]]]:
    found: dict[tuple[str, ...], list[tuple[float, int]]] = {}
    for one in _scalars(text):
        if not one.listed and one.path and _LIMIT.search(one.path[-1]):
            try:
                found.setdefault(one.path, []).append((float(one.value), one.line))
            except ValueError:
                continue
    return found


# The two versions of one file are each asked three times.
@functools.lru_cache(maxsize=2)
def _scalars(text: str) -> tuple[_Scalar, ...]:
    """Every scalar of a YAML text with the keys above it; none of one that does not parse."""
    import yaml

    found: list[_Scalar] = []
    try:
        stack: list[tuple[yaml.Node, tuple[str, ...], bool]] = [
            (node, (), False) for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None
        ]
    except (yaml.YAMLError, RecursionError, ValueError):
        return ()
    seen: set[int] = set()
    while stack:
        node, path, listed = stack.pop()
        if isinstance(node, yaml.ScalarNode):
            found.append(_Scalar(path, str(node.value), node.start_mark.line + 1, listed))
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            stack.extend((item, path, True) for item in reversed(node.value))
        elif isinstance(node, yaml.MappingNode):
            for key, value in reversed(node.value):
                name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
                stack.append((value, (*path, name), False))
    return tuple(found)


def _covers(word: str, other: str) -> bool:
    """Whether a folder, or a file, that is named holds another word's test."""
    return other.startswith((f"{word.rstrip('/')}/", f"{word}::"))


def _bare(line: str) -> str:
    return _COMMENT.sub("", line.rstrip("\n"))
