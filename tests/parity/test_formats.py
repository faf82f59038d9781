"""Dumps as frameworks write them, whole, compressed, torn, damaged and hostile."""

from __future__ import annotations

import gzip
import json
import os

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from reviewbot.parity.dumps.lines import cut_off

ROWS = 6


def row(prompt: int, sample: int) -> dict:
    """A row of our own format: three prompt tokens, a call, a tool's answer, another call."""
    at = 10 * prompt + sample
    mask = [0, 0, 0, 1, 1, 0, 1, 1]
    return {
        "step": 1, "prompt": prompt, "sample": sample, "group_id": f"p{prompt}",
        "token_ids": [1, 2, prompt, at + 3, 4, 5, at + 6, 7], "loss_mask": mask, "sample_mask": 1.0,
        "reward": float(sample), "logprobs": [-0.25 * m * (at + 1) for m in mask],
        "advantages": [(sample - 0.5) * m for m in mask],
    }  # fmt: skip


def rows() -> list[dict]:
    return [row(prompt, sample) for prompt in range(ROWS // 2) for sample in range(2)]


def nemo(index: int, of: dict, padding: int = 3) -> dict:
    """The same row as NeMo-RL writes it."""

    def padded(values: list) -> list:
        return [values + [0] * padding]

    return {
        "content": ["text"], "rewards": [of["reward"]], "input_lengths": [len(of["token_ids"])],
        "token_ids": padded(of["token_ids"]), "token_loss_mask": padded(of["loss_mask"]),
        "sample_loss_mask": [1.0], "advantages": padded(of["advantages"]),
        "generation_logprobs": padded(of["logprobs"]), "prev_logprobs": padded(of["logprobs"]),
        "idx": [index],
    }  # fmt: skip


def lines(records: list[dict]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.fixture
def compare(reviewbot, tmp_path):
    """Writes two dumps and compares them; the exit code and the result."""

    def run(one: bytes, other: bytes, name: str = "train_data_step1.jsonl", *words: str) -> tuple[int, dict]:
        for side, data in (("one", one), ("other", other)):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / name).write_bytes(data)
        ran = reviewbot("parity", "compare", "one", "other", "--output-format", "json", *words)
        return ran.code, json.loads(ran.out) if ran.out else {"error": ran.err}

    return run


def test_nemo_rl_with_one_element_lists_padding_and_no_ids(compare):
    one = [nemo(index, made) for index, made in enumerate(rows())]
    other = [nemo(index, made, padding=5) for index, made in enumerate(rows())]
    code, result = compare(lines(one), lines(other))
    assert (code, result["verdict"], result["rows"], result["groups"]) == (0, "pass", ROWS, 3)
    assert any("content" in said for said in result["could_not_notice"])
    other[3]["token_ids"][0][4] = 99
    code, result = compare(lines(one), lines(other))
    failure = result["failures"][0]
    assert (code, failure["row"], failure["field"]) == (1, [1, 3, 0], "token_ids")
    assert (failure["first_difference"], failure["reference"], failure["restored"]) == (4, 4, 99)


def test_a_trained_padding_token_is_a_difference(compare):
    one = [nemo(index, made) for index, made in enumerate(rows())]
    other = [nemo(index, made) for index, made in enumerate(rows())]
    other[0]["token_loss_mask"][0][-1] = 1
    code, result = compare(lines(one), lines(other))
    assert (code, result["failures"][0]["field"]) == (1, "loss_mask")


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_know_is_read_and_fails(compare, word):
    data = lines([nemo(index, made) for index, made in enumerate(rows())])
    bad = data.replace(b"-0.25", word.encode(), 1)
    code, result = compare(data, bad)
    assert (code, result["failures"][0]["field"], result["failures"][0]["first_difference"]) == (
        1, "logprobs", 3,
    )  # fmt: skip
    code, result = compare(bad, bad)
    assert (code, "in both runs" in result["failures"][0]["why"]) == (1, True)


def test_a_run_without_tokens_and_text_is_not_said_to_be_compared_by_its_text(reviewbot, tmp_path):
    for side, last in (("one", 1.5), ("other", 2.5)):
        found = [{"day": day, "station": "bern", "celsius": last if day else 0.5} for day in range(2)]
        (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    words = ("--map", "step=day", "--map", "prompt=station", "--map", "reward=celsius")
    ran = reviewbot("parity", "compare", "one.jsonl", "other.jsonl", *words, "--output-format", "json")
    result = json.loads(ran.out)
    assert (ran.code, result["verdict"]) == (1, "fail")
    assert result["could_not_notice"][0] == "a wrong token: neither token ids nor text was written"


def test_verl_compares_text_and_score_and_says_that_tokens_were_not(compare):
    records = [
        {
            "input": f"question {r['prompt']}",
            "output": f"answer {r['token_ids']}",
            "score": r["reward"],
            "step": 1,
        }
        for r in rows()
    ]
    code, result = compare(lines(records), lines(records[::-1][::-1]), "1.jsonl")
    assert (code, result["verdict"], result["absent_fields"][0]) == (0, "pass", "token_ids")
    assert "token ids were not written" in result["could_not_notice"][0]
    changed = [{**record} for record in records]
    changed[2]["output"] = "answer [x"
    code, result = compare(lines(records), lines(changed), "1.jsonl")
    assert (code, result["failures"][0]["field"], result["failures"][0]["first_difference"]) == (1, "text", 8)


def test_trl_parquet(reviewbot, tmp_path):
    columns = {
        "step": [1] * ROWS, "prompt": [f"q{r['prompt']}" for r in rows()],
        "completion": [f"a{r['token_ids']}" for r in rows()],
        "right": [r["reward"] for r in rows()], "short": [0.5] * ROWS,
        "advantage": [0.1 * i for i in range(ROWS)],
    }  # fmt: skip
    for side, right in (("one", columns["right"]), ("other", [1.0, *columns["right"][1:]])):
        folder = tmp_path / side / "completions"
        folder.mkdir(parents=True)
        pyarrow.parquet.write_table(
            pyarrow.table({**columns, "right": right}), folder / "completions_00001.parquet"
        )
    ran = reviewbot("parity", "compare", "one", "one/completions/*.parquet", "--output-format", "json")
    assert (ran.code, json.loads(ran.out)["why"]) == (3, ["both sides are the same files"])
    ran = reviewbot("parity", "compare", "one", "other", "--output-format", "json")
    failed = json.loads(ran.out)["failures"]
    assert (ran.code, {failure["field"] for failure in failed}) == (1, {"reward", "right"})


def test_trl_conversations_are_text(reviewbot, tmp_path):
    def said(role: str, text: str) -> list[dict]:
        return [{"role": role, "content": text}]

    for side in ("one", "other"):
        answers = [f"a{r['token_ids']}" + "!" * (side == "other" and at == 2) for at, r in enumerate(rows())]
        table = pyarrow.table({
            "step": [1] * ROWS, "prompt": [said("user", f"q{r['prompt']}") for r in rows()],
            "completion": [said("assistant", text) for text in answers],
            "right": [r["reward"] for r in rows()], "advantage": [0.1] * ROWS,
        })  # fmt: skip
        pyarrow.parquet.write_table(table, tmp_path / f"{side}.parquet")
    ran = reviewbot("parity", "compare", "one.parquet", "other.parquet", "--output-format", "json")
    failed = json.loads(ran.out)["failures"]
    assert (ran.code, [(f["field"], f["row"][2]) for f in failed]) == (1, [("text", 0)])


def test_parquet_needs_no_mapping_where_its_columns_have_known_names(reviewbot, tmp_path):
    ours = {name: [r[name] for r in rows()] for name in row(0, 0)} | {
        "sample": [float(r["sample"]) for r in rows()]
    }
    theirs = {name: values[::-1] for name, values in ours.items()}
    made = [nemo(index, of) for index, of in enumerate(rows())]
    padded = {name: [r[name] for r in made] for name in made[0]}
    dumps = {"ours": ours, "theirs": theirs, "nemo": padded}
    for side, columns in dumps.items():
        (tmp_path / side).mkdir()
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / side / "train_data_step1.parquet")
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "train_data_step1.jsonl").write_bytes(lines(made))
    for one, other in (("ours", "theirs"), ("nemo", "lines")):
        ran = reviewbot("parity", "compare", one, other, "--output-format", "json")
        assert (ran.code, json.loads(ran.out)["rows"]) == (0, ROWS), ran.err


def test_any_columns_by_a_mapping(compare):
    records = [
        {"out": {"ids": r["token_ids"]}, "m": [r["loss_mask"]], "score": [r["reward"]], "n": r["sample"],
         "q": f"question number {r['prompt']} that is longer than a name may be", "it": 1}
        for r in rows()
    ]  # fmt: skip
    columns = ("token_ids=out.ids", "loss_mask=m", "reward=score", "sample=n", "prompt=q", "step=it")
    words = [word for column in columns for word in ("--map", column)]
    code, result = compare(lines(records), lines(records[::-1]), "rows.jsonl", *words)
    assert (code, result["verdict"], result["rows"]) == (0, "pass", ROWS)
    records[0]["out"]["ids"] = [1, 2]
    code, result = compare(lines(rows()), lines(rows()), "rows.jsonl", "--map", "tokens=ids")
    assert (code, "no field 'tokens'" in result["error"]) == (2, True)


def renamed(records: list[dict]) -> list[dict]:
    """The rows with their tokens in a column of another name."""
    return [{{"token_ids": "tokens"}.get(name, name): v for name, v in r.items()} for r in records]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("loss_mask", [0, 0, 0, 1, 1, 1, 1, 1]), ("reward", 7.0), ("sample_mask", 0.0), ("logprobs", [-9.0] * 8),
     ("extras", {"turns": 3}), ("finish_reason", "length"), ("group_id", "p9")],
)  # fmt: skip
def test_columns_under_our_own_names_stay_what_they_are_beside_a_mapping(compare, field, wrong):
    ours = [{**r, "extras": {"turns": 2}, "finish_reason": "stop"} for r in renamed(rows())]
    words = ("--map", "token_ids=tokens")
    code, result = compare(lines(ours), lines(ours[::-1]), "rows.jsonl", *words)
    assert (code, result["rows"], result["absent_fields"]) == (0, ROWS, [])
    theirs = [{**r, field: wrong} if at == 3 else r for at, r in enumerate(ours)]
    code, result = compare(lines(ours), lines(theirs[::-1]), "rows.jsonl", *words)
    assert code == 1
    assert {(*failure["row"][:2],) for failure in result["failures"]} == {(1, 1)}


def test_a_column_that_is_mapped_is_not_the_field_of_its_name_too(compare):
    ours = [{**r, "reward": "good", "text": r["reward"]} for r in rows()]
    code, result = compare(lines(ours), lines(ours), "rows.jsonl", "--map", "reward=text")
    assert (code, result["groups_with_unequal_rewards"]) == (0, ROWS // 2)
    assert any("never compared: reward" in said for said in result["could_not_notice"])
    ours = [{**r, "sample": f"s{r['sample']}"} for r in rows()]
    code, result = compare(lines(ours), lines(ours), "rows.jsonl", "--map", "token_ids=token_ids")
    assert (code, any("never compared: sample" in said for said in result["could_not_notice"])) == (0, True)


def test_columns_that_no_format_has_are_answered_with_the_fields_to_map(compare):
    ours = lines([{"ids": r["token_ids"], "r": r["reward"]} for r in rows()])
    code, result = compare(ours, ours, "rows.jsonl")
    says = "say which column is which with --map FIELD=COLUMN, FIELD being one of "
    assert (code, says in result["error"]) == (2, True)
    named = result["error"].rpartition("one of ")[2].strip().split(", ")
    assert {"token_ids", "loss_mask", "reward", "prompt", "sample", "group", "length"} <= set(named)
    for field in named:  # each of them can be mapped
        code, result = compare(ours, ours, "rows.jsonl", "--map", f"{field}=ids")
        assert "no field" not in result.get("error", "")


def test_a_field_is_the_same_in_every_row_only_where_it_is_so_in_both_runs(compare):
    ours = rows()

    def said(theirs: list[dict]) -> set[str]:
        result = compare(lines(ours), lines(theirs), "rows.jsonl")[1]
        unseen = [s for s in result["could_not_notice"] if s.endswith("it is the same in every row")]
        assert len(unseen) == len(result["vacuous_fields"])
        return set(result["vacuous_fields"])

    assert said(ours) == {"loss_mask", "sample_mask"}
    theirs = [{**r, "loss_mask": [0, 0, 0, 1, 1, 0, 0, 1]} if at == 3 else r for at, r in enumerate(ours)]
    assert said(theirs) == {"sample_mask"}


def test_a_column_that_no_row_has_is_wrong_use(compare):
    ours = renamed(rows())
    code, result = compare(lines(ours), lines(ours), "rows.jsonl", "--map", "token_ids=nope")
    assert (code, "one/rows.jsonl: no row has a column 'nope'" in result["error"]) == (2, True)
    late = [*({**r} for r in ours[:3]), *({**r, "why": "stop"} for r in ours[3:])]
    words = ("--map", "token_ids=tokens", "--map", "finish_reason=why")
    assert compare(lines(late), lines(late[::-1]), "rows.jsonl", *words)[0] == 0
    code, result = compare(lines(ours), lines(rows()), "rows.jsonl", "--map", "token_ids=tokens")
    assert (code, result["failures"][0]["why"]) == (1, "the restored run did not write token_ids")


def test_a_mapping_beside_a_format_that_has_its_own_names_is_wrong_use(compare):
    words = ("--format", "plain", "--map", "reward=score")
    code, result = compare(lines(rows()), lines(rows()), "rows.jsonl", *words)
    assert (code, "leave out --format plain" in result["error"]) == (2, True)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_compressed_lines_and_one_that_was_cut_off(compare, pack):
    name = {gzip.compress: "rows.jsonl.gz"}.get(pack, "rows.jsonl.zst")
    data = pack(lines(rows()))
    assert compare(data, pack(lines(rows()[::-1])), name)[0] == 0
    code, result = compare(data, data[:-12], name)
    assert code == 1
    assert result["torn_lines"][0][0].endswith(name)
    assert result["missing_rows"]
    code, result = compare(data, b"\0" + data[1:], name)
    assert (code, name in result["error"]) == (2, True)


@pytest.mark.parametrize("words", [(), ("--map", "token_ids=token_ids")], ids=["plain", "mapping"])
def test_a_run_without_rows_is_not_said_to_lack_fields(compare, words):
    for one, other, side in ((lines(rows()), b"", "restored"), (b"", lines(rows()), "reference")):
        code, result = compare(one, other, "rows.jsonl", *words)
        assert (code, result["rows"], result["absent_fields"]) == (1, 0, [])
        assert result["could_not_notice"][0] == f"anything within a row: the {side} run has no rows"
        assert not [said for said in result["could_not_notice"] if "wrote" in said or "compared" in said]


@pytest.mark.parametrize("field", ["reward", "sample_mask", "advantages"])
def test_one_number_for_the_row_that_is_none_fails_in_both_runs(compare, field):
    bad = [{**r, field: float("nan")} if at == 3 else r for at, r in enumerate(rows())]
    code, result = compare(lines(bad), lines(bad))
    failure = result["failures"][0]
    assert (code, result["failures_total"], failure["field"]) == (1, 1, field)
    assert (failure["row"], failure["why"]) == ([1, 1, 1], "not a number in both runs")


def test_a_torn_last_line_is_told_from_damage(compare):
    whole = lines(rows())
    code, result = compare(whole, whole[:-40])
    assert (code, result["missing_rows"], result["torn_lines"][0][1]) == (1, [[1, 2, 1]], ROWS)
    assert compare(whole, whole.removesuffix(b"\n"))[0] == 0
    middle = whole.splitlines(keepends=True)
    middle[2] = middle[2][:-40] + b"\n"
    code, result = compare(whole, b"".join(middle))
    assert (code, "train_data_step1.jsonl:3: " in result["error"]) == (2, True)


@pytest.mark.parametrize(
    "bad",
    [b"[" * 100_000, b'{"token_ids": "x"}', b"\xff\xfe", b'{"token_ids": [1e999]}', b"null", b'{"a": 1}'],
)
def test_broken_input_ends_with_2_and_names_the_line(compare, bad):
    code, result = compare(bad + b"\n" + lines(rows()), lines(rows()))
    assert (code, "train_data_step1.jsonl:1" in result["error"]) == (2, True)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("a.jsonl", b"\0" * 4096), ("a.jsonl", lines(rows()) + b"\0" * 100), ("a.jsonl", b"rows\0"),
     ("a.jsonl", lines(rows()) + b'{"step": 1, \0\0'), ("a.jsonl", b'{"a": 1} {"b'),
     ("a.jsonl.gz", b"\x1f\x8b"), ("a.jsonl.gz", b"\x07\x07\x07"), ("a.jsonl.gz", lines(rows())),
     ("a.jsonl.gz", gzip.compress(b"\0" * 99)[:-4]), ("a.jsonl.gz", gzip.compress(lines(rows())) + b"more"),
     ("a.jsonl.zst", b"\x28\xb5"), ("a.jsonl.zst", b"\x07" * 99)],
    ids=range(12),
)  # fmt: skip
def test_what_no_killed_writer_leaves_is_broken_input(compare, name, bad):
    code, result = compare(bad, lines(rows()), name)
    assert (code, name in result["error"]) == (2, True)


def test_every_beginning_of_a_row_counts_as_torn_and_nothing_else():
    made = {
        **row(1, 1),
        "text": 'h\u00e9 "\\ \n',
        "reward": float("nan"),
        "extras": {"x": [None, True, -2.5e-7]},
    }
    for line in (json.dumps(made).encode(), json.dumps(made, ensure_ascii=False).encode()):
        assert [at for at in range(len(line)) if not cut_off(line[:at])] == []
        assert not any(cut_off(line[:at] + b"\0") for at in range(1, len(line)))
        assert not cut_off(line)


def test_a_torn_row_with_nan_is_torn(compare):
    whole = lines(rows()).replace(b"-0.25", b"NaN")
    code, result = compare(lines(rows()), whole[:-20])
    assert (code, result["torn_lines"][0][1]) == (1, ROWS)


@pytest.mark.parametrize("content", [b"", b"  "])
def test_zeros_after_the_last_frame_are_no_damage(compare, content):
    packed = gzip.compress(lines(rows()[:3])) + gzip.compress(lines(rows()[3:]) + content) + b"\0" * 5000
    assert compare(packed, gzip.compress(lines(rows())), "a.jsonl.gz")[0] == 0


def test_links_and_pipes_in_a_dump_are_refused(reviewbot, tmp_path):
    for side in ("one", "other"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "rows.jsonl").write_bytes(lines(rows()))
    (tmp_path / "other" / "secret.jsonl").symlink_to("/etc/passwd")
    ran = reviewbot("parity", "compare", "one", "other")
    assert (ran.code, "symbolic link" in ran.err, "root:" in ran.err) == (2, True, False)
    (tmp_path / "other" / "secret.jsonl").unlink()
    os.mkfifo(tmp_path / "other" / "pipe.jsonl")
    assert "not an ordinary file" in reviewbot("parity", "compare", "one", "other").err


def test_terminal_codes_in_a_dump_do_not_reach_the_terminal(reviewbot, tmp_path):
    evil = "\x1b[2J\x1b]0;x\x07[red]"
    for side, name in (("one", "a"), ("other", evil)):
        (tmp_path / side).mkdir()
        made = [{**r, "prompt": name if r["prompt"] == 0 else r["prompt"]} for r in rows()]
        (tmp_path / side / "rows.jsonl").write_bytes(lines(made))
    ran = reviewbot("parity", "compare", "one", "other")
    assert (ran.code, "\x1b" in ran.out, "[red]" in ran.out) == (1, False, True)


def test_restores_out_of_a_log(reviewbot, tmp_path):
    for side in ("one", "other"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "rows.jsonl").write_bytes(lines(rows()[:: 1 if side == "one" else -1]))
    (tmp_path / "worker.log").write_text("start\nrestored c7 row 1/2/1 prefix=1 tail=1\nend\n")
    pattern = r"restored (?P<call>\S+) row (?P<step>\d+)/(?P<prompt>\d+)/(?P<sample>\d+)"
    pattern += r" prefix=(?P<prefix_tokens>\d+)"
    words = (
        "parity",
        "compare",
        "one",
        "other",
        "--log",
        "worker.log",
        "--output-format",
        "json",
        "--pattern",
    )
    ran = reviewbot(*words, pattern + r" tail=(?P<tail_tokens>\d+)")
    assert (ran.code, json.loads(ran.out)["restored_calls"]) == (0, 1)
    ran = reviewbot(*words, pattern + r" tail=(?P<tail_tokens>\d+)", "--quiet")
    (tmp_path / "worker.log").write_text("restored c7 row 1/2/1 prefix=2 tail=1\n")
    ran = reviewbot(*words, pattern + r" tail=(?P<tail_tokens>\d+)")
    assert (ran.code, json.loads(ran.out)["failures"][0]["field"]) == (1, "tail_tokens")
    assert reviewbot(*words, "(").code == 2


def flipped(made: dict, gap: float) -> dict:
    """The row with another token at index 6, `gap` nats from the reference's in either run."""
    top = [None] * 8
    top[6] = {str(made["token_ids"][6]): -0.7, "99": -0.7 - gap}
    made = {**made, "dtype": "bfloat16", "top_logprobs": top}
    tokens = [*made["token_ids"]]
    tokens[6] = 99
    return {**made, "token_ids": tokens}


def test_a_control_run_bounds_what_is_set_aside(reviewbot, tmp_path):
    made = [row(prompt, sample) for prompt in range(6) for sample in range(2)]
    known = [{**flipped(r, 0.03), "token_ids": r["token_ids"]} for r in made]
    dumps = {
        "one": known,
        "other": [flipped(r, 0.03) if index < 3 else known[index] for index, r in enumerate(made)],
        "calm": known,
        "wild": [flipped(r, 0.03) if index > 9 else known[index] for index, r in enumerate(made)],
    }
    for side, records in dumps.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "rows.jsonl").write_bytes(lines(records))
    words = ("parity", "compare", "one", "other", "--output-format", "json")
    verdicts = {
        "none": reviewbot(*words),
        "calm": reviewbot(*words, "--control", "calm"),
        "wild": reviewbot(*words, "--control", "wild"),
        "allowed": reviewbot(*words, "--allow-set-aside", "3"),
    }
    shown = {name: (ran.code, json.loads(ran.out)["verdict"]) for name, ran in verdicts.items()}
    assert shown == {
        "none": (1, "set_aside"), "calm": (3, "inconclusive"),
        "wild": (1, "set_aside"), "allowed": (0, "set_aside"),
    }  # fmt: skip


def test_rows_that_the_killed_run_trained_count_with_those_of_the_restored_one(reviewbot, tmp_path):
    later = [{**made, "step": 2} for made in rows()]
    for side, step, records in (
        ("one", 1, rows()),
        ("one", 2, later),
        ("cut", 1, rows()),
        ("other", 2, later),
    ):
        (tmp_path / side).mkdir(exist_ok=True)
        (tmp_path / side / f"train_data_step{step}.jsonl").write_bytes(lines(records))
    saved = {"call": "c1", "step": 2, "prompt": 1, "sample": 1, "tokens": [17]}
    (tmp_path / "cut" / "journal.jsonl").write_bytes(lines([saved]))
    record = {**saved, "prefix_tokens": 1, "tail_tokens": 1}
    del record["tokens"]
    (tmp_path / "restores.jsonl").write_bytes(lines([record]))
    words = ("parity", "compare", "one", "other", "--restores", "restores.jsonl", "--output-format", "json")
    assert len(json.loads(reviewbot(*words).out)["missing_rows"]) == ROWS
    ran = reviewbot(*words, "--cut", "cut")
    assert (ran.code, json.loads(ran.out)["rows"]) == (0, 2 * ROWS)
    (tmp_path / "cut" / "journal.jsonl").write_bytes(lines([{**saved, "tokens": [17, 7]}]))
    ran = reviewbot(*words, "--cut", "cut")
    assert (ran.code, json.loads(ran.out)["failures"][0]["field"]) == (1, "prefix_tokens")


def test_rows_that_the_killed_run_left_count_in_every_format(reviewbot, tmp_path):
    texts = {step: [{"input": "q", "output": f"{step}{at}", "score": float(at), "step": step}
                    for at in range(2)] for step in (1, 2)}  # fmt: skip
    for side, steps in (("one", (1, 2)), ("cut", (1,)), ("other", (2,))):
        (tmp_path / side).mkdir()
        for step in steps:
            (tmp_path / side / f"{step}.jsonl").write_bytes(lines(texts[step]))
    (tmp_path / "cut" / "saved.jsonl").write_bytes(lines([{"call": "c1", "tokens": [1]}]))
    (tmp_path / "cut" / "journal.jsonl").write_bytes(b"")
    words = ("parity", "compare", "one", "other", "--cut", "cut", "--output-format", "json")
    ran = reviewbot(*words)
    assert (ran.code, json.loads(ran.out)["rows"]) == (0, 4), ran.out + ran.err
    (tmp_path / "other" / "1.jsonl").write_bytes(lines(texts[1]))  # a harness that copies them
    result = json.loads(reviewbot(*words).out)
    assert (result["verdict"], "a harness must not copy" in result["hints"][0]) == ("fail", True), result[
        "hints"
    ]


def test_restore_records_that_break_off_are_those_of_a_killed_run(reviewbot, tmp_path):
    for side in ("one", "other"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "rows.jsonl").write_bytes(lines(rows()[:: 1 if side == "one" else -1]))
    record = {"step": 1, "prompt": 1, "sample": 1, "call": "c1", "prefix_tokens": 1, "tail_tokens": 1}
    (tmp_path / "restores.jsonl").write_bytes(lines([record, {**record, "call": "c2"}])[:-9])
    words = ("parity", "compare", "one", "other", "--restores", "restores.jsonl", "--output-format", "json")
    ran = reviewbot(*words)
    result = json.loads(ran.out)
    assert (ran.code, result["why"]) == (3, ["the restored run was killed while it wrote restores.jsonl:2"])
    assert result["torn_lines"] == [["restores.jsonl", 2]]
    nameless = {name: value for name, value in record.items() if name not in ("step", "prompt", "sample")}
    (tmp_path / "restores.jsonl").write_bytes(lines([nameless]))
    ran = reviewbot(*words)
    unseen = json.loads(ran.out)["could_not_notice"]
    assert (ran.code, any("1 of 1 records do not say which row" in said for said in unseen)) == (0, True)


def test_a_mapping_in_the_configuration(reviewbot, tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reviewbot.parity.mapping]\ntoken-ids = "t"\nreward = "r"\nprompt = "p"\nsample = "s"\n'
    )
    records = [{"t": r["token_ids"], "r": r["reward"], "p": r["prompt"], "s": r["sample"]} for r in rows()]
    for side in ("one", "other"):
        (tmp_path / f"{side}.jsonl").write_bytes(lines(records))
    ran = reviewbot("parity", "compare", "one.jsonl", "other.jsonl", "--output-format", "json")
    assert (ran.code, json.loads(ran.out)["rows"]) == (0, ROWS)


def written(records: list[dict]) -> bytes:
    """Lines without blanks, as a fast encoder writes them."""
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


@pytest.mark.parametrize("write", [lines, written], ids=["blanks", "none"])
@pytest.mark.parametrize("shape", ["plain", "nemo-rl"])
@pytest.mark.parametrize("field", ["token_ids", "loss_mask", "logprobs", "advantages"])
def test_a_line_that_is_nearly_equal_is_read_as_any_other(compare, write, shape, field):
    """Whichever list is different, at whichever end of the line it stands, it is seen where it differs."""
    ours = rows()
    theirs = [{**made, field: [*made[field]]} for made in ours]
    theirs[3][field][4] = 1 - theirs[3][field][4] if field == "loss_mask" else 77
    for turn in range(2):
        if shape == "nemo-rl":
            sides = [[nemo(index, made) for index, made in enumerate(side)] for side in (ours, theirs)]
        else:
            sides = [[dict(sorted(made.items(), reverse=bool(turn))) for made in s] for s in (ours, theirs)]
        code, result = compare(write(sides[0]), write(sides[1]))
        found = [(f["field"], f["row"][1:], f["first_difference"]) for f in result["failures"]]
        row = [3, 0] if shape == "nemo-rl" else [1, 1]
        fields = ("logprobs", "prev_logprobs") if field == "logprobs" and shape == "nemo-rl" else (field,)
        assert (code, found) == (1, [(name, row, 4) for name in fields])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # The name stands in a text, or deeper, or twice: what is different is not the field.
        ('"note":"a \\"logprobs\\":[1],\\"b"', '"note":"a \\"logprobs\\":[2],\\"b"'),
        ('"more":{"advantages":[1]}', '"more":{"advantages":[2]}'),
        ('"more":{"group_id":1,"logprobs":[9,9]}', '"more":{"group_id":1,"logprobs":[8,8]}'),
        ('"more":{"prev_logprobs":[9,9],"z":1}', '"more":{"prev_logprobs":[8,8],"z":1}'),
    ],
)
def test_names_of_fields_elsewhere_in_a_line_mislead_nobody(compare, one, other):
    texts = [lines(rows()).decode().replace('"sample_mask": 1.0', f'"sample_mask": 1.0, {more}')
             for more in (one, other)]  # fmt: skip
    code, result = compare(*(text.encode() for text in texts))
    assert (code, result["verdict"]) == (0, "pass")


@pytest.mark.parametrize("bad", ["[1, 2}", "[1, 2]]", "[1, 2], [3]", "[1, 1e999]", '["1", 2]', "[1, 2]} {"])
def test_a_nearly_equal_line_that_is_damaged_is_refused(compare, bad):
    whole = lines(rows()).decode()
    at = whole.index('"logprobs": [') + len('"logprobs": ')
    broken = whole[:at] + bad + whole[whole.index("]", at) + 1 :]
    code, result = compare(whole.encode(), broken.encode())
    assert (code, "train_data_step1.jsonl:1: " in result["error"]) == (2, True)
