"""What `reviewbot probe` says of the changes that pass: on which side, in which lists, at which position."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

PARITY = '''\
"""Compares a baseline run with a resumed one."""


def key(row):
    return (row["step"], row["sample"])


def compare_prefix(baseline, resumed):
    for one, two in zip(baseline, resumed):
        assert one["token_ids"][: len(two["token_ids"])] == two["token_ids"]


def compare_shared(baseline, resumed):
    left, right = {key(row): row for row in baseline}, {key(row): row for row in resumed}
    for k in left.keys() & right.keys():
        one, two = left[k]["token_ids"], right[k]["token_ids"]
        if one != two and one[:3] == two[:3]:
            continue
        assert one == two, k
        assert left[k]["reward"] == right[k]["reward"], k


def compare_logprobs(baseline, resumed):
    for one, two in zip(baseline, resumed, strict=True):
        for a, b in zip(one["logprobs"], two["logprobs"], strict=True):
            if abs(a - b) > 1e-3:
                raise AssertionError("log-probs differ")
'''
TEST = """\
import pytest

from tests import parity


def row(step, sample):
    return {
        "step": step,
        "sample": sample,
        "token_ids": [7, 1, 3, 21 + step, 15, 16 + sample],
        "loss_mask": [0, 0, 0, 1, 1, 1],
        "logprobs": [0.0, 0.0, 0.0, -3.25, -3.5 - step, -3.0],
        "reward": 0.5 * sample,
    }


@pytest.mark.parametrize("check", [parity.compare_prefix, parity.compare_shared, parity.compare_logprobs])
def test_resumed_like_baseline(check):
    rows = [(step, sample) for step in range(2) for sample in range(2)]
    check([row(*one) for one in rows], [row(*one) for one in rows])
"""


@pytest.fixture
def runs(tmp_path):
    """Three checks of a resumed run, each of which lets something else through."""
    folder = tmp_path / "runs"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "__init__.py").touch()
    (folder / "tests" / "parity.py").write_text(PARITY)
    (folder / "tests" / "test_parity.py").write_text(TEST)
    return folder


def line(out, start):
    """The parts of the one line that starts so."""
    (found,) = [one for one in out.splitlines() if one.startswith(start)]
    return found.removeprefix(start).split("; ")


def test_a_resumed_row_cut_short_is_a_witness_beside_a_row_that_is_gone(reviewbot, runs):
    ran = reviewbot("probe", "tests/parity.py::compare_prefix", cwd=runs)
    assert ran.code == 1
    assert "This difference is not noticed: last row dropped" in ran.out
    assert re.search(r"resumed\[0\]\.token_ids\[\d\]: \d+ -> gone", ran.out)
    caught = line(ran.out, "still caught: ")
    assert "token_ids shorter by one (in baseline only)" in caught
    assert "token_ids emptied (in baseline only)" in caught
    passes = line(ran.out, "let through: ")
    assert "token_ids shorter by one (in resumed only)" in passes
    assert "token_ids longer by one (in baseline only)" in passes


def test_each_kind_of_change_that_passes_is_told(reviewbot, probed, runs):
    ran = reviewbot("probe", "tests/parity.py::compare_shared", cwd=runs)
    assert {"all rows dropped", "last row dropped", "row dropped"} <= set(line(ran.out, "let through: "))
    assert "This difference is not noticed: last row dropped" in ran.out
    _, document = probed(runs, "tests/parity.py::compare_shared")
    assert document["complete"]
    fields = (
        "step",
        "sample",
        "reward",
        "token_ids",
        "loss_mask",
        "logprobs",
        "token ",
        "row",
        "all",
        "last",
    )
    told = [one["edit"] for one in document["let_through"]]
    assert all(edit.startswith(fields) for edit in told)
    assert {one["side"] for one in document["let_through"]} == {"baseline", "resumed"}
    blind = tuple(document["never_compared"])
    noticed = [kill for kill in document["kills"] if " and " not in kill["edit"]]
    assert document["edits_tried"] >= len(told) + len(noticed)
    assert not any(edit.startswith(blind) for edit in told)


def test_the_first_difference_is_where_the_rows_part_not_where_the_edit_was_made(reviewbot, runs):
    ran = reviewbot("probe", "tests/parity.py::compare_shared", cwd=runs)
    mark, *_ = [one for one in ran.out.splitlines() if "first difference:" in one]
    lines = ran.out.splitlines()
    index, baseline, resumed = (
        one.split()[1:] for one in lines[lines.index(mark) - 4 : lines.index(mark) - 1]
    )
    first = next(at for at, pair in enumerate(zip(baseline, resumed, strict=False)) if pair[0] != pair[1])
    assert f"first difference: {index[first]}, the trained turn 1" in mark
    assert "token 2 doubled (prompt)" in ran.out
    assert first == 3


def test_a_nan_is_counted_apart_from_other_numbers(reviewbot, runs):
    ran = reviewbot("probe", "tests/parity.py::compare_logprobs", cwd=runs)
    told = re.search(
        r"caught in (\d+) other places? and let through in (\d+) more; of other numbers there", ran.out
    )
    assert told and told[1] == "0" and int(told[2]) > 0
    mark = next(one for one in ran.out.splitlines() if "first difference: 3, the trained turn 1" in one)
    above = ran.out.splitlines()[ran.out.splitlines().index(mark) - 2]
    assert above[mark.index("^") : mark.rindex("^") + 1].strip() == "nan"
    assert "logprobs 0-5 is NaN" in line(ran.out, "let through: ")
    drawn = re.search(r"let through: index 0 to (\d+), (\d+) positions\n", ran.out)
    assert drawn and int(drawn[1]) + 1 == int(drawn[2])
    assert f"let through at {drawn[2]} positions of this row; of the places tried in" in ran.out


SLOW = """\
import time


def compare_slowly(baseline, resumed):
    time.sleep(0.01)
    assert baseline == resumed
"""
SLOW_TEST = """\
from tests import slow
from tests.test_parity import row


def test_resumed_like_baseline():
    rows = [[row(step, sample) for step in range(2) for sample in range(2)] for _ in range(2)]
    slow.compare_slowly(*rows)
"""
LENGTHS = """\
from tests.test_parity import row


def run(samples):
    return [row(0, sample) for sample in range(samples)]


def test_as_many_rows():
    baseline = run(2)
    resumed = run(2)
    assert len(baseline) == len(resumed)
"""


@pytest.mark.slow
def test_a_search_cut_short_without_a_witness_is_inconclusive(reviewbot, runs):
    (runs / "tests" / "slow.py").write_text(SLOW)
    (runs / "tests" / "test_slow.py").write_text(SLOW_TEST)
    ran = reviewbot("probe", "tests/slow.py::compare_slowly", "--budget", "2s", cwd=runs)
    assert ran.code == 3
    first = ran.out.splitlines()[0]
    assert "inconclusive, the time was up: no witness in the first 200 changes, 0 passed" in first
    assert "a larger --budget leaves more" in ran.err
    ran = reviewbot("probe", "tests/slow.py::compare_slowly", "--budget", "60s", cwd=runs)
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"::compare_slowly: \d+ changes tried, no witness$", ran.out.splitlines()[0])


def test_a_test_that_notices_little_is_said_to(reviewbot, runs):
    (runs / "tests" / "test_lengths.py").write_text(LENGTHS)
    ran = reviewbot("probe", "tests/test_lengths.py::test_as_many_rows", cwd=runs)
    assert ran.code == 0
    assert re.search(
        r": it notices little: (\d+) of (\d+) changes passed; no witness", ran.out.splitlines()[0]
    )


def test_an_interpreter_without_pytest_ran_no_test(reviewbot, runs, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    ran = reviewbot("probe", "tests/parity.py::compare_logprobs", "--python", python, cwd=runs)
    assert ran.code == 3
    assert "compare_logprobs: its tests could not be run: the interpreter that was to run" in ran.err
    assert "its tests ran" not in ran.err
    words = ("lint", "--no-cache", "--probe", "--select", "nan-passes", "--python", python, ".")
    ran = reviewbot(*words, cwd=runs)
    assert "nan-passes: not run to an end: compare_logprobs: its tests could not be run" in ran.err
    assert "has no pytest: name the one that they run in with --python" in ran.err


def test_a_condition_that_is_cut_shows_it_and_quiet_asks_no_questions(reviewbot, runs):
    more = " and ".join(["(len(left) == len(right))", *["(k in left)", "(k in right)"] * 3])
    whole = f"one != two and one[:3] == two[:3] and {more}"
    text = PARITY.replace("one != two and one[:3] == two[:3]", whole)
    (runs / "tests" / "parity.py").write_text(text)
    ran = reviewbot("probe", "tests/parity.py::compare_shared", "-q", cwd=runs)
    shown = re.search(r"let through by tests/parity\.py:\d+: (.*)", ran.out)[1]
    assert shown[-1] == "…" and whole.startswith(shown[:-1])
    assert "question: " not in ran.out
    assert " s in all" in ran.out
    assert "question: " in reviewbot("probe", "tests/parity.py::compare_shared", cwd=runs).out


def test_a_page_tells_what_passes_and_where_the_rows_part(reviewbot, repository):
    repository.commit({"README.md": "x"})
    repository.git("checkout", "--quiet", "-b", "topic")
    files = {"tests/__init__.py": "", "tests/parity.py": PARITY, "tests/test_parity.py": TEST}
    repository.commit(files)
    ran = reviewbot("probe", "tests/parity.py::compare_shared", "--save", "e.json", cwd=repository.folder)
    first, *_ = re.findall(r"first difference: (\d+)", ran.out)
    made = reviewbot("report", "--base", "main", "--probe", "e.json", "--out", "pages", cwd=repository.folder)
    assert (repository.folder / "pages" / "probe-1.html").exists(), made.err
    page = re.sub(r"<[^>]+>", "", (repository.folder / "pages" / "probe-1.html").read_text())
    assert re.search(rf"[Ff]irst difference: index {first}\b", page)
    passes = page.partition("What it lets through")[2]
    told = passes.partition("Of what it looks at: ")[2].partition(".")[0].split("; ")
    assert set(line(ran.out, "let through: ")) <= set(told)
