"""Which checks decide: tiers of "dead" in their only wording, deletions tested as the set that they are."""

from __future__ import annotations

import difflib
import re

import pytest

FINISH = "product/worker.py::finish_restored_call"
ADVANTAGES = "product/worker.py::add_advantages"
SUM, START, ADVANTAGE = 45, 47, 38


def dead(document):
    return {one["line"]: one for one in document["dead"]}


def numbers(text):
    return [int(word) for word in re.findall(r"\d+", text)]


def test_a_sum_that_the_producer_makes_is_dead_only_when_its_code_was_run(probed, restore):
    _, free = probed(restore, "tests/parity.py::compare")
    assert SUM not in dead(free)
    (check,) = [one for one in free["checks"] if one["line"] == SUM]
    assert check["alone"] > 0
    _, coherent = probed(restore, "tests/parity.py::compare", "--producer", FINISH)
    found = dead(coherent)[SUM]
    assert found["tier"] == 3
    assert re.fullmatch(
        r"can't fire on what `product/worker.py:6` writes: \d+ edits with that code re-run", found["says"]
    )


def test_witnesses_that_were_not_asked_for_are_not_said_to_be_none(reviewbot, restore):
    ran = reviewbot("probe", "tests/parity.py::compare", "--kill-matrix", cwd=restore)
    assert ran.code == reviewbot("probe", "tests/parity.py::compare", cwd=restore).code
    assert re.match(r"tests/parity.py::compare: \d+ changes tried, \d+ passed\n", ran.out)
    assert "no witness" not in ran.out


def test_a_derivation_that_is_only_stated_proves_nothing(probed, restore):
    _, document = probed(restore, "tests/parity.py::compare", "--producer", "tests/standin.py::cut_of")
    assert all(one["tier"] <= 2 for one in document["dead"])
    assert document["derivations"] == [
        "prefix_start: written by cut_of at tests/standin.py:4, re-run; it stands beside the tests, so it is "
        "only stated"
    ]


def test_a_derived_field_is_compared_in_vain_and_the_checks_that_still_catch_it_are_named(probed, restore):
    _, free = probed(restore, "tests/parity.py::compare")
    (check,) = [one for one in free["checks"] if one["line"] == ADVANTAGE]
    assert check["alone"] > 0
    producers = ("--producer", FINISH, "--producer", ADVANTAGES)
    _, document = probed(restore, "tests/parity.py::compare", *producers)
    found = dead(document)[ADVANTAGE]
    assert found["tier"] == 2
    for name in ("[reward]", "[loss_mask]"):
        assert name in found["says"]


@pytest.mark.slow
def test_a_field_that_is_constant_on_these_inputs_is_asked_about(probed, restore):
    file = restore / "tests" / "test_parity.py"
    file.write_text(file.read_text().replace('"reward": 0.0', '"reward": 1.0'))
    _, document = probed(restore, "tests/parity.py::compare")
    assert any("advantages" in question for question in document["questions"])


def test_dead_one_at_a_time_is_not_dead_together(probed, restore):
    producers = ("--producer", FINISH, "--producer", ADVANTAGES)
    _, document = probed(restore, "tests/parity.py::compare", *producers)
    off, survive, noticed = numbers(document["joint"])
    assert off > 1
    assert 0 < survive < noticed
    assert "group_id changed" in document["joint_survive"]
    assert 0 < len(document["sufficient"]) < document["all_checks"]
    # The offered set notices everything: what it leaves out goes, and nothing survives.
    kept = {one["line"] for one in document["sufficient"]}
    gone = {one["line"] for one in document["checks"] if one["fires"]} - kept
    assert ADVANTAGE in gone


def test_what_would_still_be_caught_without_a_check(probed, restore):
    _, document = probed(restore, "tests/parity.py::compare", "--drop", "L24")
    reduced = document["reduced"]
    assert reduced["unchanged_passes"]
    assert reduced["survive"]
    assert all("row" in one for one in reduced["survive"])
    _, document = probed(restore, "tests/parity.py::compare", "--drop", "L43")
    assert document["reduced"]["survive"] == []


def test_what_a_patch_catches_and_loses(probed, restore, reviewbot):
    file = restore / "tests" / "parity.py"
    before = file.read_text()
    mended = before.replace("if abs(a - b) > atol:", "if not abs(a - b) <= atol:")
    assert mended != before
    lines_before, lines_after = before.splitlines(True), mended.splitlines(True)
    diff = "".join(difflib.unified_diff(lines_before, lines_after, "a/tests/parity.py", "b/tests/parity.py"))
    (restore / "fix.diff").write_text(diff)
    _, document = probed(restore, "tests/parity.py::compare", "--patch", "fix.diff")
    assert file.read_text() == before
    assert document["reduced"]["survive"] == []
    assert all("NaN" in one for one in document["reduced"]["now_noticed"])
    assert document["reduced"]["now_noticed"]
    ran = reviewbot("probe", "tests/parity.py::compare", "--drop", "L3", cwd=restore)
    assert ran.code == 3
    assert "no check of tests/parity.py" in ran.err


def test_a_nan_passes_and_an_infinite_number_does_not(probed, restore):
    code, document = probed(restore, "tests/parity.py::compare")
    assert code == 1
    nan = [one for one in document["witnesses"] if one["why"] == "nan"]
    assert [one["changes"][0]["after"] for one in nan] == ["nan"]
    assert (nan[0]["caught_elsewhere"], nan[0]["numbers_caught"] > 0) == (0, True)
    assert any("is infinite" in kill["edit"] for kill in document["kills"])


def test_an_excuse_that_the_passing_run_never_took_is_said(probed, restore):
    _, document = probed(restore, "tests/parity.py::compare")
    assert {"path": "tests/parity.py", "line": 27, "times": 0} in document["excuses_taken"]


def test_the_mended_check_has_no_witness(probed, restore):
    file = restore / "tests" / "parity.py"
    text = file.read_text().replace("if abs(a - b) > atol:", "if not abs(a - b) <= atol:")
    start, end = text.index("        if index in excused:"), text.index("        for field in EXACT:")
    file.write_text(text[:start] + text[end:])
    code, document = probed(restore, "tests/parity.py::compare")
    assert (code, document["witnesses"]) == (0, [])
    assert document["passed"] > 0


@pytest.mark.parametrize("word", ["107x", "L9-", "line 3"])
def test_lines_to_drop_are_written_in_one_way(reviewbot, restore, word):
    ran = reviewbot("probe", "tests/parity.py::compare", "--drop", word, cwd=restore)
    assert ran.code == 2
    assert "L107" in ran.err
