"""`reviewbot probe` through the front door: the difference that passes, and none where there is none."""

from __future__ import annotations

import json

import pytest

EXCUSE = """\
        if index in excused:
            for field in EXCUSED_EXACT:
                if reference[field] != restored[field]:
                    raise AssertionError(f"row {index}: {field} differs")
            continue
"""


def test_the_smallest_difference_that_passes_is_the_token_that_nobody_sampled(probed, weak):
    code, document = probed(weak, "tests/parity.py::main")
    assert code == 1
    (witness,) = document["witnesses"]
    (change,) = witness["changes"]
    assert (change["where"], change["before"], change["after"]) == ("restored_rows[0].token_ids[4]", 30, 77)
    assert {"path": "tests/parity.py", "line": 40, "text": "index in excused"} in witness["escapes"]
    assert witness["strip"]["let_through"] == [2, 7]
    assert witness["strip"]["restored"] == [5, 7]
    assert witness["values"]["classify"]["returned"] == "in_prefix"
    assert witness["values"]["classify"]["difference"] == 4
    assert (witness["caught_elsewhere"], witness["passed_elsewhere"]) == (5, 4)
    assert witness["what_if"].startswith("with the branch at tests/parity.py:40 off, 0 of 20")


def test_what_is_still_caught_is_named_with_the_check_that_catches_it(probed, weak):
    _, document = probed(weak, "tests/parity.py::main")
    caught = {kill["edit"].partition(":")[0]: kill["caught_by"] for kill in document["kills"]}
    field_check = {"path": "tests/parity.py", "line": 46}
    assert field_check in caught["reward changed"]
    assert field_check in caught["sample_mask flipped"]
    assert field_check in caught["token 0 changed"]
    assert field_check in caught["token 7 changed"]
    assert {"path": "tests/parity.py", "line": 37} in caught["row dropped"]
    assert "token 4 changed" not in caught


def test_without_the_excuse_there_is_no_witness(probed, weak):
    file = weak / "tests" / "parity.py"
    text = file.read_text()
    assert EXCUSE in text
    file.write_text(text.replace(EXCUSE, ""))
    code, document = probed(weak, "tests/parity.py::main")
    assert (code, document["witnesses"]) == (0, [])
    assert len(document["kills"]) > 100


def test_the_picture_is_drawn_in_the_terminal(reviewbot, weak):
    ran = reviewbot("probe", "tests/parity.py::main", cwd=weak)
    assert ran.code == 1
    assert "restored_rows   10 11 20 21 77 40 41 42 43 44" in ran.out
    assert "first difference: 4, the tool result" in ran.out


def test_a_check_that_no_test_reaches_is_inconclusive(reviewbot, weak):
    (weak / "tests" / "test_parity.py").unlink()
    ran = reviewbot("probe", "tests/parity.py::main", cwd=weak)
    assert ran.code == 3
    assert "--example" in ran.err


def test_arguments_can_be_given_in_a_file(probed, weak):
    (weak / "tests" / "test_parity.py").unlink()
    row = {"token_ids": [5, 6, 7, 8], "loss_mask": [0, 1, 0, 1], "reward": 0.5, "sample_mask": 1.0}
    arguments = {"reference_rows": [row], "restored_rows": [row], "restored_prefix_lengths": {"0": 1}}
    (weak / "f.json").write_text(json.dumps(arguments))
    code, document = probed(weak, "tests/parity.py::main", "--example", "f.json")
    assert code == 1
    assert document["witnesses"][0]["changes"][0]["where"] == "restored_rows[0].token_ids[2]"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("tests/parity.py::mein", "did you mean 'main'?"),
        ("tests/gone.py::main", "cannot be read"),
        (
            "tests/parity.py",
            "names no file that could be changed: one of its functions is probed as tests/parity.py::",
        ),
    ],
)
def test_a_wrong_target_is_named_with_the_way_out(reviewbot, weak, target, says):
    ran = reviewbot("probe", target, cwd=weak)
    assert ran.code == 2
    assert says in ran.err
