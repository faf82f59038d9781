"""A change is reviewed by what it causes, also in files of which it changes not a line: through the command
line, on real git repositories."""

from __future__ import annotations

import json

import pytest

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


@pytest.fixture(params=list(CAUSED))
def case(request, repository):
    """A repository whose work tree and branch `topic` hold the change, and the finding that it causes."""
    base, change, finding = CAUSED[request.param]
    repository.commit(base)
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(change)
    return repository, finding


def threads(reviewbot, folder):
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=folder)
    return review_json.decode(ran.out, "standard output").threads


def linted(reviewbot, folder):
    ran = reviewbot("lint", "--diff", "main", "--output-format", "json", cwd=folder)
    return [(one["rule"], one["path"], one["line"]) for one in json.loads(ran.out)]


def test_a_finding_comes_up_in_a_file_that_did_not_change(reviewbot, case):
    repository, (rule, path, line) = case
    found = [thread.finding for thread in threads(reviewbot, repository.folder)]
    assert [(one.rule, one.span.path, one.span.line) for one in found] == [(rule, path, line)]
    assert linted(reviewbot, repository.folder) == [(rule, path, line)]
    below = repository.folder / path.partition("/")[0]
    words = ("lint", "--diff", "main", "--output-format", "json", "..")
    (seen,) = json.loads(reviewbot(*words, cwd=below).out)
    assert (seen["rule"], seen["line"]) == (rule, line)
    assert seen["path"] in (path.partition("/")[2], f"../{path}")


def test_it_is_not_reported_without_its_cause(reviewbot, case):
    repository, _ = case
    # The same finding at the base, and a change that has nothing to do with it.
    repository.git("checkout", "--quiet", "-B", "main")
    repository.git("checkout", "--quiet", "-b", "other")
    for path in ("worker/run.py", "serve/record.py", "checks/compare.py"):
        if (repository.folder / path).exists():
            text = (repository.folder / path).read_text()
            repository.write({path: text.replace('"closed call=%s"', '"ended call=%s"') + "\n\nMORE = 1\n"})
    repository.commit({"other.py": "def other():\n    return 1\n"})
    assert threads(reviewbot, repository.folder) == ()
    assert linted(reviewbot, repository.folder) == []


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


SLOW = "def test_long(run):\n" + "".join(
    f"    for row in run({n}):\n        assert row.a{n} == run({n}).a{n}\n" for n in range(3000)
)


@pytest.mark.slow
def test_a_rule_that_comes_to_no_end_is_named_and_the_rest_goes_on(reviewbot, repository):
    repository.commit({"pyproject.toml": "[tool.reviewbot]\nrule-seconds = 0.25\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(
        {"tests/test_long.py": SLOW, "tests/test_short.py": "def test(run):\n    assert (run, 1)\n"}
    )
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    review = review_json.decode(ran.out, "standard output")
    (last,) = review.rounds
    cut = {one.why.split(":")[0] for one in last.failed}
    assert all(one.path == "tests/test_long.py" and "cut off after 0.25 s" in one.why for one in last.failed)
    assert cut, "no rule was cut off"
    assert ("constant-verdict", "tests/test_short.py") in {
        (thread.finding.rule, thread.finding.span.path) for thread in review.threads
    }
    text = reviewbot("review", "--base", "main", cwd=repository.folder)
    assert all(f"{rule}: cut off after 0.25 s" in text.out for rule in cut)
    assert (ran.code, text.code) == (1, 1)
