"""Compares an uninterrupted forecast with one that was resumed after a power cut."""

import argparse
import json
from pathlib import Path

EXACT = ("hours", "loss_mask", "error", "weight")
EXACT_IF_EXCUSED = ("error", "weight")


def load(path):
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    found = {(row["day"], row["station"]): row for row in rows}
    if len(found) != len(rows):
        raise AssertionError("a station was forecast twice on one day")
    return found


def explain(calm, stormy, saved):
    """Where two forecasts part, and whether chance before the power cut can be the reason."""
    places = range(min(len(calm["hours"]), len(stormy["hours"])))
    first = next((at for at in places if calm["hours"][at] != stormy["hours"][at]), None)
    if first is None:
        return {"kind": "same"}
    start = calm["loss_mask"].index(1)
    saved_end = stormy["resumed_at"] + saved
    if start <= first < saved_end:
        return {"kind": "before_cut", "first": first}
    return {"kind": "after_cut", "first": first}


def compare(calm, stormy, excused=frozenset()):
    if calm.keys() != stormy.keys():
        raise AssertionError("the runs forecast different stations")
    if not calm:
        raise AssertionError("nothing was forecast")
    for key in calm:
        left, right = calm[key], stormy[key]
        if key in excused:
            # Chance before the cut: the error and the weight must agree all the same.
            for field in EXACT_IF_EXCUSED:
                if left[field] != right[field]:
                    raise AssertionError(f"{key}: {field} differs")
            continue
        for field in EXACT:
            if left[field] != right[field]:
                raise AssertionError(f"{key}: {field} differs")


def check(calm, stormy, saved):
    """Requires the same rows; `saved` gives how many drawn hours of a station the power cut had left."""
    reasons = {key: explain(calm[key], stormy[key], hours) for key, hours in saved.items()}
    excused = frozenset(key for key, why in reasons.items() if why["kind"] == "before_cut")
    compare(calm, stormy, excused)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("calm")
    parser.add_argument("stormy")
    parser.add_argument("saved")
    options = parser.parse_args()
    saved = {tuple(key): hours for key, hours in json.loads(Path(options.saved).read_text())}
    check(load(options.calm), load(options.stormy), saved)


if __name__ == "__main__":
    main()
