"""A change is reviewed by what it causes, also in files of which it changes not a line: through the command
line, on real git repositories."""

from __future__ import annotations

import json

import pytest

from reviewbot.lint import registry
from reviewbot.render import review_json

WORKER = """\
import logging

log = logging.getLogger(__name__)


def finish(call, saved, sampled, stored):
    total = len(stored)
    log.info("resumed call=%s kept=%d new=%d total=%d", call, len(saved), len(sampled), total)
    return [*saved, *sampled]


def close(call):
    log.info("closed call=%s", call)
"""
READER = """\
import re


def check(text):
    pattern = r"resumed call=(\\S+) kept=(\\d+) new=(\\d+) total=(\\d+)"
    for call, kept, new, total in re.findall(pattern, text):
        if int(kept) + int(new) != int(total):
            raise AssertionError(call)
"""
RECORD = """\
from dataclasses import dataclass


@dataclass(frozen=True)
class Admission:
    prompt: list[int]
    budget: int
    cut: tuple[int, ...] = ()
"""
DECIDE = """\
from serve.record import Admission


def decide(admission: Admission) -> Admission:
    return Admission(prompt=admission.prompt, budget=admission.budget, cut=admission.cut)
"""
COMPARE = """\
def same(left, right):
    if left != right:
        raise AssertionError("differ")


def same_rows(left, right):
    same(left, right)
"""
USES = """\
from checks.compare import same_rows


def test_rows(run):
    same_rows(run(1), run(2))
"""
LISTED = "run bash tests/resume.sh\nrun bash tests/restore.sh\n"
SCRIPT = "set -e\npython run.py\n"

# What the base holds, what the change puts in its place, and where a finding comes up.
CAUSED = {
    "a sum that the producer now makes itself": (
        {"worker/run.py": WORKER, "tests/restored.py": READER},
        {"worker/run.py": WORKER.replace("len(stored)", "len(saved) + len(sampled)")},
        ("restated-arithmetic", "tests/restored.py", 7),
    ),
    "a field that a rebuild in another file leaves out": (
        {"serve/record.py": RECORD, "serve/decide.py": DECIDE},
        {"serve/record.py": RECORD + "    replay: str | None = None\n"},
        ("field-dropped-on-rebuild", "serve/decide.py", 5),
    ),
    "a helper of a helper that no longer checks": (
        {"checks/compare.py": COMPARE, "tests/test_rows.py": USES},
        {"checks/compare.py": COMPARE.replace('raise AssertionError("differ")', "print(left)")},
        ("test-without-check", "tests/test_rows.py", 4),
    ),
    "a script that CI no longer names": (
        {".ci/list.sh": LISTED, "tests/resume.sh": SCRIPT, "tests/restore.sh": SCRIPT},
        {".ci/list.sh": "run bash tests/resume.sh\n"},
        ("never-run-script", "tests/restore.sh", 1),
    ),
}


BASE = {path: text for base, *_ in CAUSED.values() for path, text in base.items()}
CHANGE = {path: text for _, change, _ in CAUSED.values() for path, text in change.items()}
# Beside them, in files that changed: the list in which CI no longer names the script, and the helper itself.
LOOSENED = [("loosened-check", ".ci/list.sh", 1), ("loosened-check", "checks/compare.py", 2)]
FOUND = sorted([*LOOSENED, *(finding for *_, finding in CAUSED.values())])


def threads(reviewbot, folder):
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=folder)
    return review_json.decode(ran.out, "standard output").threads


def linted(reviewbot, folder, *words):
    ran = reviewbot("lint", "--diff", "main", "--output-format", "json", *words, cwd=folder)
    return sorted((one["rule"], one["path"], one["line"]) for one in json.loads(ran.out))


def test_findings_come_up_in_files_that_did_not_change(reviewbot, repository):
    repository.commit(BASE)
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(CHANGE)
    found = [thread.finding for thread in threads(reviewbot, repository.folder)]
    assert sorted((one.rule, one.span.path, one.span.line) for one in found) == FOUND
    assert linted(reviewbot, repository.folder) == FOUND
    # From a folder below paths are those from there. A script is known for one by its folder's name.
    below = [(rule, path.removeprefix("tests/"), line) for rule, path, line in FOUND]
    below = [(rule, path if "/" not in path else f"../{path}", line) for rule, path, line in below]
    seen = linted(reviewbot, repository.folder / "tests", "..")
    assert seen == sorted(one for one in below if not one[1].endswith(".sh"))


def test_they_are_not_reported_without_their_cause(reviewbot, repository):
    # The same findings at the base, and a change beside them that has nothing to do with them.
    repository.commit({**BASE, **CHANGE})
    repository.git("checkout", "--quiet", "-b", "topic")
    more = {path: text + "\n\nMORE = 1\n" for path, text in CHANGE.items() if path.endswith(".py")}
    more["worker/run.py"] = more["worker/run.py"].replace('"closed call=%s"', '"ended call=%s"')
    repository.commit({**more, "other.py": "def other():\n    return 1\n"})
    assert threads(reviewbot, repository.folder) == ()
    assert linted(reviewbot, repository.folder) == []


def test_a_test_that_is_renamed_out_of_sight(reviewbot, repository):
    repository.commit({"tests/test_rows.py": "def test_rows(run):\n    assert run(1) == [2]\n" * 1 + READER})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.git("mv", "tests/test_rows.py", "tests/rows_tests.py")
    repository.commit()
    (thread,) = threads(reviewbot, repository.folder)
    assert (thread.finding.rule, thread.finding.span.path) == ("never-collected-test", "tests/rows_tests.py")
    assert [one[0] for one in linted(reviewbot, repository.folder)] == ["never-collected-test"]


def test_a_step_on_a_changed_line_is_enough(reviewbot, repository):
    worker = WORKER.replace("len(stored)", "len(saved) + len(sampled)")
    repository.commit({"worker/run.py": worker, "tests/restored.py": READER})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"worker/run.py": worker.replace("len(sampled), total)", "len(sampled), total + 0)")})
    (thread,) = threads(reviewbot, repository.folder)
    assert thread.finding.span.path == "tests/restored.py"
    assert not thread.revealed
    # Its comment stands where the diff can hold one: at the step.
    assert (thread.place, thread.anchor.path) == ("line", "worker/run.py")


UNRUN = """\
class RowsTest:
    def test_one(self, run):
        assert run(1) == [1]

    def test_two(self, run):
        assert run(2) == [1]
"""


def test_who_changes_a_test_that_never_runs_is_told_so_there(reviewbot, repository):
    repository.commit({"tests/test_rows.py": UNRUN})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_rows.py": UNRUN.replace("run(2) == [1]", "run(2) == [1, 2]")})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (thread,) = review_json.decode(ran.out, "standard output").threads
    assert (thread.finding.rule, thread.finding.span.line) == ("never-collected-test", 1)
    assert thread.place == "line"
    assert thread.anchor.line <= 6 <= thread.anchor.end_line


def test_a_new_expected_failure_is_one_remark(reviewbot, repository):
    test = "import pytest\n\n\ndef test_rows(run):\n    assert run(1) == [1]\n"
    repository.commit({"tests/test_rows.py": test})
    repository.git("checkout", "--quiet", "-b", "topic")
    marked = test.replace("def test", '@pytest.mark.xfail(reason="flaky", strict=False)\ndef test')
    repository.commit({"tests/test_rows.py": marked})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (thread,) = review_json.decode(ran.out, "standard output").threads
    assert (thread.finding.rule, thread.also) == ("loosened-check", ("xfail-not-strict",))


def test_an_expected_error_that_may_be_any_now_is_one_remark(reviewbot, repository):
    test = "import pytest\n\n\ndef test_rows(run):\n    with pytest.raises(ValueError):\n        run(-1)\n"
    repository.commit({"tests/test_rows.py": test})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_rows.py": test.replace("ValueError", "Exception")})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (thread,) = review_json.decode(ran.out, "standard output").threads
    assert {thread.finding.rule, *thread.also} == {"loosened-check", "raises-too-broad"}


def test_what_one_rule_says_of_one_file_again_and_again_is_in_the_summary(reviewbot, repository):
    repository.commit({"README.md": "rows\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    tests = "".join(
        f"def test_rows_{n}(run):\n    kept = [row for row in run({n}) if row.ok]\n    for row in kept:\n"
        f"        assert row.tokens == [{n}]\n\n\n"
        for n in range(5)
    )
    repository.commit({"tests/test_rows.py": tests})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    every = review_json.decode(ran.out, "standard output").threads
    assert {one.finding.rule for one in every} == {"loop-may-be-empty"}
    assert [one.place for one in every] == ["line"] * 3 + ["summary"] * 2


SLOW = "def test_long(baseline, resumed, noisy):\n" + "".join(
    "    for key in baseline:\n        if key in noisy:\n            continue\n"
    f"        assert baseline[key].a{n} == resumed[key].a{n}\n"
    for n in range(1500)
)


@pytest.mark.slow
def test_a_rule_that_comes_to_no_end_is_named_and_the_rest_goes_on(reviewbot, repository):
    repository.commit({"pyproject.toml": "[tool.reviewbot]\nrule-seconds = 0.3\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(
        {"tests/test_long.py": SLOW, "tests/test_short.py": "def test(run):\n    assert (run, 1)\n"}
    )
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    review = review_json.decode(ran.out, "standard output")
    (last,) = review.rounds
    # A longer file has longer: 1 for each 100,000 bytes.
    after = f"cut off after {0.3 * len(SLOW) / 100_000:.2g} s"
    assert all(one.path == "tests/test_long.py" and after in one.why for one in last.failed)
    assert last.failed, "no rule was cut off"
    assert ("constant-verdict", "tests/test_short.py") in {
        (thread.finding.rule, thread.finding.span.path) for thread in review.threads
    }
    text = reviewbot("review", "--base", "main", cwd=repository.folder)
    # Which rules are cut off is up to the machine: it need not be the same ones in both runs.
    assert any(f"tests/test_long.py:1: rule {rule}: {after}" in text.out for rule in registry.rule_ids())
    assert (ran.code, text.code) == (1, 1)
