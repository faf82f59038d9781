"""Findings as the JSON that scripts rely on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from reviewbot.model import Evidence, Finding
from reviewbot.render.inert import spelled


def as_dict(finding: Finding) -> dict[str, object]:
    """One finding with its span spread out; `fix` is null or `{says, safe, edits}`, `evidence`
    is there where a run confirmed it."""
    span = finding.span
    return {
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "rule": finding.rule,
        "certainty": finding.certainty,
        "message": finding.message,
        "steps": [asdict(step) for step in finding.steps],
        "still_catches": list(finding.still_catches),
        "fingerprint": finding.fingerprint,
        "fix": asdict(finding.fix) if finding.fix else None,
        **({"no_fix": finding.no_fix} if finding.no_fix else {}),
        **({"evidence": _evidence(finding.evidence)} if finding.evidence else {}),
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    """What a run showed: `{entry, says, witness}`, the witness as `reviewbot probe` gives it, or null."""
    witness = json.loads(evidence.document) if evidence.document else None
    return {"entry": evidence.entry, "says": evidence.says, "witness": witness}


def encode(findings: Iterable[Finding]) -> str:
    """A JSON list, one finding an element, ending in a newline."""
    listed = [as_dict(finding) for finding in findings]
    return spelled(json.dumps(listed, indent=2, ensure_ascii=False), backslash="\\\\") + "\n"
