"""Noise that depends on what is sampled alone, and samples as the softmax does."""

from __future__ import annotations

import numpy
import pytest

from reviewbot.parity import noise

LOGITS = numpy.log(numpy.array([0.5, 0.25, 0.15, 0.08, 0.02]))


def test_the_argmax_of_noised_logits_is_drawn_as_from_the_softmax():
    drawn = [int((LOGITS + noise.gumbel(1, "row", position, 5)).argmax()) for position in range(20_000)]
    shares = numpy.bincount(drawn, minlength=5) / len(drawn)
    # Four standard deviations of the largest share.
    assert abs(shares - numpy.exp(LOGITS)).max() < 4 * (0.25 / len(drawn)) ** 0.5


def test_the_noise_of_a_few_entries_is_that_of_the_whole_vocabulary():
    whole = noise.gumbel(3, "1-2-3", 17, 151_936)
    some = numpy.array([0, 1, 77, 4_096, 151_935])
    assert (noise.at(noise.key(3, "1-2-3", 17), some) == whole[some]).all()
    assert numpy.isfinite(whole).all()


@pytest.mark.parametrize("other", [(4, "1-2-3", 17), (3, "1-2-4", 17), (3, "1-2-3", 18)])
def test_seed_row_and_position_each_change_all_of_it(other):
    ours, theirs = noise.gumbel(3, "1-2-3", 17, 4_096), noise.gumbel(*other, 4_096)
    assert abs(numpy.corrcoef(ours, theirs)[0, 1]) < 4 / 64
    assert (ours == theirs).mean() < 0.01
