"""All diffs applied together, and where each check then stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from reviewbot.errors import UnreadableFile
from reviewbot.review.size.along import Draft, take_along
from reviewbot.review.size.cuts import Made, cut_file
from reviewbot.review.size.kinds import checks_of
from reviewbot.review.size.result import Check, CutFile
from reviewbot.review.size.source import NoCut, Source
from reviewbot.source.patch import Replacement, git_lines, replacements
from reviewbot.source.units import File


def joint(
    made: Iterable[Made],
    read: Callable[[str], bytes | None],
    texts: Callable[[], Iterable[tuple[str, bytes]]],
) -> dict[str, tuple[bytes, bytes]]:
    """{path: (at the head, with every proposed diff applied)}; a diff that meets another is left out."""
    ops: dict[str, list[Replacement]] = {}
    before: dict[str, bytes] = {}
    for one in made:
        if one.cut.state not in ("applies", "tested"):
            continue
        before.update(one.before)
        wider = {path: list(listed) for path, listed in ops.items()}
        try:
            for path, after in one.after.items():
                wider[path] = _together(wider.get(path, []), replacements(one.before[path], after))
                _ = _apply(before[path], wider[path], path)
        except NoCut:
            continue
        ops = wider
    draft = Draft(read, texts)
    for path, listed in ops.items():
        draft.files[path] = Source(_apply(before[path], listed, path))
    for path in list(draft.files):
        if path.endswith(".py"):
            # Two cuts together can leave something unused that each alone leaves in use.
            kept = dict(draft.files)
            try:
                take_along(draft, path, Source(before[path]))
            except NoCut:
                draft.files = kept
    return {
        path: (before.get(path) or read(path) or b"", source.content) for path, source in draft.files.items()
    }


def _together(one: Sequence[Replacement], other: Sequence[Replacement]) -> list[Replacement]:
    """Both lists of edits; two that write in one place cannot both be."""
    listed = list(one)
    for op in other:
        if op in listed:
            continue
        for known in listed:
            if (op[2] or known[2]) and op[0] <= known[1] and known[0] <= op[1]:
                raise NoCut("two diffs write in one place")
        listed.append(op)
    return listed


def _apply(before: bytes, ops: Sequence[Replacement], path: str) -> bytes:
    lines = git_lines(before)
    gone = {number for first, last, _ in ops for number in range(first, last)}
    put = {first: new for first, _, new in ops if new}
    out: list[bytes] = []
    for number in range(len(lines) + 1):
        out += put.get(number, ())
        if number < len(lines) and number not in gone:
            out.append(lines[number])
    content = b"".join(out)
    if path.endswith(".py"):
        _ = Source(content).tree
    return content


def after_all(
    whole: Mapping[str, tuple[bytes, bytes]], own: Mapping[str, Sequence[int]]
) -> tuple[CutFile, ...]:
    """What all diffs together do to each file."""
    return tuple(
        cut_file(path, before, after, own.get(path, ()))
        for path, (before, after) in sorted(whole.items())
        if before != after
    )


def check_table(whole: Mapping[str, tuple[bytes, bytes]], made: Sequence[Made]) -> tuple[Check, ...]:
    """The checks of the files that diffs touch, in order, with where each stands after."""
    out: list[Check] = []
    for path, (before, after) in sorted(whole.items()):
        if not path.endswith(".py") or before == after:
            continue
        try:
            file = File(path, before)
            found = [(unit.name, *span) for unit in file.units for span in checks_of(unit)]
        except UnreadableFile:
            continue
        ops = replacements(before, after)
        for unit, first, last in sorted(set(found), key=lambda one: one[1:]):
            text = " ".join(file.lines[first - 1].partition("  #")[0].split())
            out.append(_check(path, unit, first, last, text[:100], ops, made))
    return tuple(out)


def _check(
    path: str, unit: str, first: int, last: int, text: str, ops: Sequence[Replacement], made: Sequence[Made]
) -> Check:
    shift = 0
    for start, stop, new in ops:
        if stop < first:  # wholly above, counted from 0 without the last
            shift += len(new) - (stop - start)
        elif start < last and stop >= first:
            if not new and start <= first - 1 and stop >= last:
                by = _taken_by(path, first, made)
                return Check(
                    path, unit, first, text, None, by.cut.id if by else "", _remains(path, first, last, by)
                )
            break
    return Check(path, unit, first, text, first + shift)


def _remains(path: str, first: int, last: int, by: Made | None) -> str:
    """What still catches what a check that goes caught: the finding knows it of its own check alone."""
    if by is None or not by.finding.still_catches:
        return ""
    if by.finding.span.path == path and by.finding.span.overlaps(first, last):
        return by.finding.still_catches[0]
    return "it looks only at what goes"


def _taken_by(path: str, line: int, made: Sequence[Made]) -> Made | None:
    for one in made:
        if path in one.after and one.cut.state in ("applies", "tested"):
            for start, stop, _ in replacements(one.before[path], one.after[path]):
                if start < line <= stop:
                    return one
    return None
