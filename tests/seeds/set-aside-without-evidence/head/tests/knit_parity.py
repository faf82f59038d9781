"""Compares the panels of a run that was torn off in the middle with those of a calm one."""

import re

WENT_ON = re.compile(r"went on call=(\S+) kept=(\d+) knitted=(\d+) total=(\d+)")


def first_difference(left, right):
    return next((n for n, (a, b) in enumerate(zip(left, right)) if a != b), None)


def set_aside(calm, torn, tears):
    aside = set()
    for key, tear in tears.items():
        at = first_difference(calm[key]["stitches"], torn[key]["stitches"])
        if at is not None and at >= tear["last_call"]:
            aside.add(key)
    if tears and len(aside) == len(tears):
        raise AssertionError("every torn panel was set aside")
    return aside


def compare(calm, torn, tears):
    aside = set_aside(calm, torn, tears)
    for key, left in calm.items():
        if key in aside:
            continue
        for field in ("stitches", "yarn"):
            if left[field] != torn[key][field]:
                raise AssertionError(f"{key}: {field} differs")


def check_tears(tears, finished):
    for tear in tears.values():
        done = next(event for event in finished if event["call"] == tear["call"])
        if done["stitches"][: tear["kept"]] != tear["on_needles"]:
            raise AssertionError(f"{tear['call']} went on with other stitches")


def check_line(line):
    match = WENT_ON.search(line)
    assert match is not None
    if int(match[2]) <= 0:
        raise AssertionError("nothing was kept")
    return match[1]


def check_panels(panels):
    assert len(panels) == 24
    assert len({panel["yarn"] for panel in panels}) > 1
    assert len(panels) > 0
