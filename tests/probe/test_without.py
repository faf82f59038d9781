"""What a changed file would no longer catch."""

from __future__ import annotations

import pytest

from reviewbot.errors import ProbeError
from reviewbot.probe.without import loss

COUNT = """    if len(baseline) != len(restored):
        raise AssertionError("row counts differ")
"""
TAIL = """    if cut["tail_tokens"] <= 0:
        raise AssertionError("no new token")
"""


def without(restore, text):
    """The loss of the restore case's parity check with some lines gone."""
    content = (restore / "tests/parity.py").read_text()
    assert text in content
    changed = {"tests/parity.py": content.replace(text, "")}
    return loss(restore, "tests/parity.py", ["compare_rows", "check_cut"], changed, seconds=60)


@pytest.mark.slow
def test_a_check_that_alone_catches_something_is_missed(restore):
    found = without(restore, COUNT)
    assert found.entry == "tests/parity.py::compare"
    assert found.passes
    assert any("row" in name for name in found.survive)
    assert 0 < len(found.survive) < found.tried


@pytest.mark.slow
def test_what_others_catch_too_survives_nothing(restore):
    content = (restore / "tests/parity.py").read_text()
    changed = {"tests/parity.py": content.replace(COUNT, COUNT + COUNT)}
    (restore / "tests/parity.py").write_text(changed["tests/parity.py"])
    found = loss(restore, "tests/parity.py", ["compare_rows"], {"tests/parity.py": content}, seconds=60)
    assert (found.survive, found.passes) == ((), True)


def test_a_check_that_no_test_reaches_is_not_judged(restore):
    (restore / "tests/lonely.py").write_text("def lonely(rows):\n    assert rows\n")
    with pytest.raises(ProbeError, match="no test of this repository mentions"):
        loss(
            restore,
            "tests/lonely.py",
            ["lonely"],
            {"tests/lonely.py": "def lonely(rows):\n    pass\n"},
            seconds=5,
        )
