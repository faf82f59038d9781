"""What a test's `zip` pairs with a list that the test writes out: its shorter side hides rows of the other.

A list in the source is no value of a call, so that nobody can change it to see what it is held against; how
long it is stands there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from reviewbot.errors import UnreadableFile
from reviewbot.probe.target import Target
from reviewbot.source.units import File


def written_out(target: Target) -> Mapping[str, frozenset[int]]:
    """{call, as code: the lengths of the lists that it is paired with} of every `zip` of a test that does not
    ask for equal lengths."""
    try:
        file = File(target.path, (target.root / target.path).read_bytes())
    except (OSError, UnreadableFile):
        return {}
    unit = file.unit(target.unit)
    if unit is None or not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    held = {**set_once(file.tree.body), **set_once(unit.tree.body)}
    found: dict[str, set[int]] = {}
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip":
            if any(keyword.arg == "strict" for keyword in node.keywords):
                continue
            sides = [_behind(side, held) for side in node.args]
            lengths = {len(side.elts) for side in sides if isinstance(side, (ast.List, ast.Tuple))}
            for side in sides:
                if isinstance(side, (ast.Call, ast.Await)):
                    found.setdefault(ast.unparse(side).removeprefix("await "), set()).update(lengths)
    return {call: frozenset(lengths) for call, lengths in found.items() if lengths}


def set_once(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """The names that are set in one place of a body, with what they are set to."""
    listed: dict[str, list[ast.expr]] = {}
    for target, value in _assigned(body):
        listed.setdefault(target, []).append(value)
    return {name: values[0] for name, values in listed.items() if len(values) == 1}


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and len(part.targets) == 1:
                target = part.targets[0]
                if isinstance(target, ast.Name):
                    yield target.id, part.value


def _behind(node: ast.expr, held: Mapping[str, ast.expr]) -> ast.expr:
    return held.get(node.id, node) if isinstance(node, ast.Name) else node
