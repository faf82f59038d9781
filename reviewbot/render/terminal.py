"""Findings as a person reads them in a terminal."""

from __future__ import annotations

from reviewbot.lint.engine import Report


def text(report: Report) -> str:
    """One line a finding."""
    return "".join(
        f"{f.span.path}:{f.span.line}:{f.span.column}: {f.certainty} {f.rule}: {f.message}\n"
        for f in report.findings
    )
