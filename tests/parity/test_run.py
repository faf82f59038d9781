"""Three legs for real: a reference, one killed in mid-generation, one restored; faults planted and caught."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from legs import SMALL, until

from reviewbot.parity.faults import FAULTS

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, dict]:
    """The default workload with every fault, in its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("run") / "out"
    words = ["parity", "run", "--out", folder, "--plant", "all", "--output-format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "reviewbot", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return folder, json.loads(done.stdout)


def test_the_default_workload_passes_and_tests_something(run):
    _, result = run
    assert result["verdict"] == "pass"
    assert result["rows"] == 32
    assert result["restored_calls"] == result["run"]["cut_calls"] >= 3
    assert 0 < result["run"]["saved_share"] < 1
    assert result["groups_with_unequal_rewards"] * 2 >= result["groups"] == 8
    assert result["logprobs"]["max_difference"] <= 1e-4


def test_the_cut_leg_was_killed_in_mid_generation(run):
    folder, result = run
    killed = json.loads((folder / "cut" / "killed.json").read_text())
    assert killed["status"] == -signal.SIGKILL
    assert 0 < killed["seconds"] < result["run"]["seconds"]
    assert not (folder / "cut" / "account.json").exists()
    assert (folder / "cut" / "train_data_step1.jsonl").exists()
    assert not (folder / "cut" / "train_data_step2.jsonl").exists()


def test_the_default_workload_catches_every_planted_fault(run):
    _, result = run
    assert [fault["fault"] for fault in result["planted"]] == list(FAULTS)
    assert {fault["fault"]: fault["caught"] for fault in result["planted"]} == dict.fromkeys(FAULTS, True)
    assert not [line for line in result["could_not_notice"] if "a fault like" in line]
    caught_by = {fault["fault"]: fault["caught_by"] for fault in result["planted"]}
    assert caught_by["budget-off-by-one"] == ["max_tokens"]
    assert caught_by["stale-key"] == ["stale_keys"]
    assert "reward" in caught_by["reward-changed"]
    assert "row" in caught_by["row-lost"] and "row" in caught_by["row-twice"]


def test_a_restore_that_decodes_again_from_scratch_is_found_although_all_rows_are_equal(run, reviewbot):
    folder, _ = run
    lost = folder / "planted" / "prefix-lost"
    plain = reviewbot("parity", "compare", folder / "reference" / "train_data_step2.jsonl", lost)
    assert plain.code == 0
    assert "decodes again from scratch" in plain.out
    # With the killed run's folder its rows count too: what it had trained before the kill.
    known = reviewbot(
        "parity", "compare", folder / "reference", lost,
        "--restores", lost / "restores.jsonl", "--cut", folder / "cut", "--output-format", "json",
    )  # fmt: skip
    assert known.code == 1
    assert [failure["field"] for failure in json.loads(known.out)["failures"]] == ["restores"]


def test_a_finished_run_is_taken_up_again_and_no_other_run_may_use_its_folder(run, reviewbot):
    folder, result = run
    assert reviewbot("parity", "run", "--out", folder).code == 2
    assert "other settings" in reviewbot("parity", "run", "--out", folder, "--resume", "--seed", "5").err
    again = reviewbot("parity", "run", "--out", folder, "--resume", "--output-format", "json")
    assert json.loads(again.out)["failures"] == result["failures"] == []
    assert json.loads(again.out)["run"]["seconds"] < result["run"]["seconds"] / 2


def test_the_same_run_gives_the_same_rows_and_the_same_cut(run, reviewbot, tmp_path):
    folder, _ = run
    assert reviewbot("parity", "run", "--out", tmp_path / "again").code == 0
    for leg in ("reference", "restored"):
        files = sorted((folder / leg).glob("train_data_step*"))
        assert len(files) == {"reference": 2, "restored": 1}[leg]
        for file in files:
            assert (tmp_path / "again" / leg / file.name).read_bytes() == file.read_bytes()
    assert (tmp_path / "again" / "restored" / "restores.jsonl").read_bytes() == (
        folder / "restored" / "restores.jsonl"
    ).read_bytes()


def test_rows_in_the_shape_of_nemo_rl(reviewbot, tmp_path):
    out = tmp_path / "out"
    ran = reviewbot(
        "parity", "run", "--out", out, *SMALL, "--dump-format", "nemo-rl", "--plant", "dropped-token",
        "--plant", "mask-shifted", "--output-format", "json",
    )  # fmt: skip
    result = json.loads(ran.out)
    assert (result["verdict"], ran.code) == ("pass", 0)
    assert [fault["caught"] for fault in result["planted"]] == [True, True]
    rows = map(json.loads, (out / "reference" / "train_data_step1.jsonl").read_text().splitlines())
    assert {len(row["token_ids"][0]) - row["input_lengths"][0] > 0 for row in rows} == {True, False}


def test_a_model_that_was_never_trained_is_compared_on_replies_of_one_length(reviewbot, tmp_path):
    untrained(tmp_path / "model")
    ran = reviewbot(
        "parity", "run", "--out", tmp_path / "out", "--model", tmp_path / "model", "--task", "digest",
        "--steps", "1", "--prompts", "4", "--samples", "4", "--budget", "12", "--at-a-time", "6",
        "--plant", "all", "--control", "--trainer", "--output-format", "json",
    )  # fmt: skip
    result = json.loads(ran.out)
    assert (result["verdict"], ran.code) == ("pass", 0), result["why"]
    assert {fault["fault"]: fault["caught"] for fault in result["planted"]} == dict.fromkeys(FAULTS, True)
    assert result["set_aside"] == []
    assert result["mismatch"]["tokens"] == 16 * 24
    assert 0 < result["mismatch"]["max_difference"] < 1e-4
    assert result["mismatch"]["max_advantage_difference"] < 1e-9
    rows = map(
        json.loads, (tmp_path / "out" / "reference" / "train_data_step1.jsonl").read_text().splitlines()
    )
    assert {sum(row["loss_mask"]) for row in rows} == {24}


def test_rows_that_are_all_decoded_together_are_cut_all_the_same(reviewbot, tmp_path):
    other_family(tmp_path / "model")
    words = ("parity", "run", "--model", tmp_path / "model", "--steps", "1", "--prompts", "2", "--samples",
             "4", "--at-a-time", "8", "--budget", "12", "--output-format", "json")  # fmt: skip
    ran = reviewbot(*words, "--out", tmp_path / "out", "--task", "digest", "--plant", "all")
    result = json.loads(ran.out)
    assert (result["rows"], result["restored_calls"]) == (8, 8)
    assert {fault["fault"]: fault["caught"] for fault in result["planted"]} == dict.fromkeys(FAULTS, True)
    ran = reviewbot(*words, "--out", tmp_path / "other")
    assert (ran.code, "--task digest" in json.loads(ran.out)["hints"][0]) == (3, True)
    ran = reviewbot(*words, "--out", tmp_path / "long", "--budget", "99")
    assert (ran.code, "takes 96 tokens" in ran.err, "lower --budget" in ran.err) == (2, True, True)
    ran = reviewbot(*words, "--out", tmp_path / "few", "--min-cut", "9")
    assert (ran.code, "a kill cannot cut 9 calls" in ran.err) == (2, True)


def other_family(folder: Path) -> None:
    """A small random GPT-2, whose positions are learnt, with a tokenizer that has no token to begin with."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(1)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    said = ["user: ann has 12 apples. bob gets 40 more. what is left? how many now? got 0123456789"] * 20
    known = trainers.UnigramTrainer(vocab_size=80, special_tokens=["<unk>"], unk_token="<unk>")
    tokenizer.train_from_iterator(said, known)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)
    config = GPT2Config(
        vocab_size=128, n_embd=64, n_layer=2, n_head=4, n_positions=96, bos_token_id=None, eos_token_id=None,
        initializer_range=0.2,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)


def test_two_copies_of_a_model_give_the_rows_of_one_and_die_with_their_leg(reviewbot, tmp_path):
    untrained(tmp_path / "model")
    words = ("--model", tmp_path / "model", "--task", "digest", "--steps", "1", "--prompts", "4", "--samples",
             "3", "--budget", "12", "--at-a-time", "6", "--output-format", "json")  # fmt: skip
    for out, copies in (("one", "1"), ("two", "2")):
        ran = reviewbot("parity", "run", "--out", tmp_path / out, *words, "--data-parallel-size", copies)
        assert ran.code == 0, ran.out + ran.err
    rows = [tmp_path / out / "reference" / "train_data_step1.jsonl" for out in ("one", "two")]
    assert rows[0].read_bytes() == rows[1].read_bytes()
    about = json.loads((tmp_path / "two" / "reference" / "account.json").read_text())["engine"]
    assert about["data_parallel_size"] == 2
    assert processes(tmp_path) == []


def test_a_trainer_with_other_weights_is_seen(reviewbot, tmp_path):
    untrained(tmp_path / "model")
    untrained(tmp_path / "other", seed=1)
    words = ("--task", "digest", "--steps", "1", "--prompts", "2", "--samples", "2", "--budget", "12")
    out = tmp_path / "out"
    assert reviewbot("parity", "run", "--out", out, "--model", tmp_path / "model", *words).code in (0, 3)
    spec = {
        "folder": str(out / "reference"), "dump_format": "plain", "model": str(tmp_path / "other"),
        "dtype": "float32", "samples": 2, "out": str(tmp_path / "gap.json"),
        "rows_out": str(tmp_path / "rows"),
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    subprocess.run(
        [sys.executable, "-m", "reviewbot.parity.trainer", tmp_path / "spec.json"], cwd=ROOT, check=True
    )
    found = json.loads((tmp_path / "gap.json").read_text())
    assert found["ratios_outside"] > 0.5
    assert len((tmp_path / "rows").read_text().splitlines()) == 4


def untrained(folder: Path, seed: int = 0) -> None:
    """A small random model without a tokenizer."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=32, max_position_embeddings=512, initializer_range=0.2,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_leaves_no_process_and_goes_on_later(reviewbot, tmp_path, number):
    out = tmp_path / "out"
    words = [sys.executable, "-m", "reviewbot", "parity", "run", "--out", str(out), *SMALL]
    first = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE)
    try:
        until(lambda: processes(out))
        refused = reviewbot("parity", "run", "--out", out, *SMALL, "--resume")
        assert refused.code == 2
        assert "another run is going on" in refused.err
        first.send_signal(number)
        assert first.wait(30) in (130, 128 + signal.SIGTERM)
    finally:
        first.kill()
    assert b"Traceback" not in first.stderr.read()
    assert processes(out) == []
    ran = reviewbot("parity", "run", "--out", out, *SMALL, "--resume")
    assert ran.code == 0, ran.out


def processes(folder: Path) -> list[int]:
    """The legs that work in a folder, by what their command lines name."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"reviewbot.parity.leg" in words and any(os.fsencode(folder) in word for word in words):
            found.append(int(entry.parent.name))
    return found
