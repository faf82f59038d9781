"""The repository's own harness: run once a leg, and at two commits; what it leaves is compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from legs import until

# A harness as a repository may have it: four rows, the last of which the cut leg leaves half done. `sampling`
# stands for the code under test, `WRONG` for a fault in its restore.
HARNESS = """\
import json, os, pathlib, sys, time
import sampling

out, leg = pathlib.Path(os.environ["REVIEWBOT_OUT"]), os.environ["REVIEWBOT_LEG"]
cut = pathlib.Path(os.environ["REVIEWBOT_CUT"])
assert sys.argv[1:] == [leg, str(out)], sys.argv
call = {"call": "c3", "step": 1, "prompt": 1, "sample": 1}
journal = out / "journal.jsonl"
if leg == "cut":
    journal.write_text(json.dumps({**call, "tokens": sampling.row(1, 1)[2:4]}) + "\\n")
    print("half of the row is there", flush=True)
    time.sleep(100)
rows = [
    {"step": 1, "prompt": prompt, "sample": sample, "token_ids": sampling.row(prompt, sample),
     "loss_mask": [0, 0, 1, 1, 1], "reward": sample, "logprobs": [0, 0, -1, -1, -1]}
    for prompt in range(2) for sample in range(2)
]
if leg == "restored":
    saved = json.loads((cut / "journal.jsonl").read_text())["tokens"]
    rows[-1]["token_ids"][2:4] = saved[::-1] if sampling.WRONG else saved
    record = {**call, "prefix_tokens": 2, "tail_tokens": 1}
    (out / "restores.jsonl").write_text(json.dumps(record) + "\\n")
(out / "train_data_step1.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows))
"""
SAMPLING = """\
WRONG = False

def row(prompt, sample):
    return [1, 5 + prompt, 20 + sample, 30 + prompt, 7]
"""
TABLE = """\
[tool.reviewbot.parity]
command = ["{python}", "tests/harness.py", "{leg}", "{out}"]
cut-when = "half of the row"
"""


@pytest.fixture
def harness(repository):
    repository.commit(
        {"tests/harness.py": HARNESS, "sampling.py": SAMPLING, "pyproject.toml": TABLE}, "a harness"
    )
    return repository


@pytest.fixture
def run(reviewbot, harness, tmp_path):
    """`parity run` in the repository; the exit code and the result, or the error."""

    def go(*words: str) -> tuple[int, dict]:
        out = tmp_path / "out"
        ran = reviewbot(
            "parity", "run", "--out", out, "--output-format", "json", *words,
            cwd=harness.folder,
        )  # fmt: skip
        return ran.code, json.loads(ran.out) if ran.out else {"error": ran.err}

    return go


def test_its_legs_are_run_one_is_killed_and_the_rows_compared(run, harness, tmp_path):
    code, result = run("--workload", "command", "--profile")
    assert (code, result["verdict"], result["rows"]) == (0, "pass", 4)
    assert (result["restored_calls"], result["run"]["cut_calls"]) == (1, 1)
    assert set(result["profile"]) == {"reference", "cut", "restored", "compare"}
    assert json.loads((tmp_path / "out" / "cut.json").read_text())["status"] == -signal.SIGKILL
    assert "half of the row" in (tmp_path / "out" / "cut.log").read_text()


def test_a_wrong_restore_fails(run, harness):
    harness.write({"sampling.py": SAMPLING.replace("WRONG = False", "WRONG = True")})
    code, result = run("--workload", "command")
    failure = result["failures"][0]
    assert (code, failure["row"], failure["field"]) == (1, [1, 1, 1], "token_ids")
    assert failure["context"]["in_restored_prefix"] is True


def test_a_cut_leg_that_nothing_killed_is_inconclusive(run, harness):
    text = HARNESS.replace("time.sleep(100)", "sys.exit()").replace("journal.jsonl", "saved.jsonl")
    text = text.replace("half of the row is there", "there")
    harness.write({"tests/harness.py": text})
    code, result = run("--workload", "command")
    assert (code, result["verdict"]) == (3, "inconclusive")
    (why,) = result["why"]
    assert why.startswith(
        "the cut leg was not killed: no line of its output matches cut-when, 'half of the row'"
    )
    assert why.endswith("cut.log), and it ended with 0")


def test_where_nothing_was_left_to_restore_the_kill_that_never_came_is_told(run, harness):
    text = HARNESS.replace("time.sleep(100)", "sys.exit()").replace("journal.jsonl", "saved.jsonl")
    text = text.replace("half of the row is there", "there")
    harness.write(
        {"tests/harness.py": text.replace('if leg == "restored":', 'if leg == "restored":\n    sys.exit()')}
    )
    code, result = run("--workload", "command")
    assert (code, "no rows" in result["error"]) == (3, False)
    assert (
        "inconclusive: the cut leg was not killed: no line of its output matches cut-when" in result["error"]
    )


def test_a_leg_that_fails_is_named_with_its_log(run, harness):
    harness.write({"sampling.py": "raise SystemExit('no such sampler')\n"})
    code, result = run("--workload", "command")
    assert (code, "reference leg" in result["error"], "no such sampler" in result["error"]) == (2, True, True)
    assert "reference.log" in result["error"]


def test_a_leg_that_does_not_end_is_ended(run, harness):
    harness.write({"sampling.py": "import time\ntime.sleep(60)\n"})
    begun = time.monotonic()
    code, result = run("--workload", "command", "--timeout", "0.5")
    assert (code, "signal 9" in result["error"]) == (2, True)
    assert time.monotonic() - begun < 30


def test_restore_records_come_out_of_its_output_too(run, harness):
    said = 'print("restored", "c3", 1, 1, 1, "prefix", 2, flush=True)'
    text = HARNESS.replace(
        '    (out / "restores.jsonl").write_text(json.dumps(record) + "\\n")', f"    {said}"
    )
    assert said in text
    row = r"(?P<step>\\d+) (?P<prompt>\\d+) (?P<sample>\\d+)"
    pattern = rf'pattern = "restored (?P<call>\\S+) {row} prefix (?P<prefix_tokens>\\d+)"'
    harness.write({"tests/harness.py": text, "pyproject.toml": TABLE + pattern + "\n"})
    code, result = run("--workload", "command")
    assert (code, result["verdict"], result["restored_calls"]) == (0, "pass", 1)


def test_two_commits_are_compared_each_in_a_tree_of_its_own(run, harness):
    base = harness.git("rev-parse", "HEAD")
    equal = harness.commit({"sampling.py": SAMPLING + "\n# reads better\n"})
    code, result = run("--workload", "revisions", "--base", base, "--head", equal)
    assert (code, result["verdict"], result["sides"]) == (0, "pass", ["base", "head"])
    assert result["run"]["commits"] == [base, equal]


def test_a_folder_and_an_interpreter_may_be_named_from_here(reviewbot, harness):
    harness.commit({"sampling.py": SAMPLING + "\n# reads better\n"})
    (harness.folder / ".venv" / "bin").mkdir(parents=True)
    (harness.folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    words = ("parity", "run", "--workload", "revisions", "--base", "HEAD~1", "--python", ".venv/bin/python")
    for out in ((), ("--out", "elsewhere/run")):
        ran = reviewbot(*words, *out, "--output-format", "json", cwd=harness.folder)
        assert (ran.code, json.loads(ran.out or "{}").get("verdict")) == (0, "pass"), ran.err


def test_a_commit_that_changes_tokens_fails_whatever_the_work_tree_holds(run, harness):
    harness.commit({"sampling.py": SAMPLING.replace("30 + prompt", "30 + sample")})
    harness.write({"sampling.py": SAMPLING})
    code, result = run("--workload", "revisions", "--base", "HEAD~1")
    assert (code, result["failures_total"]) == (1, 2)
    assert result["failures"][0]["row"] == [1, 0, 1]
    assert (result["failures"][0]["reference"], result["failures"][0]["restored"]) == (30, 31)


def test_an_environment_of_its_own_may_be_made_for_each_commit(run, harness):
    make = f"mkdir -p .venv/bin && ln -s {sys.executable} .venv/bin/python && echo $REVIEWBOT_REVISION > made"
    table = TABLE.replace('"{python}"', '"sh", "-c", "test -e made && exec python tests/harness.py $0 $1"')
    table = table.replace('"tests/harness.py", ', "") + f"setup = {json.dumps(['sh', '-c', make])}\n"
    harness.commit({"pyproject.toml": table})
    harness.commit({"sampling.py": SAMPLING + "\n"})
    code, result = run("--workload", "revisions", "--base", "HEAD~1")
    assert (code, result.get("verdict")) == (0, "pass"), result


def test_the_same_commit_twice_and_a_missing_command_are_refused(run, harness):
    code, result = run("--workload", "revisions", "--base", "HEAD")
    assert (code, "same commit" in result["error"]) == (2, True)
    code, result = run("--workload", "revisions", "--base", "nothing")
    assert (code, "no such commit" in result["error"]) == (2, True)
    harness.write({"pyproject.toml": "[tool.reviewbot]\n"})
    code, result = run("--workload", "command")
    assert (code, "command = [...]" in result["error"]) == (2, True)


def test_a_stopped_run_leaves_no_process_of_the_harness(harness, tmp_path):
    text = HARNESS.replace("import sampling", "import sampling, subprocess")
    text = text.replace(
        'if leg == "cut":',
        'subprocess.Popen(["sleep", "77.25"], start_new_session=True); time.sleep(100)\nif 1:',
    )
    harness.write({"tests/harness.py": text})
    words = [
        sys.executable,
        "-m",
        "reviewbot",
        "parity",
        "run",
        "--workload",
        "command",
        "--out",
        tmp_path / "o",
    ]
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    first = subprocess.Popen(words, cwd=harness.folder, env={**os.environ, "PYTHONPATH": root})
    try:
        until(lambda: sleeping() == 1)
        first.send_signal(signal.SIGTERM)
        assert first.wait(30) == 128 + signal.SIGTERM
        until(lambda: sleeping() == 0)
    finally:
        first.kill()


def sleeping() -> int:
    words = b"sleep\x0077.25\x00"
    return sum(
        1
        for entry in os.scandir("/proc")
        if entry.name.isdecimal() and os.path.exists(f"/proc/{entry.name}/cmdline")
        and _read(f"/proc/{entry.name}/cmdline") == words
    )  # fmt: skip


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_what_a_run_leaves_is_no_part_of_the_repository(reviewbot, harness):
    # What Python keeps compiled of the repository's own command is none of the run's.
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    ran = reviewbot("parity", "run", "--workload", "command", "--out", "legs", cwd=harness.folder, env=env)
    assert ran.code == 0, ran.err
    assert (harness.folder / "legs" / "run.json").is_file()
    assert harness.git("status", "--porcelain") == ""
