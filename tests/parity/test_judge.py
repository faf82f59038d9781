"""Log-probs of one row: what is counted in C agrees with counting one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from reviewbot.parity.judge import Judged, Limits, judged
from reviewbot.parity.rows import Row

FINITE = ["0.0", "-0.0", "-1.0", "-1.0000001", "-1.5"]
NOISE = 0.01


def rows(words: list[str]):
    """Pairs of values, each NaN another object as in what is read from a file, and a mask."""
    value = some.sampled_from(words).map(float)
    return some.lists(some.tuples(value, value, some.sampled_from([0, 1, 0.5])), min_size=1, max_size=300)


def compared(
    values: list[tuple[float, float, float]], masked: bool
) -> tuple[Judged, list[tuple[int, float]]]:
    """The outcome of judging, and the trained places where the two differ, with their gaps."""
    one, other, mask = (list(column) for column in zip(*values, strict=True))
    both = (
        Row(token_ids=[0] * len(values), loss_mask=mask if masked else None, logprobs=column)
        for column in (one, other)
    )
    apart = [
        (at, abs(a - b)) for at, (a, b, weight) in enumerate(values) if a != b and (weight or not masked)
    ]
    return judged(*both, Limits(noise=NOISE)), apart


@settings(max_examples=400, deadline=None)
@given(rows(FINITE), some.booleans())
def test_gaps_are_those_of_trained_tokens(values, masked):
    found, apart = compared(values, masked)
    assert found.logprobs is not None
    assert found.logprobs.largest == max((gap for _, gap in apart), default=0.0)
    assert [difference.at for difference in found.differences] == [at for at, gap in apart if gap > NOISE][:1]


@settings(max_examples=400, deadline=None)
@given(rows([*FINITE, "-inf", "nan"]), some.booleans())
def test_tokens_are_counted_whatever_their_log_probs(values, masked):
    found, apart = compared(values, masked)
    tokens = sum(bool(weight) or not masked for _, _, weight in values)
    assert found.logprobs is not None
    assert (found.logprobs.tokens, found.logprobs.identical) == (tokens, tokens - len(apart))


def test_the_trainers_log_probs_are_near_one_by_one():
    apart = [-1.0 + 0.009 * (at % 2) for at in range(400)]
    both = [
        Row(token_ids=[0] * 400, loss_mask=[1] * 400, prev_logprobs=values)
        for values in ([-1.0] * 400, apart)
    ]
    assert judged(*both, Limits(noise=NOISE)).differences == ()
    apart[7] = -1.02
    (difference,) = judged(*both, Limits(noise=NOISE)).differences
    assert (difference.field, difference.at) == ("prev_logprobs", 7)
