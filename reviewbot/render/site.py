"""All pages of a report: one a finding, one a round, one a probe, one a parity run, and an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from reviewbot.model import CERTAINTIES, Review, Round, Settled, Standing, Thread
from reviewbot.render import finding_page, probe_page, shown_by
from reviewbot.render.changed import changed, changed_in
from reviewbot.render.pages import HOME, Extra, render
from reviewbot.render.probe_document import Evidence
from reviewbot.render.proposed import cuts_of, proposed
from reviewbot.render.sources import Sources
from reviewbot.review.scope import NO_CODE
from reviewbot.review.size.result import Cut

ROOM = 150_000  # bytes of what a page lists
ROW = 450  # bytes around a finding in a list
SHORT = 260  # letters of a message in a list
STRONGEST = 5  # findings that the index names, or all that are proved if those are more
MOST_STRONGEST = 20
LIVE = ("back", "new", "open")
STATES = ("back", "new", "open", "dismissed", "fixed", "gone")
STATE_SAYS = {
    "back": "Back after they were fixed",
    "new": "New in this round",
    "open": "Still open",
    "dismissed": "Dismissed",
    "fixed": "Fixed",
    "gone": "Gone with the code they were about",
}

# The rule's own word on what goes wrong.
Why = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Row:
    """A finding in a list."""

    id: str
    page: str
    message: str
    certainty: str
    rule: str
    path: str
    line: int
    href: str
    change: str


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one state in one file."""

    path: str
    anchor: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Findings of one state."""

    state: str
    title: str
    groups: tuple[Group, ...]

    @property
    def size(self) -> int:
        """How many findings it lists."""
        return sum(len(group.rows) for group in self.groups)


def site(
    review: Review | None,
    evidence: Sequence[tuple[str, Evidence]],
    extras: Sequence[Extra],
    sources: Sources,
    why: Why,
    cuts: Sequence[Cut] = (),
    watch: Callable[[Iterable[Thread], int], Iterable[Thread]] = lambda threads, total: threads,
) -> Iterator[tuple[str, str]]:
    """Every file of the report: its name and its text. `evidence` are probes with their files' names,
    `cuts` what a size review made of the findings."""
    probes = [(f"probe-{number}.html", one, name) for number, (name, one) in enumerate(evidence, 1)]
    if review is not None:
        review = shown_by.with_evidence(review, [one for _, one, _ in probes], sources)
        by_target = {one.target: file for file, one, _ in probes}
        yield from _findings(review, sources, why, by_target, cuts_of(review, cuts), watch)
        for look in review.rounds:
            yield from _round(review, look, sources, probes, extras)
    for file, one, name in probes:
        yield file, probe_page.page(one, name, _head(review), sources, (HOME, (one.target, "")))
    for extra in extras:
        yield extra.file, extra.text
    yield "index.html", _index(review, probes, extras, sources)


def _head(review: Review | None) -> str:
    return review.rounds[-1].head if review and review.rounds else ""


def _findings(
    review: Review,
    sources: Sources,
    why: Why,
    probes: Mapping[str, str],
    cuts: Mapping[str, Cut],
    watch: Callable[[Iterable[Thread], int], Iterable[Thread]],
) -> Iterator[tuple[str, str]]:
    listed = [*review.threads, *review.former]
    for thread in watch(listed, len(listed)):
        seen = finding_page.round_of(thread, review)
        crumbs = (HOME, (f"Round {seen.number}", round_file(seen.number)), (thread.id, ""))
        fix = proposed(thread, seen.head, sources, cuts.get(thread.id))
        text = finding_page.page(thread, review, sources, why(thread.finding.rule), fix, probes, crumbs)
        yield finding_page.file_name(thread), text
        if fix is not None and fix.diff:
            yield finding_page.fix_file(thread), fix.diff


def round_file(number: int, part: int = 1) -> str:
    """The name of a round's page; a long round has several."""
    return f"round-{number}.html" if part == 1 else f"round-{number}-{part}.html"


def _round(
    review: Review,
    one: Round,
    sources: Sources,
    probes: Sequence[tuple[str, Evidence, str]],
    extras: Sequence[Extra],
) -> Iterator[tuple[str, str]]:
    last = one.number == review.rounds[-1].number
    threads = _sorted(review, one)
    states = Counter(state for _, state in threads)
    parts = _parts(threads)
    pages = [(round_file(one.number, n), _part_says(part)) for n, part in enumerate(parts, 1)]
    before = _round_before(review, one)
    for (file, _), part in zip(pages, parts, strict=True):
        text = render(
            "round_page.html.j2",
            (HOME, (f"Round {one.number}", "")),
            review=review,
            round=one,
            before=before,
            last=last,
            newest=review.rounds[-1],
            states=[(state, states[state]) for state in STATES if states[state]],
            totals=states,
            there=sum(states[state] for state in LIVE),
            sections=_sections(part, one, review, sources),
            pages=pages,
            file=file,
            first=file == pages[0][0],
            probes=probes if last else (),
            extras=extras if last else (),
            unread=_reasons(one),
            changed=changed_in(one, before) or (changed(review) if last else ""),
            settled=_settled(review) if last else (),
            link=sources.link,
            commit=sources.commit_link,
        )
        yield file, text


def _sorted(review: Review, one: Round) -> list[tuple[Thread, str]]:
    """What a round knew, in the order in which its page lists it."""
    return sorted(threads_of(review, one), key=lambda item: (STATES.index(item[1]), item[0].finding.span))


def _parts(threads: Sequence[tuple[Thread, str]]) -> list[list[tuple[Thread, str]]]:
    """The findings of a round, parted into pages that are not too large."""
    parts: list[list[tuple[Thread, str]]] = [[]]
    room = ROOM
    for thread, state in threads:
        finding = thread.finding
        # Code in a message, a path in a heading and once more in a link, all of it escaped.
        need = (
            ROW + 3 * min(len(finding.message), SHORT) + 4 * len(finding.span.path.encode("utf-8", "replace"))
        )
        if parts[-1] and room < need:
            parts.append([])
            room = ROOM
        parts[-1].append((thread, state))
        room -= need
    return parts


def threads_of(review: Review, one: Round) -> Iterator[tuple[Thread, str]]:
    """The findings that a round knew, and their state at its end. Where that was not recorded, an older round
    tells of a finding only that it was there."""
    last = one.number == review.rounds[-1].number
    standing = {each.id: each.state for each in one.standing}
    for thread in (*review.threads, *review.former):
        if one.standing:
            if thread.id in standing:
                yield thread, standing[thread.id]
            continue
        if thread.first_round > one.number:
            continue
        if last:
            yield thread, thread.state if thread.state in STATES else "open"
        elif thread.last_round >= one.number:
            yield thread, "new" if thread.first_round == one.number else "open"


def _part_says(part: Sequence[tuple[Thread, str]]) -> str:
    if not part:
        return ""
    first, last = part[0][0].finding.span.path, part[-1][0].finding.span.path
    return f"{first} … {last}" if first != last else first


def _sections(
    part: Sequence[tuple[Thread, str]], one: Round, review: Review, sources: Sources
) -> list[Section]:
    out = []
    number = 0
    standing = {each.id: each for each in one.standing}
    for state, of_state in groupby(part, key=lambda item: item[1]):
        groups = []
        for path, of_path in groupby(of_state, key=lambda item: item[0].finding.span.path):
            number += 1
            rows = tuple(_row(thread, one, review, sources, standing) for thread, _ in of_path)
            groups.append(Group(path, f"f{number}", rows))
        out.append(Section(state, STATE_SAYS[state], tuple(groups)))
    return out


def _row(
    thread: Thread, one: Round, review: Review, sources: Sources, standing: Mapping[str, Standing]
) -> Row:
    finding, span = thread.finding, thread.finding.span
    change = ""
    stood = standing.get(thread.id)
    if stood and stood.state in ("fixed", "gone", "dismissed", "back"):
        when = "in this round" if stood.since == one.number else f"in round {stood.since}"
        change = f"{stood.state} {when}"
    elif thread.first_round < one.number:
        change = f"since round {thread.first_round}"
    return Row(
        id=thread.id,
        page=finding_page.file_name(thread),
        message=finding_page.title(finding),
        certainty=finding.certainty,
        rule=finding.rule,
        path=span.path,
        line=span.line,
        href=sources.link(finding_page.round_of(thread, review).head, span.path, span.line, span.end_line),
        change=change,
    )


def _settled(review: Review) -> list[Settled]:
    """What was settled in rounds of which nothing more is known."""
    known = {thread.id for thread in review.former}
    return [one for one in review.settled if one.id not in known]


def _reasons(one: Round) -> list[tuple[str, list[str]]]:
    by_reason: dict[str, list[str]] = {}
    for file in (*one.unread, *one.failed):
        by_reason.setdefault(file.why, []).append(file.path)
    return sorted(by_reason.items())


def _index(
    review: Review | None,
    probes: Sequence[tuple[str, Evidence, str]],
    extras: Sequence[Extra],
    sources: Sources,
) -> str:
    threads = list(threads_of(review, review.rounds[-1])) if review and review.rounds else []
    there = [thread for thread, state in threads if state in LIVE]
    ranked = sorted(
        there, key=lambda one: (one.finding.evidence is None, CERTAINTIES.index(one.finding.certainty))
    )
    proved = sum(one.finding.certainty == "proved" for one in there)
    named = max(STRONGEST, min(proved, MOST_STRONGEST))
    return render(
        "index_page.html.j2",
        (("Index", ""),),
        review=review,
        last=review.rounds[-1] if review and review.rounds else None,
        there=len(there),
        certainties=_tally(thread.finding.certainty for thread in there),
        strongest=[_row(one, review.rounds[-1], review, sources, {}) for one in ranked[:named]]
        if review
        else [],
        rules=_by_rule(there),
        files=_by_file(review) if review and len(there) > named else [],
        rounds=_listed(review) if review else [],
        lost=_lost(review) if review and len(review.rounds) > 1 else [],
        # What a reader has to know first: code of which nothing is said. The round's page has all reasons.
        unread=[one for one in _reasons(review.rounds[-1]) if one[0] not in NO_CODE]
        if review and review.rounds
        else (),
        probes=probes,
        extras=extras,
        commit=sources.commit_link,
    )


def _listed(review: Review) -> list[tuple[Round, str, str]]:
    """The rounds, the latest first, each with its page and with what changed in it."""
    out = []
    for one in reversed(review.rounds):
        out.append((one, round_file(one.number), changed_in(one, _round_before(review, one))))
    return out


def _lost(review: Review) -> list[int]:
    """The numbers of rounds that have no page, of those up to the last one."""
    there = {one.number for one in review.rounds}
    return [number for number in range(1, review.rounds[-1].number) if number not in there]


def _round_before(review: Review, one: Round) -> Round | None:
    """The round that a round is held against. One whose commits are gone is not among them."""
    return next((each for each in reversed(review.rounds) if each.number < one.number), None)


def _tally(items: Iterable[str]) -> list[tuple[str, int]]:
    found = Counter(items)
    return [(name, found[name]) for name in CERTAINTIES if found[name]]


def _by_rule(threads: Sequence[Thread]) -> list[tuple[str, list[Thread]]]:
    by_rule: dict[str, list[Thread]] = {}
    # C8 before C23.
    for thread in sorted(threads, key=lambda one: (len(one.id), one.id)):
        by_rule.setdefault(thread.finding.rule, []).append(thread)
    return sorted(by_rule.items(), key=lambda item: -len(item[1]))


def _by_file(review: Review) -> list[tuple[str, str, int]]:
    """Each file with findings: its path, where the round's page lists it, how many; as many as fit."""
    one = review.rounds[-1]
    found: dict[str, tuple[str, int]] = {}
    for part, threads in enumerate(_parts(_sorted(review, one)), 1):
        number = 0
        for _, of_state in groupby(threads, key=lambda item: item[1]):
            for path, of_path in groupby(of_state, key=lambda item: item[0].finding.span.path):
                number += 1
                href = f"{round_file(one.number, part)}#f{number}"
                known = found.get(path, (href, 0))
                found[path] = (known[0], known[1] + len(list(of_path)))
    room = ROOM * 2 // 3
    listed = []
    for path, (href, count) in sorted(found.items()):
        room -= 2 * len(path.encode("utf-8", "backslashreplace")) + 120
        if room < 0:
            break
        listed.append((path, href, count))
    return listed
