"""Plays the same episodes without a stop and with one, and requires the same rows of both runs.

Run it with `python tests/resume_parity.py` from the root of the repository.
"""

import sys

sys.path.insert(0, ".")

from robot import recorder
from robot.episode import MOVES, play
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


def parting(left, right):
    """The index of the first token that is not the same in both rows, None if all are."""
    for index in range(max(len(left["tokens"]), len(right["tokens"]))):
        if left["tokens"][index : index + 1] != right["tokens"][index : index + 1]:
            return index
    return None


def replayed(row, kept):
    """The stretch of a resumed row that came out of the checkpoint."""
    begin = row["sampled"].index(1)
    last_turn = len(row["sampled"]) - MOVES
    return range(begin, last_turn + kept)


def forgiven(baseline, resumed, kept):
    """The episodes that part from the baseline within what was replayed: rounding may do that."""
    left, right = by_episode(baseline), by_episode(resumed)
    return {
        episode
        for episode, moves in kept.items()
        if parting(left[episode], right[episode]) in replayed(right[episode], moves)
    }


def compare_rows(baseline, resumed, noisy):
    """Every field of every row must be the same; of a noisy row only the score."""
    left, right = by_episode(baseline), by_episode(resumed)
    if left.keys() != right.keys():
        raise AssertionError("the runs recorded different episodes")
    for episode, row in left.items():
        if episode in noisy:
            if row["score"] != right[episode]["score"]:
                raise AssertionError(f"episode {episode}: score differs")
            continue
        for field in FIELDS:
            if row[field] != right[episode][field]:
                raise AssertionError(f"episode {episode}: {field} differs")


def check_scores(baseline, resumed):
    """Both runs must reach as many parcels."""
    left, right = by_episode(baseline), by_episode(resumed)
    reached = sum(row["score"] for row in left.values())
    assert reached == sum(row["score"] for row in right.values()) or "the runs reach different parcels"


def check_kept(resumed, kept):
    """What a checkpoint kept must end on a move that the robot chose."""
    rows = by_episode(resumed)
    for episode in [number for number, moves in kept.items() if moves > MOVES]:
        assert rows[episode]["sampled"][-1] == 1, f"episode {episode} ends on a sight"


def check(baseline, resumed, kept):
    """Everything that is required of a resumed run."""
    compare_rows(baseline, resumed, forgiven(baseline, resumed, kept))
    check_scores(baseline, resumed)
    check_kept(resumed, kept)


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
    check(baseline, resumed, kept)
    print(f"{len(baseline)} episodes, {len(kept)} of them stopped and resumed: the same rows")


if __name__ == "__main__":
    main()
