"""A count of what is done goes up before the step that may be aborted, and stays up when it is.

## Why
`restored += 1` stands before the `try`, or first in it, and the handler goes on to the next turn. The count,
or the list, then holds what was tried, under the name of what was done: `assert restored == len(rows)` passes
with no row restored.

## Instead
Count after the step, in the `try`'s `else`, or take the count back in the handler.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.control import leaves, statements
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.syntax import dotted, last_name, walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step

# Names of what is done, not of what is tried.
_DONE = re.compile(
    r"(?i)(^|[_.])(done|processed|succeeded|successes|successful|completed|restored|resumed|saved|written|passed"
    r"|trained|finished|handled|converted|loaded|uploaded|verified|matched|ok)(_|$)"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Count:
    """A statement that counts, what it counts in, and the `try` whose failure it does not wait for."""

    node: cst.CSTNode
    name: str
    tried: cst.Try


class CounterLeftAdvanced(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            def test_restore(rows, engine):
                restored = 0
                for row in rows:
                    restored += 1  # <- here
                    try:
                        engine.restore(row)
                    except RuntimeError:
                        continue
                assert restored == len(rows)
        """),
        Example(
            """
            def convert(paths, log):
                converted = []
                for path in paths:
                    try:
                        converted.append(path)  # <- here
                        write(path, read(path))
                    except OSError as error:
                        log.warning("cannot convert %s: %s", path, error)
                log.info("%d files converted", len(converted))
            """,
            path="tools/convert.py",
        ),
    )
    good = (
        Example("""
            def test_restore(rows, engine):
                restored = tried = 0
                for row in rows:
                    tried += 1
                    try:
                        engine.restore(row)
                    except RuntimeError:
                        continue
                    restored += 1
                assert restored == tried

            def convert(paths):
                converted = []
                for path in paths:
                    converted.append(path)
                    try:
                        write(path)
                    except OSError:
                        converted.pop()
                return converted

            def save(paths):
                saved = 0
                for path in paths:
                    saved += 1
                    try:
                        write(path)
                    except OSError:
                        raise RuntimeError(path) from None
                return saved

            def load(paths):
                loaded = []
                for path in paths:
                    try:
                        loaded.append(read(path))
                    except OSError:
                        continue
                return loaded
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return unit.has(ast.Try) and unit.has(ast.For, ast.While) and any(map(_DONE.search, unit.facts.names))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        for loop in unit.find(cst.For, cst.While):
            for count in _counts(loop):
                handler = _goes_on(count)
                if handler is None or not _is_read_after(unit, loop, count.name):
                    continue
                yield self.finding(
                    unit,
                    count.node,
                    f"`{count.name}` counts a turn before the step that may be aborted, and keeps it then",
                    certainty="likely",
                    steps=[
                        step(unit, count.node, "counted here, before the step"),
                        step(unit, handler.type or handler, "here the step is given up, and the count stays"),
                    ],
                    still_catches=still_catches(unit, count.node, but=[count.node]),
                )


def _counts(loop: cst.For | cst.While) -> Iterator[_Count]:
    """The counts in a loop's own block that stand before a `try`, or first in one."""
    block = statements(loop.body)
    for place, node in enumerate(block):
        name = _counted(node)
        after = next((one for one in block[place + 1 :] if isinstance(one, cst.Try)), None)
        if name and after is not None:
            yield _Count(node, name, after)
        if isinstance(node, cst.Try):
            inner = statements(node.body)
            name = _counted(inner[0]) if len(inner) > 1 else ""
            if name and any(isinstance(b, cst.Call) for one in inner[1:] for b in walk(one)):
                yield _Count(inner[0], name, node)


def _counted(node: cst.CSTNode) -> str:
    """The name of what is done that a statement counts up or adds to, of something that is at hand."""
    name = ""
    if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
        name = dotted(node.target)
    elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        call = node.value
        if last_name(call) in ("append", "add") and isinstance(call.func, cst.Attribute):
            name = dotted(call.func.value)
            if any(isinstance(below, cst.Call) for arg in call.args for below in walk(arg.value)):
                return ""  # the step itself makes what is added
    return name if name and _DONE.search(name) else ""


def _goes_on(count: _Count) -> cst.ExceptHandler | None:
    """The handler after which the loop goes on with the count as it is."""
    for handler in count.tried.handlers:
        body = statements(handler.body)
        named = {dotted(below) for one in body for below in walk(one)}
        raises = any(isinstance(below, cst.Raise) for one in body for below in walk(one))
        if leaves(body) in (None, "continue") and count.name not in named and not raises:
            return handler
    return None


def _is_read_after(unit: Unit, loop: cst.CSTNode, name: str) -> bool:
    rank = unit.index.rank
    inside = {id(below) for below in walk(loop)}
    kinds = (cst.Name,) if "." not in name else (cst.Attribute,)
    return any(
        dotted(node) == name and rank(node) > rank(loop) and id(node) not in inside
        for kind in kinds
        for node in unit.find(kind)
    )
