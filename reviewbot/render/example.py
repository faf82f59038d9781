"""The one small example of a finding or a witness, drawn: a strip, two values, a call tree, or two lanes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from markupsafe import Markup

from reviewbot.model import Finding
from reviewbot.render import lanes, strip, tree_drawing
from reviewbot.render.drawing import svg
from reviewbot.render.lanes import Lane, Stop
from reviewbot.render.probe_document import Changed, Witness
from reviewbot.render.strip import Strip
from reviewbot.review.call_tree import Node

LONGEST = 160  # letters of a value
_STOPS = 4  # of a lane, behind the first
_PAIRS = re.compile(
    r"`([^`]+)` is refused with (.+?) here and accepted with `([^`]+)`, although "
    r"(?:`([^`]+)` is lost then|`([^`]+)` is only read where)"
)
FEW = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")


@dataclass(frozen=True, slots=True)
class Table:
    """What a drawing shows, for those who do not see it. Cells are text."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A drawing with its title and what it says in sentences; `drawn` is empty where the table is all."""

    title: str
    drawn: Markup
    says: tuple[str, ...]
    table: Table | None = None
    open: bool = False


def of_strip(one: Strip) -> Example:
    """A row of tokens."""
    number = FEW[one.length] if one.length < len(FEW) else str(one.length)
    return Example(
        title=f"One row, {number} position{'' if one.length == 1 else 's'} of `{one.field}`",
        drawn=svg(partial(strip.draw, one)),
        says=tuple(_strip_says(one)),
        table=Table(
            f"{one.field}, position by position",
            ("index", one.sides[0], one.sides[1], *(("loss mask",) if one.mask else ()), "what it is"),
            tuple(_strip_rows(one)),
        ),
    )


def _strip_says(one: Strip) -> list[str]:
    at, first = one.first_difference, strip.difference(one)
    role = f", in: {one.roles[at]}" if at < len(one.roles) and one.roles[at] else ""
    said = [f"{first[:1].upper()}{first[1:]}{role}."]
    if at < len(one.mask) and not one.mask[at]:
        said.append("The model did not sample it (loss mask 0), so chance in sampling cannot be the reason.")
    if one.let_through:
        start, end = one.let_through
        inside = "inside" if start <= one.first_difference < end else "outside"
        said.append(
            f"It lies {inside} the orange range ({strip.said(one, one.let_through)}), "
            "in which the same change passes."
        )
    if one.restored:
        start, end = one.restored
        where = "belongs to it" if start <= one.first_difference < end else "lies outside"
        number = "is 1 token" if end - start == 1 else f"are {end - start} tokens"
        said.append(f"Really restored {number}, {strip.said(one, one.restored)}: it {where}.")
    return said


def _strip_rows(one: Strip) -> list[tuple[str, ...]]:
    rows = []
    for index in range(one.length):
        notes = [one.roles[index]] if index < len(one.roles) else []
        notes += ["differs"] if strip.of(one.baseline, index) != strip.of(one.other, index) else []
        for bounds, name in ((one.let_through, "let through"), (one.restored, "restored")):
            notes += [name] if bounds and bounds[0] <= index < bounds[1] else []
        mask = (str(one.mask[index]) if index < len(one.mask) else "",) if one.mask else ()
        sides = (strip.of(one.baseline, index), strip.of(one.other, index))
        rows.append((str(index + one.first), *sides, *mask, ", ".join(notes)))
    return rows


def of_values(changes: Sequence[Changed]) -> Example:
    """The two values of each change, as a table."""
    rows = tuple((one.where, value(one.before), value(one.after)) for one in changes)
    table = Table("What was changed", ("where", "before", "changed to"), rows)
    return Example(
        "The two values",
        Markup(""),
        tuple(f"{one.says[:1].upper()}{one.says[1:]}." for one in changes),
        table,
        open=True,
    )


def value(of: Any) -> str:
    """A value as the JSON that a person would write; nothing where it is gone."""
    text = "gone" if of is None else json.dumps(of, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def claim(check: str, witness: Witness) -> str:
    """What a witness shows of the function `check`, in one sentence without a full stop."""
    one = witness.strip.strip() if witness.strip else None
    if one and one.restored and not one.restored[0] <= one.first_difference < one.restored[1]:
        return f"a restored row can differ outside its restored prefix and still pass `{check}`"
    if one and one.let_through and one.let_through[1] - one.let_through[0] > 1:
        where = strip.said(one, one.let_through)
        return f"a row can differ at {where} of `{one.field}` and still pass `{check}`"
    return f"{', '.join(change.says for change in witness.changes)}, and `{check}` still passes"


def of_witness(witness: Witness) -> Example:
    """The strip of a witness, or its values."""
    if witness.strip is not None and witness.strip.baseline:
        return of_strip(witness.strip.strip())
    return of_values(witness.changes)


def of_tree(root: Node) -> Example:
    """A call tree, each build numbered."""
    return Example(
        title=f"What `{root.name}` calls, and what is built on the way",
        drawn=svg(partial(tree_drawing.draw, root)),
        says=("The numbered lines do the same work over and over; once would do.",),
        table=Table(
            "The builds in the order of the calls",
            ("function", "line", "what it does"),
            tuple((node.name, str(step.line), step.says.replace("`", "")) for node, step in _builds(root)),
        ),
    )


def _builds(root: Node) -> list[tuple[Node, Any]]:
    return [(root, step) for step in root.steps] + [one for call in root.calls for one in _builds(call)]


def of_lanes(title: str, both: Sequence[Lane]) -> Example:
    """Two paths beside each other."""
    rows = [(lane.title, stop.where, stop.says.replace("`", "")) for lane in both for stop in lane.stops]
    table = Table("The same as a table", ("path", "where", "what happens"), tuple(rows))
    return Example(title, svg(partial(lanes.draw, both)), (), table)


def dropped_field(finding: Finding) -> tuple[Lane, ...]:
    """The lanes of a field that a rebuild leaves behind: where the value goes when it is handed on as it is,
    and where it stops. Empty where the finding does not name the places."""
    names = finding.message.split("`")[1::2]
    if len(names) < 3 or len(finding.steps) < 2:
        return ()
    builder, origin, lost = names[0], names[1], names[2]
    made, rebuilt, *after = finding.steps
    start = Stop(f"{made.path}:{made.line}", made.says, "node")
    readers = [step for step in after if "reads" in step.says]
    taken = [step for step in after if step not in readers]
    keeps = [start, Stop("", f"{origin} is used as it is: {lost} stays with it", "kept")]
    loses = [
        start,
        Stop(
            f"{rebuilt.path}:{rebuilt.line}", f"{builder} builds a new one and leaves {lost} behind", "lost"
        ),
    ]
    for step in readers[:2]:
        reader = step.says.split("`")[1] if "`" in step.says else "the code"
        keeps.append(Stop(f"{step.path}:{step.line}", f"{reader} reads {lost} and finds its value", "kept"))
        loses.append(Stop(f"{step.path}:{step.line}", step.says, "lost"))
    loses += [Stop(f"{step.path}:{step.line}", step.says, "lost") for step in taken[:1]]
    return (
        Lane("Handed on as it is", f"{lost} is used", tuple(keeps)),
        Lane(f"Through {builder}", f"{lost} is lost", tuple(loses)),
    )


def accepted_pair(finding: Finding) -> tuple[Lane, ...]:
    """The lanes of two pairs of settings, one of which is refused at the start and one accepted, after which
    something is lost. Empty where the finding does not name the places."""
    found = _PAIRS.match(finding.message)
    if found is None or len(finding.steps) < 2:
        return ()
    shared, refused, accepted, lost, unread = found.groups()
    refused = refused.replace("`", "")
    check, *after = finding.steps
    refuses = Stop(f"{check.path}:{check.line}", f"{shared} with {refused} is refused", "kept")
    passes = Stop(f"{check.path}:{check.line}", f"{shared} with {accepted} passes: nothing asks", "node")
    places = [Stop(f"{step.path}:{step.line}", step.says, "node") for step in after[-_STOPS:]]
    places[-1] = replace(places[-1], style="lost")
    ends = f"runs on, and {lost} is lost" if lost else f"runs on, and {unread} is not read"
    return (
        Lane(f"{shared} with {refused}", "said before anything runs", (refuses,)),
        Lane(
            f"{shared} with {accepted}",
            ends,
            (passes, *places),
        ),
    )


def excused_range(finding: Finding) -> Example | None:
    """The range that code excuses, on a row that stands for any: its ends as the code writes them. None where
    the finding does not name both."""
    begins, ends = (
        next((step for step in finding.steps if step.says.startswith(f"the excused range {word} `")), None)
        for word in ("begins with", "ends with")
    )
    if begins is None or ends is None:
        return None
    low, high = (step.says.split("`")[1] for step in (begins, ends))
    origin, length = _sum(high)
    inner = bool(origin) and origin != low
    one = Strip(
        field="a row",
        sides=("baseline", "other run"),
        baseline=("·",) * 10,
        other=("·",) * 4 + ("≠",) + ("·",) * 5,
        at=4,
        let_through=(2, 7),
        restored=(5, 7) if inner else None,
        labels=(
            f"excused, as lines {begins.line} and {ends.line} have it",
            "what its end is reckoned from" if inner else "",
            "a difference here is excused too",
        ),
    )
    says = [
        f"Excused is what lies from `{low}` up to `{high}` ({begins.path}, lines {begins.line}, {ends.line})."
    ]
    if inner:
        says.append(f"Its end lies `{length}` after `{origin}`; its start has nothing to do with that.")
    says.append(
        "Drawn from the code and not from a run: the row and its numbers are made up, for the case in which "
        "the range begins earlier than its end has a reason for."
        if inner
        else "Drawn from the code and not from a run: the row and its numbers are made up."
    )
    return Example(
        "What is excused, on a row that stands for any", svg(partial(strip.draw, one)), tuple(says)
    )


def _sum(code: str) -> tuple[str, str]:
    """The two parts of `start + length`, both "" for any other expression."""
    try:
        node = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", ""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return "", ""
    return ast.unparse(node.left), ast.unparse(node.right)


def led_around(finding: Finding) -> tuple[Lane, ...]:
    """The lanes of a check that a branch leads around: the way of most rows, and that of the excused ones."""
    around = [step for step in finding.steps if step.says.startswith("this branch leads around")]
    missed = [step for step in finding.steps if step.says.startswith("not reached then")]
    decided = [step for step in finding.steps if step.says.startswith("this decides what is excused")]
    if not around or not missed:
        return ()
    condition = finding.message.split("`")[1] if "`" in finding.message else "the branch"
    branch, check = around[0], missed[0]
    compared = check.says.partition(": ")[2]
    excused = [Stop(f"{branch.path}:{branch.line}", f"{condition} holds", "node")]
    excused += [Stop(f"{step.path}:{step.line}", step.says, "node") for step in decided[-1:]]
    excused.append(Stop(f"{check.path}:{check.line}", f"not reached: {compared}", "lost"))
    plain = [
        Stop(f"{branch.path}:{branch.line}", f"{condition} does not hold", "node"),
        Stop(f"{check.path}:{check.line}", f"reached: {compared}", "kept"),
    ]
    return (
        Lane("Most of what is compared", "a difference fails the test", tuple(plain)),
        Lane("What is excused", "a difference passes", tuple(excused)),
    )
