"""Findings that a probe's evidence shows: its witness passes through the very lines of the finding."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from reviewbot.model import Evidence as Shown
from reviewbot.model import Finding, Review, Thread
from reviewbot.render.finding_page import round_of
from reviewbot.render.probe_document import Evidence, Witness
from reviewbot.render.sources import Sources


def with_evidence(review: Review, evidence: Sequence[Evidence], sources: Sources) -> Review:
    """The review, in which a finding without a run of its own has the first witness that was let through by
    its lines. Evidence counts only if the probed file is byte for byte the head's."""
    if not evidence:
        return review
    return replace(
        review, threads=tuple(_shown(thread, review, evidence, sources) for thread in review.threads)
    )


def _shown(thread: Thread, review: Review, evidence: Sequence[Evidence], sources: Sources) -> Thread:
    finding = thread.finding
    if finding.evidence is not None:
        return thread
    for one in evidence:
        witness = next((witness for witness in one.witnesses if _through(finding, witness)), None)
        if witness is None or not _same_file(one, round_of(thread, review).head, sources):
            continue
        says = f"{', '.join(change.says for change in witness.changes)} passes through the branch"
        document = msgspec.json.encode(witness).decode()
        return replace(thread, finding=replace(finding, evidence=Shown(one.target, says, document=document)))
    return thread


def _through(finding: Finding, witness: Witness) -> bool:
    span = finding.span
    return bool(witness.changes) and any(
        spot.path == span.path and span.line <= spot.line <= span.end_line for spot in witness.escapes
    )


def _same_file(evidence: Evidence, head: str, sources: Sources) -> bool:
    path = evidence.target.partition("::")[0]
    lines = sources.at(head)(path)
    content = "".join(lines or ()).encode("utf-8", "surrogateescape")
    return bool(lines) and hashlib.sha256(content).hexdigest() == evidence.sha256
