"""Plays the same episodes without a stop and with one, and requires the same rows of both runs.

Run it with `python tests/resume_parity.py` from the root of the repository.
"""

import sys

sys.path.insert(0, ".")

from robot import recorder
from robot.episode import play
from robot.resume import resume, stop

SEED, EPISODES = 20, 6
FIELDS = ("tokens", "sampled", "score")


def by_episode(rows):
    """The rows of a run by episode. Each episode is trained on once."""
    index = {}
    for row in rows:
        if row["episode"] in index:
            raise AssertionError(f"episode {row['episode']} was recorded twice")
        index[row["episode"]] = row
    return index


def compare_rows(baseline, resumed):
    """Every field of every row must be the same."""
    left, right = by_episode(baseline), by_episode(resumed)
    if left.keys() != right.keys():
        raise AssertionError("the runs recorded different episodes")
    for episode, row in left.items():
        for field in FIELDS:
            if row[field] != right[episode][field]:
                raise AssertionError(f"episode {episode}: {field} differs")


def check(baseline, resumed):
    compare_rows(baseline, resumed)


def run():
    """The rows of both runs, and how many moves each stopped episode had kept."""
    kept = {number: number % 3 for number in range(EPISODES)}
    played = {number: play(SEED, number) for number in range(EPISODES)}
    baseline = [recorder.row(number, *episode) for number, episode in played.items()]
    resumed = [
        recorder.row(number, *resume(SEED, number, stop(*played[number][:2], kept[number])))
        for number in range(EPISODES)
    ]
    return baseline, resumed, kept


def main():
    baseline, resumed, kept = run()
    check(baseline, resumed)
    print(f"{len(baseline)} episodes, {len(kept)} of them stopped and resumed: the same rows")


if __name__ == "__main__":
    main()
