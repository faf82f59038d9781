"""Findings as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), which code scanners exchange.

A finding's steps are a code flow, its certainty the level; the fingerprint keeps it the same when lines move.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from reviewbot import __version__
from reviewbot.lint import registry
from reviewbot.lint.fixes import first_on_their_lines
from reviewbot.lint.results import Report
from reviewbot.model import Certainty, Edit, Finding, Fix, Step
from reviewbot.render import catches
from reviewbot.render.inert import spelled
from reviewbot.source.permalink import quoted

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: dict[Certainty, str] = {"proved": "error", "likely": "warning", "question": "note"}


def encode(report: Report, rules: Sequence[str]) -> str:
    """A log of one run in which `rules` were looked for."""
    ids = sorted({*rules, *(finding.rule for finding in report.findings)})
    known = set(registry.rule_ids())
    run = {
        "tool": {
            "driver": {
                "name": "reviewbot",
                "semanticVersion": __version__,
                "rules": [_rule(rule) if rule in known else {"id": rule} for rule in ids],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.failures,
                "toolExecutionNotifications": list(_notifications(report)),
            }
        ],
        "results": [
            _result(finding, ids.index(finding.rule), fixed=fixed)
            for finding, fixed in zip(report.findings, first_on_their_lines(report.findings), strict=True)
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return spelled(json.dumps(log, indent=2, ensure_ascii=False), backslash="\\\\") + "\n"


def _rule(rule: str) -> dict[str, Any]:
    return {
        "id": rule,
        "shortDescription": {"text": registry.first_sentence(rule)},
        "fullDescription": {"text": " ".join(registry.section(rule, "Why").split())},
        "help": {"text": " ".join(registry.section(rule, "Instead").split())},
    }


def _result(finding: Finding, rule_index: int, *, fixed: bool) -> dict[str, Any]:
    """With its fix if it is to be `fixed`: who applies all fixes of a log does not find two for one line."""
    span = finding.span
    says = [finding.message, *(f"still catches it: {catch}" for catch in catches.told(finding))]
    place = _place(span.path, span.line, span.column, span.end_line, span.end_column)
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.certainty],
        "message": {"text": "\n".join(says)},
        "locations": [
            {
                **place,
                "logicalLocations": [{"fullyQualifiedName": finding.unit}] if finding.unit else [],
            }
        ],
        "partialFingerprints": {"reviewbot/v1": finding.fingerprint},
        "properties": {"certainty": finding.certainty},
    }
    # A log speaks of one version of each file: places of the base are in none.
    steps = [_step(step) for step in finding.steps if not step.base]
    if steps:
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.fix is not None and fixed:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _step(step: Step) -> dict[str, Any]:
    place = {**_place(step.path, step.line, 1, step.end_line, None), "message": {"text": step.says}}
    return {"location": place}


def _place(path: str, line: int, column: int, end_line: int, end_column: int | None) -> dict[str, Any]:
    region = {"startLine": line, "startColumn": column, "endLine": end_line}
    if end_column is not None:
        region["endColumn"] = end_column
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": region}}


def _uri(path: str) -> str:
    return quoted(path)


def _fix(fix: Fix) -> dict[str, Any]:
    paths = sorted({edit.path for edit in fix.edits})
    return {
        "description": {"text": fix.says},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(path)},
                "replacements": [_replacement(edit) for edit in fix.edits if edit.path == path],
            }
            for path in paths
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    # From the start of its first line to the start of the line after its last.
    region = {"startLine": edit.line, "startColumn": 1, "endLine": edit.end_line + 1, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _notifications(report: Report) -> Iterable[dict[str, Any]]:
    for unread in report.unread:
        yield _notification("warning", f"not read: {unread.why}", unread.path, unread.line)
    for failure in report.failures:
        yield _notification("error", f"rule {failure.rule}: {failure.why}", failure.path, failure.line)


def _notification(level: str, says: str, path: str, line: int | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if line:
        physical["region"] = {"startLine": line}
    return {"level": level, "message": {"text": says}, "locations": [{"physicalLocation": physical}]}
