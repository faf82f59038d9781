"""How thin a helper is, and where it is used: functions of Python, of shell and of jq files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.source.shape import own_body
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, FunctionTree, Unit

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Assert)
_SHELL = pattern(r"^(?P<indent>[ \t]*)(?:function\s+)?(?P<name>[A-Za-z_][\w-]*)\s*\(\)\s*(?P<rest>[{(].*)?$")
_JQ = pattern(r"^\s*def\s+(?P<name>\w+)\s*(?:\((?P<parameters>[^)]*)\))?\s*:")


@dataclass(frozen=True, slots=True)
class ScriptFunction:
    """A function of a script: its lines, and those of its body that hold code."""

    name: str
    line: int
    end_line: int
    body: tuple[str, ...]


def forwards(tree: FunctionTree) -> ast.Call | None:
    """The one call that a function consists of, if it only hands its parameters on."""
    body = own_body(tree)
    value = body[0].value if len(body) == 1 and isinstance(body[0], (ast.Return, ast.Expr)) else None
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call):
        return None
    args = tree.args
    own = {
        one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg) if one
    }
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    bare = [one.value if isinstance(one, ast.Starred) else one for one in given]
    plain = all(isinstance(one, ast.Name) and one.id in own for one in bare)
    return value if plain and dotted_name(value.func) else None


def is_short(tree: FunctionTree, most: int) -> bool:
    """Whether a function is at most so many simple statements, without branches and loops."""
    body = own_body(tree)
    return 0 < len(body) <= most and all(isinstance(one, _SIMPLE) for one in body)


def body_lines(tree: FunctionTree) -> int:
    """The lines of a function's body, without its docstring."""
    body = own_body(tree)
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def calls_here(unit: Unit) -> list[tuple[Unit, ast.Call]]:
    """The calls of a function in its own file by its bare name."""
    name = unit.name
    return [
        (one, call)
        for one in unit.file.calling(name)
        for call in one.asts(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == name
    ]


def is_used_otherwise(unit: Unit) -> bool:
    """Whether a function's name is used in its file in another way than to call it: handed on, exported,
    spelled in a string."""
    spelled, names = _mentions(unit.file)
    called = {id(call.func) for _, call in calls_here(unit)}
    return unit.name in spelled or any(id(node) not in called for node in names.get(unit.name, ()))


@once
def _mentions(file: File) -> tuple[frozenset[str], dict[str, list[ast.Name]]]:
    """What a file spells in strings and reads as attributes, and its names."""
    spelled: set[str] = set()
    names: dict[str, list[ast.Name]] = {}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Attribute):
            spelled.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            spelled.add(node.value)
    return frozenset(spelled), names


def used_elsewhere(unit: Unit, repo: Repo) -> bool:
    """Whether another file of the repository could use a function: imports it, or asks a module for it."""
    name = unit.name
    others = {at.path for at in repo.index.look("import", name)}
    others |= {path for path, call in repo.index.calls(name) if "." in call.name}
    others |= {path for path, _ in repo.index.attribute_reads(name)}
    return bool(others - {unit.file.path})


def shell_functions(lines: list[str]) -> Iterator[ScriptFunction]:
    """The functions of a shell script, as far as they open with `name() {` and close with `}`."""
    number = 0
    while number < len(lines):
        match = _SHELL.match(lines[number].rstrip())
        if match is None:
            number += 1
            continue
        rest = (match["rest"] or "").strip()
        if rest.startswith("{") and rest.endswith("}"):
            body = (rest[1:-1].strip().rstrip(";"),)
            yield ScriptFunction(match["name"], number + 1, number + 1, body)
            number += 1
            continue
        end = next(
            (at for at in range(number + 1, len(lines)) if lines[at].rstrip() == match["indent"] + "}"), None
        )
        if end is None:
            number += 1
            continue
        yield ScriptFunction(match["name"], number + 1, end + 1, _code(lines[number + 1 : end]))
        number = end + 1


def jq_functions(lines: list[str]) -> Iterator[ScriptFunction]:
    """The functions of a jq file that stand free, each up to the `;` that ends a line."""
    number = 0
    while number < len(lines):
        match = _JQ.match(lines[number])
        if match is None:
            number += 1
            continue
        depth, end = 0, None
        for at in range(number, len(lines)):
            text = lines[at].partition("#")[0]
            depth += len(re.findall(r"\bdef\s", text))
            if text.rstrip().endswith(";"):
                depth -= 1
                if depth <= 0:
                    end = at
                    break
        if end is None:
            return
        first = lines[number][match.end() :]
        yield ScriptFunction(match["name"], number + 1, end + 1, _code([first, *lines[number + 1 : end + 1]]))
        number = end + 1


def words_at(lines: list[str], name: str, apart: ScriptFunction | None) -> list[int]:
    """The lines, from 1, outside of a function at which a script names it; comments do not count."""
    word = re.compile(rf"(?<![\w$.\-/]){re.escape(name)}(?![\w\-])")
    found = []
    for number, line in enumerate(lines, 1):
        if apart is not None and apart.line <= number <= apart.end_line:
            continue
        bare = re.sub(r"(^|\s)#.*$", "", line.rstrip("\n"))
        found += [number] * len(word.findall(bare))
    return found


def _code(lines: list[str]) -> tuple[str, ...]:
    bare = (line.strip() for line in lines)
    return tuple(line for line in bare if line and not line.startswith("#"))
