"""What a round changed, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reviewbot.model import Review, Round, Standing

NAMED = 20  # ids that it names of each kind


def changed(review: Review) -> str:
    """What the last round changed, such as `Since round 1: fixed 14 of 15 (C1, …), 1 still open.`; "" for the
    first."""
    threads = [Standing(one.id, one.state, one.since, one.lapsed) for one in review.threads]
    settled = [Standing(one.id, one.state, one.since) for one in review.settled]
    return _said(review.rounds[-1].number, threads, settled)


def changed_in(one: Round, before: Round | None = None) -> str:
    """The same of any round, as far as it was recorded. `before` is the round that it is held against, by
    default the one before it."""
    return _said(one.number, one.standing, (), before.number if before else None) if one.standing else ""


def _said(
    number: int, threads: Sequence[Standing], settled: Sequence[Standing], against: int | None = None
) -> str:
    if number == 1:
        return ""
    every = [*threads, *settled]
    by_state: Mapping[str, list[str]] = {
        state: [one.id for one in every if one.state == state and one.since == number]
        for state in ("fixed", "gone", "new", "back", "dismissed")
    }
    lapsed = [one.id for one in threads if one.lapsed and one.since == number and one.state == "open"]
    still = [one.id for one in threads if one.state == "open" and one.id not in lapsed]
    unknown = [one.id for one in settled if one.state == "open"]
    before = [*by_state["fixed"], *by_state["gone"], *by_state["dismissed"], *still, *unknown]
    parts = []
    if before:
        parts.append(f"fixed {len(by_state['fixed'])} of {len(before)}{_named(by_state['fixed'])}")
    for state, says in (
        ("gone", "gone with the code"),
        ("dismissed", "dismissed"),
        ("new", "new"),
        ("back", "back"),
    ):
        if by_state[state]:
            parts.append(f"{len(by_state[state])} {says}{_named(by_state[state])}")
    if lapsed:
        parts.append(f"{len(lapsed)} open again since the dismissed code changed{_named(lapsed)}")
    if still:
        parts.append(f"{len(still)} still open")
    if unknown:
        parts.append(f"{len(unknown)} not looked at{_named(unknown)}")
    return f"Since round {against or number - 1}: {', '.join(parts) or 'nothing changed'}."


def _named(names: Iterable[str]) -> str:
    listed = list(names)
    if not listed:
        return ""
    more = ", …" if len(listed) > NAMED else ""
    return f" ({', '.join(listed[:NAMED])}{more})"
