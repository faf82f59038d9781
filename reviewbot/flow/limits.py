"""What a file lists and limits by name: fields that are compared, what is let through, tolerances."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewbot.flow.demands import demands
from reviewbot.flow.loosening import Loosened, words
from reviewbot.flow.patterns import pattern

if TYPE_CHECKING:
    from reviewbot.source.units import File

_LIMIT = pattern(
    r"(?i)(^|_)(r?tol|atol|rtol|eps|epsilon|tolerance|max_(diff|gap|error|drift|mismatch\w*)|allow\w*)(_|$)"
)
_EXCEPTIONS = pattern(
    r"(?i)(^|_)(ignor\w*|skip\w*|exclud\w*|excus\w*|volatile|allow\w*|known_fail\w*|flaky)(_|$)"
)
_FLAG = pattern(
    r"(?P<flag>--[\w-]*(?:allow|tol|thresh|excus|max-(?:diff|gap|error|fail|drift|mismatch))[\w-]*)"
    r"[= \"',]+(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def iterated(tree: ast.AST) -> dict[str, ast.expr]:
    """The literal lists that loops with checks in them go through, by the loop's variable."""
    return {
        f"for {ast.unparse(node.target)} in …": node.iter
        for node in ast.walk(tree)
        if isinstance(node, (ast.For, ast.AsyncFor)) and words(node.iter) and demands(node.body)
    }


def compared(file: File) -> dict[str, ast.expr]:
    """The lists of words of a module, by name, that a loop with checks in it goes through."""
    looped = {
        node.iter.id
        for unit in file.units
        if unit.is_function
        for node in unit.asts(ast.For)
        if isinstance(node.iter, ast.Name) and demands(node.body)
    }
    return {name: value for name, value in _listed(file) if name in looped and not _EXCEPTIONS.search(name)}


def exceptions(file: File) -> dict[str, ast.expr]:
    """The lists of words of a module whose names say that they are let through."""
    return {name: value for name, value in _listed(file) if _EXCEPTIONS.search(name)}


def _listed(file: File) -> Iterator[tuple[str, ast.expr]]:
    for node in file.tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and words(node.value):
            for name in _targets(node):
                yield name, node.value


def _targets(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def grown(old: ast.AST, new: ast.AST) -> Iterator[Loosened]:
    """The named tolerances, and the defaults of parameters and options, that grew."""
    before, after = (_by_name(tree) for tree in (old, new))
    for name, nodes in after.items():
        # Of several of one name it is not known which belong together once their number has changed.
        if len(before.get(name, ())) == len(nodes):
            for was, node in zip(before[name], nodes, strict=True):
                if _value(node) > _value(was) >= 0:
                    says = f"`{name.rpartition('.')[2]}` goes from {_value(was):g} to {_value(node):g}"
                    yield Loosened("wider", was, node, says)


def _by_name(tree: ast.AST) -> dict[str, list[ast.Constant]]:
    found: dict[str, list[ast.Constant]] = {}
    for name, node in sorted(_named_limits(tree), key=lambda one: one[1].lineno):
        found.setdefault(name, []).append(node)
    return found


def _named_limits(tree: ast.AST) -> Iterator[tuple[str, ast.Constant]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            named = [(name, node.value) for name in _targets(node)]
        elif isinstance(node, _FUNCTIONS):
            args = node.args
            given = [*args.posonlyargs, *args.args][-len(args.defaults) :] if args.defaults else []
            pairs = [
                *zip(given, args.defaults, strict=True),
                *zip(args.kwonlyargs, args.kw_defaults, strict=True),
            ]
            named = [(f"{node.name}.{arg.arg}", value) for arg, value in pairs]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("add_argument") and node.args:
            flag = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
            named = [(str(flag).replace("-", "_"), k.value) for k in node.keywords if k.arg == "default"]
        else:
            continue
        for name, value in named:
            number = isinstance(value, ast.Constant) and type(value.value) in (int, float)
            if number and _LIMIT.search(name.rpartition(".")[2].strip("_")):
                yield name, value  # type: ignore[misc]


def _value(node: ast.Constant) -> float:
    return float(node.value)  # type: ignore[arg-type]


def flags(lines: list[str]) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for number, line in enumerate(lines, 1):
        for match in _FLAG.finditer(line):
            found.setdefault(match["flag"], []).append((number, float(match["number"])))
    return found
