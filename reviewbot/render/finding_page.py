"""The page of one finding: claim, before and after, an example drawn, the argument, the fix, what is left."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reviewbot.model import Finding, Review, Round, Step, Thread
from reviewbot.render import code_lines, example, probe_document
from reviewbot.render.example import Example
from reviewbot.render.pages import Crumbs, fitting, render
from reviewbot.render.proposed import Proposed
from reviewbot.render.sources import Read, Sources
from reviewbot.render.stake import at_stake
from reviewbot.review import before as bases
from reviewbot.review import call_tree
from reviewbot.review.before import Before
from reviewbot.source.units import Unit

AROUND = 2  # lines of code before and after those that matter
TOGETHER = 16  # lines of steps that are shown in one piece
DIFF_LINES = 400  # of a proposed change; its file has them all
LONG_TITLE = 110  # letters of a claim that is not shortened
MOST = 24  # steps, checks and values of one finding


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of code with their link; `code` is empty where they are not at hand."""

    label: str
    href: str
    code: Markup


@dataclass(frozen=True, slots=True)
class Shown:
    """A step. Steps that stand close together share their code, which comes with the last of them."""

    says: str
    place: Place


def file_name(thread: Thread) -> str:
    """The name of a finding's page."""
    return "".join(c for c in thread.id if c.isascii() and c.isalnum()) + ".html"


def fix_file(thread: Thread) -> str:
    """The name of the file with the proposed change."""
    return file_name(thread).removesuffix(".html") + ".diff"


def title(finding: Finding) -> str:
    """The claim of its page: what passes all the same where a run has shown it, else what the rule says."""
    evidence = finding.evidence
    witness = probe_document.witness(evidence.document) if evidence and evidence.document else None
    if evidence is None or witness is None or not witness.changes:
        return _short(finding.message)
    return example.claim(evidence.entry.rpartition("::")[2], witness)


def _short(message: str) -> str:
    """A long claim up to its first semicolon: the page says all of it below."""
    first, _, rest = message.partition("; ")
    return first if rest and len(message) > LONG_TITLE and first.count("`") % 2 == 0 else message


def _lead(finding: Finding) -> str:
    """What the rule says and the title does not."""
    said = title(finding)
    return finding.message.removeprefix(f"{said}; ") if said != finding.message else ""


def round_of(thread: Thread, review: Review) -> Round:
    """The last round that saw the finding as it stands on its page."""
    return next(
        (one for one in reversed(review.rounds) if one.number <= thread.last_round), review.rounds[-1]
    )


def page(
    thread: Thread,
    review: Review,
    sources: Sources,
    why: str,
    fix: Proposed | None,
    probes: Mapping[str, str],
    crumbs: Crumbs,
) -> str:
    """The page. `why` is the rule's own word on what goes wrong, `fix` what is proposed; `probes` are the
    pages of probes by their targets."""
    finding, seen = thread.finding, round_of(thread, review)
    read = sources.at(seen.head)
    note = next((one for one in review.rules if one.rule == finding.rule), None)
    lines = read(finding.span.path)
    unit = bases.unit_at(finding.span.path, lines, finding.unit) if lines else None
    evidence = finding.evidence
    witness = probe_document.witness(evidence.document) if evidence and evidence.document else None
    values: dict[str, object] = {
        "thread": thread,
        "finding": finding,
        "settled": next((one for one in review.settled if one.id == thread.id), None),
        "title": title(finding),
        "lead": _lead(finding),
        "review": review,
        "seen": seen,
        "last": review.rounds[-1],
        "note": note,
        "why": why,
        "stake": at_stake(finding),
        "doc": _doc(unit),
        "file_doc": _file_doc(unit),
        "unit": unit,
        "place": _place(
            sources, read, seen.head, finding.span.path, finding.span.line, finding.span.end_line, 0
        ),
        "beside": [
            _place(sources, read, seen.head, one.path, one.line, one.end_line, 0)
            for one in thread.beside[:MOST]
        ],
        "before": _before(finding, seen, sources),
        "base": _base(finding, seen, sources),
        "example": _example(thread, lines),
        "witness": witness,
        "probe": probes.get(evidence.entry, "") if evidence else "",
        "copies": _copies(finding),
        "fix": fix,
        "fix_file": fix_file(thread),
        "commit": sources.commit_link,
    }

    def with_most(most: int) -> str:
        parts: dict[str, object] = {
            "values": _values(witness, most),
            "steps": _steps(finding.steps[:most], seen, sources, read),
            "more": max(0, len(finding.steps) - most),
            "drawn": code_lines.diff(fix.diff, finding.span.path, DIFF_LINES * most // MOST) if fix else "",
            "most": most,
        }
        return render("finding_page.html.j2", crumbs, **values, **parts)

    return fitting(with_most, MOST)


def _place(sources: Sources, read: Read, commit: str, path: str, line: int, end: int, around: int) -> Place:
    code = _code(read, path, [(line, max(line, end))], around)
    return Place(_label(path, line, end), sources.link(commit, path, line, end), code)


def _label(path: str, line: int, end: int) -> str:
    return f"{path}:{line}" if end <= line else f"{path}:{line}-{end}"


def _code(read: Read, path: str, marked: Sequence[tuple[int, int]], around: int) -> Markup:
    """The lines of a file from the first marked one to the last, with some around them."""
    lines = read(path)
    line, end = min(first for first, _ in marked), max(last for _, last in marked)
    if not lines or not 1 <= line <= len(lines):
        return Markup("")
    part, first = code_lines.excerpt(lines, line, end, around)
    # Where all lines matter none has to stand out.
    all_of_it = len(marked) == 1 and len(part) == end - line + 1 > 2
    return code_lines.listing(part, path, first, () if all_of_it else marked)


def _steps(steps: Sequence[Step], seen: Round, sources: Sources, read: Read) -> list[Shown]:
    out = []
    group: list[tuple[int, int]] = []
    for number, step in enumerate(steps):
        group.append((step.line, max(step.line, step.end_line)))
        following = steps[number + 1] if number + 1 < len(steps) else None
        code = Markup("")
        commit, lines = (seen.merge_base, sources.at(seen.merge_base)) if step.base else (seen.head, read)
        if following is None or not _close(group, step, following):
            code, group = _code(lines, step.path, group, AROUND), []
        href = sources.link(commit, step.path, step.line, step.end_line)
        out.append(Shown(step.says, Place(_label(step.path, step.line, step.end_line), href, code)))
    return out


def _close(group: Sequence[tuple[int, int]], step: Step, following: Step) -> bool:
    """Whether the next step's lines would be shown with those of the group: near, and not too many."""
    first, last = min(at for at, _ in group), max(at for _, at in group)
    low, high = min(first, following.line), max(last, following.end_line)
    apart = max(following.line - last, first - following.end_line)
    same = (following.path, following.base) == (step.path, step.base)
    return same and apart <= 2 * AROUND + 1 and high - low < TOGETHER


def _of_head(finding: Finding) -> list[Step]:
    return [step for step in finding.steps if not step.base]


def _copies(finding: Finding) -> bool:
    """Whether its steps are two stretches of code to be seen beside each other."""
    long = all(step.end_line - step.line >= 2 and not step.base for step in finding.steps)
    return len(finding.steps) == 2 and long


def _doc(unit: Unit | None) -> str:
    """What the function itself says that it does: the first sentence of its docstring."""
    if unit is None or not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return ""
    return _first(ast.get_docstring(unit.tree))


def _file_doc(unit: Unit | None) -> str:
    """What its file says of itself."""
    return _first(ast.get_docstring(unit.file.tree)) if unit and unit.file.tree else ""


def _first(doc: str | None) -> str:
    return " ".join((doc or "").partition("\n\n")[0].split())


def _before(finding: Finding, seen: Round, sources: Sources) -> Before:
    if sources.old_path is None:
        return Before("unknown")
    path = finding.span.path
    return bases.before(
        finding, sources.at(seen.head), sources.at(seen.merge_base), sources.old_path(seen, path)
    )


def _base(finding: Finding, seen: Round, sources: Sources) -> Place | None:
    """The code at the base, where the finding's lines came from, or between which they came in."""
    found = _before(finding, seen, sources)
    if found.lines is None:
        return None
    first, last = found.lines
    read = sources.at(seen.merge_base)
    around = AROUND + 1 if last < first else AROUND
    place = _place(sources, read, seen.merge_base, found.path, first, last, around)
    if last >= first:
        return place
    lines = read(found.path) or []
    part, start = code_lines.excerpt(lines, first, first - 1, around)
    code = code_lines.listing(part, found.path, start, ()) if part else Markup("")
    label = f"{found.path}:{max(1, first - 1)}"
    return Place(label, sources.link(seen.merge_base, found.path, max(1, first - 1)), code)


def _example(thread: Thread, lines: list[str] | None) -> Example | None:
    finding = thread.finding
    if finding.evidence and finding.evidence.document:
        witness = probe_document.witness(finding.evidence.document)
        if witness is not None and witness.changes:
            return example.of_witness(witness)
    if finding.rule == "repeated-row-index" and lines and finding.unit:
        tree = call_tree.call_tree(finding.span.path, lines, finding.unit, _of_head(finding))
        if tree is not None and tree.calls:
            return example.of_tree(tree)
    both = example.dropped_field(finding) if finding.rule == "field-dropped-on-rebuild" else ()
    if both:
        return example.of_lanes("One value, two paths", both)
    both = example.accepted_pair(finding) if finding.rule == "ignored-option-pair" else ()
    if both:
        return example.of_lanes("Two pairs of settings, two paths", both)
    excused = example.excused_range(finding)
    if excused:
        return excused
    both = example.led_around(finding)
    return example.of_lanes("One check, two paths", both) if both else None


def _values(witness: probe_document.Witness | None, most: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """What each function returned and held in the run, as text."""
    if witness is None:
        return []
    return [
        (name, [(what, example.value(one) if one is not None else "None") for what, one in seen.items()])
        for name, seen in list(witness.values.items())[:most]
        if seen
    ]
