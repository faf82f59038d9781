"""A row made from a nearly equal line is the row that reading the whole line gives."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as some

from reviewbot.parity.dumps.nemo_rl import NemoRL
from reviewbot.parity.dumps.plain import Plain

LENGTH = 6
NUMBERS = {
    "token_ids": some.integers(0, 12), "loss_mask": some.sampled_from([0, 1]),
    "logprobs": some.sampled_from([0, -1.5, -0.25, -11]), "prev_logprobs": some.sampled_from([0, -1.5]),
    "advantages": some.sampled_from([0.5, -0.5]),
}  # fmt: skip
COLUMNS = {"loss_mask": "token_loss_mask", "logprobs": "generation_logprobs"}


@some.composite
def two(draw) -> tuple[dict, dict]:
    """A row, and one that differs from it in a few numbers, or in how many there are."""
    one = {name: draw(some.lists(of, min_size=LENGTH, max_size=LENGTH)) for name, of in NUMBERS.items()}
    other = {name: [*values] for name, values in one.items()}
    for _ in range(draw(some.integers(0, 3))):
        name = draw(some.sampled_from(sorted(NUMBERS)))
        at = draw(some.integers(0, len(other[name])))
        other[name][at : at + draw(some.integers(0, 2))] = draw(some.lists(NUMBERS[name], max_size=2))
    return one, other


def nemo(made: dict, length: int) -> dict:
    return {
        "input_lengths": [length], "rewards": [1.0], "idx": [3],
        **{COLUMNS.get(name, name): [values] for name, values in made.items()},
    }  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(two(), some.integers(1, LENGTH + 1), some.sampled_from([(",", ":"), (", ", ": ")]))
def test_both_ways_of_reading_agree(rows, length, separators):
    lines = [json.dumps(nemo(made, length), separators=separators).encode() for made in rows]
    same(NemoRL(), *lines)
    lines = [json.dumps({"step": 1, "prompt": 3, "sample": 0, **made}, separators=separators).encode()
             for made in rows]  # fmt: skip
    same(Plain(), *lines)


def same(form: NemoRL | Plain, known: bytes, line: bytes) -> None:
    row = form.row(known)
    before = form.row(known)
    assert form.like(row, known, line) in (None, form.row(line))
    assert row == before


def test_a_number_that_is_another_one_is_read_so():
    made = {name: [1] * LENGTH for name in NUMBERS}
    known = json.dumps(nemo(made, LENGTH)).encode()
    line = known.replace(b'"generation_logprobs": [[1, 1, 1', b'"generation_logprobs": [[1, 1, -7.5')
    form = NemoRL()
    found = form.like(form.row(known), known, line)
    assert found is not None
    assert found.logprobs == [1, 1, -7.5, 1, 1, 1]
