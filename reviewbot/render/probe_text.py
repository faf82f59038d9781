"""A probe's result as a person reads it in a terminal, the witness drawn as a strip of positions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from reviewbot.probe.evidence import Result, Strip, Witness
from reviewbot.probe.inside.plain import Plain
from reviewbot.probe.verdict import all_beside, never_fails
from reviewbot.render.inert import visible
from reviewbot.render.probe_json import readable

LISTED = 20  # changes that are told one by one
NEARLY_ALL = 0.9  # of the changes pass: then what is noticed is told as the exception
RETURNS = "return"  # in what says how a check says no: by what it returns, not by raising
_TITLES = {
    "excuse": "A branch lets this difference through",
    "swallowed": "A comparison tells of this difference, and nothing comes of it",
    "nan": "A value that is not a number passes",
    "gap": "This difference is not noticed",
    "blind": "No change of any kind is noticed",
    "missing": "What both sides lack counts as equal",
    "empty": "Nothing is left to be checked, and it passes",
    "unread": "A field of the rows is never compared",
}


def text(result: Result, *, matrix: bool = False, questions: bool = True) -> str:
    """The whole report; with `matrix` every check and what it notices, `questions` if they are wanted."""
    lines = [f"{result.target}: {headline(result)}"]
    for number, one in enumerate(result.witnesses, 1):
        lines += ["", *_witness(number, one, result.verdict_by)]
    lines += rebuilds(result)
    lines += checks(result, matrix=matrix)
    lines += ["", *notes(result if questions else replace(result, questions=()))]
    return "".join(visible(line, keep="\t") + "\n" for line in lines)


def headline(result: Result) -> str:
    """One clause on what was found."""
    count = len(result.witnesses)
    lost = sum(len(one.fields) for one in result.dropped)
    said = [f"{_count(lost, 'field')} dropped on rebuild"] if lost else []
    if never_fails(result):
        fallen = f", but for {len(result.kills)} that make it fall over" if result.kills else ""
        said.append(f"no change whatever makes it fail{fallen}")
    elif result.never_compared and result.kind != "test":
        said.append(f"it never compares {', '.join(result.never_compared)}")
    if count:
        like = sum(len(one.like) for one in result.witnesses)
        more = f" and {like} like {'it' if count == 1 else 'them'}" if like else ""
        said.append(
            f"{_count(count, 'witness', 'witnesses')}{more} in {_count(result.edits_tried, 'change')}"
        )
    elif not result.sought:
        said.append(f"{_count(result.edits_tried, 'change')} tried, {result.passed} passed")
    elif result.edits_tried or not lost:
        said.append(_no_witness(result))
    return "; ".join(said)


def _no_witness(result: Result) -> str:
    """What was tried in vain: a check that notices nothing has no witness either."""
    tried = _count(result.edits_tried, "change")
    if not result.edits_tried and result.complete:
        return "nothing that it compares could be changed"
    if result.complete and result.inconclusive:
        return f"inconclusive: {result.inconclusive}; {tried} tried, {result.passed} passed"
    if not result.complete:
        return f"inconclusive, the time was up: no witness in the first {tried}, {result.passed} passed"
    if not result.passed:
        return f"{tried} tried, no witness"
    none = "no witness" + (", for the reasons below" if result.set_aside else "")
    if result.passed >= NEARLY_ALL * result.edits_tried and not all_beside(result):
        noticed = "little" if result.kills else "nothing"
        return f"it notices {noticed}: {result.passed} of {tried} passed; {none}"
    return f"{tried} tried, {result.passed} passed; {none}"


def rebuilds(result: Result) -> list[str]:
    """What came out of each object that the target builds anew, field by field where it was lost."""
    lines = []
    for one in result.dropped:
        lines += ["", f"{one.cls} given as {one.parameter}, and built anew: {one.says}"]
        width = max(map(len, one.fields))
        for name in one.fields:
            became = short(one.returned.get(name))
            lines.append(f"   {name:<{width}}  {short(one.given.get(name))} -> {became}")
    return lines


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def title(witness: Witness) -> str:
    """The claim, in one line."""
    change = witness.changes[0]
    where = f" ({witness.role})" if witness.role else ""
    return f"{_TITLES[witness.why]}: {change.says}{where}"


def _witness(number: int, witness: Witness, verdict_by: str) -> list[str]:
    lines = [f"{number}. {title(witness)}", ""]
    lines += [f"   {line}" for line in drawn(witness)]
    lines += [f"   {line}" for line in argument(witness, verdict_by)]
    return lines


def drawn(witness: Witness) -> list[str]:
    """The strip, or the change in words where there is no row to draw."""
    lines = strip(witness.strip) if witness.strip else []
    for change in witness.changes:
        became = {"remove": "gone", "empty": "emptied", "double": "the same twice", "swap": "after the next"}
        after = became.get(change.edit.operation) or short(change.after)
        lines.append(f"{change.where}: {short(change.before)} -> {after}")
    return lines


def strip(drawing: Strip) -> list[str]:
    """Rows of cells under the index, and the ranges below them."""
    count = max(len(drawing.baseline), len(drawing.other))
    rows: list[tuple[str, list[str]]] = [
        ("index", [str(index) for index in range(count)]),
        (drawing.sides[0], [short(value) for value in drawing.baseline]),
        (drawing.sides[1], [short(value) for value in drawing.other]),
    ]
    if drawing.mask:
        rows.append(("mask", [str(value) for value in drawing.mask]))
    width = max((len(cell) for _, cells in rows for cell in cells), default=1)
    label = max(len(name) for name, _ in rows)
    lines = [f"{name:<{label}}  " + " ".join(cell.rjust(width) for cell in cells) for name, cells in rows]
    ranges = {"let through": drawing.let_through, "restored": drawing.restored}
    shown = {name: found for name, found in ranges.items() if found}

    def marked(mark: str, start: int, end: int, says: str) -> str:
        marks = [(mark * width if start <= index < end else " " * width) for index in range(count)]
        return (f"{'':<{label}}  " + " ".join(marks)).rstrip() + f"  {says}"

    at = drawing.first_difference
    role = f", the {drawing.roles[at]}" if at < len(drawing.roles) else ""
    lines.append(marked("^", at, at + 1, f"first difference: {at}{role}"))
    for name, (start, end) in shown.items():
        lines.append(marked("~", start, end, f"{name}: {_indexes(start, end)}"))
    return lines


def _indexes(start: int, end: int) -> str:
    """`index 0 to 9, 10 positions` for the range [0, 10)."""
    return f"index {start}" if end - start == 1 else f"index {start} to {end - 1}, {end - start} positions"


def short(value: Plain) -> str:
    """A value in one cell or clause."""
    shown = readable(value)
    words = f"{shown:g}" if type(shown) is float else str(shown)
    return words if len(words) <= 60 else words[:57] + "..."


def passes(verdict_by: str) -> str:
    """That a check says yes; how it would say no if by what it returns, as a False may mean yes."""
    how = f": it says no when {verdict_by}, and here it does not" if RETURNS in verdict_by else ""
    return f"The check passes{how}."


def argument(witness: Witness, verdict_by: str = "") -> list[str]:
    """Why it passes, what like it is caught, what the branch decides. `verdict_by` is that of the result."""
    lines = ["", passes(verdict_by)]
    for escape in witness.escapes:
        lines.append(f"let through by {escape.path}:{escape.line}: {escape.text}")
    for name, seen in list(witness.values.items())[:6]:
        if "returned" in seen:
            lines.append(_seen(name, seen))
    lines.append(elsewhere(witness))
    if witness.what_if:
        lines.append(witness.what_if)
    if witness.like:
        lines.append(f"and {len(witness.like)} like it: {'; '.join(witness.like)}")
    return lines


def _seen(name: str, seen: Mapping[str, Plain]) -> str:
    """What a function returned when it was called last, and those of its variables then that are short."""
    found = [(key, short(value)) for key, value in seen.items() if key != "returned"]
    said = [f"{key}={words}" for key, words in found if not words.endswith("...")][:8]
    return f"{name} returned {short(seen['returned'])}" + (f", with {', '.join(said)}" if said else "")


def elsewhere(witness: Witness) -> str:
    """How like changes fare, in the row that is drawn and in all that was tried, and of a NaN how other
    numbers do."""
    numbers = (
        f"; of other numbers there {witness.numbers_caught} are caught" if witness.numbers_caught else ""
    )
    where = witness.changes[0].edit.path[0] if witness.changes else ""
    caught = _count(witness.caught_elsewhere, "other place")
    start, end = (witness.strip and witness.strip.let_through) or (0, 0)
    drawn = f"let through at {_count(end - start, 'position')} of this row; " if end else ""
    return (
        f"{drawn}of the places tried in {where}, the same kind of change is caught in {caught} and let "
        f"through in {witness.passed_elsewhere} more{numbers}"
    )


def checks(result: Result, *, matrix: bool = False) -> list[str]:
    """What is still caught, which checks decide nothing, what would do."""
    lines: list[str] = []
    if result.kills:
        lines += ["", f"still caught: {_listed(still_caught(result))}"]
        fallen = [kill for kill in result.kills if kill.crash]
        if fallen:
            lines.append(f"of these {len(fallen)} only by falling over, as with {fallen[0].crash}")
    passes = let_through(result)
    if passes:
        lines.append(f"let through: {'; '.join(passes)}")
    if result.never_compared:
        lines.append(f"no change was noticed in: {', '.join(result.never_compared)}")
    lines += set_aside(result)
    for label in result.unread_values:
        lines.append(f"no assertion reads the value of {label}")
    if matrix:
        lines += ["", *_matrix(result)]
    if result.dead:
        lines += ["", "checks that decided nothing here:"]
        for dead in result.dead:
            text = f" {dead.place.text}" if dead.place.text else ""
            lines.append(f"  {dead.place.path}:{dead.place.line}{text}")
            lines.append(f"      {dead.says}")
    if result.joint:
        lines.append(f"  {result.joint}")
        lines += [f"      {one}" for one in result.joint_survive[:5]]
    if result.sufficient and len(result.sufficient) < result.all_checks:
        named = ", ".join(f"L{one.line}{_key(one.text)}" for one in result.sufficient)
        lines.append(f"{len(result.sufficient)} of {result.all_checks} checks notice all of it: {named}")
    for place, times in result.excuses_taken:
        if not times or result.dead:
            around = "; checks that it leads around may decide nothing for that alone" if times else ""
            lines.append(
                f"the branch at {place.path}:{place.line} ({place.text}) was taken {times} "
                f"time{'' if times == 1 else 's'} in the recorded passing calls{around}"
            )
    for place in result.unmissed:
        lines.append(f"it still passes without the check at {place.path}:{place.line}: {place.text}")
    if result.twins:
        changes = _count(result.noticed_in_code, "change")
        lines.append(
            f"it fails on the same {changes} of the code as {', '.join(result.twins)}, and on no other tried"
        )
    elif result.noticed_in_code:
        lines.append(f"of the code that it runs it notices {_count(result.noticed_in_code, 'change')}")
    return lines + _reduced(result)


def _key(text: str) -> str:
    """The field that a loop was at, in brackets at the end of a check's text."""
    return text[text.rindex(" [") :] if text.endswith("]") and " [" in text else ""


def _matrix(result: Result) -> list[str]:
    lines = ["check, changes that it notices, those that nothing else notices:"]
    for one in result.checks:
        lines.append(f"  {one.fires:>5} {one.alone:>5}  {one.place.path}:{one.place.line} {one.place.text}")
    return lines


def _reduced(result: Result) -> list[str]:
    if result.reduced is None:
        return []
    reduced = result.reduced
    lines = ["", f"{reduced.what}: {len(reduced.survive)} of {reduced.caught_before} noticed changes pass"]
    lines += _first("passes", reduced.survive)
    lines += _first("noticed now", reduced.now_noticed)
    if not reduced.unchanged_passes:
        lines.append("  and the unchanged arguments no longer pass")
    return lines


def _first(what: str, changes: Sequence[str]) -> list[str]:
    """A line for each of the first changes, and one for how many more there are."""
    more = len(changes) - LISTED
    return [*(f"  {what}: {one}" for one in changes[:LISTED]), *([f"  and {more} more"] if more > 0 else [])]


_PLAINEST = ("changed", "flipped", "dropped", "doubled", "missing")
_POSITION = re.compile(r"(.*?)[ \[](\d+)\]? (\w.*)")


def still_caught(result: Result) -> list[str]:
    """What is noticed, the plainest first, positions of one list together: `token 0, 1, 7-9 changed`."""
    return kinds(result.kills, result.let_through)


def let_through(result: Result) -> list[str]:
    """What passes and should not, on which side where the other one notices it."""
    aside = {(one.edit, one.side) for one in result.set_aside}
    return kinds([one for one in result.let_through if (one.edit, one.side) not in aside], result.kills)


def set_aside(result: Result) -> list[str]:
    """What passes and is no witness: a line for each kind of reason, under a heading."""
    if not result.set_aside or not result.sought:
        return []
    lines = [f"passed, and no witness ({_count(len(result.set_aside), 'change')}):"]
    lines += [f"  {says}: {why}" for says, why in reasons(result.set_aside)]
    return lines


def reasons(aside: Sequence[Excused]) -> list[tuple[str, str]]:
    """The kinds of the changes that are no witness, and why, each reason once."""
    by_reason: dict[str, list[Excused]] = {}
    for one in aside:
        by_reason.setdefault(one.why, []).append(one)
    return [(_listed(kinds(listed, ()), most=8), why) for why, listed in by_reason.items()]


class Told(Protocol):
    """A change that was noticed or passed, in words, and the side that it was made in."""

    @property
    def edit(self) -> str: ...

    @property
    def side(self) -> str: ...


class Excused(Told, Protocol):
    """The same of one that passed and is no witness, with the reason."""

    @property
    def why(self) -> str: ...


def kinds(listed: Sequence[Told], others: Sequence[Told]) -> list[str]:
    """The kinds of the changes listed; a side is named where all such changes of another side are in
    `others`."""
    mine, also = _by_kind(listed), _by_kind(others)
    said = []
    for kind, sides in mine.items():
        elsewhere = set(also.get(kind, ())) - set(sides)
        only = f" (in {', '.join(sides)} only)" if elsewhere and "" not in sides else ""
        at = set().union(*sides.values())
        said.append((f"{kind[0]} {_ranges(at)} {kind[1]}" if at else kind[0]) + only)

    def rank(says: str) -> tuple[bool, int]:
        verb = says.partition(" (in ")[0].rpartition(" ")[2]
        return (" and " in says, _PLAINEST.index(verb) if verb in _PLAINEST else len(_PLAINEST))

    return sorted(said, key=rank)


def _by_kind(listed: Sequence[Told]) -> dict[tuple[str, str], dict[str, set[int]]]:
    """The positions of the changes of each kind, on each side."""
    found: dict[tuple[str, str], dict[str, set[int]]] = {}
    for one in listed:
        kind, position = _placed(one.edit)
        at = found.setdefault(kind, {}).setdefault(one.side, set())
        if position is not None:
            at.add(position)
    return found


def _placed(edit: str) -> tuple[tuple[str, str], int | None]:
    """What a change does, before and behind its position, and the position: of two changes at once none."""
    says = edit.partition(": ")[0]
    place = _POSITION.fullmatch(says) if " and " not in says else None
    return ((place[1], place[3]), int(place[2])) if place else ((says, ""), None)


def kind(edit: str) -> str:
    """What a change does, whatever position it is made at: `logprobs nudged by 0.01`."""
    parts = (_placed(part)[0] for part in edit.partition(": ")[0].split(" and "))
    return " and ".join(" ".join(filter(None, part)) for part in parts)


def _ranges(numbers: set[int]) -> str:
    """`0, 1, 7-9` for {0, 1, 7, 8, 9}."""
    out: list[list[int]] = []
    for number in sorted(numbers):
        if out and number == out[-1][-1] + 1:
            out[-1].append(number)
        else:
            out.append([number])
    words = [
        [str(one[0])] if len(one) == 1 else [f"{one[0]}-{one[-1]}"] if len(one) > 2 else list(map(str, one))
        for one in out
    ]
    return ", ".join(word for group in words for word in group)


def _listed(names: Sequence[str], most: int = 16) -> str:
    left = len(names) - most
    more = f" and {left} more kind{'' if left == 1 else 's'}" if left > 0 else ""
    return "; ".join(names[:most]) + more


def notes(result: Result) -> list[str]:
    """What the result rests on."""
    layers = f"sandbox: {', '.join(result.layers)}"
    if result.verdict_by:
        lines = [
            f"inputs: {result.inputs}",
            f"it says no when {result.verdict_by}; {result.loaded}",
            f"{result.edits_tried} changes tried, {result.passed} passed; {layers}; "
            f"{result.seconds:.1f} s in all",
        ]
    else:  # nothing but its rebuilding was run
        lines = [layers]
    lines += [f"more may be seen of what it calls: reviewbot probe {one}" for one in result.judges[:3]]
    lines += [f"derived: {one}" for one in result.derivations]
    lines += [f"question: {one}" for one in result.questions]
    lines += [f"not run: {one}" for one in result.not_run]
    return lines
