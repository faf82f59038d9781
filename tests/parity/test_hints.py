"""Dumps that cannot meet: the wrong folder, format, steps or names. The report says so in its first lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def row(step: int, prompt: int | str, sample: int) -> dict:
    tokens = [1, 2, 3 + sample]
    return {
        "step": step, "prompt": prompt, "sample": sample, "token_ids": tokens, "loss_mask": [0, 1, 1],
        "reward": float(sample),
    }  # fmt: skip


def rows(*steps: int, prompts: tuple[int | str, ...] = (0, 1, 2), first: int = 0) -> list[dict]:
    return [row(step, prompt, first + at) for step in steps for prompt in prompts for at in range(2)]


@pytest.fixture
def compared(reviewbot, tmp_path):
    """Compares two lists of rows, or folders; the exit code, the hints, and the text as it is shown."""

    def go(one: list[dict] | Path, other: list[dict] | Path) -> tuple[int, list[str], str]:
        for side, given in (("one", one), ("other", other)):
            if isinstance(given, list):
                (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in given))
        words = [f"{side}.jsonl" if isinstance(given, list) else given
                 for side, given in (("one", one), ("other", other))]  # fmt: skip
        ran = reviewbot("parity", "compare", *words, "--output-format", "json")
        shown = reviewbot("parity", "compare", *words, "-q")
        return ran.code, json.loads(ran.out)["hints"] if ran.out else [ran.err], shown.out

    return go


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (rows(1), "step 2, with 6 rows, is in the reference run alone"),
        (rows(1, 2, 4, 5), "steps 4 to 5, with 12 rows, are in the restored run alone"),
        (rows(7, 9), "the reference run has steps 1 to 2, the restored run steps 7 and 9"),
        (rows(1, 2, prompts=("0",)), "numbers in the reference run and text in the restored run, such as 0"),
        (rows(1, 2, prompts=(50, 51)), "no prompt is in both runs, such as 0 and 50"),
        (rows(1, 2, first=8), "no sample is in both runs, such as 0 and 8 of prompt 0"),
        ([], "the restored run has no rows: no whole one is in other.jsonl"),
        ([{"input": "q", "output": "a", "score": 1.0}], "in the format plain, the restored run in verl"),
    ],
)  # fmt: skip
def test_one_sentence_says_why_no_row_meets(compared, other, says):
    code, hints, shown = compared(rows(1, 2), other)
    assert code == 1
    assert says in hints[0]
    assert says in shown.splitlines()[1]
    assert shown.count("did not train it") <= 12


def test_rows_that_meet_need_no_hint(compared):
    assert compared(rows(1, 2), rows(1, 2)[::-1])[:2] == (0, [])
    assert compared(rows(1, 2), rows(1, 2)[1:])[:2] == (1, [])


def test_a_step_in_two_files_names_both(compared, tmp_path):
    for folder in ("run/exp_001", "run/exp_002", "plain"):
        (tmp_path / folder).mkdir(parents=True)
        made = "".join(json.dumps(r) + "\n" for r in rows(1))
        (tmp_path / folder / "train_data_step1.jsonl").write_text(made)
    code, hints, _ = compared(Path("plain"), Path("run"))
    assert code == 1
    assert "step 1 of the restored run is in more than one file" in hints[0]
    assert "exp_001" in hints[0] and "exp_002" in hints[0]


def test_a_wrong_token_is_shown_before_many_rows_twice(compared):
    changed = rows(1)
    changed[-1] = {**changed[-1], "token_ids": [9, 9, 9]}
    _, _, shown = compared(rows(1), [*rows(1)[:-1] * 4, changed[-1]])
    assert "token_ids[0]" in shown


def test_a_folder_of_pickles_or_of_other_lines_is_told(reviewbot, tmp_path):
    for folder in ("pickles", "mixed"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pickles" / "7.pt").write_bytes(b"PK")
    ran = reviewbot("parity", "compare", "pickles", "pickles")
    assert (ran.code, "7.pt is a pickle, which is not read" in ran.err) == (2, True)
    (tmp_path / "mixed" / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows(1)))
    (tmp_path / "mixed" / "metrics.jsonl").write_text('{"loss": 0.5, "step": "one"}\n')
    ran = reviewbot("parity", "compare", "mixed", "mixed")
    assert (ran.code, "metrics.jsonl:1" in ran.err, "name those that do" in ran.err) == (2, True, True)


def test_rows_that_do_not_say_which_they_are_are_told_where_several_differ(compared):
    def verl(answers: list[str]) -> list[dict]:
        return [{"input": "q", "output": text, "score": float(at)} for at, text in enumerate(answers)]

    unsaid = "do not say which sample of a prompt"
    code, hints, _ = compared(verl(["a", "b", "c"]), verl(["b", "c"]))
    assert (code, [unsaid in hint for hint in hints]) == (1, [True])
    code, hints, _ = compared(verl(["a", "b", "c"]), verl(["a", "b", "d"]))
    assert (code, hints) == (1, [])
    unnamed = [{name: value for name, value in one.items() if name != "prompt"} for one in rows(1)]
    code, hints, _ = compared(unnamed, unnamed[1:] + unnamed[:1])
    assert (code, any("do not name their prompt" in hint for hint in hints)) == (1, True)
    code, hints, _ = compared(rows(1), [{**one, "token_ids": [1, 2, 9]} for one in rows(1)])
    assert (code, hints) == (1, [])
