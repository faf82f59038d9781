"""Findings on lines that did not change and that are new all the same: the change took away what held them
off, such as the check of a length before a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from reviewbot.model import Finding

# The lines of a file by its path; None where they are not to be had.
Read = Callable[[str], Sequence[str] | None]


def revealed(
    untouched: Iterable[Finding], head: Read, before: Iterable[Finding], base: Read
) -> list[Finding]:
    """Those of `untouched` that have no equal among the findings `before`, which are those of the same
    files at the base.

    Equal are findings of one rule in one file about the same text, wherever it stands and whatever the
    function around it is called. Both `before` and `untouched` hold suppressed findings too, or neither.
    """
    known = Counter(_about(finding, base) for finding in before)
    out = []
    for finding in untouched:
        about = _about(finding, head)
        if known[about]:
            known[about] -= 1
        else:
            out.append(finding)
    return out


def _about(finding: Finding, read: Read) -> tuple[str, str, str]:
    span = finding.span
    lines = (read(span.path) or ())[span.line - 1 : span.end_line]
    return finding.rule, span.path, "".join("".join(lines).split())
