"""How much of what `--drop` lets through is listed, and that the rest is counted."""

from __future__ import annotations

import json
import re

CHECK = """\
def compare(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right):
        assert a == b
"""


def test_changes_beyond_those_that_are_listed_are_counted(reviewbot, tmp_path):
    (tmp_path / "rows.py").write_text(CHECK)
    made = [{"step": at, "loss": at * 1.5, "tokens": [at, at + 1]} for at in range(6)]
    (tmp_path / "given.json").write_text(json.dumps({"left": made, "right": made}))
    told = reviewbot("probe", "rows.py::compare", "--example", "given.json", "--drop", "L4").out
    count = re.search(r"without L4: (\d+) of \d+ noticed changes pass", told)
    more = re.search(r"(?m)^  and (\d+) more$", told)
    assert count and more, told
    assert told.count("\n  passes: ") + int(more[1]) == int(count[1])
