"""An excuse that opens only where two fields of a row are changed at once."""

from __future__ import annotations

import pytest

LEDGER = """\
def orders():
    return [{"id": n, "status": "paid", "lines": [3, 4, 5, n], "note": None} for n in range(5)]
"""
TEST = """\
from ledger import orders
from tests.parity import compare


def test_again():
    compare(orders(), orders())
"""
CHECK = """\
LEAST = 2


def compare(ledger, again):
    assert len(ledger) == len(again)
    for one, two in zip(ledger, again):
{body}
"""
JOINED = """\
        if two["status"] == "void" and len(two["lines"]) < 2:
            continue
        assert one == two, one["id"]"""
NESTED = """\
        lines, status = two["lines"], two.get("status")
        state = two["status"]
        if state in ("void", "returned"):
            if len(two["lines"]) < LEAST:
                continue
        assert one == two, one["id"]"""
GUARDED = """\
        if two["status"] != "void" or len(two["lines"]) >= LEAST:
            assert one == two, one["id"]"""
RAISING = """\
        if two["status"] == "void" and len(two["lines"]) < 2:
            raise AssertionError("a void order has lost its lines")
        assert one == two, one["id"]"""
FLAGGED = """\
        if {row}["status"] == "void" and len({row}["lines"]) < 2:
            continue
        assert one["lines"] == two["lines"], one["id"]"""
EITHER = """\
        if two["status"] == "void":
            continue
        assert one == two, one["id"]"""


@pytest.fixture
def ledger(tmp_path):
    def made(body):
        (tmp_path / "pyproject.toml").touch()
        (tmp_path / "ledger.py").write_text(LEDGER)
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "__init__.py").touch()
        (tmp_path / "tests" / "parity.py").write_text(CHECK.format(body=body))
        (tmp_path / "tests" / "test_ledger.py").write_text(TEST)
        return tmp_path

    return made


@pytest.mark.parametrize("body", [JOINED, NESTED, GUARDED], ids=["and", "nested", "guard"])
def test_a_branch_that_two_changes_open_has_a_witness_of_both(probed, ledger, body):
    code, document = probed(ledger(body), "tests/parity.py::compare")
    assert code == 1
    (witness,) = [one for one in document["witnesses"] if one["why"] == "excuse"]
    status, lines = witness["changes"]
    assert (status["where"], lines["where"]) == ("again[0].status", "again[0].lines")
    assert status["after"] in ("void", "returned") and len(lines["after"]) < 2
    assert "status" in witness["escapes"][0]["text"] or "lines" in witness["escapes"][0]["text"]
    assert 0 < document["passed"] < document["edits_tried"]


@pytest.mark.parametrize("side", ["again", "ledger"])
def test_a_flag_that_only_the_branch_reads_is_the_tested_side_s_excuse_alone(probed, ledger, side):
    body = FLAGGED.format(row="two" if side == "again" else "one")
    code, document = probed(ledger(body), "tests/parity.py::compare")
    joint = [one for one in document["witnesses"] if len(one["changes"]) > 1]
    assert (code, len(joint)) == (1, side == "again"), "the flag itself is never compared"
    for witness in joint:
        status, lines = witness["changes"]
        assert (status["after"], lines["where"]) == ("void", "again[0].lines")


@pytest.mark.parametrize("body", [RAISING, EITHER], ids=["both caught", "one is enough"])
def test_no_pair_is_told_where_both_are_noticed_or_one_alone_passes(probed, ledger, body):
    _, document = probed(ledger(body), "tests/parity.py::compare")
    assert not any(len(one["changes"]) > 1 for one in document["witnesses"])
