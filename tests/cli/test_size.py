"""`reviewbot size` on real git repositories, through the command line."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import cmarkgfm
import pytest

ROOT = Path(__file__).parents[2]

TEST = '''"""Rows of two runs."""

import json

LIMIT = 3


def load(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def print_report(rows):
    for row in rows:
        print(row)


def test_rows(tmp_path):
    rows = load(tmp_path / "rows")
    print(len(rows))
    assert len(rows) == LIMIT
    assert (rows, "no rows")
    with pytest.raises(ValueError):
        rows[0].check()
    if rows[0] != rows[1]:
        raise AssertionError("they differ")
'''


def total(repository, *revisions):
    """The sum of git's own counts, with renames as git sees them."""
    words = repository.git("diff", "--numstat", *revisions).splitlines()
    listed = [word.split("\t")[:2] for word in words if word[:1].isdigit()]
    return sum(int(a) for a, _ in listed), sum(int(d) for _, d in listed)


def sized(ran):
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_lines_are_told_apart_by_what_they_are_there_for(reviewbot, repository):
    base = repository.commit({"README.md": "x\n"})
    repository.commit(
        {
            "tests/test_rows.py": TEST,
            "trainer/rows.py": "def rows():\n    return []\n",
            "README.md": "x\ny\n",
            "tests/run.sh": "#!/bin/sh\nset -e\necho start\npython run.py\n[ -f out ] || exit 1\n",
        }
    )
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    (this,) = size["rounds"]
    files = {file["path"]: file for file in this["files"]}
    kinds = {name: counts["added"] for name, counts in files["tests/test_rows.py"]["kinds"].items()}
    assert kinds == {
        "check": 4,  # an assert, the head of a `raises` block, a condition and the error behind it
        "test": 5,
        "set-up": 9,
        "report": 6,
        "cannot-fail": 1,
    }
    assert (files["tests/test_rows.py"]["checks"], files["tests/test_rows.py"]["cannot_fail"]) == (3, 1)
    assert files["trainer/rows.py"]["kinds"] == {"product": {"added": 2, "deleted": 0}}
    assert files["README.md"]["kinds"] == {"other": {"added": 1, "deleted": 0}}
    shell = {name: counts["added"] for name, counts in files["tests/run.sh"]["kinds"].items()}
    assert shell == {"check": 1, "test": 1, "set-up": 2, "report": 1}


PIECES = [
    b"a = 1\n",
    b"assert a\n",
    b"b = 2\r\n",
    b"print(a)\n",
    b"\n",
    b"\f\n",
    b"def f():\n    return 1\n",
    b"\xff\n",
    b"c = 3\rd = 4\n",
    b"-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/a b/a\n",
]
NAMES = [
    "tests/test_a.py",
    "src/b.py",
    "c d.py",
    'q"uote.py',
    "uml\u00e4ut.py",
    "data.json",
    "tests/run.sh",
    "x\ty.py",
    os.fsdecode(b"latin-\xe9\xff.py"),
]


def _content(dice):
    content = b"".join(dice.choices(PIECES, k=dice.randrange(0, 30)))
    if dice.random() < 0.3:
        content = content.rstrip(b"\n")
    return b"\0\1" + content if dice.random() < 0.15 else content


def _change(repository, dice):
    """Writes, moves, deletes, links and marks files at random, and commits."""
    for name in dice.sample(NAMES, k=3):
        path = repository.folder / name
        deed = dice.choice(["write", "edit", "move", "delete", "link", "mode", "module"])
        if path.is_dir():  # another repository: at another commit now, or gone
            path.rmdir()
            repository.git("rm", "--quiet", "--cached", name)
            if deed != "module":
                continue
        if deed == "module":
            if os.path.lexists(path):
                path.unlink()
            path.mkdir(parents=True)
            commit = f"{dice.getrandbits(160):040x}"
            repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{name}")
            continue
        there = os.path.lexists(path)
        if deed == "write" or not there:
            if there:
                path.unlink()
            repository.write({name: _content(dice)})
        elif deed == "edit" and not path.is_symlink():
            lines = path.read_bytes().splitlines(keepends=True)
            lines.insert(dice.randrange(len(lines) + 1), dice.choice(PIECES))
            path.write_bytes(b"".join(lines))
        elif deed == "move":
            other = repository.folder / dice.choice(NAMES)
            other.parent.mkdir(parents=True, exist_ok=True)
            if not other.is_dir():
                path.replace(other)
        elif deed == "delete":
            path.unlink()
        elif deed == "link":
            path.unlink()
            path.symlink_to("somewhere")
        elif not path.is_symlink():
            path.chmod(0o755)
    return repository.commit()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_every_sum_is_a_sum_of_git(reviewbot, repository, seed):
    dice = random.Random(seed)
    base = repository.commit({name: _content(dice) for name in NAMES[:5]})
    heads = list(dict.fromkeys(_change(repository, dice) for _ in range(8)))
    words = [word for head in heads[:-1] for word in ("--round", head)]
    # What the base gained since the change left it is no part of the change.
    aside = repository.git("commit-tree", "-p", base, "-m", "aside", f"{heads[0]}^{{tree}}")
    size = sized(reviewbot("size", "--base", aside, *words, "--output-format", "json", cwd=repository.folder))
    assert [this["head"] for this in size["rounds"]] == heads
    for this in size["rounds"]:
        expected = total(repository, base, this["head"])
        for counts in (
            [this["lines"]],
            [file["lines"] for file in this["files"]],
            list(this["kinds"].values()),
            [count for file in this["files"] for count in file["kinds"].values()],
        ):
            assert (sum(c["added"] for c in counts), sum(c["deleted"] for c in counts)) == expected
        raw = subprocess.run(
            ["git", "diff", "--name-only", "-z", base, this["head"]],
            cwd=repository.folder,
            capture_output=True,
        )
        assert len(this["files"]) == raw.stdout.count(b"\0")


@pytest.mark.slow
def test_attributes_and_a_user_s_own_settings_count_as_they_do_for_git(reviewbot, repository):
    base = repository.commit(
        {"a.py": "".join(f"x = {n}\n" for n in range(20)), ".gitattributes": "*.lock binary\n"}
    )
    for name, value in (
        ("diff.renames", "false"),
        ("diff.algorithm", "histogram"),
        ("diff.external", "false"),
    ):
        repository.git("config", name, value)
    repository.git("mv", "a.py", "b.py")
    repository.commit({"big.lock": "1\n2\n3\n"})
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    (this,) = size["rounds"]
    assert this["lines"] == {"added": 20, "deleted": 20}
    assert {file["path"]: file["binary"] for file in this["files"]} == {
        "a.py": False,
        "b.py": False,
        "big.lock": True,
    }


def test_text_shows_kinds_files_and_rounds(reviewbot, repository):
    base = repository.commit({"README.md": "x\n"})
    first = repository.commit({"tests/test_rows.py": TEST})
    repository.commit({"tests/test_rows.py": TEST.replace("    print(len(rows))\n", "")})
    ran = reviewbot("size", "--base", base, "--round", first, cwd=repository.folder)
    assert ran.code == 0, ran.err
    assert "adds 24 and deletes 0 lines" in ran.out
    said = " ".join(ran.out.split())
    assert "24 of the added lines are tests, with 3 checks that can fail, 8.0 lines for each" in said
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["all", "added", "25", "24"] in rows
    assert any(row[:3] == ["tests/test_rows.py", "24", "0"] for row in rows)


@pytest.mark.slow
def test_ids_are_those_of_a_review_of_the_same_rounds(reviewbot, repository):
    weak = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"
    base = repository.commit({"README.md": "x\n"})
    first = repository.commit({"tests/test_b.py": weak})
    repository.commit({"tests/test_a.py": weak})
    words = ("--base", base, "--round", first, "--output-format=json")
    made = json.loads(reviewbot("size", *words, cwd=repository.folder).out)
    told = json.loads(reviewbot("review", *words, cwd=repository.folder).out)
    expected = [("C1", "tests/test_b.py"), ("C2", "tests/test_a.py")]
    assert sorted((one["id"], one["finding"]["span"]["path"]) for one in told["threads"]) == expected
    assert sorted((cut["id"], cut["path"]) for cut in made["cuts"]) == expected


@pytest.mark.slow
def test_a_diff_whose_tests_are_stopped_is_not_withdrawn(reviewbot, repository):
    base = repository.commit({"README.md": "x\n"})
    slow = "import time\n\ntime.sleep(4)\n\n\ndef test_a():\n    rows = [2]\n    assert (rows == [2], 'no')\n"
    repository.commit({"tests/test_a.py": slow})
    words = ("size", "--base", base, "--probe", "--probe-budget", "7", "--output-format", "json")
    (cut,) = sized(reviewbot(*words, cwd=repository.folder))["cuts"]
    assert cut["state"] == "applies" and "the tests were stopped before their end" in cut["says"]


@pytest.mark.slow
def test_what_could_not_be_read_counts_for_no_check_and_a_moved_file_says_from_where(reviewbot, repository):
    base = repository.commit({"tests/test_a.py": TEST})
    repository.git("mv", "tests/test_a.py", "tests/test_b.py")
    name = os.fsdecode(b"tests/test_\xff.py")
    repository.commit({name: "def test_a(run):\n    assert (run(1) == 2, 'no')\n"})
    words = ("size", "--base", base)
    ran = reviewbot(*words, "--output-format", "json", cwd=repository.folder)
    (file,) = [one for one in sized(ran)["rounds"][0]["files"] if "xff" in one["path"]]
    assert (file["checks"], file["kinds"]) == (0, {"test": {"added": 2, "deleted": 0}})
    assert "lines not told apart: its name is not UTF-8" in ran.err
    shown = reviewbot(*words, "--output-format", "markdown", cwd=repository.folder).out
    assert "| `tests/test_a.py` → `tests/test_b.py` | 0 | 0 |" in shown


@pytest.mark.slow
@pytest.mark.parametrize("colour", [{"FORCE_COLOR": "1"}, {}], ids=["colours", "plain"])
def test_a_narrow_terminal_is_kept_to(reviewbot, parity, colour):
    env = {**colour, "COLUMNS": "80"}
    ran = reviewbot("size", "--base", "main", cwd=parity.folder, env=env)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", ran.out).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("gone with C1: line 23" in line for line in lines)
    assert "compares `group`, `reward`" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--base", "nowhere"], "nowhere: no such commit here"),
        (["--base", "main", "--chart", "out.png"], "out.png does not end in .svg"),
        (["--base", "main", "--chart", "nowhere/out.svg"], "nowhere/out.svg: cannot be written"),
        (["--base", "main", "--round", "nowhere"], "nowhere: no such commit here"),
    ],
)
def test_wrong_use_says_the_way_out(reviewbot, repository, words, says):
    repository.commit({"a.py": "a = 1\n"})
    ran = reviewbot("size", *words, cwd=repository.folder)
    assert (ran.code, says in ran.err) == (2, True), ran.err


def test_help_has_examples(reviewbot):
    ran = reviewbot("size", "--help")
    assert ran.code == 0
    assert "reviewbot size --base main --round 2f1c" in ran.out


PARITY = '''"""Rows of a baseline run against those of a restored one."""

import argparse
import json
import math
from pathlib import Path

EXACT = ("group", "reward", "mask", "tokens")
APPROXIMATE = ("advantages",)


def close(left, right, rtol, atol):
    """Whether two lists of numbers agree."""
    return all(math.isclose(a, b, rel_tol=rtol, abs_tol=atol) for a, b in zip(left, right, strict=True))


def compare(baseline, restored, *, rtol=1e-4, atol=1e-5):
    if len(baseline) != len(restored):
        raise AssertionError("rows are missing")
    for left, right in zip(baseline, restored, strict=True):
        for field in EXACT:
            if left[field] != right[field]:
                raise AssertionError(field)
        for field in APPROXIMATE:
            if not close(left[field], right[field], rtol, atol):
                raise AssertionError(field)


def load(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baseline", type=Path)
    parser.add_argument("restored", type=Path)
    parser.add_argument("--rtol", type=float, default=1e-4)
    parser.add_argument("--atol", type=float, default=1e-5)
    options = parser.parse_args()
    compare(load(options.baseline), load(options.restored), rtol=options.rtol, atol=options.atol)


if __name__ == "__main__":
    main()
'''
PARITY_TESTS = """import pytest

from tests.parity import close, compare
from trainer.advantage import write_advantages


def rows(last=4):
    return write_advantages([
        {"group": 1, "reward": 1.0, "mask": [1, 1], "tokens": [3, 4]},
        {"group": 1, "reward": 0.0, "mask": [1, 1], "tokens": [3, last]},
    ])


def test_same():
    compare(rows(), rows())


def test_another_token():
    with pytest.raises(AssertionError):
        compare(rows(), rows(5))


def test_close():
    assert close([1.0], [1.0 + 1e-9], 1e-4, 1e-5)
    assert not close([1.0], [1.1], 1e-4, 1e-5)
"""
ADVANTAGE = """def write_advantages(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row["reward"])
    for row in rows:
        mean = sum(groups[row["group"]]) / len(groups[row["group"]])
        row["advantages"] = [(row["reward"] - mean) * on for on in row["mask"]]
    return rows
"""


@pytest.fixture
def parity(repository):
    """A branch that adds a parity script with a comparison that can fail only where others did."""
    repository.commit({"trainer/__init__.py": "", "trainer/advantage.py": ADVANTAGE, "pyproject.toml": ""})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(
        {
            "tests/__init__.py": "",
            "tests/parity.py": PARITY,
            "tests/test_parity.py": PARITY_TESTS,
        }
    )
    return repository


ALONG = {
    ("constant", "APPROXIMATE", "tests/parity.py"),
    ("function", "close", "tests/parity.py"),
    ("import", "math", "tests/parity.py"),
    ("parameter", "rtol", "tests/parity.py"),
    ("parameter", "atol", "tests/parity.py"),
    ("flag", "--rtol", "tests/parity.py"),
    ("flag", "--atol", "tests/parity.py"),
    ("test", "test_close", "tests/test_parity.py"),
    ("import", "close", "tests/test_parity.py"),
}


def test_a_deletion_takes_along_what_only_it_used(reviewbot, parity):
    size = sized(reviewbot("size", "--base", "main", "--output-format", "json", cwd=parity.folder))
    (cut,) = size["cuts"]
    assert (cut["rule"], cut["state"]) == ("implied-check", "applies")
    assert {(one["what"], one["name"], one["path"]) for one in cut["along"]} == ALONG
    for one in cut["along"]:
        line = (parity.folder / one["path"]).read_text().splitlines()[one["line"] - 1]
        assert one["name"] in line
    _apply(parity, cut["diff"])
    compared = (parity.folder / "tests/parity.py").read_text()
    assert "def compare(baseline, restored):" in compared
    assert "compare(load(options.baseline), load(options.restored))" in compared
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=parity.folder, capture_output=True, text=True
    )
    assert "2 passed" in ran.stdout, ran.stdout
    assert sum(file["removes"] for file in size["after"]) == cut["diff"].count("\n-") - cut["diff"].count(
        "\n---"
    )
    after = {check["text"]: check["after"] for check in size["checks"] if check["path"] == "tests/parity.py"}
    lines = compared.splitlines()
    for text, line in after.items():
        assert line is None or lines[line - 1].strip().startswith(text.partition("(")[0])
    assert after["if not close(left[field], right[field], rtol, atol):"] is None
    assert None not in (after["if len(baseline) != len(restored):"], after["if left[field] != right[field]:"])


def _apply(repository, diff):
    """Applies a diff to the work tree as a user would."""
    (repository.folder / "proposed.diff").write_text(diff)
    repository.git("apply", "proposed.diff")
    (repository.folder / "proposed.diff").unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "stays"),
    [
        ("run.sh", "python tests/parity.py --rtol 0.1 a b\n", ("flag", "--rtol", "tests/parity.py")),
        (
            "other.py",
            "from tests.parity import compare\ncompare([], [], rtol=1)\n",
            ("parameter", "rtol", "tests/parity.py"),
        ),
        (
            "other.py",
            "from tests.parity import close\n\nprint(close([], [], 1, 1))\n",
            ("function", "close", "tests/parity.py"),
        ),
        (
            "other.py",
            "import tests.parity\n\nprint(tests.parity.APPROXIMATE)\n",
            ("constant", "APPROXIMATE", "tests/parity.py"),
        ),
    ],
)
def test_what_anything_else_uses_stays(reviewbot, parity, path, text, stays):
    parity.commit({path: text})
    size = sized(reviewbot("size", "--base", "main", "--output-format", "json", cwd=parity.folder))
    (cut,) = size["cuts"]
    along = {(one["what"], one["name"], one["path"]) for one in cut["along"]}
    assert stays not in along
    assert along < ALONG
    _apply(parity, cut["diff"])


def test_what_is_only_asked_about_is_named_and_counts_for_no_lines(reviewbot, repository):
    repository.commit({"tests/test_rows.py": "def test_rows(run):\n    assert run(1) == [2]\n"}, "rows")
    asked = "\n\ndef _last(rows):\n    ordered = sorted(rows)\n    return ordered[-1]\n"
    asked += "\n\ndef test_last(run):\n    assert _last(run(1)) == 4\n"
    weak = "\n\ndef test_pair(run):\n    assert (run(1) == [2], 'wrong')\n"
    head = "def test_rows(run):\n    assert run(1) == [2]\n" + asked + weak
    repository.commit({"tests/test_rows.py": head}, "more")
    size = sized(reviewbot("size", "--base", "HEAD~1", "--output-format", "json", cwd=repository.folder))
    assert [cut["id"] for cut in size["cuts"]] == ["C2"]
    assert size["notes"] == ["C1 is a question and counts for no lines until somebody answers."]


def test_a_check_to_be_mended_comes_back(reviewbot, repository):
    helper = "def same(left, right):\n    return left['tokens'] == right['tokens']\n"
    base = repository.commit({"tests/test_rows.py": helper})
    dropped = "\n\ndef test_rows(run):\n    left, right = run(1), run(2)\n    same(left, right)\n"
    repository.commit({"tests/test_rows.py": helper + dropped})
    words = ("size", "--base", base, "--output-format", "json")
    ran = reviewbot(*words, cwd=repository.folder)
    (cut,) = [cut for cut in sized(ran)["cuts"] if cut["rule"] == "check-result-dropped"]
    # No diff is made, for only a person knows what it returns; an `assert` before it is the same line again.
    assert (cut["state"], cut["files"][0]["removes"], cut["files"][0]["adds"]) == ("estimate", 1, 1)
    (repository.folder / "size.json").write_text(ran.out)
    drawn = reviewbot(
        "report", "--base", base, "--size", "size.json", "--out", "pages", cwd=repository.folder
    )
    assert drawn.code == 0, drawn.err
    index = (repository.folder / "pages" / "index.html").read_text()
    assert "5 lines added." in index and "0 of them can go" not in index


@pytest.mark.slow
def test_more_text_than_is_looked_through_is_said(reviewbot, repository):
    """One content under many names: git keeps it once, and each name counts."""
    (repository.folder / "rows.txt").write_bytes(b"1 2 3 4 5 6 7 8\n" * 65_000)
    blob = repository.git("hash-object", "-w", "rows.txt")
    (repository.folder / "rows.txt").unlink()
    listed = "".join(f"100644 {blob}\tdata/{n}.txt\n" for n in range(520))
    index = ["git", "update-index", "--add", "--index-info"]
    subprocess.run(index, input=listed, text=True, cwd=repository.folder, check=True)
    repository.write({"trainer/advantage.py": ADVANTAGE})
    repository.git("add", "trainer")
    repository.git("commit", "--quiet", "--message", "data")
    repository.write({"tests/parity.py": PARITY})
    repository.git("add", "tests")
    repository.git("commit", "--quiet", "--message", "a check that cannot fail")
    words = ("size", "--base", "HEAD~1", "--output-format")
    size = sized(reviewbot(*words, "json", cwd=repository.folder))
    says = "The head holds more than 512 MiB of text. Names were not looked for in it, so that no diff takes"
    assert [note.partition(" anything")[0] for note in size["notes"]] == [says]
    (cut,) = size["cuts"]
    assert cut["state"] == "applies" and cut["along"] == []
    ran = reviewbot(*words, "markdown", cwd=repository.folder)
    assert ran.code == 0 and "more than 512 MiB of text" in ran.out


@pytest.mark.slow
def test_running_shows_what_is_still_caught(reviewbot, parity):
    ran = reviewbot("size", "--base", "main", "--probe", "--output-format", "json", cwd=parity.folder)
    (cut,) = sized(ran)["cuts"]
    assert cut["state"] == "tested"
    assert cut["says"].startswith("2 tests still pass; on ")
    assert "trainer/advantage.py:1 run again it catches" in cut["says"]


@pytest.mark.slow
def test_a_diff_with_which_a_test_fails_is_not_proposed(reviewbot, repository):
    base = repository.commit({"pyproject.toml": ""})
    repository.commit({"tests/test_a.py": "def test_sum():\n    assert (sum([1, 1]) == 3, 'sum')\n"})
    size = sized(
        reviewbot("size", "--base", base, "--probe", "--output-format", "json", cwd=repository.folder)
    )
    (cut,) = size["cuts"]
    assert (cut["state"], cut["says"]) == (
        "withdrawn",
        "`tests/test_a.py::test_sum` no longer passes with it",
    )
    assert cut["diff"] == ""
    assert size["after"] == []


EXCUSE = '''"""Compares the rows of two runs."""

FIELDS = ("tokens", "mask", "reward")


def part(left, right):
    return next((at for at, (a, b) in enumerate(zip(left, right)) if a != b), None)


def noisy(baseline, restored, prefixes):
    return {
        number
        for number, prefix in prefixes.items()
        if (part(baseline[number]["tokens"], restored[number]["tokens"]) or 0) < prefix
    }


def compare(baseline, restored, excused):
    assert baseline and len(baseline) == len(restored)
    for number, (left, right) in enumerate(zip(baseline, restored, strict=True)):
        if number in excused:
            if left["reward"] != right["reward"]:
                raise AssertionError("reward")
            continue
        for field in FIELDS:
            if left[field] != right[field] and field != "reward":
                raise AssertionError(field)


def main(baseline, restored, prefixes):
    compare(baseline, restored, noisy(baseline, restored, prefixes))
'''
EXCUSE_TESTS = """from parity import compare

ROW = {"tokens": [1, 2, 3, 4], "mask": [0, 1, 1, 1], "reward": 1.0}


def test_equal_rows_pass_excused_or_not():
    compare([dict(ROW)], [dict(ROW)], {0})
    compare([dict(ROW)], [dict(ROW)], set())
"""


@pytest.mark.slow
def test_a_diff_with_which_something_would_no_longer_be_caught_is_proposed_nowhere(reviewbot, repository):
    """The excused row's reward is compared in the excuse alone, though the list of fields names it: that only
    a run sees."""
    base = repository.commit({"pyproject.toml": ""})
    repository.git("remote", "add", "origin", "https://github.com/example/rows.git")
    repository.commit({"tests/parity.py": EXCUSE, "tests/test_parity.py": EXCUSE_TESTS})

    def ran(*words):
        return reviewbot(*words, "--base", base, "--quiet", cwd=repository.folder)

    cuts = sized(ran("size", "--output-format", "json", "--probe"))["cuts"]
    (cut,) = [cut for cut in cuts if cut["rule"] == "excuse-branch"]
    assert (cut["state"], cut["diff"]) == ("withdrawn", "")
    assert cut["says"].startswith("`tests/parity.py::compare` would no longer catch ")
    assert "`reward changed: restored[0].reward 1.0 -> 2.0`" in cut["says"]
    # Not run, it is a suggestion; run, the review says why it is none.
    threads = json.loads(ran("review", "--output-format", "json").out)["threads"]
    (thread,) = [one for one in threads if one["finding"]["rule"] == "excuse-branch"]
    assert thread["proposal"] and thread["finding"]["fix"] and "**Proposed:**" in thread["body"]
    review = ran("review", "--output-format", "json", "--probe")
    assert "its fix is not proposed: `tests/parity.py::compare` would no longer catch" in review.err
    (thread,) = [
        one for one in json.loads(review.out)["threads"] if one["finding"]["rule"] == "excuse-branch"
    ]
    assert thread["finding"]["fix"] is None and thread["proposal"] is None
    assert (
        "**No fix is proposed.** A change was worked out and is withheld: compare every row: drop the "
        "branch. Why: `tests/parity.py::compare` would no longer catch" in thread["body"]
    )
    assert ran("report", "--probe", "--out", "pages").code == 0
    page = (repository.folder / "pages" / f"{thread['id']}.html").read_text(encoding="utf-8")
    assert "<h2>No fix is proposed</h2>" in page and "would no longer catch" in page
    assert not (repository.folder / "pages" / f"{thread['id']}.diff").exists()


@pytest.mark.slow
def test_a_comparison_that_goes_with_a_branch_is_run_although_it_fails_nothing_itself(reviewbot, repository):
    branch = '        if number in excused and left["reward"] == right["reward"]:\n            continue\n'
    start, end = EXCUSE.index("        if number in excused:"), EXCUSE.index("        for field in FIELDS:")
    text = EXCUSE[:start] + branch + EXCUSE[end:].replace(' and field != "reward"', "")
    base = repository.commit({"pyproject.toml": ""})
    repository.commit({"tests/parity.py": text, "tests/test_parity.py": EXCUSE_TESTS})
    words = ("size", "--base", base, "--quiet", "--output-format", "json", "--probe")
    cuts = sized(reviewbot(*words, cwd=repository.folder))["cuts"]
    (cut,) = [cut for cut in cuts if cut["rule"] == "excuse-branch"]
    assert (
        cut["state"] == "tested"
        and branch.replace("        if", "-        if", 1).splitlines()[0] in cut["diff"]
    )
    caught = (
        r"1 test still passes; each of (\d+) changes that `tests/parity.py::compare` catches is still caught"
    )
    told = re.fullmatch(caught, cut["says"])
    assert told is not None and int(told[1]) > 10, cut["says"]
    # Whoever reads the review is told that its fix was run, too.
    review = reviewbot("review", *words[1:], cwd=repository.folder)
    (body,) = [one["body"] for one in json.loads(review.out)["threads"] if "excuse-branch" in one["body"]]
    assert "**Proposed:** compare every row: drop the branch. Tried: 1 test still passes; each of " in body


@pytest.mark.slow
def test_a_test_that_notices_what_another_does_goes_once_both_were_run(reviewbot, repository):
    case = ROOT / "tests/cases/duplicate-tests/repo"
    base = repository.commit({"pyproject.toml": ""})
    files = {path.relative_to(case).as_posix(): path.read_bytes() for path in case.rglob("*.py")}
    repository.commit(files)
    words = ("size", "--base", base, "--output-format", "json")
    assert sized(reviewbot(*words, cwd=repository.folder))["cuts"] == []
    (cut,) = sized(reviewbot(*words, "--probe", cwd=repository.folder))["cuts"]
    assert (cut["rule"], cut["state"]) == ("duplicate-test", "tested")
    assert "both fail on the same change" in cut["says"]
    _apply(repository, cut["diff"])


def test_a_copy_becomes_an_import(reviewbot, repository):
    case = ROOT / "tests/cases/reimplements-existing/repo"
    base = repository.commit({"README.md": "x\n"})
    files = {path.relative_to(case).as_posix(): path.read_bytes() for path in case.rglob("*.py")}
    user = "from recorder import record\n\nrecord('x', 1, {'lengths': []})\n"
    repository.commit({**files, "tests/test_recorder.py": user})
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    (cut,) = [cut for cut in size["cuts"] if cut["rule"] == "reimplements-existing"]
    assert cut["state"] == "applies", cut["says"]
    _apply(repository, cut["diff"])
    changed = (repository.folder / "tests/recorder.py").read_text()
    assert (
        changed
        == '"""Records the rows a run trained on."""\n\nfrom trainer.dump import write_rows as record\n'
    )


READER = """import json


def read_rows(path):
    \"\"\"Every row of a dump.\"\"\"
    rows = []
    for line in path.read_text().splitlines():
        if line.strip():
            rows.append(json.loads(line))
    return rows
"""
COPIED = READER.replace("read_rows", "load_lines").replace("rows", "lines").replace("Every row", "All")
COMPARED = """

def test_rows(tmp_path):
    (tmp_path / "rows").write_text('{"a": 1}')
    assert load_lines(tmp_path / "rows") == [{"a": 1}]
"""


@pytest.mark.parametrize(
    ("there", "users", "copy", "imported"),
    [
        ("trainer/reading.py", {}, "tests/test_rows.py", "trainer.reading"),
        ("src/trainer/reading.py", {"src/trainer/__init__.py": ""}, "tests/test_rows.py", "trainer.reading"),
        ("tests/reading.py", {}, "tests/test_rows.py", "reading"),
        (
            "tests/helpers/reading.py",
            {"tests/test_other.py": "from helpers.reading import read_rows\n\nROWS = read_rows\n"},
            "tests/test_rows.py",
            "helpers.reading",
        ),
        ("trainer/reading.py", {"trainer/__init__.py": ""}, "trainer/restore.py", "trainer.reading"),
    ],
)
def test_a_small_reader_that_comes_in_again_becomes_an_import(
    reviewbot, repository, there, users, copy, imported
):
    base = repository.commit({there: READER, **users, "README.md": "x\n"})
    tests = COPIED + COMPARED
    files = {copy: tests}
    if not copy.startswith("tests/"):
        files = {copy: COPIED, "tests/test_rows.py": "from trainer.restore import load_lines\n" + COMPARED}
    repository.commit(files)
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    (cut,) = [cut for cut in size["cuts"] if cut["rule"] == "reimplements-existing"]
    assert (cut["path"], cut["state"]) == (copy, "applies"), cut["says"]
    assert cut["claim"] == f"`load_lines` is `read_rows` of {there} again, with other names"
    _apply(repository, cut["diff"])
    changed = (repository.folder / copy).read_text()
    assert f"from {imported} import read_rows as load_lines\n" in changed
    assert "def load_lines" not in changed and "import json" not in changed
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (repository.folder, repository.folder / "src"))),
    }
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_rows.py")
    ran = subprocess.run(words, cwd=repository.folder, env=env, capture_output=True, text=True)
    assert "1 passed" in ran.stdout, ran.stdout


@pytest.mark.parametrize(
    ("there", "copy", "why"),
    [
        (
            "from trainer.restore import LIMIT\n" + READER,
            COPIED + "\n\nLIMIT = 3\n",
            "trainer/reading.py imports trainer/restore.py, so that an import of it would go in a circle",
        ),
        (
            READER,
            COPIED.replace("(path):", "(path=None):"),
            "the two take different parameters or defaults",
        ),
    ],
)
def test_a_copy_that_cannot_be_imported_is_told_without_a_diff(reviewbot, repository, there, copy, why):
    base = repository.commit({"trainer/reading.py": there, "trainer/restore.py": "LIMIT = 3\n"})
    repository.commit({"trainer/restore.py": copy})
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    (cut,) = [cut for cut in size["cuts"] if cut["rule"] == "reimplements-existing"]
    assert (cut["state"], cut["says"], cut["diff"]) == ("estimate", why, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            """
            def test_rows(run, rows):
                for one, other in zip(
                    run(1),
                    [
                        row
                        for row in run(2)
                    ],
                ):
                    assert one == other
            """,
            """
            def test_rows(run, rows):
                for one, other in zip(
                    run(1),
                    [
                        row
                        for row in run(2)
                    ],
                    strict=True,
                ):
                    assert one == other
            """,
        ),
        (
            """
            def test_rows(run, rows):
                if rows:
                    assert (
                        run(1)
                        == rows,
                        "the rows "
                        "differ",
                    )
            """,
            """
            def test_rows(run, rows):
                if rows:
                    assert (run(1)
                        == rows), ("the rows "
                        "differ")
            """,
        ),
        (
            """
            class TestRows:
                def test_refuses(self, run):
                    with pytest.raises(ValueError) as caught:
                        run("x")

                        # It says which.
                        assert caught.value.args == (
                            "x",
                        )
                        assert run.rows == []

                @pytest.mark.slow
                def test_rows(self, load):
                    rows = load("a")
                    assert rows.first == rows[0]
                    assert rows.last == rows[-1]

                @pytest.mark.slow
                def test_rows_again(self, load):
                    found = load("a")
                    assert found.first == found[0]
                    assert found.last == found[-1]
            """,
            """
            class TestRows:
                def test_refuses(self, run):
                    with pytest.raises(ValueError) as caught:
                        run("x")

                    # It says which.
                    assert caught.value.args == (
                        "x",
                    )
                    assert run.rows == []

                @pytest.mark.slow
                def test_rows(self, load):
                    rows = load("a")
                    assert rows.first == rows[0]
                    assert rows.last == rows[-1]
            """,
        ),
    ],
    ids=["zip", "assert", "raises and twins"],
)
def test_diffs_keep_to_the_lines_and_the_indentation_of_the_code(reviewbot, repository, before, after):
    base = repository.commit({"pyproject.toml": "[project]\nrequires-python = '>=3.11'\n"})
    repository.commit({"tests/test_a.py": textwrap.dedent(before).lstrip("\n")})
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    for cut in reversed(size["cuts"]):
        _apply(repository, cut["diff"])
    assert (repository.folder / "tests/test_a.py").read_text() == textwrap.dedent(after).lstrip("\n")


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_every_proposed_diff_applies(reviewbot, repository, ends):
    base = repository.commit({"README.md": "x\n"})
    files = {}
    for case in sorted((ROOT / "tests/cases").glob("*/repo")):
        for path in case.rglob("*.py"):
            name = f"{case.parent.name.replace('-', '_')}/{path.relative_to(case).as_posix()}"
            files[name] = path.read_text().replace("\n", ends).rstrip(ends).encode()
    head = repository.commit(files)
    size = sized(reviewbot("size", "--base", base, "--output-format", "json", cwd=repository.folder))
    proposed = [cut for cut in size["cuts"] if cut["diff"]]
    assert len(proposed) >= 9
    for cut in proposed:
        _apply(repository, cut["diff"])
        counted = [line.split("\t") for line in repository.git("diff", "--numstat", head).splitlines()]
        assert {name: (int(added), int(deleted)) for added, deleted, name in counted} == {
            file["path"]: (file["adds"], file["removes"]) for file in cut["files"]
        }
        for file in cut["files"]:
            compile((repository.folder / file["path"]).read_bytes(), file["path"], "exec")
        repository.git("reset", "--quiet", "--hard", head)


@pytest.mark.slow
def test_markdown_is_inert_and_pinned(reviewbot, repository):
    base = repository.commit({"README.md": "x\n"})
    head = repository.commit(
        {"tests/test_a|b<img>.py": "def test_a(run):\n    assert (run('@acme|x'), 'no')\n"}
    )
    ran = reviewbot(
        "size",
        "--base",
        base,
        "--output-format",
        "markdown",
        "--repository",
        "acme/rows",
        cwd=repository.folder,
    )
    assert ran.code == 0, ran.err
    page = cmarkgfm.github_flavored_markdown_to_html(ran.out)
    assert "<img>" not in page
    rows = [row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if "test_a|b" in row]
    assert [row.count("<td") for row in rows] == [6, 5, 3]
    assert f"https://github.com/acme/rows/blob/{head}/" in page


@pytest.mark.slow
def test_markdown_is_short_enough_for_a_comment(reviewbot, repository):
    base = repository.commit({"README.md": "x\n"})
    weak = "def test_a(run):\n    assert (run(1) == 2, 'no')\n"
    repository.commit({f"tests/test_{'long' * 40}_{number}.py": weak for number in range(70)})
    words = ("size", "--base", base, "--output-format", "markdown", "--repository", "acme/rows")
    ran = reviewbot(*words, cwd=repository.folder)
    assert 20_000 < len(ran.out.encode()) <= 65_536
    assert "… and 40 more" in ran.out


@pytest.mark.slow
def test_the_chart_says_in_words_what_it_shows(reviewbot, parity, tmp_path):
    chart = tmp_path / "size.svg"
    ran = reviewbot("size", "--base", "main", "--chart", chart, cwd=parity.folder)
    assert ran.code == 0, ran.err
    root = ElementTree.fromstring(chart.read_bytes())
    space = "{http://www.w3.org/2000/svg}"
    assert "tests/parity.py: 44 added, 14 can go, 2 come back" in root.findtext(f"{space}desc")
    texts = {"".join(text.itertext()).strip() for text in root.iter(f"{space}text")}
    assert {"tests/parity.py", "can go", "lines of checks that can fail", "44 −14 +2 (C1)"} <= texts
    assert chart.stat().st_size < 100_000
    again = reviewbot("size", "--base", "main", "--chart", tmp_path / "again.svg", cwd=parity.folder)
    assert again.code == 0
    assert (tmp_path / "again.svg").read_bytes() == chart.read_bytes()
