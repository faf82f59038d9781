"""Runs in which nothing could have differed, or in which it is unknown what should be equal, do not pass."""

from __future__ import annotations

import json

import pytest


def rows(**other: object) -> list[dict]:
    return [
        {"step": step, "prompt": prompt, "sample": at, "token_ids": [7, 8, step + at], "loss_mask": [0, 1, 1],
         "reward": float(at), "logprobs": [-0.5, -1.0, -1.5], **other}
        for step in range(2) for prompt in range(2) for at in range(2)
    ]  # fmt: skip


def without(made: list[dict], *names: str, lines: slice = slice(None)) -> list[dict]:
    """The rows, some of them without these fields."""
    lacking = made[lines]
    return [{n: v for n, v in r.items() if r not in lacking or n not in names} for r in made]


@pytest.fixture
def compare(reviewbot, tmp_path):
    """The exit code, the result, and the text as it is shown."""

    def run(one: list[dict], other: list[dict]) -> tuple[int, dict, str]:
        for side, made in (("one", one), ("other", other)):
            (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
        ran = reviewbot("parity", "compare", "one.jsonl", "other.jsonl", "--output-format", "json")
        shown = reviewbot("parity", "compare", "one.jsonl", "other.jsonl", "-q")
        assert shown.code == ran.code
        return ran.code, json.loads(ran.out), " ".join(shown.out.split())

    return run


@pytest.mark.parametrize(
    ("fields", "other", "says"),
    [
        ({"token_ids": [], "loss_mask": [], "logprobs": []}, {}, "no row has a token"),
        ({"token_ids": None, "loss_mask": None, "logprobs": None, "text": ""}, {}, "no row has text"),
        ({"loss_mask": [0, 0, 0]}, {"logprobs": [-5.0, -5.0, -5.0]}, "no row has a trained token"),
        ({"sample_mask": 0.0}, {}, "no row has a trained token"),
    ],
)
def test_nothing_that_could_differ_is_inconclusive(compare, fields, other, says):
    made = rows(**fields)
    theirs = [{**row, **other, "reward": row["reward"]} for row in made][::-1]
    code, result, shown = compare(made, theirs)
    assert (code, result["verdict"], len(result["why"])) == (3, "inconclusive", 1)
    assert says in result["why"][0] and says in shown
    one = {n: v for n, v in rows()[0].items() if fields.get(n, 0) is not None} | {"sample_mask": 1.0}
    one |= {"text": "a"} if "text" in fields else {}
    assert compare([one, *made[1:]], [*theirs[:-1], one])[0] == 0


@pytest.mark.parametrize("fields", [{"logprobs": []}, {"loss_mask": [0, 0, 0]}])
def test_no_share_of_log_probs_is_said_where_none_was_compared(compare, fields):
    made = rows(**fields)
    _, result, shown = compare(made, made[::-1])
    assert (result["logprobs"]["tokens"], result["max_logprob_difference"]) == (0, None)
    assert "no log-prob compared" in shown
    assert "bit-identical" not in shown
    assert any(said.startswith("a wrong log-prob: ") for said in result["could_not_notice"])


@pytest.mark.parametrize("name", ["loss_mask", "logprobs", "prev_logprobs", "advantages"])
@pytest.mark.parametrize("length", [2, 4])
def test_a_list_that_does_not_fit_its_tokens_is_named_with_its_row(compare, name, length):
    made = rows()
    made[5][name] = [0.5] * length if name != "loss_mask" else [0, 1, 1, 0][:length]
    code, result, shown = compare(made, made[::-1])
    assert (code, name in shown) == ((1 if (name, length) == ("loss_mask", 4) else 3), True)
    assert "step 1, prompt 0, sample 1" in shown
    said = f"{name} does not fit the tokens of 1 row, such as step 1, prompt 0, sample 1, with {length} for 3"
    assert code == 1 or result["why"][0].startswith(said)
    assert compare(rows(advantages=[0.5]), rows(advantages=[0.5])[::-1])[0] == 0


@pytest.mark.parametrize("turn", [1, -1], ids=["in-order", "reversed"])
@pytest.mark.parametrize(
    ("name", "lines"), [("step", slice(4)), ("sample", slice(0, 8, 2)), ("sample", slice(8))]
)
def test_what_one_run_alone_says_of_a_row_is_no_pass(compare, name, lines, turn):
    made = rows()
    lacking = without(made, name, lines=lines)
    theirs = lacking[::turn] if lines != slice(8) else lacking
    for one, other, side in ((made, theirs, "restored"), (theirs, made, "reference")):
        code, result, shown = compare(one, other)
        count = len(made[lines])
        assert (code, result["rows"], result["verdict"]) == (3, 8, "inconclusive")
        assert f"one run alone says the {name} of {count} rows" in result["why"][0]
        said = f"a row under another {name}, where it does not say its own (in {count} of the {side} run)"
        assert said in shown
        assert any(line.startswith(said) for line in result["could_not_notice"])


def test_as_many_rows_without_a_sample_in_either_run_need_not_be_the_same_ones(compare):
    made = rows()
    code, result, _ = compare(
        without(made, "sample", lines=slice(1)), without(made, "sample", lines=slice(2, 3))
    )
    assert (code, "the sample of 2 rows" in result["why"][0]) == (3, True)


@pytest.mark.parametrize("names", [("step",), ("sample",), ("step", "sample")])
def test_what_neither_run_says_is_told_with_a_pass(compare, names):
    made = without(rows()[:4], *names)
    theirs = [{**row, "note": "another line"} for row in made]
    code, result, shown = compare(made, theirs)
    assert (code, result["verdict"], result["rows"]) == (0, "pass", 4)
    for name in names:
        said = (
            f"{name}, where it does not say its own (in 4 of the reference run and in 4 of the restored run)"
        )
        assert said in shown
    told = [said for said in result["could_not_notice"] if said.startswith("a row under another")]
    assert len(told) == len(names)
    assert not [
        said for said in compare(rows(), rows()[::-1])[1]["could_not_notice"] if "under another" in said
    ]


def test_a_step_in_the_name_of_the_file_is_said(reviewbot, tmp_path):
    for side, made in (("one", rows()[:4]), ("other", without(rows()[:4][::-1], "step"))):
        (tmp_path / side).mkdir()
        name = "train_data_step0.jsonl"
        (tmp_path / side / name).write_text("".join(json.dumps(row) + "\n" for row in made))
    ran = reviewbot("parity", "compare", "one", "other")
    assert (ran.code, "under another" in ran.out) == (0, False)


def test_runs_without_rewards_say_so_once_and_can_be_told_that_there_are_none(reviewbot, tmp_path):
    for side, changed in (("one", 1.0), ("other", 1.0), ("wrong", -9.0)):
        made = without(rows(), "reward")
        made[0]["logprobs"][1] *= changed
        (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    ran = reviewbot("parity", "compare", "one.jsonl", "other.jsonl", "-q")
    assert ran.code == 3
    assert "neither run wrote rewards: --map reward=FIELD" in " ".join(ran.out.split())
    none = ("--min-unequal-groups", "0", "--output-format", "json")
    ran = reviewbot("parity", "compare", "one.jsonl", "other.jsonl", *none)
    assert (ran.code, json.loads(ran.out)["verdict"]) == (0, "pass")
    assert any("reward" in said for said in json.loads(ran.out)["could_not_notice"])
    assert reviewbot("parity", "compare", "one.jsonl", "wrong.jsonl", *none).code == 1
