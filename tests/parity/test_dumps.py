"""Each pair of dumps in cases/dumps gets the verdict that its expected.toml says, with every field."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

DUMPS = Path(__file__).parent.parent / "cases" / "dumps"
CODES = {"pass": 0, "fail": 1, "set_aside": 1, "inconclusive": 3}
SUPERSETS = {"vacuous_fields"}
OF_A_ROW = {"row", "field", "first_difference", "gap_reference", "gap_restored"}


def cases() -> list[Path]:
    found = sorted(path.parent for path in DUMPS.glob("*/expected.toml"))
    assert len(found) == 16
    return found


@pytest.mark.parametrize("case", cases(), ids=lambda path: path.name)
def test_verdict(case, reviewbot):
    expected = tomllib.loads((case / "expected.toml").read_text())
    ran = reviewbot(
        "parity", "compare", case / "reference", case / "restored",
        "--restores", case / "restores.jsonl", "--output-format", "json",
    )  # fmt: skip
    result = json.loads(ran.out)
    assert result["verdict"] == expected.pop("verdict")
    assert ran.code == CODES[result["verdict"]]
    assert len(expected.pop("about")) > 0

    rows = result["failures"] or result["set_aside"]
    for name, value in expected.items():
        if name in OF_A_ROW:
            assert rows[0][name] == value
        elif name in ("reference_token", "restored_token"):
            assert rows[0][name.removesuffix("_token")] == value
        elif name in SUPERSETS:
            assert set(value) <= set(result[name])
        else:
            # reviewbot: ignore[pair-keys-intersect] a case lists only the fields that it is about
            assert result[name] == value
    assert result["could_not_notice"]
