"""Two versions of a function: checks that differed and are the same now."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from reviewbot.flow.assertions import RAISING_CONTEXTS, asserts_by_name
from reviewbot.flow.loosening import Loosened, short
from reviewbot.flow.summaries import dotted_name

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def merged(old: _FUNCTION, new: _FUNCTION) -> Iterator[Loosened]:
    """The checks of the new version that repeat one above, with nothing but checks between them, where the
    old one had as many and each was another."""
    had, has = list(_runs(old)), list(_runs(new))
    was = Counter(ast.unparse(one) for run in had for one in run)
    if was.total() < sum(map(len, has)):
        return
    for run in has:
        texts = [ast.unparse(one) for one in run]
        for text, count in Counter(texts).items():
            before = next((one for one in had if _stood_for(one, run, text)), None)
            if count < 2 or was[text] >= count or before is None:
                continue
            again = [one for one, own in zip(run, texts, strict=True) if own == text]
            what = _what(again[1])
            lines = " and ".join(str(one.lineno) for one in again)
            other = before[texts.index(text)]
            yield Loosened(
                "fewer",
                other.body[0] if isinstance(other, (ast.With, ast.AsyncWith)) else other,
                again[1],
                f"{_number(count)} checks that differed (lines {lines}) are the same now: `{short(what)}`",
                still="the first of them, which asks for the same",
            )


def _number(count: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(count, str(count))


def _what(check: ast.stmt) -> str:
    if isinstance(check, (ast.With, ast.AsyncWith)):
        return f"{ast.unparse(check.items[0].context_expr)}: {ast.unparse(check.body[0])}"
    return ast.unparse(check)


def _stood_for(before: list[ast.stmt], after: list[ast.stmt], text: str) -> bool:
    """Whether a run of checks is the one before another: as long or longer, of the same kinds, and all
    different where those stand that are the same now."""
    if len(before) < len(after):
        return False
    pairs = list(zip(before, after, strict=False))
    if not all(_kind(one) == _kind(other) for one, other in pairs):
        return False
    texts = [ast.unparse(one) for one, other in pairs if ast.unparse(other) == text]
    return len(texts) == len(set(texts)) > 1


def _kind(check: ast.stmt) -> str:
    call = check.items[0].context_expr if isinstance(check, (ast.With, ast.AsyncWith)) else check
    call = call.value if isinstance(call, ast.Expr) else call
    return dotted_name(call.func) if isinstance(call, ast.Call) else type(check).__name__


def _runs(function: _FUNCTION) -> Iterator[list[ast.stmt]]:
    """The checks of each block that follow one another, two at least."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            run: list[ast.stmt] = []
            block = getattr(node, name, None)
            for statement in block if isinstance(block, list) else ():
                if _is_check(statement):
                    run.append(statement)
                    continue
                if len(run) > 1:
                    yield run
                run = []
            if len(run) > 1:
                yield run


def _is_check(statement: object) -> bool:
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        call = statement.items[0].context_expr
        return (
            isinstance(call, ast.Call)
            and dotted_name(call.func).rpartition(".")[2] in RAISING_CONTEXTS
            and len(statement.body) == 1
        )
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return asserts_by_name(dotted_name(statement.value.func).rpartition(".")[2])
    return isinstance(statement, ast.Assert)
