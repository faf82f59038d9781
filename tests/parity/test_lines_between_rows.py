"""A log holds more than rows: what it says of a step between them is no row, and never a difference."""

from __future__ import annotations

import json

import pytest


def row(sample, **more):
    return {
        "step": 3,
        "prompt": 7,
        "sample": sample,
        "token_ids": [5, 6, 8 + sample],
        "loss_mask": [0, 1, 1],
        "logprobs": [-0.5, -1.0, -2.0 - sample],
        "reward": float(sample),
        **more,
    }


MEASURED = {"kind": "metric", "step": 3, "loss": 0.25}


@pytest.fixture
def compared(tmp_path, reviewbot):
    """Compares two logs, given as lists of records."""

    def compare(reference, restored, *options):
        for name, records in (("reference", reference), ("restored", restored)):
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        ran = reviewbot(
            "parity", "compare", "reference.jsonl", "restored.jsonl", "--output-format", "json", *options,
            cwd=tmp_path,
        )  # fmt: skip
        return json.loads(ran.out)

    return compare


def test_what_is_measured_between_the_rows_is_left_out_and_told(compared):
    result = compared([row(0), row(1), MEASURED], [row(0), MEASURED, row(1), MEASURED])
    assert (result["verdict"], result["rows"]) == ("pass", 2)
    (told,) = [one for one in result["could_not_notice"] if "no field of a row" in one]
    assert told.endswith("1 of the reference run and 2 of the restored run were left out")


def test_so_it_is_where_columns_have_other_names(compared):
    records = [{"tokens" if key == "token_ids" else key: v for key, v in row(n).items()} for n in range(2)]
    result = compared([*records, MEASURED], [*records, MEASURED], "--map", "token_ids=tokens")
    assert (result["verdict"], result["rows"]) == ("pass", 2)


def test_a_row_that_lost_its_tokens_is_still_a_row(compared):
    lost = row(1) | {"token_ids": None, "logprobs": None, "loss_mask": None}
    result = compared([row(0), row(1), MEASURED], [row(0), lost, MEASURED])
    assert result["verdict"] == "fail"
    assert result["failures"][0]["field"] == "token_ids"


def test_nothing_is_told_of_lines_that_are_not_there(compared):
    result = compared([row(0), row(1)], [row(0), row(1)])
    assert not [one for one in result["could_not_notice"] if "no field of a row" in one]
