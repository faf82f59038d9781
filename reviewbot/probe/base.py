"""The passing call that a probe starts from."""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reviewbot.errors import ProbeError
from reviewbot.probe import shape
from reviewbot.probe.harvest import Call
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import World
from reviewbot.probe.inside.plain import Array, Plain
from reviewbot.probe.session import How, Run, Session
from reviewbot.probe.shrink import keep_rows, row_lists
from reviewbot.probe.target import Target
from reviewbot.source.units import File

_MORE = "; a larger --budget leaves a run more time"


@dataclass(frozen=True)
class Base:
    """Arguments on which the check passes, reduced; `number` names them in the session."""

    call: Call
    world: dict[str, Plain]
    number: int
    sides: tuple[shape.Sides, ...]
    source: str


def base_of(session: Session, calls: Sequence[Call], *, reduce: bool = True) -> Base:
    """The most telling call that passes here too, with one row for each structure.

    Without `reduce` every row stays: a producer may compute over all of them. Raises ProbeError where no
    call passes, saying why.
    """
    ranked = sorted(
        (call for call in calls if not call.raised), key=lambda call: _value_of(call.arguments), reverse=True
    )
    if not ranked:
        raise ProbeError(_no_base(calls))
    why = ""
    for call in ranked[:8]:
        number = session.add(call.arguments)
        run = first_run(session, call, number)
        if run.passes:
            sided = session.target.kind != "test"
            world = _reduced(session, call.arguments, number) if reduce and sided else call.arguments
            if world is not call.arguments:
                number = session.add(world)
            where = f"recorded in {call.test}" if call.test else "given"
            return Base(call, world, number, shape.sides(world) if sided else (), where)
        why = why or f"{run.verdict}: {run.says}" + (_MORE if run.verdict == "timeout" else "")
    name = session.target.unit or session.target.path
    if "PermissionError: [Errno 1]" in why:
        raise ProbeError(
            f"{name} itself starts a process or opens a connection, and the sandbox allows neither while "
            f"changes are tried ({why}); put that into a function that returns the rows, and call it: what "
            "it returns is recorded once and changed then"
        )
    if _wants_files(why) and session.target.kind == "command":
        raise ProbeError(
            f"{name} reads a file that a probe does not copy ({why}): of a file or a folder that the command "
            "line names it copies what is JSON, and nothing else; write what is to be compared as JSON, or "
            "compare it in a function of its own and probe that"
        )
    if _wants_files(why):
        raise ProbeError(
            f"{name} reads files by the paths that it is given, and a probe has no files for it, only plain "
            f"data ({why}); compare the rows in a function of their own and probe that, or probe a command "
            "line that names two JSON files, as in reviewbot probe 'python compare.py A.jsonl B.jsonl': they "
            "are copied, and changed row by row"
        )
    if not any(call.test for call in ranked):
        raise ProbeError(
            f"{name} does not pass on what it was given, and a probe starts from what passes ({why})"
        )
    raise ProbeError(f"no recorded call of {name} passes here ({why})")


def _wants_files(why: str) -> bool:
    """Whether a call fell over for want of a file: one of a test is gone by now, and rows are no path."""
    missing = ("FileNotFoundError", "NotADirectoryError", "PermissionError", "os.PathLike")
    return why.startswith("crash: ") and any(name in why for name in missing)


def _no_base(calls: Sequence[Call]) -> str:
    if not calls:
        return "no call with plain arguments was recorded; give inputs with --example FILE or --dump A B"
    return f"every recorded call failed ({calls[0].raised}); a passing one is needed to start from"


def _value_of(arguments: World) -> tuple[int, int]:
    """How much there is to change: sides first, then size, up to what one run should hold."""
    size = len(plain.dumps(dict(arguments)))
    equal = sum(
        plain.same(plain.at(dict(arguments), pair.baseline), plain.at(dict(arguments), pair.other))
        for pair in shape.sides(arguments)
    )
    empty = any(value in ([], {}, ()) for value in arguments.values())
    return (2 * equal - empty, min(size, 20_000))


def first_run(session: Session, call: Call, number: int) -> Run:
    """The unchanged run; reads from it how the target says no."""
    session.how = How("raises", seconds=max(20.0, 2 * session.seconds) if session.heavy else 2.0)
    start = time.monotonic()
    run = session.one(number, watch=True)
    took = time.monotonic() - start
    # A failing comparison of tensors imports half of torch when it words its first message.
    least = 15.0 if session.heavy else 1.0
    seconds = min(20.0, max(least, 30 * took))
    session.how = replace(_protocol(session, run), seconds=seconds)
    return session.one(number, watch=True) if run.verdict == "pass" else run


def _protocol(session: Session, run: Run) -> How:
    value = run.returned
    if run.is_plain and value is None and not _raises(session) and _returns_more(session.target):
        return How("value", None)
    if not run.is_plain or value is None:
        return How("raises")
    if value is True:
        return How("truth")
    if type(value) is Array and value.shape == () and value.data is True:
        return How("truth")
    if type(value) in (list, dict, tuple, set, str) and not value:
        return How("empty")
    if type(value) is tuple and value and type(value[0]) is bool and value[0]:
        return How("first")
    if type(value) is tuple and value and value[-1] is True and sum(type(one) is bool for one in value) == 1:
        return How("last")
    if type(value) is dict and all(type(one) in (int, float) and one == 0 for one in value.values()):
        # Distances by name, none of which equal sides have: whoever calls it judges them.
        return How("value", value)
    # A number that a check returns beside raising is a report, no verdict.
    return How("raises") if _raises(session) else How("value", value)


def _raises(session: Session) -> bool:
    """Whether the target's own checks raise."""
    forms = ("assert", "raise", "call", "raises")
    return any(
        site.form in forms
        for site in session.sites
        if site.unit == session.target.unit and site.kind == "check"
    )


def _returns_more(target: Target) -> bool:
    """Whether a function that returned None returns something elsewhere: what went wrong, as a rule."""
    unit = File(target.path, (target.root / target.path).read_bytes()).unit(target.unit)
    nodes = ast.walk(unit.tree) if unit is not None and target.kind == "check" else iter(())
    returned = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in returned)


def _reduced(session: Session, world: dict[str, Plain], number: int) -> dict[str, Plain]:
    """The first row, the last one and one for each structure, if the check passes on these alone and takes
    the same branches."""
    pairs = shape.sides(world)
    lists = row_lists(world, pairs)
    if not lists:
        return world
    rows = plain.at(world, lists[0])
    if len(rows) <= 3:
        return world
    spoken_of = shape.spoken_of(world, pairs, rows)
    marks = [index in spoken_of for index in range(len(rows))]
    kept = sorted({0, *shape.representatives(rows, marks), len(rows) - 1})
    smaller = keep_rows(world, pairs, kept)
    if smaller is None or len(kept) == len(rows):
        return world
    before = session.one(number)
    after = session.one(session.add(smaller))
    return smaller if after.passes and before.outcomes <= after.outcomes else world
