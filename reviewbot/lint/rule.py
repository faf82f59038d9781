"""What a rule is. `rules/` imports this, `reviewbot.flow`, `reviewbot.model` and libcst, nothing else.

A rule is one file in `rules/`; its name with `-` for `_` is the rule's id. The file's docstring opens with
one sentence, then `## Why` and `## Instead`. The class in it has examples, a `suspect` and a `confirm`.
"""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from reviewbot.model import Certainty, Edit, Finding, Fix, Span, Step
from reviewbot.source.units import File, Kind, Unit, called_last, once, root_of

if TYPE_CHECKING:
    import libcst as cst

    from reviewbot.lint.repo import Repo

__all__ = [
    "Edit",
    "Example",
    "File",
    "Finding",
    "Fix",
    "Rule",
    "Span",
    "Step",
    "Unit",
    "called_last",
    "once",
    "root_of",
]

MARK = "# <- here"


class Example:
    """A small file that a rule must report, or must leave alone.

    In a bad one each line that must be reported ends in `# <- here`; nothing else may be reported.
    `path` is where the file would stand, `files` are others beside it (repository settings, helpers).
    `before` are files as they were before a change, for a rule that compares: those that are not named there
    are as they were.
    Code may be written indented, under the line that opens its string: `code` has neither.
    """

    __slots__ = ("_before", "_code", "files", "path")

    def __init__(
        self,
        code: str,
        path: str = "tests/test_example.py",
        files: Mapping[str, str] = {},
        before: Mapping[str, str] = {},
    ) -> None:
        self._code, self.path, self.files, self._before = code, path, files, before

    # Worked out when asked for: every run imports all examples, and only tests and pages look at them.

    @property
    def code(self) -> str:
        """The file's text."""
        return _dedented(self._code)

    @property
    def before(self) -> Mapping[str, str]:
        """The files before the change, by path."""
        return {path: _dedented(text) for path, text in self._before.items()}

    def marked(self) -> frozenset[int]:
        """The lines that end in the mark, from 1."""
        lines = self.code.splitlines()
        return frozenset(n for n, line in enumerate(lines, 1) if line.rstrip().endswith(MARK))


def _dedented(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


class Rule(ABC):
    """One kind of weakness, looked for in one unit at a time.

    `kinds`: the units that it looks at. A rule that needs the whole file takes `("module",)` and reads
    `unit.file.units`; `("script",)` are shell and jq files, as lines. `suspect` reads `ast` facts only, is
    cheap, may say yes too often and never no wrongly: with and without it the findings are the same.
    `confirm` reads LibCST nodes and is exact. `concerns` is `suspect` asked of a whole file; a rule may do
    without it.

    `told_by` names rules whose finding is the cause of one of this rule's, and tells it too: where it is in
    the same `unit`, at a `place` of this one's (its lines, or those of a step), or on its own `span`.
    `folds`: what this rule says in the same words of several places in one file is one finding.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("function", "method")
    told_by: ClassVar[tuple[tuple[str, Literal["unit", "place", "span"]], ...]] = ()
    folds: ClassVar[bool] = False
    bad: ClassVar[tuple[Example, ...]] = ()
    good: ClassVar[tuple[Example, ...]] = ()

    @cached_property
    def id(self) -> str:
        """The file's name with dashes."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    def concerns(self, file: File) -> bool:
        """Whether `suspect` could say yes to any unit of a file, which is asked once, before its units: no
        where it lacks a word without which there is nothing to find. Yes too often, never no wrongly."""
        return True

    @abstractmethod
    def suspect(self, unit: Unit) -> bool:
        """Whether `confirm` could find anything in this unit. Reads `unit.tree` and `unit.facts` (`ast`)."""

    @abstractmethod
    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        """The findings in this unit, made with `self.finding`."""

    def finding(
        self,
        unit: Unit,
        node: cst.CSTNode,
        message: str,
        *,
        certainty: Certainty,
        steps: Iterable[Step] = (),
        still_catches: Iterable[str] = (),
        fix: Fix | None = None,
    ) -> Finding:
        """A finding at `node`, which must be a node of `unit`.

        `message` is one sentence that names what the code says, without a full stop.
        """
        return self.finding_at(
            unit,
            unit.span(node),
            message,
            certainty=certainty,
            steps=steps,
            still_catches=still_catches,
            fix=fix,
        )

    def finding_at(
        self,
        unit: Unit,
        span: Span,
        message: str,
        *,
        certainty: Certainty,
        steps: Iterable[Step] = (),
        still_catches: Iterable[str] = (),
        fix: Fix | None = None,
    ) -> Finding:
        """A finding at a stretch of the unit's file, where there is no node to name."""
        lost = next((edit for edit in fix.edits if loses_comment(unit.file, edit)), None) if fix else None
        return Finding(
            rule=self.id,
            span=span,
            certainty=certainty,
            message=_sayable(message),
            steps=tuple(replace(step, says=_sayable(step.says)) for step in steps),
            still_catches=tuple(map(_sayable, still_catches)),
            fix=fix if lost is None else None,
            unit=unit.name,
            no_fix="" if lost is None else "it would lose a comment that stands there",
            withheld=fix.says if fix is not None and lost is not None else "",
        )


def loses_comment(file: File, edit: Edit) -> bool:
    """Whether an edit that puts something in the place of lines leaves out a comment on them. One that
    deletes them deletes what is said about them too."""
    if not edit.text.strip() or edit.path != file.path:
        return False
    kept = Counter(line[line.index("#") :].rstrip() for line in edit.text.splitlines() if "#" in line)
    for line, text in _comments(file):
        if edit.line <= line <= edit.end_line:
            whole = next((one for one in kept if one.endswith(text) and kept[one]), None)
            if whole is None:
                return True
            kept[whole] -= 1
    return False


@once
def _comments(file: File) -> tuple[tuple[int, str], ...]:
    """Each comment of a file with its line."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
            if token.type == tokenize.COMMENT:
                found.append((token.start[0], token.string.rstrip()))
    except (tokenize.TokenError, SyntaxError):
        pass  # what follows is nothing that this Python could run
    return tuple(found)


def _sayable(text: str) -> str:
    """The text as any encoding can hold it: the value of `"\\ud800"` in the code is half a character."""
    return text.encode("utf-8", "backslashreplace").decode()


def step(unit: Unit, node: cst.CSTNode, says: str) -> Step:
    """A step at a node of `unit`."""
    span = unit.span(node)
    return Step(span.path, span.line, span.end_line, says)


def written(unit: Unit, node: cst.CSTNode) -> str:
    """A node of `unit` as it stands in the file: `unit.text` leaves out how its other lines are indented."""
    span = unit.span(node)
    lines = list(unit.file.lines[span.line - 1 : span.end_line])
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "".join(lines)


def rewrite(unit: Unit, node: cst.CSTNode, text: str) -> Edit:
    """The edit of whole lines that puts `text` in the place of `node`, which must be a node of `unit`."""
    span = unit.span(node)
    lines = unit.file.lines
    before = lines[span.line - 1][: span.column - 1]
    after = lines[span.end_line - 1][span.end_column - 1 :]
    return Edit(span.path, span.line, span.end_line, before + text + after)


def delete(unit: Unit, node: cst.CSTNode) -> Edit:
    """The edit that deletes the whole lines of `node`, a statement that shares none of its lines, with its
    decorators."""
    span = unit.span(node)
    first = min([span.line, *(unit.span(one).line for one in getattr(node, "decorators", ()))])
    return Edit(span.path, first, span.end_line, "")


def tree_span(unit: Unit, node: ast.expr | ast.stmt | ast.ExceptHandler) -> Span:
    """Where an `ast` node of the unit's file stands."""
    lines = unit.file.lines
    last = node.end_lineno or node.lineno
    first_column = _characters(lines[node.lineno - 1], node.col_offset)
    last_column = _characters(lines[last - 1], node.end_col_offset or 0)
    return Span(unit.file.path, node.lineno, first_column + 1, last, last_column + 1)


def tree_step(unit: Unit, node: ast.expr | ast.stmt | ast.arg | ast.ExceptHandler, says: str) -> Step:
    """A step at an `ast` node of the unit's file."""
    return Step(unit.file.path, node.lineno, node.end_lineno or node.lineno, says)


def line_span(unit: Unit, first: int, last: int) -> Span:
    """The code on whole lines of the unit's file; the place after its end where there are no such lines."""
    lines = [
        unit.file.lines[at - 1].rstrip("\r\n") if at <= len(unit.file.lines) else "" for at in (first, last)
    ]
    start = len(lines[0]) - len(lines[0].lstrip()) + 1
    return Span(unit.file.path, first, start, last, len(lines[1]) + 1)


def _characters(line: str, offset: int) -> int:
    """How many characters stand before an offset that counts bytes of UTF-8."""
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))
