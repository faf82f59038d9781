"""Steps of CI and scripts that a change lets fail, or that leave tests out from now on.

A step that is new may be as lenient as it likes: it is no check that says less than before. So each line is
held against what stood there: a command against the one that it takes the place of, a key such as
`continue-on-error` against the step or job that it is a key of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from reviewbot.flow.patterns import pattern

_ALIKE = 0.6  # of two commands: one takes the place of the other
_COMMENT = pattern(r"(^|\s)#.*$")
_CHECKS = pattern(r"(?i)pytest|unittest|\btox\b|\bnox\b|tests?\b|test_|check|compar|parity|verif|lint|mypy")


@dataclass(frozen=True, slots=True)
class _Sort:
    """What makes a line lenient, in which words that is said, and what it belongs to."""

    pattern: re.Pattern[str]
    says: str
    of: Literal["command", "step", "script"]
    still: str


_MAY_FAIL = "may fail from now on without turning the run red"
_IN_THE_LOG = "its log, which turns no run red"
_SORTS = (
    _Sort(pattern(r"\|\|\s*(?:true|:|exit\s+0|echo\b.*)\s*$"), _MAY_FAIL, "command", _IN_THE_LOG),
    _Sort(pattern(r"^\s*-?\s*continue-on-error:\s*true\b"), _MAY_FAIL, "step", _IN_THE_LOG),
    _Sort(pattern(r"^\s*-?\s*allow_failure:\s*true\b"), _MAY_FAIL, "step", _IN_THE_LOG),
    _Sort(
        pattern(r"--deselect[= ]\S+"),
        "leaves a test out",
        "command",
        "the tests that it does not leave out",
    ),
    _Sort(
        pattern(r"--ignore(?:-glob)?[= ]\S*test\S*"),
        "leaves tests out",
        "command",
        "the tests that it does not leave out",
    ),
    _Sort(
        pattern(r"""\s-k[= ]?["']?.*\bnot\b"""),
        "leaves tests out",
        "command",
        "the tests that it does not leave out",
    ),
    _Sort(
        pattern(r"^\s*-?\s*if:\s*(?:false|\$\{\{\s*false\s*\}\})\s*(#.*)?$"),
        "does not run any more",
        "step",
        "what other steps run",
    ),
    _Sort(pattern(r"^\s*set \+e\b"), "goes on after a failure", "script", "the command that comes last"),
)
_HANDS_ON = pattern(r"\bexit\s+[\"']?\$|\breturn\s+[\"']?\$")


@dataclass(frozen=True, slots=True)
class Lenient:
    """A line of the new version that lets through what was not let through before. `line` is its number,
    `what` the command, step or job that it is about, `says` what becomes of that, `still` what notices a
    fault nevertheless."""

    line: int
    what: str
    says: str
    still: str


def lenient(old: list[str], new: list[str]) -> Iterator[Lenient]:
    """The lines of the new version that are lenient where the old one was not."""
    was, now = [_bare(line) for line in old], [_bare(line) for line in new]
    gone = list((Counter(was) - Counter(now)).elements())
    for sort in _SORTS:
        lines = [
            (number, line) for number, line in enumerate(new, 1) if sort.pattern.search(_uncommented(line))
        ]
        fresh = _unmatched(lines, [_bare(line) for line in old if sort.pattern.search(_uncommented(line))])
        for number, _ in fresh:
            if _before(sort, number, new, was, gone):
                yield Lenient(number, _about(sort, number, new), sort.says, sort.still)


def _unmatched(lines: list[tuple[int, str]], was: list[str]) -> list[tuple[int, str]]:
    """Those without an equal in the old version, nor one there that says the same in other words."""
    known = Counter(was)
    fresh = []
    for number, line in lines:
        if known[_bare(line)]:
            known[_bare(line)] -= 1
        else:
            fresh.append((number, line))
    for other in known.elements():
        if fresh:
            fresh.remove(max(fresh, key=lambda one: _likeness(other, _bare(one[1]))))
    return fresh


def _before(sort: _Sort, number: int, new: list[str], was: list[str], gone: list[str]) -> bool:
    """Whether what a lenient line belongs to was there before, and was a check."""
    line = _bare(new[number - 1])
    if sort.of == "command":
        core = sort.pattern.sub("", line)
        replaced = any(_likeness(core, other) >= _ALIKE for other in gone if _CHECKS.search(other))
        return replaced and _CHECKS.search(core) is not None
    first, last = _block(number, new)
    block = [_bare(one) for one in new[first - 1 : last]]
    if sort.of == "script" and (any(map(_HANDS_ON.search, block)) or not any(map(_is_strict, block))):
        return False
    head = block[0] if sort.of == "step" else ""
    known = set(was)
    named = (one for one in block if one == head or one.startswith("name:") or _CHECKS.search(one))
    return any(one in known for one in named if one != line)


def _about(sort: _Sort, number: int, new: list[str]) -> str:
    if sort.of != "step":
        return _bare(new[number - 1])
    first, last = _block(number, new)
    block = [_bare(line) for line in new[first - 1 : last]]
    names = [line.partition(":")[2].strip(" \"'") for line in block if line.startswith("name:")]
    return names[0] if names else block[0].removeprefix("run:").strip(" :|")


def _block(number: int, lines: list[str]) -> tuple[int, int]:
    """The lines of the item or key of YAML that a line stands in, from its head on; in what is not indented
    those of the whole file."""
    depth = _indent(lines[number - 1])
    first = number
    if not lines[number - 1].lstrip().startswith("- "):
        above = (
            n for n in range(number - 1, 0, -1) if lines[n - 1].strip() and _indent(lines[n - 1]) < depth
        )
        first = next(above, 0)
    if not first:
        return 1, len(lines)
    head = _indent(lines[first - 1])
    below = (
        n for n in range(first + 1, len(lines) + 1) if lines[n - 1].strip() and _indent(lines[n - 1]) <= head
    )
    return first, next(below, len(lines) + 1) - 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_strict(command: str) -> bool:
    """Whether it is a check that may stop a script."""
    return _CHECKS.search(command) is not None and "||" not in command and not command.startswith("name:")


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def _uncommented(line: str) -> str:
    return _COMMENT.sub("", line.rstrip("\n"))


def _bare(line: str) -> str:
    return _uncommented(line).strip().removeprefix("- ").strip()
