"""`# reviewbot: ignore[rule-id] reason`: the reason is required."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from reviewbot.config import hint
from reviewbot.lint.registry import rule_ids
from reviewbot.model import Finding, Span
from reviewbot.source.units import File, Script

_COMMENT = re.compile(r"#\s*reviewbot:\s*ignore(?P<rules>\[[^\]]*\])?(?P<reason>.*)$")
FAULT = "suppression"
# What these find depends on what a change did, so that they may well be silent over code as it stands.
_OF_CHANGES = frozenset({
    "loosened-check", "new-field-unchecked", "reimplements-existing", "single-caller-helper",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Suppressions:
    """What a file's comments silence: (line, rule) pairs with the places of the comments; `faults` are
    comments that can silence nothing."""

    silenced: Mapping[tuple[int, str], Span]
    faults: tuple[Finding, ...]

    def covers(self, finding: Finding) -> bool:
        """Whether a comment on one of the finding's lines, or alone on the line above, silences it."""
        span = finding.span
        return any((line, finding.rule) in self.silenced for line in range(span.line, span.end_line + 1))

    def unused(self, found: Iterable[Finding], asked: frozenset[str]) -> list[Finding]:
        """A question for each rule, of those `asked`, that a comment names and that finds nothing there."""
        used = {(line, one.rule) for one in found for line in range(one.span.line, one.span.end_line + 1)}
        return [
            Finding(FAULT, span, "question", f"this suppression silences nothing: `{rule}` is silent here")
            for (line, rule), span in self.silenced.items()
            if rule in asked - _OF_CHANGES and (line, rule) not in used
        ]


def is_unused(finding: Finding) -> bool:
    """Whether a finding says that a suppression silences nothing."""
    return finding.rule == FAULT and finding.certainty == "question"


def suppressions(file: File) -> Suppressions:
    """Reads a file's suppression comments."""
    if "reviewbot:" not in file.text:
        return Suppressions({}, ())
    silenced: dict[tuple[int, str], Span] = {}
    faults = []
    for line, column, comment in _comments(file):
        if not (match := _COMMENT.search(comment)):
            continue
        rules = [name.strip() for name in (match["rules"] or "[]")[1:-1].split(",") if name.strip()]
        wrong = _wrong(rules, match["reason"].strip())
        span = Span(file.path, line, column + 1, line, column + len(comment) + 1)
        if wrong:
            faults.append(Finding(FAULT, span, "proved", f"this suppression {wrong}"))
            continue
        alone = not file.lines[line - 1][:column].strip()
        silenced.update({(line + 1 if alone else line, rule): span for rule in rules})
    return Suppressions(silenced, tuple(faults))


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
