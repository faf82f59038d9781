"""The blocks of a shell script: what runs after a line, and an `if` of which an arm only tells.

Lines are whole commands, without comments; only what opens and closes with the first or the last word of a
line is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewbot.flow.patterns import pattern

GOES_ON = pattern(r"^\s*set\s+\+(e|o\s+errexit)\b")
"""From here on a script passes over what fails."""
ENDS = pattern(r"^\s*set\s+-(\w*e\w*|o\s+errexit)\b")
"""From here on a script ends with what fails."""

_OPENS = pattern(r"^\s*(if|for|while|until|case|select)\b|(^|[\s)])[{(]\s*$")
_CLOSES = pattern(r"^\s*(fi|done|esac|[})])(?=[\s;|&>]|$)")
_CLOSED = pattern(r";\s*(fi|done|esac|\})\s*([|&>;].*)?$")
_ARM = pattern(r"^\s*(else|elif)\b|^\s*[^\s()]+\)\s*$|^\s*;;")
_FUNCTION = pattern(r"^\s*(function\s+\w|[\w-]+\s*\(\)\s*[{(]?\s*$|[\w-]+\s*\(\)\s*[{(])")
_IF = pattern(r"^if\s+(?P<no>!\s+)?(?P<asked>[^;|&]+?)\s*;\s*then\b(?P<rest>.*?);?\s*\bfi$")
_TELLS = pattern(r"^(echo|printf|cat|sleep|true|:|date|ls|tail|head)\b")
_FILE = pattern(r">\s*(?!&|/dev/|\"?\$\{?GITHUB_STEP_SUMMARY)")
_LONGEST = 40  # lines of an `if`


def goes_on_after(lines: Sequence[str], at: int) -> bool:
    """Whether a command may run after line `at` has: none that only closes a block, or stands in its other
    arms."""
    depth, skipped = 0, False
    for text in lines[at + 1 :]:
        if _CLOSES.match(text):
            skipped = skipped and depth > 0
            depth -= depth > 0
            continue
        if depth == 0 and _ARM.match(text):
            skipped = True
        elif not skipped:
            return True
        depth += _opens(text)
    return False


def is_in_function(lines: Sequence[str], at: int) -> bool:
    """Whether line `at` stands in a function, or in brackets that a shell of its own runs."""
    depth = 0
    functions: list[int] = []
    for text in lines[:at]:
        if _CLOSES.match(text):
            depth -= depth > 0
            if functions and functions[-1] == depth:
                functions.pop()
        elif _opens(text):
            if _FUNCTION.match(text) or text.strip() == "(":
                functions.append(depth)
            depth += 1
    return bool(functions) or _FUNCTION.match(lines[at]) is not None


def _opens(text: str) -> bool:
    return (_OPENS.search(text) or _FUNCTION.match(text)) is not None and _CLOSED.search(text) is None


def of_conditions(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The `if`s over one command of which nothing but a message follows where it fails: their line and the
    command."""
    for at, text in enumerate(lines):
        if not text.lstrip().startswith("if "):
            continue
        found = _IF.match(_whole(lines, at))
        if found is None or re.search(r"\b(if|elif|for|while|case)\b", _words(found["rest"])):
            continue
        arms = re.split(r"(?:^|;)\s*else\b", found["rest"])
        failed, passed = (arms[0], arms[1:]) if found["no"] else ("".join(arms[1:]), arms[:1])
        if _only_tells(failed) and all(map(_only_tells, passed)) and (failed.strip() or not found["no"]):
            yield at, found["asked"].strip()


def _whole(lines: Sequence[str], at: int) -> str:
    """An `if` up to its `fi`, on one line."""
    held: list[str] = []
    for text in lines[at : at + _LONGEST]:
        held.append(text.strip().removesuffix(";"))
        if re.search(r"\bfi$", held[-1]):
            break
    whole = "; ".join(held)
    return re.sub(r"\b(then|else);", r"\1", whole)


def _words(text: str) -> str:
    """A text without what stands in quotes."""
    return re.sub(r"\"[^\"]*\"|'[^']*'", "", text)


def _only_tells(arm: str) -> bool:
    parts = [part.strip() for part in _words(arm).split(";") if part.strip()]
    return all(_TELLS.match(part) and not re.search(r"\||&&", part) for part in parts) and not _FILE.search(
        arm
    )
