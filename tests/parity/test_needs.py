"""What the command needs itself, and what only the process with the engine needs."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("numpy", "torch", "transformers", "vllm", "ray")


@pytest.fixture
def bare(tmp_path) -> dict[str, str]:
    """An environment without any of the heavy packages."""
    folder = tmp_path / "bare"
    folder.mkdir()
    for name in HEAVY:
        text = f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n"
        (folder / f"{name}.py").write_text(text)
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


def without(tmp_path: Path, *names: str) -> dict[str, str]:
    """An environment in which these packages are not installed."""
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({names}))\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


def way(extra: str) -> str:
    """What the README says, from the folder of the checkout: on an index the name could be anybody's."""
    return f"install it from reviewbot's checkout: pip install '.[{extra}]'"


def test_an_engine_that_is_not_installed_is_named_with_what_to_install(reviewbot, bare, tmp_path):
    # It looks as if it were there, and only the leg can tell that it is not.
    ran = reviewbot("parity", "run", "--out", tmp_path / "out", env=bare)
    assert ran.code == 2
    assert f"the engine transformers needs the package torch; {way('engines')}" in ran.err


def test_what_is_not_installed_is_said_before_anything_is_made(reviewbot, tmp_path):
    ran = reviewbot("parity", "run", "--out", tmp_path / "out", env=without(tmp_path, "torch"))
    says = f"reviewbot: the engine transformers needs the package torch; {way('engines')}\n"
    assert (ran.code, ran.out, ran.err) == (2, "", says)
    assert not (tmp_path / "out").exists()


def test_each_extra_is_named_as_the_readme_installs_it(reviewbot, tmp_path):
    env = without(tmp_path, "zstandard", "pyarrow", "tokenizers", "matplotlib")
    row = {"step": 0, "prompt": 0, "sample": 0, "token_ids": [1], "loss_mask": [1], "reward": 1.0}
    rows, zst, parquet = (str(tmp_path / f"a.{end}") for end in ("jsonl", "jsonl.zst", "parquet"))
    Path(rows).write_text(json.dumps(row) + "\n")
    for path in (zst, parquet):
        Path(path).write_bytes(b"PAR1")
    (tmp_path / "tokenizer.json").write_text("{}")
    for words, what, extra in (
        ((zst, zst), f"{zst}: reading .zst needs the package zstandard", "parity"),
        ((parquet, parquet), f"{parquet}: reading Parquet needs the package pyarrow", "parity"),
        ((rows, rows, "--tokenizer", tmp_path), "--tokenizer needs the package tokenizers", "parity"),
        ((rows, rows, "--page", tmp_path / "p.html"), "--page needs the package matplotlib", "pages"),
    ):
        ran = reviewbot("parity", "compare", *words, env=env)
        assert (ran.code, ran.err) == (2, f"reviewbot: {what}; {way(extra)}\n")


def test_a_run_that_never_started_does_not_stand_in_the_way_of_the_next(reviewbot, bare, tmp_path):
    for words in ((), ("--seed", "5")):
        ran = reviewbot("parity", "run", "--out", tmp_path / "out", *words, env=bare)
        assert (ran.code, "the engine transformers needs" in ran.err) == (2, True), ran.err
    # From its first row on it does.
    (tmp_path / "out" / "reference").mkdir(exist_ok=True)
    (tmp_path / "out" / "reference" / "journal.jsonl").write_text("{}\n")
    ran = reviewbot("parity", "run", "--out", tmp_path / "out", env=bare)
    assert (ran.code, "holds a run; go on with --resume" in ran.err) == (2, True), ran.err


def test_the_engine_may_be_in_another_environment_alone(reviewbot, bare, tmp_path):
    elsewhere = tmp_path / "python"
    elsewhere.write_text(f'#!/bin/sh\necho "$2" > {tmp_path}/started\nexec {sys.executable} -c "exit(3)"\n')
    elsewhere.chmod(0o755)
    ran = reviewbot("parity", "run", "--out", tmp_path / "out", "--python", elsewhere, env=bare)
    assert (tmp_path / "started").read_text() == "reviewbot.parity.leg\n"
    assert ran.code == 2
    # Two legs start at the same time, and the first that fails ends the other.
    assert re.search("the (reference|cut) leg failed", ran.err)


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("--noise", ("nan", "inf", "-1")),
        ("--allow-set-aside", ("-1",)),
        ("--min-unequal-groups", ("2", "nan")),
        ("--temperature", ("-1", "nan", "inf")),
        ("--gpu-memory-utilization", ("0", "3")),
        ("--timeout", ("0", "nan", "inf")),
    ],
)
def test_a_number_that_means_nothing_is_wrong_use(reviewbot, tmp_path, word, values):
    for value in values:
        ran = reviewbot("parity", "run", "--out", tmp_path / "out", word, value)
        assert (ran.code, ran.out, f"{word} {value}: a number is wanted" in ran.err) == (2, "", True), ran.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_wrong_use(reviewbot, tmp_path):
    (tmp_path / "file").touch()
    for out in ("file", "file/below"):
        ran = reviewbot("parity", "run", "--out", tmp_path / out)
        assert (ran.code, f"{out}: cannot hold a run" in ran.err, "Traceback" in ran.err) == (2, True, False)
