"""Rows that a check treats apart from others of their structure, wherever what opens the branch stands."""

from __future__ import annotations

import re
import textwrap

import pytest

CHECK = """
def compare(sown, reaped, {parameter}):
    assert len(sown) == len(reaped)
    for number, (one, other) in enumerate(zip(sown, reaped)):
        assert one["field"] == other["field"]
        if {condition}:
            assert one["seeds"][:1] == other["seeds"][:1]
            continue
        assert one["seeds"] == other["seeds"]
"""
TEST = """
from harvest import compare


def test_nothing_is_lost():
    names = ("dale", "hill", "wood")
    sown = [{{"field": name, "seeds": [3 + at, 5, 8, 13]}} for at, name in enumerate(names)]
    compare(sown, [dict(row) for row in sown], {given})
"""


@pytest.mark.parametrize(
    ("parameter", "condition", "given", "row"),
    [
        ("fallow", "number in fallow", "{1}", 1),
        ("fallow", "one['field'] in fallow", "['wood']", 2),
        ("last", "number == last", "2", 2),
        ("rest", "sum(one['seeds']) % rest == 0", "30", 1),
    ],
)
def test_a_row_that_is_excused_is_changed_too(probed, tmp_path, parameter, condition, given, row):
    (tmp_path / "harvest.py").write_text(CHECK.format(parameter=parameter, condition=condition))
    (tmp_path / "test_harvest.py").write_text(textwrap.dedent(TEST.format(given=given)))
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    code, document = probed(tmp_path, "harvest.py::compare")
    assert code == 1
    witness = document["witnesses"][0]
    (change,) = witness["changes"]
    *at, position = change["edit"][1]
    assert at == ["reaped", row, "seeds"]
    assert position >= 1
    assert witness["why"] == "excuse"


@pytest.mark.parametrize(("given", "rows"), [("set()", {0}), ("{2}", {0, 2})])
def test_of_rows_that_are_treated_alike_one_is_changed(probed, tmp_path, given, rows):
    (tmp_path / "harvest.py").write_text(CHECK.format(parameter="fallow", condition="number in fallow"))
    (tmp_path / "test_harvest.py").write_text(textwrap.dedent(TEST.format(given=given)))
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    _, document = probed(tmp_path, "harvest.py::compare", "--kill-matrix")
    changed = {row["edit"].partition(": ")[2].partition(" ")[0] for row in document["kills"]}
    assert {place for place in changed if re.fullmatch(r"reaped\[\d\]\.field", place)} == {
        f"reaped[{row}].field" for row in rows
    }
