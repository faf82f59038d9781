"""What each finding would take away or add, as a diff where one can be made."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.errors import GitError
from reviewbot.model import Edit, Finding, Thread
from reviewbot.review.size.along import Draft, take_along
from reviewbot.review.size.kinds import CANNOT_FAIL, DUPLICATES, REPEATS, checks_of
from reviewbot.review.size.result import Along, Cut, CutFile
from reviewbot.review.size.reuse import reuse
from reviewbot.review.size.source import NoCut, Source, delete, extent, without_element
from reviewbot.source.patch import applied, replacements, unified
from reviewbot.source.units import File

# The way out of these is to write their lines anew; the rest of those that cannot fail could go.
MENDED = CANNOT_FAIL - {"unreachable-check", "implied-check", "restated-arithmetic", "never-run-script"}
NOT_MADE = "no diff is made of findings of this rule"
PARSES = "applies, and the files parse"
# Whether two tests of these are one is measured by what each of them notices.
ANSWERED = frozenset({"duplicate-test"})
_IMPLIED = re.compile(r"^`(\w+)` is computed from")


@dataclass(frozen=True)
class Made:
    """A cut with the files that it changes, as they were and as they become.

    `bold` is the same cut with more that goes along, for where a run shows that nothing is lost by it.
    """

    cut: Cut
    finding: Finding
    before: Mapping[str, bytes] = field(default_factory=dict)
    after: Mapping[str, bytes] = field(default_factory=dict)
    bold: Made | None = None


def cuts(
    threads: Iterable[Thread],
    read: Callable[[str], bytes | None],
    texts: Callable[[], Iterable[tuple[str, bytes]]],
    own: Mapping[str, Sequence[int]],
    *,
    questions: bool = False,
) -> list[Made]:
    """One for each proved or likely finding, in their order; with `questions` also for those questions that
    running can answer.

    `read` gives a file of the head, `texts` all of them, `own` the lines that the change brought in.
    """
    out = []
    for thread in threads:
        asked = questions and thread.finding.rule in ANSWERED
        if thread.finding.certainty != "question" or asked:
            made = _cut(thread, Draft(read, texts), own)
            if made.after:
                bold = _cut(thread, Draft(read, texts, bold=True), own)
                made = replace(made, bold=bold if bold.after and bold.after != made.after else None)
            out.append(made)
    return out


def _cut(thread: Thread, draft: Draft, own: Mapping[str, Sequence[int]]) -> Made:
    finding = thread.finding
    span = finding.span
    bare = Cut(
        id=thread.id,
        rule=finding.rule,
        certainty=finding.certainty,
        path=span.path,
        line=span.line,
        claim=finding.message,
        state="estimate",
        says=NOT_MADE,
        still_catches=finding.still_catches,
    )
    try:
        _edit(draft, finding)
        for path in list(draft.files):
            if path.endswith(".py"):
                take_along(draft, path, _at_head(draft, path))
        return _made(bare, finding, draft, own)
    except (NoCut, GitError) as error:
        lines = _estimated(finding)
        mine = frozenset(own.get(span.path, ()))
        back = len(lines) if finding.rule in MENDED else 0
        files = (CutFile(span.path, len(lines), len(mine.intersection(lines)), back),) if lines else ()
        return Made(replace(bare, says=str(error), files=files), finding)


def bare_fix(finding: Finding, read: Callable[[str], bytes | None]) -> Made | None:
    """The finding's own fix as it stands, without what would go along; None where it cannot be applied."""
    draft = Draft(read, tuple)
    span = finding.span
    cut = Cut(
        "", finding.rule, finding.certainty, span.path, span.line, finding.message, "estimate", NOT_MADE
    )
    try:
        _fixed(draft, finding.fix.edits if finding.fix else ())
        return _made(cut, finding, draft, {})
    except (NoCut, GitError):
        return None


def _at_head(draft: Draft, path: str) -> Source:
    content = draft.read(path)
    if content is None:
        raise NoCut(f"{path} is not to be had")
    return Source(content)


def _made(bare: Cut, finding: Finding, draft: Draft, own: Mapping[str, Sequence[int]]) -> Made:
    before = {path: _at_head(draft, path).content for path in draft.files}
    after = {path: source.content for path, source in draft.files.items() if source.content != before[path]}
    before = {path: before[path] for path in after}
    if not after:
        raise NoCut("the edit changes nothing")
    diff = "".join(unified(path, before[path], after[path]) for path in sorted(after))
    if applied(diff, before) != after:
        raise NoCut("the diff does not make what it should")
    files = tuple(cut_file(path, before[path], after[path], own.get(path, ())) for path in sorted(after))
    says = f"{PARSES}; not run"
    return Made(
        replace(bare, state="applies", says=says, files=files, along=_sorted(draft.along), diff=diff),
        finding,
        before,
        after,
    )


def _sorted(along: Iterable[Along]) -> tuple[Along, ...]:
    return tuple(sorted(along, key=lambda one: (one.path, one.line, one.name)))


def cut_file(path: str, before: bytes, after: bytes, own: Sequence[int]) -> CutFile:
    """What a change does to one file in lines."""
    changes = replacements(before, after)
    gone = {number + 1 for first, last, _ in changes for number in range(first, last)}
    return CutFile(path, len(gone), len(gone.intersection(own)), sum(len(new) for *_, new in changes))


def _estimated(finding: Finding) -> range:
    """The lines that a finding without a diff is about, where they could go or would be written anew."""
    span = finding.span
    if finding.rule in CANNOT_FAIL | DUPLICATES | REPEATS:
        return range(span.line, span.end_line + 1)
    return range(0)


# ---- the edit itself --------------------------------------------------------------------------------------


def _edit(draft: Draft, finding: Finding) -> None:
    if finding.rule == "reimplements-existing":
        reuse(draft, finding)
    elif finding.fix is not None:
        _fixed(draft, finding.fix.edits)
    elif finding.rule == "duplicate-test":
        _whole_unit(draft, finding)
    elif finding.rule == "implied-check":
        _implied(draft, finding)
    elif finding.rule == "unreachable-check":
        _unreachable(draft, finding)
    else:
        raise NoCut(finding.no_fix or NOT_MADE)


def _fixed(draft: Draft, edits: Sequence[Edit]) -> None:
    """Applies a rule's own edits from the last line up, so that lines above stay where they are."""
    for edit in sorted(edits, key=lambda one: (one.path, one.line, one.end_line), reverse=True):
        source = draft.source(edit.path)
        if not 0 < edit.line <= edit.end_line + 1 <= len(source.lines) + 1:
            raise NoCut("its fix names lines that are not there")
        node = source.statement(edit.line, edit.end_line) if not edit.text else None
        if node is not None:
            draft.files[edit.path] = delete(source, node)
            continue
        text = edit.text.encode()
        if b"\r\n" in source.content and b"\r\n" not in text:
            text = text.replace(b"\n", b"\r\n")
        lines = source.lines
        draft.files[edit.path] = Source(b"".join([*lines[: edit.line - 1], text, *lines[edit.end_line :]]))
        _ = draft.files[edit.path].tree


def _whole_unit(draft: Draft, finding: Finding) -> None:
    source = draft.source(finding.span.path)
    unit = File(finding.span.path, source.content).unit(finding.unit)
    lines = (unit.line, unit.end_line) if unit is not None else (finding.span.line, finding.span.end_line)
    node = source.statement(*lines)
    if node is None:
        raise NoCut("it is not a statement of its own")
    draft.files[finding.span.path] = delete(source, node)


def _unreachable(draft: Draft, finding: Finding) -> None:
    """The check goes, if the function has others: where it is the only one, it is to be mended."""
    span = finding.span
    source = draft.source(span.path)
    node = source.around(span.line, span.end_line)
    if node is None or extent(node) != (span.line, span.end_line):
        raise NoCut("it is a part of a statement")
    unit = File(span.path, source.content).unit(finding.unit)
    others = [one for one in checks_of(unit) if not span.overlaps(*one)] if unit is not None else []
    if not others:
        raise NoCut(f"the only check of {finding.unit or 'the module'}: to be mended rather than deleted")
    draft.files[span.path] = delete(source, node)


def _implied(draft: Draft, finding: Finding) -> None:
    """The comparison goes, or where it is made for several fields in a loop, the field out of the loop's
    list."""
    found = _IMPLIED.match(finding.message)
    source = draft.source(finding.span.path)
    node = source.around(finding.span.line, finding.span.end_line)
    if found is None or node is None:
        raise NoCut(NOT_MADE)
    loop = _field_loop(source, node, found[1])
    if loop is None:
        if not isinstance(node, ast.If | ast.Assert) or (isinstance(node, ast.If) and node.orelse):
            raise NoCut("the comparison is a part of something else")
        draft.files[finding.span.path] = delete(source, node)
        return
    listed, number = loop
    if len(listed.elts) > 1:
        elements = [(one, one) for one in listed.elts]
        draft.files[finding.span.path] = _still_tuple(without_element(source, elements, number), listed)
        return
    around = [one for one in _above(source, node) if isinstance(one, ast.For)]
    outer = next(one for one in around if _names(one.iter, source) is listed)
    draft.files[finding.span.path] = delete(source, outer)


def _above(source: Source, node: ast.AST) -> Iterable[ast.AST]:
    while node in source.parents:
        yield node
        node = source.parents[node]


_Listed = ast.Tuple | ast.List | ast.Set


def _field_loop(source: Source, node: ast.stmt, name: str) -> tuple[_Listed, int] | None:
    """The literal that a loop around a check takes its fields from, and where the field stands in it."""
    for above in _above(source, node):
        if isinstance(above, ast.For):
            listed = _names(above.iter, source)
            values = [getattr(one, "value", None) for one in listed.elts] if listed is not None else []
            if listed is not None and name in values:
                return listed, values.index(name)
    return None


def _names(node: ast.expr, source: Source) -> _Listed | None:
    """The literal that an expression is, or that the module's constant of that name holds."""
    if isinstance(node, _Listed):
        return node
    if isinstance(node, ast.Name):
        for one in source.tree.body:
            if isinstance(one, ast.Assign) and any(getattr(to, "id", "") == node.id for to in one.targets):
                return one.value if isinstance(one.value, _Listed) else None
    return None


def _still_tuple(source: Source, was: _Listed) -> Source:
    """Two elements less one: a tuple of one needs its comma."""
    if not isinstance(was, ast.Tuple) or len(was.elts) != 2:
        return source
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and (node.lineno, node.col_offset) == (
            was.lineno,
            was.col_offset + 1,
        ):
            end = (node.end_lineno or 0, node.end_col_offset or 0)
            return source.replaced(end, end, b",")
    raise NoCut("a tuple of one is left without its comma")
