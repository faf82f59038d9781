"""What the engine makes of a row's own tokens in one clean pass: `python -m reviewbot.parity.prefill SPEC`.

A near-tie that both runs show is looked at a third time: the reference's tokens up to the difference go
through the engine as one prompt, with no cache and no restore, and the candidates for the next token are
written down.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from reviewbot.errors import ReviewbotError
from reviewbot.parity import tied, writer
from reviewbot.parity.engines.engine import Request, Settings, started
from reviewbot.parity.result import Failure, Result, SetAside
from reviewbot.parity.rows import Identity

Scores = dict[str, dict[int, float]]  # of the candidates for the token that comes next, by row


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One row: the key of its noise, its tokens up to the difference, the temperature it was sampled at."""

    row: str
    tokens: tuple[int, ...]
    temperature: float


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows, on which engine; `out` gets `Scores`."""

    settings: Settings
    asked: tuple[Asked, ...]
    out: str


def main(words: list[str]) -> int:
    """Asks the engine what a spec file wants to know."""
    tied.to_parent()
    spec = msgspec.json.decode(Path(words[0]).read_bytes(), type=Spec)
    try:
        engine = started(spec.settings)
        for one in spec.asked:
            engine.add(
                Request(
                    call=f"{one.row}-0",
                    row=one.row,
                    tokens=one.tokens,
                    max_tokens=1,
                    stop=frozenset(),
                    temperature=one.temperature,
                )
            )
        scores: Scores = {}
        while engine.busy():
            scores |= {
                piece.call.rpartition("-")[0]: piece.scores[0] for piece in engine.step() if piece.scores
            }
        writer.whole(Path(spec.out), msgspec.json.encode(scores))
    except ReviewbotError as error:
        print(f"reviewbot: {error}", file=sys.stderr)
        return 2
    return 0


def confirmed(result: Result, scores: Mapping[Identity, Mapping[int, float]]) -> Result:
    """The result, where only those rows stay set aside whose two candidates tie in the clean pass too."""
    kept: list[SetAside] = []
    failures: list[Failure] = []
    for row in result.set_aside:
        at = scores.get(row.row, {})
        gap = _gap(at, (row.reference, row.restored))
        if gap is not None and gap <= row.tolerance:
            kept.append(msgspec.structs.replace(row, gap_prefill=round(gap, 9)))
            continue
        said = "not among the best" if gap is None else f"{gap:.4g} apart, more than {row.tolerance:.4g}"
        failures.append(
            Failure(
                row=row.row,
                field="token_ids",
                first_difference=row.first_difference,
                reference=row.reference,
                restored=row.restored,
                why=f"no near-tie: in a clean pass over the {result.sides[0]} run's tokens they are {said}",
                context=row.context,
            )
        )
    if not failures:
        return msgspec.structs.replace(result, set_aside=tuple(kept))
    return msgspec.structs.replace(
        result,
        set_aside=tuple(kept),
        failures=(*result.failures, *failures),
        failures_total=result.failures_total + len(failures),
        verdict="fail",
        why=tuple(failure.why for failure in (*result.failures, *failures)[:3]),
    )


def _gap(at: Mapping[int, float], tokens: Sequence[int]) -> float | None:
    """How far the farther of two tokens is from the best candidate; None where one was not recorded."""
    if any(token not in at for token in tokens):
        return None
    return max(at.values()) - min(at[token] for token in tokens)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
