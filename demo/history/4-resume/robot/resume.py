"""Goes on with an episode that was stopped in the middle of a turn."""

import logging

from robot.corridor import CELLS, SIGHT, Corridor
from robot.episode import MOVES, TURNS, draw

log = logging.getLogger(__name__)


def stop(tokens, sampled, kept):
    """What a checkpoint keeps of an episode that is stopped after `kept` moves of its last turn."""
    end = len(tokens) - MOVES + kept
    return {"tokens": tokens[:end], "sampled": sampled[:end]}


def resume(seed, number, saved):
    """Replays what was kept and plays the rest. Returns what `play` returns."""
    corridor = Corridor(parcel=1 + number % (CELLS - 1))
    tokens, sampled = list(saved["tokens"]), list(saved["sampled"])
    for token, chosen in zip(tokens, sampled, strict=True):
        if chosen:
            corridor.move(token)
    assert tokens[0] == SIGHT + corridor.parcel, "the checkpoint is of another episode"

    kept = sum(sampled) - (TURNS - 1) * MOVES
    fresh = 0
    while kept + fresh < MOVES:
        token = draw(seed, number, len(tokens))
        corridor.move(token)
        tokens.append(token)
        sampled.append(1)
        fresh += 1
    log.info("resumed episode=%d kept=%d fresh=%d total=%d", number, kept, fresh, kept + fresh)
    return tokens, sampled, corridor.score()
