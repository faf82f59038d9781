"""A probe's result as a person reads it in a terminal, the witness drawn as a strip of positions."""

from __future__ import annotations

from reviewbot.probe.evidence import Result, Strip, Witness
from reviewbot.probe.inside.plain import Plain
from reviewbot.render.inert import visible
from reviewbot.render.probe_json import readable

_WIDEST_CELL = 12
_TITLES = {
    "excuse": "A branch lets this difference through",
    "nan": "A value that is not a number passes",
    "gap": "This difference is not noticed",
    "blind": "No change of any kind is noticed",
}


def text(result: Result) -> str:
    """The whole report."""
    lines = [f"{result.target}: {headline(result)}"]
    for number, one in enumerate(result.witnesses, 1):
        lines += ["", *_witness(number, one)]
    lines += _checks(result)
    lines += ["", *notes(result)]
    return "".join(visible(line, keep="\t") + "\n" for line in lines)


def headline(result: Result) -> str:
    """One clause on what was found."""
    count = len(result.witnesses)
    if not count:
        return f"{_count(result.edits_tried, 'change')} tried, no witness"
    return f"{_count(count, 'witness', 'witnesses')} in {_count(result.edits_tried, 'change')}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def title(witness: Witness) -> str:
    """The claim, in one line."""
    change = witness.changes[0]
    where = f" ({witness.role})" if witness.role else ""
    return f"{_TITLES[witness.why]}: {change.says}{where}"


def _witness(number: int, witness: Witness) -> list[str]:
    lines = [f"{number}. {title(witness)}", ""]
    lines += [f"   {line}" for line in drawn(witness)]
    lines += [f"   {line}" for line in argument(witness)]
    return lines


def drawn(witness: Witness) -> list[str]:
    """The strip, or the change in words where there is no row to draw."""
    lines = strip(witness.strip) if witness.strip else []
    for change in witness.changes:
        after = "gone" if change.edit.operation in ("remove", "empty") else short(change.after)
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
    for name, (start, end) in shown.items():
        marks = [("^" * width if start <= index < end else " " * width) for index in range(count)]
        lines.append((f"{'':<{label}}  " + " ".join(marks)).rstrip() + f"  {name}: {start} up to {end}")
    if drawing.roles:
        lines.append(f"first difference: {drawing.at}, the {drawing.roles[drawing.at]}")
    return lines


def short(value: Plain) -> str:
    """A value in one cell or clause."""
    shown = readable(value)
    words = f"{shown:g}" if type(shown) is float else str(shown)
    return words if len(words) <= 60 else words[:57] + "..."


def argument(witness: Witness) -> list[str]:
    """Why it passes, what like it is caught, what happens with the branch off."""
    lines = ["", "The check passes."]
    for escape in witness.escapes:
        lines.append(f"let through by {escape.path}:{escape.line}: {escape.text}")
    for name, seen in list(witness.values.items())[:6]:
        if seen:
            said = ", ".join(f"{key}={short(value)}" for key, value in list(seen.items())[:8])
            lines.append(f"{name}: {said}")
    lines.append(
        f"the same kind of change is caught in {_count(witness.caught_elsewhere, 'other place')} and let "
        f"through in {witness.passed_elsewhere} more"
    )
    if witness.what_if:
        lines.append(witness.what_if)
    return lines


def _checks(result: Result) -> list[str]:
    lines: list[str] = []
    if result.kills:
        caught = list(dict.fromkeys(kill.edit.partition(":")[0] for kill in result.kills))
        more = f" and {len(caught) - 12} more" if len(caught) > 12 else ""
        lines += ["", f"still caught: {', '.join(caught[:12])}{more}"]
    if result.never_compared:
        lines.append(f"no change was noticed in: {', '.join(result.never_compared)}")
    return lines


def notes(result: Result) -> list[str]:
    """What the result rests on."""
    lines = [
        f"inputs: {result.inputs}",
        f"it says no when {result.verdict_by}; {result.loaded}",
        f"{result.edits_tried} changes tried, {result.passed} passed; sandbox: {', '.join(result.layers)}; "
        f"{result.seconds:.1f} s",
    ]
    lines += [f"not run: {one}" for one in result.not_run]
    return lines
