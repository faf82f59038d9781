"""A count of what is done goes up before the step that may be aborted, and stays up when it is.

## Why
`restored += 1` stands before the `try`, or first in it, and the handler goes on with the next one. The count,
or the list, then holds what was tried, under the name of what was done: `assert restored == len(rows)` passes
with no row restored.

## Instead
Count after the step, in the `try`'s `else`, or take the count back in the handler.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import dropwhile, takewhile
from operator import is_not

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.control import Exit, enclosing, leaves, statements
from reviewbot.flow.judgements import judged_names
from reviewbot.flow.judging import in_test_file, judges
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.syntax import dotted, last_name, walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step

# Names of what is done, not of what is tried.
_DONE = pattern(
    r"(?i)(^|[_.])(done|processed|succeeded|successes|successful|completed|restored|resumed|saved|written|passed"
    r"|trained|finished|handled|unloaded|sent|converted|loaded|uploaded|verified|matched|ok)(_|$)"
)
# What an object keeps from one call to the next.
_KEPT = pattern(
    r"(?i)(^|[_.])(steps?|seen|sent|unloaded|delivered|consumed|emitted|received|drained|acked|epochs?|tokens)(_|$)"
)
_TRIED = pattern(
    r"(?i)tr(y|ied|ies)|attempt|retr|call(s|ed)?(_|$)|request|pending|start|total|fail|error|timeout"
)
_DONE_CALLS = pattern(
    r"(?i)\.(restored|resumed|finished|completed|succeeded|handled|processed)_(requests?|calls?)$"
)
_FAILED = pattern(
    r"(?i)(^|[_.])(n_?)?(fail|err|drop|skip|miss|reject|lost|abort|bad|broken|invalid|dead)\w*$"
)
# What is under way: it goes up, and down again.
_HELD = pattern(
    r"(?i)^self\.(\w*_)?(active|in_?flight|running|pending|busy|outstanding|in_use|ongoing)(_\w+)?$"
)
_NORMAL = frozenset(
    {"StopIteration", "StopAsyncIteration", "Empty", "Full", "ImportError", "KeyboardInterrupt"}
)
_LOOPS = (cst.For, cst.While)
_ADDING = frozenset({"append", "add"})


@dataclass(frozen=True, slots=True, eq=False)
class _Count:
    """A statement that counts, what it counts in, and the `try` whose failure it does not wait for; `inside`
    says whether it stands in that `try`."""

    node: cst.CSTNode
    name: str
    tried: cst.Try | None
    inside: bool = True


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
        Example(
            """
            import json

            class TestStream:
                def test_load(self):
                    def stream(idx):
                        try:
                            text = ''
                            events = 0
                            for line in get(idx):
                                if line:
                                    events += 1  # <- here
                                    if b'[DONE]' in line:
                                        break
                                    try:
                                        text += json.loads(line)
                                    except Exception:
                                        pass
                            assert len(text) > 0
                            assert events >= 3
                            return True
                        except Exception as e:
                            print(e)
                            return False
                    assert stream(1)
            """,
            path="tests/test_stream.py",
        ),
        Example(
            """
            class Dock:
                def __init__(self, crane):
                    self.crane = crane
                    self.unloaded = 0
                def unload(self, ship):
                    try:
                        for box in ship.boxes:
                            self.unloaded += 1  # <- here
                            self.crane.lift(box)
                    except OSError:
                        self.crane.reset()
                        return False
                    return True
                def report(self):
                    return f"{self.unloaded} boxes"
            """,
            path="ferry/dock.py",
        ),
        Example(
            """
            class Trainer:
                def __init__(self):
                    self.step = 0
                    self.seen = []
                def train_step(self, batch):
                    self.step += 1  # <- here
                    self.seen.append(batch.id)
                    try:
                        self.update(batch)
                    except RuntimeError:
                        self.log("step skipped")
                        return None
                def state(self):
                    return {"step": self.step, "seen": self.seen}
            """,
            path="ferry/trainer.py",
        ),
        Example(
            """
            class Queue:
                def __init__(self):
                    self.sent = []
                def send(self, letter):
                    self.sent.append(letter)  # <- here
                    try:
                        self.socket.write(letter)
                    except ConnectionError:
                        self.retry.append(letter)
                def count(self):
                    return len(self.sent)
            """,
            path="ferry/queue.py",
        ),
        # What is under way, which comes down again only where the step comes back.
        Example(
            """
            class Lock:
                def __init__(self, gate):
                    self.gate = gate
                    self.in_flight = 0
                async def pass_through(self, ship):
                    async with self.gate:
                        self.in_flight += 1  # <- here
                        berth = await self.tow(ship)
                        self.in_flight -= 1
                    return berth
                def is_idle(self):
                    return self.in_flight == 0
            """,
            path="ferry/lock.py",
        ),
        # The step that is given up stands in a loop.
        Example(
            """
            class Fleet:
                def __init__(self, yard):
                    self.yard = yard
                    self.repaired_ships = 0
                    self.restored_calls = 0
                def repair(self, parts):
                    self.restored_calls += 1  # <- here
                    for part in parts:
                        try:
                            self.yard.fit(part)
                        except OSError:
                            return False
                    return True
                def report(self):
                    return f"{self.restored_calls} calls"
            """,
            path="ferry/fleet.py",
        ),
    )
    good = (
        # Taken down whatever happens; how deep a walk is; a loop that goes on with the next part.
        Example(
            """
            class Lock:
                def __init__(self, yard):
                    self.in_flight = 0
                    self.depth = 0
                    self.restored_calls = 0
                async def pass_through(self, ship):
                    self.in_flight += 1
                    try:
                        return await self.tow(ship)
                    finally:
                        self.in_flight -= 1
                def visit(self, node):
                    self.depth += 1
                    self.walk(node)
                    self.depth -= 1
                def mark(self):
                    self.in_flight += 1
                    self.in_flight -= 1
                def fit_all(self, parts):
                    self.restored_calls += 1
                    for part in parts:
                        try:
                            self.yard.fit(part)
                        except OSError:
                            continue
                def is_idle(self):
                    return self.in_flight == self.depth == self.restored_calls == 0
            """,
            path="ferry/lock.py",
        ),
        # All that is tried beside what failed of it; what failed is taken off where the count is read.
        Example(
            """
            class Bus:
                def __init__(self):
                    self.handlers, self.sent, self.failed = {}, 0, 0
                def emit(self, name, *args):
                    for handler in self.handlers.get(name, ()):
                        self.sent += 1
                        try:
                            handler(*args)
                        except Exception:
                            self.failed += 1
                    return self.sent - self.failed
            class Post:
                def __init__(self):
                    self.sent = 0
                    self.returned = 0
                def send(self, letters):
                    for letter in letters:
                        self.sent += 1
                        try:
                            carry(letter)
                        except OSError:
                            self.returned += 1
                def delivered(self):
                    return self.sent - self.returned
            """,
            path="town/bus.py",
        ),
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
        if _may_hold(unit):
            return True
        if not unit.has(ast.Try):
            return False
        counted = (node.target for node in unit.asts(ast.AugAssign) if isinstance(node.op, ast.Add))
        if any(judges(unit) or _is_done(dotted_name(node)) for node in counted):
            return True
        added = (call.func for call in unit.calls_of(_ADDING) if isinstance(call.func, ast.Attribute))
        return any(_is_done(dotted_name(node.value)) for node in added)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        yield from self._under_way(unit, repo)
        held: dict[cst.Try | None, list[tuple[_Count, cst.ExceptHandler]]] = {}
        told: set[int] = set()
        for count in _counts(unit):
            if id(count.node) in told:
                continue  # with the first step that leaves it
            handler = _goes_on(unit, count)
            if handler is not None and _is_read(unit, count, repo) and not _is_of_tries(unit, count, handler):
                told.add(id(count.node))
                held.setdefault(count.tried, []).append((count, handler))
        for found in held.values():
            (count, handler), others = found[0], found[1:]
            yield self.finding(
                unit,
                count.node,
                f"`{count.name}` goes up before the step that may be aborted, and stays up where it is",
                # Elsewhere it may hold what was tried.
                certainty="likely"
                if in_test_file(unit.file.path)
                and (count.inside or _DONE.search(count.name))
                and not _is_looked_at(unit, handler)
                else "question",
                steps=[
                    step(unit, count.node, "counted here, before the step"),
                    *(step(unit, one.node, f"and `{one.name}` here") for one, _ in others),
                    step(unit, handler.type or handler, "here the step is given up, and the count stays"),
                ],
                still_catches=still_catches(unit, count.node, but=[count.node], repo=repo),
            )

    def _under_way(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for up, down, called in _raised(unit) if _may_hold(unit) else ():
            name = dotted(up.target)
            if _is_read(unit, _Count(up, name, None), repo):
                yield self.finding(
                    unit,
                    up,
                    f"`{name}` goes up before a step, and stays up where the step fails",
                    certainty="question",
                    steps=[
                        step(unit, called, "what this raises leaves the block"),
                        step(unit, down, "and this is not reached: it stands in no `finally`"),
                    ],
                    still_catches=still_catches(unit, up, but=[up], repo=repo),
                )


def _may_hold(unit: Unit) -> bool:
    """Whether a unit might count up and down what is under way in an object."""
    counted = unit.asts(ast.AugAssign)
    if len(counted) < 2:
        return False
    added: dict[type[ast.operator], set[str]] = {ast.Add: set(), ast.Sub: set()}
    for node in counted:
        if isinstance(node.op, (ast.Add, ast.Sub)):
            added[type(node.op)].add(dotted_name(node.target))
    return any(_HELD.search(name) for name in added[ast.Add] & added[ast.Sub])


def _raised(unit: Unit) -> Iterator[tuple[cst.AugAssign, cst.AugAssign, cst.CSTNode]]:
    """What is counted up and, later in its block, down again, with a call in between that nothing guards."""
    for up in unit.find(cst.AugAssign):
        assert isinstance(up, cst.AugAssign)
        line = unit.parent(up)
        block = unit.parent(line) if line is not None else None
        if not isinstance(up.operator, cst.AddAssign) or not _HELD.search(dotted(up.target)) or block is None:
            continue
        between: list[cst.CSTNode] = []
        for one in dropwhile(partial(is_not, up), statements(block)):
            if one is up:
                continue
            if isinstance(one, cst.Try):
                break
            if isinstance(one, cst.AugAssign) and dotted(one.target) == dotted(up.target):
                called = [part for part in between if any(type(b) is cst.Call for b in walk(part))]
                if isinstance(one.operator, cst.SubtractAssign) and called:
                    yield up, one, called[0]
                break
            between.append(one)


def _counts(unit: Unit) -> Iterator[_Count]:
    """The counts that stand before a `try` in its block, first in one, or before a step of a loop in one."""
    names: dict[int, str] = {}
    blocks: dict[int, list[cst.CSTNode]] = {}
    for tried in unit.find(cst.Try):
        inner = statements(tried.body)
        yield from _before_a_step(unit, inner, tried)
        for one in inner:
            if isinstance(one, (cst.For, cst.While)):
                yield from _before_a_step(unit, statements(one.body), tried)
        above = unit.parent(tried)
        if above is None:
            continue
        yield from _before_its_loop(unit, tried)
        if id(above) not in blocks:
            blocks[id(above)] = statements(above)
        earlier = list(takewhile(partial(is_not, tried), blocks[id(above)]))
        for node in earlier if len(earlier) < len(blocks[id(above)]) else ():
            name = names.get(id(node))
            if name is None:
                name = names[id(node)] = _counted(unit, node)
            if name:
                yield _Count(node, name, tried, inside=False)


def _is_of_tries(unit: Unit, count: _Count, handler: cst.ExceptHandler) -> bool:
    """Whether the failures are counted beside all that is tried, or taken off where the count is read:
    `self.sent - self.failed`."""
    for below in walk(handler.body):
        if isinstance(below, cst.AugAssign) and isinstance(below.operator, cst.AddAssign):
            target: cst.BaseExpression = below.target
            target = target.value if isinstance(target, cst.Subscript) else target
            if _FAILED.search(dotted(target)):
                return True
        if isinstance(below, cst.Call) and last_name(below) in _ADDING:
            kept = dotted(below.func).rpartition(".")[0]
            if _FAILED.search(kept):
                return True
    return any(
        isinstance(node.op, ast.Sub) and dotted_name(node.left) == count.name
        for one in unit.file.units
        if one is unit or (count.name.startswith("self.") and one.owner == unit.owner)
        for node in one.asts(ast.BinOp)
    )


def _before_its_loop(unit: Unit, tried: cst.Try) -> Iterator[_Count]:
    """The counts of an object before the loop in which a step is given up by leaving the function."""
    loop = enclosing(unit, tried, *_LOOPS)
    block = unit.parent(loop) if loop is not None else None
    if block is None or not any(leaves(statements(one.body)) == "return" for one in tried.handlers):
        return
    for node in takewhile(partial(is_not, loop), statements(block)):
        name = _counted(unit, node)
        if name.startswith("self."):
            yield _Count(node, name, tried, inside=False)


def _before_a_step(unit: Unit, block: list[cst.CSTNode], tried: cst.Try) -> Iterator[_Count]:
    name = _counted(unit, block[0]) if len(block) > 1 else ""
    if name and any(isinstance(below, cst.Call) for one in block[1:] for below in walk(one)):
        yield _Count(block[0], name, tried)


def _counted(unit: Unit, node: cst.CSTNode) -> str:
    """The name of what is done that a statement counts up or adds to, of something that is at hand."""
    name = ""
    if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
        name = dotted(node.target)
    elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        call = node.value
        if last_name(call) in _ADDING and isinstance(call.func, cst.Attribute):
            name = dotted(call.func.value)
            if any(isinstance(below, cst.Call) for arg in call.args for below in walk(arg.value)):
                return ""  # the step itself makes what is added
    # What a check asks for is taken for what was done, whatever it is called.
    judged = isinstance(node, cst.AugAssign) and judges(unit) and name in judged_names(unit)
    return name if _is_done(name) or (judged and name and not _TRIED.search(name)) else ""


def _is_done(name: str) -> bool:
    """Whether a dotted name is one of what is done, or of what an object keeps."""
    if not name or (_TRIED.search(name) and not _DONE_CALLS.search(name)):
        return False
    return _DONE.search(name) is not None or (name.startswith("self.") and _KEPT.search(name) is not None)


def _is_looked_at(unit: Unit, handler: cst.ExceptHandler) -> bool:
    """Whether a handler checks what it takes: the step that fails is one that the test wants to see."""
    return any(unit.holds(handler, check.node) for check in checks(unit))


def _goes_on(unit: Unit, count: _Count) -> cst.ExceptHandler | None:
    """The handler after which the work goes on with the count as it is."""
    ways: tuple[Exit | None, ...] = (None, "continue")
    if count.tried is None:
        return None
    loop = enclosing(unit, count.tried, *_LOOPS)
    if _is_in(unit, count.tried, loop) and not _is_in(unit, count.node, loop):
        ways = ("return",)
    elif count.name.startswith("self.") or not _is_in(
        unit, count.tried, enclosing(unit, count.node, *_LOOPS)
    ):
        ways = (None, "continue", "return", "break")
    for handler in count.tried.handlers:
        body = statements(handler.body)
        named = {dotted(below) for one in body for below in walk(one)}
        raises = any(isinstance(below, cst.Raise) for one in body for below in walk(one))
        normal = handler.type is not None and last_name(handler.type) in _NORMAL
        if leaves(body) in ways and count.name not in named and not raises and not normal:
            return handler
    return None


def _is_read(unit: Unit, count: _Count, repo: Repo) -> bool:
    """Whether anything looks at the count once the loop, or the function, is done with."""
    rank, name = unit.index.rank, count.name
    if name.startswith("self."):
        last = name.removeprefix("self.")
        others = (one for one in unit.file.naming(last) if one.owner is unit.owner and one is not unit)
        if any(not one.name.endswith(".__init__") for one in others):
            return True
        return any(path != unit.file.path for path, _ in repo.index.attribute_reads(last))
    loop = enclosing(unit, count.node, *_LOOPS)
    if loop is None:
        return False
    inside = {id(below) for below in walk(loop)}
    kinds = (cst.Name,) if "." not in name else (cst.Attribute,)
    return any(
        dotted(node) == name and rank(node) > rank(loop) and id(node) not in inside
        for kind in kinds
        for node in unit.find(kind)
    )


def _is_in(unit: Unit, node: cst.CSTNode, above: cst.CSTNode | None) -> bool:
    return above is not None and above is not node and unit.holds(above, node)
