"""The page of a probe: each difference that the check lets through, drawn, and what the check does notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reviewbot.render import example, probe_text
from reviewbot.render.code_lines import excerpt, listing
from reviewbot.render.example import Example
from reviewbot.render.finding_page import AROUND, Place
from reviewbot.render.pages import Crumbs, fitting, render
from reviewbot.render.probe_document import Checked, Evidence, Kill, Witness
from reviewbot.render.sources import Sources

CHECKS = 12  # columns of the kill matrix
MOST = 24  # witnesses, kinds of changes, and values
WHY = {
    "excuse": "A branch lets this difference through",
    "swallowed": "A comparison tells of this difference, and nothing comes of it",
    "nan": "No order holds with NaN, neither less nor more, so this difference passes",
    "gap": "No check looks at what was changed",
    "blind": "No check notices this difference",
    "unread": "A field of the rows is never compared",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A witness as the page shows it."""

    title: str
    example: Example
    witness: Witness
    escapes: tuple[tuple[str, Place], ...]
    values: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change: how many of it were noticed, by which check how many; `crashed` by falling over."""

    name: str
    number: int
    by: tuple[int, ...]
    crashed: int


def page(evidence: Evidence, saved: str, head: str, sources: Sources, crumbs: Crumbs) -> str:
    """The page. `saved` is the name of the file of evidence, `head` the commit of links, "" if none."""
    checks = _checks(evidence)[:CHECKS]
    kinds = _kinds(evidence.kills, checks)
    told = {(one.edit, one.side) for one in evidence.set_aside}
    let_through = probe_text.kinds(
        [one for one in evidence.let_through if (one.edit, one.side) not in told], evidence.kills
    )

    def with_most(most: int) -> str:
        return render(
            "probe_page.html.j2",
            crumbs,
            evidence=evidence,
            title=_title(evidence),
            passes=probe_text.passes(evidence.verdict_by),
            witnesses=[_shown(one, head, sources) for one in evidence.witnesses[:most]],
            more=max(0, len(evidence.witnesses) - most),
            checks=checks,
            kinds=kinds,
            let_through=let_through,
            set_aside=probe_text.reasons(evidence.set_aside),
            dead=[(one, _place(sources, head, one.path, one.line)) for one in evidence.dead[:most]],
            saved=saved,
            most=most,
        )

    return fitting(with_most, MOST)


def _title(evidence: Evidence) -> str:
    """The page's claim."""
    check = evidence.target.rpartition("::")[2]
    if not evidence.witnesses and not evidence.complete:
        return f"The time was up: no witness in the first {evidence.edits_tried} changes for `{check}`"
    if not evidence.witnesses and evidence.never_fails:
        return f"No change whatever makes `{check}` fail"
    if not evidence.witnesses and evidence.passed:
        return f"`{check}` lets {evidence.passed} of {evidence.edits_tried} changes pass"
    if not evidence.witnesses:
        return f"`{check}` notices every change that was tried"
    return example.claim(check, evidence.witnesses[0])


def _shown(witness: Witness, head: str, sources: Sources) -> Shown:
    says = ", ".join(change.says for change in witness.changes)
    return Shown(
        title=f"{WHY.get(witness.why, 'This difference passes')}: {says}",
        example=example.of_witness(witness),
        witness=witness,
        escapes=tuple(
            (one.text, _place(sources, head, one.path, one.line)) for one in witness.escapes[:MOST]
        ),
        values=tuple(
            (
                name,
                tuple(
                    f"{what} = {example.value(one) if one is not None else 'None'}"
                    for what, one in seen.items()
                ),
            )
            for name, seen in list(witness.values.items())[:MOST]
            if seen
        ),
    )


def _place(sources: Sources, head: str, path: str, line: int) -> Place:
    from markupsafe import Markup

    lines = sources.at(head)(path) if head else None
    code = Markup("")
    if lines and line <= len(lines):
        part, first = excerpt(lines, line, line, AROUND)
        code = listing(part, path, first, [(line, line)])
    return Place(f"{path}:{line}", sources.link(head, path, line), code)


def _checks(evidence: Evidence) -> list[Checked]:
    """The checks that noticed anything, by their places."""
    found = {(spot.path, spot.line) for kill in evidence.kills if not kill.crash for spot in kill.caught_by}
    known = {(one.path, one.line): one for one in evidence.checks}
    return [known.get(place) or Checked(*place) for place in sorted(found)]


def _kinds(kills: Sequence[Kill], checks: Sequence[Checked]) -> list[Kind]:
    """The kill matrix, changes of one kind together."""
    numbers: Counter[str] = Counter()
    crashed: Counter[str] = Counter()
    by: dict[str, Counter[tuple[str, int]]] = {}
    for kill in kills:
        name = probe_text.kind(kill.edit)
        numbers[name] += 1
        if kill.crash:
            crashed[name] += 1
        else:
            by.setdefault(name, Counter()).update({(spot.path, spot.line) for spot in kill.caught_by})
    return [
        Kind(name, number, tuple(by.get(name, Counter())[c.path, c.line] for c in checks), crashed[name])
        for name, number in numbers.most_common(2 * MOST)
    ]
