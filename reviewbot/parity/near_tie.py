"""Whether a sampled token that differs is a near-tie: evidence from both runs, or none.

In bfloat16 the logits of two candidates may round to the same value, or to neighbours, and then the order of
additions decides which is sampled. Of 278 such flips that were measured all had both candidates within 0.0625
of the best in both runs; a wrong token in a prefix seldom has. So a near-tie explains a flip; it is no proof
of a correct restore, and what is exact is judged first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from reviewbot.parity.rows import Row, recorded

CAP = 0.0625  # nats: two steps of bfloat16 at logits from 4 to 8
STEPS = 2
EARLIER = 0.07  # nats: what log-probs before the flip may differ by at most

_Candidates = list[dict[str, float] | None]


@dataclass(frozen=True, slots=True)
class Tie:
    """The two candidates' gaps in both runs, and what they may be."""

    gap_reference: float
    gap_restored: float
    tolerance: float


def step(logit: float) -> float:
    """The distance of neighbouring bfloat16 values at a logit."""
    return math.ldexp(1.0, math.frexp(abs(logit))[1] - 8) if logit else 0.0


def judged(reference: Row, restored: Row, index: int, dtype: str | None) -> Tie | str:
    """The tie at the first different token, or why there is none."""
    assert reference.token_ids is not None and restored.token_ids is not None
    if index >= len(reference.token_ids) or index >= len(restored.token_ids):
        return "one row ends here"
    if reference.loss_mask is None or restored.loss_mask is None:
        return "whether the token was sampled is not known without a loss mask"
    if not (_trained(reference, index) and _trained(restored, index)):
        return "the token was not sampled"
    known = {row.dtype or dtype for row in (reference, restored)}
    if known != {"bfloat16"}:
        named = " and ".join(sorted(str(name) for name in known)) if known != {None} else "unknown"
        return f"only bfloat16 has near-ties, and the dtype is {named}"
    ours, theirs = reference.token_ids[index], restored.token_ids[index]
    measured = []
    for row in (reference, restored):
        at = candidates(row, index)
        if isinstance(at, str):
            return at
        if ours not in at or theirs not in at:
            return "a run did not record both candidates' log-probs"
        best = max(at.values())
        exact = recorded(row.top_logits) and not recorded(row.top_scores)
        tolerance = min(CAP, STEPS * step(best)) if exact and abs(best) < 16 else CAP
        measured.append((best - min(at[ours], at[theirs]), tolerance))
    (gap, first), (other_gap, second) = measured
    tolerance = min(first, second)
    if not (gap <= tolerance and other_gap <= tolerance):
        return (
            f"no near-tie: the candidates are {gap:.4g} and {other_gap:.4g} apart, more than {tolerance:.4g}"
        )
    if (worst := _earlier(reference, restored, index)) > EARLIER:
        return f"log-probs before it differ by {worst:.4g}, more than rounding"
    return Tie(round(gap, 9), round(other_gap, 9), tolerance)


def candidates(row: Row, index: int) -> dict[int, float] | str:
    """The recorded candidates at a position with their scores, or why there are none."""
    raw = next((r for r in (row.top_scores, row.top_logits, row.top_logprobs) if recorded(r)), None)
    if raw is None:
        return "candidates' log-probs were not recorded"
    try:
        positions = msgspec.json.decode(raw, type=_Candidates)
        at = positions[index] if index < len(positions) else None
        found = {int(token): score for token, score in (at or {}).items() if math.isfinite(score)}
    except (ValueError, RecursionError):
        return "candidates' log-probs cannot be read"
    return found or "candidates' log-probs were not recorded here"


def _trained(row: Row, index: int) -> bool:
    return row.loss_mask is not None and index < len(row.loss_mask) and bool(row.loss_mask[index])


def _earlier(reference: Row, restored: Row, index: int) -> float:
    if reference.logprobs is None or restored.logprobs is None or reference.loss_mask is None:
        return 0.0
    pairs = zip(reference.logprobs[:index], restored.logprobs[:index], reference.loss_mask, strict=False)
    worst = 0.0
    for one, other, trained in pairs:
        if trained:
            difference = abs(one - other)
            worst = max(worst, math.inf if math.isnan(difference) else difference)
    return worst
