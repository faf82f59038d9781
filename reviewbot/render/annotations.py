"""Findings as GitHub's workflow commands, which a runner turns into annotations on lines of files.

How they are written: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from typing import Literal

from reviewbot.model import Certainty, Finding
from reviewbot.render import catches
from reviewbot.render.inert import visible

Level = Literal["error", "warning", "notice"]
LEVELS: dict[Certainty, Level] = {"proved": "error", "likely": "warning", "question": "notice"}


def annotation(finding: Finding, name: str = "") -> str:
    """One line: an error for what is proved, a warning for what is likely, a notice for a question.

    `name` is the id of the finding's thread, where it has one.
    """
    span = finding.span
    properties = {"file": span.path, "line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:  # A runner takes columns within one line only.
        properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    properties["title"] = " ".join(filter(None, (name, finding.rule, f"({finding.certainty})")))
    return command(LEVELS[finding.certainty], message(finding), **properties)


def message(finding: Finding) -> str:
    """The claim, its steps and what still catches the fault, a line each, as plain text."""
    says = [finding.message]
    says += [f"{step.path}:{step.line}: {step.says}" for step in finding.steps]
    says += [f"still catches: {catch}" for catch in catches.told(finding)]
    return "\n".join(says)


def command(level: Level, message: str, **properties: str) -> str:
    """A workflow command without a file: for what is said of the whole run."""
    given = ",".join(f"{name}={_escape(value, ':,')}" for name, value in properties.items())
    return f"::{level}{' ' if given else ''}{given}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    """Text in which nothing can end the line, the property or the command, or steer a terminal."""
    text = visible(text, keep="\t\r\n")
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
