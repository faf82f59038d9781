"""Plays one episode: the prompt, a turn of moves, what the robot sees, another turn."""

import random

from robot.corridor import CELLS, LEFT, RIGHT, SIGHT, STAY, Corridor

TURNS = 2
MOVES = 3


def draw(seed, number, position):
    """The move at one place of one episode. Equal arguments draw equal moves, also after a restart."""
    return random.Random(f"{seed}/{number}/{position}").choice((LEFT, STAY, RIGHT, RIGHT))


def play(seed, number):
    """The tokens of an episode, which of them the robot chose, and its score."""
    corridor = Corridor(parcel=1 + number % (CELLS - 1))
    tokens, sampled = [SIGHT + corridor.parcel], [0]
    for turn in range(TURNS):
        for _ in range(MOVES):
            token = draw(seed, number, len(tokens))
            corridor.move(token)
            tokens.append(token)
            sampled.append(1)
        if turn < TURNS - 1:
            tokens.append(corridor.look())
            sampled.append(0)
    return tokens, sampled, corridor.score()
