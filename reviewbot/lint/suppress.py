"""`# reviewbot: ignore[rule-id] reason`: the reason is required."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.config import hint
from reviewbot.lint.registry import rule_ids
from reviewbot.model import Finding, Span
from reviewbot.source.units import File, Script

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
    for line, column, comment in _comments(file):
        if not (match := _COMMENT.search(comment)):
            continue
        rules = [name.strip() for name in (match["rules"] or "[]")[1:-1].split(",") if name.strip()]
        wrong = _wrong(rules, match["reason"].strip())
        if wrong:
            span = Span(file.path, line, column + 1, line, column + len(comment) + 1)
            faults.append(Finding(FAULT, span, "proved", f"this suppression {wrong}"))
            continue
        alone = not file.lines[line - 1][:column].strip()
        silenced.update((line + 1 if alone else line, rule) for rule in rules)
    return Suppressions(frozenset(silenced), tuple(faults))


def _comments(file: File) -> Iterator[tuple[int, int, str]]:
    """Each comment: its line from 1, its column from 0, its text."""
    if isinstance(file, Script):
        for number, text in enumerate(file.lines, 1):
            column = text.find("#")
            if column >= 0:
                yield number, column, text[column:].rstrip()
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
            if token.type == tokenize.COMMENT:
                yield *token.start, token.string
    except (tokenize.TokenError, SyntaxError):
        # What follows is nothing that this Python could run.
        return


def _wrong(rules: list[str], reason: str) -> str:
    known = frozenset(rule_ids())
    form = "write `# reviewbot: ignore[rule-id] reason`"
    if not rules:
        return f"names no rule; {form}"
    for rule in rules:
        if rule not in known:
            return f"names no rule that there is: {rule!r}{hint(rule, known)}"
    return "" if reason else f"gives no reason; {form}"
