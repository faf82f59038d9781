"""Rows and documents of JSON files that a user names: as much of them as thousands of runs can be made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reviewbot.errors import UnreadableFile
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.plain import Plain

LONGEST = 64 << 20  # bytes of a document, or of one line


def count(value: Plain) -> int:
    """The values in a value, itself among them."""
    return 1 + sum(count(part) for _, part in plain.items(value))


def inside(path: Path) -> Sequence[Path]:
    """The files of a folder that hold rows, in the order of names, numbers in them as numbers."""
    return sorted([*path.glob("*.jsonl"), *path.glob("*.json")], key=_natural)


def document(path: Path) -> Plain:
    """What a JSON file holds. Raises UnreadableFile."""
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST + 1)
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be read ({error.strerror})") from None
    if len(content) > LONGEST:
        raise UnreadableFile(
            str(path), f"is larger than {LONGEST >> 20} MiB; give it as JSON lines, or a part"
        )
    return _parsed(path, content.removeprefix(b"\xef\xbb\xbf"), None)


def rows(path: Path, most: int) -> tuple[list[Plain], int]:
    """The first rows of a dump, as many as hold `most` values, and how many rows it has.

    A dump is a JSON lines file, a JSON list, or a folder of such files. Raises UnreadableFile that names the
    line.
    """
    if path.is_dir():
        files = inside(path)
        if not files:
            raise UnreadableFile(str(path), "holds no .jsonl or .json file")
    else:
        files = [path]
    found: list[Plain] = []
    total = 0
    for file in files:
        for row in _rows(file):
            total += 1
            if most > 0 or not found:
                parsed = row if type(row) is not tuple else _parsed(file, *row)
                found.append(parsed)
                most -= count(parsed)
    return found, total


# A line and its number, or a row that is parsed already.
_Row = Any


def _rows(path: Path) -> Iterator[_Row]:
    if _begins_a_list(path):
        try:
            whole = document(path)
        except UnreadableFile as error:
            if path.stat().st_size > LONGEST:
                raise error
            whole = None  # lines that are lists
        if type(whole) is list:
            yield from whole
            return
    number = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise UnreadableFile(str(path), f"is longer than {LONGEST >> 20} MiB", number)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line.isspace():
                    yield line, number
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be read ({error.strerror})") from None


def _begins_a_list(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    except OSError:
        return False


def _parsed(path: Path, content: bytes, line: int | None) -> Plain:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(str(path), f"is not UTF-8 ({error.reason})", line) from None
    try:
        return plain.decode(json.loads(text, object_pairs_hook=_object))
    except RecursionError:
        why = "is nested too deeply"
    except json.JSONDecodeError as error:
        why = f"is not JSON ({error})"
    except ValueError as error:
        many = "digits" in str(error)
        why = "holds an integer of too many digits" if many else f"is not plain data ({error})"
    raise UnreadableFile(str(path), why, line)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that stands twice the first value would be lost without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:80]!r} stands twice in one object")
    return found


def _natural(path: Path) -> list[object]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]
