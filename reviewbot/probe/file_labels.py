"""What the files of a command line are called: as the script calls them, else as their folders or names."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reviewbot.errors import UnreadableFile
from reviewbot.probe.inside.bindings import each
from reviewbot.probe.target import Target
from reviewbot.source.units import File


def labels(target: Target, places: Sequence[int]) -> list[str]:
    """A name of its own for each file, given their places in the words."""
    words = target.words
    try:
        tree: ast.AST = File(target.path, (target.root / target.path).read_bytes()).tree
    except (OSError, UnreadableFile):
        tree = ast.Module([], [])
    declared, held = list(_declared(tree)), dict(_held(tree))
    ordered = list(_positional(words))

    def named(place: int) -> str:
        if place and words[place - 1].startswith("-"):
            return words[place - 1].lstrip("-").replace("-", "_")
        number = ordered.index(place) if place in ordered else len(declared)
        return declared[number] if number < len(declared) else held.get(place + 1, "")

    paths = [Path(words[place]) for place in places]
    ways = (
        [named(place) for place in places],
        [path.stem for path in paths],
        [path.resolve().parent.name for path in paths],
    )
    found: list[str] = []
    counts = [Counter(way) for way in ways]
    for at, place in enumerate(places):
        able = (way[at] for way, count in zip(ways, counts, strict=True) if way[at] and count[way[at]] == 1)
        name = next((one for one in able if one not in found), f"{paths[at].stem}_{place}")
        found.append(name)
    return found


def _positional(words: Sequence[str]) -> Iterator[int]:
    """The places of the words that are no options, and no values of one."""
    for place, word in enumerate(words):
        if not word.startswith("-") and not (place and words[place - 1].startswith("-")):
            yield place


def _declared(tree: ast.AST) -> Iterator[str]:
    """The names of argparse's arguments that are no options, in their order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            name = first.value if isinstance(first, ast.Constant) else None
            if node.func.attr == "add_argument" and isinstance(name, str) and not name.startswith("-"):
                yield name.replace("-", "_")


def _held(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """What a script puts `sys.argv[1]`, or what it reads there, into: the number and the name."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target, value in (pair for one in node.targets for pair in each(one, node.value)):
            if isinstance(target, ast.Name):
                numbers = set(_numbers(value))
                if len(numbers) == 1:
                    yield numbers.pop(), target.id
            elif isinstance(target, (ast.Tuple, ast.List)):
                first = _from(value)
                names = [part.id if isinstance(part, ast.Name) else "" for part in target.elts]
                if first is not None:
                    yield from ((first + at, name) for at, name in enumerate(names) if name)


def _numbers(node: ast.AST) -> Iterator[int]:
    """The words of the command line that an expression takes, by their numbers."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and ast.unparse(part.value) in ("sys.argv", "argv"):
            number = part.slice.value if isinstance(part.slice, ast.Constant) else None
            if type(number) is int:
                yield number


def _from(node: ast.expr) -> int | None:
    """Where a part of the command line begins that is unpacked: 1 of `sys.argv[1:]`."""
    if ast.unparse(node) in ("sys.argv", "argv"):
        return 0
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("sys.argv", "argv"):
        begins = node.slice.lower if isinstance(node.slice, ast.Slice) else None
        if isinstance(begins, ast.Constant) and type(begins.value) is int:
            return begins.value
    return None


def placed(target: Target) -> Mapping[int, str]:
    """The words of a command line that name JSON files or folders, by their places, with their labels."""
    places = [
        place
        for place, word in enumerate(target.words)
        if Path(word).is_dir() or (Path(word).is_file() and Path(word).suffix in (".json", ".jsonl"))
    ]
    return dict(zip(places, labels(target, places), strict=True))
