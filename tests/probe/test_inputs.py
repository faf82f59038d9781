"""Where inputs are missing or wrong, it is said which and why, with the way out."""

from __future__ import annotations

import json

import pytest

CHECK = "def compare(stored, read):\n    assert stored == read\n\n\n"
METHOD = """\
class Shelf:
    def __init__(self):
        self.slack = 0

    def compare(self, stored, read):
        assert len(stored) - len(read) <= self.slack
        assert stored == read
"""
CALL = "from check import compare\n\n\n{}"
COLLECTED = "def test_compare():\n    compare([1, 2], [1, 2])\n"


@pytest.fixture
def shelf(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "check.py").write_text(CHECK + METHOD)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"storde": [1], "read": [1]}, "gives no `stored` and gives `storde`, which it does not take"),
        ({"stored": [1]}, "gives no `read`; compare takes `stored`, `read`"),
        ({"stored": [1], "read": [1], "depth": 3}, "gives `depth`, which it does not take"),
    ],
)
def test_an_example_with_wrong_keys_names_them(reviewbot, shelf, given, says):
    (shelf / "e.json").write_text(json.dumps(given))
    ran = reviewbot("probe", "check.py::compare", "--example", "e.json", cwd=shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"reviewbot: e.json: {says}"), ran.err


def test_an_example_that_does_not_pass_is_not_called_recorded(reviewbot, shelf):
    (shelf / "e.json").write_text('{"stored": [1], "read": [2]}')
    ran = reviewbot("probe", "check.py::compare", "--example", "e.json", cwd=shelf)
    assert ran.code == 3
    assert "compare does not pass on what it was given" in ran.err


def test_a_method_needs_no_object_where_its_class_needs_no_arguments(probed, shelf):
    (shelf / "e.json").write_text('{"stored": [1, 2], "read": [1, 2]}')
    code, document = probed(shelf, "check.py::Shelf.compare", "--example", "e.json")
    assert code == 0
    assert any("read" in one["edit"] for one in document["kills"])


@pytest.mark.parametrize(
    ("file", "body", "says"),
    [
        (
            "compare_checks.py",
            COLLECTED,
            "compare_checks.py:4 test_compare mentions it, but pytest collects only files called "
            "test_*.py or *_test.py",
        ),
        (
            "test_shelf.py",
            "def check_compare():\n    compare([1], [1])\n",
            "test_shelf.py:4 check_compare mentions it, but pytest runs only functions called test*",
        ),
        (
            "test_shelf.py",
            "class Comparing:\n    def test_it(self):\n        compare([1], [1])\n",
            "test_shelf.py:5 Comparing.test_it mentions it, but pytest collects only classes called Test*",
        ),
        (
            "test_shelf.py",
            "class TestIt:\n    def __init__(self):\n        self.a = [1]\n\n"
            "    def test_it(self):\n        compare(self.a, self.a)\n",
            "mentions it, but pytest collects no class with an __init__, as TestIt has",
        ),
        (
            "test_shelf.py",
            "import pytest\n\n\n@pytest.mark.skip(reason='needs a robot')\n" + COLLECTED,
            "test_shelf.py::test_compare was skipped (Skipped: needs a robot)",
        ),
        (
            "test_shelf.py",
            "def test_compare():\n    open('/nowhere/file', 'w')\n    compare([1], [1])\n",
            "test_shelf.py::test_compare failed before one was made (FileNotFoundError",
        ),
    ],
)
def test_a_test_that_mentions_the_check_and_never_runs_it_is_named_with_the_reason(
    reviewbot, shelf, file, body, says
):
    (shelf / file).write_text(CALL.format(body))
    ran = reviewbot("probe", "check.py::compare", cwd=shelf)
    assert ran.code == 3
    assert says in ran.err, ran.err


def test_files_that_the_settings_call_tests_are_tests(probed, shelf):
    (shelf / "pyproject.toml").write_text('[tool.pytest.ini_options]\npython_files = "check_*.py"\n')
    (shelf / "check_shelf.py").write_text(CALL.format(COLLECTED))
    _, document = probed(shelf, "check.py::compare")
    assert document["inputs"] == "recorded in check_shelf.py::test_compare"
    code, document = probed(shelf, "check_shelf.py::test_compare")
    assert code == 3
    # Its call returns nothing that could be changed, and it misses the comparison in the code that it runs.
    (said,) = document["not_run"]
    assert said.startswith("no call in test_compare returns plain data that could be changed; put the compar")


RUN = """\
import json
import random


class Run:
    def __init__(self, seed=0):
        self.random, self.rows = random.Random(seed), []

    def fit(self, steps):
        self.rows += [[self.random.randrange(9) for _ in range(4)] for _ in range(steps)]

    def save(self, path):
        path.write_text(json.dumps([self.random.getstate(), self.rows]))


def load(path):
    (version, state, gauss), rows = json.loads(path.read_text())
    run = Run()
    run.random.setstate((version, tuple(state), gauss))
    run.rows = rows
    return run
"""
INLINE = """\
from trainer import Run, load


def test_resumed(tmp_path):
    whole, first = Run(3), Run(3)
    whole.fit(4)
    first.fit(2)
    first.save(tmp_path / "run.json")
    resumed = load(tmp_path / "run.json")
    resumed.fit(2)
    assert whole.rows == resumed.rows
"""


def test_a_test_that_trains_saves_and_restores_inline_is_told_how_to_be_probed(reviewbot, tmp_path):
    (tmp_path / "trainer.py").write_text(RUN)
    (tmp_path / "test_resume.py").write_text(INLINE)
    ran = reviewbot("probe", "test_resume.py::test_resumed", cwd=tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert "gets objects that cannot be built again from data from its calls (`load(tmp_path / 'ru" in ran.err
    assert "put the comparison into a function of its own" in ran.err


def test_settings_that_pytest_cannot_read_are_named(reviewbot, shelf):
    (shelf / "test_shelf.py").write_text(CALL.format(COLLECTED))
    (shelf / "pyproject.toml").write_text("[tool.pytest.ini_options\n")
    ran = reviewbot("probe", "check.py::compare", cwd=shelf)
    assert ran.code == 2
    assert "its tests could not be run" in ran.err
    assert "pyproject.toml" in ran.err and "line 1" in ran.err


def test_where_the_evidence_went_is_said_unless_it_is_to_be_quiet(reviewbot, shelf):
    blind = "def compare(stored, read):\n    assert stored[0] == read[0]\n"
    (shelf / "check.py").write_text(blind)
    (shelf / "test_shelf.py").write_text(CALL.format(COLLECTED))
    ran = reviewbot("probe", "check.py::compare", "--save", "my evidence.json", cwd=shelf)
    assert (ran.code, ran.err) == (
        1,
        "reviewbot: evidence is in my evidence.json; run it again with: "
        "reviewbot probe replay 'my evidence.json'\n",
    )
    (shelf / "check.py").write_text(CHECK)
    ran = reviewbot("probe", "check.py::compare", "--save", "e.json", cwd=shelf)
    assert (ran.code, ran.err) == (0, "reviewbot: evidence is in e.json\n")
    ran = reviewbot("probe", "check.py::compare", "--save", "quiet.json", "-q", cwd=shelf)
    assert (ran.code, ran.err) == (0, "")
    assert (shelf / "quiet.json").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"v": 1}\n{"n": "ü"}\n'.encode("latin-1"), "a.jsonl:2: is not UTF-8"),
        (b'{"v": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "a.jsonl:1: is nested too deeply"),
        (b'{"v": 1, "v": 2}\n', "a.jsonl:1: is not plain data (the key 'v' stands twice in one object)"),
        (b'{"v": ' + b"9" * 10_000 + b"}\n", "a.jsonl:1: holds an integer of too many digits"),
        (b"\n\n", "a.jsonl holds no row, so that there is nothing to compare"),
        (b'{"v": 1}\n{"v": \n', "a.jsonl:2: is not JSON"),
    ],
)
def test_a_dump_that_cannot_be_read_is_named_with_its_line(reviewbot, shelf, content, says):
    (shelf / "a.jsonl").write_bytes(content)
    ran = reviewbot("probe", "check.py::compare", "--dump", "a.jsonl", "a.jsonl", cwd=shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"reviewbot: {says}"), ran.err


def test_a_dump_without_an_end_is_not_read_into_memory(reviewbot, shelf):
    ran = reviewbot("probe", "check.py::compare", "--dump", "/dev/zero", "/dev/zero", cwd=shelf)
    assert (ran.code, ran.err) == (2, "reviewbot: /dev/zero:1: is longer than 64 MiB\n")


def test_a_dump_with_a_mark_of_its_encoding_and_numbers_that_are_none_is_read(probed, shelf):
    (shelf / "check.py").write_text(CHECK.replace("stored == read", "repr(stored) == repr(read)"))
    rows = [{"v": float("nan")}, {"v": float("inf")}]
    text = "\n".join(map(json.dumps, rows))
    (shelf / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode())
    code, document = probed(shelf, "check.py::compare", "--dump", "a.jsonl", "a.jsonl", "--budget", "1s")
    assert (code, document["inputs"]) == (0, "a.jsonl and a.jsonl")


def test_a_check_that_yields_its_errors_while_it_is_awaited_is_read_to_its_end(probed, shelf):
    (shelf / "check.py").write_text(
        "async def compare(stored, read):\n    for left, right in zip(stored, read, strict=True):\n"
        "        if left != right:\n            yield left, right\n"
    )
    (shelf / "e.json").write_text(json.dumps({"stored": [4, 5], "read": [4, 5]}))
    code, document = probed(shelf, "check.py::compare", "--example", "e.json", "--budget", "1s")
    assert (code, document["witnesses"]) == (0, [])
    assert document["kills"]
