"""The commands of a shell script, as words, with what a function or an array of the script adds to them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.flow.here_documents import without_documents
from reviewbot.flow.patterns import pattern

_FUNCTION = pattern(r"^\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?\s*$")
_ARRAY = pattern(r"^\s*(?:local\s+|declare\s+-a\s+)?([A-Za-z_]\w*)\+?=\($")
_SET = pattern(r"^(?:local\s+|export\s+|readonly\s+)?([A-Za-z_]\w*)=(.*)$")
_FIRST = frozenset({"if", "then", "else", "while", "do", "!", "exec", "time", "command", "sudo", "env"})
_KEYWORDS = frozenset(
    {"fi", "done", "esac", "for", "case", "local", "return", "}", "{", "elif", "export", "set"}
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words without quotes, the lines it stands on, and the function around it."""

    words: tuple[str, ...]
    line: int
    end_line: int
    function: str = ""

    @property
    def program(self) -> tuple[str, ...]:
        """What is run: the words before the first option, override or variable."""
        found: list[str] = []
        for word in self.words:
            is_module = word == "-m" and len(found) == 1 and found[0].startswith("python")
            is_script = word.startswith("$") and word.endswith((".py", ".sh"))
            if not is_module and not is_script and (word.startswith(("-", "$", "+")) or "=" in word):
                break
            found.append(word)
        return tuple(found[:4])


def commands(text: str) -> list[Command]:
    """The commands of a script in source order, those with an array's words included (`"${ARGS[@]}"`)."""
    arrays: dict[str, list[str]] = {}
    found: list[Command] = []
    function, array = "", ""
    for line, end, joined in _joined(text):
        bare = joined.strip()
        if array:
            if bare.startswith(")"):
                array = ""
            else:
                arrays[array].extend(_words(bare))
            continue
        opened, named = _ARRAY.match(bare), _FUNCTION.match(joined)
        if opened is not None:
            array = opened[1]
            arrays.setdefault(array, [])
        elif named is not None:
            function = named[1]
        elif joined.startswith("}"):
            function = ""
        elif words := _command(_words(bare)):
            whole = [part for word in words for part in _expanded(word, arrays)]
            found.append(Command(tuple(whole), line, end, function))
    return found


def assigned(text: str) -> dict[str, list[str]]:
    """What a script assigns to each of its variables, as written."""
    found: dict[str, list[str]] = {}
    for _, _, joined in _joined(text):
        match = _SET.match(joined.strip())
        if match is not None and not match[2].startswith("("):
            found.setdefault(match[1], []).append(match[2])
    return found


def _joined(text: str) -> Iterator[tuple[int, int, str]]:
    """Lines with those that a backslash continues, and the numbers of their first and last."""
    start, held = 0, ""
    for number, raw in enumerate(without_documents(text.splitlines()), 1):
        if raw.lstrip().startswith("#"):
            continue
        start = start or number
        if raw.endswith("\\"):
            held += raw[:-1] + " "
            continue
        if (held + raw).strip():
            yield start, number, held + raw
        start, held = 0, ""


# What stands in quotes, behind a backslash or a comment's mark takes more than blanks to part.
_QUOTES = pattern(r"[\"'\\#]")


def _words(line: str) -> list[str]:
    if _QUOTES.search(line) is None:
        return line.split()
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def _command(words: list[str]) -> list[str]:
    """The words without what stands before the program; empty for what is no command of its own."""
    while words and (words[0] in _FIRST or re.match(r"^[A-Za-z_]\w*=", words[0])):
        words = words[1:]
    if words and words[0] == "timeout":
        words = [word for word in words[1:] if not re.match(r"^(-|\d)", word)]
    return [] if not words or words[0] in _KEYWORDS or words[0].startswith(("[", "(")) else words


def _expanded(word: str, arrays: dict[str, list[str]]) -> list[str]:
    match = re.fullmatch(r"\$\{(\w+)\[[@*]\]\}", word)
    return arrays.get(match[1], [word]) if match is not None else [word]
