"""`# reviewbot: ignore[rule-id] reason`: the reason is required."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

from reviewbot.model import Finding, Span
from reviewbot.source.units import File

_COMMENT = re.compile(r"#\s*reviewbot:\s*ignore(?P<rules>\[[^\]]*\])?(?P<reason>.*)$")
FAULT = "suppression"


@dataclass(frozen=True, slots=True)
class Suppressions:
    """What a file's comments silence: (line, rule) pairs; `faults` are comments that silence nothing."""

    silenced: frozenset[tuple[int, str]]
    faults: tuple[Finding, ...]

    def covers(self, finding: Finding) -> bool:
        """Whether a comment on one of the finding's lines, or alone on the line above, silences it."""
        span = finding.span
        return any((line, finding.rule) in self.silenced for line in range(span.line, span.end_line + 1))


def suppressions(file: File) -> Suppressions:
    """Reads a file's suppression comments."""
    if "reviewbot:" not in file.text:
        return Suppressions(frozenset(), ())
    silenced: set[tuple[int, str]] = set()
    faults = []
    for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
        if token.type != tokenize.COMMENT or not (match := _COMMENT.search(token.string)):
            continue
        line, column = token.start
        rules = [name.strip() for name in (match["rules"] or "[]")[1:-1].split(",") if name.strip()]
        if not rules or not match["reason"].strip():
            what = "names no rule" if not rules else "gives no reason"
            span = Span(file.path, line, column + 1, line, token.end[1] + 1)
            message = f"this suppression {what}; write `# reviewbot: ignore[rule-id] reason`"
            faults.append(Finding(FAULT, span, "proved", message))
            continue
        alone = not file.lines[line - 1][:column].strip()
        silenced.update((line + 1 if alone else line, rule) for rule in rules)
    return Suppressions(frozenset(silenced), tuple(faults))
